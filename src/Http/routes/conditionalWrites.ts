import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { completer, type FieldProblem, finaliser, managedField, patcher } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import { PropertyRequiredException, ValidationException } from "../../Model/ModelError.ts"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import { applyPatch, documentCodec, makeRetry, textOfId, validatedWritesOf } from "../../Repository/introspection.ts"
import type { Repository } from "../../Repository/Repository.ts"
import { DocumentNotFound, type StoreError, VersionConflict } from "../../Repository/RepositoryError.ts"
import type { BadRequest } from "../HttpError.ts"
import { badRequestOf } from "../messages/message.ts"
import type { ResourceInfo } from "../Registration.ts"
import * as preconditions from "../request/preconditions.ts"
import type { CallFailure } from "../response/failures.ts"
import type { Written, WrittenDocument } from "../response/written.ts"
import { badItem, completeAll, insertAll, insertEach } from "./bulkInsert.ts"
import { type HookFailed, hooksOf, isHooked, type MethodHooks, unwrapped } from "./hooks.ts"
import type { Changes, ManyDocuments, OneDocument, WriteRequest } from "./writeRequest.ts"

type Values = Record<string, unknown>

type Instance = Model.Any["Type"]

type WriteFailure = CallFailure | HookFailed

/** What is wrong with the fields of an item has its place. */
const ofItem = (index: number, failed: HookFailed): HookFailed | BadRequest =>
  failed.error instanceof ValidationException || failed.error instanceof PropertyRequiredException
    ? badItem(index, failed.error.problems)
    : failed

/**
 * The writes of a resource, each under the conditions of its request and between its hooks.
 *
 * @internal
 */
export interface Writes {
  /** Inserts a document, or replaces that of the same identifier; inserts several, all of them or none. */
  readonly create: (request: WriteRequest<OneDocument | ManyDocuments>) => Effect.Effect<Written, CallFailure>
  readonly replace: (request: WriteRequest<Values>) => Effect.Effect<Written, CallFailure>
  readonly patch: (request: WriteRequest<Changes>) => Effect.Effect<Written, CallFailure>
  readonly delete: (request: WriteRequest<undefined>) => Effect.Effect<Written, CallFailure>
}

type Write = Effect.Effect<WrittenDocument, CallFailure>

