/** The type of a route, and combinators that pass path and query parameters to handlers. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import type { IncomingHttpHeaders } from "node:http"
import type { FieldProblem } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import { identifierOf, textOfId, withTransactionId } from "../../Repository/internal.ts"
import { DocumentNotFound } from "../../Repository/RepositoryError.ts"
import type { Method } from "../description/endpoint.ts"
import { errorOf, type NotAcceptable } from "../HttpError.ts"
import type { Parameters } from "../query/urlQuery.ts"
import { acceptsJson, preferred } from "../request/accept.ts"
import type { ResponseEffect } from "../response/handlerFailures.ts"
import type { BadRequestResponder } from "../response/translatedResponses.ts"

type Response = HttpServerResponse.HttpServerResponse

/** A handler for a path, before its errors are converted into responses. */
interface Handled {
  readonly method: Method
  readonly path: `/${string}`
  readonly handler: ResponseEffect
  /** Responds to the problems of fields that the handler fails with. */
  readonly respondBadRequest: BadRequestResponder
}

export interface Route extends Handled {
  /** The types of its responses. Others have no say: routes without it answer any request. */
  readonly accepted?: Accepted
  /** Whether the response has the number of the transaction, by which a client finds its own write among changes. */
  readonly tellsTransaction?: boolean
  /** The content types of the bodies of a `PATCH`. */
  readonly patchTypes?: ReadonlyArray<string> | undefined
  /** What `OPTIONS` tells beside the methods. Defaults to nothing. */
  readonly told?: { readonly [header: string]: string }
  /** Where it is asked as well, with its parameters in the body: see `askedByBody`. */
  readonly asked?: ReadonlyArray<{ readonly method: "QUERY" | "POST"; readonly path: `/${string}` }>
  /** Whether the engine decides on the request again while the response is sent. */
  readonly isStream?: boolean
  /** Whether the streams of several collections decide on it, each for itself. */
  readonly isWatch?: boolean
}

interface Accepted {
  readonly types: string
  readonly includes: (accept: string | undefined) => boolean
}

/** A response without a failure. */
export type Responding = Effect.Effect<Response, never, HttpServerRequest.HttpServerRequest>

/** How a router responds whose routes have no failures. */
export type Routed = Effect.Effect<Response, never, HttpServerRequest.HttpServerRequest | Scope.Scope>

/** A route whose responses are JSON. */
export const jsonRoute = (handled: Handled): Route => ({
  ...asked(handled),
  accepted: { types: "application/json", includes: acceptsJson }
})

/** A route whose responses have one of the types. */
export const acceptedRoute = (handled: Handled, types: ReadonlyArray<string>): Route => ({
  ...asked(handled),
  accepted: { types: types.join(", "), includes: (accept) => preferred(accept, types) !== undefined }
})

const asked = (handled: Handled): Route =>
  handled.method === "GET" ? { ...handled, asked: [{ method: "QUERY", path: handled.path }] } : handled

/** Answers 406 to requests which accept none of the types. */
export const withAccepted = <E, R>(
  handler: Effect.Effect<Response, E, R>,
  { includes, types }: Accepted
): Effect.Effect<Response, E | NotAcceptable, R> => {
  const notAcceptable = Effect.suspend(() => Effect.fail(errorOf("NotAcceptable", "errors.NotAcceptable", { types })))
  return Effect.withFiber<Response, E | NotAcceptable, R>(({ context }) => {
    const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
    return includes(headersOf(request).accept) ? handler : notAcceptable
  })
}

/** The spans of the requests that have written transactions, by the numbers of these. */
export interface Causes {
  readonly set: (transaction: string, span: Tracer.AnySpan) => void
}

