import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type { IncomingHttpHeaders } from "node:http"
import type { FieldProblem } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import { textOfId } from "../../Repository/introspection.ts"
import { DocumentNotFound } from "../../Repository/RepositoryError.ts"
import { identifierOf } from "../description/identifier.ts"
import type { Method } from "../Endpoint.ts"
import type { Parameters } from "../query/urlQuery.ts"
import type { Answer } from "../response/failures.ts"
import type { Refuse } from "../response/translation.ts"

/**
 * What a route does before its errors are answered.
 *
 * @internal
 */
export interface Handled {
  readonly method: Method
  readonly path: `/${string}`
  readonly handler: Answer
}

/** @internal */
export interface Route {
  readonly method: Method
  readonly path: `/${string}`
  readonly handler: Answer
  /** Says what is wrong with fields, where the handler fails with that. */
  readonly refuse: Refuse
}

/**
 * The path without the names of its parameters: methods of one path may name them differently.
 *
 * @internal
 */
export const shapeOf = (path: `/${string}`): `/${string}` => {
  let count = 0
  return `/${path.slice(1).replaceAll(/:[^/]*/gu, () => `:${count++}`)}`
}

/**
 * The methods of a path as `Allow` has them (RFC 9110, section 10.2.1).
 *
 * @internal
 */
export const allowedOf = (methods: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set([...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"])
]

/**
 * The headers of a request as Node has them: the platform makes a copy of them.
 *
 * @internal
 */
export const headersOf = (request: HttpServerRequest.HttpServerRequest): IncomingHttpHeaders =>
  NodeHttpServerRequest.toIncomingMessage(request).headers

/** @internal */
export const withRequest = (use: (request: HttpServerRequest.HttpServerRequest) => Answer): Answer =>
  Effect.withFiber((fiber) => use(Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)))

/**
 * For routes whose path has `:id`.
 *
 * @internal
 */
export const withId = (use: (id: string, request: HttpServerRequest.HttpServerRequest) => Answer): Answer =>
  Effect.withFiber((fiber) => {
    const { params } = Context.getUnsafe(fiber.context, HttpRouter.RouteContext)
    return use(params["id"] ?? "", Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest))
  })

/**
 * For routes whose path has the `:id` of a document. What can't be the identifier of one is not found.
 *
 * @internal
 */
export const withIdOf = (
  model: Model.Any,
  use: (id: unknown, request: HttpServerRequest.HttpServerRequest) => Answer
): Answer => {
  const { parse } = identifierOf(model)
  return withId((text, request) => {
    const id = parse(text)
    return id === undefined ? Effect.fail(notFound(model, text)) : use(id, request)
  })
}

/**
 * {@link withIdOf}, with the parameters of the query.
 *
 * @internal
 */
export const withIdAndParameters = (
  model: Model.Any,
  use: (id: unknown, request: HttpServerRequest.HttpServerRequest, parameters: Parameters) => Answer
): Answer => withIdOf(model, (id, request) => withParameters((parameters) => use(id, request, parameters)))

/**
 * The parameters of the query.
 *
 * @internal
 */
export const withParameters = (use: (parameters: Parameters) => Answer): Answer =>
  // The router puts the parameters of each request into the context.
  Effect.withFiber((fiber) => use(Context.getUnsafe(fiber.context, HttpServerRequest.ParsedSearchParams) as Parameters))

/**
 * For routes that know no parameters: any is refused by its name.
 *
 * @internal
 */
export const withoutParameters = (answer: Answer, refuse: Refuse): Answer =>
  withParameters((parameters) => {
    const unknown = unknownParameters(parameters, none)
    return unknown.length === 0 ? answer : refuse(unknown)
  })

const none: ReadonlySet<string> = new Set()

/**
 * A problem for each parameter that is not known.
 *
 * @internal
 */
export const unknownParameters = (
  parameters: Parameters,
  known: ReadonlySet<string>
): ReadonlyArray<FieldProblem> =>
  Object.keys(parameters).filter((name) => !known.has(name)).map((field) => ({
    field,
    validator: "Parameter",
    message: "is not a parameter of this path"
  }))

/** @internal */
export const notFound = (model: Model.Any, id: unknown) =>
  new DocumentNotFound({ model: model.modelName, id: textOfId(id) })
