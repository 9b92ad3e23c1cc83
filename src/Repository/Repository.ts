/**
 * The stored instances of a model.
 *
 * @since 0.1.0
 */
import { CurrentStoreOptions } from "@appkernel/document-store/shared"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { FileStoreFailed } from "../Files/FileStore.ts"
import { DeclarationError } from "../internal/declarationError.ts"
import {
  assertReferences,
  assertUniqueByShard,
  filesOf,
  managedField,
  type ModelLike,
  modelsIn,
  nestedModel,
  referencesOf,
  shardKeyOf
} from "../Model/internal.ts"
import type * as Model from "../Model/Model.ts"
import type { ChangeEvent, ChangesOptions, ListEvent } from "./changes/changeEvents.ts"
import { authorized } from "./collection/authorizedCollection.ts"
import type { IsSoftDeleted, SoftDeletes, SortOptions } from "./collection/deletedDocuments.ts"
import { hasVersions, ownerOf, viewOf } from "./collection/storedCollection.ts"
import { DocumentStore, type StoreOptions } from "./DocumentStore.ts"
import type * as Query from "./Query.ts"
import { documentOperationsOf, unrestrictedOf, withUnrestricted } from "./repository/documentOperations.ts"
import type { Histories, IsHistoried } from "./repository/history.ts"
import { historyIndex, historyOf } from "./repository/historyEntry.ts"
import { indexesOf } from "./repository/modelIndexes.ts"
import { collectionsOf, loggedOf, makeOperations, referrerOf, writerOf } from "./repository/modelOperations.ts"
import type { Operations } from "./repository/operations.ts"
import { installReferences } from "./repository/referenceChecks.ts"
import { registerReferrer } from "./repository/referrers.ts"
import type { PositionGone, ReadError, StoreError } from "./RepositoryError.ts"
import { beginVersion } from "./versions/begin.ts"

export type {
  AnyChange,
  ChangeEvent,
  ChangesOptions,
  Inserted,
  ListChange,
  ListEvent,
  ListLeave,
  ListState,
  Removed,
  Updated
} from "./changes/changeEvents.ts"
export type { Deleted, DeletedOptions, IsSoftDeleted, SoftDeletes, SortOptions } from "./collection/deletedDocuments.ts"
export type { Change, Histories, History, HistoryPoint, IsHistoried, Revision } from "./repository/history.ts"
export type { CursorOptions, FindOptions, Operations, Page } from "./repository/operations.ts"

/**
 * The operations on the stored instances of the model `M`, including those that `Model.softDeleted` and `Model.historied`
 * add.
 *
 * @category services
 * @since 0.1.0
 */
export type Repository<M extends Model.Any> =
  & Operations<M>
  & (IsSoftDeleted<M> extends true ? SoftDeletes<M> : unknown)
  & (IsHistoried<M> extends true ? Histories<M> : unknown)

/**
 * The identifier of a model's repository in an Effect's requirements.
 *
 * @category models
 * @since 0.1.0
 */
export interface RepositoryOf<Name extends string> {
  readonly "~appkernel/Repository": Name
}

/**
 * The key of a model's repository in an Effect's context.
 *
 * @category services
 * @since 0.1.0
 */
export const key = <M extends Model.Any>(model: M): Context.Key<RepositoryOf<M["modelName"]>, Repository<M>> =>
  Context.Service<RepositoryOf<M["modelName"]>, Repository<M>>(`appkernel/Repository/${nameOf(model)}`)

