import * as ByteSize from "effect/ByteSize"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import { type DocumentForm, formWithout, hiddenWithin, type ModelView, modelView } from "../../Access/introspection.ts"
import { booleanOf } from "../../internal/booleans.ts"
import { quote } from "../../internal/json.ts"
import {
  assertSeparable,
  bodyDecoder,
  elementOf,
  expectationOf,
  type FieldProblem,
  isModelLike,
  kindOf,
  type ModelLike,
  problemsOf,
  sentFinaliser,
  withoutTextSuffix
} from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { AccessDecision, apartFromAddressed, documentEncoder, identifierOf } from "../../Repository/introspection.ts"
import type { Repository } from "../../Repository/Repository.ts"
import type { ReadError } from "../../Repository/RepositoryError.ts"
import {
  fieldsOf,
  formType,
  hasBody,
  isObject,
  parametersIn,
  paramsOf,
  partsOf,
  payloadOf,
  schemaOf,
  sentOf,
  successOf
} from "../description/callEndpoint.ts"
import type { Part } from "../description/callOptions.ts"
import { rawOf } from "../description/raw.ts"
import type { ServiceUnavailable } from "../HttpError.ts"
import type { Limits } from "../KernelConfig.ts"
import type { Parameters } from "../query/urlQuery.ts"
import { mediaTypeOf, readJson, readParameters } from "../request/jsonBody.ts"
import { readRaw, unreadableOf } from "../request/rawBody.ts"
import { rejectExcess } from "../request/unknownKeys.ts"
import type { CallFailure } from "../response/callFailures.ts"
import * as responses from "../response/json.ts"
import { type CallerLinks, none as noLinks, type ResourceLinks } from "../response/links.ts"
import { addAll, type ListResponses } from "../response/listResponse.ts"
import { parameters as parametersOf, payloadFields } from "../response/problemFields.ts"
import { makeBadRequest } from "../response/translation.ts"
import type { Translations } from "../Translations.ts"
import type { ImplementedCall as Call } from "./implemented.ts"
import { acceptedRoute, routeOf as jsonRoute, withTransaction } from "./resourceRoutes.ts"
import { headersOf, notFound, type Route, unknownParameters } from "./route.ts"

/**
 * The routes of actions and operations. Actions get their documents from `repository`.
 *
 * @internal
 */
export const callRoutes = (
  calls: ReadonlyArray<Call>,
  surroundings: CallContext
): ReadonlyArray<Route> => calls.map((call) => routeOf(call, surroundings))

/** @internal */
export interface CallContext {
  readonly limits: Limits
  /** The name of the registration. */
  readonly registration: string
  /** Whether undeclared keys of a payload are rejected. */
  readonly isStrict: boolean
  /** Whether any changes are recorded. */
  readonly tellsTransactions: boolean
  readonly lists: ListResponses
  readonly translations: Translations
  readonly repository: Repository<Model.Any> | undefined
  /** The links of documents; none if their model is not registered. */
  readonly linksOf: LinksOf
}

/**
 * The links of a model's documents for callers with the view, and the path of the model's registration.
 *
 * @internal
 */
export type LinksOf = (
  model: ModelLike,
  view?: ModelView
) => { readonly links: ResourceLinks; readonly path: string } | undefined

