/**
 * The operations that a repository adds for `Model.historied`. A second collection stores the history: one entry for each
 * state of each document.
 *
 * @since 0.1.0
 */
import type * as DateTime from "effect/DateTime"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../DocumentStore.ts"
import type { DocumentInvalid, ReadError } from "../RepositoryError.ts"

/**
 * The kind of write that made a state. `baseline` is the state that a document had before its first recorded write.
 *
 * @category models
 * @since 0.1.0
 */
export type Change = "baseline" | "insert" | "replace" | "patch" | "update" | "delete" | "restore" | "purge"

/**
 * The state of a document after a write, and who wrote it when.
 *
 * @category models
 * @since 0.1.0
 */
export interface Revision<M extends Model.Any> {
  /** The identifier of the document. */
  readonly id: Model.Id<M>
  /**
   * The number of this state: 1 after the insert, then one more with every write. The revision of the `baseline` is 0. It is
   * independent of the `version` of `Model.versioned`.
   */
  readonly revision: number
  readonly change: Change
  /** When the document was written. */
  readonly time: DateTime.Utc
  /** The subject of the writer's `CurrentUser`, if there was one. */
  readonly by: string | undefined
  /** The document as it was stored, including fields that the model omits. For a removal, its last state. */
  readonly document: Document
  /** The document as an instance. Fails when the model has changed and no longer accepts the document. */
  readonly instance: Effect.Effect<M["Type"], DocumentInvalid>
}

/**
 * Whether the model has `Model.historied`.
 *
 * @category models
 * @since 0.1.0
 */
export type IsHistoried<M extends Model.Any> = [
  Extract<M["store"]["fields"][keyof M["store"]["fields"]], Model.Revision>
] extends [never] ? false : true

/**
 * Which state of a document to read: that of a revision, or the one at a time.
 *
 * @category models
 * @since 0.1.0
 */
export type HistoryPoint =
  | { readonly revision: number; readonly time?: never }
  | { readonly time: DateTime.Utc; readonly revision?: never }

/**
 * Reads and removes the recorded states of documents.
 *
 * @category services
 * @since 0.1.0
 */
export interface History<M extends Model.Any> {
  /**
   * The states of a document, the latest first. All are held in memory, so bound their number by `pageSize`. To get the
   * next page, set `before` to the last state of this one.
   */
  (
    id: Model.Id<M>,
    options?: {
      readonly pageSize?: number | undefined
      readonly before?: { readonly revision: number } | undefined
    }
  ): Effect.Effect<ReadonlyArray<Revision<M>>, ReadError>
  /**
   * The state of a revision, or the state at a time. `None` when there is no such revision, or when the document did not
   * exist or was deleted at that time.
   */
  readonly at: (id: Model.Id<M>, point: HistoryPoint) => Effect.Effect<Option.Option<Revision<M>>, ReadError>
  /** Streams the states of a document, the latest first. They are read as the stream is pulled. */
  readonly stream: (id: Model.Id<M>) => Stream.Stream<Revision<M>, ReadError>
  /** Removes all states of a document, whether the document exists or not. Returns their number. */
  readonly purge: (id: Model.Id<M>) => Effect.Effect<number, ReadError>
}

/**
 * The operations that the repository of a model with `Model.historied` adds.
 *
 * **Example** (The states of a document)
 *
 * ```ts
 * import { Effect, Layer, Option, Schema } from "effect"
 * import { EmbeddedStore, Model, Repository } from "appkernel"
 *
 * class Page extends Model.Class<Page>()("Page", { id: Model.id(), title: Schema.String, ...Model.historied }) {}
 *
 * const program = Effect.gen(function*() {
 *   const pages = yield* Repository.for(Page)
 *   const { id } = yield* pages.insert(new Page({ title: "Draft" }))
 *   yield* pages.patch(id, { title: "Final" })
 *   const states = yield* pages.history(id)
 *   const first = Option.getOrThrow(yield* pages.history.at(id, { revision: 1 }))
 *   return [...states.map(({ change }) => change), (yield* first.instance).title]
 * })
 *
 * const layer = Repository.layer(Page).pipe(Layer.provide(EmbeddedStore.layerMemory))
 * await Effect.runPromise(Effect.provide(program, layer)) // => ["patch", "insert", "Draft"]
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export interface Histories<M extends Model.Any> {
  readonly history: History<M>
}