/** @internal */
export const writesOf = (
  { hooks, model, transactional }: ResourceInfo,
  repository: Repository<Model.Any>,
  store: DocumentStore["Service"]
): Writes => {
  const complete = completer(model)
  const finalise = finaliser(model)
  const patched = patcher(model)
  const sent = validatedWritesOf(repository)
  const { fromDocument, toDocument } = documentCodec(model)
  const versionField = managedField(model, "version")
  const onPost = hooksOf(model, hooks, "POST")
  const onPut = hooksOf(model, hooks, "PUT")
  const onPatch = hooksOf(model, hooks, "PATCH")
  const onDelete = hooksOf(model, hooks, "DELETE")

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
  /** For a write that means whichever version there is. */
  const retryConflicts = <A, E extends { readonly _tag: string }>(
    id: unknown,
    write: Effect.Effect<A, E>
  ): Effect.Effect<A, E> => retry(textOfId(id), ({ _tag }) => _tag === "VersionConflict", write)
  /**
   * Writes under the conditions, `write` while the document has the version that they ask for. A body that names another
   * one contradicts them.
   */
  const guarded = <A>(
    id: unknown,
    named: unknown,
    conditions: preconditions.Preconditions,
    write: (expected: number | undefined) => Effect.Effect<A, WriteFailure>
  ): Effect.Effect<A, WriteFailure> =>
    preconditions.guarded(conditions, {
      isVersioned: versionField !== undefined,
      current: Effect.map(stored(id), versionOf),
      retry: (attempt) => retryConflicts(id, attempt),
      write: (expected) =>
        expected !== undefined && typeof named === "number" && named !== expected
          ? Effect.fail(preconditions.failed)
          : write(expected)
    })
  const namedIn = (values: Values): unknown =>
    versionField === undefined ? undefined : values[versionField] ?? undefined
  const atomically = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E | StoreError> =>
    transactional ? store.transaction(effect) : effect
  /** What was read has the version that is to be changed, if any is named. */
  const checked = <A extends Instance>(id: unknown, there: A, expected: unknown): Effect.Effect<A, VersionConflict> =>
    expected === undefined || expected === versionOf(there)
      ? Effect.succeed(there)
      : Effect.fail(new VersionConflict({ model: model.modelName, id: textOfId(id), expected: Number(expected) }))

  /** A write between hooks, of what `load` gives: the instance to be written and that which is there. */
  const between = <E>(
    { after, before }: MethodHooks,
    id: Option.Option<unknown>,
    load: Effect.Effect<{ readonly instance: Instance; readonly previous: Option.Option<Instance> }, E>,
    write: (instance: Instance, previous: Option.Option<Instance>) => Effect.Effect<Instance, WriteFailure>
  ): Effect.Effect<WrittenDocument, WriteFailure | E> => {
    const done = atomically(Effect.flatMap(load, ({ instance, previous }) =>
      Effect.flatMap(
        before === undefined ? Effect.succeed(instance) : before(instance, { id, previous }),
        (changed) => Effect.map(write(changed, previous), (result) => ({ result, previous }))
      )))
    return Effect.flatMap(done, ({ previous, result }) =>
      Effect.as(
        after === undefined ? Effect.void : after(result, { id, previous }),
        written(result, Option.isNone(previous))
      ))
  }

  /** The instance with the version that a body or a condition expects, or else that which is there. */
  const replacement = (
    id: unknown,
    value: Values,
    expected: number | undefined,
    { previous, version }: { readonly previous: Instance; readonly version: unknown }
  ) =>
    finalise({
      ...value,
      id,
      ...(versionField === undefined ? {} : { [versionField]: expected ?? value[versionField] ?? version })
    }, { isSent: true, previous })

  const insert = (value: Values): Write =>
    Effect.withFiber((fiber) =>
      Effect.flatMapEager(complete(value, fiber), (completed) => {
        const document = toDocument(completed)
        return Effect.as(sent.insertDocument(document), {
          _tag: "Document" as const,
          id: document["_id"],
          document: undefined,
          created: true
        })
      })
    )

  const insertBetweenHooks = (value: Values): Effect.Effect<WrittenDocument, WriteFailure> =>
    Effect.flatMap(
      finalise(value, { isSent: true }),
      (instance) =>
        between(onPost, Option.none(), Effect.succeed({ instance, previous: Option.none() }), repository.insert)
    )

  const create: (value: Values) => Write = isHooked(onPost) ? (value) => unwrapped(insertBetweenHooks(value)) : insert

  /** What hooks change is validated again, and all of it is one insertion; what they do after it does not undo it. */
  const createAllBetweenHooks = Effect.fnUntraced(
    function*({ after, before }: MethodHooks, values: ReadonlyArray<Values>) {
      const about = { id: Option.none(), previous: Option.none() }
      const instances = yield* completeAll(values, (value) => finalise(value, { isSent: true }))
      const prepared = before === undefined
        ? Effect.succeed(instances)
        : Effect.forEach(
          instances,
          (instance, i) => Effect.mapError(before(instance, about), (error) => ofItem(i, error))
        )
      const inserted = yield* atomically(
        Effect.flatMap(
          prepared,
          (changed) => insertEach(changed, { insert: repository.insert, transaction: store.transaction })
        )
      )
      if (after !== undefined) {
        // Each was inserted, whatever became of the hooks of those before it.
        const results = yield* Effect.forEach(inserted, (instance) => Effect.result(after(instance, about)))
        yield* Effect.forEach(results, Effect.fromResult, { discard: true })
      }
      return inserted.map((instance) => written(instance, true).id)
    }
  )

  const replaceOnce = (
    hooks: MethodHooks,
    place: Option.Option<unknown>,
    id: unknown,
    value: Values,
    expected: number | undefined
  ): Effect.Effect<WrittenDocument, WriteFailure> =>
    isHooked(hooks)
      ? between(
        hooks,
        place,
        Effect.gen(function*() {
          const previous = yield* checked(id, yield* stored(id), expected ?? namedIn(value))
          const instance = yield* replacement(id, value, expected, { previous, version: versionOf(previous) })
          return { instance, previous: Option.some(previous) }
        }),
        repository.replace
      )
      : Effect.gen(function*() {
        const there = yield* repository.findDocumentById(id)
        if (there === undefined) return yield* new DocumentNotFound({ model: model.modelName, id: textOfId(id) })
        // What is not one of the model's is replaced as a whole.
        const previous = Option.getOrUndefined(yield* Effect.option(fromDocument(there)))
        const version = there[versionField ?? ""]
        const instance = yield* replacement(id, value, expected, { previous, version })
        return written(yield* repository.replace(instance), false)
      })

  /** Without a version in the body, whichever is stored is replaced, however many write at once. */
  const replaceWith = (
    hooks: MethodHooks,
    place: Option.Option<unknown>,
    id: unknown,
    value: Values,
    conditions: preconditions.Preconditions
  ): Effect.Effect<WrittenDocument, WriteFailure> =>
    guarded(id, namedIn(value), conditions, (expected) => {
      const once = replaceOnce(hooks, place, id, value, expected)
      return expected === undefined && versionField !== undefined && namedIn(value) === undefined
        ? retryConflicts(id, once)
        : once
    })

  /** Inserts what nobody has the identifier of; `taken` says what becomes of it when somebody has just got it. */
  const createUnlessThere = (
    id: unknown,
    value: Values,
    taken: Effect.Effect<WrittenDocument, WriteFailure>
  ): Effect.Effect<WrittenDocument, WriteFailure> =>
    Effect.catchTag(create({ ...value }), "DuplicateKey", (error) =>
      // The store may name any of the indexes that are in the way, so the identifier is asked for.
      Effect.flatMap(
        repository.findDocumentById(id),
        (there) =>
          there === undefined
            ? Effect.fail(error)
            : Effect.catchTag(taken, "DocumentNotFound", () => Effect.fail(error))
      ))

  const createWith = (
    id: unknown,
    value: Values,
    conditions: preconditions.Preconditions,
    problems: ReadonlyArray<FieldProblem> | undefined
  ): Effect.Effect<WrittenDocument, WriteFailure> => {
    const failed = Effect.fail(preconditions.failed)
    const created = (
      taken: Effect.Effect<WrittenDocument, WriteFailure>
    ): Effect.Effect<WrittenDocument, WriteFailure> =>
      problems === undefined ? createUnlessThere(id, value, taken) : Effect.fail(badRequestOf(problems))
    if (preconditions.isCreateOnly(conditions)) {
      return Effect.flatMap(
        repository.findDocumentById(id),
        (there) => there === undefined ? created(failed) : failed
      )
    }
    const replaced = replaceWith(onPost, Option.none(), id, value, conditions)
    return Effect.catchTag(
      replaced,
      "DocumentNotFound",
      () => preconditions.isUpdateOnly(conditions) ? failed : created(replaced)
    )
  }

  /** The change is made of what is there and written only while that is there; it may have to be made anew. */
  const patchBetweenHooks = (
    { after, before }: MethodHooks,
    id: unknown,
    changes: Changes,
    expected: number | undefined
  ) =>
    Effect.suspend(() => {
      const about = (previous: Instance) => ({ id: Option.some(id), previous: Option.some(previous) })
      let previous: Instance
      const changed = Effect.fnUntraced(function*(there: Instance): Effect.fn.Return<Instance, WriteFailure> {
        previous = there
        const named = changes._tag === "Merge" ? changes.changes : yield* changes.changesOf(toDocument(there))
        yield* checked(id, there, expected ?? namedIn(named))
        const merged = applyPatch(model, Object(there), named, {
          mode: changes._tag === "Merge" ? "merge" : "replace",
          versionField
        })
        const instance = yield* patched({ current: Object(there), merged, changes: named, isSent: true })
        return before === undefined ? instance : yield* before(instance, about(there))
      })
      return Effect.flatMap(atomically(repository.modify(id, changed)), (result) =>
        Effect.as(
          after === undefined ? Effect.void : after(result, about(previous)),
          written(result, false)
        ))
    })

  const mergePatch = (id: unknown, changes: Values, expected: number | undefined) =>
    Effect.map(
      sent.patch(
        id,
        versionField === undefined || expected === undefined
          ? changes
          : { ...changes, [versionField]: expected }
      ),
      (instance) => written(instance, false)
    )

  /** Removes the document while it has the version that is expected. */
  const removeOnce = (id: unknown, expected: number | undefined): Effect.Effect<void, WriteFailure> =>
    versionField === undefined || expected === undefined
      ? repository.deleteById(id)
      : repository.deleteById(id, { version: expected })

  /** What is removed is what the hooks have seen, where that can be told by its version. */
  const removeBetweenHooks = (id: unknown, expected: number | undefined): Effect.Effect<void, WriteFailure> => {
    const once = between(
      onDelete,
      Option.some(id),
      Effect.map(
        Effect.flatMap(stored(id), (there) => checked(id, there, expected)),
        (instance) => ({ instance, previous: Option.some(instance) })
      ),
      (instance) => Effect.as(removeOnce(id, versionOf(instance)), instance)
    )
    return Effect.asVoid(expected === undefined ? retryConflicts(id, once) : once)
  }

  const createAll = (values: ReadonlyArray<Values>): Effect.Effect<ReadonlyArray<unknown>, CallFailure> =>
    isHooked(onPost)
      ? unwrapped(createAllBetweenHooks(onPost, values))
      : insertAll(values, {
        complete: (value) => complete(value),
        toDocument,
        insertDocuments: sent.insertDocuments,
        transaction: store.transaction
      })

  return {
    create: ({ body, conditions }) => {
      if (body._tag === "Many") return Effect.map(createAll(body.values), (ids) => ({ _tag: "Documents", ids }))
      const { problems, value } = body
      const id = value["id"]
      if (id !== undefined && id !== null) return unwrapped(createWith(id, value, conditions, problems))
      return preconditions.isUpdateOnly(conditions) ? Effect.fail(preconditions.failed) : create(value)
    },
    replace: ({ body, conditions, id }) => unwrapped(replaceWith(onPut, Option.some(id), id, body, conditions)),
    patch: ({ body, conditions, id }) =>
      unwrapped(
        guarded(
          id,
          body._tag === "Merge" ? namedIn(body.changes) : undefined,
          conditions,
          (expected): Effect.Effect<WrittenDocument, WriteFailure> =>
            body._tag === "Merge" && !isHooked(onPatch)
              ? mergePatch(id, body.changes, expected)
              : patchBetweenHooks(onPatch, id, body, expected)
        )
      ),
    delete: ({ conditions, id }) =>
      Effect.as(
        unwrapped(
          guarded(
            id,
            undefined,
            conditions,
            (expected) => isHooked(onDelete) ? removeBetweenHooks(id, expected) : removeOnce(id, expected)
          )
        ),
        { _tag: "Deleted" }
      )
  }
}
