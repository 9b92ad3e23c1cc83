/**
 * How a typed client of a service makes its calls: as proxies do, and with the errors that the service declares.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Schema from "effect/Schema"
import { type CircuitOpenError, rememberCall, RequestHandlingException } from "../ClientError.ts"
import type { CallOptions, Exchange } from "./exchange.ts"
import { failureBy } from "./failures.ts"
import { rejectedResponse } from "./rejection.ts"

/**
 * What carries the calls of a typed client.
 *
 * @category models
 * @since 0.1.0
 */
export interface Transport {
  /** The root address of the service. */
  readonly root: string
  /** Answers of any status are answers to it. */
  readonly httpClient: HttpClient.HttpClient.With<RequestHandlingException | CircuitOpenError>
  /** Gives the failures of a call that no description declares the form that they have for proxies. */
  readonly settle: <A, E, R>(
    call: Effect.Effect<A, E | HttpClientError.HttpClientError | Schema.SchemaError, R>
  ) => Effect.Effect<A, E | RequestHandlingException, R>
}

/** @internal */
export const makeTransport = (root: string, exchange: Exchange, options: CallOptions): Transport => ({
  root,
  httpClient: HttpClient.makeWith(
    (request: Effect.Effect<Parameters<Exchange["respond"]>[0]>) =>
      Effect.flatMap(
        request,
        (request) =>
          Effect.flatMap(exchange.respond(request, options), (response) =>
            Effect.map(CurrentCall, (call) => {
              call.response = response
              return response
            }))
      ),
    (request) => Effect.succeed(request)
  ),
  settle: (call) =>
    Effect.suspend(() => {
      const current: Call = { response: undefined }
      return Effect.catch(
        Effect.provideService(call, CurrentCall, current),
        (error) => settled(error, current.response, options.upstream)
      )
    })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A call of a typed client. */
interface Call {
  /** Its answer, once it is there. */
  response: HttpClientResponse.HttpClientResponse | undefined
}

const CurrentCall = Context.Reference<Call>("appkernel/Client/CurrentCall", {
  defaultValue: () => ({ response: undefined })
})

const settled = <E>(
  error: E | HttpClientError.HttpClientError | Schema.SchemaError,
  response: HttpClientResponse.HttpClientResponse | undefined,
  upstream: string
): Effect.Effect<never, E | RequestHandlingException> => {
  const isUndeclared = HttpClientError.isHttpClientError(error) || Schema.isSchemaError(error)
  if (response === undefined) {
    return Effect.fail(isUndeclared ? failureBy(upstream, "InvalidRequest") : error)
  }
  if (response.status >= 200 && response.status < 300) {
    return Effect.fail(isUndeclared ? failureBy(upstream, "InvalidAnswer") : error)
  }
  return Effect.catch(
    rejectedResponse(response, upstream),
    (call): Effect.Effect<never, E | RequestHandlingException> => {
      if (isUndeclared) return Effect.fail(call)
      if (typeof error === "object" && error !== null && !(error instanceof RequestHandlingException)) {
        rememberCall(error, call)
      }
      return Effect.fail(error)
    }
  )
}
