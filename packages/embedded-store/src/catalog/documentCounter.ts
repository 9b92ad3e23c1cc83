/**
 * Maintains the number of documents of a collection that meet a condition. A count in steps finds the number, and each write
 * updates it.
 *
 * The number is exact even if documents are written during the count. Writes to records before the position of the count,
 * and to records inserted since it began, update the total. The count skips other records that are written, and adds
 * their last state at the end.
 */
import type { Document } from "@appkernel/document-store/DocumentStore"

/** Visits the next records from an id on; returns the first id of the next step, `undefined` at the end. */
export type CountStep = (from: string, visit: (recordId: string, isMatch: boolean) => void) => string | undefined

export interface Counting {
  readonly step: CountStep
  readonly matches: (document: Document) => boolean
}

// The progress of a count: records from `position` to `end` are not counted yet.
interface Progress {
  position: string
  readonly end: string
  /** Uncounted records that were written since the count began, with whether they meet the condition now. */
  readonly written: Map<string, boolean>
}

// An entry takes about a hundred bytes.
const maxWritten = 100_000

export class Counter {
  readonly #counting: Counting
  #progress: Progress | undefined
  #isDone = false
  #total = 0
  /** The part of the total that comes from uncommitted jobs. */
  #uncommitted = 0

  constructor(counting: Counting) {
    this.#counting = counting
  }

  /** The number in the committed state; `undefined` until it is counted. */
  get value(): number | undefined {
    return this.#isDone ? this.#total - this.#uncommitted : undefined
  }

  get isBegun(): boolean {
    return this.#progress !== undefined
  }

  /** Begins to count the records before `end`. No job may be uncommitted. */
  begin(end: string): void {
    this.#progress = { position: "", end, written: new Map() }
    this.#total = 0
    this.#uncommitted = 0
  }

  /** Counts some more records. */
  advance(): void {
    const progress = this.#progress
    if (progress === undefined) return
    const next = this.#counting.step(progress.position, (recordId, isMatch) => {
      if (recordId < progress.end && !progress.written.has(recordId)) this.#total += Number(isMatch)
    })
    if (next !== undefined && next < progress.end) {
      progress.position = next
      return
    }
    for (const isMatch of progress.written.values()) this.#total += Number(isMatch)
    this.#progress = undefined
    this.#isDone = true
  }

  /** For jobs: updates the number after a write. */
  wrote(recordId: string, before: Document | undefined, after: Document | undefined): void {
    const progress = this.#progress
    if (progress === undefined && !this.#isDone) return
    const isMatch = after !== undefined && this.#counting.matches(after)
    const change = Number(isMatch) - Number(before !== undefined && this.#counting.matches(before))
    this.#uncommitted += change
    if (progress === undefined || recordId < progress.position || recordId >= progress.end) this.#total += change
    else if (progress.written.set(recordId, isMatch).size > maxWritten) this.#progress = undefined
  }

  committed(): void {
    this.#uncommitted = 0
  }

  /** Undoes the changes of uncommitted jobs. */
  aborted(): void {
    this.#total -= this.#uncommitted
    this.#uncommitted = 0
    this.#progress = undefined
  }
}
