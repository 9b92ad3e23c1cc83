/**
 * The number of the documents of a collection that fulfil a condition. It is counted once, in steps, and then follows
 * each write: whoever asks for it later has it at once.
 *
 * It is exact, whatever is written while it is counted. Records before the position of the count, and those inserted
 * since it began, follow each write. Of the others, those that are written are passed over by the count, which takes
 * what the last write made of them.
 */
import type { Document } from "../../DocumentStore.ts"

/**
 * Shows the next records from a record identifier on, with whether they fulfil the condition; the first record
 * identifier of the next step, or `undefined` at the end.
 *
 * @internal
 */
export type CountStep = (from: string, visit: (recordId: string, isMatch: boolean) => void) => string | undefined

/** @internal */
export interface Counting {
  readonly step: CountStep
  readonly matches: (document: Document) => boolean
}

// While it counts. Records from `position` to `end` are not counted yet.
interface Progress {
  position: string
  readonly end: string
  /** Those of them that were written since, and whether they fulfil the condition now. */
  readonly written: Map<string, boolean>
}

// An updated record takes a hundred bytes or so.
const maxWritten = 100_000

/** @internal */
export class Counter {
  readonly #counting: Counting
  #progress: Progress | undefined
  #isDone = false
  #total = 0
  /** What jobs have added to the total that are not committed yet. */
  #uncommitted = 0

  constructor(counting: Counting) {
    this.#counting = counting
  }

  /** How many a reader sees, once they are counted. */
  get value(): number | undefined {
    return this.#isDone ? this.#total - this.#uncommitted : undefined
  }

  get isBegun(): boolean {
    return this.#progress !== undefined
  }

  /** Begins to count the records before `end`. What jobs have written has to be committed. */
  begin(end: string): void {
    this.#progress = { position: "", end, written: new Map() }
    this.#total = 0
    this.#uncommitted = 0
  }

  /** Counts some more. */
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

  /** For jobs: a record is written, which had one of the documents and has the other. */
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

  /** What jobs have written since the last commit is not written. */
  aborted(): void {
    this.#total -= this.#uncommitted
    this.#uncommitted = 0
    this.#progress = undefined
  }
}
