/** The routes that change documents of a resource, and how a document is deleted. */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { ModelView } from "../../Access/internal.ts"
import { applyPatch, type FieldProblem, patcher, type Serialiser } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document, DocumentStore } from "../../Repository/DocumentStore.ts"
import { type DocumentReads, identifierOf } from "../../Repository/internal.ts"
import type { Repository } from "../../Repository/Repository.ts"
import { documentParameters } from "../description/queryParameters.ts"
import type { Doors, EmbedWritten } from "../expansion/embeddable.ts"
import type { Uploads } from "../files/uploads.ts"
import type { Limits } from "../KernelConfig.ts"
import { queryReader } from "../query/parameterReader.ts"
import { expandOf } from "../query/urlQuery.ts"
import { BodyInstead, type Brought, type Instead } from "../request/bodyInstead.ts"
import { isMultipart } from "../request/multipart.ts"
import { checkOf, type PreconditionCheck, read as readConditions } from "../request/preconditions.ts"
import type { HandlerFailure, ResponseEffect } from "../response/handlerFailures.ts"
import { withoutHiddenFields } from "../response/hiddenNames.ts"
import type { Representations } from "../response/representation.ts"
import type { BadRequestResponder } from "../response/translatedResponses.ts"
import { writeResponses, type WrittenAnswer, type WrittenDocument } from "../response/writeResponse.ts"
import { createWrites } from "./createWrites.ts"
import { hooksOf, isHooked, isUnwritten, type MethodHooks, runAfterwards, withoutHookFailure } from "./hooks.ts"
import type { ImplementedResource } from "./implemented.ts"
import { replaceWrites } from "./replaceWrites.ts"
import { headersOf, notFound, withIdOf, withParameters, withRequest } from "./route.ts"
import {
  atomically,
  type Instance,
  type Values,
  withHooks,
  type WriteContext,
  writeContext,
  type WriteFailure,
  written,
  writtenDocument
} from "./writeContext.ts"
import { type GrantedInstance, keeping } from "./writeGrants.ts"
import { type RequestedChanges, writeReaders, type WriteRequest } from "./writeRequest.ts"
import { checkVersion, expectedFields, guarded, retryConflicts, versionIn } from "./writeVersions.ts"

/** The endpoints that change documents: each reads the request, applies it by one repository call, and responds. */
export const writeRoutes = (
  registration: ImplementedResource,
  repository: Repository<Model.Any>,
  store: DocumentStore["Service"],
  representations: Representations,
  { doors, limits, respondBadRequest, uploads, view }: {
    readonly uploads: Uploads | undefined
    readonly doors: Doors
    readonly limits: Limits
    readonly respondBadRequest: BadRequestResponder
    readonly view: ModelView
  }
): { readonly [N in "create" | "replace" | "patch" | "delete"]: ResponseEffect } => {
  const { hooks, model } = registration
  const read = writeReaders(registration, view, limits, uploads)
  const context = writeContext(registration, repository, store, representations, view)
  const replaceWith = replaceWrites(context)
  const create = createWrites(
    context,
    hooksOf(model, hooks, "POST"),
    replaceWith,
    registration.onKnownId ?? limits.onKnownId
  )
  const patch = patchWrites(context, hooksOf(model, hooks, "PATCH"))
  const remove = deleteWrites(context, hooksOf(model, hooks, "DELETE"))
  const onPut = hooksOf(model, hooks, "PUT")
  const steps = writeSteps(registration, representations, { respondBadRequest, view })
  const { print } = identifierOf(model)
  /** Reads what the answer embeds, before anything is written. */
  const expanding = (id: unknown, write: (embed: EmbedWritten | undefined) => ResponseEffect): ResponseEffect =>
    withParameters((parameters) => {
      if (Object.keys(parameters).length === 0) return write(undefined)
      const given = readParameters(parameters)
      if (Result.isFailure(given)) return respondBadRequest(given.failure)
      const { expand } = given.success
      const door = doors.get(registration.path)
      if (expand === undefined || door === undefined) return write(undefined)
      const asked = { expand: expandOf(expand), id: id === undefined ? undefined : print(id) }
      return Effect.flatMap(
        Effect.promise(() => import("../expansion/written.ts")),
        ({ expandWritten }) => Effect.flatMap(expandWritten(model, door, doors, asked), write)
      )
    })

  const readPatch = (
    id: unknown,
    request: HttpServerRequest.HttpServerRequest,
    instead: Instead | undefined
  ): Effect.Effect<Result.Result<WriteRequest<RequestedChanges>, ReadonlyArray<FieldProblem>>, HandlerFailure> => {
    const reading = read.patch(id, request, instead)
    const headers = headersOf(request)
    if (uploads === undefined || instead !== undefined || !isMultipart(headers["content-type"])) return reading
    const conditions = readConditions(headers)
    if (Result.isFailure(conditions)) return Effect.succeed(Result.fail(conditions.failure))
    // No file is received for a document that the write would refuse.
    return Effect.gen(function*() {
      const document = (yield* context.documents.findById(id, { privilege: "update" })) ?? (yield* notFound(model, id))
      const check = checkOf(conditions.success, context.tagsFor(yield* Effect.fiber))
      if (check !== undefined) yield* check(document)
      return yield* reading
    })
  }

  return {
    create: withRequest((request) => expanding(undefined, (embed) => steps(read.create(request), create, embed))),
    replace: withIdOf(model, (id, request) =>
      expanding(id, (embed) =>
        Effect.withFiber((fiber) =>
          steps(
            read.replace(id, request, fiber.getRef(BodyInstead)),
            ({ body, conditions, id }) => withoutHookFailure(replaceWith(onPut, Option.some(id), id, body, conditions)),
            embed
          )
        ))),
    patch: withIdOf(
      model,
      (id, request) =>
        expanding(
          id,
          (embed) => Effect.withFiber((fiber) => steps(readPatch(id, request, fiber.getRef(BodyInstead)), patch, embed))
        )
    ),
    delete: withIdOf(model, (id, request) => steps(read.delete(id, request), remove))
  }
}

