/**
 * Records changes in the jobs that make them, so that a change and its record are committed together or not at all.
 *
 * Records are numbered from 1 upwards without gaps. A position is a number and an epoch. Each time the store is opened, an
 * epoch begins with the first record. When a folder is replaced by an older copy, its next records have another epoch, so
 * that positions from after the copy do not name them.
 */
import { ObjectId } from "bson"
import * as Latch from "effect/Latch"
import { numberOfRecord, recordIdOf } from "../../bson/keyEncoding.ts"
import { dateOf } from "../../bson/normalise.ts"
import { isArray, isDocument } from "../../bson/value.ts"
import type { Document, Position, StoredChange } from "../../DocumentStore.ts"
import { type Encoded, everything, type KeyValue, type Range } from "../../storage/orderedStore.ts"
import { RecentChanges } from "../../store/recentChanges.ts"
import { documentsOf, encodeRecord, headOf, type RecordHead, storedChange } from "./changeRecord.ts"

/**
 * How the changes of a collection are recorded.
 *
 * @internal
 */
export interface Recording {
  /** The number of the last record before the collection was recorded. */
  readonly since: number
  /** The milliseconds that records are kept, unless the log is too large. */
  readonly keep: number
  readonly maxSize: number
}

/**
 * The user and the time of a job.
 *
 * @internal
 */
export interface Origin {
  readonly time: number
  readonly who: string | undefined
  /** The number of the first record of the job. */
  first: number | undefined
}

/**
 * A stored record.
 *
 * @internal
 */
export interface NumberedRecord extends RecordHead {
  readonly number: number
  /** Decodes the documents of the change. */
  readonly change: () => StoredChange
}

/** @internal */
export class ChangeRecorder {
  readonly recent: RecentChanges
  readonly #store: KeyValue
  /** The epoch that begins with the next record, if none has been written since the store was opened. */
  readonly #id = new ObjectId().toHexString().slice(8)
  #log: Log
  /** The number of the last record, and the bytes of all records so far. */
  #last = 0
  #bytes = 0
  #time = 0
  #maxBytes = Infinity
  /** Opens when the log has grown by what {@link ChangeRecorder.growBy} says. */
  readonly grown = Latch.makeUnsafe(false)
  /** The state of the last commit. */
  #committed = { last: 0, bytes: 0, time: 0 }
  #origin: Origin = { time: 0, who: undefined, first: undefined }
  #pending: Array<() => StoredChange> = []

  constructor(store: KeyValue) {
    this.#store = store
    this.#log = this.#load()
    store.documents(this.#log.table).scan({ ...everything, reverse: true }, (key, record, bytes) => {
      const { offset, time } = headOf(record)
      this.#last = numberOfRecord(key)
      this.#bytes = offset + bytes
      this.#time = time
      return false
    })
    this.#committed = { last: this.#last, bytes: this.#bytes, time: this.#time }
    this.recent = new RecentChanges(this.#last)
  }

