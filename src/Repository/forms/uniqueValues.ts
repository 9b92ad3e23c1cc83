/**
 * Keeps values unique whose index cannot be installed yet, since documents are stored in forms that have other fields.
 *
 * A write looks for the values in all forms, in one transaction with it. In a store whose transactions do not see each other's
 * reads, each of these writes also writes to one document for the index, so that they exclude each other.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { segmentsOf, valueAt } from "../bson/path.ts"
import { isArray } from "../bson/value.ts"
import type { Document, DocumentStore, Filter, IndexDescription } from "../DocumentStore.ts"
import { parseFilter } from "../mql/filter/parseFilter.ts"
import { catchRejection } from "../mql/limits/queryProblem.ts"
import { DuplicateKey, type ReadError } from "../RepositoryError.ts"
import { marksCollection } from "./marks.ts"

/**
 * Runs the write of a document unless another one has its unique values. `find` finds documents in their newest form.
 *
 * @internal
 */
export const withUniqueValues = <A, E>(
  store: DocumentStore["Service"],
  collection: string,
  indexes: ReadonlyArray<IndexDescription>,
  document: Document,
  find: (filter: Filter) => Effect.Effect<ReadonlyArray<Document>, ReadError>,
  write: Effect.Effect<A, E>
) => {
  const keys = indexes.flatMap((index) => Option.toArray(Option.map(keyOf(index, document), (key) => ({ index, key }))))
  if (keys.length === 0) return write
  return store.transaction(Effect.gen(function*() {
    for (const { index, key } of keys) {
      if (store.isolation !== "serializable") {
        const lock = { _id: `${collection}: ${index.name}` }
        yield* store.updateOne(marksCollection, lock, { $inc: { writes: 1 } }, { upsert: true })
      }
      const others = yield* find({ $and: [...key, { _id: { $ne: document["_id"] } }] })
      if (others.length > 0) {
        return yield* new DuplicateKey({ collection, index: index.name, fields: Object.keys(index.key) })
      }
    }
    return yield* write
  }))
}

// internal

/** The conditions of other documents with the same values; none if the index does not have the document. */
const keyOf = (index: IndexDescription, document: Document): Option.Option<ReadonlyArray<Filter>> => {
  const values = Object.keys(index.key).map((path) => [path, valueAt(document, segmentsOf(path))] as const)
  if (index.sparse === true && values.every(([, value]) => value === undefined)) return Option.none()
  const { partialFilterExpression: part } = index
  if (part !== undefined && !matches(part, document)) return Option.none()
  const same = values.map(([path, value]): Filter => ({
    [path]: isArray(value) ? { $in: value } : { $eq: value ?? null }
  }))
  return Option.some(part === undefined ? same : [...same, part])
}

const matches = (filter: Filter, document: Document): boolean =>
  Result.getOrElse(
    Result.flatMap(parseFilter(filter, { now: 0 }), (parsed) => catchRejection(() => parsed.matches(document))),
    () => false
  )
