/**
 * Answers as those of Effect's `HttpClient`, read as a whole.
 */
import * as Effect from "effect/Effect"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import type { RequestHandlingException } from "../ClientError.ts"
import { failureBy } from "./failures.ts"
import type { RawHeaders } from "./transport.ts"

/** @internal */
export const responseOf = (
  request: HttpClientRequest.HttpClientRequest,
  upstream: string,
  status: number,
  headers: RawHeaders,
  bytes: Uint8Array
): Effect.Effect<HttpClientResponse.HttpClientResponse, RequestHandlingException> =>
  Effect.try({
    try: () => {
      const sent = new Headers()
      for (const [name, value] of Object.entries(headers)) {
        // The body is decompressed.
        if (value === undefined || name === "content-encoding" || name === "content-length") continue
        for (const one of typeof value === "string" ? [value] : value) sent.append(name, one)
      }
      // The body is read from one buffer of its own.
      const body = bytes.length === 0 ? null : bytes as Uint8Array<ArrayBuffer>
      return HttpClientResponse.fromWeb(request, new Response(body, { status, headers: sent }))
    },
    // A status above 599, for instance.
    catch: () => failureBy(upstream, "InvalidAnswer")
  })