/** An earlier form has a repository of its own. */
const nameOf = (model: Model.Any): string => {
  const view = viewOf(model)
  return view === undefined ? model.modelName : `${model.modelName}, form ${view.version}`
}

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
 * The repository of a model with all of its documents, within a request too. A handler's other repositories have the rights of
 * the caller: they find, count, change and delete what the rules admit. Use this one where the program has to know more than
 * the caller, such as whether a name is taken. It has the same requirement as `Repository.for`. Audit fields, histories and
 * generators still take the caller's subject.
 *
 * **Example** (A number of all documents)
 *
 * ```ts
 * import { Effect, Layer, Schema } from "effect"
 * import { EmbeddedStore, Model, Repository } from "appkernel"
 *
 * class Order extends Model.Class<Order>()("Order", { id: Model.id({ prefix: "O" }), customer: Schema.String }) {}
 *
 * const nextNumber = Effect.gen(function*() {
 *   const all = yield* Repository.unrestricted(Order)
 *   return 1 + (yield* all.count())
 * }).pipe(Effect.provide(Repository.layer(Order).pipe(Layer.provide(EmbeddedStore.layerMemory))))
 *
 * await Effect.runPromise(nextNumber) // => 1
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const unrestricted = <M extends Model.Any>(
  model: M
): Effect.Effect<Repository<M>, never, RepositoryOf<M["modelName"]>> =>
  Effect.map(Effect.service(key(model)), unrestrictedOf)

/**
 * Makes the repository of a model on the provided store, and installs the model's indexes. Models with the same name share
 * one collection, so give each model its own name. The options are those of all its operations, unless
 * {@link withStoreOptions} gives others.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*<M extends Model.Any>(
  model: M,
  options?: StoreOptions
): Effect.fn.Return<Repository<M>, StoreError, DocumentStore> {
  if (managedField(model, "id") === undefined) {
    return yield* Effect.die(new DeclarationError(`The model ${model.modelName} has no field "id"`))
  }
  const store = yield* DocumentStore
  assertReferences(model)
  assertAcknowledged(model, options)
  const embedded = modelsIn(model)
    .flatMap(({ store }) => Object.values(store.fields).map((schema) => nestedModel(schema)))
    .find((one) => one !== undefined && hasVersions(one))
  if (embedded !== undefined) {
    return yield* Effect.die(
      new DeclarationError(
        `${model.modelName} has ${embedded.modelName} in a field: only documents of a collection have versions` +
          (embedded === model ? "" : `, so ${model.modelName} has to say what it was itself`)
      )
    )
  }
  const related = [model, ...[model, ownerOf(model)].flatMap(referencesOf).map(({ target }) => target())]
  const { collectionOf, ownCollectionOf, versions } = yield* collectionsOf(
    related,
    store,
    (other) => other.modelName === model.modelName ? options : undefined
  )
  const [owner, declared] = [ownerOf(model), indexesOf(ownerOf(model))]
  assertUniqueByShard(
    model.modelName,
    shardKeyOf(owner),
    declared.map(({ key, name, unique }) => ({ name, unique: unique === true, paths: Object.keys(key) }))
  )
  yield* beginVersion(store, owner)
  const indexes = versions !== undefined && hasVersions(owner)
    ? yield* versions.preparedIndexes(owner, store, declared)
    : declared
  if (indexes.length > 0) yield* store.createIndexes(model.modelName, indexes)
  if (managedField(model, "revision") !== undefined) {
    yield* store.createIndexes(historyOf(model.modelName), [historyIndex])
  }
  const [all, newest] = [collectionOf(model), ownCollectionOf(owner)]
  // An earlier version may have no files in its fields, and deletes documents that have some.
  const files = filesOf(owner) === undefined ? undefined : yield* fileRecording(store)
  if (files !== undefined) yield* files.install(model)
  const authorizedOf = (other: ModelLike) => authorized(other, collectionOf(other), store)
  yield* installReferences(store, model)
  yield* store.changes.record(model.modelName, loggedOf(model))
  const recorded = hasVersions(owner) ? versions?.recordedVersionOf(model) : undefined
  if (owner === model) {
    registerReferrer(
      store,
      referrerOf(
        model,
        all,
        writerOf({ model, store, all, collection: all, collectionOf: undefined, files, newest, recorded }),
        hasVersions(model) ? versions?.unreadableReferrers(model, store) : undefined
      )
    )
  }
  const facts = { all, files, newest, recorded }
  return withUnrestricted(
    makeOperations(model, store, { ...facts, collection: authorizedOf(model), collectionOf: authorizedOf }),
    () => makeOperations(model, store, { ...facts, collection: all, collectionOf })
  )
})

/**
 * Provides the repository of a model on the provided store. The options are those of {@link make}.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <M extends Model.Any>(
  model: M,
  options?: StoreOptions
): Layer.Layer<RepositoryOf<M["modelName"]>, StoreError, DocumentStore> =>
  Layer.effect(key(model), make(model, options))

/**
 * Runs an effect whose operations on the model's documents read and write with these options: a report that reads from a
 * secondary, a write that every member has to acknowledge. Those of other models keep theirs.
 *
 * **Example** (A report from a secondary, by a certain index)
 *
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { Index, Model, Repository } from "appkernel"
 *
 * class Order extends Model.Class<Order>()("Order", {
 *   id: Model.id(),
 *   customer: Schema.String.pipe(Model.indexed(Index.plain)),
 *   total: Schema.Int
 * }) {}
 *
 * export const report = Effect.gen(function*() {
 *   const orders = yield* Repository.for(Order)
 *   return yield* orders.find(($) => $.customer.equals("C1"), { sort: "-total" })
 * }).pipe(Repository.withStoreOptions(Order, { readPreference: "secondaryPreferred", hint: "customer_1" }))
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const withStoreOptions = (model: Model.Any, options: StoreOptions) => {
  assertAcknowledged(model, options)
  return <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.updateService(effect, CurrentStoreOptions, (all) => ({
      ...all,
      [model.modelName]: { ...all[model.modelName], ...options }
    }))
}

/**
 * Runs an effect in a transaction: all of its operations on the store are committed, or none is. See
 * `DocumentStore.transaction`. The effect may run several times, because a transaction that conflicts with another is
 * retried. Transactions are serializable on the embedded store, and have snapshot isolation on MongoDB.
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

/**
 * The changes of a model's documents, as they are committed. The model has to have the option `logged`. Within a request these
 * are the changes that the caller may see: a document that leaves the rows of the caller is a delete without its contents, and
 * a change of hidden fields only is nothing. Outside of one these are all.
 *
 * The stream has no end. It holds no changes: a slow consumer reads later what it has missed. Fails with `PositionGone` when
 * changes after its place are no longer kept.
 *
 * **Gotchas**
 *
 * The rows of the caller are those of the moment when the stream begins. A state of a document that the model does not accept
 * is left out, with a warning in the log.
 *
 * **Example** (What happens to orders)
 *
 * ```ts
 * import { Effect, Layer, Schema, Stream } from "effect"
 * import { DocumentStore, EmbeddedStore, Model, Repository } from "appkernel"
 *
 * class Order extends Model.Class<Order>()("Order", { id: Model.id(), state: Schema.String }, { logged: true }) {}
 *
 * const program = Effect.gen(function*() {
 *   const orders = yield* Repository.for(Order)
 *   const store = yield* DocumentStore.DocumentStore
 *   const after = yield* store.changes.end
 *   const { id } = yield* orders.insert(new Order({ state: "open" }))
 *   yield* orders.patch(id, { state: "paid" })
 *   const changes = yield* Repository.changes(Order, { after }).pipe(Stream.take(2), Stream.runCollect)
 *   return changes.map(({ operation }) => operation)
 * }).pipe(Effect.provide(Repository.layer(Order).pipe(Layer.provideMerge(EmbeddedStore.layerMemory))))
 *
 * await Effect.runPromise(program) // => ["insert", "update"]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const changes = <M extends Model.Any>(
  model: M,
  options?: ChangesOptions<M>
): Stream.Stream<ChangeEvent<M>, PositionGone | ReadError, RepositoryOf<M["modelName"]>> =>
  Stream.unwrap(Effect.map(forModel(model), (repository) => documentOperationsOf(repository).changes(options)))

