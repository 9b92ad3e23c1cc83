/** The table of all keys of the configuration: type, meaning and default, from which their `Config` and the reference follow. */
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import {
  address,
  boolean,
  duration,
  headers,
  integer,
  names,
  networks,
  oneOf,
  origins,
  portion,
  rate,
  secret,
  type Setting,
  signals,
  size,
  text,
  texts,
  url,
  workerCount
} from "./settingTypes.ts"

/** All keys under `appkernel`. */
export const settings = {
  "logging.level": oneOf("all", "trace", "debug", "info", "warn", "error", "fatal", "none")(
    "entries below this level are left out, and so are the lines of requests below `info`",
    { shown: "what the program says, otherwise `info`" }
  ),
  "logging.file_name": text("file that the log is also written to"),
  "logging.max_size": size("size at which a new file is begun", "10 MiB"),
  "logging.backup_count": integer(0, 1_000)("earlier files that are kept", "5"),
  "server.address": text("address to listen on", "127.0.0.1"),
  "server.port": integer(0, 65_535)("port, 0 for any that is free", "5000"),
  "server.shutdown_timeout": duration(Duration.zero)(
    "time for running requests, and for running jobs, to finish when the service stops",
    "20 seconds"
  ),
  "server.backlog": integer(1, 65_535)("connections that wait to be accepted", "511"),
  "server.max_body_size": size("size of a JSON body", "1 MiB"),
  "server.max_multipart_size": size("size of a multipart body", "10 MiB"),
  "server.request_timeout": duration(Duration.millis(100))("time in which a request has to arrive", "60 seconds"),
  "server.header_timeout": duration(Duration.millis(100))("time in which its head has to arrive", "20 seconds"),
  "server.response_timeout": duration(Duration.millis(1))(
    "time in which a request has to be answered, see `KernelServer`"
  ),
  "server.trusted_proxies": networks("addresses and networks of the proxies in front, see `ClientAddress`", {
    value: "",
    shown: "none"
  }),
  "server.forwarded_header": oneOf("x-forwarded-for", "forwarded")(
    "header in which they write the client's address: `x-forwarded-for` or `forwarded`",
    "x-forwarded-for"
  ),
  "server.shutdown_delay": duration(Duration.zero)(
    "time for which the service still takes requests after the signal to stop, and is not ready",
    { value: "0", shown: "none" }
  ),
  // Longer than clients and proxies keep idle connections, so that no request hits a closing one.
  "server.idle_timeout": duration(Duration.millis(1))(
    "time for which a connection stays open without a request",
    "75 seconds"
  ),
  "server.max_connections": integer(1, 1_000_000)("connections at once; more are closed"),
  "server.max_fields": integer(1, 1_000_000)(
    "fields of a form, parts of a multipart body, parameters of a URL, headers",
    "1,000"
  ),
  "server.kill_timeout": duration(Duration.zero)(
    "time that a worker has beyond `server.shutdown_delay` and `server.shutdown_timeout` to end; then it is killed",
    "30 seconds"
  ),
  "server.workers": workerCount("processes that serve the port; `auto` is one for each processor", "1"),
  "server.on_known_id": oneOf("replace", "error")(
    "what a [`POST`](http.md#post) with the identifier of an existing document does, at registrations without `onKnownId`: it replaces the document, or is a 409",
    "replace"
  ),
  "health.enabled": boolean("whether `/health/live` and `/health/ready` are served, see `Monitoring`", {
    shown: "false"
  }),
  "health.timeout": duration(Duration.millis(1))("time that a check has", "2 seconds"),
  "health.min_disk_space": size("bytes that have to be free where the embedded store is", "100 MiB"),
  "health.open_breakers": oneOf("report", "fail")(
    "whether an open circuit breaker makes the service not ready: `report` or `fail`",
    "report"
  ),
  "metrics.enabled": boolean("whether `/metrics` is served, see `Monitoring`", "false"),
  "telemetry.endpoint": url("base URL of a collector that takes OTLP over HTTP", { shown: "none: nothing is sent" }),
  "telemetry.headers": headers("headers of what is sent to it, as `name=value`"),
  "telemetry.signals": signals("what is sent: `traces`, `metrics`, `logs`", {
    value: "traces, metrics",
    shown: "`traces` and `metrics`"
  }),
  "telemetry.sample_ratio": portion("part of the traces that begin here and are sent; failed ones always are", "1"),
  "telemetry.interval": duration(Duration.millis(100))("time between two sendings", "5 seconds"),
  "overload.max_requests": integer(1, 1_000_000)("requests that are handled at once; more are answered 503"),
  "overload.max_requests_per_route": integer(1, 1_000_000)("requests of one route that are handled at once"),
  "overload.max_delay": duration(Duration.millis(1))(
    "time that a request may wait for the event loop while this is busy; later ones are answered 503"
  ),
  "overload.retry_after": duration(Duration.seconds(1))("time after which a refused client may try again", "1 second"),
  "live.max_streams": integer(1, 1_000_000)(
    "streams of changes that are open at once; more are answered 503",
    "10,000"
  ),
  "live.max_streams_per_caller": integer(1, 1_000_000)("streams of one caller; more are answered 429", "100"),
  "live.heartbeat": duration(Duration.millis(100))("time between two signs of life in a stream", "15 seconds"),
  "live.poll_timeout": duration(Duration.millis(1))("time for which a request waits for changes", "20 seconds"),
  "errors.format": oneOf("message", "problem")(
    "whether all errors are `problem` details (RFC 9457), or `message`s unless a client asks for those",
    "message"
  ),
  "errors.documentation": url("page that describes the errors, to which the type of a problem leads", {
    shown: "none: `about:blank`"
  }),
  "compression.enabled": boolean("whether responses are compressed for clients that accept it", "false"),
  "compression.min_size": size("size from which they are", "1 KiB"),
  "audit.to": oneOf("none", "log", "collection")(
    "where the audit log is written: `log`, `collection`, or nowhere",
    "none"
  ),
  "audit.reads": boolean("whether it has reads too", "false"),
  "audit.collection": text("collection of its entries", "AuditEntry"),
  "rate_limits.per_address": rate("requests from an address, as `300 per minute`, see `RateLimits`", {
    shown: "none, or 600 per minute if the engine enables limits"
  }),
  "rate_limits.per_caller": rate("requests of a user"),
  "cors.origins": origins("origins whose pages may call the service from a browser, or `*`, see `Cors`", {
    value: "",
    shown: "none"
  }),
  "cors.methods": names((name) => name.toUpperCase())("methods of these calls", {
    value: "GET, HEAD, QUERY, POST, PUT, PATCH, DELETE",
    shown: "all of the endpoints"
  }),
  "cors.headers": names((name) => name)("headers of these calls", {
    shown: "those that the engine reads, and those of traces"
  }),
  "cors.credentials": boolean("whether browsers send cookies and HTTP basic", "false"),
  "cors.max_age": duration(Duration.zero)("time for which browsers keep what is allowed", "1 hour"),
  "mongo.host": address("MongoDB's host, or its whole URL", "localhost"),
  "mongo.db": text("database", { shown: "the URL's, or `app`" }),
  "mongo.connect_timeout": duration(Duration.millis(1))("time for a server to accept a connection", "5 seconds"),
  "mongo.server_selection_timeout": duration(Duration.millis(1))("time to find a usable server", {
    shown: "`mongo.connect_timeout`"
  }),
  "mongo.socket_timeout": duration(Duration.millis(1))("time for a server to answer an operation", "30 seconds"),
  "client.max_connections": integer(1, 65_535)("connections to other services at once, see `HttpClientConfig`", "100"),
  "client.max_keepalive_connections": integer(0, 65_535)("connections that stay open without a call", "20"),
  "client.keepalive_expiry": duration(Duration.zero)("time for which they do", "30 seconds"),
  "client.connect_timeout": duration(Duration.millis(1))("time to establish a connection", "2 seconds"),
  "client.read_timeout": duration(Duration.millis(1))("time to wait for an answer in a typed client", "10 seconds"),
  "client.call_timeout": duration(Duration.millis(1))(
    "time to wait for an answer to a call of a proxy that has no `timeout`",
    "3 seconds"
  ),
  "client.upload_timeout": duration(Duration.millis(1))("the same for an upload", "60 seconds"),
  "client.download_timeout": duration(Duration.millis(1))("the same for a download", "30 seconds"),
  "client.write_timeout": duration(Duration.millis(1))("time to send the body of a request", "5 seconds"),
  "client.pool_timeout": duration(Duration.zero)("time to wait for a free connection", "5 seconds"),
  "client.max_queued": integer(0, 1_000_000)("calls that may wait for one", "1,000"),
  "client.max_response_size": size("size of an answer that is read as a whole, decompressed", "64 MiB"),
  "client.shutdown_timeout": duration(Duration.zero)(
    "time for running calls to end when the client shuts down",
    "20 seconds"
  ),
  "client.circuit_breaker.failure_threshold": integer(1, 1_000_000)(
    "calls that fail in a row until a circuit breaker opens",
    { shown: "5; without any of these keys, there are no breakers" }
  ),
  "client.circuit_breaker.recovery_timeout": duration(Duration.millis(1))(
    "time until an open breaker lets probes through",
    "30 seconds"
  ),
  "client.circuit_breaker.half_open_max_calls": integer(1, 65_535)("probes at once", "1"),
  "embedded.path": text("folder of the embedded store", "./data"),
  "files.readable_by": oneOf("owner", "group", "everybody")(
    "who may read the folders and files that are made: the user of the process, with `group` its group (0750, 0640), with `everybody` each user of the machine (0755, 0644)",
    "owner"
  ),
  "files.sweep_interval": duration(Duration.seconds(1))(
    "time between two sweeps, which remove the bytes of files that no document refers to",
    "1 hour"
  ),
  "files.sweep_grace": duration(Duration.seconds(1))(
    "age from which they do so: an upload whose document is not written yet is younger, and a file that was replaced or deleted can be read for this long",
    "1 hour"
  ),
  "files.upload_keep": duration(Duration.seconds(1))(
    "time after its last request for which a resumable upload can be continued",
    "24 hours"
  ),
  "jobs.keep_done": duration(Duration.seconds(1), Duration.days(366))(
    "how long a job that is done is still known, so that a second one with its key is none; dead letters remain until they are discarded",
    "7 days"
  ),
  "jobs.lock": duration(Duration.seconds(1))(
    "how long a process has a job or a workflow without a sign of life; then another one does it, so that it is done again so long after the process was killed",
    "30 seconds"
  ),
  "idempotency.keys": oneOf("none", "accepted", "required")(
    "whether writes take an `Idempotency-Key`, or need one, at registrations without `idempotencyKeys`",
    "none"
  ),
  "idempotency.keep": duration(Duration.seconds(1))(
    "time for which the answer to a request with a key is given again",
    "24 hours"
  ),
  "idempotency.max_answer_size": size("size up to which such an answer is kept", "64 KiB"),
  "mail.url": address(
    "server that sends mails, with name and password: `smtps://shop:secret@mail.example.org`, see `Mailer`",
    { shown: "none: mails are written to the log" }
  ),
  "mail.from": text("sender of mails that name none", "noreply@localhost"),
  "cache.records": size(
    "bytes of decoded documents and index entries that the embedded store keeps, and of where it found documents",
    "32 MiB"
  ),
  "cache.texts": size("bytes of the JSON texts of documents that are kept for the next request", "64 MiB"),
  "i18n.languages": texts("languages, the default first", { value: "", shown: "none" }),
  "i18n.path": text("folder of the catalogues", "./translations"),
  "query.default_page_size": integer(1, 1_000_000)("documents on a page that says nothing of its size", "50"),
  "query.max_page_size": integer(1, 1_000_000)("documents on a page at most", "1,000"),
  "query.max_page_bytes": size("bytes of a page, or of what an aggregation gives", "16 MiB"),
  "query.max_results": integer(1, 10_000_000)(
    "documents that an aggregation gives, and a stream of changes begins with, at most",
    "10,000"
  ),
  "query.max_expand_paths": integer(0, 1_000)("paths that a request may expand", "10"),
  "query.max_expand_depth": integer(1, 10)("references that a path to expand may follow", "2"),
  "query.max_expanded": integer(0, 1_000_000)("documents that are read to expand those of one answer", "10,000"),
  "query.max_many": integer(1, 1_000_000)(
    "documents that one request may write by a filter or a list of changes",
    "1,000"
  ),
  "query.timeout": duration(Duration.millis(1))("time after which the store stops a query", "5 seconds"),
  "query.skip_unreadable": boolean("whether pages leave out documents that do not fit their model", {
    value: "false",
    shown: "false: such a page is a 500"
  }),
  "migrations.on_start": oneOf("refuse", "wait", "run", "ignore")(
    "what a start does while migrations have not run: it fails, waits for another process, runs them, or goes on",
    "refuse"
  ),
  "security.private_key_path": text("file of the key that tokens are signed with"),
  "security.public_key_path": text("file of the key that tokens are verified with"),
  "security.access_token_lifetime": duration(Duration.seconds(1))("time that an access token counts", "15 minutes"),
  "security.refresh_token_lifetime": duration(Duration.seconds(1), Duration.days(3_650))(
    "time in which a refresh token can be used",
    "30 days"
  ),
  "security.revocation_delay": duration(Duration.zero)(
    "time that a token goes on after its sign-in has ended, or its account is gone, blocked, or has another password or a role less",
    "30 seconds"
  ),
  "security.cursor_secret": secret(
    "key of at least 32 characters that cursors are signed with, if security is enabled",
    { shown: "a random one for each process" }
  )
}

