/**
 * Keeps values unique whose index cannot be installed yet, since documents are stored in versions that have other fields.
 *
 * A write looks for the values where documents of each version have them, in one transaction with it. In a store whose
 * transactions do not see each other's reads, each of these writes also writes to a document for the values, so that writes
 * of the same values exclude each other.
 */
import { encodeComponent, isArray, segmentsOf, valueAt } from "@appkernel/mql/values"
import * as Effect from "effect/Effect"
import * as Hash from "effect/Hash"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { modelVersionField } from "../../Model/internal.ts"
import { plainMatcher } from "../collection/defaultedFields.ts"
import type { Document, DocumentStore, Filter, IndexDescription } from "../DocumentStore.ts"
import { isStoredIdentically } from "../query/bsonForm.ts"
import { unreadableProblems } from "../query/unreadable.ts"
import { DuplicateKey, type ReadError, type StoreError } from "../RepositoryError.ts"
import { agreementsCollection, takeLock, writerLocks } from "./agreement.ts"
import { isLookupIndex, type placesOf } from "./versionIndexes.ts"

/** The stored documents of a model. `placesOf` says where they have the values of an index. */
export interface StoredDocuments {
  readonly store: DocumentStore["Service"]
  readonly collection: string
  readonly upgrade: (stored: Document) => Document
  readonly placesOf: (index: IndexDescription) => ReturnType<typeof placesOf>
}

/** Runs the write unless another document has its unique values, but for those it had before. */
export const withUniqueValues = <A, E>(
  stored: StoredDocuments,
  indexes: ReadonlyArray<IndexDescription>,
  { before, document }: { readonly document: Document; readonly before: Document | undefined },
  write: Effect.Effect<A, E>
): Effect.Effect<A, E | StoreError> => {
  const { collection, store } = stored
  const keys = indexes.flatMap((index) =>
    before !== undefined && isSameKey(index, before, document)
      ? []
      : Option.toArray(Option.map(keyOf(index, document), (key) => ({ index, key })))
  )
  if (keys.length === 0) return write
  return store.transaction(Effect.gen(function*() {
    for (const { index, key } of keys) {
      if (store.isolation !== "serializable") {
        for (const lock of locksOf(index, document)) {
          yield* takeLock(store, lockId(collection, index, lock))
        }
      }
      if (yield* isTaken(stored, index, key, document["_id"])) {
        return yield* new DuplicateKey({ collection, index: index.name, fields: Object.keys(index.key) })
      }
    }
    return yield* write
  }))
}

/** Removes what kept the values of these indexes unique, once they are installed. */
export const removeLookups = Effect.fnUntraced(function*(
  store: DocumentStore["Service"],
  collection: string,
  indexes: ReadonlyArray<IndexDescription>
): Effect.fn.Return<void, ReadError> {
  const installed = (yield* store.listIndexes(collection)).filter(isLookupIndex)
  if (installed.length > 0) yield* store.dropIndexes(collection, installed.map(({ name }) => name))
  const locks = indexes.filter(({ unique }) => unique === true).flatMap((index) =>
    Array.from({ length: lockCount }, (_, lock) => lockId(collection, index, lock))
  )
  if (store.isolation !== "serializable") {
    yield* store.deleteMany(agreementsCollection, { _id: { $in: [...locks, ...writerLocks(collection)] } })
  }
})

// internal

/** The conditions of a document with the same values, for each path; and that of the documents which the index has. */
interface Key {
  readonly values: ReadonlyArray<unknown>
  readonly part: Filter | undefined
}

const valuesOf = ({ key }: IndexDescription, document: Document): ReadonlyArray<unknown> =>
  Object.keys(key).map((path) => valueAt(document, segmentsOf(path)))

/** None if the index does not have the document. */
const keyOf = (index: IndexDescription, document: Document): Option.Option<Key> => {
  const values = valuesOf(index, document)
  if (index.sparse === true && values.every((value) => value === undefined)) return Option.none()
  const { partialFilterExpression: part } = index
  return part === undefined || plainMatcher(part)(document) ? Option.some({ values, part }) : Option.none()
}

/** Whether both documents are in the index, or out of it, with the same values. */
const isSameKey = (index: IndexDescription, one: Document, other: Document): boolean => {
  const [a, b] = [keyOf(index, one), keyOf(index, other)]
  return Option.isSome(a) && Option.isSome(b) &&
    a.value.values.every((value, i) => isStoredIdentically(value, b.value.values[i]))
}

const conditionOf = (value: unknown): Document => isArray(value) ? { $in: value } : { $eq: value ?? null }

/** Whether another document has the values. */
const isTaken = (
  { collection, upgrade, placesOf, store }: StoredDocuments,
  index: IndexDescription,
  { part, values }: Key,
  id: unknown
): Effect.Effect<boolean, ReadError> => {
  const atPaths = (paths: ReadonlyArray<string>): ReadonlyArray<Filter> =>
    paths.map((path, i) => ({ [path]: conditionOf(values[i]) }))
  const isSame: Filter = { $and: [...atPaths(Object.keys(index.key)), ...part === undefined ? [] : [part]] }
  const matches = plainMatcher(isSame)
  const isOther = (document: Document): boolean =>
    !isStoredIdentically(document["_id"], id) && unreadableProblems(document) === undefined && matches(document)
  return Stream.fromIterable(placesOf(index)).pipe(
    Stream.flatMap(({ numbers, paths = [] }) =>
      store.stream(collection, { filter: { $and: [...atPaths(paths), { [modelVersionField]: { $in: numbers } }] } })
    ),
    Stream.map(upgrade),
    Stream.filter(isOther),
    Stream.runHead,
    Effect.map(Option.isSome)
  )
}

const lockCount = 256

const lockId = (collection: string, { name }: IndexDescription, lock: number): string =>
  `${collection}: ${name} ${lock}`

/** The locks of a document's values, in order. Equal values have the same lock. */
const locksOf = (index: IndexDescription, document: Document): ReadonlyArray<number> => {
  const [value] = valuesOf(index, document)
  const all: ReadonlyArray<unknown> = isArray(value) ? value : [value ?? null]
  const locks = all.map((one) => Math.abs(Hash.string(encodeComponent(one, { inexact: false }))) % lockCount)
  return [...new Set(locks)].toSorted((a, b) => a - b)
}
