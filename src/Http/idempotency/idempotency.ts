/**
 * Answers a repeated write as the first one was answered, by its `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07).
 * The answer is kept in the transaction of the write: a write that is there has its answer, and a lost one has none. Services
 * without it don't load this.
 */
import { currentUserIdOf } from "@appkernel/document-store/internal"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Cookies from "effect/http/Cookies"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { createHash } from "node:crypto"
import { type GuardedEndpoint, withAllData } from "../../Access/AccessControl.ts"
import { textOfKey } from "../../internal/texts.ts"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import {
  AccessDecision,
  afterCommit,
  documentOperationsOf,
  type EffectiveGrant,
  hiddenBy,
  identifierOf
} from "../../Repository/internal.ts"
import { CurrentUser } from "../../Security/CurrentUser.ts"
import type { IdempotencyOptions } from "../config/serviceOptions.ts"
import { errorOf } from "../HttpError.ts"
import type { Limits } from "../KernelConfig.ts"
import { mediaTypeOf, readBytes } from "../request/body.ts"
import { BufferedRequest } from "../request/bufferedRequest.ts"
import { withoutSlashes } from "../request/requestPath.ts"
import type { HandlerFailure } from "../response/handlerFailures.ts"
import type { BadRequestResponder, ErrorResponses } from "../response/translatedResponses.ts"
import { Afterwards, type HookFailed, runAfterwards, withoutHookFailure } from "../routes/hooks.ts"
import { headersOf, notFound } from "../routes/route.ts"
import { type Kept, makeKeptAnswers, type Repeatable } from "./keptAnswers.ts"

type Response = HttpServerResponse.HttpServerResponse

/** The route of a write, as far as its answers are kept. */
export interface RepeatableRoute {
  readonly method: string
  readonly path: string
  readonly endpoint?: GuardedEndpoint | undefined
  readonly idempotencyKeys: "accepted" | "required" | "refused"
  /** Whether it reads multipart/form-data or tables, which take no key. */
  readonly takesForms?: boolean | undefined
  readonly respondBadRequest: BadRequestResponder
}

export interface Idempotency {
  /** Answers the request by its key: by what is kept, or by `next` in a transaction. */
  readonly answeredOnce: <E extends HandlerFailure, R>(
    next: Effect.Effect<Response, E, R>,
    route: RepeatableRoute
  ) => Effect.Effect<Response, HandlerFailure, R>
}