/** What a write does after its request was read: the write itself, and its response. */
export const writeSteps = (
  registration: ImplementedResource,
  representations: Representations,
  { respondBadRequest, view }: { readonly respondBadRequest: BadRequestResponder; readonly view: ModelView }
) => {
  const conceal = withoutHiddenFields(view.mask)
  const respond = writeResponses(registration, representations, view)
  return <Body, E extends HandlerFailure>(
    reading: Effect.Effect<Result.Result<WriteRequest<Body>, ReadonlyArray<FieldProblem>>, E>,
    applying: (request: WriteRequest<Body>) => Effect.Effect<WrittenAnswer, HandlerFailure>,
    embed?: EmbedWritten
  ): ResponseEffect => {
    const applied = (request: WriteRequest<Body>) =>
      request.brought === undefined ? applying(request) : settling(applying(request), request.brought)
    return Effect.flatMapEager(reading, (request): ResponseEffect =>
      Result.isFailure(request)
        ? respondBadRequest(request.failure)
        : Effect.flatMapEager(
          view.mask.isEmpty ? applied(request.success) : Effect.mapError(applied(request.success), conceal),
          (written) => respond(written, request.success.prefer, embed)
        ))
  }
}

/** How a deletion finds and removes a document. */
export interface Remover {
  readonly find: DocumentReads["findById"]
  /** Removes a document that was read, while some of its fields are unchanged. */
  readonly remove: WriteContext["documents"]["delete"]
  readonly removeById: (id: unknown) => Effect.Effect<void, WriteFailure>
}

export const deleteWrites = (
  context: WriteContext,
  onDelete: MethodHooks,
  { find, remove, removeById }: Remover = deleting(context)
) => {
  const { codec, model, versionField } = context
  const otherwise = versionField === undefined ? [] : [versionField]

  const read = Effect.fnUntraced(function*(id: unknown, check: PreconditionCheck | undefined) {
    const document = (yield* find(id, { privilege: "delete" })) ?? (yield* notFound(model, id))
    if (check !== undefined) yield* check(document)
    return document
  })

  const deleteRead = (document: Document, check: PreconditionCheck | undefined) =>
    remove({ document, fields: expectedFields(context, check, otherwise) })

  const deleteOnce = (id: unknown, check: PreconditionCheck | undefined): Effect.Effect<void, WriteFailure> =>
    check === undefined
      ? removeById(id)
      : Effect.flatMap(read(id, check), (document) => deleteRead(document, check))

  /** Deletes a versioned document only in the version that the hooks received. */
  const deleteWithHooks = (id: unknown, check: PreconditionCheck | undefined): Effect.Effect<void, WriteFailure> => {
    const load = Effect.flatMap(read(id, check), (document) =>
      Effect.map(codec.fromDocument(document), (instance) => ({
        instance,
        previous: Option.some(instance),
        write: () => Effect.as(deleteRead(document, check), instance)
      })))
    const once = withHooks(context, onDelete, Option.some(id), load)
    return Effect.asVoid(check === undefined ? retryConflicts(context, id, once) : once)
  }

  return ({ conditions, id }: WriteRequest<undefined>): Effect.Effect<WrittenAnswer, HandlerFailure> =>
    Effect.as(
      withoutHookFailure(
        guarded(
          context,
          id,
          undefined,
          conditions,
          (check) => isHooked(onDelete) ? deleteWithHooks(id, check) : deleteOnce(id, check)
        )
      ),
      { _tag: "Deleted" }
    )
}

