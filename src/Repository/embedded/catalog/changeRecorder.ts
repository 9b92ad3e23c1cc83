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
import type { Document, StoredChange } from "../../DocumentStore.ts"
import { type Encoded, everything, type KeyValue } from "../../storage/orderedStore.ts"
import { RecentChanges } from "../../store/recentChanges.ts"
import { encodeRecord, headOf, storedChange } from "./changeRecord.ts"
import { ChangeRecords, type Log, logKey } from "./changeRecords.ts"

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

/** @internal */
export class ChangeRecorder extends ChangeRecords {
  readonly recent: RecentChanges
  readonly #store: KeyValue
  /** The epoch that begins with the next record, if none has been written since the store was opened. */
  readonly #id = new ObjectId().toHexString().slice(8)
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
    super(store)
    this.#store = store
    store.documents(this.log.table).scan({ ...everything, reverse: true }, (key, record, bytes) => {
      const { offset, time } = headOf(record)
      this.#last = numberOfRecord(key)
      this.#bytes = offset + bytes
      this.#time = time
      return false
    })
    this.#committed = { last: this.#last, bytes: this.#bytes, time: this.#time }
    this.recent = new RecentChanges(this.#last)
  }

  /** For jobs. */
  #save(log: Log): void {
    this.#store.catalog.put(logKey, { table: log.table, epochs: log.epochs }, undefined)
    this.log = log
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

  /**
   * For jobs: records a change of no collection, so that no position from before names the place after it: what was written to a
   * collection that was not recorded is missing there.
   */
  mark(): void {
    if (this.#last > 0) this.record("", undefined, {}, undefined)
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
    const { epochs, table } = this.log
    if (epochs.at(-1)?.id !== this.#id) this.#save({ table, epochs: [...epochs, { id: this.#id, from: number }] })
    this.#time = Math.max(this.#time, this.#origin.time)
    const transaction = this.#origin.first ??= number
    const head = { collection, time: this.#time, transaction, who: this.#origin.who, offset: this.#bytes }
    const stored = after === undefined ? undefined : { document: after, encoded: encoded ?? after }
    const record = encodeRecord(this.#store, head, before, stored)
    this.#store.documents(table).put(recordIdOf(number), record.encoded, undefined)
    this.#last = number
    this.#bytes += record.bytes
    this.#pending.push(() => storedChange(this.factsOf(number, head), before, after))
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
    this.log = this.load()
  }

  /** The bytes of all committed records, including removed ones. */
  get bytes(): number {
    return this.#committed.bytes
  }

  growBy(bytes: number): void {
    this.#maxBytes = this.#bytes + bytes
    this.grown.closeUnsafe()
  }

  /** For jobs: removes records. The last record of all stays, since the next one takes its number from it. */
  trim(numbers: ReadonlyArray<number>): void {
    const { epochs, table } = this.log
    const documents = this.#store.documents(table)
    for (const number of numbers) if (number < this.#last) documents.remove(recordIdOf(number), undefined)
    const first = Math.min(numbers.at(-1) ?? 0, this.#last - 1)
    const kept = epochs.filter((_, i) => (epochs[i + 1]?.from ?? Infinity) > first)
    if (kept.length < epochs.length) this.#save({ table, epochs: kept })
  }
}
