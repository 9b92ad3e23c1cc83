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
import * as Clock from "effect/Clock"
import type * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import process from "node:process"
import * as KernelConfig from "../KernelConfig.ts"
import type { AccessLog } from "./accessLog.ts"
import type { LogFile, LogFileOptions } from "./logFile.ts"
import { accessLineOf, accessTextOf, lineOf, timestampOf } from "./logLines.ts"

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
 * @category errors
 * @since 0.1.0
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
 * @category references
 * @since 0.1.0
 */
export const Offered: Context.Reference<AccessLog | undefined> = Context.Reference<AccessLog | undefined>(
  "appkernel/Http/KernelLogger/Offered",
  { defaultValue: () => undefined }
)

/**
 * The access log that servers write one line to for each request. Defaults to none: requests are not logged.
 *
 * @category references
 * @since 0.1.0
 */
export const Access: Context.Reference<AccessLog | undefined> = Context.Reference<AccessLog | undefined>(
  "appkernel/Http/KernelLogger/Access",
  { defaultValue: () => undefined }
)

/**
 * Provides the loggers and an access log according to the `logging` keys of the configuration. Closing the scope writes
 * waiting lines first.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<never, LogFileUnusable | Config.ConfigError> =>
  Layer.effectContext(make(options?.development ?? process.stdout.isTTY))

/**
 * Makes the servers that it is provided to log their requests: sets {@link Access} to the access log of {@link layer}. It
 * changes nothing where there is no {@link layer}.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerAccess: Layer.Layer<never> = Layer.effect(Access, Offered)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The maximum number of batched characters. */
const longestBatch = 32_768

const make = Effect.fnUntraced(function*(development: boolean) {
  const { backupCount, fileName, maxSize } = yield* KernelConfig.logging
  const clock = yield* Clock.Clock
  const output = yield* Console.Console
  // The console adds the last line break.
  const console = yield* batched((batch) => output.log(batch.slice(0, -1)))
  const file = fileName === undefined ? undefined : yield* openLogFile({
    file: fileName,
    maxSize,
    backupCount,
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
  const both = (line: string, urgent: boolean): void => {
    if (!development) console.write(line, urgent)
    file?.write(line, urgent)
  }
  const lines = Logger.make((entry) => both(lineOf(entry), LogLevel.isGreaterThanOrEqualTo(entry.logLevel, "Warn")))
  const access: AccessLog = {
    write: (entry) => {
      if (development) console.write(accessTextOf(entry), true)
      if (!development || file !== undefined) both(accessLineOf(entry), false)
    }
  }
  return Context.make(Logger.CurrentLoggers, new Set(development ? [Logger.consolePretty(), lines] : [lines])).pipe(
    Context.add(Offered, access)
  )
})

/** Only a service with a log file loads what rotates it. */
const openLogFile = (options: LogFileOptions): Effect.Effect<LogFile, string, Scope.Scope> =>
  Effect.flatMap(Effect.promise(() => import("./logFile.ts")), ({ open }) => open(options))

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
