/** The indexes of a model with versions while documents are stored in several versions. */
import { excludeEachOther, isSameIndex } from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import { keptField, type ModelLike, modelTypeId, modelVersionField } from "../../Model/internal.ts"
import { fieldsOfFilter, topFieldOf } from "../collection/documentFields.ts"
import type { DocumentStore, IndexDescription } from "../DocumentStore.ts"
import type { ReadError } from "../RepositoryError.ts"
import { agreementReader, type State } from "./agreement.ts"
import { type ModelVersions, modelVersionsOf } from "./modelVersions.ts"

/** The indexes to install before all documents have the newest version, and those that keep writes unique. */
export const installableIndexes = Effect.fnUntraced(function*(
  model: ModelLike,
  store: DocumentStore["Service"],
  indexes: ReadonlyArray<IndexDescription>
): Effect.fn.Return<ReadonlyArray<IndexDescription>, ReadError> {
  const versions = modelVersionsOf(model)
  const state = yield* agreementReader(store, model.modelName, versions).current
  const waiting = deferredIndexes(versions, indexes, state)
  const blocked = yield* Effect.map(
    conflictsOf(store, versions, indexes, state),
    (all) => all.map(({ index }) => index)
  )
  const expiring = indexes.filter((index) =>
    index.expireAfterSeconds !== undefined && hasOtherValues(versions, index, state)
  )
  const deferred = new Set([...waiting, ...blocked, ...expiring])
  return [...indexes.filter((index) => !deferred.has(index)), ...lookupIndexes(versions, waiting, state)]
})

/**
 * Drops unique indexes of fields that documents of this version and those after it do not have: two such documents would be
 * equal there. Of the newest version it drops those of all changed fields that it does not declare, or whose values were
 * elsewhere before. Processes that write these versions look for the values of the newest one themselves. It also drops those of
 * fields that documents of this version may lack and earlier ones could not: a field that was required has another index. Indexes by
 * which documents expire are dropped alike: the newest version may have another value there.
 */
export const retireIndexes = Effect.fnUntraced(function*(
  store: DocumentStore["Service"],
  versions: ModelVersions,
  declared: ReadonlyArray<IndexDescription>,
  { earliest, written }: State
): Effect.fn.Return<void, ReadError> {
  const { fields, model, models, newest } = versions
  const named = new Set(models.slice(written - 1).flatMap(({ store }) => Object.keys(store.fields)))
  const gone = new Set(
    fields.filter((field) => !named.has(field) && field !== modelVersionField && field !== keptField)
  )
  const changed = versions.changedSince(earliest)
  const loosened = loosenedFields(versions, { earliest, written })
  const isStale = (index: IndexDescription): boolean =>
    fieldsOfIndex(index).some((field) => gone.has(field)) ||
    fieldsOfIndex(index).some((field) => loosened.has(field)) && !declared.some((one) => isSameIndex(one, index)) ||
    written === newest && fieldsOfIndex(index).some((field) => changed.has(field)) &&
      !declared.some((one) => isSameIndex(one, index) && isInPlace(versions, one, earliest))
  if (gone.size === 0 && changed.size === 0 && loosened.size === 0) return
  const stale = (yield* store.listIndexes(model.modelName)).filter((index) =>
    (index.unique === true || index.expireAfterSeconds !== undefined) && isStale(index)
  )
  if (stale.length > 0) yield* store.dropIndexes(model.modelName, stale.map(({ name }) => name))
})

/** Drops the indexes of earlier versions that exclude one of the newest version, once no document needs them. */
export const dropExcluding = Effect.fnUntraced(function*(
  store: DocumentStore["Service"],
  versions: ModelVersions,
  indexes: ReadonlyArray<IndexDescription>,
  state: Pick<State, "earliest">
): Effect.fn.Return<void, ReadError> {
  const excluding = yield* conflictsOf(store, versions, indexes, state)
  const names = new Set(excluding.flatMap(({ installed }) => installed.map(({ name }) => name)))
  if (names.size > 0) yield* store.dropIndexes(versions.model.modelName, [...names])
})

