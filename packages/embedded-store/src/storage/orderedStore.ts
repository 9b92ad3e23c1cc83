/**
 * The port of the ordered tables that the embedded store is built on; `lmdb/` stores them on disk, `memory/` in memory.
 *
 * All writes happen in jobs ({@link KeyValue.write}), one at a time. A job is atomic and, on disk, durable once its effect
 * succeeds. Reads see committed jobs and, within a job, its own writes.
 */
import type { Document } from "@appkernel/document-store/DocumentStore"
import { beginStep, isStepDone } from "@appkernel/document-store/internal"
import type { DataDamaged, StoreUnavailable } from "@appkernel/document-store/StoreError"
import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import type { RecordHints } from "./recordHints.ts"

/** Keys from `start` to before `end`, in bytewise order or backwards. */
export interface Range {
  readonly start: string
  readonly end: string
  readonly reverse: boolean
}

/** A range that holds every key. */
export const everything: Range = { start: "", end: "\xff\xff\xff\xff", reverse: false }

/** Receives a value with its key or the key's index, and the bytes read for it. `false` ends the scan. */
export type Visit<At, Value> = (at: At, value: Value, bytes: number) => boolean

/** A table of values ordered by their keys: strings with one byte in each character. Only jobs may write. */
export interface Table<Value, Written = Value> {
  readonly get: (key: string) => Value | undefined
  /** Visits existing keys' values until `visit`, which must not write, returns `false`. Cached ones have 0 bytes. */
  readonly visit: (keys: ReadonlyArray<string>, visit: Visit<number, Value>) => void
  readonly has: (key: string) => boolean
  /** `before` is the value that is replaced, which snapshots still show; see `versions.ts`. */
  readonly put: (key: string, value: Written, before: Value | undefined) => void
  readonly remove: (key: string, before: Value | undefined) => void
  /** Visits keys and values in order until `visit` returns `false`. `visit` must not write. */
  readonly scan: (range: Range, visit: Visit<string, Value>) => void
  /** {@link Table.scan} without the values. */
  readonly scanKeys: (range: Range, visit: (key: string) => boolean) => void
  /** The key at a place in a range, from 0; `undefined` if the range has fewer keys. What is before it is not read. */
  readonly keyAt: (range: Range, place: number) => string | undefined
  /**
   * {@link Table.keyAt} for estimates, in a transaction: nothing depends on it, so that no other write conflicts with it, and what
   * the transaction has written is left out.
   */
  readonly likelyKeyAt?: ((range: Range, place: number) => string | undefined) | undefined
  /**
   * Learns how many keys the parts of a large range have, a step at a time: `more` until it is known, or `unknown` while too many of
   * them are written. {@link Table.keyAt} then passes over the first `place` of them at once. With `isChecked`, the entries are
   * checked for damage, and {@link Table.countLearned} has their number.
   */
  readonly learn?: ((range: Range, isChecked: boolean, place: number) => "more" | "known" | "unknown") | undefined
  /** The number of keys in a range whose parts are known and checked. */
  readonly countLearned?: ((range: Range) => number | undefined) | undefined
  /** The number of keys in a range, in a table that knows it without reading them. */
  readonly countIn?: ((range: Range) => number | undefined) | undefined
}

/** Implements {@link Table.keyAt} by {@link Table.scanKeys}. */
export const keyAtBy = (scanKeys: Table<never>["scanKeys"], range: Range, place: number): string | undefined => {
  let found: string | undefined
  let left = place
  scanKeys(range, (key) => {
    if (left-- > 0) return true
    found = key
    return false
  })
  return found
}

/** Implements {@link Table.visit} by {@link Table.get}; `bytesRead` returns the bytes of the last read. */
export const visitEach = <Value>(
  keys: ReadonlyArray<string>,
  get: (key: string) => Value | undefined,
  visit: Visit<number, Value>,
  bytesRead: () => number = nothing
): void => {
  for (let place = 0; place < keys.length; place++) {
    const value = get(keys[place]!)
    if (value !== undefined && !visit(place, value, bytesRead())) return
  }
}

