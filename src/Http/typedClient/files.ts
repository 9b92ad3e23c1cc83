/** The files of documents, for typed clients. Only programs that call it load it. */
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import type * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { DeclarationError } from "../../internal/declarationError.ts"
import { type FileField, fileFieldsOf } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import { byId, type Id, result } from "../description/documents.ts"
import { type HttpError, responses } from "../HttpError.ts"
import { type CallGroups, exactly, hasNoPath, noPath } from "./calls.ts"
import { endpointsIn, standardModel } from "./streams.ts"

/**
 * The files of a resource's documents, by the fields.
 *
 * @category models
 * @since 0.1.0
 */
export type Files<M extends Model.Any> = {
  readonly [K in FieldsOf<M["Type"]>]: NonNullable<M["Type"][K]> extends ReadonlyArray<unknown> ? List<Id<M>["Type"]>
    : One<{ readonly id: Id<M>["Type"] }>
}

/**
 * A file: it is written from a stream or a `Blob`, and read as a stream.
 *
 * @category models
 * @since 0.1.0
 */
interface One<Params> {
  readonly get: (
    request: {
      readonly params: Params
      /** One of the sizes of a picture. Defaults to the file as it is. */
      readonly query?: { readonly size?: string | undefined } | undefined
    }
  ) => Call<Stream.Stream<Uint8Array, HttpClientError.HttpClientError>>
  readonly put: (request: { readonly params: Params; readonly payload: Payload }) => Call<unknown>
  readonly delete: (request: { readonly params: Params }) => Call<unknown>
}

/**
 * A list of files.
 *
 * @category models
 * @since 0.1.0
 */
interface List<DocumentId> extends One<{ readonly id: DocumentId; readonly key: string }> {
  readonly append: (
    request: { readonly params: { readonly id: DocumentId }; readonly payload: Payload }
  ) => Call<unknown>
}

/**
 * The bytes of a file.
 *
 * @category models
 * @since 0.1.0
 */
type Payload = Stream.Stream<Uint8Array, unknown> | Blob

/** The calls for the files of a group. */
export const filesOfGroup = (
  api: HttpApi.Top,
  group: string,
  options: { readonly httpClient: HttpClient.HttpClient; readonly baseUrl: URL | string | undefined }
) => {
  const { get } = endpointsIn(api, group)
  const model = standardModel(get)
  if (get === undefined || model === undefined) return Effect.die(new DeclarationError(`${group} has no documents`))
  const described = fileFieldsOf(model).reduce(
    (files: HttpApi.Constraint, field): HttpApi.Constraint =>
      // An arbitrary api has no static types.
      (files as HttpApi.Top).add(groupOf(model, field, get)),
    HttpApi.make(group)
  )
  return Effect.map(
    HttpApiClient.makeWith(exactly(described as HttpApi.Top), options),
    (client) =>
      Record.map(
        client as CallGroups,
        (calls) =>
          Record.map(
            calls,
            (call, name) => (request: object) =>
              hasNoPath(request)
                ? Effect.fail(noPath)
                : call(streamed(name === "get" ? { query: {}, ...request } : request))
          )
      )
  )
}

// internal

/** The request of a call with its payload as a stream. */
const streamed = (request: object): object => {
  const payload: unknown = Reflect.get(request, "payload")
  return payload instanceof Blob
    ? {
      ...request,
      payload: Stream.fromReadableStream({ evaluate: () => payload.stream(), onError: (cause) => cause })
    }
    : request
}

type FieldsOf<Type> = {
  [K in keyof Type]-?: NonNullable<Type[K]> extends Model.StoredFile ? K
    : NonNullable<Type[K]> extends ReadonlyArray<infer Item> ? [Item] extends [Model.StoredFile] ? K : never
    : never
}[keyof Type]

type Call<A> = Effect.Effect<A, HttpError | HttpClientError.HttpClientError | Schema.SchemaError>

const groupOf = (
  model: Model.Any,
  { image, isList, name }: FileField,
  { middlewares, path }: HttpApiEndpoint.Top
): HttpApiGroup.Constraint => {
  // An endpoint of a document has a path that ends with its identifier.
  const at = `${path as `/${string}`}/${name}` as const
  const document = byId(model)
  const params = isList ? Schema.Struct({ ...document.fields, key: Schema.String }) : document
  const item = isList ? `${at}/:key` as const : at
  const query = Schema.Struct({ size: Schema.optional(Schema.Literals(Object.keys(image))) })
  const bytes = HttpApiSchema.StreamUint8Array()
  const error = Object.values(responses)
  const endpoints: ReadonlyArray<HttpApiEndpoint.Constraint> = [
    HttpApiEndpoint.get("get", item, { params, query, success: bytes, error }),
    HttpApiEndpoint.put("put", item, { params, payload: bytes, success: result(model), error }),
    HttpApiEndpoint.delete("delete", item, { params, success: result(model), error }),
    ...isList
      ? [HttpApiEndpoint.post("append", at, {
        params: document,
        payload: bytes,
        success: result(model).pipe(HttpApiSchema.status(201)),
        error
      })]
      : []
  ]
  return endpoints.reduce(
    (group: HttpApiGroup.Constraint, endpoint): HttpApiGroup.Constraint =>
      // An arbitrary group has no static types.
      (group as HttpApiGroup.Top).add(
        [...middlewares].reduce((guarded, guard) => guarded.middleware(guard), endpoint as HttpApiEndpoint.Top)
      ),
    HttpApiGroup.make(name)
  )
}
