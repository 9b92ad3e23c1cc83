/** The table of all configuration keys: types, parsers, defaults, and what messages may show of a value. */
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as IpNetwork from "effect/net/IpNetwork"
import * as NetAddress from "effect/net/NetAddress"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { booleanOf } from "../../internal/booleans.ts"
import { durationOf } from "../../internal/keyConfig.ts"
import type { Rate } from "../../internal/rateLimiter.ts"
import { bytesOf } from "../../internal/sizes.ts"

/** The type of a value, as named in messages. */
export type Kind = "text" | "a number" | "true or false" | "a list" | "a mapping"

/** One key under `appkernel`. */
export interface Setting<A> {
  /** The path without `appkernel`: `server.port`. */
  readonly key: string
  /** The expectation, to follow "expected". */
  readonly expected: string
  /** The types that a file may have here. An environment has texts only. */
  readonly kinds: ReadonlyArray<Kind>
  /** Parses a text, of a list its parts separated by commas; `undefined` if it is not as expected. */
  readonly parse: (text: string) => A | undefined
  /** What people may see of a text. */
  readonly shown: (text: string) => string
  /** The default, for people. */
  readonly otherwise: string
}

const setting = <A>(
  expected: string,
  kinds: ReadonlyArray<Kind>,
  parse: (text: string) => A | undefined,
  shown = (text: string) => text
) =>
(key: string, otherwise = "none"): Setting<A> => ({ key, expected, kinds, parse, shown, otherwise })

const masked = "(secret)"