/** Changes fields of a document. */
const patchWrites = (context: WriteContext, onPatch: MethodHooks) => {
  const { codec, documents, model, versionField, view } = context
  const patched = patcher(model)

  /** The document that a JSON Patch tests and copies from: an empty one for a caller who may not read it. */
  const serialiserOf = (fiber: Fiber.Fiber<unknown, unknown>, document: Document): Serialiser => {
    const shown = view.of(fiber)
    return view.isReadable && shown.isShown(document) ? shown.formOf(document).serialise : () => "{}"
  }

  /** Computes the change from the stored document and writes it while that document is unchanged; otherwise retries. */
  const patchWithHooks = (
    { after, before }: MethodHooks,
    id: unknown,
    changes: RequestedChanges,
    check: PreconditionCheck | undefined
  ) =>
    Effect.suspend(() => {
      const requestOf = (previous: Instance) => ({ id: Option.some(id), previous: Option.some(previous) })
      let previous: Instance
      const change = Effect.fnUntraced(function*(stored: Instance): Effect.fn.Return<GrantedInstance, WriteFailure> {
        previous = stored
        const document = codec.toDocument(stored)
        const asked = changes._tag === "Merge"
          ? changes.changes
          : yield* changes.changesOf(document, serialiserOf(yield* Effect.fiber, document), Object(stored))
        const granted = yield* keeping(context, asked, { previous, document, mode: "merge" }, (changed) => {
          const merged = applyPatch(model, Object(stored), changed, {
            mode: changes._tag === "Merge" ? "merge" : "replace",
            versionField
          })
          return Effect.andThen(
            checkVersion(context, id, stored, versionIn(context, changed)),
            patched({ current: Object(stored), merged, changes: changed, isSent: true })
          )
        })
        return before === undefined
          ? granted
          : { ...granted, instance: yield* before(granted.instance, requestOf(stored)) }
      })
      return Effect.flatMap(atomically(context, documents.modify(id, change, check)), (result) =>
        Effect.as(
          after === undefined ? Effect.void : runAfterwards(after(result, requestOf(previous))),
          written(context, result, false)
        ))
    })

  const mergePatch = (id: unknown, changes: Values, check: PreconditionCheck | undefined) =>
    Effect.map(documents.patch(id, changes, check), (document) => writtenDocument(document, false))

  return ({ body, conditions, id }: WriteRequest<RequestedChanges>): Effect.Effect<WrittenAnswer, HandlerFailure> =>
    withoutHookFailure(
      guarded(
        context,
        id,
        body._tag === "Merge" ? versionIn(context, body.changes) : undefined,
        conditions,
        (check): Effect.Effect<WrittenDocument, WriteFailure> =>
          body._tag === "Merge" && !isHooked(onPatch) && !view.mask.touches(body.changes)
            ? mergePatch(id, body.changes, check)
            : patchWithHooks(onPatch, id, body, check)
      )
    )
}

// internal

/** Discards files if nothing was written. Where that is not sure, the sweep finds what is left. */
const settling = <A>(
  write: Effect.Effect<A, HandlerFailure>,
  { discard, written }: Brought
): Effect.Effect<A, HandlerFailure> =>
  Effect.tap(Effect.tapError(write, (error) => isUnwritten(error) ? discard : Effect.void), () => written)

const readParameters = queryReader({ expand: documentParameters.expand }, "is not a parameter of a write")

const deleting = ({ documents, repository }: WriteContext): Remover => ({
  find: documents.findById,
  remove: documents.delete,
  removeById: (id) => repository.deleteById(id)
})
