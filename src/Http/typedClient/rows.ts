/** The documents of a list as lines of JSON, for typed clients. Only programs that call it load it. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { representation, selection } from "../description/documents.ts"
import { noExcess } from "./calls.ts"
import { apiOfCall, callOf, dying, endpointsIn, ownGroup, standardModel } from "./streams.ts"

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
