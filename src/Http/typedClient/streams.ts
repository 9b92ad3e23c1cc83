/**
 * The streams of a typed client, beside its calls.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type { Transport } from "../../Client/HttpClientFactory.ts"
import type * as Model from "../../Model/Model.ts"
import { StandardOf } from "../description/standardEndpoints.ts"
import { type ChangesCall, type Connect, type Streams, streamsOf } from "../subscription/subscription.ts"
import { type Call, type CallGroups, exactly, mapValues } from "./calls.ts"

/**
 * Adds the streams of collections, which are made when they are first used. An action of their name stays.
 *
 * @internal
 */
export const withStreams = (
  client: object,
  { groups }: { readonly groups: { readonly [name: string]: object } },
  connectOf: (model: Model.Any, group: string) => Connect
) =>
  mapValues(client as CallGroups, (calls, name) => {
    // A group has its endpoints by their names.
    const { endpoints = {} } = groups[name] as { readonly endpoints?: EndpointsByName }
    const model = standardModel(endpoints["list"])
    if (model === undefined) return calls
    let made: Streams | undefined
    const streams = () => made ??= streamsOf(model, connectOf(model, name))
    const added: { readonly [N in keyof Streams]: Streams[N] } = {
      changes: (request) => streams().changes(request),
      live: (request) => streams().live(request)
    }
    const isOwn = (name: string) => name in endpoints && standardModel(endpoints[name]) === undefined
    return { ...calls, ...Object.fromEntries(Object.entries(added).filter(([name]) => !isOwn(name))) }
  })

/**
 * Calls of the endpoint of the changes that wait until there are some.
 *
 * @internal
 */
export const pollsOf = (api: HttpApi.Top, group: string, transport: Transport): ChangesCall => {
  const made = HttpApiClient.endpoint(exactly(api), {
    group: group as never, // an arbitrary api has no static names
    endpoint: "changes" as never,
    httpClient: transport.waiting,
    baseUrl: transport.root,
    transformResponse: transport.transformResponse
  }) as Effect.Effect<(request: object) => Call>
  let call: Effect.Success<typeof made> | undefined
  return (request) =>
    transport.settle(
      Effect.flatMap(
        call === undefined ? Effect.tap(made, (one) => Effect.sync(() => void (call = one))) : Effect.succeed(call),
        (call) => call({ headers: {}, ...request })
      )
    )
}

// internal

const standardModel = (endpoint: HttpApiEndpoint.Top | undefined): Model.Any | undefined =>
  endpoint === undefined ? undefined : Context.getOrUndefined(endpoint.annotations, StandardOf)

interface EndpointsByName {
  readonly [name: string]: HttpApiEndpoint.Top
}
