/** The handlers of the actions on deleted documents, for callers with a set of grants. */
import * as Effect from "effect/Effect"
import { memoize } from "effect/Function"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { quote } from "../../internal/json.ts"
import { managedField } from "../../Model/internal.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { deletedParameters, purgeParameters } from "../History.ts"
import { queryReader } from "../query/parameterReader.ts"
import type { Parameters } from "../query/urlQuery.ts"
import type { PreconditionCheck } from "../request/preconditions.ts"
import { deletionTime } from "../response/columns.ts"
import type { ResponseEffect } from "../response/handlerFailures.ts"
import * as Links from "../response/links.ts"
import { representationsOf } from "../response/representation.ts"
import { hooksOf, withoutHookFailure } from "../routes/hooks.ts"
import { getRoute, listQueryOf, listRoute, type ReadContext, readContext } from "../routes/readRoutes.ts"
import type { MakeDeletedHandlers } from "../routes/resourceRoutes.ts"
import { notFound, withIdOf, withParameters } from "../routes/route.ts"
import { withHooks, type WriteContext, writeContext, writtenDocument } from "../routes/writeContext.ts"
import { readHeaders, type WriteRequest } from "../routes/writeRequest.ts"
import { deleteWrites, type Remover, writeSteps } from "../routes/writeRoutes.ts"
import { expectedFields, guarded, retryConflicts } from "../routes/writeVersions.ts"

/** The handlers. A model without soft deletion has none of the actions. */
export const deletedHandlers: MakeDeletedHandlers = (registration, repository, store, surroundings) => {
  const { hooks, model } = registration
  const { respondBadRequest, view } = surroundings
  // Only models with soft deletion have these actions.
  const deletedField = managedField(model, "deleted") ?? ""
  const representations = representationsOf(registration, repository, {
    view,
    isViewed: surroundings.views !== undefined,
    links: withDeletionTimes(Links.ofResource(registration, view, deletedField), deletedField)
  })
  const reading = readContext(registration, repository, representations, surroundings)
  const writing = writeContext(registration, repository, store, representations, view)
  const steps = writeSteps(registration, representations, { respondBadRequest, view })
  const contexts = {
    include: { ...reading, documents: reading.documents.including("include") },
    only: { ...reading, documents: reading.documents.including("only") }
  }

  /** Passes the rest of the parameters to the handler for the documents that are asked for. */
  const asked = (handlers: { readonly [D in "include" | "only"]: (rest: Parameters) => ResponseEffect }) =>
    withParameters((parameters) => {
      const { deleted, ...rest } = parameters
      const read = readDeleted({ deleted })
      return Result.isFailure(read) ? respondBadRequest(read.failure) : handlers[read.success.deleted](rest)
    })

  const purge = deleteWrites(writing, hooksOf(model, hooks, "DELETE"), purging(writing))
  const restore = restoreWrites(writing, hooksOf(model, hooks, "PATCH"))
  return {
    deletedGet: asked({ include: one(contexts.include), only: one(contexts.only) }),
    deletedList: asked({ include: list(contexts.include), only: list(contexts.only) }),
    purge: withParameters((parameters) => {
      const read = readPurge(parameters)
      return Result.isFailure(read)
        ? respondBadRequest(read.failure)
        : withIdOf(model, (id, request) => steps(Effect.succeed(readHeaders(request, id, undefined)), purge))
    }),
    restore: withIdOf(model, (id, request) => steps(Effect.succeed(readHeaders(request, id, undefined)), restore))
  }
}

// internal

const one = (context: ReadContext) => {
  const get = getRoute(context)
  return (rest: Parameters) => Effect.provideService(get, HttpServerRequest.ParsedSearchParams, rest)
}

const list = (context: ReadContext) => {
  const read = listQueryOf(context)
  // The links to other pages keep the parameter.
  const route = listRoute(context, ({ deleted: _deleted, ...rest }, fiber) => read(rest, fiber), [deletionTime])
  return () => route
}

const readDeleted = queryReader(deletedParameters, "is not a parameter beside deleted")

const readPurge = queryReader(purgeParameters, "is not a parameter of a deletion")

/** The links with the time of a deletion as a member beside them. */
const withDeletionTimes = ({ all, by }: Links.ResourceLinks, deletedField: string): Links.ResourceLinks => {
  const marked = ({ of }: Links.CallerLinks): Links.CallerLinks => ({
    of: (id, document) => `${of(id, document)}${deletionOf(document[deletedField])}`,
    // Of selected fields, this one is read, too.
    dependOnDocument: true
  })
  return { all: marked(all), by: memoize((permitted) => marked(by(permitted))) }
}

const deletionOf = (time: unknown): string => time instanceof Date ? `"deleted":${quote(time.toISOString())},` : ""

/** Only models with soft deletion have the action, and their repositories these operations. */
const purging = ({ documents, repository }: WriteContext): Remover => ({
  find: documents.including("include").findById,
  remove: documents.ofDeleted!.purge,
  removeById: Object(repository).purgeById
})

/** Takes deletions back, with the hooks of `PATCH`. */
const restoreWrites = (context: WriteContext, onPatch: ReturnType<typeof hooksOf>) => {
  const { codec, documents, model, versionField } = context
  const deleted = documents.including("only")
  const otherwise = versionField === undefined ? [] : [versionField]

  const restoreOnce = (id: unknown, check: PreconditionCheck | undefined) => {
    let restored: Document | undefined
    const load = Effect.gen(function*() {
      const document = (yield* deleted.findById(id, { privilege: "update" })) ?? (yield* notFound(model, id))
      if (check !== undefined) yield* check(document)
      // A document that does not fit the model stays deleted.
      const stored = yield* codec.fromDocument(document)
      const fields = expectedFields(context, check, otherwise)
      return {
        instance: stored,
        previous: Option.some(stored),
        write: (changed: typeof stored) =>
          Effect.flatMap(documents.ofDeleted!.restore(changed, { document, fields, previous: stored }), (written) => {
            restored = written
            return codec.fromDocument(written)
          })
      }
    })
    return Effect.map(
      withHooks(context, onPatch, Option.some(id), load),
      (written) => restored === undefined ? written : writtenDocument(restored, false)
    )
  }

  return ({ conditions, id }: WriteRequest<undefined>) =>
    withoutHookFailure(
      guarded(context, id, undefined, conditions, (check) =>
        check === undefined ? retryConflicts(context, id, restoreOnce(id, check)) : restoreOnce(id, check))
    )
}
