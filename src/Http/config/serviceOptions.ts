/**
 * The keys of the configuration, read by the parts of the server. `KernelConfig` exports all of them.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import type * as Duration from "effect/Duration"
import * as LogLevel from "effect/LogLevel"
import type * as IpNetwork from "effect/net/IpNetwork"
import type * as Redacted from "effect/Redacted"
import { configOf, configOr, section } from "../../internal/configurationKeys.ts"
import type { Lifetimes } from "../../Security/SignIns.ts"

/**
 * The bytes of the JSON texts of documents that are kept for the next request. Defaults to 64 MiB; 0 keeps none.
 *
 * @category configuration
 * @since 0.1.0
 */
export const keptTexts: Config.Config<number> = configOf("cache.texts")

/**
 * The address that the server listens on.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServerAddress {
  /** The address to bind to. Defaults to `127.0.0.1`; `0.0.0.0` binds to all addresses of the machine. */
  readonly address: string
  /** Defaults to 5000; 0 selects any free port. */
  readonly port: number
}

/**
 * The options of a server.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServerOptions extends ServerAddress {
  /** The number of connections that may wait to be accepted. Defaults to 511. */
  readonly backlog?: number | undefined
  /** The time that running requests get when the server stops. Defaults to 20 seconds. */
  readonly shutdownTimeout?: Duration.Input | undefined
  /** The time in which a request has to arrive, including its body; one with a file may take longer as long as it goes on. Defaults to 60 seconds. */
  readonly requestTimeout?: Duration.Input | undefined
  /** The time in which the head of a request has to arrive, at most {@link requestTimeout}. Defaults to 20 seconds. */
  readonly headerTimeout?: Duration.Input | undefined
  /** The time for which a connection stays open without a request. Defaults to 75 seconds. */
  readonly idleTimeout?: Duration.Input | undefined
  /** The number of connections at once; more are closed. Defaults to any. */
  readonly maxConnections?: number | undefined
  /** The number of headers of a request, with repeated ones counted each time; more are a 431. Defaults to 1,000. */
  readonly maxFields?: number | undefined
}

/**
 * The proxies in front of the server.
 *
 * @category models
 * @since 0.1.0
 */
export interface ProxyOptions {
  /** Whose headers tell the address of the client. Defaults to none. */
  readonly trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>
  /** The header that all of them write. They pass on whatever clients send in the other one. Defaults to `x-forwarded-for`. */
  readonly forwardedHeader: "x-forwarded-for" | "forwarded"
}

/**
 * The destinations of the log besides the console.
 *
 * @category models
 * @since 0.1.0
 */
export interface LoggingOptions {
  /** The least level of entries. Defaults to what the program says. */
  readonly level: LogLevel.LogLevel | undefined
  /** The log file; without one, only the console is used. */
  readonly fileName: string | undefined
  /** The bytes at which a new file is started. Defaults to 10 MiB. */
  readonly maxSize: number
  /** The number of previous files to keep; `<file>.1` is the latest of them. Defaults to 5. */
  readonly backupCount: number
}

/**
 * `server.address` and `server.port`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const serverAddress: Config.Config<ServerAddress> = section("server", "address", "port")

/**
 * The keys of `server` except address and port.
 *
 * @category configuration
 * @since 0.1.0
 */
export const server: Config.Config<ServerOptions> = section(
  "server",
  "address",
  "port",
  "backlog",
  "shutdown_timeout",
  "request_timeout",
  "header_timeout",
  "idle_timeout",
  "max_connections",
  "max_fields"
)

/**
 * `server.shutdown_delay`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const shutdownDelay: Config.Config<Duration.Duration> = configOf("server.shutdown_delay")

/**
 * `server.kill_timeout`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const killTimeout: Config.Config<Duration.Duration> = configOf("server.kill_timeout")

/**
 * `server.workers`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const workers: Config.Config<number | "auto"> = configOf("server.workers")

/**
 * How the health of the service is checked.
 *
 * @category models
 * @since 0.1.0
 */
export interface HealthOptions {
  /** Whether the paths are served. `Monitoring.layer` enables them where it is `undefined`. */
  readonly enabled: boolean | undefined
  /** The time that a check has. Defaults to 2 seconds. */
  readonly timeout: Duration.Duration
  /** The bytes that have to be free where the embedded store is. Defaults to 100 MiB. */
  readonly minDiskSpace: number
  /** Whether an open circuit breaker makes the service not ready. Defaults to `report`: it does not. */
  readonly openBreakers: "report" | "fail"
}

/**
 * The keys of `health`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const health: Config.Config<HealthOptions> = section("health")

/**
 * `metrics.enabled`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const metricsEnabled: Config.Config<boolean> = configOf("metrics.enabled")

/**
 * Where traces, metrics and logs are sent.
 *
 * @category models
 * @since 0.1.0
 */
export interface TelemetryOptions {
  /** The base URL of the collector; without one, nothing is sent. */
  readonly endpoint: string | undefined
  readonly headers: Redacted.Redacted<{ readonly [name: string]: string }> | undefined
  /** Defaults to traces and metrics. */
  readonly signals: ReadonlyArray<"traces" | "metrics" | "logs">
  /** The part of the traces that begin here and are sent. Defaults to 1. */
  readonly sampleRatio: number
  /** Defaults to 5 seconds. */
  readonly interval: Duration.Duration
}

