/**
 * The configuration of a service: `cfg.yml`, overridden by the environment.
 *
 * **Details**
 *
 * The file is YAML 1.2 with the keys under `appkernel`. Each key has an environment variable, named by its path in
 * capitals: `appkernel.server.port` is `APPKERNEL_SERVER_PORT`. A variable that is set and not empty takes precedence. A
 * variable with `_FILE` at its end names a file with the value, for secrets: `APPKERNEL_MONGO_HOST_FILE`.
 *
 * | Key | Value | Default |
 * |---|---|---|
 * | `logging.level` | entries below this level are left out, and so are the lines of requests below `info` | what the program says, otherwise `info` |
 * | `logging.file_name` | file that the log is also written to | none |
 * | `logging.max_size` | size at which a new file is begun | 10 MiB |
 * | `logging.backup_count` | earlier files that are kept | 5 |
 * | `server.address` | address to listen on | `127.0.0.1` |
 * | `server.port` | port, 0 for any that is free | 5000 |
 * | `server.backlog` | connections that wait to be accepted | 511 |
 * | `server.shutdown_timeout` | time for running requests to finish when the service stops | 20 seconds |
 * | `server.request_timeout` | time in which a request has to arrive | 60 seconds |
 * | `server.header_timeout` | time in which its head has to arrive | 20 seconds |
 * | `server.response_timeout` | time in which a request has to be answered, see `KernelServer` | none |
 * | `server.max_body_size` | size of a JSON body | 1 MiB |
 * | `server.max_multipart_size` | size of a multipart body | 10 MiB |
 * | `server.trusted_proxies` | addresses and networks of the proxies in front, see `ClientAddress` | none |
 * | `server.forwarded_header` | header in which they write the client's address: `x-forwarded-for` or `forwarded` | `x-forwarded-for` |
 * | `server.shutdown_delay` | time for which the service still takes requests after the signal to stop, and is not ready | none |
 * | `server.idle_timeout` | time for which a connection stays open without a request | 75 seconds |
 * | `server.max_connections` | connections at once; more are closed | none |
 * | `health.enabled` | whether `/health/live` and `/health/ready` are served, see `Monitoring` | false |
 * | `health.timeout` | time that a check has | 2 seconds |
 * | `health.min_disk_space` | bytes that have to be free where the embedded store is | 100 MiB |
 * | `health.open_breakers` | whether an open circuit breaker makes the service not ready: `report` or `fail` | `report` |
 * | `metrics.enabled` | whether `/metrics` is served, see `Monitoring` | false |
 * | `telemetry.endpoint` | base URL of a collector that takes OTLP over HTTP | none: nothing is sent |
 * | `telemetry.headers` | headers of what is sent to it, as `name=value` | none |
 * | `telemetry.signals` | what is sent: `traces`, `metrics`, `logs` | `traces` and `metrics` |
 * | `telemetry.sample_ratio` | part of the traces that begin here and are sent; failed ones always are | 1 |
 * | `telemetry.interval` | time between two sendings | 5 seconds |
 * | `overload.max_requests` | requests that are handled at once; more are answered 503 | none |
 * | `overload.max_requests_per_route` | requests of one route that are handled at once | none |
 * | `overload.max_delay` | time that a request may wait for the event loop while this is busy; later ones are answered 503 | none |
 * | `overload.retry_after` | time after which a refused client may try again | 1 second |
 * | `compression.enabled` | whether responses are compressed for clients that accept it | false |
 * | `compression.min_size` | size from which they are | 1 KiB |
 * | `audit.to` | where the audit log is written: `log`, `collection`, or nowhere | `none` |
 * | `audit.reads` | whether it has reads too | false |
 * | `audit.collection` | collection of its entries | `AuditEntry` |
 * | `rate_limits.per_address` | requests from an address, as `300 per minute`, see `RateLimits` | none, or 600 per minute if the engine enables limits |
 * | `rate_limits.per_caller` | requests of a user | none |
 * | `cors.origins` | origins whose pages may call the service from a browser, or `*`, see `Cors` | none |
 * | `cors.methods` | methods of these calls | all of the endpoints |
 * | `cors.headers` | headers of these calls | those that the engine reads, and those of traces |
 * | `cors.credentials` | whether browsers send cookies and HTTP basic | false |
 * | `cors.max_age` | time for which browsers keep what is allowed | 1 hour |
 * | `mongo.host` | MongoDB's host, or its whole URL | `localhost` |
 * | `mongo.db` | database | the URL's, or `app` |
 * | `mongo.connect_timeout` | time for a server to accept a connection | 5 seconds |
 * | `mongo.server_selection_timeout` | time to find a usable server | `mongo.connect_timeout` |
 * | `mongo.socket_timeout` | time for a server to answer an operation | 30 seconds |
 * | `client.max_connections` | connections to other services at once, see `HttpClientConfig` | 100 |
 * | `client.max_keepalive_connections` | connections that stay open without a call | 20 |
 * | `client.keepalive_expiry` | time for which they do | 30 seconds |
 * | `client.connect_timeout` | time to establish a connection | 2 seconds |
 * | `client.read_timeout` | time to wait for an answer, where a call has no `timeout` | 3 seconds; 10 for typed clients, 30 for downloads, 60 for uploads |
 * | `client.write_timeout` | time to send the body of a request | 5 seconds |
 * | `client.pool_timeout` | time to wait for a free connection | 5 seconds |
 * | `client.max_queued` | calls that may wait for one | 1,000 |
 * | `client.max_response_size` | size of an answer that is read as a whole, decompressed | 64 MiB |
 * | `client.shutdown_timeout` | time for running calls to end when the client shuts down | 20 seconds |
 * | `client.circuit_breaker.failure_threshold` | calls that fail in a row until a circuit breaker opens | 5; without any of these keys, there are no breakers |
 * | `client.circuit_breaker.recovery_timeout` | time until an open breaker lets probes through | 30 seconds |
 * | `client.circuit_breaker.half_open_max_calls` | probes at once | 1 |
 * | `embedded.path` | folder of the embedded store | `./data` |
 * | `i18n.languages` | languages, the default first | none |
 * | `i18n.path` | folder of the catalogues | `./translations` |
 * | `query.default_page_size` | documents on a page that says nothing of its size | 50 |
 * | `query.max_page_size` | documents on a page at most | 1,000 |
 * | `query.max_page_bytes` | bytes of a page, or of what an aggregation gives | 16 MiB |
 * | `query.max_results` | documents that an aggregation or a native query gives at most | 10,000 |
 * | `query.timeout` | time after which the store stops a query | 5 seconds |
 * | `query.skip_unreadable` | whether pages leave out documents that do not fit their model | false: such a page is a 500 |
 * | `migrations.on_start` | what a start does while migrations have not run: it fails, waits for another process, runs them, or goes on | `refuse` |
 * | `security.private_key_path` | file of the key that tokens are signed with | none |
 * | `security.public_key_path` | file of the key that tokens are verified with | none |
 * | `security.access_token_lifetime` | time that an access token counts | 15 minutes |
 * | `security.refresh_token_lifetime` | time in which a refresh token can be used | 30 days |
 * | `security.revocation_delay` | time that a token goes on after its sign-in has ended, or its account is gone, blocked, or has another password or a role less | 10 seconds |
 * | `security.cursor_secret` | key of at least 32 characters that cursors are signed with, if security is enabled | a random one for each process |
 *
 * A time is a number of seconds or a text such as `30 seconds` or `500 millis`. A size is a number of bytes or a text
 * such as `10 MB` or `10 MiB`. Relative paths are resolved against the working directory.
 *
 * Other top-level keys belong to the program: `Config.String("currency").pipe(Config.nested("shop"))` reads
 * `shop.currency` of the file, or `SHOP_CURRENCY`.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as LogLevel from "effect/LogLevel"
import type * as IpNetwork from "effect/net/IpNetwork"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as nodePath from "node:path"
import process from "node:process"
import { Lifetimes } from "../Security/SignIns.ts"
import type { InForce } from "./config/inForce.ts"
import { withSecretFiles } from "./config/secretFiles.ts"
import { configOf, settings } from "./config/settings.ts"

export type { InForce } from "./config/inForce.ts"

/**
 * Where to load the configuration from.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The folder of `cfg.yml`. Defaults to the folder of the start script or, if there is no such file, the working directory.
   * A relative path is resolved against the working directory.
   */
  readonly cfgDir?: string | undefined
  /** Whether the service may start without a file, on defaults and the environment. Defaults to true. */
  readonly enableDefaults?: boolean | undefined
  /**
   * Whether the service runs for development, where a missing file is no warning. Defaults to whether `NODE_ENV` is
   * `development` or `test`.
   */
  readonly development?: boolean | undefined
}

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
  /** The time in which a request has to arrive, including its body. Defaults to 60 seconds. */
  readonly requestTimeout?: Duration.Input | undefined
  /** The time in which the head of a request has to arrive, at most {@link requestTimeout}. Defaults to 20 seconds. */
  readonly headerTimeout?: Duration.Input | undefined
  /** The time for which a connection stays open without a request. Defaults to 75 seconds. */
  readonly idleTimeout?: Duration.Input | undefined
  /** The number of connections at once; more are closed. Defaults to any. */
  readonly maxConnections?: number | undefined
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
 * The limits of one request.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  /** The maximum bytes of a JSON body. Defaults to 1 MiB. */
  readonly maxBodySize: number
  /** The maximum bytes of a multipart body. Defaults to 10 MiB. */
  readonly maxMultipartSize: number
  /** The documents on a page if the request gives no size, at most {@link maxPageSize}. Defaults to 50. */
  readonly defaultPageSize: number
  /** The maximum number of documents on a page. Defaults to 1,000. */
  readonly maxPageSize: number
  /**
   * The maximum bytes of a page or of an aggregation's result, which always has at least one document. Beyond this
   * limit, a numbered page and an aggregation are a 400, and a cursor page ends early with its `next`. The server holds
   * four times as many bytes for larger responses at once; others wait, at most for {@link queryTimeout}. Defaults to
   * 16 MiB.
   */
  readonly maxPageBytes: number
  /** The maximum number of documents that an aggregation or a native query returns. Defaults to 10,000. */
  readonly maxResults: number
  /** The time after which the store aborts a query. Defaults to 5 seconds. */
  readonly queryTimeout: Duration.Duration
  /**
   * Whether a page leaves out stored documents that do not fit the model. It has their number in the header
   * `X-Unreadable-Count`. Defaults to false: the page is a 500. Both log the identifiers.
   */
  readonly skipUnreadable: boolean
}

