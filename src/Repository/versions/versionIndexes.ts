/** The indexes of a model with versions while documents are stored in several versions. */
import { excludeEachOther } from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import { keptField, type ModelLike, modelVersionField } from "../../Model/internal.ts"
import { fieldsOfFilter, topFieldOf } from "../collection/documentFields.ts"
import type { DocumentStore, IndexDescription } from "../DocumentStore.ts"
import type { ReadError } from "../RepositoryError.ts"
import { agreementReader, type State } from "./agreement.ts"
import { type ModelVersions, modelVersionsOf } from "./modelVersions.ts"

/** The indexes to install before all documents have the newest version, and those that keep writes unique. */
export const installableIndexes = (
  model: ModelLike,
  store: DocumentStore["Service"],
  indexes: ReadonlyArray<IndexDescription>
): Effect.Effect<ReadonlyArray<IndexDescription>, ReadError> => {
  const versions = modelVersionsOf(model)
  return Effect.map(agreementReader(store, model.modelName, versions).current, (state) => {
    const deferred = new Set(deferredIndexes(versions, indexes, state))
    return [...indexes.filter((index) => !deferred.has(index)), ...lookupIndexes(versions, [...deferred], state)]
  })
}

/**
 * Drops unique indexes of fields that documents of this version and those after it do not have: two such documents would be
 * equal there. Processes that write them look for the values of the newest version themselves.
 */
export const retireIndexes = Effect.fnUntraced(function*(
  store: DocumentStore["Service"],
  { fields, model, models }: ModelVersions,
  version: number
): Effect.fn.Return<void, ReadError> {
  const written = new Set(models.slice(version - 1).flatMap(({ store }) => Object.keys(store.fields)))
  const gone = new Set(
    fields.filter((field) => !written.has(field) && field !== modelVersionField && field !== keptField)
  )
  if (gone.size === 0) return
  const stale = (yield* store.listIndexes(model.modelName)).filter(({ key, unique }) =>
    unique === true && Object.keys(key).some((path) => gone.has(topFieldOf(path)))
  )
  if (stale.length > 0) yield* store.dropIndexes(model.modelName, stale.map(({ name }) => name))
})

/** Drops the indexes that the version which is written can't have, and returns the {@link installableIndexes}. */
export const preparedIndexes = Effect.fnUntraced(function*(
  model: ModelLike,
  store: DocumentStore["Service"],
  indexes: ReadonlyArray<IndexDescription>
): Effect.fn.Return<ReadonlyArray<IndexDescription>, ReadError> {
  const versions = modelVersionsOf(model)
  const { earliest, written } = yield* agreementReader(store, model.modelName, versions).current
  if (earliest < written) yield* retireIndexes(store, versions, written)
  return yield* installableIndexes(model, store, indexes)
})

/**
 * The indexes that a synchronisation installs or keeps: the {@link preparedIndexes}, and installed ones of fields that differ in
 * earlier versions, whose processes may need them.
 */
export const synchronisedIndexes = Effect.fnUntraced(function*(
  model: ModelLike,
  store: DocumentStore["Service"],
  indexes: ReadonlyArray<IndexDescription>
): Effect.fn.Return<ReadonlyArray<IndexDescription>, ReadError> {
  const versions = modelVersionsOf(model)
  const wanted = yield* preparedIndexes(model, store, indexes)
  const { earliest } = yield* agreementReader(store, model.modelName, versions).current
  const changed = versions.changedSince(earliest)
  const others = (yield* store.listIndexes(model.modelName)).filter((index) =>
    fieldsOfIndex(index).some((field) => changed.has(field)) && !wanted.some((one) => excludeEachOther(one, index))
  )
  return [...wanted, ...others]
})

/** The unique indexes of fields that documents of an earlier version do not have. */
export const deferredIndexes = (
  versions: ModelVersions,
  indexes: ReadonlyArray<IndexDescription>,
  { earliest }: Pick<State, "earliest">
): ReadonlyArray<IndexDescription> => {
  const changed = versions.changedSince(earliest)
  return indexes.filter((index) => index.unique === true && fieldsOfIndex(index).some((field) => changed.has(field)))
}

/**
 * The groups of versions whose documents have the values of an index at the same paths, and the number of each version as it is
 * stored. Without paths, the values are computed from each document.
 */
export const placesOf = (
  { newest, pathIn }: ModelVersions,
  { key }: IndexDescription,
  earliest: number
): ReadonlyArray<
  { readonly paths: ReadonlyArray<string> | undefined; readonly numbers: ReadonlyArray<number | null> }
> => {
  const places = new Map<string, { paths: ReadonlyArray<string> | undefined; numbers: Array<number | null> }>()
  for (let version = earliest; version <= newest; version++) {
    const paths = Object.keys(key).map((path) => pathIn(path, version))
    const known = paths.every((path) => path !== undefined) ? paths : undefined
    const text = JSON.stringify(known ?? [])
    const place = places.get(text) ?? { paths: known, numbers: [] }
    // A document without a number has version 1.
    place.numbers.push(...version === 1 ? [null, 1] : [version])
    places.set(text, place)
  }
  return [...places.values()]
}

/** Whether this is an index by which writes find other documents with their unique values. */
export const isLookupIndex = ({ key }: IndexDescription): boolean => Object.keys(key).at(-1) === modelVersionField

/** The fields on which an index depends. */
export const fieldsOfIndex = ({ key, partialFilterExpression = {} }: IndexDescription): ReadonlyArray<string> =>
  [...Object.keys(key), ...fieldsOfFilter(partialFilterExpression) ?? []].map(topFieldOf)

/** The indexes by which a write finds other documents with its unique values, in whatever version they are stored. */
const lookupIndexes = (
  versions: ModelVersions,
  deferred: ReadonlyArray<IndexDescription>,
  { earliest }: Pick<State, "earliest">
): ReadonlyArray<IndexDescription> => {
  const keys = deferred.flatMap((index) =>
    placesOf(versions, index, earliest).map(({ paths = [] }) => [...paths, modelVersionField])
  )
  return [
    ...new Map(keys.map((paths) => {
      const name = `${paths.join("_")}_1`
      return [name, { name, key: Object.fromEntries(paths.map((path) => [path, 1 as const])), unique: false }]
    })).values()
  ]
}
