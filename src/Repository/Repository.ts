/**
 * The stored instances of a model.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { managedField } from "../Model/internal/variants.ts"
import * as Model from "../Model/Model.ts"
import type { ModelError } from "../Model/ModelError.ts"
import { type Document, DocumentStore, type FindOptions } from "./DocumentStore.ts"
import { retryConflicts } from "./internal/conflicts.ts"
import { documentCodec, indexesOf } from "./internal/documents.ts"
import { applyPatch, changeOf } from "./internal/patch.ts"
import { traced } from "./internal/traced.ts"
import * as Query from "./Query.ts"
import {
  type DocumentInvalid,
  DocumentNotFound,
  type ReadError,
  type StoreError,
  VersionConflict
} from "./RepositoryError.ts"

/**
 * Which of the matching documents, and in which order. Pages never overlap: ties break by the identifier.
 *
 * @category models
 * @since 0.1.0
 */
export interface PageOptions<M extends Model.Any> {
  /** The field to sort by. Defaults to the identifier. */
  readonly sortBy?: (keyof M["store"]["fields"] & string) | undefined
  /** Defaults to `"ASC"`. */
  readonly sortOrder?: "ASC" | "DESC" | undefined
  /** From 1 upwards. Defaults to 1; without `pageSize` there is one page of everything. */
  readonly page?: number | undefined
  /** Documents per page. Defaults to all. */
  readonly pageSize?: number | undefined
}

/**
 * Reads and writes the instances of the model `M`.
 *
 * @category services
 * @since 0.1.0
 */
export interface Repository<M extends Model.Any> {
  readonly model: M
  /** The collection of the store, named as the model. */
  readonly collection: string
  /** The instance with this identifier. */
  readonly findById: (id: string) => Effect.Effect<M["Type"], DocumentNotFound | DocumentInvalid | ReadError>
  /** The instances that fulfil the condition, all in memory: bound them by `pageSize`. */
  readonly find: (
    where?: Query.Where<M>,
    options?: PageOptions<M>
  ) => Effect.Effect<ReadonlyArray<M["Type"]>, DocumentInvalid | ReadError>
  /** How many instances fulfil the condition, exactly. */
  readonly count: (where?: Query.Where<M>) => Effect.Effect<number, ReadError>
  /** Adds an instance; a versioned one gets version 1. Fails with `DuplicateKey` when its identifier is taken. */
  readonly insert: (instance: M["Type"]) => Effect.Effect<M["Type"], StoreError>
  /** Inserts or updates. A versioned instance whose stored version is another one fails with `VersionConflict`. */
  readonly save: (instance: M["Type"]) => Effect.Effect<M["Type"], VersionConflict | StoreError>
  /** Replaces the stored instance of the same identifier, which must be there. */
  readonly replace: (
    instance: M["Type"]
  ) => Effect.Effect<M["Type"], DocumentNotFound | VersionConflict | StoreError>
  /**
   * Changes the named fields: `null` removes an optional one, nested models merge (RFC 7396), lists are replaced. The
   * changed instance is validated as a whole before anything is written; `version` among the changes is the expected one.
   */
  readonly patch: (
    id: string,
    changes: M["patch"]["Type"]
  ) => Effect.Effect<M["Type"], DocumentNotFound | DocumentInvalid | VersionConflict | ModelError | StoreError>
  /** Adds instances in their order and stops at the first that is refused; those before it stay. The result is their number. */
  readonly bulkInsert: (instances: ReadonlyArray<M["Type"]>) => Effect.Effect<number, StoreError>
  /** Removes the instance, which must be there. */
  readonly deleteById: (id: string) => Effect.Effect<void, DocumentNotFound | ReadError>
  /** The stored document with this identifier as it is, or `undefined`. */
  readonly findDocumentById: (id: string) => Effect.Effect<Document | undefined, ReadError>
  /** Stored documents as they are. */
  readonly findDocuments: (options: FindOptions) => Effect.Effect<ReadonlyArray<Document>, ReadError>
  /** Adds a document as it is, in a versioned model as version 1. Nobody asks whether it is one of the model's. */
  readonly insertDocument: (document: Document) => Effect.Effect<void, StoreError>
  /** How many stored documents match. */
  readonly countDocuments: (filter: Document) => Effect.Effect<number, ReadError>
}

