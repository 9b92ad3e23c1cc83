import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import {
  Config,
  ConfigProvider,
  Duration,
  Effect,
  FileSystem,
  Layer,
  Logger,
  Option,
  PlatformError,
  Redacted
} from "effect"
import { IpNetwork } from "effect/net"
import { writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { parse } from "yaml"
import * as HttpClientConfig from "../../src/Client/HttpClientConfig.ts"
import * as Cors from "../../src/Http/Cors.ts"
import * as KernelConfig from "../../src/Http/KernelConfig.ts"
import * as RateLimits from "../../src/Http/RateLimits.ts"
import * as Translations from "../../src/Http/Translations.ts"
import { configOf } from "../../src/internal/configurationKeys.ts"
import { fileModes } from "../../src/internal/fileModes.ts"
import * as EmbeddedStore from "../../src/Repository/EmbeddedStore.ts"
import * as MongoStore from "../../src/Repository/MongoStore.ts"
import { Lifetimes } from "../../src/Security/SignIns.ts"
import { freshDirectory } from "../support/folders.ts"
import { runProgram } from "../support/processes.ts"

const notFound = (path: string) =>
  PlatformError.systemError({ _tag: "NotFound", module: "FileSystem", method: "readFile", pathOrDescriptor: path })

interface Source {
  /** The text of `/etc/shop/cfg.yml`; without it there is no file. */
  readonly file?: string | undefined
  readonly env?: { readonly [name: string]: string }
  readonly enableDefaults?: boolean
}

const layerOf = (
  { enableDefaults, env, file }: Source,
  provider = ConfigProvider.fromEnv({ env: { ...env } })
) => {
  const files = FileSystem.layerNoop({
    readFileString: (path) =>
      file !== undefined && path === "/etc/shop/cfg.yml" ? Effect.succeed(file) : Effect.fail(notFound(path))
  })
  const environment = ConfigProvider.layer(provider)
  return KernelConfig.layer({ cfgDir: "/etc/shop", ...(enableDefaults === undefined ? {} : { enableDefaults }) }).pipe(
    Layer.provide([files, environment])
  )
}

const configured = <A, E>(source: Source, effect: Effect.Effect<A, E>) => Effect.provide(effect, layerOf(source))

const problemsOf = (source: Source) =>
  Effect.map(
    Effect.flip(configured(source, Effect.void)),
    (error) => error._tag === "ConfigurationInvalid" ? error.problems : assert.fail(String(error))
  )

/** What the log says when a configuration is read, with the level before it. */
const logOf = Effect.fnUntraced(function*<E>(layer: Layer.Layer<never, E>) {
  const lines: Array<string> = []
  const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
    lines.push(`${logLevel} ${String(message)}`)
  })
  yield* Effect.provide(Effect.void, Layer.provide(layer, Logger.layer([logger])))
  return lines
})

const warningsOf = (source: Source) =>
  Effect.map(
    logOf(layerOf(source)),
    (lines) => lines.filter((line) => line.startsWith("Warn ")).map((line) => line.slice("Warn ".length))
  )

const everything = Effect.gen(function*() {
  const { host, ...mongo } = yield* MongoStore.config
  return {
    server: yield* KernelConfig.server,
    responseTimeout: yield* KernelConfig.responseTimeout,
    shutdownDelay: yield* KernelConfig.shutdownDelay,
    killTimeout: yield* KernelConfig.killTimeout,
    workers: yield* KernelConfig.workers,
    health: yield* KernelConfig.health,
    metricsEnabled: yield* KernelConfig.metricsEnabled,
    telemetry: yield* Effect.map(KernelConfig.telemetry, ({ headers, ...telemetry }) => ({
      ...telemetry,
      headers: headers === undefined ? undefined : Redacted.value(headers)
    })),
    overload: yield* KernelConfig.overload,
    live: yield* KernelConfig.live,
    errors: yield* KernelConfig.errors,
    compression: yield* KernelConfig.compression,
    audit: yield* KernelConfig.audit,
    logging: yield* KernelConfig.logging,
    proxies: yield* Effect.map(KernelConfig.proxies, ({ forwardedHeader, trustedProxies }) => ({
      forwardedHeader,
      trustedProxies: trustedProxies.map((network) => IpNetwork.format(network))
    })),
    rateLimits: yield* RateLimits.config,
    cors: yield* Cors.config,
    limits: yield* KernelConfig.Limits,
    idempotency: yield* KernelConfig.idempotency,
    mail: { url: yield* configOf("mail.url"), from: yield* configOf("mail.from") },
    lifetimes: yield* Lifetimes,
    migrationsOnStart: yield* KernelConfig.migrationsOnStart,
    cursorSecret: yield* KernelConfig.cursorSecret,
    keptTexts: yield* KernelConfig.keptTexts,
    mongo: { host: Redacted.isRedacted(host) ? Redacted.value(host) : host, ...mongo },
    client: yield* HttpClientConfig.config,
    embedded: yield* EmbeddedStore.config,
    files: yield* fileModes,
    i18n: yield* Translations.config
  }
})