/**
 * The keys of `telemetry`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const telemetry: Config.Config<TelemetryOptions> = section("telemetry")

/**
 * What is too much for the service.
 *
 * @category models
 * @since 0.1.0
 */
export interface OverloadOptions {
  /** Of the service. Defaults to any number. */
  readonly maxRequests: number | undefined
  /** Of each route. Defaults to any number. */
  readonly maxRequestsPerRoute: number | undefined
  /** The time that a request may wait for the event loop while this is busy. Defaults to any. */
  readonly maxDelay: Duration.Duration | undefined
  /** The time after which a refused client may try again. Defaults to a second. */
  readonly retryAfter: Duration.Duration
}

/**
 * The keys of `overload`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const overload: Config.Config<OverloadOptions> = section("overload")

/**
 * How many streams of changes there may be, and how they behave.
 *
 * @category models
 * @since 0.1.0
 */
export interface LiveOptions {
  /** The open streams of the process. Defaults to 10,000. */
  readonly maxStreams: number
  /** The open streams of one caller. Defaults to 100. */
  readonly maxStreamsPerCaller: number
  /** The time between two signs of life. Defaults to 15 seconds. */
  readonly heartbeat: Duration.Duration
  /** How long a request waits for changes. Defaults to 20 seconds. */
  readonly pollTimeout: Duration.Duration
}

/**
 * The keys of `live`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const live: Config.Config<LiveOptions> = section("live")

/**
 * How errors are written.
 *
 * @category models
 * @since 0.1.0
 */
export interface ErrorOptions {
  /** Whether all errors are problem details, or only those for clients that ask for them. Defaults to `message`: these. */
  readonly format: "message" | "problem"
  /** The URL of the page that describes the errors by the names of their classes. */
  readonly documentation: string | undefined
}

/**
 * The keys of `errors`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const errors: Config.Config<ErrorOptions> = section("errors")

/**
 * `compression.min_size`; `undefined` unless `compression.enabled`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const compression: Config.Config<number | undefined> = Config.map(
  section("compression"),
  ({ enabled, minSize }) => enabled ? minSize : undefined
)

/**
 * Where the audit log is written, and what it has.
 *
 * @category models
 * @since 0.1.0
 */
export interface AuditOptions {
  /** Defaults to `none`. */
  readonly to: "none" | "log" | "collection"
  /** Whether the log has reads of registrations that don't specify it. Defaults to false. */
  readonly reads: boolean
  /** Defaults to `AuditEntry`. */
  readonly collection: string
}

/**
 * The keys of `audit`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const audit: Config.Config<AuditOptions> = section("audit")

/**
 * How the answers to requests with an `Idempotency-Key` are kept.
 *
 * @category models
 * @since 0.1.0
 */
export interface IdempotencyOptions {
  /** The time for which an answer is given again. Defaults to 24 hours. */
  readonly keep: Duration.Duration
  /** The bytes of an answer that is kept; a repetition for a larger one is a 409. Defaults to 64 KiB. */
  readonly maxAnswerSize: number
}

/**
 * The keys of `idempotency`, without `idempotency.keys`, which is one of the limits.
 *
 * @category configuration
 * @since 0.1.0
 */
export const idempotency: Config.Config<IdempotencyOptions> = section("idempotency", "keep", "max_answer_size")

/**
 * `server.trusted_proxies` and `server.forwarded_header`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const proxies: Config.Config<ProxyOptions> = section("server", "trusted_proxies", "forwarded_header")

/**
 * `server.response_timeout`; `undefined` without one.
 *
 * @category configuration
 * @since 0.1.0
 */
export const responseTimeout: Config.Config<Duration.Duration | undefined> = configOf("server.response_timeout")

/**
 * The keys of `logging`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const logging: Config.Config<LoggingOptions> = Config.map(section("logging"), ({ level: name, ...options }) => ({
  ...options,
  level: LogLevel.values.find((level) => level.toLowerCase() === name)
}))

/**
 * The lifetimes of tokens. Unset keys take their values from `otherwise`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const lifetimes = (otherwise: Lifetimes): Config.Config<Lifetimes> =>
  Config.all({
    accessToken: configOr("security.access_token_lifetime", otherwise.accessToken),
    refreshToken: configOr("security.refresh_token_lifetime", otherwise.refreshToken),
    revocationDelay: configOr("security.revocation_delay", otherwise.revocationDelay)
  })

/**
 * `security.cursor_secret`. Processes with the same secret accept each other's cursors.
 *
 * @category configuration
 * @since 0.1.0
 */
export const cursorSecret: Config.Config<Redacted.Redacted | undefined> = configOf("security.cursor_secret")

/**
 * `migrations.on_start`: what a start does while migrations have not run.
 *
 * @category configuration
 * @since 0.1.0
 */
export const migrationsOnStart: Config.Config<"refuse" | "wait" | "run" | "ignore"> = configOf("migrations.on_start")