/**
 * Stands for the repository of a model in an Effect's requirements.
 *
 * @category models
 * @since 0.1.0
 */
export interface RepositoryOf<Name extends string> {
  readonly "~appkernel/Repository": Name
}

/**
 * The key under which the repository of a model stands in an Effect's context.
 *
 * @category services
 * @since 0.1.0
 */
export const key = <M extends Model.Any>(model: M): Context.Key<RepositoryOf<M["modelName"]>, Repository<M>> =>
  Context.Service<RepositoryOf<M["modelName"]>, Repository<M>>(`appkernel/Repository/${model.modelName}`)

const forModel = <M extends Model.Any>(
  model: M
): Effect.Effect<Repository<M>, never, RepositoryOf<M["modelName"]>> => Effect.service(key(model))

export {
  /**
   * The repository of a model: `const users = yield* Repository.for(User)`.
   *
   * @category constructors
   * @since 0.1.0
   */
  forModel as for
}

/**
 * Builds the repository of a model on the store at hand, and installs the model's indexes. Two models of one name would
 * share one collection: give each its own.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*<M extends Model.Any>(
  model: M
): Effect.fn.Return<Repository<M>, StoreError, DocumentStore> {
  const store = yield* DocumentStore
  const collection = model.modelName
  const indexes = indexesOf(model)
  if (indexes.length > 0) yield* store.createIndexes(collection, indexes)
  const { fromDocument, toDocument } = documentCodec(model)
  const versionField = managedField(model, "version")

  const versionOf = (document: Document): number | undefined => {
    const version = versionField === undefined ? undefined : document[versionField]
    return typeof version === "number" ? version : undefined
  }
  const withVersion = (document: Document, version: number): Document =>
    versionField === undefined ? document : { ...document, [versionField]: version }

  const notFound = (id: unknown) => new DocumentNotFound({ model: model.modelName, id: String(id) })

  const conflict = (id: unknown, expected: number) =>
    new VersionConflict({ model: model.modelName, id: String(id), expected })

  /** The stored document is another version, or there is none. */
  const conflictOrNotFound = Effect.fnUntraced(function*(id: unknown, expected: number | undefined) {
    const there = yield* store.findById(collection, id)
    return yield* there === undefined || expected === undefined
      ? notFound(id)
      : conflict(id, expected)
  })

  const asFirst = (document: Document): Document => versionOf(document) === 1 ? document : withVersion(document, 1)

  const insertDocument = (document: Document): Effect.Effect<Document, StoreError> => {
    const first = asFirst(document)
    return Effect.as(store.insertOne(collection, first), first)
  }

  /** Whether the document of the same identifier (and version) was there. */
  const replaceDocument = Effect.fnUntraced(function*(document: Document, upsert: boolean) {
    const version = versionOf(document)
    const filter = version === undefined || versionField === undefined
      ? { _id: document["_id"] }
      : { _id: document["_id"], [versionField]: version }
    const next = version === undefined ? document : withVersion(document, version + 1)
    const { matchedCount, upsertedId } = yield* store.replaceOne(collection, filter, next, { upsert })
    return matchedCount > 0 || upsertedId !== undefined ? next : undefined
  })

  const instanceOf = (document: Document) => Effect.orDie(fromDocument(document))

  const span = <Args extends ReadonlyArray<unknown>, A, E>(
    name: string,
    operation: (...args: Args) => Effect.Effect<A, E>
  ) => traced(`Repository.${name}`, collection, operation)

  const findById = Effect.fnUntraced(function*(id: string) {
    const document = yield* store.findById(collection, id)
    return document === undefined ? yield* notFound(id) : yield* fromDocument(document)
  })

  /** One attempt; a document that somebody else wrote in between is a conflict, whoever named a version or not. */
  const patchOnce = Effect.fnUntraced(function*(id: string, changes: object, expected: number | undefined) {
    const stored = yield* store.findById(collection, id)
    if (stored === undefined) return yield* notFound(id)
    const current = yield* fromDocument(stored)
    if (expected !== undefined && expected !== versionOf(stored)) return yield* conflict(id, expected)
    const changed = yield* Model.finalise(model, applyPatch(Object(current), changes, versionField))
    const change = changeOf(stored, toDocument(changed), Object.keys(changes), versionField)
    if (change === undefined) return current
    const { matchedCount } = yield* store.updateOne(collection, change.filter, change.update)
    return matchedCount > 0 ? yield* findById(id) : yield* conflict(id, versionOf(stored) ?? 0)
  })

  return {
    model,
    collection,
    findById: span("findById", findById),
    find: span(
      "find",
      Effect.fnUntraced(function*(where, options) {
        const documents = yield* store.find(collection, {
          filter: Query.toFilter(model, where),
          ...pageOf(options ?? {}, model)
        })
        return yield* Effect.forEach(documents, (document) => fromDocument(document))
      })
    ),
    count: span("count", (where) => store.count(collection, Query.toFilter(model, where))),
    insert: span(
      "insert",
      Effect.fnUntraced(function*(instance) {
        const document = toDocument(instance)
        const inserted = yield* insertDocument(document)
        return inserted === document ? instance : yield* instanceOf(inserted)
      })
    ),
    save: span(
      "save",
      Effect.fnUntraced(function*(instance) {
        const document = toDocument(instance)
        const replaced = yield* replaceDocument(document, versionField === undefined)
        if (replaced !== undefined) return yield* instanceOf(replaced)
        // Nobody has this version: either nobody has the identifier, or somebody wrote in between.
        const inserted = yield* insertDocument(document).pipe(
          Effect.catchTag("DuplicateKey", (error) =>
            // The store may name any of the indexes that are in the way, so the identifier is asked for.
            Effect.flatMap(
              store.findById(collection, document["_id"]),
              (there) => Effect.fail(there === undefined ? error : conflict(document["_id"], versionOf(document) ?? 0))
            ))
        )
        return yield* instanceOf(inserted)
      })
    ),
    replace: span(
      "replace",
      Effect.fnUntraced(function*(instance) {
        const document = toDocument(instance)
        const replaced = yield* replaceDocument(document, false)
        return replaced === undefined
          ? yield* conflictOrNotFound(document["_id"], versionOf(document))
          : yield* instanceOf(replaced)
      })
    ),
    patch: span("patch", (id, changes) => {
      const named = Object(changes)
      const expected = versionOf(named)
      const patched = patchOnce(id, named, expected)
      return expected === undefined ? retryConflicts(patched) : patched
    }),
    bulkInsert: span(
      "bulkInsert",
      Effect.fnUntraced(function*(instances) {
        const documents = instances.map((instance) => asFirst(toDocument(instance)))
        const { failures, insertedCount } = yield* store.insertMany(collection, documents)
        return failures[0] === undefined ? insertedCount : yield* failures[0].error
      })
    ),
    deleteById: span(
      "deleteById",
      Effect.fnUntraced(function*(id) {
        if ((yield* store.deleteOne(collection, { _id: id })) === 0) return yield* notFound(id)
      })
    ),
    insertDocument: span("insertDocument", (document) => store.insertOne(collection, asFirst(document))),
    findDocumentById: span("findDocumentById", (id) => store.findById(collection, id)),
    findDocuments: span("findDocuments", (options) => store.find(collection, options)),
    countDocuments: span("countDocuments", (filter) => store.count(collection, filter))
  }
})

/**
 * The repository of a model, on any store.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <M extends Model.Any>(
  model: M
): Layer.Layer<RepositoryOf<M["modelName"]>, StoreError, DocumentStore> => Layer.effect(key(model), make(model))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const pageOf = <M extends Model.Any>(options: PageOptions<M>, model: M): FindOptions => {
  const { page = 1, pageSize, sortBy, sortOrder } = options
  const direction = sortOrder === "DESC" ? -1 : 1
  const isId = sortBy === undefined || sortBy === managedField(model, "id")
  return {
    sort: isId ? { _id: direction } : { [sortBy]: direction, _id: direction },
    ...(pageSize === undefined ? {} : { skip: (page - 1) * pageSize, limit: pageSize })
  }
}