/**
 * Occurs when the configuration can't be used: a required file is missing, the file is no valid YAML, or values are
 * wrong. `problems` has a sentence for each problem, none of which quotes a value. A retry fails again.
 *
 * @category errors
 * @since 0.1.0
 */
export class ConfigurationInvalid extends Schema.TaggedError<ConfigurationInvalid>()("ConfigurationInvalid", {
  problems: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `The configuration is wrong: ${this.problems.join("; ")}`
  }
}

/**
 * The current limits.
 *
 * @category references
 * @since 0.1.0
 */
export const Limits: Context.Reference<Limits> = Context.Reference<Limits>("appkernel/Http/KernelConfig/Limits", {
  defaultValue: () => ({
    maxBodySize: 1_048_576,
    maxMultipartSize: 10_485_760,
    defaultPageSize: 50,
    maxPageSize: 1_000,
    maxPageBytes: 16_777_216,
    maxResults: 10_000,
    queryTimeout: Duration.seconds(5),
    skipUnreadable: false
  })
})

/**
 * `server.address` and `server.port`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const serverAddress: Config.Config<ServerAddress> = Config.all({
  address: configOf(settings.serverAddress, "127.0.0.1"),
  port: configOf(settings.serverPort, 5000)
})

/**
 * The keys of `server` except address and port.
 *
 * @category configuration
 * @since 0.1.0
 */
