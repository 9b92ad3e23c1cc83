/**
 * The configuration of the client that calls other services.
 *
 * @since 0.1.0
 */
import * as ByteSize from "effect/ByteSize"
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { defaultOf, givenOf } from "../internal/configurationKeys.ts"
import { DeclarationError } from "../internal/declarationError.ts"
import type * as CircuitBreaker from "./CircuitBreaker.ts"

/**
 * The configuration of the client that calls other services.
 *
 * @category models
 * @since 0.1.0
 */
export interface HttpClientConfig {
  /** The number of connections at once, over all services. Further calls wait for one, in their order. Defaults to 100. */
  readonly maxConnections?: number | undefined
  /** The number of connections that stay open without a call. Defaults to 20. */
  readonly maxKeepaliveConnections?: number | undefined
  /** The time that a connection stays open without a call. Defaults to 30 seconds. */
  readonly keepaliveExpiry?: Duration.Input | undefined
  /** The time to establish a connection. Defaults to 2 seconds. */
  readonly connectTimeout?: Duration.Input | undefined
  /**
   * The time to wait for the first byte of an answer, and for each further part of its body, in calls of typed clients, which have
   * no `timeout` of their own. Defaults to 10 seconds.
   */
  readonly readTimeout?: Duration.Input | undefined
  /** The `timeout` of a `get`, `post`, `put`, `patch` or `delete` of a proxy that says none. Defaults to 3 seconds. */
  readonly callTimeout?: Duration.Input | undefined
  /** The `timeout` of an upload that says none. Defaults to 60 seconds. */
  readonly uploadTimeout?: Duration.Input | undefined
  /** The `timeout` of a download that says none. Defaults to 30 seconds. */
  readonly downloadTimeout?: Duration.Input | undefined
  /** The time to send the body of a request. Defaults to 5 seconds. */
  readonly writeTimeout?: Duration.Input | undefined
  /** The time to wait for a free connection. Defaults to 5 seconds. */
  readonly poolTimeout?: Duration.Input | undefined
  /** The breaker of every proxy that has none of its own. Defaults to none. */
  readonly circuitBreaker?: CircuitBreaker.CircuitBreakerConfig | undefined
  /** The number of calls that may wait for a connection. Defaults to 1,000. */
  readonly maxQueued?: number | undefined
  /** The bytes of an answer that is read as a whole, once decompressed. Defaults to 64 MiB. */
  readonly maxResponseSize?: ByteSize.Input | undefined
  /**
   * The time for calls to end when the client shuts down. Those that run then fail with the reason `Closed`. Defaults to 20
   * seconds.
   */
  readonly shutdownTimeout?: Duration.Input | undefined
}

/**
 * The configuration from `cfg.yml` and the environment: `appkernel.client.max_connections` is `APPKERNEL_CLIENT_MAX_CONNECTIONS`.
 * A time is a number of seconds or a text such as `500 millis`. Any key of `client.circuit_breaker` gives every proxy a breaker.
 *
 * @category models
 * @since 0.1.0
 */
export const config: Config.Config<HttpClientConfig> = Config.map(
  Config.all({ client: givenOf("client"), breaker: givenOf("client.circuit_breaker") }),
  ({ breaker, client }) => ({
    ...client,
    circuitBreaker: Object.values(breaker).every((value) => value === undefined) ? undefined : breaker
  })
)

/** A configuration with its defaults, in milliseconds and bytes. @internal */
export interface Resolved {
  readonly maxConnections: number
  readonly maxKeepaliveConnections: number
  readonly keepaliveExpiry: number
  readonly connectTimeout: number
  readonly readTimeout: number
  readonly callTimeout: number
  readonly uploadTimeout: number
  readonly downloadTimeout: number
  readonly writeTimeout: number
  readonly poolTimeout: number
  readonly circuitBreaker: CircuitBreaker.CircuitBreakerConfig | undefined
  readonly maxQueued: number
  readonly maxResponseSize: number
  readonly shutdownTimeout: number
}

/** A number that is no integer, or too small, is a defect. @internal */
export const resolve = (config: HttpClientConfig): Effect.Effect<Resolved> => {
  for (const [name, minimum] of [["maxConnections", 1], ["maxKeepaliveConnections", 0], ["maxQueued", 0]] as const) {
    const value = config[name]
    if (value === undefined || Number.isSafeInteger(value) && value >= minimum) continue
    return Effect.die(new DeclarationError(`${name} of a client has to be an integer from ${minimum}, not ${value}`))
  }
  return Effect.sync(() => resolved(config))
}

/** @internal */
export const millisOf = (time: Duration.Input | undefined): number | undefined =>
  time === undefined ? undefined : millis(time)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const resolved = (config: HttpClientConfig): Resolved => ({
  maxConnections: config.maxConnections ?? defaultOf("client.max_connections"),
  maxKeepaliveConnections: config.maxKeepaliveConnections ?? defaultOf("client.max_keepalive_connections"),
  keepaliveExpiry: millis(config.keepaliveExpiry ?? defaultOf("client.keepalive_expiry")),
  connectTimeout: millis(config.connectTimeout ?? defaultOf("client.connect_timeout")),
  readTimeout: millis(config.readTimeout ?? defaultOf("client.read_timeout")),
  callTimeout: millis(config.callTimeout ?? defaultOf("client.call_timeout")),
  uploadTimeout: millis(config.uploadTimeout ?? defaultOf("client.upload_timeout")),
  downloadTimeout: millis(config.downloadTimeout ?? defaultOf("client.download_timeout")),
  writeTimeout: millis(config.writeTimeout ?? defaultOf("client.write_timeout")),
  poolTimeout: millis(config.poolTimeout ?? defaultOf("client.pool_timeout")),
  circuitBreaker: config.circuitBreaker,
  maxQueued: config.maxQueued ?? defaultOf("client.max_queued"),
  shutdownTimeout: millis(config.shutdownTimeout ?? defaultOf("client.shutdown_timeout")),
  maxResponseSize: config.maxResponseSize === undefined
    ? defaultOf("client.max_response_size")
    : Number(ByteSize.toBigInt(ByteSize.fromInputUnsafe(config.maxResponseSize)))
})

const millis = (time: Duration.Input): number => Duration.toMillis(Duration.fromInputUnsafe(time))