/** A key under `appkernel`, such as `server.port`. */
export type Key = keyof typeof settings

/** The value of a key that is set. */
export type ParsedOf<K> = K extends Key ? (typeof settings)[K] extends Setting<infer A, unknown> ? A : never : never

/** The value of a key, or its default. */
export type ValueOf<K> = K extends Key
  ? (typeof settings)[K] extends Setting<infer A, infer Default> ? A | Default : never
  : never

/** All keys with their rows. */
// Entries of a constant have its keys.
export const rows = Object.entries(settings) as ReadonlyArray<readonly [key: Key, setting: Setting<unknown>]>

export const root = "appkernel"

/** The path of a key in the environment: `["APPKERNEL", "SERVER", "PORT"]`. */
export const pathOf = (key: string): ReadonlyArray<string> =>
  [root, ...key.split(".")].map((part) => part.toUpperCase())

/** The path of a key in the file, and in a configuration that a program gives: `["appkernel", "server", "port"]`. */
export const filePathOf = (key: string): ReadonlyArray<string> => [root, ...key.split(".")]

/** The environment variable of a key: `APPKERNEL_SERVER_PORT`. */
export const variableOf = (key: string): string => pathOf(key).join("_")

/** The default of a key. */
export const defaultOf = <K extends Key>(key: K): (typeof settings)[K]["byDefault"] => settings[key].byDefault