/** A URL without what is in front of its host, and without parameters that may be secrets. */
const withoutCredentials = (url: string): string =>
  url.replace(/^([a-z][\w+.-]*:\/\/)?.*@/siu, `$1${masked}@`)
    .replaceAll(/([?&][^=&#]*(?:password|secret|token|key|properties)[^=&#]*=)[^&#]+/giu, `$1${masked}`)

/** Texts accept no numbers, since YAML does not preserve a number's notation. */
const text = setting("text", ["text"], (value) => value)

const address = setting("text", ["text"], (value) => value, withoutCredentials)

const secret = setting(
  "a text of at least 32 characters",
  ["text"],
  (value) => value.length < 32 ? undefined : Redacted.make(value),
  () => masked
)

const texts = setting("a list of texts, or one text separated by commas", ["text", "a list"], (value) => value)

const numberBetween = (minimum: number, maximum: number) => (value: string): number | undefined => {
  const number = /^\s*\d+\s*$/u.test(value) ? Number(value) : NaN
  return number >= minimum && number <= maximum ? number : undefined
}

const integer = (minimum: number, maximum: number) =>
  setting(
    `a whole number from ${minimum} to ${maximum}`,
    ["a number", "text"],
    numberBetween(minimum, maximum)
  )

const size = setting(
  "a number of bytes, or a size such as \"10 MB\" or \"10 MiB\"",
  ["a number", "text"],
  (value) => bytesOf(value)
)

const workers = setting(
  "a whole number from 1 to 256, or auto",
  ["a number", "text"],
  (value) => value.trim().toLowerCase() === "auto" ? "auto" : numberBetween(1, 256)(value)
)

/** Node's timers support up to 24 days. No setting with a timer needs more than one. */
const maxDuration = Duration.days(1)

const duration = (minimum: Duration.Duration, maximum = maxDuration) =>
  setting(
    `a number of seconds, or a time such as "30 seconds" or "500 millis", ${
      Duration.isZero(minimum) ? "" : `from ${Duration.format(minimum)} `
    }up to ${Duration.equals(maximum, maxDuration) ? "a day" : Duration.format(maximum)}`,
    ["a number", "text"],
    (value) => {
      const time = durationOf(value)
      return time !== undefined && Duration.between(time, { minimum, maximum }) ? time : undefined
    }
  )

/** The parts of a list; none of an empty text. */
const partsOf = (value: string): ReadonlyArray<string> =>
  value.split(",").map((part) => part.trim()).filter((part) => part !== "")

/** The values of all parts; `undefined` if one is not as expected. */
const all = <A>(value: string, parse: (part: string) => A | undefined): ReadonlyArray<A> | undefined => {
  const parsed = partsOf(value).map((part) => parse(part))
  return parsed.every((one) => one !== undefined) ? parsed : undefined
}

/** A network, or an address as the network of itself. An IPv4-mapped one is IPv4 (RFC 4291, section 2.5.5.2). */
const networkOf = (text: string): IpNetwork.IpNetwork | undefined => {
  const network = text.includes("/")
    ? IpNetwork.fromString(text)
    : Result.map(
      NetAddress.ipFromString(text),
      (address) => IpNetwork.fromAddressUnsafe(address, NetAddress.width(address))
    )
  if (Result.isFailure(network)) return undefined
  const { address, prefixLength } = network.success
  const canonical = NetAddress.toCanonical(address)
  return canonical === address
    ? network.success
    : prefixLength < 96
    ? undefined
    : IpNetwork.fromAddressUnsafe(canonical, prefixLength - 96)
}

const networks = setting(
  "IP addresses and networks such as 10.0.0.0/8, as a list or separated by commas",
  ["text", "a list"],
  (value) => all(value, networkOf)
)

/** `300 per minute`, `10 per 5 minutes`. */
const rateOf = (text: string): Rate | undefined => {
  const [, limit = "", window = ""] = /^\s*(\d{1,9})\s+per\s+(.+)$/u.exec(text) ?? []
  const time = durationOf(/^\d/u.test(window) ? window : `1 ${window}`)
  return Number(limit) >= 1 && time !== undefined &&
      Duration.between(time, { minimum: Duration.seconds(1), maximum: maxDuration })
    ? { limit: Number(limit), window: time }
    : undefined
}

const rate = setting("a number of requests and a time up to a day, such as 300 per minute", ["text"], rateOf)

/** Browsers send origins in lower case and without a default port. */
const originOf = (text: string): string | undefined => {
  if (text === "*") return text
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isOrigin = /^[a-z][a-z\d+.-]*:\/\/[^/?#@\s]+$/iu.test(text)
  return url === undefined || !isOrigin ? undefined : url.origin === "null" ? text.toLowerCase() : url.origin
}

const origins = setting("* or origins such as https://app.example.com, as a list or separated by commas", [
  "text",
  "a list"
], (value) => all(value, originOf))

const token = /^[\w!#$%&'*+.^`|~-]+$/u

const names = (nameOf: (part: string) => string) =>
  setting(
    "names, as a list or separated by commas",
    ["text", "a list"],
    (value) => all(value, (part) => token.test(part) ? nameOf(part) : undefined)
  )

const portion = setting("a number from 0 to 1", ["a number", "text"], (value) => {
  const number = value.trim() === "" ? NaN : Number(value)
  return number >= 0 && number <= 1 ? number : undefined
})

const signalNames = ["traces", "metrics", "logs"] as const

const signals = setting(
  "traces, metrics or logs, as a list or separated by commas",
  ["text", "a list"],
  (value) => all(value, (part) => signalNames.find((one) => one === part))
)

/** `authorization=Bearer …`, as OpenTelemetry writes headers. */
const headers = setting(
  "headers such as x-api-key=secret, as a list or separated by commas",
  ["text", "a list"],
  (value) => {
    const pairs = all(value, (part) => {
      const [, name = "", text = ""] = /^([\w-]+)=(.+)$/u.exec(part) ?? []
      return name === "" ? undefined : [name, text] as const
    })
    return pairs === undefined ? undefined : Redacted.make(Object.fromEntries(pairs))
  },
  () => masked
)

const url = setting("a URL of http or https", ["text"], (value) => {
  const parsed = URL.canParse(value) ? new URL(value) : undefined
  if (parsed?.protocol !== "http:" && parsed?.protocol !== "https:") return undefined
  return value.endsWith("/") ? value.slice(0, -1) : value
}, withoutCredentials)

const boolean = setting("true or false", ["true or false", "text"], (value) => booleanOf(value))

const oneOf = <const A extends string>(...values: ReadonlyArray<A>) =>
  setting(
    `one of ${values.join(", ")}`,
    ["text"],
    (value) => values.find((one) => one === value.trim().toLowerCase())
  )

/** All keys of the configuration. */
export const settings = {
  loggingLevel: oneOf("all", "trace", "debug", "info", "warn", "error", "fatal", "none")(
    "logging.level",
    "what the program says, otherwise info"
  ),
  loggingFileName: text("logging.file_name"),
  loggingMaxSize: size("logging.max_size", "10 MiB"),
  loggingBackupCount: integer(0, 1_000)("logging.backup_count", "5"),
  serverAddress: text("server.address", "127.0.0.1"),
  serverPort: integer(0, 65_535)("server.port", "5000"),
  serverShutdownTimeout: duration(Duration.zero)("server.shutdown_timeout", "20 seconds"),
  serverBacklog: integer(1, 65_535)("server.backlog", "511"),
  serverMaxBodySize: size("server.max_body_size", "1 MiB"),
  serverMaxMultipartSize: size("server.max_multipart_size", "10 MiB"),
  serverRequestTimeout: duration(Duration.millis(100))("server.request_timeout", "60 seconds"),
  serverHeaderTimeout: duration(Duration.millis(100))("server.header_timeout", "20 seconds"),
  serverResponseTimeout: duration(Duration.millis(1))("server.response_timeout"),
  serverTrustedProxies: networks("server.trusted_proxies"),
  serverForwardedHeader: oneOf("x-forwarded-for", "forwarded")("server.forwarded_header", "x-forwarded-for"),
  serverShutdownDelay: duration(Duration.zero)("server.shutdown_delay"),
  serverIdleTimeout: duration(Duration.millis(1))("server.idle_timeout", "75 seconds"),
  serverMaxConnections: integer(1, 1_000_000)("server.max_connections"),
  serverMaxFields: integer(1, 1_000_000)("server.max_fields", "1,000"),
  serverKillTimeout: duration(Duration.zero)("server.kill_timeout", "30 seconds"),
  serverWorkers: workers("server.workers", "1"),
  serverOnKnownId: oneOf("replace", "error")("server.on_known_id", "replace"),
  healthEnabled: boolean("health.enabled", "false"),
  healthTimeout: duration(Duration.millis(1))("health.timeout", "2 seconds"),
  healthMinDiskSpace: size("health.min_disk_space", "100 MiB"),
  healthOpenBreakers: oneOf("report", "fail")("health.open_breakers", "report"),
  metricsEnabled: boolean("metrics.enabled", "false"),
  telemetryEndpoint: url("telemetry.endpoint", "none: nothing is sent"),
  telemetryHeaders: headers("telemetry.headers"),
  telemetrySignals: signals("telemetry.signals", "traces and metrics"),
  telemetrySampleRatio: portion("telemetry.sample_ratio", "1"),
  telemetryInterval: duration(Duration.millis(100))("telemetry.interval", "5 seconds"),
  overloadMaxRequests: integer(1, 1_000_000)("overload.max_requests"),
  overloadMaxRequestsPerRoute: integer(1, 1_000_000)("overload.max_requests_per_route"),
  overloadMaxDelay: duration(Duration.millis(1))("overload.max_delay"),
  overloadRetryAfter: duration(Duration.seconds(1))("overload.retry_after", "1 second"),
  liveMaxStreams: integer(1, 1_000_000)("live.max_streams", "10,000"),
  liveMaxStreamsPerCaller: integer(1, 1_000_000)("live.max_streams_per_caller", "100"),
  liveHeartbeat: duration(Duration.millis(100))("live.heartbeat", "15 seconds"),
  livePollTimeout: duration(Duration.millis(1))("live.poll_timeout", "20 seconds"),
  errorsFormat: oneOf("message", "problem")("errors.format", "message"),
  errorsDocumentation: url("errors.documentation", "none: about:blank"),
  compressionEnabled: boolean("compression.enabled", "false"),
  compressionMinSize: size("compression.min_size", "1 KiB"),
  auditTo: oneOf("none", "log", "collection")("audit.to", "none"),
  auditReads: boolean("audit.reads", "false"),
  auditCollection: text("audit.collection", "AuditEntry"),
  rateLimitsPerAddress: rate("rate_limits.per_address", "none, or 600 per minute if the engine enables limits"),
  rateLimitsPerCaller: rate("rate_limits.per_caller"),
  corsOrigins: origins("cors.origins"),
  corsMethods: names((name) => name.toUpperCase())("cors.methods", "all of the endpoints"),
  corsHeaders: names((name) => name)("cors.headers", "those that the engine reads, and those of traces"),
  corsCredentials: boolean("cors.credentials", "false"),
  corsMaxAge: duration(Duration.zero)("cors.max_age", "1 hour"),
  mongoHost: address("mongo.host", "localhost"),
  mongoDb: text("mongo.db", "the URL's, or app"),
  mongoConnectTimeout: duration(Duration.millis(1))("mongo.connect_timeout", "5 seconds"),
  mongoServerSelectionTimeout: duration(Duration.millis(1))("mongo.server_selection_timeout", "mongo.connect_timeout"),
  mongoSocketTimeout: duration(Duration.millis(1))("mongo.socket_timeout", "30 seconds"),
  clientMaxConnections: integer(1, 65_535)("client.max_connections", "100"),
  clientMaxKeepaliveConnections: integer(0, 65_535)("client.max_keepalive_connections", "20"),
  clientKeepaliveExpiry: duration(Duration.zero)("client.keepalive_expiry", "30 seconds"),
  clientConnectTimeout: duration(Duration.millis(1))("client.connect_timeout", "2 seconds"),
  clientReadTimeout: duration(Duration.millis(1))("client.read_timeout", "10 seconds"),
  clientCallTimeout: duration(Duration.millis(1))("client.call_timeout", "3 seconds"),
  clientUploadTimeout: duration(Duration.millis(1))("client.upload_timeout", "60 seconds"),
  clientDownloadTimeout: duration(Duration.millis(1))("client.download_timeout", "30 seconds"),
  clientWriteTimeout: duration(Duration.millis(1))("client.write_timeout", "5 seconds"),
  clientPoolTimeout: duration(Duration.zero)("client.pool_timeout", "5 seconds"),
  clientMaxQueued: integer(0, 1_000_000)("client.max_queued", "1,000"),
  clientMaxResponseSize: size("client.max_response_size", "64 MiB"),
  clientShutdownTimeout: duration(Duration.zero)("client.shutdown_timeout", "20 seconds"),
  clientFailureThreshold: integer(1, 1_000_000)(
    "client.circuit_breaker.failure_threshold",
    "5; without any of these keys, there are no breakers"
  ),
  clientRecoveryTimeout: duration(Duration.millis(1))("client.circuit_breaker.recovery_timeout", "30 seconds"),
  clientHalfOpenMaxCalls: integer(1, 65_535)("client.circuit_breaker.half_open_max_calls", "1"),
  embeddedPath: text("embedded.path", "./data"),
  filesReadableBy: oneOf("owner", "group", "everybody")("files.readable_by", "owner"),
  cacheRecords: size("cache.records", "32 MiB"),
  i18nLanguages: texts("i18n.languages"),
  i18nPath: text("i18n.path", "./translations"),
  queryDefaultPageSize: integer(1, 1_000_000)("query.default_page_size", "50"),
  queryMaxPageSize: integer(1, 1_000_000)("query.max_page_size", "1,000"),
  queryMaxPageBytes: size("query.max_page_bytes", "16 MiB"),
  queryMaxResults: integer(1, 10_000_000)("query.max_results", "10,000"),
  queryTimeout: duration(Duration.millis(1))("query.timeout", "5 seconds"),
  querySkipUnreadable: boolean("query.skip_unreadable", "false: such a page is a 500"),
  migrationsOnStart: oneOf("refuse", "wait", "run", "ignore")("migrations.on_start", "refuse"),
  securityPrivateKeyPath: text("security.private_key_path"),
  securityPublicKeyPath: text("security.public_key_path"),
  securityAccessTokenLifetime: duration(Duration.seconds(1))("security.access_token_lifetime", "15 minutes"),
  securityRefreshTokenLifetime: duration(Duration.seconds(1), Duration.days(3_650))(
    "security.refresh_token_lifetime",
    "30 days"
  ),
  securityRevocationDelay: duration(Duration.zero)("security.revocation_delay", "30 seconds"),
  securityCursorSecret: secret("security.cursor_secret", "a random one for each process")
} as const

export const root = "appkernel"

/** The path of a key in the environment: `["APPKERNEL", "SERVER", "PORT"]`. */
export const pathOf = (key: string): ReadonlyArray<string> =>
  [root, ...key.split(".")].map((part) => part.toUpperCase())

/** The path of a key in the file, and in a configuration that a program gives: `["appkernel", "server", "port"]`. */
export const filePathOf = (key: string): ReadonlyArray<string> => [root, ...key.split(".")]

/** The environment variable of a key: `APPKERNEL_SERVER_PORT`. */
export const variableOf = (key: string): string => pathOf(key).join("_")

/** The `Config` of a setting; `otherwise` if it is not set. */
export const configOf = <A, B>({ expected, key, kinds, parse }: Setting<A>, otherwise: B): Config.Config<A | B> => {
  const textAt = (path: ReadonlyArray<string>) =>
    kinds.includes("a list")
      ? Config.map(Config.Array(Schema.String, [...path]), (parts) => parts.join())
      : Config.schema(Schema.String, [...path])
  return textAt(pathOf(key)).pipe(
    Config.orElse(() => textAt(filePathOf(key))),
    Config.mapEffect((value) => {
      const parsed = parse(value)
      return parsed === undefined
        ? Effect.fail(configError(`${variableOf(key)}: expected ${expected}`))
        : Effect.succeed(parsed)
    }),
    Config.map((value): A | B => value),
    Config.withDefault(otherwise)
  )
}

const configError = (message: string) => new Config.ConfigError(new ConfigProvider.SourceError({ message }))
