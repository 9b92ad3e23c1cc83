/**
 * The stored instances of a model.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Misdeclared } from "../internal/misdeclared.ts"
import { managedField } from "../Model/introspection.ts"
import * as JsonSchema from "../Model/JsonSchema.ts"
import type * as Model from "../Model/Model.ts"
import { DocumentStore } from "./DocumentStore.ts"
import { stampsOf } from "./repository/auditFields.ts"
import { makeRemoving, makeSoftDeletion } from "./repository/deletes.ts"
import { documentCodec, indexesOf } from "./repository/documentCodec.ts"
import type { Histories, IsHistoried } from "./repository/history.ts"
import { historyIndex, historyOf } from "./repository/historyEntry.ts"
import { makeHistoryReading } from "./repository/historyReads.ts"
import { makeHistoryWriter } from "./repository/historyWriter.ts"
import { makeModelCollection } from "./repository/modelCollection.ts"
import { makeModelWriter } from "./repository/modelWriter.ts"
import type { Operations } from "./repository/operations.ts"
import { makeReading } from "./repository/reads.ts"
import type { IsSoftDeleted, SoftDeletes } from "./repository/softDeletion.ts"
import { withSentWrites } from "./repository/validatedWrites.ts"
import { makeWriting } from "./repository/writes.ts"
import type { StoreError } from "./RepositoryError.ts"

export type { Change, Histories, IsHistoried, Version } from "./repository/history.ts"
export type { CursorOptions, FindOptions, Operations, Page, SortOptions } from "./repository/operations.ts"
export type { Deleted, DeletedOptions, IsSoftDeleted, SoftDeletes } from "./repository/softDeletion.ts"

/**
 * Reads and writes the instances of the model `M`; what its traits add included.
 *
 * @category services
 * @since 0.1.0
 */
export type Repository<M extends Model.Any> =
  & Operations<M>
  & (IsSoftDeleted<M> extends true ? SoftDeletes<M> : unknown)
  & (IsHistoried<M> extends true ? Histories<M> : unknown)

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
  if (managedField(model, "id") === undefined) {
    return yield* Effect.die(new Misdeclared(`The model ${model.modelName} has no field "id"`))
  }
  const store = yield* DocumentStore
  const collection = model.modelName
  const indexes = indexesOf(model)
  if (indexes.length > 0) yield* store.createIndexes(collection, indexes)
  const codec = documentCodec(model)
  const documents = makeModelCollection(model, store)
  const stamps = stampsOf(model)
  const [deletedField, revisionField] = [managedField(model, "deleted"), managedField(model, "revision")]
  if (revisionField !== undefined) yield* store.createIndexes(historyOf(collection), [historyIndex])
  const writer = revisionField === undefined
    ? makeModelWriter(documents)
    : makeHistoryWriter(collection, revisionField, documents, store)
  const { sent, ...writing } = makeWriting(model, documents, writer, stamps, codec)
  const operations: Operations<M> = {
    model,
    collection,
    ...makeReading(model, documents, codec),
    ...writing,
    ...(deletedField === undefined
      ? makeRemoving(model, documents, writer)
      : makeSoftDeletion(model, deletedField, documents, writer, stamps, codec)),
    ...(revisionField === undefined ? {} : makeHistoryReading(model, store, codec)),
    syncIndexes: store.syncIndexes(collection, indexes),
    installValidator: (options) =>
      store.setValidator(collection, JsonSchema.make(model, { mongoCompatibility: true }), options)
  }
  return withSentWrites(operations, sent)
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

/**
 * Runs an effect whose operations on the store happen all or not at all: see `DocumentStore.transaction`. It may run
 * several times, when others write what it reads. It is serializable on the embedded store, and has snapshot isolation on
 * MongoDB.
 *
 * **Example** (All or nothing)
 *
 * ```ts
 * import { Effect, Layer, Schema } from "effect"
 * import { EmbeddedStore, Model, Repository } from "appkernel"
 *
 * class Account extends Model.Class<Account>()("Account", { id: Model.id(), balance: Schema.Int }) {}
 *
 * const transfer = Effect.gen(function*() {
 *   const accounts = yield* Repository.for(Account)
 *   yield* accounts.bulkInsert([new Account({ id: "A", balance: 3 }), new Account({ id: "B", balance: 0 })])
 *   yield* Repository.transaction(Effect.gen(function*() {
 *     yield* accounts.updateOne(($) => $.id.equals("A"), ($) => [$.balance.increment(-2)])
 *     yield* accounts.updateOne(($) => $.id.equals("B"), ($) => [$.balance.increment(2)])
 *   }))
 *   return (yield* accounts.findById("B")).balance
 * }).pipe(Effect.provide(Repository.layer(Account).pipe(Layer.provideMerge(EmbeddedStore.layerMemory))))
 *
 * await Effect.runPromise(transfer) // => 2
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const transaction = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | StoreError, R | DocumentStore> =>
  Effect.flatMap(DocumentStore, (store) => store.transaction(effect))
