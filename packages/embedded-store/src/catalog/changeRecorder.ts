/**
 * Records changes in the jobs that make them, so that a change and its record are committed together or not at all.
 *
 * Records are numbered from 1 upwards without gaps. A position is a number and an epoch. Each time the store is opened, an
 * epoch begins with the first record. When a folder is replaced by an older copy, its next records have another epoch, so
 * that positions from after the copy do not name them.
 */
import type { Document, StoredChange } from "@appkernel/document-store/DocumentStore"
import { currentUserIdOf, rethrow } from "@appkernel/document-store/internal"
import { RecentChanges, WriteReceipt } from "@appkernel/document-store/shared"
import { recordIdOf } from "@appkernel/mql/internal"
import { ObjectId } from "bson"
import * as Clock from "effect/Clock"
import type * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Result from "effect/Result"
import type { Encoded, KeyValue } from "../storage/orderedStore.ts"
import { encodeRecord, storedChange } from "./changeRecord.ts"
import { ChangeRecords, type Log, logKey } from "./changeRecords.ts"

/** How the changes of a collection are recorded. */
export interface Recording {
  /** The number of the last record before the collection was recorded. */
  readonly since: number
  /** The milliseconds that records are kept, unless the log is too large. */
  readonly keep: number
  readonly maxSize: number
}

/** The end of a log: its last record, that one's time, and the bytes of all records so far. */
interface State {
  readonly last: number
  readonly bytes: number
  readonly time: number
}

export class ChangeRecorder extends ChangeRecords {
  readonly recent: RecentChanges
  readonly #store: KeyValue
  /** The epoch that begins with the next record, if none has been written since the store was opened. */
  readonly #id = new ObjectId().toHexString().slice(8)
  #state: State
  /** The state of the last commit. */
  #committed: State
  #maxBytes = Infinity
  /** Opens when the log has grown by what {@link ChangeRecorder.growBy} says. Who removes records closes it first. */
  readonly grown = Latch.makeUnsafe(false)
  /** Who has asked for the job that runs. */
  #writer: Fiber.Fiber<unknown, unknown> | undefined
  #who: string | undefined
  /** The number of the first record of the job. */
  #first: number | undefined
  /** What the writers of the records since the last commit are told. */
  #receipts: Array<{ readonly receipt: WriteReceipt; readonly transaction: string }> = []
  /** The changes since then, as far as somebody reads. */
  #pending: Array<{ readonly change: () => StoredChange; readonly bytes: number }> = []

  constructor(store: KeyValue) {
    super(store)
    this.#store = store
    this.#state = this.#loadState()
    this.#committed = this.#state
    this.recent = new RecentChanges(this.#state.last)
  }

  /** The number is that of the last key, and the rest is from the last record that is not damaged. */
  #loadState(): State {
    const last = this.end
    for (let number = last; number > this.trimmed; number--) {
      const found = this.#store.read("open", () => {
        let state: State | undefined
        this.scan(number - 1, ({ offset, time }, bytes) => {
          state = { last, bytes: offset + bytes, time }
          return false
        })
        return state
      })
      if (Result.isFailure(found) && found.failure._tag !== "DataDamaged") return rethrow(found.failure)
      if (Result.isSuccess(found) && found.success !== undefined) return found.success
    }
    return { last, bytes: 0, time: 0 }
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

  /** For jobs: begins a job of a fiber, whose records have its user, and the time of the first of them. */
  begin(writer: Fiber.Fiber<unknown, unknown>): void {
    this.#writer = writer
    this.#first = undefined
  }

  /** For jobs: begins the records of the job. */
  #beginRecords(first: number): number {
    const writer = this.#writer
    this.#who = undefined
    if (writer === undefined) return first
    const time = Math.max(this.#state.time, writer.getRef(Clock.Clock).currentTimeMillisUnsafe())
    this.#state = { ...this.#state, time }
    this.#who = currentUserIdOf(writer)
    const receipt = writer.getRef(WriteReceipt)
    if (receipt !== undefined) this.#receipts.push({ receipt, transaction: this.transactionOf(first) })
    return first
  }

  /** For jobs: records a change of no collection, since places from before miss what was not recorded. */
  mark(): void {
    if (this.#state.last > 0) this.record("", undefined, {}, undefined)
  }

  /** For jobs: records a write. */
  record(
    collection: string,
    before: Document | undefined,
    after: Document | undefined,
    encoded: Encoded | undefined
  ): void {
    if (before === undefined && after === undefined) return
    const number = this.#state.last + 1
    const { epochs, table } = this.log
    if (epochs.at(-1)?.id !== this.#id) this.#save({ table, epochs: [...epochs, { id: this.#id, from: number }] })
    const transaction = this.#first ??= this.#beginRecords(number)
    const { bytes, time } = this.#state
    const head = { collection, time, transaction, who: this.#who, offset: bytes }
    const record = encodeRecord(this.#store, head, before, after, encoded)
    this.#store.documents(table).put(recordIdOf(number), record.encoded, undefined)
    this.#state = { last: number, bytes: bytes + record.bytes, time }
    if (this.recent.isRead) {
      const change = () => storedChange(this.factsOf(number, head), before, after)
      this.#pending.push({ change, bytes: record.bytes })
    }
  }

  committed(): void {
    this.#first = undefined
    const { bytes, last } = this.#state
    const count = last - this.#committed.last
    if (count === 0) return
    this.#committed = this.#state
    for (const { receipt, transaction } of this.#receipts) receipt.transaction = transaction
    if (this.#receipts.length > 0) this.#receipts = []
    if (bytes > this.#maxBytes) {
      this.#maxBytes = Infinity
      this.grown.openUnsafe()
    }
    const pending = this.#pending
    if (pending.length > 0) this.#pending = []
    // Some are not there if the first reader has come after they were recorded.
    const areAll = pending.length === count && this.recent.isRead
    this.recent.publish(
      areAll ? pending.map(({ change }) => change()) : undefined,
      last,
      areAll ? pending.map(({ bytes }) => bytes) : []
    )
  }

  aborted(): void {
    this.#first = undefined
    this.#pending = []
    this.#receipts = []
    this.#state = this.#committed
    this.log = this.load()
  }

  /** The bytes of all committed records, including removed ones. */
  get bytes(): number {
    return this.#committed.bytes
  }

  growBy(bytes: number): void {
    this.#maxBytes = this.#committed.bytes + bytes
  }

  /** For jobs: removes records. The last record of all stays, since the next one takes its number from it. */
  trim(numbers: ReadonlyArray<number>): void {
    const { epochs, table } = this.log
    const { last } = this.#state
    const documents = this.#store.documents(table)
    for (const number of numbers) if (number < last) documents.remove(recordIdOf(number), undefined)
    const first = Math.min(numbers.at(-1) ?? 0, last - 1)
    const kept = epochs.filter((_, i) => (epochs[i + 1]?.from ?? Infinity) > first)
    if (kept.length < epochs.length) this.#save({ table, epochs: kept })
  }
}
