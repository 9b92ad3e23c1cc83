/**
 * Calls to one URL of a service, and what is under it.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpMethod from "effect/http/HttpMethod"
import type * as Schema from "effect/Schema"
import type * as Model from "../Model/Model.ts"
import { extendedUrl, serviceOf } from "./calls/address.ts"
import { bodyOf, reader, valueOf, withInstances } from "./calls/bodies.ts"
import type { Answer } from "./calls/exchange.ts"
import { failureBy } from "./calls/failures.ts"
import type { Upstream } from "./calls/upstream.ts"
import type { CircuitOpenError, RequestHandlingException } from "./ClientError.ts"
import { millisOf } from "./HttpClientConfig.ts"

/**
 * Options of every call.
 *
 * @category models
 * @since 0.1.0
 */
export interface CallOptions {
  /** Appended to the URL, with one slash between. It may have a query. */
  readonly pathExtension?: string | number | undefined
  /**
   * The time to wait for the first byte of the answer, and for each further part of its body. Defaults to the configured
   * `readTimeout`, or else to 3 seconds.
   */
  readonly timeout?: Duration.Input | undefined
  /** Headers of this call. They replace those of the proxy. */
  readonly headers?: { readonly [name: string]: string } | undefined
}

/**
 * Options of a call whose answer has a body.
 *
 * @category models
 * @since 0.1.0
 */
export interface GetOptions<S extends Schema.Top = never> extends CallOptions {
  /** What the body is: a model, whose instance the call returns, or a schema of its JSON. */
  readonly as?: S | undefined
}

/**
 * Options of a call that sends a body.
 *
 * @category models
 * @since 0.1.0
 */
export interface SendOptions<S extends Schema.Top = never> extends GetOptions<S> {
  /** An instance of a model is sent as its JSON text, a record or a list as JSON, anything else as it is. */
  readonly payload?: unknown
}

/**
 * The body of an answer that was read as `S`.
 *
 * @category models
 * @since 0.1.0
 */
export type BodyOf<S extends Schema.Top> = [S] extends [never] ? unknown
  : S extends Model.Any ? Model.Seen<S>
  : S["Type"]

/**
 * The result of a call: the status, which is 2xx, and the body.
 *
 * @category models
 * @since 0.1.0
 */
export type Result<S extends Schema.Top> = Effect.Effect<
  readonly [status: number, body: BodyOf<S>],
  RequestHandlingException | CircuitOpenError
>

/**
 * Calls to one URL of a service, and what is under it. Each fails with `RequestHandlingException` for any other answer than
 * 2xx and for failures of the network, and with `CircuitOpenError` while the circuit breaker is open.
 *
 * @category models
 * @since 0.1.0
 */
export interface RequestWrapper {
  /** The URL, without path extension. */
  readonly url: string
  /** Reads. */
  readonly get: <S extends Schema.Top = never>(options?: GetOptions<S>) => Result<S>
  /** Creates, or does what the service does at this URL. */
  readonly post: <S extends Schema.Top = never>(options?: SendOptions<S>) => Result<S>
  /** Replaces. */
  readonly put: <S extends Schema.Top = never>(options?: SendOptions<S>) => Result<S>
  /** Changes. */
  readonly patch: <S extends Schema.Top = never>(options?: SendOptions<S>) => Result<S>
  /** Removes. */
  readonly delete: <S extends Schema.Top = never>(options?: SendOptions<S>) => Result<S>
}

/** @internal */
export const make = (upstream: Upstream, url: string): RequestWrapper => {
  const service = serviceOf(url)
  const call =
    (method: HttpMethod.HttpMethod) => <S extends Schema.Top = never>(options: SendOptions<S> = {}): Result<S> => {
      const { as, headers, pathExtension, payload, timeout } = options
      const readAs = as === undefined ? undefined : reader(as)
      return Effect.flatMap(
        Effect.mapError(bodyOf(payload), () => failureBy(service, "InvalidRequest")),
        (body) => {
          const request = HttpClientRequest.make(method)(extendedUrl(url, pathExtension), {
            ...(headers === undefined ? {} : { headers }),
            body
          })
          const sent = upstream.exchange.run(
            request,
            { upstream: service, readTimeout: millisOf(timeout) ?? upstream.readTimeout ?? 3_000 },
            received
          )
          return Effect.flatMap(sent, ([status, value]) =>
            Effect.map(
              readAs === undefined ? withInstances(value, upstream.models, service) : readAs(value, service),
              // `as` says what the body is.
              (body) => [status, body as BodyOf<S>] as const
            ))
        }
      )
    }
  return {
    url,
    get: call("GET"),
    post: call("POST"),
    put: call("PUT"),
    patch: call("PATCH"),
    delete: call("DELETE")
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const received = ({ headers, status, text }: Answer) =>
  Effect.map(text, (text) => {
    const contentType = headers["content-type"]
    return [status, valueOf(text, typeof contentType === "string" ? contentType : undefined)] as const
  })
