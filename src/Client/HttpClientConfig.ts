/**
 * The configuration of the client that calls other services.
 *
 * @since 0.1.0
 */
import * as ByteSize from "effect/ByteSize"
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { DeclarationError } from "../internal/declarationError.ts"
import { durationConfig, parsedConfig, type Path } from "../internal/keyConfig.ts"
import { bytesOf } from "../internal/sizes.ts"
import type * as CircuitBreaker from "./CircuitBreaker.ts"

const integer = (minimum: number, ...name: Path) =>
  parsedConfig(
    (text) => /^\s*\d{1,9}\s*$/u.test(text) && Number(text) >= minimum ? Number(text) : undefined,
    `a whole number from ${minimum}`,
    ["CLIENT", ...name]
  )

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
export const config: Config.Config<HttpClientConfig> = Config.all({
  maxConnections: integer(1, "MAX_CONNECTIONS"),
  maxKeepaliveConnections: integer(0, "MAX_KEEPALIVE_CONNECTIONS"),
  keepaliveExpiry: durationConfig("CLIENT", "KEEPALIVE_EXPIRY"),
  connectTimeout: durationConfig("CLIENT", "CONNECT_TIMEOUT"),
  readTimeout: durationConfig("CLIENT", "READ_TIMEOUT"),
  callTimeout: durationConfig("CLIENT", "CALL_TIMEOUT"),
  uploadTimeout: durationConfig("CLIENT", "UPLOAD_TIMEOUT"),
  downloadTimeout: durationConfig("CLIENT", "DOWNLOAD_TIMEOUT"),
  writeTimeout: durationConfig("CLIENT", "WRITE_TIMEOUT"),
  poolTimeout: durationConfig("CLIENT", "POOL_TIMEOUT"),
  maxQueued: integer(0, "MAX_QUEUED"),
  maxResponseSize: parsedConfig(bytesOf, "a number of bytes, or a size such as \"10 MB\"", [
    "CLIENT",
    "MAX_RESPONSE_SIZE"
  ]),
  shutdownTimeout: durationConfig("CLIENT", "SHUTDOWN_TIMEOUT"),
  circuitBreaker: Config.map(
    Config.all({
      failureThreshold: integer(1, "CIRCUIT_BREAKER", "FAILURE_THRESHOLD"),
      recoveryTimeout: durationConfig("CLIENT", "CIRCUIT_BREAKER", "RECOVERY_TIMEOUT"),
      halfOpenMaxCalls: integer(1, "CIRCUIT_BREAKER", "HALF_OPEN_MAX_CALLS")
    }),
    (breaker) => Object.values(breaker).every((value) => value === undefined) ? undefined : breaker
  )
})

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
  time === undefined ? undefined : Duration.toMillis(Duration.fromInputUnsafe(time))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const resolved = (config: HttpClientConfig): Resolved => ({
  maxConnections: config.maxConnections ?? 100,
  maxKeepaliveConnections: config.maxKeepaliveConnections ?? 20,
  keepaliveExpiry: millisOf(config.keepaliveExpiry) ?? 30_000,
  connectTimeout: millisOf(config.connectTimeout) ?? 2_000,
  readTimeout: millisOf(config.readTimeout) ?? 10_000,
  callTimeout: millisOf(config.callTimeout) ?? 3_000,
  uploadTimeout: millisOf(config.uploadTimeout) ?? 60_000,
  downloadTimeout: millisOf(config.downloadTimeout) ?? 30_000,
  writeTimeout: millisOf(config.writeTimeout) ?? 5_000,
  poolTimeout: millisOf(config.poolTimeout) ?? 5_000,
  circuitBreaker: config.circuitBreaker,
  maxQueued: config.maxQueued ?? 1_000,
  shutdownTimeout: millisOf(config.shutdownTimeout) ?? 20_000,
  maxResponseSize: config.maxResponseSize === undefined
    ? 67_108_864
    : Number(ByteSize.toBigInt(ByteSize.fromInputUnsafe(config.maxResponseSize)))
})
