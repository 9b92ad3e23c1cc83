/**
 * The log of a service: one line of JSON for each entry and each request, on the console and, if configured, in a file
 * that is rotated by size.
 *
 * **Details**
 *
 * An entry of `Effect.log` and its variants has `timestamp`, `level`, `message`, its annotations, `cause` if there is
 * one, and `request_id` if it is logged during a request. A request's own line has `request_id`, `address` (see
 * `ClientAddress`), `method`, `route` (the pattern: `/users/:id`), `status` and `duration_ms`, the time until the response
 * was ready. Status 499 means that the client disconnected first. The log contains no URL, query, header, body or `Redacted` value.
 *
 * Lines are batched for 50 milliseconds. They are written immediately if they are warnings or errors, if there are
 * many, and when the service stops. The start fails if the file can't be opened. If it can't be written later, the
 * service continues: a warning on the console reports it, the lines are lost, and the file is opened again after ten
 * seconds.
 *
 * @since 0.1.0
 */
import { currentUserIdOf } from "@appkernel/document-store/internal"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Formatter from "effect/Formatter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import * as path from "node:path"
import process from "node:process"
import { fileModes } from "../../internal/fileModes.ts"
import { quote } from "../../internal/json.ts"
import { onReload } from "../../internal/reload.ts"
import { CurrentWorker } from "../../internal/worker.ts"
import * as KernelConfig from "../KernelConfig.ts"
import { requestIdOf } from "../request/requestId.ts"
import type { AccessEntry, AccessLog } from "./accessLog.ts"
import type { LogFile, LogFileOptions } from "./logFile.ts"

export type { AccessEntry, AccessLog } from "./accessLog.ts"

/**
 * Options of {@link layer}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * Whether the service runs for development. Then the console output is for people: in colours, with several lines for an
   * entry. The file always has JSON. Defaults to whether the console is a terminal.
   */
  readonly development?: boolean | undefined
}

/**
 * Occurs when the log file can't be opened at start. A retry fails until the file or the configuration is corrected.
 *
 * @internal
 */
export class LogFileUnusable extends Schema.TaggedError<LogFileUnusable>()("LogFileUnusable", {
  file: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `Can't write the log to ${this.file}: ${this.detail}`
  }
}

/**
 * The access log of {@link layer}. Defaults to none. Servers do not write to it unless {@link layerAccess} is provided.
 *
 * @internal
 */
export const Offered: Context.Reference<AccessLog | undefined> = Context.Reference<AccessLog | undefined>(
  "appkernel/Http/KernelLogger/Offered",
  { defaultValue: () => undefined }
)

/** The access log that servers write one line to for each request. Defaults to none: requests are not logged. @internal */
export const AccessLogger: Context.Reference<AccessLog | undefined> = Context.Reference<AccessLog | undefined>(
  "appkernel/Http/KernelLogger/Access",
  { defaultValue: () => undefined }
)

/**
 * Provides the loggers and an access log according to the `logging` keys of the configuration. Closing the scope writes
 * waiting lines first.
 *
 * @internal
 */
export const layer = (options?: Options): Layer.Layer<never, LogFileUnusable | Config.ConfigError> =>
  Layer.effectContext(make(options?.development ?? process.stdout.isTTY))

/**
 * Makes the servers that it is provided to log their requests: sets {@link AccessLogger} to the access log of {@link layer}. It
 * changes nothing where there is no {@link layer}.
 *
 * @internal
 */
export const layerAccess: Layer.Layer<never> = Layer.effect(AccessLogger, Offered)

// internal

/** The maximum number of batched characters. */
const longestBatch = 32_768

