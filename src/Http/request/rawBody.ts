/** Bodies that are read as they are sent. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpServerError from "effect/http/HttpServerError"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Multipart from "effect/http/Multipart"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { withOwnPieces, withPiecesOf } from "../../internal/ownPieces.ts"
import { BadRequest, errorOf, PayloadTooLarge } from "../HttpError.ts"
import { type BodyError, bodyTooLarge, mediaTypeOf, otherType, sendContinue } from "./body.ts"
import { goesOn } from "./uploading.ts"

/** A body of at most `limit` bytes as a stream. Without types, each is taken. That of a file may take longer than other requests. */
export const readRaw = (
  request: HttpServerRequest.HttpServerRequest,
  types: ReadonlyArray<string>,
  limit: number,
  { isFile }: { readonly isFile: boolean } = { isFile: false }
): Effect.Effect<Stream.Stream<Uint8Array, BadRequest | PayloadTooLarge>, BodyError> => {
  const source = NodeHttpServerRequest.toIncomingMessage(request)
  const { headers } = source
  if (types.length > 0 && !types.includes(mediaTypeOf(headers["content-type"] ?? ""))) {
    return Effect.fail(otherType(types))
  }
  if (Number(headers["content-length"]) > limit) return Effect.fail(bodyTooLarge(limit))
  const pieces = piecesOf(request)
  const body = withPiecesOf(
    pieces,
    // The platform sends `100 Continue` to who waits for it.
    Stream.suspend(() => {
      if (isFile) goesOn(source)
      let size = 0
      return Stream.mapArrayEffect(
        Stream.mapError(pieces, () => errorOf("BadRequest", "errors.BodyUnreadable")),
        (chunks: Pieces): Effect.Effect<Pieces, PayloadTooLarge> => {
          for (const chunk of chunks) size += chunk.length
          return size > limit ? Effect.fail(bodyTooLarge(limit)) : Effect.succeed(chunks)
        }
      )
    })
  )
  return headers.expect === undefined ? Effect.succeed(body) : Effect.withFiber(({ context }) => {
    HttpEffect.appendPreResponseHandlerUnsafe(context, continuing)
    return Effect.succeed(body)
  })
}

/** A response that is a stream may read the body as it is sent: too late for a client that waits to be asked for the body. */
const continuing = (
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.sync(() => {
    const { complete, readableDidRead } = NodeHttpServerRequest.toIncomingMessage(request)
    if (response.body._tag === "Stream" && response.status < 300 && !complete && !readableDidRead) sendContinue(request)
    return response
  })

/** The bytes of a body as they come. They are the reader's own, unless a middleware has a stream of its own or listens, too. */
export const piecesOf = (
  request: HttpServerRequest.HttpServerRequest
): Stream.Stream<Uint8Array, HttpServerError.HttpServerError> => {
  const source = NodeHttpServerRequest.toIncomingMessage(request)
  const isOthers = Object.hasOwn(request, "stream") || source.listenerCount("data") > 0
  return isOthers ? request.stream : withOwnPieces(request.stream)
}

/** The error that callers get for a body that could not be read within `limit` bytes; `undefined` for other errors. */
export const unreadableOf = (error: unknown, limit: number): BadRequest | PayloadTooLarge | undefined => {
  if (!isUnreadable(error)) return undefined
  const { reason } = error
  const cause = "cause" in reason ? reason.cause : undefined
  // A part of a form fails with what its body failed with.
  if (cause instanceof BadRequest || cause instanceof PayloadTooLarge) return cause
  if (reason._tag === "InternalError") return undefined
  const isOversized = reason._tag === "RequestParseError"
    ? Predicate.isTagged(cause, "MaxBytesError")
    : reason._tag !== "Parse"
  return isOversized ? bodyTooLarge(limit) : errorOf("BadRequest", "errors.BodyUnreadable")
}

// internal

type Pieces = Arr.NonEmptyReadonlyArray<Uint8Array>

type Unreadable = Multipart.MultipartError | { readonly reason: HttpServerError.RequestParseError }

const isUnreadable = (error: unknown): error is Unreadable =>
  error instanceof Multipart.MultipartError ||
  HttpServerError.isHttpServerError(error) && error.reason._tag === "RequestParseError"
