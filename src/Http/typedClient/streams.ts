/** The streams of a typed client, beside its calls. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { DeclarationError } from "../../internal/declarationError.ts"
import type * as Model from "../../Model/Model.ts"
import { changeEvents, changeMessages, representation, selection, watchedMessages } from "../description/documents.ts"
import { watchPathOf } from "../description/pathShape.ts"
import { StandardOf } from "../description/standardEndpoints.ts"
import type { StreamOptions } from "../subscription/collectionEvents.ts"
import { type Connect, type MessagesSchema, type Streams, streamsOf, watchedOf } from "../subscription/subscription.ts"
import { type CallGroups, type ClientCall, exactly, noExcess } from "./calls.ts"

/** Connects to the endpoint `changes` of a group. */
export type ConnectTo = (messages: MessagesSchema, api: HttpApi.Top, group: string) => Connect

/** Adds streams, made at their first use. Actions and groups of the same name stay. */
export const withStreams = (client: object, api: HttpApi.Top, connectTo: ConnectTo) => {
  const own = Record.map(client as CallGroups, (calls, name) => {
    const endpoints = endpointsIn(api, name)
    const model = standardModel(endpoints["list"])
    if (model === undefined) return calls
    let made: Streams | undefined
    const streams = () => made ??= streamsOf(model, connectTo(changeMessages(model), api, name))
    const added: { readonly [N in keyof Streams]: Streams[N] } = {
      changes: (request) => streams().changes(request),
      live: (request) => streams().live(request)
    }
    const { changes: _, ...others } = calls
    return { ...added, ...standardModel(endpoints["changes"]) === undefined ? calls : others }
  })
  return { changes: (request: WatchRequest) => watched(api, connectTo, request), ...own }
}

/** Calls the endpoint `changes` of a group. Its client is made when it is first used, in `context`. */
export const callOf = <E>(
  api: HttpApi.Top,
  group: string,
  { context = Context.empty(), ...options }: {
    readonly httpClient: HttpClient.HttpClient.With<E>
    readonly baseUrl: URL | string | undefined
    readonly transformResponse?: (
      effect: Effect.Effect<unknown, unknown, unknown>
    ) => Effect.Effect<unknown, unknown, unknown>
    readonly context?: Context.Context<never>
  }
): (request: object) => ClientCall<E> => {
  const made = HttpApiClient.endpoint(exactly(api), {
    ...options,
    group: group as never, // an arbitrary api has no static names
    endpoint: "changes" as never
  }).pipe(Effect.provideContext(context)) as Effect.Effect<(request: object) => ClientCall<E>>
  let call: Effect.Success<typeof made> | undefined
  return (request) =>
    Effect.flatMap(
      call === undefined ? Effect.tap(made, (one) => Effect.sync(() => void (call = one))) : Effect.succeed(call),
      (call) => call({ headers: {}, ...request })
    )
}

/** Streams the documents of the list of a group. */
export const tableRows = (
  api: HttpApi.Top,
  group: string,
  query: object,
  { httpClient, ...options }: {
    readonly httpClient: HttpClient.HttpClient
    readonly baseUrl: URL | string | undefined
    readonly context: Context.Context<never>
  }
): Stream.Stream<unknown, unknown> => {
  const { list } = endpointsIn(api, group)
  const model = standardModel(list)
  if (list === undefined || model === undefined) return dying(`${group} has no list`)
  // A whole document is one with all of its fields.
  const schema = Schema.Union([representation(model), selection(model)])
  const success = HttpApiSchema.StreamNdjson({ schema, maxElementBytes: "32 MiB" })
  // An endpoint has a path.
  const call = callOf(apiOfCall(list.path as `/${string}`, [list], [success]), ownGroup, {
    ...options,
    httpClient: HttpClient.mapRequest(httpClient, (request) => HttpClientRequest.accept(request, success.contentType))
  })
  return Stream.unwrap(
    // The codecs of models need no services.
    Effect.flatMap(
      Schema.encodeUnknownEffect(list.query as Schema.Codec<unknown>, noExcess)(query),
      (encoded) =>
        // A body of this type is a stream.
        Effect.map(call({ query: encoded }), (rows) => rows as Stream.Stream<unknown, unknown>)
    )
  )
}