const nothing = () => 0

/** A document in its stored form, made by {@link KeyValue.encode} only. */
export type Encoded = Document | Uint8Array

/** A table that is only read. */
export type ReadTable<Value, Written = Value> = Omit<Table<Value, Written>, "put" | "remove">

/** The tables that reads use. */
export interface ReadTables {
  /** Which records had which identifiers lately; `undefined` in transactions, which note what they look up in the index. */
  readonly hints?: RecordHints | undefined
  readonly documents: (collection: number) => ReadTable<Document>
  readonly entries: (index: number) => ReadTable<string>
}

/** Why tables can't be read or written. */
export type StoreFailure = StoreUnavailable | DataDamaged

export interface KeyValue extends ReadTables {
  readonly description: string
  /** The definitions of collections and indexes. */
  readonly catalog: Table<Document>
  /** The documents of a collection by their record ids, which ascend in the order of insertion. */
  readonly documents: (collection: number) => Table<Document, Encoded>
  /** The entries of an index, or of a collection's identifiers; each value is the record id of the document. */
  readonly entries: (index: number) => Table<string>
  /** Encodes a normalised document; fails if it can't be stored. */
  readonly encode: (document: Document) => Result.Result<Encoded, string>
  /**
   * Runs `job` when it is its turn, without another writer in between. It succeeds when all that the job wrote is kept,
   * and can't be interrupted; when it fails, nothing is. The job may run again, after {@link Listener.aborted}.
   */
  readonly write: <A>(operation: string, job: () => A) => Effect.Effect<A, StoreFailure>
  /** Runs a step of reading. */
  readonly read: <A>(operation: string, step: () => A) => Result.Result<A, StoreFailure>
  readonly listen: (listener: Listener) => void
}

/** What a job does, a little in each step, and its result. */
export type Steps<A> = Iterator<void, A>

export interface SteppedKeyValue extends KeyValue {
  /**
   * {@link KeyValue.write} for a job that may take long. Others run between its steps: they read what was there before the
   * job, and what they write waits. All of it is kept, or nothing.
   */
  readonly writeInSteps: <A>(operation: string, job: () => Steps<A>) => Effect.Effect<A, StoreFailure>
}

/** Takes as many steps as there is time for in one turn. */
export const takeSteps = <A>(steps: Steps<A>): IteratorResult<void, A> => {
  beginStep()
  let result = steps.next()
  while (result.done !== true && !isStepDone()) result = steps.next()
  return result
}

/** Takes all steps; other fibers run between the turns. Dies with what a step throws. */
export const inSteps = <A>(steps: Steps<A>): Effect.Effect<A> =>
  Effect.suspend(() => {
    const result = takeSteps(steps)
    return result.done === true ? Effect.succeed(result.value) : Effect.andThen(Effect.yieldNow, inSteps(steps))
  })

/** Records the ids that are written to a collection, uncommitted ones included. Must be closed. */
export interface WriteRecorder {
  /** `undefined` if there were too many writes to record. */
  readonly written: () => ReadonlyArray<string> | undefined
  readonly close: () => void
}

export interface WatchedKeyValue extends KeyValue {
  readonly watch: (collection: number) => WriteRecorder
}

/** A value whose checksum is wrong, or a key near it: where the value may have been before its key was changed. */
export interface Damage {
  readonly table: "documents" | "entries"
  /** Of the collection or the index. */
  readonly number: number
  readonly key: string
  /** What is stored, if anything. */
  readonly bytes: Uint8Array | undefined
}

/** Observes the end of jobs, and names what is damaged. */
export interface Listener {
  readonly describe: (damage: Damage) => DataDamaged
  /** All jobs that have run are committed. */
  readonly committed: () => void
  /** All jobs that have run since the last {@link Listener.committed} are rolled back. */
  readonly aborted: () => void
}