export const server: Config.Config<ServerOptions> = Config.all({
  address: configOf(settings.serverAddress, "127.0.0.1"),
  port: configOf(settings.serverPort, 5000),
  backlog: configOf(settings.serverBacklog, undefined),
  shutdownTimeout: configOf(settings.serverShutdownTimeout, undefined),
  requestTimeout: configOf(settings.serverRequestTimeout, undefined),
  headerTimeout: configOf(settings.serverHeaderTimeout, undefined),
  idleTimeout: configOf(settings.serverIdleTimeout, undefined),
  maxConnections: configOf(settings.serverMaxConnections, undefined)
})

/**
 * `server.shutdown_delay`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const shutdownDelay: Config.Config<Duration.Duration> = configOf(settings.serverShutdownDelay, Duration.zero)

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
export const health: Config.Config<HealthOptions> = Config.all({
  enabled: configOf(settings.healthEnabled, undefined),
  timeout: configOf(settings.healthTimeout, Duration.seconds(2)),
  minDiskSpace: configOf(settings.healthMinDiskSpace, 104_857_600),
  openBreakers: configOf(settings.healthOpenBreakers, "report" as const)
})

/**
 * `metrics.enabled`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const metricsEnabled: Config.Config<boolean> = configOf(settings.metricsEnabled, false)

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
export const telemetry: Config.Config<TelemetryOptions> = Config.all({
  endpoint: configOf(settings.telemetryEndpoint, undefined),
  headers: configOf(settings.telemetryHeaders, undefined),
  signals: configOf(settings.telemetrySignals, ["traces", "metrics"] as const),
  sampleRatio: configOf(settings.telemetrySampleRatio, 1),
  interval: configOf(settings.telemetryInterval, Duration.seconds(5))
})

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
export const overload: Config.Config<OverloadOptions> = Config.all({
  maxRequests: configOf(settings.overloadMaxRequests, undefined),
  maxRequestsPerRoute: configOf(settings.overloadMaxRequestsPerRoute, undefined),
  maxDelay: configOf(settings.overloadMaxDelay, undefined),
  retryAfter: configOf(settings.overloadRetryAfter, Duration.seconds(1))
})

/**
 * `compression.min_size`; `undefined` unless `compression.enabled`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const compression: Config.Config<number | undefined> = Config.all({
  isEnabled: configOf(settings.compressionEnabled, false),
  minSize: configOf(settings.compressionMinSize, 1_024)
}).pipe(Config.map(({ isEnabled, minSize }) => isEnabled ? minSize : undefined))

/**
 * Where the audit log is written, and what it has.
 *
 * @category models
 * @since 0.1.0
 */
