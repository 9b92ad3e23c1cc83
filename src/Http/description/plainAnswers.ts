/**
 * Readers of the answers that nearly all calls have, which are JSON objects. The platform's own take several times as long:
 * they copy the bytes, make a decoder of text for each answer, and try its possible forms in turn.
 */
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

/** Reads an answer; `undefined` for one that is the platform's to read. */
export type ReadAnswer = (
  response: HttpClientResponse.HttpClientResponse
) => Effect.Effect<unknown, HttpClientError.HttpClientError | Schema.SchemaError> | undefined

/** The readers of the endpoints, by their groups and names. */
export const readersOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyMap<string, ReadonlyMap<string, ReadAnswer>> => {
  const readers = new Map<string, Map<string, ReadAnswer>>()
  HttpApi.reflect(api, {
    onGroup: ({ group }) => void readers.set(group.identifier, new Map()),
    onEndpoint: ({ endpoint, group, successes }) => {
      // A stream, or another form of body, is told apart by its type.
      if (![...endpoint.success].every(isJsonObject)) return
      const byStatus = new Map([...successes].map(([status, schemas]) => [status, readerOf(schemas)]))
      readers.get(group.identifier)?.set(endpoint.identifier, (response) => byStatus.get(response.status)?.(response))
    }
  })
  return readers
}

// internal

const isJsonObject = (schema: Schema.Constraint): boolean =>
  SchemaAST.isObjects(SchemaAST.toEncoded(schema.ast)) &&
  (encodingOf(schema.ast)?._tag ?? "Json") === "Json" &&
  !HttpApiSchema.isWithHeaders(schema) && headersOf(schema.ast) === undefined

/** How a schema is written, other than as JSON. */
const encodingOf = SchemaAST.resolveAt<{ readonly _tag: string }>("~httpApiEncoding")

/** What a class takes from headers. */
const headersOf = SchemaAST.resolveAt<unknown>("~httpApiWithHeaders")

const readerOf = (schemas: ReadonlyArray<Schema.Constraint>): ReadAnswer => {
  // It is made when it is first used: an API has many endpoints, and its callers call few of them.
  let decode: ((value: unknown) => Effect.Effect<unknown, Schema.SchemaError>) | undefined
  // The platform's client has no services for decoding either.
  const codecs = schemas as ReadonlyArray<Schema.Codec<unknown>>
  const make = () => Schema.decodeUnknownEffect(Schema.toCodecJson(Schema.Union(codecs)))
  return ({ json }) => Effect.flatMap(json, (value) => (decode ??= make())(value))
}
