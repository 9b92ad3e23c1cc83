/** The calls of a typed client: those of the platform's client, with the parts of a request that may be left out. */
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as UrlParams from "effect/http/UrlParams"
import * as Record from "effect/Record"
import type * as Schema from "effect/Schema"
import type { RequestHandlingException } from "../../Client/ClientError.ts"
import { formType } from "../description/operationEndpoint.ts"

export type ClientCall<E = never> = Effect.Effect<unknown, E | HttpClientError.HttpClientError | Schema.SchemaError>

export type CallGroups = { readonly [group: string]: { readonly [name: string]: (request: object) => ClientCall } }

/** Undeclared keys are rejected instead of being removed. */
export const exactly = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): HttpApi.HttpApi<Id, Groups> =>
  api.annotate(HttpApi.QueryParseOptions, noExcess)
    .annotate(HttpApi.HeadersParseOptions, noExcess)
    .annotate(HttpApi.PayloadParseOptions, noExcess)

export const noExcess = { onExcessProperty: "error" } as const

/** Asks by the method `QUERY` (RFC 10008), with the parameters in the body, what would be too long for a URL. */
export const askingByBody = <E>(client: HttpClient.HttpClient.With<E>): HttpClient.HttpClient.With<E> =>
  HttpClient.mapRequest(client, (request) => {
    if (request.method !== "GET") return request
    const parameters = UrlParams.toString(request.urlParams)
    if (request.url.length + parameters.length < maxUrlLength) return request
    const { headers, url } = request
    return HttpClientRequest.make("QUERY")(url, { headers, body: HttpBody.text(parameters, formType) })
  })

/** What any server and proxy takes (RFC 9110, section 4.1), with room for the method. */
const maxUrlLength = 7_900

/** Adds the parts that the platform's client encodes. `bare` calls have none to look for undeclared keys in. */
export const withRequestParts = (
  client: object,
  { bare = client, settle }: {
    readonly bare?: object
    readonly settle: (call: ClientCall, group: string, name: string) => ClientCall<RequestHandlingException>
  }
) =>
  // A client consists of groups, and a group of calls.
  Record.map(client as CallGroups, (group, groupName) =>
    Record.map(group, (call, name) => {
      const callBare = (bare as CallGroups)[groupName]?.[name] ?? call
      return (request: object = {}) => {
        const hasParts = "query" in request || "headers" in request || "payload" in request
        const sent = hasNoPath(request)
          ? Effect.fail(noPath)
          : (hasParts ? call : callBare)({ query: {}, headers: {}, ...request })
        return settle(sent, groupName, name)
      }
    }))

/** Whether a parameter would lead to another path, or is no text that a path can have. The platform's client throws for it. */
export const hasNoPath = (request: object): boolean =>
  Object.values(Object(Reflect.get(request, "params"))).some((value) => /^\.{0,2}$|\p{Surrogate}/u.test(String(value)))

export const noPath = new HttpClientError.HttpClientError({
  reason: new HttpClientError.InvalidUrlError({ request: HttpClientRequest.empty, description: "no path" })
})
