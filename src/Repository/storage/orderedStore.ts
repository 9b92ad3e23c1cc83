/**
 * The ordered tables that the embedded store is built on, kept on disk or in memory.
 */
import type * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import { beginStep, isStepDone } from "../../internal/steps.ts"
import type { Document } from "../DocumentStore.ts"
import type { StoreUnavailable } from "../RepositoryError.ts"

/**
 * Keys from `start` to before `end`, in bytewise order or backwards.
 *
 * @internal
 */
export interface Range {
  readonly start: string
  readonly end: string
  readonly reverse: boolean
}

/**
 * A range that holds every key.
 *
 * @internal
 */
export const everything: Range = { start: "", end: "\xff\xff\xff\xff", reverse: false }

/**
 * Is shown a value that took so many bytes to read, at its key or at the place of its key; `false` when it is enough.
 *
 * @internal
 */
export type Visit<At, Value> = (at: At, value: Value, bytes: number) => boolean

/**
 * Ordered values. Keys are strings of single bytes, one character each. Writing is for {@link KeyValue.write} alone.
 *
 * @internal
 */
export interface Table<Value, Written = Value> {
  readonly get: (key: string) => Value | undefined
  /**
   * Shows the values of these keys, as far as they are there, with the places of their keys, until `visit` answers
   * `false`. It must not write. What is known without reading has no bytes.
   */
  readonly visit: (keys: ReadonlyArray<string>, visit: Visit<number, Value>) => void
  readonly has: (key: string) => boolean
  /** `before` is the value that is replaced, which snapshots still show; see `versions.ts`. */
  readonly put: (key: string, value: Written, before: Value | undefined) => void
  readonly remove: (key: string, before: Value | undefined) => void
  /** Shows keys and values in order until there are no more, or `visit` answers `false`. It must not write. */
  readonly scan: (range: Range, visit: Visit<string, Value>) => void
  /** {@link Table.scan} without the values. */
  readonly scanKeys: (range: Range, visit: (key: string) => boolean) => void
}

/**
 * {@link Table.visit} by {@link Table.get}; `bytesRead` says what it took last.
 *
 * @internal
 */
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

/**
 * A document in the form in which it is kept; made by {@link KeyValue.encode} only.
 *
 * @internal
 */
export type Encoded = Document | Uint8Array

/** @internal */
export interface KeyValue {
  readonly description: string
  /** Collections and their indexes. */
  readonly catalog: Table<Document>
  /** The documents of a collection by their record identifiers, which grow with each that is inserted. */
  readonly documents: (collection: number) => Table<Document, Encoded>
  /** The entries of an index, or of a collection's identifiers; each holds the record identifier of its document. */
  readonly entries: (index: number) => Table<string>
  /** A normalised document as it is kept, or why it can't be. */
  readonly encode: (document: Document) => Result.Result<Encoded, string>
  /**
   * Runs `job` when it is its turn, without another writer in between. It succeeds when all that the job wrote is kept,
   * and can't be interrupted; when it fails, nothing is. The job may run again, after {@link Listener.aborted}.
   */
  readonly write: <A>(operation: string, job: () => A) => Effect.Effect<A, StoreUnavailable>
  /** Runs a step of reading. */
  readonly read: <A>(operation: string, step: () => A) => Result.Result<A, StoreUnavailable>
  readonly listen: (listener: Listener) => void
}

/**
 * What a job does, a little in each step, and its result.
 *
 * @internal
 */
export type Steps<A> = Iterator<void, A>

/** @internal */
export interface SteppedKeyValue extends KeyValue {
  /**
   * {@link KeyValue.write} for a job that may take long. Others run between its steps: they read what was there before the
   * job, and what they write waits. All of it is kept, or nothing.
   */
  readonly writeInSteps: <A>(operation: string, job: () => Steps<A>) => Effect.Effect<A, StoreUnavailable>
}

/**
 * Takes as many steps as there is time for in one turn.
 *
 * @internal
 */
export const takeSteps = <A>(steps: Steps<A>): IteratorResult<void, A> => {
  beginStep()
  let result = steps.next()
  while (result.done !== true && !isStepDone()) result = steps.next()
  return result
}

/**
 * Says which documents of a collection were written since it began, by their record identifiers: what is not committed
 * is included, and so is what was not when it began. It has to be closed.
 *
 * @internal
 */
export interface Watch {
  /** `undefined` when there were too many to remember. */
  readonly written: () => ReadonlyArray<string> | undefined
  readonly close: () => void
}

/** @internal */
export interface WatchedKeyValue extends KeyValue {
  readonly watch: (collection: number) => Watch
}

/**
 * Whoever remembers what the tables hold.
 *
 * @internal
 */
export interface Listener {
  /** All jobs that have run are kept. */
  readonly committed: () => void
  /** All jobs that have run since the last {@link Listener.committed} have left nothing. */
  readonly aborted: () => void
}