const expected = {
  server: {
    address: "0.0.0.0",
    port: 8080,
    backlog: 100,
    shutdownTimeout: Duration.seconds(3),
    requestTimeout: Duration.millis(1_500),
    headerTimeout: Duration.seconds(1),
    idleTimeout: Duration.seconds(65),
    maxConnections: 20_000,
    maxFields: 64
  },
  shutdownDelay: Duration.seconds(5),
  killTimeout: Duration.seconds(15),
  workers: 4,
  health: {
    enabled: true,
    timeout: Duration.seconds(1),
    minDiskSpace: 1_073_741_824,
    openBreakers: "fail" as const
  },
  metricsEnabled: true,
  telemetry: {
    endpoint: "http://collector:4318",
    headers: { "x-key": "a=b", authorization: "Bearer c" },
    signals: ["traces" as const, "logs" as const],
    sampleRatio: 0.25,
    interval: Duration.seconds(2)
  },
  overload: {
    maxRequests: 200,
    maxRequestsPerRoute: 100,
    maxDelay: Duration.millis(20),
    retryAfter: Duration.seconds(3)
  },
  live: {
    maxStreams: 500,
    maxStreamsPerCaller: 5,
    heartbeat: Duration.seconds(30),
    pollTimeout: Duration.seconds(10)
  },
  errors: { format: "problem" as const, documentation: "https://shop.example/errors" },
  compression: 2_048,
  responseTimeout: Duration.seconds(30),
  proxies: { forwardedHeader: "forwarded" as const, trustedProxies: ["10.0.0.0/8", "192.0.2.1/32", "2001:db8::/32"] },
  rateLimits: {
    perAddress: { limit: 300, window: Duration.minutes(1) },
    perCaller: { limit: 10, window: Duration.minutes(5) }
  },
  cors: {
    origins: ["https://shop.example", "http://localhost:5173"],
    methods: ["GET", "POST"],
    headers: ["Authorization", "X-Own"],
    credentials: true,
    maxAge: Duration.minutes(5)
  },
  audit: { to: "collection" as const, reads: true, collection: "Trail" },
  logging: { level: "Debug" as const, fileName: "shop.log", maxSize: 10_000_000, backupCount: 7 },
  limits: {
    maxBodySize: 2_048,
    maxMultipartSize: 5_242_880,
    maxFields: 64,
    defaultPageSize: 20,
    maxPageSize: 100,
    maxPageBytes: 4_000_000,
    maxResults: 500,
    maxExpandPaths: 4,
    maxExpandDepth: 2,
    maxExpanded: 300,
    maxMany: 40,
    queryTimeout: Duration.millis(250),
    skipUnreadable: true,
    onKnownId: "error" as const,
    idempotencyKeys: "required" as const
  },
  idempotency: { keep: Duration.hours(2), maxAnswerSize: 2_048 },
  mail: { url: "smtp://shop:secret@mail.example.org", from: "shop@example.org" },
  lifetimes: {
    accessToken: Duration.minutes(5),
    refreshToken: Duration.days(90),
    revocationDelay: Duration.millis(2_500)
  },
  migrationsOnStart: "wait" as const,
  cursorSecret: Redacted.make("a secret of 32 or more characters"),
  keptTexts: 8_388_608,
  mongo: {
    host: "mongodb://shop:secret@db.example.org/",
    db: "shop",
    connectTimeout: Duration.seconds(2),
    serverSelectionTimeout: Duration.millis(1_500),
    socketTimeout: Duration.minutes(1)
  },
  client: {
    maxConnections: 50,
    maxKeepaliveConnections: 0,
    keepaliveExpiry: Duration.seconds(20),
    connectTimeout: Duration.seconds(1),
    readTimeout: Duration.seconds(4),
    callTimeout: Duration.seconds(5),
    uploadTimeout: Duration.minutes(2),
    downloadTimeout: Duration.seconds(90),
    writeTimeout: Duration.seconds(3),
    poolTimeout: Duration.millis(500),
    maxQueued: 200,
    maxResponseSize: 1_048_576,
    shutdownTimeout: Duration.seconds(8),
    circuitBreaker: { failureThreshold: 3, recoveryTimeout: Duration.minutes(1), halfOpenMaxCalls: 2 }
  },
  embedded: { path: "/var/lib/shop", cacheBytes: 67_108_864 },
  files: { folder: 0o750, file: 0o640, expected: 0o070 },
  i18n: { path: "/etc/shop/texts", languages: ["en", "de-CH"] }
}

