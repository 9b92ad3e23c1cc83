import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { finaliser, managedField } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document, DocumentStore } from "../../Repository/DocumentStore.ts"
import { documentCodec, documentOperationsOf, makeRetry, textOfId } from "../../Repository/introspection.ts"
import type { Repository } from "../../Repository/Repository.ts"
import { type StoreError, VersionConflict } from "../../Repository/RepositoryError.ts"
import type { Forbidden } from "../HttpError.ts"
import * as preconditions from "../request/preconditions.ts"
import type { CallFailure } from "../response/callFailures.ts"
import type { WrittenDocument } from "../response/writeResponse.ts"
import { fieldForbidden } from "../view/denials.ts"
import type { ModelView } from "../view/modelView.ts"
import type { HookFailed, MethodHooks } from "./hooks.ts"
import type { ServedResource } from "./served.ts"

/** @internal */
export type Values = Record<string, unknown>

/** @internal */
export type Instance = Model.Any["Type"]

/** @internal */
export type WriteFailure = CallFailure | HookFailed

/**
 * The shared parts of a resource's writes: its repository, and their handling of preconditions, versions and hooks.
 *
 * @internal
 */
export type WriteContext = ReturnType<typeof writeContext>

/** @internal */
export const writeContext = (
  { model, transactional }: ServedResource,
  repository: Repository<Model.Any>,
  store: DocumentStore["Service"],
  view: ModelView
) => {
  const finalise = finaliser(model)
  const documents = documentOperationsOf(repository)
  const { fromDocument, toDocument } = documentCodec(model)
  const versionField = managedField(model, "version")

  const written = (instance: Instance, created: boolean): WrittenDocument => {
    const document = toDocument(instance)
    return { _tag: "Document", id: document["_id"], document, created }
  }
  const versionOf = (instance: Instance): number | undefined => {
    const version: unknown = versionField === undefined ? undefined : Reflect.get(Object(instance), versionField)
    return typeof version === "number" ? version : undefined
  }
  const stored = (id: unknown) => repository.findById(id)
  const retry = makeRetry()
  /** Retries a write without an expected version. */
  const retryConflicts = <A, E extends { readonly _tag: string }>(
    id: unknown,
    write: Effect.Effect<A, E>
  ): Effect.Effect<A, E> => retry(textOfId(id), ({ _tag }) => _tag === "VersionConflict", write)
  /**
   * Writes if the preconditions hold. They determine the expected version; a different version in the body fails like
   * an unmet precondition.
   */
  const guarded = <A>(
    id: unknown,
    bodyVersion: unknown,
    conditions: preconditions.Preconditions,
    write: (expected: number | undefined) => Effect.Effect<A, WriteFailure>
  ): Effect.Effect<A, WriteFailure> =>
    preconditions.guarded(conditions, {
      isVersioned: versionField !== undefined,
      current: Effect.map(stored(id), versionOf),
      retry: (attempt) => retryConflicts(id, attempt),
      write: (expected) =>
        expected !== undefined && typeof bodyVersion === "number" && bodyVersion !== expected
          ? Effect.fail(preconditions.failed)
          : write(expected)
    })
  /** The version in a body; `undefined` without one. */
  const versionIn = (values: Values): unknown =>
    versionField === undefined ? undefined : values[versionField] ?? undefined
  const atomically = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E | StoreError> =>
    transactional ? store.transaction(effect) : effect
  /** Fails with `VersionConflict` if a version is expected and the stored document has another one. */
  const checkVersion = <A extends Instance>(
    id: unknown,
    stored: A,
    expected: unknown
  ): Effect.Effect<A, VersionConflict> =>
    expected === undefined || expected === versionOf(stored)
      ? Effect.succeed(stored)
      : Effect.fail(new VersionConflict({ model: model.modelName, id: textOfId(id), expected: Number(expected) }))

  /**
   * The values to write over the stored document: what the caller can't see or write stays. Fails with `Forbidden` if it
   * would change.
   */
  const keeping = (
    values: Values,
    { document, mode, previous }: {
      readonly document: Document
      /** The stored instance; `undefined` if the document does not fit the model. */
      readonly previous: Instance
      readonly mode: "replace" | "merge"
    }
  ): Effect.Effect<Values, WriteFailure> =>
    view.rules.isEmpty ? Effect.succeed(values) : Effect.withFiber<Values, WriteFailure>((fiber) => {
      // Nothing can be kept of a document that can't be decoded.
      if (previous === undefined) return Effect.as(fromDocument(document), values)
      const kept = view.of(fiber).rulesOf(document).keep(values, previous, mode)
      return Result.isSuccess(kept) ? Effect.succeed({ ...kept.success }) : Effect.fail(fieldForbidden(kept.failure))
    })
  /** Fails with `Forbidden` if the caller may not send one of the values of the document to insert. */
  const checkInsert = (sent: Values, document: Document, prefix = ""): Effect.Effect<void, Forbidden> =>
    Effect.withFiber((fiber) => {
      const kept = view.of(fiber).rulesOf(document).keep(sent, undefined, "replace")
      return Result.isSuccess(kept) ? Effect.void : Effect.fail(fieldForbidden(prefix + kept.failure))
    })

  /** Runs the hooks and the write. `load` returns the instance to write, the stored instance, and how to write. */
  const withHooks = <E>(
    { after, before }: MethodHooks,
    id: Option.Option<unknown>,
    load: Effect.Effect<{
      readonly instance: Instance
      readonly previous: Option.Option<Instance>
      readonly write: (instance: Instance) => Effect.Effect<Instance, WriteFailure>
    }, E>
  ): Effect.Effect<WrittenDocument, WriteFailure | E> => {
    const done = atomically(Effect.flatMap(load, ({ instance, previous, write }) =>
      Effect.flatMap(
        before === undefined ? Effect.succeed(instance) : before(instance, { id, previous }),
        (changed) => Effect.map(write(changed), (result) => ({ result, previous }))
      )))
    return Effect.flatMap(done, ({ previous, result }) =>
      Effect.as(
        after === undefined ? Effect.void : after(result, { id, previous }),
        written(result, Option.isNone(previous))
      ))
  }

  return {
    model,
    repository,
    store,
    view,
    keeping,
    checkInsert: view.dependsOnDocument ? checkInsert : undefined,
    documents,
    finalise,
    fromDocument,
    toDocument,
    versionField,
    versionOf,
    stored,
    written,
    retryConflicts,
    guarded,
    versionIn,
    atomically,
    checkVersion,
    withHooks
  }
}