  #load(): Log {
    const { epochs, table } = this.#store.catalog.get(logKey) ?? {}
    return {
      table: Number(table ?? 0),
      epochs: (isArray(epochs) ? epochs : []).filter(isDocument).map(({ from, id }) => ({
        id: String(id),
        from: Number(from)
      }))
    }
  }

  /** For jobs. */
  #save(log: Log): void {
    this.#store.catalog.put(logKey, { table: log.table, epochs: log.epochs }, undefined)
    this.#log = log
  }

  /** Whether the log has been made. */
  get exists(): boolean {
    return this.#log.table > 0
  }

  /** For jobs: makes the log in the table of a number that was never used. */
  make(nextNumber: () => number): void {
    if (!this.exists) this.#save({ table: nextNumber(), epochs: [] })
  }

  /** For jobs: begins a job of this origin. */
  begin(origin: Origin): void {
    origin.first = undefined
    this.#origin = origin
  }

  /** For jobs: records a write. */
  record(
    collection: string,
    before: Document | undefined,
    after: Document | undefined,
    encoded: Encoded | undefined
  ): void {
    if (before === undefined && after === undefined) return
    const number = this.#last + 1
    const { epochs, table } = this.#log
    if (epochs.at(-1)?.id !== this.#id) this.#save({ table, epochs: [...epochs, { id: this.#id, from: number }] })
    this.#time = Math.max(this.#time, this.#origin.time)
    const transaction = this.#origin.first ??= number
    const head = { collection, time: this.#time, transaction, who: this.#origin.who, offset: this.#bytes }
    const stored = after === undefined ? undefined : { document: after, encoded: encoded ?? after }
    const record = encodeRecord(this.#store, head, before, stored)
    this.#store.documents(table).put(recordIdOf(number), record.encoded, undefined)
    this.#last = number
    this.#bytes += record.bytes
    this.#pending.push(() => storedChange(this.#factsOf(number, head), before, after))
  }

  committed(): void {
    const pending = this.#pending
    if (pending.length === 0) return
    this.#pending = []
    this.#committed = { last: this.#last, bytes: this.#bytes, time: this.#time }
    if (this.#bytes > this.#maxBytes) {
      this.#maxBytes = Infinity
      this.grown.openUnsafe()
    }
    this.recent.publish(this.recent.isRead ? pending.map((change) => change()) : undefined, this.#last)
  }

  aborted(): void {
    this.#pending = []
    this.#last = this.#committed.last
    this.#bytes = this.#committed.bytes
    this.#time = this.#committed.time
    this.#log = this.#load()
  }

  /**
   * For reads: the number of the last visible record. A commit on disk may be visible before its jobs have succeeded, so
   * documents are never newer than this record.
   */
  get end(): number {
    let end = 0
    this.#store.documents(this.#log.table).scanKeys({ ...everything, reverse: true }, (key) => {
      end = numberOfRecord(key)
      return false
    })
    return end
  }

  /** The bytes of all committed records, including removed ones. */
  get bytes(): number {
    return this.#committed.bytes
  }

  growBy(bytes: number): void {
    this.#maxBytes = this.#bytes + bytes
    this.grown.closeUnsafe()
  }

  /** For reads: the number of the last removed record. */
  get trimmed(): number {
    let trimmed = 0
    this.#store.documents(this.#log.table).scanKeys(everything, (key) => {
      trimmed = numberOfRecord(key) - 1
      return false
    })
    return trimmed
  }

  /** For reads: visits the records after a number. */
  scan(after: number, visit: (record: NumberedRecord, bytes: number) => boolean): void {
    const range: Range = { ...everything, start: recordIdOf(after + 1) }
    this.#store.documents(this.#log.table).scan(range, (key, record, bytes) => {
      const number = numberOfRecord(key)
      const head = headOf(record)
      const change = () => {
        const { after, before } = documentsOf(record)
        return storedChange(this.#factsOf(number, head), before, after)
      }
      return visit({ ...head, number, change }, bytes)
    })
  }

  /** For jobs: removes records. The last record of all stays, since the next one takes its number from it. */
  trim(numbers: ReadonlyArray<number>): void {
    const { epochs, table } = this.#log
    const documents = this.#store.documents(table)
    for (const number of numbers) if (number < this.#last) documents.remove(recordIdOf(number), undefined)
    const first = Math.min(numbers.at(-1) ?? 0, this.#last - 1)
    const kept = epochs.filter((_, i) => (epochs[i + 1]?.from ?? Infinity) > first)
    if (kept.length < epochs.length) this.#save({ table, epochs: kept })
  }

  positionOf(number: number): Position {
    return `${textOf(number)}_${this.#epochOf(number)}`
  }

  /** For reads: the number of a position; `undefined` if the position is not of this log. */
  numberOf(position: Position): number | undefined {
    const [, digits, epoch] = /^(\d{16})_([0-9a-f]*)$/u.exec(position) ?? []
    const number = Number(digits)
    return digits !== undefined && number <= this.end && this.#epochOf(number) === epoch ? number : undefined
  }

  transactionOf(number: number): string {
    return textOf(number)
  }

  /** The epoch of a record; an empty text before the first epoch. */
  #epochOf(number: number): string {
    return this.#log.epochs.findLast(({ from }) => from <= number)?.id ?? ""
  }

  #factsOf(number: number, { collection, time, transaction, who }: RecordHead) {
    return {
      position: this.positionOf(number),
      transaction: this.transactionOf(transaction),
      collection,
      time: dateOf(time),
      ...who === undefined ? {} : { who }
    }
  }
}

// internal

interface Log {
  /** The number of its table; 0 if it has not been made. */
  readonly table: number
  readonly epochs: ReadonlyArray<{ readonly id: string; readonly from: number }>
}

const logKey = "changes"

/**
 * The number of the table with the records, by the definitions in a folder; `undefined` without a log.
 *
 * @internal
 */
export const logTableIn = (catalog: ReadonlyMap<string, Document>): number | undefined => {
  const { table } = catalog.get(logKey) ?? {}
  return table === undefined ? undefined : Number(table)
}

// Texts of one length have the order of their numbers.
const textOf = (number: number): string => String(number).padStart(16, "0")