const make = Effect.fnUntraced(function*(development: boolean) {
  const { backupCount, fileName, level, maxSize } = yield* KernelConfig.logging
  const worker = (yield* CurrentWorker)?.id
  const threshold = level === undefined ? undefined : { level }
  if (threshold !== undefined) {
    yield* onReload(
      ["logging.level"],
      Effect.map(KernelConfig.logging, ({ level }) => ({
        restart: level === undefined ? ["logging.level"] : [],
        apply: Effect.sync(() => {
          threshold.level = level ?? threshold.level
        })
      }))
    )
  }
  const clock = yield* Clock.Clock
  const output = yield* Console.Console
  // The console adds the last line break.
  const console = yield* batched(
    worker === undefined
      ? (batch) => output.log(batch.slice(0, -1))
      : (batch) => {
        // The system does not mix short texts that several processes write to one pipe.
        for (const part of shortParts(batch)) output.log(part)
      }
  )
  const file = fileName === undefined ? undefined : yield* openLogFile({
    file: worker === undefined ? fileName : ofWorker(fileName, worker),
    maxSize,
    backupCount,
    modes: yield* fileModes,
    now: () => clock.currentTimeMillisUnsafe(),
    onFailure: (detail) => {
      const timestamp = timestampOf(clock.currentTimeMillisUnsafe())
      const message = `The log can't be written to ${fileName}: ${detail}`
      console.write(`${JSON.stringify({ timestamp, level: "WARN", message })}\n`, true)
    }
  }).pipe(
    Effect.mapError((detail) => new LogFileUnusable({ file: fileName, detail })),
    // Writes to the file are batched as well, since the library performs one for each piece.
    Effect.flatMap(({ write }) => batched(write))
  )
  const admits = (level: LogLevel.LogLevel): boolean =>
    threshold === undefined || LogLevel.isGreaterThanOrEqualTo(level, threshold.level)
  const both = (line: string, urgent: boolean): void => {
    if (!development) console.write(line, urgent)
    file?.write(line, urgent)
  }
  const lines = Logger.make((entry) =>
    both(lineOf(entry, worker), LogLevel.isGreaterThanOrEqualTo(entry.logLevel, "Warn"))
  )
  const access: AccessLog = {
    write: (entry) => {
      if (!admits(entry.status >= 500 ? "Error" : "Info")) return
      if (development) console.write(accessTextOf(entry), true)
      if (!development || file !== undefined) both(accessLineOf(entry, worker), false)
    }
  }
  const context = Context.make(
    Logger.CurrentLoggers,
    new Set((development ? [Logger.consolePretty(), lines] : [lines]).map((logger) => limitedTo(threshold, logger)))
  ).pipe(Context.add(Offered, access), Context.add(Threshold, threshold))
  // The level may become a lower one while the fibers run that got theirs here.
  return threshold === undefined ? context : Context.add(context, References.MinimumLogLevel, "All")
})

/**
 * The least level of entries, which changes when the configuration is read again; `undefined` if none is configured.
 *
 * @internal
 */
export const Threshold: Context.Reference<{ readonly level: LogLevel.LogLevel } | undefined> = Context.Reference<
  { readonly level: LogLevel.LogLevel } | undefined
>("appkernel/Http/KernelLogger/Threshold", { defaultValue: () => undefined })

/**
 * A logger of the entries from the least level on. Where the program gives a level to a part of itself, that one counts there.
 *
 * @internal
 */
export const limitedTo = <A>(
  threshold: { readonly level: LogLevel.LogLevel } | undefined,
  logger: Logger.Logger<unknown, A>
): Logger.Logger<unknown, A | undefined> =>
  threshold === undefined ? logger : Logger.make((entry) => {
    const isOurs = entry.fiber.getRef(References.MinimumLogLevel) === "All"
    return !isOurs || LogLevel.isGreaterThanOrEqualTo(entry.logLevel, threshold.level) ? logger.log(entry) : undefined
  })

/** The lines of a batch, joined to texts that a pipe takes as one. */
const shortParts = (batch: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  for (const line of batch.slice(0, -1).split("\n")) {
    const last = parts.at(-1)
    // A character has up to three bytes in UTF-8.
    if (last !== undefined && (last.length + line.length) * 3 < pipeSize) parts[parts.length - 1] = `${last}\n${line}`
    else parts.push(line)
  }
  return parts
}

/** The bytes that Linux writes to a pipe at once. */
const pipeSize = 4_096

/** The file of a worker: `shop.2.log`. */
const ofWorker = (file: string, worker: number): string => {
  const { dir, ext, name } = path.parse(file)
  return path.join(dir, `${name}.${worker}${ext}`)
}

/** Only a service with a log file loads what rotates it. */
const openLogFile = (options: LogFileOptions): Effect.Effect<LogFile, string, Scope.Scope> =>
  Effect.flatMap(Effect.promise(() => import("./logFile.ts")), ({ openLogFile }) => openLogFile(options))

interface Batched {
  /** Urgent lines are written immediately, after those that wait. */
  readonly write: (line: string, urgent: boolean) => void
}