export interface AuditOptions {
  /** Defaults to `none`. */
  readonly to: "none" | "log" | "collection"
  /** Whether it has reads, of registrations that don't say so. Defaults to false. */
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
export const audit: Config.Config<AuditOptions> = Config.all({
  to: configOf(settings.auditTo, "none" as const),
  reads: configOf(settings.auditReads, false),
  collection: configOf(settings.auditCollection, "AuditEntry")
})

/**
 * `server.trusted_proxies` and `server.forwarded_header`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const proxies: Config.Config<ProxyOptions> = Config.all({
  trustedProxies: configOf(settings.serverTrustedProxies, []),
  forwardedHeader: configOf(settings.serverForwardedHeader, "x-forwarded-for" as const)
})

/**
 * `server.response_timeout`; `undefined` without one.
 *
 * @category configuration
 * @since 0.1.0
 */
export const responseTimeout: Config.Config<Duration.Duration | undefined> = configOf(
  settings.serverResponseTimeout,
  undefined
)

/**
 * The keys of `logging`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const logging: Config.Config<LoggingOptions> = Config.all({
  level: Config.map(
    configOf(settings.loggingLevel, undefined),
    (name) => LogLevel.values.find((level) => level.toLowerCase() === name)
  ),
  fileName: configOf(settings.loggingFileName, undefined),
  maxSize: configOf(settings.loggingMaxSize, 10_485_760),
  backupCount: configOf(settings.loggingBackupCount, 5)
})

/**
 * The limits. Unset keys take their values from `otherwise`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const limits = (otherwise: Limits): Config.Config<Limits> =>
  Config.all({
    maxBodySize: configOf(settings.serverMaxBodySize, otherwise.maxBodySize),
    maxMultipartSize: configOf(settings.serverMaxMultipartSize, otherwise.maxMultipartSize),
    defaultPageSize: configOf(settings.queryDefaultPageSize, otherwise.defaultPageSize),
    maxPageSize: configOf(settings.queryMaxPageSize, otherwise.maxPageSize),
    maxPageBytes: configOf(settings.queryMaxPageBytes, otherwise.maxPageBytes),
    maxResults: configOf(settings.queryMaxResults, otherwise.maxResults),
    queryTimeout: configOf(settings.queryTimeout, otherwise.queryTimeout),
    skipUnreadable: configOf(settings.querySkipUnreadable, otherwise.skipUnreadable)
  }).pipe(
    Config.map((limits) => ({ ...limits, defaultPageSize: Math.min(limits.defaultPageSize, limits.maxPageSize) }))
  )

/**
 * The lifetimes of tokens. Unset keys take their values from `otherwise`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const lifetimes = (otherwise: Lifetimes): Config.Config<Lifetimes> =>
  Config.all({
    accessToken: configOf(settings.securityAccessTokenLifetime, otherwise.accessToken),
    refreshToken: configOf(settings.securityRefreshTokenLifetime, otherwise.refreshToken),
    revocationDelay: configOf(settings.securityRevocationDelay, otherwise.revocationDelay)
  })

/**
 * `security.cursor_secret`. Processes with the same secret accept each other's cursors.
 *
 * @category configuration
 * @since 0.1.0
 */
export const cursorSecret: Config.Config<Redacted.Redacted | undefined> = configOf(
  settings.securityCursorSecret,
  undefined
)

/**
 * `migrations.on_start`: what a start does while migrations have not run.
 *
 * @category configuration
 * @since 0.1.0
 */
export const migrationsOnStart: Config.Config<"refuse" | "wait" | "run" | "ignore"> = configOf(
  settings.migrationsOnStart,
  "refuse" as const
)

/**
 * A loaded and validated configuration.
 *
 * @category models
 * @since 0.1.0
 */
export interface Loaded {
  /** The provider of all `Config`, the {@link Limits} and the lifetimes of tokens. */
  readonly context: Context.Context<never>
  /** The folder of the file: where it is or, if there is none, where it is looked for first. */
  readonly cfgDir: string
  /** Logs which file was read, or that there is none, and a warning for each unknown key. */
  readonly log: Effect.Effect<void>
  /** All keys with their values, and where these come from. Secrets are masked. */
  readonly inForce: ReadonlyArray<InForce>
}

/**
 * Loads the file once, and validates all its keys and those of the environment, which the current `ConfigProvider`
 * provides. By default that is the process's environment.
 *
 * @category constructors
 * @since 0.1.0
 */
export const load: (
  options?: Options
) => Effect.Effect<Loaded, ConfigurationInvalid | Config.ConfigError, FileSystem.FileSystem> = Effect.fnUntraced(
  function*(options?: Options) {
    const plain = yield* ConfigProvider.ConfigProvider
    const environment = withSecretFiles(plain, yield* FileSystem.FileSystem)
    const configFile = yield* Effect.promise(() => import("./config/file.ts"))
    const folders = options?.cfgDir === undefined ? [...new Set([folderOfStartScript(), "."])] : [options.cfgDir]
    let [cfgDir = "."] = folders
    let text: string | undefined
    for (const folder of folders) {
      const file = nodePath.join(folder, "cfg.yml")
      text = yield* Effect.mapError(configFile.read(file), (detail) => invalid(`${file}: ${detail}`))
      if (text === undefined) continue
      cfgDir = folder
      break
    }
    const file = nodePath.join(cfgDir, "cfg.yml")
    if (text === undefined && options?.enableDefaults === false) return yield* invalid(`there is no file ${file}`)
    // The parser of YAML is loaded by programs that have a file, and by no others.
    const content: Result.Result<unknown, string> = text === undefined
      ? Result.succeed(undefined)
      : (yield* Effect.promise(() => import("./config/yaml.ts"))).parse(text)
    if (Result.isFailure(content)) return yield* invalid(`${file}, ${content.failure}`)
    const { problems, warnings } = yield* Effect.mapError(
      configFile.check(environment, content.success, file),
      (error) => new Config.ConfigError(error)
    )
    if (problems.length > 0) return yield* invalid(...problems)
    const { inForce } = yield* Effect.promise(() => import("./config/inForce.ts"))
    const provider = configFile.layered(environment, content.success)
    const context = Context.make(ConfigProvider.ConfigProvider, provider).pipe(
      Context.add(Limits, yield* limits(yield* Limits).parse(provider)),
      Context.add(Lifetimes, yield* lifetimes(yield* Lifetimes).parse(provider)),
      Context.add(IsLoaded, true)
    )
    const nodeEnvironment = (yield* Effect.mapError(
      environment.load(["NODE_ENV"]),
      (error) => new Config.ConfigError(error)
    ))?.value
    const isDevelopment = options?.development ?? ["development", "test"].includes(nodeEnvironment ?? "")
    // An explicit folder implies that a file is expected there.
    const logAbsence = options?.cfgDir === undefined && isDevelopment ? Effect.logInfo : Effect.logWarning
    const places = [...new Set(folders.map((folder) => nodePath.resolve(folder, "cfg.yml")))]
    const notice = text === undefined
      ? logAbsence(`There is no configuration file ${places.join(" or ")}: only the environment is read`)
      : Effect.logInfo(`The configuration is read from ${nodePath.resolve(file)}`)
    const loaded: Loaded = {
      context,
      inForce: yield* Effect.mapError(
        inForce({ environment: plain, given: environment, content: content.success, file }),
        (error) => new Config.ConfigError(error)
      ),
      cfgDir,
      log: Effect.andThen(notice, Effect.forEach(warnings, (warning) => Effect.logWarning(warning), { discard: true }))
    }
    return loaded
  }
)

/**
 * {@link load} as a layer: it provides all `Config` and the {@link Limits} to everything it is provided to, including
 * stores. It logs which file was read, and a warning for each unknown key. `engine.launch` includes it.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options?: Options
): Layer.Layer<never, ConfigurationInvalid | Config.ConfigError, FileSystem.FileSystem> =>
  Layer.effectContext(Effect.flatMap(load(options), ({ context, log }) => Effect.as(log, context)))

/**
 * Whether a configuration is loaded.
 *
 * @internal
 */
export const IsLoaded: Context.Reference<boolean> = Context.Reference<boolean>("appkernel/Http/KernelConfig/IsLoaded", {
  defaultValue: () => false
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const invalid = (...problems: ReadonlyArray<string>) => new ConfigurationInvalid({ problems })

const folderOfStartScript = (): string => {
  const script = process.argv[1]
  return script === undefined ? "." : nodePath.dirname(script)
}