/** Prepares what keeps the answers. */
export const makeIdempotency = Effect.fnUntraced(function*(
  store: DocumentStore["Service"],
  options: IdempotencyOptions,
  { errorResponses, limits }: { readonly errorResponses: ErrorResponses; readonly limits: Limits }
) {
  const kept = yield* makeKeptAnswers(store, options)
  const running = errorResponses.sentence("Conflict", textOfKey("errors.KeyRunning"), { "retry-after": "1" })
  const reused = errorResponses.sentence("UnprocessableContent", textOfKey("errors.KeyReused"))
  const tooLarge = errorResponses.sentence("Conflict", textOfKey("errors.AnswerNotKept"))

  /** The requests that this process runs. */
  const runs = new Set<string>()

  /** Runs the write in a transaction with its answer. */
  const run = <E extends HandlerFailure, R>(
    next: Effect.Effect<Response, E, R>,
    request: Repeatable
  ): Effect.Effect<Response | Kept, HandlerFailure, R> =>
    Effect.gen(function*() {
      const afterwards: Array<Effect.Effect<void, HookFailed>> = []
      // What follows from the write follows once it is there, and not again when its transaction is repeated.
      const later = (after: Effect.Effect<void, HookFailed>) =>
        Effect.withFiber((fiber) => {
          const decision = fiber.getRef(AccessDecision)
          return afterCommit(
            Effect.sync(() => void afterwards.push(Effect.provideService(after, AccessDecision, decision)))
          )
        })
      const result = yield* store.transaction(
        Effect.gen(function*() {
          // Another process may have made it meanwhile.
          const found = yield* kept.find(request)
          if (found !== undefined) return found
          yield* kept.begin(request)
          const response = yield* Effect.provideService(next, Afterwards, later)
          if (response.status >= 400) return yield* Effect.fail(new Refusal({ response }))
          if (!isKept(response)) {
            yield* kept.discard(request.id)
            return response
          }
          const answer = textOf(response, yield* rightsOf)
          const isSmall = answer !== undefined && Buffer.byteLength(answer) <= options.maxAnswerSize
          yield* kept.complete(request.id, isSmall ? answer : undefined)
          return response
        })
      ).pipe(Effect.catchIf(
        (error): error is Refusal => error instanceof Refusal,
        ({ response }) => Effect.succeed(response)
      ))
      yield* withoutHookFailure(Effect.forEach(afterwards, runAfterwards, { discard: true }))
      return result
    })

  const answeredOnce = <E extends HandlerFailure, R>(
    next: Effect.Effect<Response, E, R>,
    route: RepeatableRoute
  ): Effect.Effect<Response, HandlerFailure, R> =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fiber
      const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
      const headers = headersOf(request)
      const given = headers["idempotency-key"]?.toString()
      const type = mediaTypeOf(headers["content-type"] ?? "")
      const isKept = route.idempotencyKeys !== "refused" && isWhole(type)
      if (given === undefined) {
        // What takes no key needs none. Another route ignores a content type that it does not know.
        const isNeeded = route.idempotencyKeys === "required" && (isKept || route.takesForms !== true)
        return isNeeded ? yield* route.respondBadRequest([needed]) : yield* next
      }
      const key = keyOf(given)
      const problem = key === undefined ? unreadable : isKept ? undefined : streamed
      if (problem !== undefined) return yield* route.respondBadRequest([problem])
      const body = yield* bodyOf(request, limits.maxBodySize)
      const caller = currentUserIdOf(fiber) ?? ""
      const { params } = Context.getUnsafe(fiber.context, HttpRouter.RouteContext)
      const values = Object.keys(params).length === 0 ? [] : [params]
      const id = digestOf(JSON.stringify([caller, route.method, route.path, key, ...values]))
      // The key, which is stored nowhere, keeps a body from being guessed by its digest: it may have a password.
      const asked = digestOf(JSON.stringify([key, withoutSlashes(request.url), type]), body)
      const repeatable = { id, request: asked }
      const found = yield* kept.find(repeatable)
      if (found === undefined && runs.has(id)) return yield* running
      const result = found ?? (yield* Effect.ensuring(
        Effect.suspend(() => {
          runs.add(id)
          return run(next, repeatable)
        }),
        Effect.sync(() => runs.delete(id))
      ))
      if (!("_tag" in result)) return result
      if (result._tag === "Reused") return yield* reused
      return result.answer === undefined ? yield* tooLarge : yield* answeredAgain(result.answer, route)
    })
  const idempotency: Idempotency = { answeredOnce }
  return idempotency
})

// internal

const problemWith = (message: string) => ({ field: "Idempotency-Key", validator: "Header", message })

const needed = problemWith("is required")
const unreadable = problemWith("must be a text of up to 255 characters")
const streamed = problemWith("is for bodies of JSON or of a form")

/** A structured field's string (RFC 9651, section 3.3.3), or the same without its quotes, as most clients send it. */
const keyOf = (header: string): string | undefined => {
  const [, quoted, plain] = keyForm.exec(header) ?? []
  return quoted?.replaceAll(/\\(.)/gu, "$1") ?? plain
}

const keyForm =
  /^(?:"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\]){1,255})"|([\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]{1,255}))$/u

/** Whether a body of the type is read as a whole. */
const isWhole = (type: string): boolean =>
  type === "" || type === "application/x-www-form-urlencoded" || /^application\/(?:[\w.-]+\+)?json$/u.test(type)

/** The body, which the handler reads again. */
const bodyOf = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest, limit: number) {
  const source = NodeHttpServerRequest.toIncomingMessage(request)
  const { "content-length": length = "0", "transfer-encoding": coding } = source.headers
  if (coding === undefined && Number(length) === 0) return none
  const bytes = yield* readBytes(request, limit)
  if (source instanceof BufferedRequest) source.keep(bytes)
  return bytes
})

