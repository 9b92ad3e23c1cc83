/** Sends a file in the memory of few pieces: each is given back as soon as the system has taken it. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import { hasOwnPieces, release } from "../../internal/ownPieces.ts"

/** A handler for the end of a request: what is between may have put another body into the place of the file. */
export const releasingPieces = (
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.sync(() => {
    const { body } = response
    if (body._tag !== "Stream" || !hasOwnPieces(body.stream)) return response
    const target = NodeHttpServerRequest.toServerResponse(request)
    let given: ReadonlyArray<Uint8Array> = []
    const stream = Stream.transformPull(body.stream, (pull) =>
      Effect.succeed(Effect.suspend(() => {
        // The next pieces are asked for once these are written, or while there is room for more of them.
        if (target.writableLength === 0) given.forEach(release)
        given = []
        // What a body fails with is open.
        // @effect-diagnostics-next-line anyUnknownInErrorContext:off
        return Effect.map(pull, (pieces) => {
          given = pieces
          return pieces
        })
      })))
    return HttpServerResponse.setBody(response, HttpBody.stream(stream, body.contentType, body.contentLength))
  })
