/**
 * How many bytes the files of a model may have together, and those of its documents with the same value of a field. Counters in the
 * collection of the records have how many there are. They change in the transaction of the write, and the record of a file says for
 * which of them it counts, so that it is taken away there once.
 */
import { rejectDuplicateKey } from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import { memoize } from "effect/Function"
import type { ModelLike } from "../../Model/internal.ts"
import { ownerOf } from "../collection/storedCollection.ts"
import type { Document, DocumentStore } from "../DocumentStore.ts"
import { uniqueTextOfId } from "../repository/historyEntry.ts"
import { FileQuotaExceeded, type ReadError } from "../RepositoryError.ts"

/** The limits of the files of a model, in bytes. */
export interface FileQuotas {
  /** Of all of its documents together. */
  readonly quota: number | undefined
  /** Of the documents with the same value of a field, by its name. */
  readonly quotaBy: { readonly [field: string]: number }
}

/** A number of bytes that is kept, and what it may be. */
export interface Counter {
  readonly key: string
  readonly limit: number
  readonly model: string
  readonly field: string | undefined
}

/** The counters of the model of a document; `undefined` without quotas. */
type CountersOf = (document: Document) => ReadonlyArray<Counter>

/** What a record says of one holder: for which counters its bytes count. */
interface Counted {
  readonly holder: string
  readonly size: number
  readonly for: ReadonlyArray<string>
}

type Store = DocumentStore["Service"]

/** The quotas of the models of a store. An engine says them when it starts. */
const quotasOf = memoize<Store, Map<string, FileQuotas>>(() => new Map())

/** Says the quotas of a model from now on; `undefined` for none. */
export const setQuotas = (store: Store, model: ModelLike, quotas: FileQuotas | undefined): void => {
  if (quotas === undefined) quotasOf(store).delete(ownerOf(model).modelName)
  else quotasOf(store).set(ownerOf(model).modelName, quotas)
}

/** The quotas of a model, as they are now. */
export const quotasIn = (store: Store, model: ModelLike): FileQuotas | undefined =>
  quotasOf(store).get(ownerOf(model).modelName)

/** The fields of a document by which its files count. */
export const countedFieldsOf = (quotas: FileQuotas | undefined): ReadonlyArray<string> =>
  Object.keys(quotas?.quotaBy ?? {}).map(storedName)

/** For which counters the files of a document count. */
export const countersOf = (model: ModelLike, quotas: FileQuotas): CountersOf => {
  const { modelName } = ownerOf(model)
  const counter = (key: string, limit: number, field?: string): Counter => ({ key, limit, model: modelName, field })
  return (document) => [
    ...quotas.quota === undefined ? [] : [counter(keyOf(modelName), quotas.quota)],
    ...Object.entries(quotas.quotaBy).flatMap(([field, limit]) => {
      const value = document[storedName(field)]
      return value === undefined || value === null
        ? []
        : [counter(keyOf(modelName, field, uniqueTextOfId(value)), limit, field)]
    })
  ]
}

/** What records say of who is counted. */
export const countedOf = ({ counted }: Document): ReadonlyArray<Counted> =>
  // Only this folder writes it.
  (counted ?? []) as ReadonlyArray<Counted>

/** Sums what a transaction changes, and writes it at its end. */
export const makeTally = (store: Store) => {
  const changes = new Map<string, number>()
  const counters = new Map<string, Counter>()
  const add = (key: string, bytes: number) => changes.set(key, (changes.get(key) ?? 0) + bytes)
  return {
    taken: (all: ReadonlyArray<Counter>, size: number) => {
      for (const counter of all) {
        counters.set(counter.key, counter)
        add(counter.key, size)
      }
    },
    returned: (all: ReadonlyArray<string>, size: number) => {
      for (const key of all) add(key, -size)
    },
    /** Changes the counters. The result is the quota that would be exceeded: then the write must not be. */
    written: Effect.gen(function*() {
      for (const [key, bytes] of changes) {
        if (bytes === 0) continue
        const before = yield* bytesOf(store, key)
        const after = (before ?? 0) + bytes
        const counter = counters.get(key)
        // Who has more than a quota that became smaller may go on with less.
        if (bytes > 0 && counter !== undefined && after > counter.limit) {
          return exceededBy(counter)
        }
        yield* rejectDuplicateKey(
          "files",
          before === undefined
            ? store.insertOne(collection, { _id: key, bytes: after })
            : after === 0
            ? store.deleteMany(collection, { _id: key })
            : store.updateOne(collection, { _id: key }, { $inc: { bytes } })
        )
      }
      return undefined
    })
  }
}

/** What a write that would leave more than a quota behind fails with. */
export const exceededBy = ({ field, limit, model }: Counter): FileQuotaExceeded =>
  new FileQuotaExceeded({ model, limit, ...field === undefined ? {} : { field } })

/** How many bytes may be added for a document with these counters, and by which counter; `undefined` for any number. */
export const roomOf = Effect.fnUntraced(function*(
  store: Store,
  counters: ReadonlyArray<Counter>
): Effect.fn.Return<{ readonly bytes: number; readonly counter: Counter } | undefined, ReadError> {
  const rooms = yield* Effect.forEach(
    counters,
    (counter) =>
      Effect.map(bytesOf(store, counter.key), (bytes = 0) => ({ counter, bytes: Math.max(0, counter.limit - bytes) }))
  )
  return rooms.toSorted((a, b) => a.bytes - b.bytes)[0]
})

/** The records that documents of a collection hold: from the name with a slash to the name with the next character. */
export const heldBy = (name: string): Document => ({ holders: { $elemMatch: { $gte: `${name}/`, $lt: `${name}0` } } })

// internal

/** That of the records. */
const collection = "appkernel_files"

const storedName = (field: string): string => field === "id" ? "_id" : field

const keyOf = (...parts: ReadonlyArray<string>): string => ["usage", ...parts].join("/")

const bytesOf = (store: Store, key: string): Effect.Effect<number | undefined, ReadError> =>
  Effect.map(store.findById(collection, key), (found) => found === undefined ? undefined : Number(found["bytes"]))