/** The `Config` of a key, with its default. */
export const configOf = <K extends Key>(key: K): Config.Config<ValueOf<K>> =>
  // The row has the type of its key.
  configOr(key, settings[key].byDefault) as never

/** The `Config` of a key; `otherwise` if it is not set. */
export const configOr = <K extends Key, B>(key: K, otherwise: B): Config.Config<ParsedOf<K> | B> => {
  const { expected, kinds, parse }: Setting<unknown> = settings[key]
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
    // The row parses texts to the type of its key.
    Config.map((value) => value as ParsedOf<K> | B),
    Config.withDefault(otherwise)
  )
}

/** The `Config` of keys of a section, all of them by default, under their names in camel case. */
export const section = <S extends string, N extends NameIn<S> = NameIn<S>>(
  of: S,
  ...names: ReadonlyArray<N>
): Config.Config<{ readonly [K in N as Camel<K>]: ValueOf<`${S}.${K}`> }> =>
  // The members have the types of their rows.
  allIn(of, names, configOf) as never

/** The `Config` of what is given of a section, without defaults. */
export const givenOf = <S extends string>(
  of: S
): Config.Config<{ readonly [K in NameIn<S> as Camel<K>]: ParsedOf<`${S}.${K}`> | undefined }> =>
  // The members have the types of their rows.
  allIn(of, [], (key) => configOr(key, undefined)) as never

const allIn = (of: string, names: ReadonlyArray<string>, config: (key: Key) => Config.Config<unknown>) =>
  Config.all(Object.fromEntries(rows.flatMap(([key]) => {
    const name = key.slice(of.length + 1)
    const isIn = key.startsWith(`${of}.`) && !name.includes(".") && (names.length === 0 || names.includes(name))
    return isIn ? [[camel(name), config(key)]] : []
  })))

const camel = (name: string): string => name.replaceAll(/_(\w)/gu, (_, letter: string) => letter.toUpperCase())

type Camel<S extends string> = S extends `${infer Head}_${infer Rest}` ? `${Head}${Capitalize<Camel<Rest>>}` : S

type NameIn<S extends string> = Key extends infer K
  ? K extends `${S}.${infer N}` ? N extends `${string}.${string}` ? never : N : never
  : never

const configError = (message: string) => new Config.ConfigError(new ConfigProvider.SourceError({ message }))