const file = `
appkernel:
  audit: { to: collection, reads: true, collection: Trail }
  logging: { level: debug, file_name: shop.log, max_size: 10 MB, backup_count: 7 }
  server:
    address: 0.0.0.0
    port: 8080
    backlog: 100
    shutdown_timeout: 3
    request_timeout: 1.5
    header_timeout: 1
    response_timeout: 30
    shutdown_delay: 5 seconds
    kill_timeout: 15 seconds
    workers: 4
    idle_timeout: 65
    max_connections: 20000
    max_body_size: 2048
    max_multipart_size: 5 MiB
    max_fields: 64
    trusted_proxies: [10.0.0.0/8, "::ffff:192.0.2.1", "2001:db8::/32"]
    forwarded_header: Forwarded
    on_known_id: error
  health: { enabled: true, timeout: 1, min_disk_space: 1 GiB, open_breakers: fail }
  metrics: { enabled: true }
  telemetry:
    endpoint: http://collector:4318/
    headers: [x-key=a=b, authorization=Bearer c]
    signals: [traces, logs]
    sample_ratio: 0.25
    interval: 2
  overload: { max_requests: 200, max_requests_per_route: 100, max_delay: 20 millis, retry_after: 3 }
  live: { max_streams: 500, max_streams_per_caller: 5, heartbeat: 30, poll_timeout: 10 }
  errors: { format: problem, documentation: "https://shop.example/errors" }
  compression: { enabled: true, min_size: 2 KiB }
  rate_limits: { per_address: 300 per minute, per_caller: 10 per 5 minutes }
  cors:
    origins: ["https://Shop.example:443", "http://localhost:5173"]
    methods: [get, POST]
    headers: [Authorization, X-Own]
    credentials: true
    max_age: 5 minutes
  mongo:
    host: mongodb://shop:secret@db.example.org/
    db: shop
    connect_timeout: 2
    server_selection_timeout: 1500 millis
    socket_timeout: 1 minute
  client:
    max_connections: 50
    max_keepalive_connections: 0
    keepalive_expiry: 20
    connect_timeout: 1
    read_timeout: 4 seconds
    call_timeout: 5
    upload_timeout: 2 minutes
    download_timeout: 90
    write_timeout: 3
    pool_timeout: 0.5
    max_queued: 200
    max_response_size: 1 MiB
    shutdown_timeout: 8 seconds
    circuit_breaker: { failure_threshold: 3, recovery_timeout: 60, half_open_max_calls: 2 }
  embedded: { path: /var/lib/shop }
  files: { readable_by: group, sweep_interval: 60, sweep_grace: 60 }
  jobs: { keep_done: 1 day, lock: 10 }
  idempotency: { keys: required, keep: 2 hours, max_answer_size: 2 KiB }
  mail: { url: "smtp://shop:secret@mail.example.org", from: shop@example.org }
  cache: { records: 64 MiB, texts: 8 MiB }
  i18n: { path: /etc/shop/texts, languages: [en, de-CH] }
  query:
    default_page_size: 20
    max_page_size: 100
    max_page_bytes: 4 MB
    max_results: 500
    max_expand_paths: 4
    max_expand_depth: 2
    max_expanded: 300
    max_many: 40
    timeout: 250 millis
    skip_unreadable: true
  migrations: { on_start: wait }
  security:
    private_key_path: keys/private.pem
    public_key_path: keys/public.pem
    access_token_lifetime: 5 minutes
    refresh_token_lifetime: 90 days
    revocation_delay: 2.5
    cursor_secret: a secret of 32 or more characters
shop:
  currency: CHF
  taxRate: 7.7
`