/** A call; one that writes many documents has their model in its context, and so gets no `Idempotency-Key`. */
export const withMany = (api: HttpApi.Top) => (call: ClientCall, group: string, name: string): ClientCall => {
  const model = standardModel(endpointsIn(api, group)[name])
  // No other standard endpoint has such a name.
  return name.endsWith("_many") && model ? Effect.provideService(call, StandardOf, model) : call
}

// internal

export const standardModel = (endpoint: HttpApiEndpoint.Top | undefined): Model.Any | undefined =>
  endpoint === undefined ? undefined : Context.getOrUndefined(endpoint.annotations, StandardOf)

interface EndpointsByName {
  readonly [name: string]: HttpApiEndpoint.Top
}

export const endpointsIn = ({ groups }: HttpApi.Top, group: string): EndpointsByName =>
  // An arbitrary api has no static names.
  (groups as { readonly [name: string]: { readonly endpoints: EndpointsByName } })[group]?.endpoints ?? {}

interface WatchRequest extends StreamOptions {
  readonly watch: ReadonlyArray<string>
  readonly query?: { readonly [name: string]: object | undefined } | undefined
  readonly after?: string | undefined
}

/** The changes of several collections over one connection. */
const watched = (
  api: HttpApi.Top,
  connectTo: ConnectTo,
  { query = {}, watch, ...request }: WatchRequest
): Stream.Stream<unknown, unknown> => {
  const endpoints = new Map<string, HttpApiEndpoint.Top>()
  const models = new Map<string, Model.Any>()
  for (const name of watch) {
    const { changes } = endpointsIn(api, name)
    const model = standardModel(changes)
    if (changes === undefined || model === undefined) {
      return dying(`${name} has no stream: its model needs the option logged`)
    }
    endpoints.set(name, changes)
    models.set(name, model)
  }
  const paths = new Set(Array.from(endpoints.values(), ({ path }) => watchPathOf(path)))
  const [path] = paths
  if (path === undefined || paths.size > 1) {
    return dying(`${watch.join(", ")}: only collections beside each other have one stream`)
  }
  const messages = watchedMessages(models)
  const connect = connectTo(
    messages,
    apiOfCall(path, [...endpoints.values()], [messages, HttpApiSchema.NoContent, changeEvents]),
    ownGroup
  )
  const filters = Effect.forEach(endpoints, ([name, endpoint]) =>
    Effect.map(
      // The codecs of models need no services.
      Schema.encodeUnknownEffect(endpoint.query as Schema.Codec<unknown>, noExcess)(query[name] ?? {}),
      (own) => Object.entries(Object(own)).map(([key, value]) => [`${name}.${key}`, value])
    ))
  return Stream.unwrap(Effect.map(filters, (all) =>
    watchedOf(models, connect)({
      ...request,
      query: { watch: [...models.keys()].join(","), ...Object.fromEntries(all.flat()) }
    })))
}

const dying = (message: string): Stream.Stream<never> => Stream.die(new DeclarationError(message))

/** The group of a call that {@link apiOfCall} describes. */
const ownGroup = "watched"

/** Describes a call that no group of an api has, such as the stream of several collections. It fails as the endpoints do. */
const apiOfCall = (
  path: `/${string}`,
  endpoints: ReadonlyArray<HttpApiEndpoint.Top>,
  success: ReadonlyArray<Schema.Top>
): HttpApi.Top => {
  const text = Schema.Union([Schema.String, Schema.Array(Schema.String)])
  const endpoint: HttpApiEndpoint.Constraint = HttpApiEndpoint.get("changes", path, {
    query: Schema.Record(Schema.String, text),
    success,
    error: [...new Set(endpoints.flatMap(({ error }) => [...error]))]
  })
  const guards = new Set(endpoints.flatMap(({ middlewares }) => [...middlewares]))
  // An arbitrary api has no static types.
  const guarded = [...guards].reduce((endpoint, guard) => endpoint.middleware(guard), endpoint as HttpApiEndpoint.Top)
  return HttpApi.make(ownGroup).add(HttpApiGroup.make(ownGroup).add(guarded)) as never
}