/** Passes lines on in batches. */
const batched = (output: (batch: string) => void): Effect.Effect<Batched, never, Scope.Scope> =>
  Effect.gen(function*() {
    let batch = ""
    const waiting = Latch.makeUnsafe()
    const flush = (): void => {
      if (batch === "") return
      const lines = batch
      batch = ""
      output(lines)
    }
    const flushing = Effect.forever(
      Effect.andThen(
        waiting.await,
        Effect.andThen(
          Effect.sleep("50 millis"),
          Effect.sync(() => {
            waiting.closeUnsafe()
            flush()
          })
        )
      )
    )
    yield* Effect.addFinalizer(() => Effect.sync(flush))
    yield* Effect.forkScoped(flushing)
    // A second signal ends the process without closing scopes.
    yield* Effect.acquireRelease(
      Effect.sync(() => process.on("exit", flush)),
      () => Effect.sync(() => process.off("exit", flush))
    )
    return {
      write: (line, urgent) => {
        batch += line
        if (urgent || batch.length > longestBatch) flush()
        else waiting.openUnsafe()
      }
    }
  })

/** A log entry as a line of JSON, with the identifier and the subject of its request, if there are any. */
const lineOf = (
  { cause, date, fiber, logLevel, message }: Logger.Options<unknown>,
  worker: number | undefined
): string => {
  const entry: { [key: string]: unknown } = {
    timestamp: date.toISOString(),
    level: logLevel.toUpperCase(),
    message: loggedText(message)
  }
  if (worker !== undefined) entry["worker"] = worker
  const request = Context.getOrUndefined(fiber.context, HttpServerRequest.HttpServerRequest)
  if (request !== undefined) entry["request_id"] = requestIdOf(request)
  const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
  if (span !== undefined && fiber.getRef(Tracer.Tracer) !== Tracer.nativeTracer) {
    entry["trace_id"] = span.traceId
    entry["span_id"] = span.spanId
  }
  const subject = currentUserIdOf(fiber)
  if (subject !== undefined) entry["subject"] = subject
  for (const [key, value] of Object.entries(fiber.getRef(References.CurrentLogAnnotations))) {
    // An annotation must not replace the entry's own members.
    if (!Object.hasOwn(entry, key)) entry[key] = value
  }
  for (const [name, start] of fiber.getRef(References.CurrentLogSpans)) {
    entry[`${name}_ms`] ??= date.getTime() - start
  }
  if (cause.reasons.length > 0) entry["cause"] = Cause.pretty(cause)
  return `${Formatter.formatJson(entry)}\n`
}

/**
 * The JSON line of an access log entry. It is built by hand, since a server may log tens of thousands a second.
 *
 * @internal
 */
export const accessLineOf = (
  { address, duration, method, requestId, route, status, subject, time }: AccessEntry,
  worker?: number
): string =>
  `{"timestamp":"${timestampOf(time)}","level":"${
    status >= 500 ? "ERROR" : "INFO"
  }","message":"request","request_id":"${requestId}"${
    address === undefined ? "" : `,"address":"${address}"`
  },"method":"${method}","route":${route === undefined ? "null" : quote(route)},"status":${status},"duration_ms":${
    Math.round(duration * 1000) / 1000
  }${subject === undefined ? "" : `,"subject":${quote(subject)}`}${
    worker === undefined ? "" : `,"worker":${worker}`
  }}\n`

/** The text of an access log entry for the console. */
const accessTextOf = ({ duration, method, requestId, route, status, subject, time }: AccessEntry): string =>
  `[${timestampOf(time).slice(11, 23)}] ${method} ${route ?? "(no route)"} ${status} ${
    duration.toFixed(1)
  }ms (${requestId})${subject === undefined ? "" : ` ${quote(subject)}`}\n`

let lastTime = NaN
let lastTimestamp = ""

/** Formats milliseconds since 1970 as ISO 8601. Consecutive entries often have the same time. */
const timestampOf = (time: number): string => {
  if (time !== lastTime) {
    lastTime = time
    lastTimestamp = DateTime.formatIso(DateTime.makeUnsafe(time))
  }
  return lastTimestamp
}

const loggedText = (message: unknown): unknown => {
  const parts = Array.isArray(message) ? message : [message]
  const texts = parts.map((part): unknown => part instanceof Error ? String(part) : part)
  return texts.length === 1 ? texts[0] : texts
}