const env = {
  APPKERNEL_SERVER_WORKERS: "4",
  APPKERNEL_AUDIT_TO: "collection",
  APPKERNEL_AUDIT_READS: "true",
  APPKERNEL_AUDIT_COLLECTION: "Trail",
  APPKERNEL_LOGGING_LEVEL: "debug",
  APPKERNEL_LOGGING_FILE_NAME: "shop.log",
  APPKERNEL_LOGGING_MAX_SIZE: "10 MB",
  APPKERNEL_LOGGING_BACKUP_COUNT: "7",
  APPKERNEL_SERVER_ADDRESS: "0.0.0.0",
  APPKERNEL_SERVER_PORT: "8080",
  APPKERNEL_SERVER_BACKLOG: "100",
  APPKERNEL_SERVER_SHUTDOWN_TIMEOUT: "3 seconds",
  APPKERNEL_SERVER_REQUEST_TIMEOUT: "1500 millis",
  APPKERNEL_SERVER_HEADER_TIMEOUT: "1000 millis",
  APPKERNEL_SERVER_RESPONSE_TIMEOUT: "30 seconds",
  APPKERNEL_SERVER_MAX_BODY_SIZE: "2 KiB",
  APPKERNEL_SERVER_MAX_FIELDS: "64",
  APPKERNEL_SERVER_MAX_MULTIPART_SIZE: "5242880",
  APPKERNEL_SERVER_TRUSTED_PROXIES: "10.0.0.0/8,192.0.2.1, 2001:db8::/32",
  APPKERNEL_SERVER_FORWARDED_HEADER: "forwarded",
  APPKERNEL_SERVER_ON_KNOWN_ID: "error",
  APPKERNEL_SERVER_SHUTDOWN_DELAY: "5",
  APPKERNEL_SERVER_IDLE_TIMEOUT: "65 seconds",
  APPKERNEL_SERVER_MAX_CONNECTIONS: "20000",
  APPKERNEL_HEALTH_ENABLED: "on",
  APPKERNEL_HEALTH_TIMEOUT: "1 second",
  APPKERNEL_HEALTH_MIN_DISK_SPACE: "1 GiB",
  APPKERNEL_HEALTH_OPEN_BREAKERS: "fail",
  APPKERNEL_METRICS_ENABLED: "yes",
  APPKERNEL_TELEMETRY_ENDPOINT: "http://collector:4318",
  APPKERNEL_TELEMETRY_HEADERS: "x-key=a=b, authorization=Bearer c",
  APPKERNEL_TELEMETRY_SIGNALS: "traces, logs",
  APPKERNEL_TELEMETRY_SAMPLE_RATIO: "0.25",
  APPKERNEL_TELEMETRY_INTERVAL: "2 seconds",
  APPKERNEL_OVERLOAD_MAX_REQUESTS: "200",
  APPKERNEL_OVERLOAD_MAX_REQUESTS_PER_ROUTE: "100",
  APPKERNEL_OVERLOAD_MAX_DELAY: "0.02",
  APPKERNEL_OVERLOAD_RETRY_AFTER: "3",
  APPKERNEL_LIVE_MAX_STREAMS: "500",
  APPKERNEL_LIVE_MAX_STREAMS_PER_CALLER: "5",
  APPKERNEL_LIVE_HEARTBEAT: "30",
  APPKERNEL_LIVE_POLL_TIMEOUT: "10",
  APPKERNEL_ERRORS_FORMAT: "Problem",
  APPKERNEL_ERRORS_DOCUMENTATION: "https://shop.example/errors/",
  APPKERNEL_SERVER_KILL_TIMEOUT: "15",
  APPKERNEL_MAIL_URL: "smtp://shop:secret@mail.example.org",
  APPKERNEL_MAIL_FROM: "shop@example.org",
  APPKERNEL_IDEMPOTENCY_KEYS: "Required",
  APPKERNEL_IDEMPOTENCY_KEEP: "7200",
  APPKERNEL_IDEMPOTENCY_MAX_ANSWER_SIZE: "2 KiB",
  APPKERNEL_FILES_READABLE_BY: "Group",
  APPKERNEL_COMPRESSION_ENABLED: "true",
  APPKERNEL_COMPRESSION_MIN_SIZE: "2048",
  APPKERNEL_RATE_LIMITS_PER_ADDRESS: "300 per 60",
  APPKERNEL_RATE_LIMITS_PER_CALLER: "10 per 5 minutes",
  APPKERNEL_CORS_ORIGINS: "https://shop.example,http://localhost:5173",
  APPKERNEL_CORS_METHODS: "GET,POST",
  APPKERNEL_CORS_HEADERS: "Authorization, X-Own",
  APPKERNEL_CORS_CREDENTIALS: "yes",
  APPKERNEL_CORS_MAX_AGE: "300",
  APPKERNEL_MONGO_HOST: "mongodb://shop:secret@db.example.org/",
  APPKERNEL_MONGO_DB: "shop",
  APPKERNEL_MONGO_CONNECT_TIMEOUT: "2 seconds",
  APPKERNEL_MONGO_SERVER_SELECTION_TIMEOUT: "1.5",
  APPKERNEL_MONGO_SOCKET_TIMEOUT: "60",
  APPKERNEL_CLIENT_MAX_CONNECTIONS: "50",
  APPKERNEL_CLIENT_MAX_KEEPALIVE_CONNECTIONS: "0",
  APPKERNEL_CLIENT_KEEPALIVE_EXPIRY: "20 seconds",
  APPKERNEL_CLIENT_CONNECT_TIMEOUT: "1",
  APPKERNEL_CLIENT_READ_TIMEOUT: "4000 millis",
  APPKERNEL_CLIENT_CALL_TIMEOUT: "5",
  APPKERNEL_CLIENT_UPLOAD_TIMEOUT: "120",
  APPKERNEL_CLIENT_DOWNLOAD_TIMEOUT: "90 seconds",
  APPKERNEL_CLIENT_WRITE_TIMEOUT: "3",
  APPKERNEL_CLIENT_POOL_TIMEOUT: "500 millis",
  APPKERNEL_CLIENT_MAX_QUEUED: "200",
  APPKERNEL_CLIENT_MAX_RESPONSE_SIZE: "1048576",
  APPKERNEL_CLIENT_SHUTDOWN_TIMEOUT: "8",
  APPKERNEL_CLIENT_CIRCUIT_BREAKER_FAILURE_THRESHOLD: "3",
  APPKERNEL_CLIENT_CIRCUIT_BREAKER_RECOVERY_TIMEOUT: "60",
  APPKERNEL_CLIENT_CIRCUIT_BREAKER_HALF_OPEN_MAX_CALLS: "2",
  APPKERNEL_EMBEDDED_PATH: "/var/lib/shop",
  APPKERNEL_CACHE_TEXTS: "8 MiB",
  APPKERNEL_CACHE_RECORDS: "67108864",
  APPKERNEL_I18N_PATH: "/etc/shop/texts",
  APPKERNEL_I18N_LANGUAGES: "en,de-CH",
  APPKERNEL_QUERY_DEFAULT_PAGE_SIZE: "20",
  APPKERNEL_QUERY_MAX_PAGE_SIZE: "100",
  APPKERNEL_QUERY_MAX_PAGE_BYTES: "4000000",
  APPKERNEL_QUERY_MAX_RESULTS: "500",
  APPKERNEL_QUERY_MAX_EXPAND_PATHS: "4",
  APPKERNEL_QUERY_MAX_EXPAND_DEPTH: "2",
  APPKERNEL_QUERY_MAX_EXPANDED: "300",
  APPKERNEL_QUERY_MAX_MANY: "40",
  APPKERNEL_QUERY_TIMEOUT: "0.25",
  APPKERNEL_QUERY_SKIP_UNREADABLE: "yes",
  APPKERNEL_MIGRATIONS_ON_START: "Wait",
  APPKERNEL_SECURITY_PRIVATE_KEY_PATH: "keys/private.pem",
  APPKERNEL_SECURITY_PUBLIC_KEY_PATH: "keys/public.pem",
  APPKERNEL_SECURITY_ACCESS_TOKEN_LIFETIME: "300",
  APPKERNEL_SECURITY_REFRESH_TOKEN_LIFETIME: "2160 hours",
  APPKERNEL_SECURITY_REVOCATION_DELAY: "2500 millis",
  APPKERNEL_SECURITY_CURSOR_SECRET: "a secret of 32 or more characters"
}

