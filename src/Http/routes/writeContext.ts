import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { ModelView } from "../../Access/introspection.ts"
import { finaliser, managedField, modelTypeId } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document, DocumentStore } from "../../Repository/DocumentStore.ts"
import {
  documentCodec,
  documentOperationsOf,
  makeRetry,
  type RowFilters,
  textOfId
} from "../../Repository/introspection.ts"
import type { Repository } from "../../Repository/Repository.ts"
import { type StoreError, VersionConflict } from "../../Repository/RepositoryError.ts"
import type { Forbidden } from "../HttpError.ts"
import * as preconditions from "../request/preconditions.ts"
import type { CallFailure } from "../response/callFailures.ts"
import { fieldForbidden } from "../response/hiddenFields.ts"
import type { WrittenDocument } from "../response/writeResponse.ts"
import type { HookFailed, MethodHooks } from "./hooks.ts"
import type { ImplementedResource } from "./implemented.ts"

/** @internal */
export type Values = Record<string, unknown>

/** @internal */
export type Instance = Model.Any["Type"]

/** @internal */
export type WriteFailure = CallFailure | HookFailed

/**
 * An instance to write, with the row filters of the grants that allow it; with those of the caller if `undefined`.
 *
 * @internal
 */
export interface GrantedInstance {
  readonly instance: Instance
  readonly filters: RowFilters | undefined
}

/** A write by some of the caller's grants. */
interface Attempt {
  readonly allows: (instance: Instance) => boolean
  readonly granted: Effect.Effect<GrantedInstance, WriteFailure>
}

/** The first one that leaves behind what its grants allow, if there is one, since a hook may still change it. */
const firstAllowed = Effect.fnUntraced(function*(
  attempts: Arr.NonEmptyReadonlyArray<Attempt>
): Effect.fn.Return<GrantedInstance, WriteFailure> {
  const results: Array<Result.Result<GrantedInstance, WriteFailure>> = []
  for (const { allows, granted } of attempts) {
    const result = yield* Effect.result(granted)
    if (Result.isSuccess(result) && allows(result.success.instance)) return result.success
    results.push(result)
  }
  return yield* Effect.fromResult(results.find(Result.isSuccess) ?? results[0]!)
})

/**
 * The shared parts of a resource's writes: its repository, and their handling of preconditions, versions and hooks.
 *
 * @internal
 */
export type WriteContext = ReturnType<typeof writeContext>

/** @internal */
export const writeContext = (
  { model, transactional }: ImplementedResource,
  repository: Repository<Model.Any>,
  store: DocumentStore["Service"],
  view: ModelView
) => {
  const finalise = finaliser(model)
  const documents = documentOperationsOf(repository)
  const { fromDocument, toDocument } = documentCodec(model)
  const versionField = managedField(model, "version")

  const managed = Object.keys(model.store.fields).filter((name) => model[modelTypeId][name]?.managed !== undefined)
  /** What the repository keeps of a stored document, such as who inserted it. */
  const managedIn = (document: Document): Document =>
    Object.fromEntries(managed.flatMap((name) => Object.hasOwn(document, name) ? [[name, document[name]]] : []))

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
          ? Effect.andThen(stored(id), Effect.fail(preconditions.failed))
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
   * The instance to write over the stored document, completed from the values and from what the caller can't see or write,
   * which stays. Fails with `Forbidden` if that would change. One of the caller's grants has to allow both the fields and what
   * is left behind: `filters` are those of such grants.
   */
  const keeping = (
    values: Values,
    { document, mode, previous }: {
      readonly document: Document
      /** The stored instance; `undefined` if the document does not fit the model. */
      readonly previous: Instance
      readonly mode: "replace" | "merge"
    },
    complete: (kept: Values) => Effect.Effect<Instance, WriteFailure>
  ): Effect.Effect<GrantedInstance, WriteFailure> => {
    const whole = Effect.map(complete(values), (instance): GrantedInstance => ({ instance, filters: undefined }))
    return view.mask.isEmpty ? whole : Effect.withFiber<GrantedInstance, WriteFailure>((fiber) => {
      // Nothing can be kept of a document that can't be decoded.
      if (previous === undefined) return Effect.andThen(fromDocument(document), whole)
      const attempts = view.of(fiber).updatesOf(document).map(({ allows, filters, mask }) =>
        Result.map(mask.keep(values, previous, mode), (kept): Attempt => ({
          allows: (instance) => allows({ ...managedIn(document), ...toDocument(instance) }),
          granted: Effect.map(complete({ ...kept }), (instance) => ({ instance, filters }))
        }))
      )
      const [first, ...others] = Arr.getSuccesses(attempts)
      if (first !== undefined) return others.length === 0 ? first.granted : firstAllowed([first, ...others])
      const [denied = ""] = Arr.getFailures(attempts)
      return Effect.fail(fieldForbidden(denied))
    })
  }
  /**
   * The row filters for the insertions of documents with these values, one by one: those of the grants that allow to send them, and
   * those of the caller if `undefined`. Fails with `Forbidden` if no grant does.
   */
  const insertFilters = (
    all: ReadonlyArray<Values>,
    prefixOf: (index: number) => string = () => ""
  ): Effect.Effect<ReadonlyArray<RowFilters | undefined>, Forbidden> =>
    Effect.withFiber<ReadonlyArray<RowFilters | undefined>, Forbidden>((fiber) => {
      const { insertFiltersOf } = view.of(fiber)
      const attempts = all.map((sent, i) =>
        Result.mapError(insertFiltersOf(sent), (field) => fieldForbidden(prefixOf(i) + field))
      )
      return Effect.fromResult(Result.all(attempts))
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
    transactional,
    view,
    keeping,
    insertFilters: view.dependsOnDocument ? insertFilters : undefined,
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