const none = Buffer.alloc(0)

const digestOf = (text: string, bytes: Uint8Array = none): string =>
  createHash("sha256").update(text).update("\n").update(bytes).digest("base64url")

/** A response that refuses the request. What a repetition would write again is not written. */
class Refusal extends Data.TaggedClass("Refusal")<{ readonly response: Response }> {}

/** What no cache may store, and a cookie, is kept nowhere. */
const isKept = ({ cookies, headers }: Response): boolean =>
  !(headers["cache-control"] ?? "").includes("no-store") && headers["set-cookie"] === undefined &&
  Cookies.isEmpty(cookies)

/** What the caller may see and do here, and by which roles elsewhere: an answer may have documents of any model. */
const rightsOf = Effect.map(
  Effect.zip(AccessDecision, CurrentUser.option),
  ([decision, user]) =>
    decision === undefined ? [] : [
      ...(user._tag === "Some" ? user.value.roles : []).map((role) => `role ${role}`),
      ...decision.grants(),
      ...(decision.endpoint?.read ?? []).map((grant) => `read ${partOf(grant)}`),
      ...(decision.endpoint?.write ?? []).map((grant) => `write ${partOf(grant)}`)
    ]
)

const partOf = (grant: EffectiveGrant): string => JSON.stringify([grant.id, hiddenBy(grant).toSorted()])

/** A response and the rights that it was made by, as text; `undefined` if its body is not there as a whole. */
const textOf = ({ body, headers, status }: Response, rights: ReadonlyArray<string>): string | undefined =>
  body._tag === "Empty" || body._tag === "Uint8Array"
    ? JSON.stringify({
      status,
      headers,
      rights,
      ...body._tag === "Empty" ? {} : { type: body.contentType, body: Buffer.from(body.body).toString("base64") }
    })
    : undefined

interface Answer {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly rights: ReadonlyArray<string>
  readonly type?: string
  readonly body?: string
}

/** The answer again, for a caller who still has the rights that it was made by, and sees the document that it is about. */
const answeredAgain = Effect.fnUntraced(function*(
  text: string,
  route: RepeatableRoute
): Effect.fn.Return<Response, HandlerFailure> {
  // This module has written the text.
  const { body, headers, rights, status, type } = JSON.parse(text) as Answer
  const now = new Set(yield* rightsOf)
  if (!rights.every((right) => now.has(right))) return yield* Effect.fail(errorOf("Forbidden", "errors.Denied"))
  yield* seen(route, headers["location"])
  const answer = HttpServerResponse.empty({ status, headers: { ...headers, "idempotency-replayed": "true" } })
  return body === undefined
    ? answer
    : HttpServerResponse.setBody(answer, HttpBody.uint8Array(Buffer.from(body, "base64"), type))
})

/** Fails if there is a document that the answer is about, and its caller may read documents and not this one. */
const seen = Effect.fnUntraced(function*(
  { endpoint }: RepeatableRoute,
  location: string | undefined
): Effect.fn.Return<void, HandlerFailure> {
  const decision = yield* AccessDecision
  if (endpoint?.resource === undefined || decision?.endpoint === undefined || decision.endpoint.read.length === 0) {
    return
  }
  const { policy, repository } = endpoint.resource
  const { params } = Context.getUnsafe((yield* Effect.fiber).context, HttpRouter.RouteContext)
  const created = location?.startsWith(`${policy.path}/`) === true
    ? decodeURIComponent(location.slice(policy.path.length + 1))
    : undefined
  const shown = params["id"] ?? created
  const id = shown === undefined ? undefined : identifierOf(repository.model).parse(shown)
  if (shown === undefined || id === undefined) return
  const read = documentOperationsOf(repository).findById(id)
  if ((yield* read) === undefined && (yield* withAllData(read)) !== undefined) {
    return yield* notFound(repository.model, shown)
  }
})