describe("KernelConfig / reading", () => {
  it.effect("reads every key from the file", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* configured({ file }, everything), expected)
      assert.deepStrictEqual(yield* warningsOf({ file }), [])
    }))

  it.effect("reads every key from the environment", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* configured({ file: "", env }, everything), expected)
      assert.deepStrictEqual(yield* warningsOf({ file: "", env }), [])
    }))

  it.effect("reads every key from a program's own provider, in the case of the file, before the file", () =>
    Effect.gen(function*() {
      const given = ConfigProvider.fromUnknown(parse(file))
      const read = (text: string | undefined) => layerOf({ file: text }, given)
      assert.deepStrictEqual(yield* Effect.provide(everything, read(undefined)), expected)
      const other = "appkernel: { server: { port: 1, backlog: 7 }, mongo: { host: elsewhere } }"
      assert.deepStrictEqual(yield* Effect.provide(everything, read(other)), expected)
      // Without the file's layer as well.
      const host = Effect.map(everything, ({ mongo }) => mongo.host)
      const own = { appkernel: { mongo: { host: "mongodb://db" }, query: { timeout: -1, timeuot: 3 } } }
      const provided = ConfigProvider.layer(ConfigProvider.fromUnknown(own))
      assert.strictEqual(yield* Effect.provide(host, provided), "mongodb://db")
      const { client, cors, embedded, i18n, mongo, server } = yield* Effect.provide(
        everything,
        ConfigProvider.layer(given)
      )
      assert.deepStrictEqual({ ...expected, client, cors, embedded, i18n, mongo, server }, expected)
      const problems = yield* Effect.flip(Effect.provide(Effect.void, layerOf({}, ConfigProvider.fromUnknown(own))))
      assert.include(String(problems), "appkernel.query.timeout of the program is a number, expected")
    }))

  it.effect("prefers the environment key by key, and ignores empty variables", () =>
    Effect.gen(function*() {
      const environment = {
        APPKERNEL_SERVER_PORT: "9090",
        APPKERNEL_SERVER_ADDRESS: "",
        APPKERNEL_I18N_LANGUAGES: "fr"
      }
      const { i18n, server } = yield* configured({ file, env: environment }, everything)
      assert.deepStrictEqual([server.address, server.port, i18n.languages], ["0.0.0.0", 9090, ["fr"]])
    }))

  it.effect("reads values from the files that variables name, the program's own included", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      writeFileSync(join(folder, "host"), "mongodb://shop:s3cret@db.example/shop\n")
      writeFileSync(join(folder, "password"), "two\nlines\r\n")
      const read = (env: { readonly [name: string]: string }) =>
        Effect.gen(function*() {
          const { host } = yield* MongoStore.config
          const own = yield* Config.option(Config.nested(Config.String("password"), "shop"))
          return [Redacted.isRedacted(host) ? Redacted.value(host) : host, Option.getOrUndefined(own)]
        }).pipe(
          Effect.provide(KernelConfig.layer({ cfgDir: folder })),
          Effect.provide([NodeServices.layer, ConfigProvider.layer(ConfigProvider.fromEnv({ env }))])
        )
      const files = { APPKERNEL_MONGO_HOST_FILE: join(folder, "host"), SHOP_PASSWORD_FILE: join(folder, "password") }
      assert.deepStrictEqual(yield* read(files), ["mongodb://shop:s3cret@db.example/shop", "two\nlines"])
      // The file is before cfg.yml, as its variable is.
      writeFileSync(join(folder, "cfg.yml"), "appkernel: { mongo: { host: other } }")
      assert.deepStrictEqual((yield* read(files))[0], "mongodb://shop:s3cret@db.example/shop")
      assert.deepStrictEqual(yield* read({ APPKERNEL_MONGO_HOST_FILE: "" }), ["other", undefined])
      const problemOf = (env: { readonly [name: string]: string }) => Effect.map(Effect.flip(read(env)), String)
      assert.include(
        yield* problemOf({ ...files, APPKERNEL_MONGO_HOST: "localhost" }),
        "APPKERNEL_MONGO_HOST and APPKERNEL_MONGO_HOST_FILE are both set, expected one of them"
      )
      assert.include(
        yield* problemOf({ APPKERNEL_MONGO_HOST_FILE: "/nowhere/host" }),
        "APPKERNEL_MONGO_HOST_FILE names /nowhere/host, which can't be read (NotFound)"
      )
      writeFileSync(join(folder, "port"), "eighty")
      const wrong = yield* problemOf({ APPKERNEL_SERVER_PORT_FILE: join(folder, "port") })
      assert.include(wrong, "APPKERNEL_SERVER_PORT (appkernel.server.port) is text, expected a whole number")
      assert.notInclude(wrong, "eighty")
    }))

  it.effect("starts with defaults without a file, unless a file is required", () =>
    Effect.gen(function*() {
      const { embedded, i18n, limits, logging, mongo, server } = yield* configured({}, everything)
      assert.deepStrictEqual([server.address, server.port], ["127.0.0.1", 5000])
      assert.deepStrictEqual(logging, { level: undefined, fileName: undefined, maxSize: 10_485_760, backupCount: 5 })
      assert.deepStrictEqual([limits.maxBodySize, limits.maxPageSize], [1_048_576, 1_000])
      assert.deepStrictEqual([mongo.host, mongo.db], ["localhost", undefined])
      assert.deepStrictEqual([embedded.path, i18n.languages], ["./data", []])
      assert.deepStrictEqual(yield* problemsOf({ enableDefaults: false }), ["there is no file /etc/shop/cfg.yml"])
      assert.deepStrictEqual(yield* warningsOf({}), [
        "There is no configuration file /etc/shop/cfg.yml: only the environment is read"
      ])
    }))

  it.effect("logs the name of the file, or that there is none", () =>
    Effect.gen(function*() {
      const absent = "There is no configuration file"
      const folder = yield* freshDirectory
      const options = { cfgDir: folder }
      const read = Effect.suspend(() => logOf(Layer.provide(KernelConfig.layer(options), NodeServices.layer)))
      assert.deepStrictEqual(yield* read, [`Warn ${absent} ${folder}/cfg.yml: only the environment is read`])
      writeFileSync(join(folder, "cfg.yml"), "appkernel:\n  server:\n    port: 8080\n")
      assert.deepStrictEqual(yield* read, [`Info The configuration is read from ${folder}/cfg.yml`])
      const found = (options: KernelConfig.Options, env: { readonly [name: string]: string } = {}) =>
        logOf(
          KernelConfig.layer(options).pipe(
            Layer.provide([NodeServices.layer, ConfigProvider.layer(ConfigProvider.fromEnv({ env }))])
          )
        )
      // Beside the start script, or in the working directory.
      const places = `${dirname(process.argv[1] ?? "")}/cfg.yml or ${process.cwd()}/cfg.yml`
      const missing = `There is no configuration file ${places}: only the environment is read`
      assert.deepStrictEqual(yield* found({}), [`Warn ${missing}`])
      // Where the service is for development, or something else says what it is, a missing file is no warning.
      for (
        const [options, env] of [
          [{ development: true }, {}],
          [{ enableDefaults: true }, {}],
          [{}, { NODE_ENV: "development" }],
          [{}, { APPKERNEL_SERVER_PORT: "8080" }],
          [{}, { APPKERNEL_MONGO_HOST_FILE: join(folder, "cfg.yml") }]
        ] as const
      ) {
        assert.deepStrictEqual(yield* found(options, env), [`Info ${missing}`])
      }
      assert.deepStrictEqual(
        yield* logOf(
          KernelConfig.layer().pipe(Layer.provide([
            NodeServices.layer,
            ConfigProvider.layer(ConfigProvider.fromUnknown({ appkernel: { server: { port: 8080 } } }))
          ]))
        ),
        [`Info ${missing}`]
      )
    }))

  it.effect("says whether MongoDB is configured", () =>
    Effect.gen(function*() {
      const of = (source: Source) => configured(source, MongoStore.configured)
      assert.isFalse(yield* of({}))
      assert.isFalse(yield* of({ file: "appkernel: { mongo: { db: shop } }" }))
      assert.isTrue(yield* of({ file }))
      assert.isTrue(yield* of({ env: { APPKERNEL_MONGO_HOST: "db" } }))
    }))

  it.effect("reads a program's own keys as they are written, or in upper case in the environment", () =>
    Effect.gen(function*() {
      const own = Config.all({ currency: Config.String("currency"), taxRate: Config.Finite("taxRate") }).pipe(
        Config.nested("shop")
      )
      assert.deepStrictEqual(yield* configured({ file }, own), { currency: "CHF", taxRate: 7.7 })
      const changed = yield* configured({ file, env: { SHOP_CURRENCY: "EUR" } }, own)
      assert.deepStrictEqual(changed, { currency: "EUR", taxRate: 7.7 })
    }))

  it.effect("limits the default page size to the largest", () =>
    Effect.gen(function*() {
      const limits = yield* configured({ env: { APPKERNEL_QUERY_MAX_PAGE_SIZE: "10" } }, KernelConfig.Limits)
      assert.deepStrictEqual([limits.defaultPageSize, limits.maxPageSize], [10, 10])
    }))
})

