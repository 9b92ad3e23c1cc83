/** Creates documents by `POST`: one or a list, with hooks, access checks, and replacement of known identifiers. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { completer, type FieldProblem } from "../../Model/internal.ts"
import { PropertyRequiredException, ValidationException } from "../../Model/ModelError.ts"
import { withRowFilters } from "../../Repository/internal.ts"
import { DuplicateKey } from "../../Repository/RepositoryError.ts"
import type { BadRequest } from "../HttpError.ts"
import { badItem, badRequestOf } from "../messages/message.ts"
import * as preconditions from "../request/preconditions.ts"
import type { HandlerFailure } from "../response/handlerFailures.ts"
import { fieldForbidden, withoutHiddenKeys } from "../response/hiddenNames.ts"
import type { WrittenAnswer, WrittenDocument } from "../response/writeResponse.ts"
import { completeAll, insertAll, rejectedAsItem } from "./bulkInsert.ts"
import { type HookFailed, isHooked, type MethodHooks, runAfterwards, withoutHookFailure } from "./hooks.ts"
import type { ReplaceWith } from "./replaceWrites.ts"
import {
  type Instance,
  type Values,
  withHooks,
  type WriteContext,
  type WriteFailure,
  written,
  writtenDocument
} from "./writeContext.ts"
import { bulkFilters, insertFilters } from "./writeGrants.ts"
import type { ManyDocuments, OneDocument, WriteRequest } from "./writeRequest.ts"

type Write = Effect.Effect<WrittenDocument, HandlerFailure>

/**
 * Inserts one document, or replaces the document with the same identifier unless `onKnownId` is `error`. Inserts several
 * documents atomically.
 */
export const createWrites = (
  context: WriteContext,
  onPost: MethodHooks,
  replaceWith: ReplaceWith,
  onKnownId: "replace" | "error"
) => {
  const { documents, model, view } = context
  const createAll = insertsOfMany(context, onPost)
  const create = insertsOfOne(context, onPost)

  /** Inserts a document with a free identifier; runs `onExisting` if another write has just inserted it. */
  const createIfAbsent = (
    id: unknown,
    value: Values,
    onExisting: Effect.Effect<WrittenDocument, WriteFailure>
  ): Effect.Effect<WrittenDocument, WriteFailure> =>
    Effect.catchTag(create({ ...value }), "DuplicateKey", (error) =>
      // The store may name any violated index, so this looks the identifier up.
      Effect.flatMap(
        // Of a transaction that has failed by it, nothing is read any more.
        Effect.orElseSucceed(documents.findById(id), () => undefined),
        (existing) =>
          existing === undefined
            ? Effect.fail(error)
            : Effect.catchTag(onExisting, "DocumentNotFound", () => Effect.fail(error))
      ))

  const known = Effect.suspend(() =>
    Effect.fail(new DuplicateKey({ collection: model.modelName, index: "_id_", fields: ["_id"] }))
  )

  const createWith = (
    id: unknown,
    value: Values,
    conditions: preconditions.Preconditions,
    problems: ReadonlyArray<FieldProblem> | undefined
  ): Effect.Effect<WrittenDocument, WriteFailure> => {
    const failed = Effect.fail(preconditions.failed)
    const forbidden = view.mask.forbiddenIn(value, true)
    const allowed = forbidden === undefined ? checkChosen(context) : Effect.fail(fieldForbidden(forbidden))
    const created = (
      onExisting: Effect.Effect<WrittenDocument, WriteFailure>
    ): Effect.Effect<WrittenDocument, WriteFailure> =>
      problems === undefined
        ? Effect.andThen(allowed, createIfAbsent(id, value, onExisting))
        : Effect.fail(badRequestOf(problems))
    const isCreateOnly = preconditions.isCreateOnly(conditions)
    if (isCreateOnly || onKnownId === "error") {
      const taken = isCreateOnly ? failed : known
      const creating = preconditions.isUpdateOnly(conditions) ? failed : created(taken)
      return Effect.flatMap(documents.findById(id), (existing) => existing === undefined ? creating : taken)
    }
    const replaced = replaceWith(onPost, Option.none(), id, value, conditions)
    return Effect.catchTag(
      replaced,
      "DocumentNotFound",
      () => preconditions.isUpdateOnly(conditions) ? failed : created(replaced)
    )
  }

  return (
    { body, conditions }: WriteRequest<OneDocument | ManyDocuments>
  ): Effect.Effect<WrittenAnswer, HandlerFailure> => {
    if (body._tag === "Many") {
      const created = Effect.map(createAll(body.values), (ids): WrittenAnswer => ({ _tag: "Documents", ids }))
      return body.values.some(isNamed) ? Effect.andThen(checkChosen(context), created) : created
    }
    const { problems, value } = body
    if (isNamed(value)) return withoutHookFailure(createWith(value["id"], value, conditions, problems))
    return preconditions.isUpdateOnly(conditions) ? Effect.fail(preconditions.failed) : create(value)
  }
}

