/** How a typed client of a service makes its calls: as proxies do, and with the errors that the service declares. */
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
  /** The same for calls that are answered when something happens, which are not tried again either. */
  readonly waiting: HttpClient.HttpClient.With<RequestHandlingException | CircuitOpenError>
  /** Has `settle` say how an answer is read that the platform's client is about to decode. */
  readonly transformResponse: <A, E, R>(decoded: Effect.Effect<A, E, R>) => Effect.Effect<A, E | ReadFailure, R>
  /** Gives failures that no description declares the form of proxies. `read` may read an answer itself. */
  readonly settle: <A, E, R>(
    call: Effect.Effect<A, E | ReadFailure, R>,
    read?: Read
  ) => Effect.Effect<A, E | RequestHandlingException, R>
}

/** @internal */
export const makeTransport = (root: string, exchange: Exchange, options: CallOptions): Transport => {
  /** The current call of each fiber. A call within another one, in the same fiber, ends before the answer of the outer one. */
  const calls = new WeakMap<object, Call>()
  const clientWith = (options: CallOptions) => {
    const respond = (request: Parameters<Exchange["respond"]>[0]) =>
      Effect.withFiber((fiber) => {
        const call = calls.get(fiber)
        return Effect.map(exchange.respond(request, options), (response) => {
          if (call === undefined) return response
          call.response = response
          calls.set(fiber, call)
          return response
        })
      })
    return HttpClient.makeWith(
      (request: Effect.Effect<Parameters<Exchange["respond"]>[0]>) => Effect.flatMap(request, respond),
      (request) => Effect.succeed(request)
    )
  }
  return {
    root,
    httpClient: clientWith(options),
    waiting: clientWith({ ...options, readTimeout: Math.max(options.readTimeout, minWait), retries: undefined }),
    transformResponse: <A, E, R>(decoded: Effect.Effect<A, E, R>) =>
      Effect.withFiber((fiber): Effect.Effect<A, E | ReadFailure, R> => {
        const { read, response } = calls.get(fiber) ?? none
        const result = response === undefined ? undefined : read?.(response)
        // Both decode what the description of the call says.
        return result === undefined ? decoded : result as Effect.Effect<A, ReadFailure>
      }),
    settle: (effect, read) =>
      Effect.withFiber((fiber) => {
        const call: Call = { response: undefined, read }
        calls.set(fiber, call)
        return Effect.catch(effect, (error) => withUpstreamFailure(error, call.response, options.upstream))
      })
  }
}

// internal

type ReadFailure = HttpClientError.HttpClientError | Schema.SchemaError

type Read = (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<unknown, ReadFailure> | undefined

/** A call of a typed client. */
interface Call {
  /** Its answer, once it is there. */
  response: HttpClientResponse.HttpClientResponse | undefined
  readonly read: Read | undefined
}

/** Longer than services wait for changes by default, in milliseconds. */
const minWait = 60_000

const none: Call = { response: undefined, read: undefined }

const withUpstreamFailure = <E>(
  error: E | ReadFailure,
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