/** Drops the indexes that the version which is written can't have, and returns the {@link installableIndexes}. */
export const preparedIndexes = Effect.fnUntraced(function*(
  model: ModelLike,
  store: DocumentStore["Service"],
  indexes: ReadonlyArray<IndexDescription>
): Effect.fn.Return<ReadonlyArray<IndexDescription>, ReadError> {
  const versions = modelVersionsOf(model)
  const state = yield* agreementReader(store, model.modelName, versions).current
  if (state.earliest < state.written) yield* retireIndexes(store, versions, indexes, state)
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
  const wanted = yield* preparedIndexes(model, store, indexes)
  return [...wanted, ...yield* keptIndexes(model, store, indexes, wanted)]
})

/** The installed indexes, beside the wanted ones, of fields that differ in earlier versions, whose processes may need them. */
export const keptIndexes = Effect.fnUntraced(function*(
  model: ModelLike,
  store: DocumentStore["Service"],
  indexes: ReadonlyArray<IndexDescription>,
  wanted: ReadonlyArray<IndexDescription>
): Effect.fn.Return<ReadonlyArray<IndexDescription>, ReadError> {
  const versions = modelVersionsOf(model)
  const { earliest } = yield* agreementReader(store, model.modelName, versions).current
  const changed = versions.changedSince(earliest)
  const excluding = yield* conflictsOf(store, versions, indexes, { earliest })
  const kept = new Set(excluding.flatMap(({ installed }) => installed.map(({ name }) => name)))
  return (yield* store.listIndexes(model.modelName)).filter((index) =>
    (kept.has(index.name) || fieldsOfIndex(index).some((field) => changed.has(field))) &&
    !wanted.some((one) => excludeEachOther(one, index))
  )
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

// internal

/** The indexes that installed ones exclude because of a change of fields: one of the two is of changed fields. */
const conflictsOf = (
  store: DocumentStore["Service"],
  versions: ModelVersions,
  indexes: ReadonlyArray<IndexDescription>,
  { earliest }: Pick<State, "earliest">
): Effect.Effect<
  ReadonlyArray<{ readonly index: IndexDescription; readonly installed: ReadonlyArray<IndexDescription> }>,
  ReadError
> => {
  const changed = versions.changedSince(earliest)
  if (changed.size === 0) return Effect.succeed([])
  const isChanged = (index: IndexDescription) => fieldsOfIndex(index).some((field) => changed.has(field))
  return Effect.map(store.listIndexes(versions.model.modelName), (all) =>
    indexes.flatMap((index) => {
      const installed = all.filter((other) =>
        excludeEachOther(other, index) && !isSameIndex(other, index) &&
        // What other documents must not have is tested by the index alone if its fields are the same.
        (isChanged(index) || index.unique !== true && isChanged(other))
      )
      return installed.length === 0 ? [] : [{ index, installed }]
    }))
}

/** The fields that the written version has as optional ones, and an earlier one as required ones. */
const loosenedFields = ({ models }: ModelVersions, { earliest, written }: State): ReadonlySet<string> =>
  new Set(
    Object.entries(models[written - 1]?.[modelTypeId] ?? {}).flatMap(([field, { optional }]) =>
      optional === true && models.slice(earliest - 1, written - 1).some((one) => isRequiredIn(one, field))
        ? [field]
        : []
    )
  )

const isRequiredIn = (model: ModelLike, field: string): boolean =>
  Object.hasOwn(model.store.fields, field) && model[modelTypeId][field]?.optional !== true

/** Whether documents of an earlier version have other values at the paths of an index. */
const hasOtherValues = (
  { models, newest, pathIn }: ModelVersions,
  index: IndexDescription,
  { earliest }: Pick<State, "earliest">
): boolean =>
  fieldsOfIndex(index).some((field) =>
    models.slice(earliest - 1, newest - 1).some(({ store }, i) =>
      Object.hasOwn(store.fields, field) && pathIn(field, earliest + i) !== field
    )
  )

/** Whether documents of all versions have the fields of an index at the same paths. */
const isInPlace = ({ newest, pathIn }: ModelVersions, index: IndexDescription, earliest: number): boolean =>
  fieldsOfIndex(index).every((field) =>
    Array.from({ length: newest - earliest }, (_, i) => pathIn(field, earliest + i)).every((path) => path === field)
  )

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
