/**
 * What a request for the changes of a collection asks for, and with which rights.
 */
import { EJSON } from "bson"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { hash } from "node:crypto"
import type { ModelView } from "../../Access/internal.ts"
import { BoundedCache } from "../../internal/boundedCache.ts"
import { withNewDeadline } from "../../internal/deadline.ts"
import { type FieldProblem, managedField } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { modelMatcher, rejectUnsuitable } from "../../Repository/evaluation.ts"
import {
  AccessDecision,
  type AuditTrail,
  conjunctionOf,
  documentOperationsOf,
  identifierOf
} from "../../Repository/internal.ts"
import type { Repository } from "../../Repository/Repository.ts"
import type { ReadError } from "../../Repository/RepositoryError.ts"
import { changesParameters, filterNamesOf, pagingParameters } from "../description/queryParameters.ts"
import type { Limits } from "../KernelConfig.ts"
import { queryReader } from "../query/parameterReader.ts"
import { namingOf } from "../query/partlyHiddenFields.ts"
import * as UrlQuery from "../query/urlQuery.ts"
import type { HandlerFailure } from "../response/handlerFailures.ts"
import type { ListResponses } from "../response/listResponse.ts"
import type { Representations } from "../response/representation.ts"
import type { BadRequestResponder } from "../response/translatedResponses.ts"
import { type Decided, decideLater } from "./decideAgain.ts"
import type { LiveStreams } from "./liveStreams.ts"
import type { ToldList } from "./messages.ts"

export interface ChangesContext {
  readonly name: string
  readonly path: string
  readonly model: Model.Any
  readonly repository: Repository<Model.Any>
  readonly representations: Representations
  readonly view: ModelView
  readonly limits: Limits
  readonly lists: ListResponses
  readonly live: LiveStreams
  readonly respondBadRequest: BadRequestResponder
  /** Runs before a read, and may refuse it. */
  readonly before: Effect.Effect<void, HandlerFailure> | undefined
  /** Whether a hook has to run after reads. */
  readonly isHookedAfter: boolean
}

/** A list whose changes are asked for. */
export interface Asked extends ToldList {
  readonly mode: "page" | "sse" | "long-poll"
  readonly offset: string | undefined
  readonly cursor: string | undefined
  readonly path: string
  /** Passes the documents of the list on that the caller may see. */
  readonly find: (take: (documents: ReadonlyArray<Document>) => boolean) => Effect.Effect<unknown, ReadError>
  /** A digest of what the caller may see. */
  readonly rights: string
  /** A key that is the same for all requests with the same view. */
  readonly key: string
  /** Decides again on the request. `undefined`: everybody may see everything. */
  readonly decide: Effect.Effect<Decided> | undefined
  readonly before: Effect.Effect<void, HandlerFailure> | undefined
  /** The audit log, if it has reads. */
  readonly trail: AuditTrail | undefined
}

export const requestReader = (context: ChangesContext) => {
  const { before, limits, live: streams, model, name, path, repository, representations, view } = context
  const { find, upgraded } = documentOperationsOf(repository)
  const readQuery = UrlQuery.make(view.model, limits)
  const readOwn = queryReader(changesParameters, "is not a parameter of the changes")
  const fields = new Set(filterNamesOf(view.model))
  const { print } = identifierOf(model)
  const own = new Set(Object.keys(changesParameters))
  const deleted = managedField(model, "deleted")
  const existing = deleted === undefined ? undefined : { [deleted]: null }
  return (
    parameters: UrlQuery.Parameters,
    fiber: Fiber.Fiber<unknown, unknown>
  ): Result.Result<Asked, ReadonlyArray<FieldProblem>> => {
    const entries = Object.entries(parameters)
    const protocol = readOwn(Object.fromEntries(entries.filter(([name]) => own.has(name))))
    if (Result.isFailure(protocol)) return Result.fail(protocol.failure)
    const paging = entries.filter(([name]) => pagingParameters.has(name) && !fields.has(name))
    if (paging.length > 0) {
      return Result.fail(
        paging.map(([field]) => ({ field, validator: "Parameter", message: "is not a parameter of the changes" }))
      )
    }
    const filters = Object.fromEntries(entries.filter(([name]) => !own.has(name)))
    const read = readQuery(filters, namingOf(model, view.of(fiber).partlyHidden))
    if (Result.isFailure(read)) return Result.fail(read.failure)
    const query = read.success
    const unsuitable = rejectUnsuitable(query.filter)
    if (unsuitable !== undefined) {
      return Result.fail([
        { field: "query", validator: "Query", message: unsuitable.replaceAll("in a rule", "here") }
      ])
    }
    const decision = Context.get(fiber.context, AccessDecision)
    // The audit log records the documents that a caller receives, not those that are read to find them.
    const unrecorded = decision === undefined ? undefined : { ...decision, trail: undefined }
    const rights = textOfRights(decision)
    const representation = representations(fiber)
    const shown = `${path}\n${rights}\n${query.fields?.join() ?? ""}`
    const { cursor, live = "page", offset } = protocol.success
    return Result.succeed({
      mode: live,
      offset,
      cursor,
      collection: model.modelName,
      path,
      find: (take) =>
        Effect.provideContext(
          find({
            filter: query.filter,
            sort: { _id: 1 },
            limit: limits.maxResults + 1,
            timeLimit: limits.queryTimeout,
            take
          }),
          Context.add(fiber.context, AccessDecision, unrecorded)
        ),
      upgraded,
      rights: digestOf(rights),
      key: `${shown}\n${exactly(query.filter)}`,
      seen: {
        type: name,
        key: shown,
        sees: modelMatcher(model, conjunctionOf(decision?.endpoint?.rows.rows("read"), existing, query.filter)),
        textOf: query.fields === undefined ? representation.textOf : representation.textBy(query.fields),
        keyOf: (id) => print(id)
      },
      decide: decideLater(fiber, streams),
      before: before === undefined ? undefined : Effect.provideContext(
        withNewDeadline(before, Duration.toMillis(streams.decisionInterval)),
        fiber.context
      ),
      trail: decision?.trail?.hasReads === true ? decision.trail : undefined
    })
  }
}

/** A digest of what a decision lets the caller see. */
export const rightsOf = (decision: AccessDecision | undefined): string => digestOf(textOfRights(decision))

/** A digest of what the caller of lists may see: of one list its own, and of several also of which lists these are. */
export const rightsOfAll = (lists: ReadonlyArray<Asked>): string =>
  lists.length === 1 ? lists[0]!.rights : digestOf(lists.map(({ path, rights }) => `${path} ${rights}`).join("\n"))

// internal

/** What the caller may see, as a text: the same text, the same documents with the same fields and links. */
const textOfRights = (decision: AccessDecision | undefined): string => {
  const own = decision?.endpoint
  return own === undefined ? "" : exactly([
    own.read.map(({ fields, id, rows }) => [id, fields ?? null, rows ?? null]),
    own.rows.rows("read") ?? null,
    own.links?.endpoints ?? null
  ])
}

/** Values as a text, other values as another one: the relaxed form would round integers of 64 bits. */
const exactly = (values: object): string => EJSON.stringify(values, { relaxed: false })

const digests = new BoundedCache<string>(1_024)

const digestOf = (rights: string): string =>
  rights === "" ? "" : digests.getOrMake(rights, () => hash("sha256", rights).slice(0, 16))
