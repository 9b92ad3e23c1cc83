/** The routes of actions and operations: decode path, query and body, run the handler, and write its result. */
import * as ByteSize from "effect/ByteSize"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"
import { booleanOf } from "../../internal/booleans.ts"
import {
  bodyDecoder,
  expectationOf,
  type FieldProblem,
  isModelLike,
  kindOf,
  problemsOf,
  sentFinaliser,
  withLimitedDigits,
  withoutTextSuffix
} from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { apartFromAddressed, documentEncoder, identifierOf, textOfId } from "../../Repository/internal.ts"
import type { Repository } from "../../Repository/Repository.ts"
import { VersionConflict } from "../../Repository/RepositoryError.ts"
import {
  formType,
  hasBody,
  paramsOf,
  partFields,
  payloadOf,
  schemaOf,
  sentOf
} from "../description/operationEndpoint.ts"
import type { Part } from "../description/operationOptions.ts"
import { parametersIn } from "../description/pathShape.ts"
import { rawOf } from "../description/raw.ts"
import type { Limits } from "../KernelConfig.ts"
import type { Parameters } from "../query/urlQuery.ts"
import { mediaTypeOf, readJson, readParameters } from "../request/body.ts"
import * as preconditions from "../request/preconditions.ts"
import { readRaw, unreadableOf } from "../request/rawBody.ts"
import { rejectExcess } from "../request/unknownKeys.ts"
import { parameters as parametersOf, payloadFields } from "../response/fieldResolver.ts"
import type { HandlerFailure } from "../response/handlerFailures.ts"
import { assertShowable, type ResultSurroundings, resultWriter } from "../response/operationResponse.ts"
import { makeBadRequest } from "../response/translatedResponses.ts"
import type { Translations } from "../Translations.ts"
import type { ImplementedOperation as Call } from "./implemented.ts"
import {
  acceptedRoute,
  headersOf,
  jsonRoute,
  notFound,
  type RequestFiber,
  type Route,
  unknownParameters
} from "./route.ts"

export interface OperationSurroundings extends ResultSurroundings {
  readonly limits: Limits
  /** The name of the registration. */
  readonly registration: string
  /** Whether undeclared keys of a payload are rejected. */
  readonly isStrict: boolean
  /** Whether any changes are recorded. */
  readonly tellsTransactions: boolean
  readonly translations: Translations
  readonly repository: Repository<Model.Any> | undefined
  /** The entity tags of the documents of actions, as the caller of the fiber's request sees them. */
  readonly tagsFor?: ((fiber: RequestFiber) => (document: Document) => string | undefined) | undefined
}

