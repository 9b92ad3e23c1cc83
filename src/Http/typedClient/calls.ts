/** The calls of a typed client: those of the platform's client, with the parts of a request that may be left out. */
import type * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as Record from "effect/Record"
import type * as Schema from "effect/Schema"
import type { RequestHandlingException } from "../../Client/ClientError.ts"

export type Call<E = never> = Effect.Effect<unknown, E | HttpClientError.HttpClientError | Schema.SchemaError>

export type CallGroups = { readonly [group: string]: { readonly [name: string]: (request: object) => Call } }

/** Undeclared keys are rejected instead of being removed. */
export const exactly = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): HttpApi.HttpApi<Id, Groups> =>
  api.annotate(HttpApi.QueryParseOptions, noExcess)
    .annotate(HttpApi.HeadersParseOptions, noExcess)
    .annotate(HttpApi.PayloadParseOptions, noExcess)

export const noExcess = { onExcessProperty: "error" } as const

/** Adds the parts that the platform's client encodes. `bare` calls have none to look for undeclared keys in. */
export const withParts = (
  client: object,
  { bare = client, settle = (call) => call }: {
    readonly bare?: object
    readonly settle?: (call: Call, group: string, name: string) => Call<RequestHandlingException>
  } = {}
) =>
  // A client consists of groups, and a group of calls.
  Record.map(client as CallGroups, (group, groupName) =>
    Record.map(group, (call, name) => {
      const callBare = (bare as CallGroups)[groupName]?.[name] ?? call
      return (request: object = {}) => {
        const hasParts = "query" in request || "headers" in request || "payload" in request
        return settle((hasParts ? call : callBare)({ query: {}, headers: {}, ...request }), groupName, name)
      }
    }))