const routeOf = (call: Call, surroundings: CallContext): Route => {
  const { handler, method, name, options, path } = call
  const { registration, repository, translations } = surroundings
  const { payload } = options
  const key = `${registration}.${name}`
  const sent = payload !== undefined && isModelLike(payload) ? payload : payloadOf(options)
  const parameters = Object.entries({ ...fieldsOf(options.params), ...fieldsOf(options.query) })
    .map(([field, { ast }]) => [field, { ...expectationOf(ast), label: `${key}.${field}` }])
  const places = parametersOf(Object.fromEntries(parameters), payloadFields(key, sent))
  const respondBadRequest = makeBadRequest(translations, places)
  const readParts = partsReader(call, surroundings)
  assertShowable(name, options)
  const finished = resultWriter(options, surroundings)
  // The types of `Operation` and `Action` declare the arguments and the result of their handlers.
  const run = withinLimit(
    handler as (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, CallFailure>,
    call,
    surroundings
  )

  const known: ReadonlySet<string> = new Set([
    ...Object.keys(fieldsOf(options.query)),
    ...(hasBody(method) ? [] : Object.keys(fieldsOf(payload)))
  ])

  const handle = Effect.withFiber<HttpServerResponse.HttpServerResponse, CallFailure | InvalidRequest>((fiber) => {
    // The router adds the parameters of each request to the context.
    const { params } = Context.getUnsafe(fiber.context, HttpRouter.RouteContext)
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const search = Context.getUnsafe(fiber.context, HttpServerRequest.ParsedSearchParams)
    const unknown = unknownParameters(search, known)
    if (unknown.length > 0) return Effect.fail(new InvalidRequest(unknown))
    const instance = repository === undefined ? none : Effect.map(addressed(repository, params["id"] ?? ""), one)
    const read = readParts({ params, request, search })
    return Effect.flatMap(
      instance,
      (first) =>
        Effect.flatMap(
          read,
          (parts) => Effect.flatMap(apartFromAddressed(run(...first, parts)), (value) => finished(value, request.url))
        )
    )
  })
  const handled = Effect.catch(
    handle,
    (error) => error instanceof InvalidRequest ? respondBadRequest(error.problems) : Effect.fail(error)
  )
  const types = rawOf(options.success)?.types
  const plain = { method, path, handler: handled }
  const told = surroundings.tellsTransactions && method !== "GET" ? withTransaction(plain) : plain
  return types === undefined
    ? jsonRoute(told, respondBadRequest)
    : acceptedRoute(told, respondBadRequest, types)
}

/** Limits the size of a raw body, and turns the platform's errors into those of the engine. */
const withinLimit = (
  run: (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, CallFailure>,
  { options: { payload } }: Call,
  { limits }: CallContext
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

/** Reads the parts of a request that its handler gets. */
const partsReader = (call: Call, surroundings: CallContext): Read => {
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
const payloadReader = ({ method, options }: Call, { isStrict, limits }: CallContext): Read | undefined => {
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
  const types = options.form === true ? ["application/json", formType] : ["application/json"]
  const readJsonBody: Read = ({ request }) =>
    Effect.flatMap(
      readJson(request, types, limits.maxBodySize),
      (body): Effect.Effect<unknown, CallFailure | InvalidRequest> => {
        const decoded = decode(body)
        return decoded._tag === "Valid" ? finish(decoded.value) : Effect.fail(new InvalidRequest(decoded.problems))
      }
    )
  if (options.form !== true) return readJsonBody
  const readTexts = textReader(payload)
  return (sent) =>
    mediaTypeOf(headersOf(sent.request)["content-type"] ?? "") === formType
      ? Effect.flatMap(readParameters(sent.request, limits.maxBodySize), readTexts)
      : readJsonBody(sent)
}

/** Reads the parameters of the path, except the identifier of an action's document. */
const paramsReader = (
  { options: { params }, path }: Call,
  isAction: boolean
): ((values: Texts) => Effect.Effect<unknown, CallFailure | InvalidRequest>) | undefined => {
  const names = parametersIn(path).filter((name) => !isAction || name !== "id")
  if (params !== undefined) return textReader(isModelLike(params) ? params : paramsOf(names, params))
  if (names.length === 0) return undefined
  return (values) => Effect.succeed(Object.fromEntries(names.map((name) => [name, values[name]])))
}

const addressed = (
  repository: Repository<Model.Any>,
  text: string
): Effect.Effect<unknown, CallFailure> => {
  const id = identifierOf(repository.model).parse(text)
  return id === undefined ? Effect.fail(notFound(repository.model, text)) : repository.findById(id)
}

class InvalidRequest {
  readonly _tag = "InvalidRequest"
  readonly problems: ReadonlyArray<FieldProblem>
  constructor(problems: ReadonlyArray<FieldProblem>) {
    this.problems = problems
  }
}

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

type Read = (sent: Sent) => Effect.Effect<unknown, CallFailure | InvalidRequest>

type Texts = { readonly [name: string]: string | ReadonlyArray<string> | undefined }

/** Reads a part of the request from the texts of a URL. */
const textReader = (part: Part): (values: Texts) => Effect.Effect<unknown, CallFailure | InvalidRequest> => {
  const schema = sentOf(part)
  const finish = sentFinaliser(schemaOf(part))
  // Fields need no services.
  const codec = Schema.toCodecStringTree(schema as Schema.Codec<unknown>)
  // A single value may be a list of one element.
  const decode = SchemaParser.decodeUnknownExit(Schema.toCodecArrayFromSingle(codec), { errors: "all" })
  const booleans = booleansIn(schema)
  return (values) => {
    const exit = decode(booleans.length === 0 ? values : withBooleans(values, booleans))
    if (exit._tag === "Success") return finish(exit.value)
    const issue = Cause.findErrorOption(exit.cause)
    const problems = issue._tag === "Some" ? problemsOf(issue.value) : []
    return Effect.fail(
      new InvalidRequest(problems.map((problem) => ({ ...problem, message: withoutTextSuffix(problem.message) })))
    )
  }
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

/** Dies if a response would contain a model in its stored form, with its omitted fields. */
const assertShowable = (name: string, options: Call["options"]): void => {
  const success = successOf(options)
  if (rawOf(success) !== undefined) return
  const shown = elementOf(success) ?? success
  if (!isModelLike(shown)) assertSeparable(name, "success", shown, { suspended: true })
}

/** Fills the template of a `Location` with fields of the result. */
const locationBy = (template: string, success: Schema.Top): (value: unknown) => string => {
  const parts = partsOf(template)
  const of = isObject(success)
    ? (value: unknown, field: string): unknown => Reflect.get(Object(value), field)
    : (value: unknown): unknown => value
  return (value) => parts.map((part, i) => i % 2 === 1 ? encodeURIComponent(String(of(value, part))) : part).join("")
}

/** Writes the result of a handler. `url` is that of the request. */
type ResultWriter = (
  value: unknown,
  url: string
) => Effect.Effect<HttpServerResponse.HttpServerResponse, ServiceUnavailable | ReadError>

/** Writes results with the status and the `Location` that the call declares. */
const resultWriter = (options: Call["options"], { linksOf, lists }: CallContext): ResultWriter => {
  const respond = responderOf(successOf(options), linksOf, lists)
  const { status } = options
  const locationOf = options.location === undefined ? undefined : locationBy(options.location, successOf(options))
  return status === undefined && locationOf === undefined
    ? respond
    : (value, url) =>
      Effect.map(respond(value, url), (response) => {
        const withStatus = status === undefined ? response : HttpServerResponse.setStatus(response, status)
        return locationOf === undefined
          ? withStatus
          : HttpServerResponse.setHeader(withStatus, "location", locationOf(value))
      })
}

const responderOf = (
  success: Schema.Top,
  linksOf: LinksOf,
  lists: ListResponses
): ResultWriter => {
  if (rawOf(success) !== undefined) {
    return (value) => HttpServerResponse.isHttpServerResponse(value) ? Effect.succeed(value) : Effect.die(noResponse)
  }
  const element = elementOf(success)
  if (isModelLike(success)) {
    const writer = modelWriter(success, linksOf)
    return (value) => Effect.flatMap(writer, (write) => Effect.map(write(value), (text) => responses.json(text)))
  }
  if (element === undefined) {
    const write = valueWriter(success)
    if (isObject(success)) return (value) => Effect.map(write(value), (text) => responses.json(text))
    return (value) => Effect.map(write(value), (text) => responses.json(`{"_type":"OperationResult","result":${text}}`))
  }
  const writer = isModelLike(element)
    ? modelWriter(element, linksOf)
    : Effect.succeed(valueWriter(element))
  return (value, url) =>
    Effect.flatMap(writer, (write) => {
      const items = lists.begin()
      return Effect.map(
        // The schema of the result is a list.
        addAll(items, value as ReadonlyArray<unknown>, write),
        () => items.finish(`"_links":{"self":{"href":${quote(url)}}}`)
      )
    })
}

const noResponse = new Error("The handler of a raw response returned no HttpServerResponse")

type Write = (value: unknown) => Effect.Effect<string>

/** Writes instances as their caller may see them. A caller without a grant to read gets what the handler returns. */
const modelWriter = (model: ModelLike, linksOf: LinksOf): Effect.Effect<Write, ReadError> => {
  const toDocument = documentEncoder(model)
  const { print } = identifierOf(model)
  const writeBy = (formOf: (document: Document) => DocumentForm, links: CallerLinks): Write => (value) => {
    const document = toDocument(value)
    const text = formOf(document).serialise(document, links.of(print(document["_id"]), document))
    return text === undefined ? Effect.die(new Error(`This is no ${model.modelName}`)) : Effect.succeed(text)
  }
  const form = formWithout(model, [])
  const whole = writeBy(() => form, (linksOf(model)?.links ?? noLinks).all)
  const known = new WeakMap<ModelView, ReturnType<LinksOf>>()
  const linksIn = (view: ModelView): ReturnType<LinksOf> => {
    if (!known.has(view)) known.set(view, linksOf(model, view))
    return known.get(view)
  }
  return Effect.withFiber((fiber) => {
    const decision = Context.get(fiber.context, AccessDecision)
    if (decision === undefined) return Effect.succeed(whole)
    return Effect.flatMap(decision.of(model), (grants) => {
      if (grants === undefined) {
        return Effect.map(
          hiddenWithin(model, decision),
          (hidden) => hidden.length === 0 ? whole : writeBy(() => formWithout(model, hidden), noLinks.all)
        )
      }
      const view = modelView(model, grants)
      const { formOf } = view.ofCaller(grants)
      const found = linksIn(view)
      return found === undefined
        ? Effect.succeed(writeBy(formOf, noLinks.all))
        : Effect.map(decision.linksAt(found.path), (permitted) => writeBy(formOf, found.links.by(permitted)))
    })
  })
}

const valueWriter = (schema: Schema.Top): Write => {
  // The schemas of results need no services.
  const encode = Schema.encodeUnknownEffect(Schema.toCodecJson(schema as Schema.Codec<unknown>))
  return (value) => Effect.orDie(Effect.map(encode(value), (json) => JSON.stringify(json) ?? "null"))
}
