/** What creates, replacements, patches and deletes of one resource have in common, prepared once. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ModelView } from "../../Access/internal.ts"
import { finaliser, managedField } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document, DocumentStore } from "../../Repository/DocumentStore.ts"
import { documentCodec, documentOperationsOf, makeRetry } from "../../Repository/internal.ts"
import type { Repository } from "../../Repository/Repository.ts"
import type { StoreError } from "../../Repository/RepositoryError.ts"
import type { HandlerFailure } from "../response/handlerFailures.ts"
import { documentTags, type Representations } from "../response/representation.ts"
import type { WrittenDocument } from "../response/writeResponse.ts"
import { type HookFailed, type MethodHooks, runAfterwards } from "./hooks.ts"
import type { ImplementedResource } from "./implemented.ts"

export type Values = Record<string, unknown>

export type Instance = Model.Any["Type"]

export type WriteFailure = HandlerFailure | HookFailed

/** What the writes of a resource share. */
export type WriteContext = ReturnType<typeof writeContext>

export const writeContext = (
  { model, transactional }: ImplementedResource,
  repository: Repository<Model.Any>,
  store: DocumentStore["Service"],
  representations: Representations,
  view: ModelView
) => ({
  model,
  repository,
  documents: documentOperationsOf(repository),
  store,
  transactional,
  view,
  codec: documentCodec(model),
  finalise: finaliser(model),
  versionField: managedField(model, "version"),
  /** The entity tags of documents as the caller sees them. */
  tagsFor: documentTags(model, representations, view),
  retry: makeRetry()
})

export const written = ({ codec }: WriteContext, instance: Instance, created: boolean): WrittenDocument =>
  writtenDocument(codec.toDocument(instance), created)

export const writtenDocument = (document: Document, created: boolean): WrittenDocument => ({
  _tag: "Document",
  id: document["_id"],
  document,
  created
})

/** In a transaction, if the resource has them. */
export const atomically = <A, E>(
  { store, transactional }: WriteContext,
  effect: Effect.Effect<A, E>
): Effect.Effect<A, E | StoreError> => transactional ? store.transaction(effect) : effect

/** Runs the hooks and the write. `load` returns the instance to write, the stored instance, and how to write. */
export const withHooks = <E>(
  context: WriteContext,
  { after, before }: MethodHooks,
  id: Option.Option<unknown>,
  load: Effect.Effect<{
    readonly instance: Instance
    readonly previous: Option.Option<Instance>
    readonly write: (instance: Instance) => Effect.Effect<Instance, WriteFailure>
  }, E>
): Effect.Effect<WrittenDocument, WriteFailure | E> => {
  const done = atomically(
    context,
    Effect.flatMap(load, ({ instance, previous, write }) =>
      Effect.flatMap(
        before === undefined ? Effect.succeed(instance) : before(instance, { id, previous }),
        (changed) => Effect.map(write(changed), (result) => ({ result, previous }))
      ))
  )
  return Effect.flatMap(done, ({ previous, result }) =>
    Effect.as(
      after === undefined ? Effect.void : runAfterwards(after(result, { id, previous })),
      written(context, result, Option.isNone(previous))
    ))
}
