import type * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { textAt, textIn } from "./file.ts"
import { fileSuffix } from "./secretFiles.ts"
import { filePathOf, pathOf, root, type Setting, settings } from "./settings.ts"

/** A key of the configuration with its value. */
export interface InForce {
  /** The path of the key without `appkernel`: `server.port`. */
  readonly key: string
  /** The value as it is written, with secrets masked. That of a default may be a sentence. */
  readonly value: string
  /** Where the value comes from: a file that a variable names is `secret file`. */
  readonly source: "default" | "cfg.yml" | "environment" | "secret file" | "program"
  /** The variable or the file; `undefined` for a default. */
  readonly place: string | undefined
  /**
   * The text as it is read.
   *
   * @internal
   */
  readonly text: Redacted.Redacted | undefined
}

/**
 * All keys with their values. The environment is without the values of secret files.
 *
 * @internal
 */
export const inForce = Effect.fnUntraced(function*(
  { content, environment, file, given }: {
    readonly environment: ConfigProvider.ConfigProvider
    /** The environment with the values of secret files. */
    readonly given: ConfigProvider.ConfigProvider
    readonly content: unknown
    readonly file: string
  }
) {
  const one = Effect.fnUntraced(function*({ key, shown }: Setting<unknown>) {
    const found = (text: string, source: InForce["source"], place: string): InForce => ({
      key,
      value: shown(text),
      source,
      place,
      text: Redacted.make(text)
    })
    for (const path of [...shortPaths.get(key) ?? [], pathOf(key)]) {
      const text = (yield* given.load(path))?.value
      if (text === undefined || text === "") continue
      const name = path.join("_")
      if ((yield* environment.load(path))?.value !== undefined) return found(text, "environment", name)
      return found(text, "secret file", `${name}${fileSuffix}`)
    }
    const fromProgram = yield* textAt(given, filePathOf(key))
    if (fromProgram !== undefined) return found(fromProgram, "program", `${root}.${key}`)
    const fromFile = textIn(content, filePathOf(key))
    if (fromFile !== undefined) return found(fromFile, "cfg.yml", file)
    const none: InForce = {
      key,
      value: defaults[key] ?? "none",
      source: "default",
      place: undefined,
      text: undefined
    }
    return none
  })
  return yield* Effect.forEach(Object.values(settings), (setting) => one(setting))
})

/**
 * What changed between two configurations.
 *
 * @internal
 */
export const changesOf = (before: ReadonlyArray<InForce>, after: ReadonlyArray<InForce>): ReadonlyArray<InForce> => {
  const texts = new Map(before.map((one) => [one.key, textOf(one)]))
  return after.filter((one) => texts.get(one.key) !== textOf(one))
}

const textOf = ({ text }: InForce): string | undefined => text === undefined ? undefined : Redacted.value(text)

/** The variables that count before those of the keys. */
const shortPaths = new Map(
  ["security.private_key_path", "security.public_key_path"].map((key) => [
    key,
    [[root.toUpperCase(), (key.split(".").at(-1) ?? "").toUpperCase()]]
  ])
)

/**
 * As the reference has them; none for the others.
 *
 * @internal
 */
export const defaults: { readonly [key: string]: string } = {
  "server.address": "127.0.0.1",
  "server.port": "5000",
  "server.shutdown_timeout": "20 seconds",
  "server.backlog": "511",
  "server.max_body_size": "1 MiB",
  "server.max_multipart_size": "10 MiB",
  "server.header_timeout": "20 seconds",
  "server.request_timeout": "60 seconds",
  "server.forwarded_header": "x-forwarded-for",
  "server.idle_timeout": "75 seconds",
  "logging.max_size": "10 MiB",
  "logging.backup_count": "5",
  "mongo.host": "localhost",
  "mongo.db": "the URL's, or app",
  "mongo.connect_timeout": "5 seconds",
  "mongo.server_selection_timeout": "mongo.connect_timeout",
  "mongo.socket_timeout": "30 seconds",
  "embedded.path": "./data",
  "cache.records": "32 MiB",
  "query.default_page_size": "50",
  "query.max_page_size": "1,000",
  "query.max_page_bytes": "16 MiB",
  "query.max_results": "10,000",
  "query.timeout": "5 seconds",
  "query.skip_unreadable": "false: such a page is a 500",
  "migrations.on_start": "refuse",
  "security.access_token_lifetime": "15 minutes",
  "security.refresh_token_lifetime": "30 days",
  "security.revocation_delay": "30 seconds",
  "security.cursor_secret": "a random one for each process",
  "health.enabled": "false",
  "health.timeout": "2 seconds",
  "health.min_disk_space": "100 MiB",
  "health.open_breakers": "report",
  "metrics.enabled": "false",
  "telemetry.endpoint": "none: nothing is sent",
  "telemetry.signals": "traces and metrics",
  "telemetry.sample_ratio": "1",
  "telemetry.interval": "5 seconds",
  "overload.retry_after": "1 second",
  "live.max_streams": "10,000",
  "live.max_streams_per_caller": "100",
  "live.heartbeat": "15 seconds",
  "live.poll_timeout": "20 seconds",
  "errors.format": "message",
  "errors.documentation": "none: about:blank",
  "compression.enabled": "false",
  "compression.min_size": "1 KiB",
  "rate_limits.per_address": "none, or 600 per minute if the engine enables limits",
  "cors.methods": "all of the endpoints",
  "cors.headers": "those that the engine reads, and those of traces",
  "cors.credentials": "false",
  "cors.max_age": "1 hour",
  "client.max_connections": "100",
  "client.max_keepalive_connections": "20",
  "client.keepalive_expiry": "30 seconds",
  "client.connect_timeout": "2 seconds",
  "client.read_timeout": "3 seconds; 10 for typed clients, 30 for downloads, 60 for uploads",
  "client.write_timeout": "5 seconds",
  "client.pool_timeout": "5 seconds",
  "client.max_queued": "1,000",
  "client.max_response_size": "64 MiB",
  "client.shutdown_timeout": "20 seconds",
  "client.circuit_breaker.failure_threshold": "5; without any of these keys, there are no breakers",
  "client.circuit_breaker.recovery_timeout": "30 seconds",
  "client.circuit_breaker.half_open_max_calls": "1",
  "i18n.path": "./translations",
  "server.workers": "1",
  "audit.to": "none",
  "audit.reads": "false",
  "audit.collection": "AuditEntry",
  "logging.level": "what the program says, otherwise info"
}