/** The route of an action or operation. Actions get their documents from `repository`. */
export const operationRoute = (call: Call, surroundings: OperationSurroundings): Route => {
  const { handler, method, name, options, path } = call
  const { registration, repository, translations } = surroundings
  const { payload } = options
  const key = `${registration}.${name}`
  const sent = payload !== undefined && isModelLike(payload) ? payload : payloadOf(options)
  const parameters = Object.entries({ ...partFields(options.params), ...partFields(options.query) })
    .map(([field, { ast }]) => [field, { ...expectationOf(ast), label: `${key}.${field}` }])
  const places = parametersOf(Object.fromEntries(parameters), payloadFields(key, sent))
  const respondBadRequest = makeBadRequest(translations, places, options.badRequest)
  const readParts = partsReader(call, surroundings)
  assertShowable(name, options)
  // Its result is the response then.
  const finished = call.responds === true
    ? (response: unknown) => Effect.succeed(response as HttpServerResponse.HttpServerResponse)
    : resultWriter(options, surroundings)
  // The types of `Operation` and `Action` declare the arguments and the result of their handlers.
  const run = withinLimit(
    handler as (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, HandlerFailure>,
    call,
    surroundings
  )

  const known: ReadonlySet<string> = new Set([
    ...Object.keys(partFields(options.query)),
    ...(hasBody(method) ? [] : Object.keys(partFields(payload)))
  ])

  const underConditions = call.responds === true ? undefined : preconditionsOf(call, surroundings)

  const handle = Effect.withFiber<HttpServerResponse.HttpServerResponse, HandlerFailure | InvalidRequest>((fiber) => {
    // The router adds the parameters of each request to the context.
    const { params } = Context.getUnsafe(fiber.context, HttpRouter.RouteContext)
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const search = Context.getUnsafe(fiber.context, HttpServerRequest.ParsedSearchParams)
    const unknown = unknownParameters(search, known)
    if (unknown.length > 0) return Effect.fail(new InvalidRequest({ problems: unknown }))
    const instance = repository === undefined
      ? none
      : Effect.map(addressed(repository, params["id"] ?? "", call.find), one)
    const read = readParts({ params, request, search })
    return Effect.flatMap(
      instance,
      (first) =>
        Effect.flatMap(read, (parts) => {
          const performed = apartFromAddressed(run(...first, parts))
          return Effect.flatMap(
            underConditions === undefined ? performed : underConditions(first[0], headersOf(request), fiber, performed),
            (value) => finished(value, request.url)
          )
        })
    )
  })
  const handled = Effect.catch(
    handle,
    (error) => error instanceof InvalidRequest ? respondBadRequest(error.problems) : Effect.fail(error)
  )
  const types = rawOf(options.success)?.types
  const plain = { method, path, handler: handled, respondBadRequest }
  return {
    ...types === undefined ? jsonRoute(plain) : acceptedRoute(plain, types),
    ...method === "PATCH" ? { patchTypes: bodyTypesOf(options) } : {},
    tellsTransaction: surroundings.tellsTransactions && method !== "GET"
  }
}

/** Limits the size of a raw body, and turns the platform's errors into those of the engine. */
const withinLimit = (
  run: (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, HandlerFailure>,
  { options: { payload } }: Call,
  { limits }: OperationSurroundings
): typeof run => {
  const raw = rawOf(payload)
  if (raw === undefined) return run
  const { maxSize = limits.maxBodySize } = raw
  return (...args) =>
    Effect.provideService(
      Effect.mapError(run(...args), (error) => unreadableOf(error, maxSize) ?? error),
      HttpServerRequest.MaxBodySize,
      ByteSize.bytes(maxSize)
    )
}

/**
 * Performs an action that may change its document under the preconditions of its request, as a `PATCH` is. One whose document another
 * write changes meanwhile fails as they do.
 */
const preconditionsOf = ({ method }: Call, { repository, tagsFor }: OperationSurroundings) => {
  if (repository === undefined || tagsFor === undefined || method === "GET") return undefined
  const { model } = repository
  const documentOf = documentEncoder(model)
  return <A>(
    instance: unknown,
    headers: preconditions.Headers,
    fiber: RequestFiber,
    performed: Effect.Effect<A, HandlerFailure>
  ): Effect.Effect<A, HandlerFailure | InvalidRequest> => {
    const conditions = preconditions.read(headers)
    if (Result.isFailure(conditions)) return Effect.fail(new InvalidRequest({ problems: conditions.failure }))
    const check = preconditions.checkOf(conditions.success, (document) => tagsFor(fiber)(document))
    if (check === undefined) return performed
    const document = documentOf(instance)
    return Effect.andThen(
      check(document),
      Effect.catchIf(
        performed,
        (error) =>
          error instanceof VersionConflict && error.model === model.modelName &&
          error.id === textOfId(document["_id"]),
        () => Effect.fail(preconditions.failed)
      )
    )
  }
}

/** Reads the parts of a request that its handler gets. */
const partsReader = (call: Call, surroundings: OperationSurroundings): Read => {
  const { query } = call.options
  const readPayload = payloadReader(call, surroundings)
  const readParams = paramsReader(call, surroundings.repository !== undefined)
  const readQuery = query === undefined ? undefined : textReader(query)
  if (readPayload === undefined && readParams === undefined && readQuery === undefined) return () => noParts
  return (sent) =>
    Effect.flatMap(
      readParams === undefined ? noMembers : readParams(sent.params),
      (params) =>
        Effect.flatMap(
          readQuery === undefined ? noMembers : readQuery(sent.search),
          (query) =>
            Effect.map(readPayload === undefined ? nothing : readPayload(sent), (payload) => ({
              payload,
              params,
              query
            }))
        )
    )
}

/** Reads the payload from the body or from the query parameters. */
const payloadReader = ({ method, options }: Call, { isStrict, limits }: OperationSurroundings): Read | undefined => {
  const { payload } = options
  if (payload === undefined) return undefined
  if (!hasBody(method)) {
    const read = textReader(payload)
    return ({ search }) => read(search)
  }
  const raw = rawOf(payload)
  if (raw !== undefined) return ({ request }) => readRaw(request, raw.types, raw.maxSize ?? limits.maxBodySize)
  const sent = sentOf(payload)
  const decode = isStrict ? rejectExcess(sent, bodyDecoder(sent)) : bodyDecoder(sent)
  const finish = sentFinaliser(schemaOf(payload))
  const types = bodyTypesOf(options)
  const readJsonBody: Read = ({ request }) =>
    Effect.flatMap(
      readJson(request, types, limits.maxBodySize),
      (body): Effect.Effect<unknown, HandlerFailure | InvalidRequest> => {
        const decoded = decode(body)
        return decoded._tag === "Valid"
          ? finish(decoded.value)
          : Effect.fail(new InvalidRequest({ problems: decoded.problems }))
      }
    )
  if (options.form !== true) return readJsonBody
  const readTexts = textReader(payload)
  return (sent) =>
    mediaTypeOf(headersOf(sent.request)["content-type"] ?? "") === formType
      ? Effect.flatMap(readParameters(sent.request, limits), readTexts)
      : readJsonBody(sent)
}

/** Reads the parameters of the path, except the identifier of an action's document. */
const paramsReader = (
  { options: { params }, path }: Call,
  isAction: boolean
): ((values: Texts) => Effect.Effect<unknown, HandlerFailure | InvalidRequest>) | undefined => {
  const names = parametersIn(path).filter((name) => !isAction || name !== "id")
  if (params !== undefined) return textReader(isModelLike(params) ? params : paramsOf(names, params))
  if (names.length === 0) return undefined
  return (values) => Effect.succeed(Object.fromEntries(names.map((name) => [name, values[name]])))
}

const addressed = (
  repository: Repository<Model.Any>,
  text: string,
  find: Call["find"] = repository.findById
): Effect.Effect<unknown, HandlerFailure> => {
  const id = identifierOf(repository.model).parse(text)
  return id === undefined ? Effect.fail(notFound(repository.model, text)) : find(id)
}

class InvalidRequest extends Data.TaggedClass("InvalidRequest")<{ readonly problems: ReadonlyArray<FieldProblem> }> {}

const none: Effect.Effect<ReadonlyArray<unknown>> = Effect.succeed([])

const one = (value: unknown): ReadonlyArray<unknown> => [value]

const empty = Object.freeze({})

const noMembers = Effect.succeed(empty)

const nothing = Effect.succeed(undefined)

const noParts = Effect.succeed(Object.freeze({ payload: undefined, params: empty, query: empty }))

interface Sent {
  readonly params: Texts
  readonly request: HttpServerRequest.HttpServerRequest
  readonly search: Parameters
}

type Read = (sent: Sent) => Effect.Effect<unknown, HandlerFailure | InvalidRequest>

type Texts = { readonly [name: string]: string | ReadonlyArray<string> | undefined }

/** Reads a part of the request from the texts of a URL. */
const textReader = (part: Part): (values: Texts) => Effect.Effect<unknown, HandlerFailure | InvalidRequest> => {
  const schema = sentOf(part)
  const finish = sentFinaliser(schemaOf(part))
  // Fields need no services.
  const codec = withLimitedDigits(Schema.toCodecStringTree(schema as Schema.Codec<unknown>))
  // A single value may be a list of one element.
  const decode = SchemaParser.decodeUnknownExit(Schema.toCodecArrayFromSingle(codec), { errors: "all" })
  const booleans = booleansIn(schema)
  const lists = listsIn(codec.ast)
  return (given) => {
    // No text of a URL says that a list is empty.
    const values = lists.every((name) => given[name] !== undefined)
      ? given
      : { ...Object.fromEntries(lists.map((name) => [name, []])), ...given }
    const exit = decode(booleans.length === 0 ? values : withBooleans(values, booleans))
    if (exit._tag === "Success") return finish(exit.value)
    const issue = Cause.findErrorOption(exit.cause)
    const problems = issue._tag === "Some" ? problemsOf(issue.value) : []
    return Effect.fail(
      new InvalidRequest({
        problems: problems.map((problem) => ({ ...problem, message: withoutTextSuffix(problem.message) }))
      })
    )
  }
}

/** The names of the lists that have to be given. */
const listsIn = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  const sent = SchemaAST.toEncoded(ast)
  return sent._tag !== "Objects" ?
    [] :
    sent.propertySignatures.flatMap(({ name, type }) =>
      type._tag === "Arrays" && type.elements.length === 0 && !SchemaAST.isOptional(type) ? [String(name)] : []
    )
}

/** The names of the boolean parameters. */
const booleansIn = (schema: Schema.Top): ReadonlyArray<string> =>
  "fields" in schema
    ? Object.entries(Object(schema.fields)).flatMap(([name, field]) =>
      Schema.isSchema(field) && kindOf(field.ast) === "bool" ? [name] : []
    )
    : []

/** Rewrites boolean parameters to the text that the schema accepts. */
const withBooleans = (values: Texts, names: ReadonlyArray<string>): Texts => {
  const read: Record<string, Texts[string]> = { ...values }
  for (const name of names) {
    const value = read[name]
    const boolean = typeof value === "string" ? booleanOf(value) : undefined
    if (boolean !== undefined) read[name] = String(boolean)
  }
  return read
}

/** The content types of the body. */
const bodyTypesOf = ({ form, payload }: Call["options"]): ReadonlyArray<string> =>
  payload === undefined
    ? []
    : rawOf(payload)?.types ?? ["application/json", ...form === true ? [formType] : []]