describe("KernelConfig / invalid values", () => {
  const port = "expected a whole number from 0 to 65535"
  const at = "in /etc/shop/cfg.yml"

  it.effect("names the key, the type of its value and what is expected", () =>
    Effect.gen(function*() {
      const of = (server: string) => problemsOf({ file: `appkernel: { server: ${server} }` })
      const key = `appkernel.server.port ${at}`
      assert.deepStrictEqual(yield* of("{ port: many }"), [`${key} is text, ${port}`])
      assert.deepStrictEqual(yield* of("{ port: 70000 }"), [`${key} is a number, ${port}`])
      assert.deepStrictEqual(yield* of("{ port: 1.5 }"), [`${key} is a number, ${port}`])
      assert.deepStrictEqual(yield* of("{ port: true }"), [`${key} is true or false, ${port}`])
      assert.deepStrictEqual(yield* of("{ port: [1] }"), [`${key} is a list, ${port}`])
      assert.deepStrictEqual(yield* of("{ port: { a: 1 } }"), [`${key} is a mapping, ${port}`])
      assert.deepStrictEqual(yield* of("{ address: 10 }"), [
        `appkernel.server.address ${at} is a number, expected text, so in quotes`
      ])
      assert.deepStrictEqual(yield* of("5000"), [`appkernel.server ${at} is a number, expected a mapping`])
      const empty = yield* configured(
        { file: "appkernel: { server: { port: , address: '' } }" },
        KernelConfig.serverAddress
      )
      assert.deepStrictEqual(empty, { address: "127.0.0.1", port: 5000 })
    }))

  it.effect("names the variable and the key of an invalid value in the environment", () =>
    Effect.gen(function*() {
      const problems = yield* problemsOf({ file, env: { APPKERNEL_SERVER_PORT: "many" } })
      assert.deepStrictEqual(problems, [`APPKERNEL_SERVER_PORT (appkernel.server.port) is text, ${port}`])
    }))

  it.effect("rejects invalid durations and sizes, and lists of values other than texts", () =>
    Effect.gen(function*() {
      const names = yield* problemsOf({
        file: `
appkernel:
  server: { shutdown_timeout: 5 parsecs, request_timeout: 0, max_body_size: 10 XB, max_multipart_size: 0.5, trusted_proxies: [10.0.0.0/33], forwarded_header: via }
  query: { timeout: -1, max_page_size: 0 }
  i18n: { languages: [en, 5] }
  rate_limits: { per_address: 300, per_caller: 0 per minute }
  cors: { origins: ["https://shop.example/"], methods: ["GET POST"], headers: "a b", credentials: maybe, max_age: 2 days }
  logging: { max_size: -5, backup_count: -1 }
`
      })
      assert.deepStrictEqual(names.map((problem) => problem.split(" ", 1)[0]), [
        "appkernel.logging.max_size",
        "appkernel.logging.backup_count",
        "appkernel.server.shutdown_timeout",
        "appkernel.server.max_body_size",
        "appkernel.server.max_multipart_size",
        "appkernel.server.request_timeout",
        "appkernel.server.trusted_proxies",
        "appkernel.server.forwarded_header",
        "appkernel.rate_limits.per_address",
        "appkernel.rate_limits.per_caller",
        "appkernel.cors.origins",
        "appkernel.cors.methods",
        "appkernel.cors.headers",
        "appkernel.cors.credentials",
        "appkernel.cors.max_age",
        "appkernel.i18n.languages",
        "appkernel.query.max_page_size",
        "appkernel.query.timeout"
      ])
    }))

  it.effect("never quotes a value", () =>
    Effect.gen(function*() {
      const texts = [
        "appkernel: { mongo: { host: [canary] } }",
        "appkernel: { server: { port: canary } }",
        "appkernel: canary",
        "canary",
        "appkernel: { mongo: { host: canary: b } }",
        "appkernel:\n  mongo:\n    host: \"canary",
        "appkernel: *canary",
        "appkernel: {\n  mongo: { host: canary }\n  server"
      ]
      for (const text of texts) {
        assert.notInclude((yield* problemsOf({ file: text })).join(), "canary", text)
      }
      const problems = yield* problemsOf({ env: { APPKERNEL_SERVER_PORT: "canary" } })
      assert.notInclude(problems.join(), "canary")
    }))

  it.effect("names the whole variable where no file is read before", () =>
    Effect.gen(function*() {
      const env = {
        APPKERNEL_MONGO_CONNECT_TIMEOUT: "canary",
        APPKERNEL_CACHE_RECORDS: "canary",
        APPKERNEL_SERVER_PORT: "canary"
      }
      const provider = ConfigProvider.fromEnv({ env })
      for (
        const [config, name] of [
          [MongoStore.config, "APPKERNEL_MONGO_CONNECT_TIMEOUT"],
          [EmbeddedStore.config, "APPKERNEL_CACHE_RECORDS"],
          [KernelConfig.server, "APPKERNEL_SERVER_PORT"]
        ] as const
      ) {
        const unread: Config.Config<unknown> = config
        const { message } = yield* Effect.flip(unread.parse(provider))
        assert.include(message, `${name}: expected `)
        assert.notInclude(message, "canary")
      }
    }))

  it.effect("names the line of invalid YAML", () =>
    Effect.gen(function*() {
      const [problem = ""] = yield* problemsOf({ file: "appkernel:\n  server:\n    port: [1\n  mongo: x\n" })
      assert.match(problem, /^\/etc\/shop\/cfg\.yml, line 4, column 3: /u)
      const [twice = ""] = yield* problemsOf({ file: "appkernel: {}\nappkernel: {}\n" })
      assert.match(twice, /line 2, column 1: Map keys must be unique/u)
      assert.deepStrictEqual(yield* problemsOf({ file: "appkernel: [1]" }), [
        `appkernel ${at} is a list, expected a mapping`
      ])
      assert.deepStrictEqual(yield* problemsOf({ file: "5" }), [`the content ${at} is a number, expected a mapping`])
    }))

  it.effect("warns of unknown keys, with a suggestion", () =>
    Effect.gen(function*() {
      const warnings = yield* warningsOf({
        file: "appkernel: { server: { prot: 1, port: 80 }, sever: { port: 1 }, mongo: { replicas: 3 } }",
        env: {
          APPKERNEL_SERVER_ADRESS: "::",
          APPKERNEL_ALL: "1",
          APPKERNEL_PRIVATE_KEY_PATH: "private.pem",
          APPKERNEL_PUBLIC_KEY_PATH: "public.pem",
          OTHER_SERVER_PORT: "1"
        }
      })
      const nothing = "is no key of the configuration and means nothing"
      assert.deepStrictEqual(warnings, [
        `appkernel.server.prot ${at} ${nothing}; is it appkernel.server.port?`,
        `appkernel.sever ${at} ${nothing}`,
        `appkernel.mongo.replicas ${at} ${nothing}`,
        `APPKERNEL_SERVER_ADRESS in the environment ${nothing}; is it APPKERNEL_SERVER_ADDRESS?`,
        `APPKERNEL_ALL in the environment ${nothing}`
      ])
    }))
})

describe("KernelConfig / in a process", () => {
  const launched = Effect.fnUntraced(function*(file: string) {
    const directory = yield* freshDirectory
    const program = join(directory, "main.ts")
    writeFileSync(join(directory, "cfg.yml"), file)
    writeFileSync(program, `import ${JSON.stringify(join(process.cwd(), "test/support/serviceProgram.ts"))}\n`)
    return yield* runProgram(program, {})
  })

  it.live(
    "reads the file beside the start script, and fails with one line if it is invalid",
    () =>
      Effect.gen(function*() {
        const program = yield* launched("appkernel: { server: { port: many } }")
        assert.strictEqual(yield* program.ended, 1)
        const lines = program.output().trim().split("\n")
        assert.strictEqual(lines.length, 1)
        assert.include(lines[0] ?? "", "The configuration is wrong: appkernel.server.port in ")
      })
  )
})