/** Adds the number of the transaction to the response. */
export const withTransaction = <E, R>(
  handler: Effect.Effect<Response, E, R>,
  causes: Causes | undefined
): Effect.Effect<Response, E, R> =>
  Effect.withFiber((fiber) => {
    const span = causes && Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
    const note = span && ((transaction: string) => causes?.set(transaction, span))
    return Effect.map(
      withTransactionId(handler, note),
      ({ transaction, value }) =>
        transaction === undefined ? value : HttpServerResponse.setHeader(value, "stream-txid", transaction)
    )
  })

/** The fiber that handles a request. */
export type RequestFiber = Fiber.Fiber<unknown, unknown>

/** The methods of a path for the `Allow` header (RFC 9110, section 10.2.1). */
export const allowedOf = (methods: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set([
    ...methods.filter((method) => method !== "QUERY"),
    ...methods.includes("GET") ? ["HEAD"] : [],
    ...methods.includes("QUERY") ? ["QUERY"] : [],
    "OPTIONS"
  ])
]

/** The headers of Node's request. Effect's request copies them. */
export const headersOf = (request: HttpServerRequest.HttpServerRequest): IncomingHttpHeaders =>
  NodeHttpServerRequest.toIncomingMessage(request).headers

export const withRequest = (use: (request: HttpServerRequest.HttpServerRequest) => ResponseEffect): ResponseEffect =>
  Effect.withFiber((fiber) => use(Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)))

/** Passes the parameter `id` of the path. */
export const withIdParameter = (
  use: (id: string, request: HttpServerRequest.HttpServerRequest, fiber: RequestFiber) => ResponseEffect
): ResponseEffect =>
  Effect.withFiber((fiber) => {
    const { params } = Context.getUnsafe(fiber.context, HttpRouter.RouteContext)
    return use(params["id"] ?? "", Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest), fiber)
  })

/** Passes the parameter `id` of the path as an identifier of the model. Answers 404 to an invalid one. */
export const withIdOf = (
  model: Model.Any,
  use: (id: unknown, request: HttpServerRequest.HttpServerRequest, fiber: RequestFiber) => ResponseEffect
): ResponseEffect => {
  const { parse } = identifierOf(model)
  return withIdParameter((text, request, fiber) => {
    const id = parse(text)
    return id === undefined ? Effect.fail(notFound(model, text)) : use(id, request, fiber)
  })
}

/** {@link withIdOf} with the parameters of the query. */
export const withIdAndParameters = (
  model: Model.Any,
  use: (
    id: unknown,
    request: HttpServerRequest.HttpServerRequest,
    parameters: Parameters,
    fiber: RequestFiber
  ) => ResponseEffect
): ResponseEffect => withIdOf(model, (id, request, fiber) => use(id, request, parametersOf(fiber), fiber))

/** Passes the parameters of the query. */
export const withParameters = (
  use: (parameters: Parameters, fiber: RequestFiber) => ResponseEffect
): ResponseEffect => Effect.withFiber((fiber) => use(parametersOf(fiber), fiber))

const parametersOf = ({ context }: RequestFiber): Parameters =>
  // The router adds the parameters of each request to the context.
  Context.getUnsafe(context, HttpServerRequest.ParsedSearchParams) as Parameters

/** Responds if the request has no query parameters; otherwise rejects each parameter by name. */
export const withoutParameters = (response: ResponseEffect, respondBadRequest: BadRequestResponder): ResponseEffect =>
  withParameters((parameters) => {
    const unknown = unknownParameters(parameters, none)
    return unknown.length === 0 ? response : respondBadRequest(unknown)
  })

const none: ReadonlySet<string> = new Set()

/** A problem for each unknown parameter. */
export const unknownParameters = (
  parameters: Parameters,
  known: ReadonlySet<string>
): ReadonlyArray<FieldProblem> =>
  Object.keys(parameters).filter((name) => !known.has(name)).map((field) => ({
    field,
    validator: "Parameter",
    message: "is not a parameter of this path"
  }))

export const notFound = (model: Model.Any, id: unknown) =>
  new DocumentNotFound({ model: model.modelName, id: textOfId(id) })