/**
 * A list that stays true: first its documents, then an event for each that enters it, changes in it, or leaves it. The model has
 * to have the option `logged`. Rights apply as in {@link changes}. When changes that the stream has not read yet are no longer
 * kept, the list begins anew with another `state`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const live = <M extends Model.Any>(
  model: M,
  where?: Query.Where<M>,
  options?: SortOptions<M>
): Stream.Stream<ListEvent<M>, ReadError, RepositoryOf<M["modelName"]>> =>
  Stream.unwrap(Effect.map(forModel(model), (repository) => documentOperationsOf(repository).live(where, options)))

/**
 * Removes the bytes of files that no document refers to: those of an upload that was not completed or of a killed process, and of
 * files that were replaced or deleted. What is younger than the `grace` stays: a document may be about to refer to it, or somebody
 * reads it. An engine does this by itself. The result is how many files there were that no document had ever referred to.
 *
 * @category combinators
 * @since 0.1.0
 */
export const sweepFiles = Effect.fnUntraced(function*(
  options: {
    readonly grace: Duration.Input
    /** Does nothing if this or another process has swept within this time. Defaults to none. */
    readonly every?: Duration.Input | undefined
  }
): Effect.fn.Return<number, ReadError | FileStoreFailed, DocumentStore> {
  const store = yield* DocumentStore
  const { sweep } = yield* fileRecording(store)
  const { every, grace } = options
  return yield* sweep(
    Duration.fromInputUnsafe(grace),
    every === undefined ? undefined : Duration.fromInputUnsafe(every)
  )
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** What records the files of documents. It is loaded for models that have some. */
const fileRecording = Effect.fnUntraced(function*(store: DocumentStore["Service"]) {
  const { makeFileRecording } = yield* Effect.promise(() => import("./files/fileWriter.ts"))
  const { filesOfStore } = yield* Effect.promise(() => import("../Files/internal.ts"))
  return makeFileRecording({ store, files: yield* filesOfStore(store) })
})

/** Dies if writes would not be acknowledged: their results say what was written. */
const assertAcknowledged = ({ modelName }: ModelLike, options: StoreOptions | undefined): void => {
  const w = options?.writeConcern?.w
  if (typeof w === "number" && !(w >= 1)) {
    throw new DeclarationError(
      `${modelName} can't be written with w: ${w}: at least one member has to acknowledge a write`
    )
  }
}
