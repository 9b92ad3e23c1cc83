/** The credentials of calls to the services at one origin. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { memoize } from "effect/Function"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import { type CircuitOpenError, RequestHandlingException } from "../ClientError.ts"
import type { Credentials } from "../Credentials.ts"
import { serviceOf } from "./address.ts"
import { failureBy, unusable } from "./failures.ts"

export type Credentialed = <A extends { readonly status: number }>(
  credentials: Credentials,
  request: HttpClientRequest.HttpClientRequest,
  execute: (request: HttpClientRequest.HttpClientRequest) => Effect.Effect<A, CallError>,
  upstream: string
) => Effect.Effect<A, CallError>

type CallError = RequestHandlingException | CircuitOpenError

/** `respond` sends the requests for tokens, whose time the credentials limit. */
export const makeCredentialed = (
  origin: string,
  respond: (
    request: HttpClientRequest.HttpClientRequest
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, CallError>
): Credentialed => {
  const client = HttpClient.make((request) =>
    Effect.mapError(
      respond(request),
      (cause) => new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
    )
  )
  const service = {
    execute: (request: HttpClientRequest.HttpClientRequest) => client.execute(request),
    origin
  }
  const sendWith = memoize((credentials: Credentials) => credentials.send(service))
  return (credentials, request, execute, upstream) =>
    Effect.mapError(sendWith(credentials)(request, execute), (error) => {
      if (!HttpClientError.isHttpClientError(error)) return error
      const { reason } = error
      const cause = reason._tag === "TransportError" ? reason.cause : undefined
      if (Cause.isTimeoutError(cause)) return failureBy(serviceOf(error.request.url), "Timeout")
      if (cause instanceof RequestHandlingException) return cause
      const { status = 500 } = error.response ?? {}
      return status >= 500
        ? failureBy(upstream, "InvalidAnswer")
        : unusable(upstream, `answered a sign-in with no tokens and status ${status}`)
    })
}
