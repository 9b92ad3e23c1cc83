/**
 * Parts of operations and actions that are no JSON. `Raw` exports them.
 *
 * @since 0.1.0
 */
import * as ByteSize from "effect/ByteSize"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import type * as Stream from "effect/Stream"
import type { BadRequest, PayloadTooLarge } from "../HttpError.ts"

const typeId = "~appkernel/Raw"

/**
 * The body of a request as it is sent, for the option `payload`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Request
  extends Schema.Bottom<Stream.Stream<Uint8Array, BadRequest | PayloadTooLarge>, Sent, never, never, Ast, Request>
{
  /** The content types that are taken, all if there are none, and the maximum number of bytes. */
  readonly [typeId]: {
    readonly types: ReadonlyArray<string>
    readonly maxSize: number | undefined
    readonly parts?: Schema.Struct.Fields | undefined
  }
}

/**
 * A response that the handler makes itself, for the option `success`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Response
  extends Schema.Bottom<HttpServerResponse.HttpServerResponse, Sent, never, never, Ast, Response>
{
  readonly [typeId]: Request[typeof typeId]
}

/**
 * What callers send and receive of raw bodies: a stream of bytes.
 *
 * @category models
 * @since 0.1.0
 */
export type Bytes = HttpApiSchema.StreamUint8Array

/**
 * A file among the `parts` of a form.
 *
 * @category schemas
 * @since 0.1.0
 */
export const file: Schema.String = Schema.String.annotate({ format: "binary" })

/**
 * The body of a request, which the handler gets as a stream of bytes. Nothing is read before the caller may make the request.
 * The stream fails with `PayloadTooLarge` (413) after `maxSize` bytes, by default `server.max_body_size`, and with `BadRequest`
 * if the body ends early. Another content type than those given is a 415; without any, each is taken.
 *
 * `parts` are what the documentation says of a `multipart/form-data`, so that its page and generated clients can send one: each
 * part by its name, a file as {@link file}. The handler reads them itself.
 *
 * @category constructors
 * @since 0.1.0
 */
export const request = (
  { contentType, maxSize, parts }: {
    readonly contentType?: string | ReadonlyArray<string> | undefined
    readonly maxSize?: ByteSize.Input | undefined
    readonly parts?: Schema.Struct.Fields | undefined
  } = {}
): Request =>
  part(contentType, {
    parts,
    types: contentType === undefined ? [] : [contentType].flat(),
    maxSize: maxSize === undefined ? undefined : Number(ByteSize.fromInputUnsafe(maxSize))
  })

/**
 * A response that the handler returns as an `HttpServerResponse`. `contentType`, by default `application/octet-stream`, is what
 * the documentation says and what is compared with `Accept`; the response has its own.
 *
 * @category constructors
 * @since 0.1.0
 */
export const response = (
  { contentType }: { readonly contentType?: string | ReadonlyArray<string> | undefined } = {}
): Response => part(contentType, { types: [contentType ?? "application/octet-stream"].flat(), maxSize: undefined })

/** What a part declares that is a raw body; `undefined` if it is none. @internal */
export const rawOf = (part: unknown): Request[typeof typeId] | undefined =>
  Schema.isSchema(part) && typeId in part
    // Only `part` sets it.
    ? part[typeId] as Request[typeof typeId]
    : undefined

// internal

type Sent = Stream.Stream<Uint8Array, unknown>

type Ast = SchemaAST.Declaration

/** A body is a stream to clients and in the documentation. Only its handler sees another type. */
const part = (contentType: string | ReadonlyArray<string> | undefined, own: Request[typeof typeId]): never =>
  // `Raw.Request` and `Raw.Response` say what the handler sees, and no schema has their type.
  Object.assign(HttpApiSchema.StreamUint8Array({ contentType }), { [typeId]: own }) as never