const isNamed = ({ id }: Values): boolean => id !== undefined && id !== null

/**
 * Fails for a caller with row filters: whether a chosen identifier is taken would reveal documents that the filters
 * hide.
 */
const checkChosen = ({ documents }: WriteContext): Effect.Effect<void, HandlerFailure> =>
  Effect.flatMap(
    documents.isLimited,
    (isLimited) => isLimited ? Effect.fail(fieldForbidden("id")) : Effect.void
  )

/** Completes values. Finalises an instance if the decoder accepts a body without a required field, to report that field. */
const completerFor = ({ finalise, model, view }: WriteContext): ReturnType<typeof completer> =>
  view.mask.needsCompletion
    ? (value) => Effect.map(finalise(value, { isSent: true }), (instance) => ({ ...Object(instance) }))
    : completer(model)

const insertsOfOne = (context: WriteContext, onPost: MethodHooks): (value: Values) => Write => {
  const { codec, documents, finalise, model, repository, view } = context
  const complete = completerFor(context)

  const insert = (value: Values): Write =>
    Effect.withFiber((fiber) => {
      // `complete` changes the values, and the filters depend on those that were sent.
      const sent = view.dependsOnDocument ? { ...value } : value
      return Effect.flatMapEager(complete(value, fiber), (completed) => {
        const document = codec.toDocument(completed)
        const inserted = Effect.map(documents.insert(document), (document) => writtenDocument(document, true))
        return Effect.flatMapEager(
          insertFilters(view, sent),
          (filters) => withRowFilters(inserted, model, filters)
        )
      })
    })

  const insertWithHooks = Effect.fnUntraced(function*(value: Values) {
    const instance = yield* finalise(value, { isSent: true })
    const filters = yield* insertFilters(view, value)
    const load = Effect.succeed({
      instance,
      previous: Option.none(),
      write: (changed: Instance) => withRowFilters(repository.insert(changed), model, filters)
    })
    return yield* withHooks(context, onPost, Option.none(), load)
  })

  return isHooked(onPost) ? (value) => withoutHookFailure(insertWithHooks(value)) : insert
}

const insertsOfMany = (context: WriteContext, onPost: MethodHooks) => {
  const { codec, documents, finalise, model, repository, store, transactional, view } = context
  const complete = completerFor(context)
  const unnamed = withoutHiddenKeys(view.mask)
  const request = { id: Option.none(), previous: Option.none() }

  /**
   * Inserts all documents atomically, and validates what before-hooks return. In a transactional resource, each hook sees
   * the documents before its own one. A failed after-hook does not undo the insertion.
   */
  const createAllWithHooks = Effect.fnUntraced(
    function*({ after, before }: MethodHooks, values: ReadonlyArray<Values>) {
      const instances = yield* completeAll(values, (value) => finalise(value, { isSent: true }))
      const filters = view.dependsOnDocument ? yield* bulkFilters(view, values) : []
      const items = instances.map((instance, i) => ({ instance, filters: filters[i] }))
      const prepare = (item: (typeof items)[number], i: number) =>
        before === undefined ? Effect.succeed(item) : Effect.mapBoth(before(item.instance, request), {
          onSuccess: (instance) => ({ ...item, instance }),
          onFailure: (error) => ofItem(i, error)
        })
      const insert = ({ filters, instance }: (typeof items)[number], i: number) =>
        rejectedAsItem(i, Effect.mapError(withRowFilters(repository.insert(instance), model, filters), unnamed))
      const inserted = yield* transactional
        ? store.transaction(
          Effect.forEach(items, (item, i) => Effect.flatMap(prepare(item, i), (item) => insert(item, i)))
        )
        : Effect.flatMap(Effect.forEach(items, prepare), (items) => store.transaction(Effect.forEach(items, insert)))
      if (after !== undefined) {
        // Every hook runs, even if an earlier one fails: its document is inserted.
        const results = Effect.forEach(inserted, (instance) => Effect.result(after(instance, request)))
        yield* runAfterwards(
          Effect.flatMap(results, (results) => Effect.forEach(results, Effect.fromResult, { discard: true }))
        )
      }
      return inserted.map((instance) => written(context, instance, true).id)
    }
  )

  return (values: ReadonlyArray<Values>): Effect.Effect<ReadonlyArray<unknown>, HandlerFailure> =>
    isHooked(onPost)
      ? withoutHookFailure(createAllWithHooks(onPost, values))
      : insertAll(values, {
        complete: (value) => complete(value),
        filtersOf: view.dependsOnDocument ? (all) => bulkFilters(view, all) : undefined,
        toDocument: codec.toDocument,
        insertMany: (all, filters) =>
          withRowFilters(Effect.mapError(documents.insertMany(all), unnamed), model, filters),
        transaction: store.transaction
      })
}

/** Adds the item's index to the paths of field problems. */
const ofItem = (index: number, failed: HookFailed): HookFailed | BadRequest =>
  failed.error instanceof ValidationException || failed.error instanceof PropertyRequiredException
    ? badItem(index, failed.error.problems)
    : failed
