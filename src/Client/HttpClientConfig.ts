/**
 * The configuration of the client that calls other services.
 *
 * @since 0.1.0
 */
import * as ByteSize from "effect/ByteSize"
import * as Duration from "effect/Duration"
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
   * The time to wait for the first byte of an answer, and for each further part of its body. The `timeout` of a call takes
   * precedence. Defaults to 10 seconds.
   */
  readonly readTimeout?: Duration.Input | undefined
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
}

/**
 * A configuration with its defaults, in milliseconds and bytes.
 *
 * @internal
 */
export interface Resolved {
  readonly maxConnections: number
  readonly maxKeepaliveConnections: number
  readonly keepaliveExpiry: number
  readonly connectTimeout: number
  /** `undefined` if it is not configured. */
  readonly readTimeout: number | undefined
  readonly writeTimeout: number
  readonly poolTimeout: number
  readonly circuitBreaker: CircuitBreaker.CircuitBreakerConfig | undefined
  readonly maxQueued: number
  readonly maxResponseSize: number
}

/** @internal */
export const resolve = (config: HttpClientConfig): Resolved => ({
  maxConnections: config.maxConnections ?? 100,
  maxKeepaliveConnections: config.maxKeepaliveConnections ?? 20,
  keepaliveExpiry: millisOf(config.keepaliveExpiry) ?? 30_000,
  connectTimeout: millisOf(config.connectTimeout) ?? 2_000,
  readTimeout: millisOf(config.readTimeout),
  writeTimeout: millisOf(config.writeTimeout) ?? 5_000,
  poolTimeout: millisOf(config.poolTimeout) ?? 5_000,
  circuitBreaker: config.circuitBreaker,
  maxQueued: config.maxQueued ?? 1_000,
  maxResponseSize: config.maxResponseSize === undefined
    ? 67_108_864
    : Number(ByteSize.toBigInt(ByteSize.fromInputUnsafe(config.maxResponseSize)))
})

/** @internal */
export const millisOf = (time: Duration.Input | undefined): number | undefined =>
  time === undefined ? undefined : Duration.toMillis(Duration.fromInputUnsafe(time))
