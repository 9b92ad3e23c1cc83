/**
 * Runs a service as a process: configuration, logging, telemetry, workers, signals and exit codes.
 *
 * @since 0.1.0
 */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import { availableParallelism, constants } from "node:os"
import process from "node:process"
import { Application } from "../../internal/application.ts"
import { configOf } from "../../internal/configurationKeys.ts"
import { DeclarationError } from "../../internal/declarationError.ts"
import { type Reload, Reloads } from "../../internal/reload.ts"
import { CurrentWorker } from "../../internal/worker.ts"
import { CountsOperations } from "../../Repository/internal.ts"
import * as KernelConfig from "../KernelConfig.ts"
import * as KernelLogger from "../server/kernelLogger.ts"
import { Draining, readyLast } from "../server/readiness.ts"
import { isMeasured } from "./monitored.ts"
import { joinPrimary } from "./workerChannel.ts"

/**
 * The options of an engine.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends KernelConfig.Options, KernelLogger.Options {
  /** The names of all roles. A rule, `enableSecurity` or `enableOpenApi` about another one fails the start. Defaults to any. */
  readonly roles?: ReadonlyArray<string> | undefined
}

/**
 * Occurs when a service could not start. The reason has already been logged.
 *
 * @category errors
 * @since 0.1.0
 */
export class StartFailed extends Schema.TaggedError<StartFailed>()("StartFailed", { detail: Schema.String }) {
  override readonly [Runtime.errorReported] = false
  override get message(): string {
    return this.detail
  }
}

/**
 * Runs a service until it is stopped, with its configuration and its log. A failure to start is one line in the log and a
 * non-zero exit code. For `NodeRuntime.runMain`.
 *
 * @internal
 */
export const launchWith =
  (id: string, options: Options) => <A, E, R>(layer: Layer.Layer<A, E, R>): Effect.Effect<never, StartFailed, R> => {
    const stopping = Effect.gen(function*() {
      const delay = yield* KernelConfig.shutdownDelay
      const draining = yield* Draining
      draining.isStopping = true
      if (!Duration.isZero(delay)) {
        yield* Effect.logInfo(`Stopping in ${Duration.format(delay)}: the service is not ready any more`)
        yield* Effect.sleep(delay)
      }
      yield* Effect.logInfo("Stopping: no more requests, the running ones are answered")
    })
    const runningThen = (ready: Effect.Effect<void>) =>
      Effect.scoped(
        Effect.andThen(
          Effect.andThen(readyLast(Layer.build(layer)), ready),
          Effect.onInterrupt(Effect.never, () => Effect.orDie(stopping))
        )
      )
    return Effect.scoped(Effect.gen(function*() {
      yield* signals
      const { layer: files } = yield* Effect.promise(() => import("@effect/platform-node/NodeFileSystem"))
      const loaded = yield* Effect.provide(KernelConfig.load(options), files)
      const { cfgDir, context, log } = loaded
      const environment = yield* ConfigProvider.ConfigProvider
      const reloads = new Set<Reload>()
      const worker = yield* joinPrimary
      const count = worker === undefined ? yield* workersOf.pipe(Effect.provideContext(context)) : 1
      const running = count > 1
        ? reported(Effect.scoped(primaryOf(count)))
        : reported(
          Effect.andThen(
            worker === undefined ? Effect.void : Effect.flatMap(stopTime, worker.joined),
            Effect.provide(runningThen(worker === undefined ? Effect.void : worker.ready), [counting, telemetry])
          )
        )
      const reload = Effect.promise(() => import("./reloading.ts")).pipe(
        Effect.map(({ makeReload }) => makeReload(options, loaded, reloads)),
        Effect.cached,
        Effect.map(Effect.flatten),
        Effect.map((reload) =>
          reload.pipe(Effect.provide(files), Effect.provideService(ConfigProvider.ConfigProvider, environment))
        )
      )
      return yield* log.pipe(
        Effect.andThen(count > 1 ? Effect.void : Effect.flatMap(reload, (reload) => atSignal("SIGHUP", reload))),
        Effect.andThen(running),
        Effect.provideService(Draining, { isStopping: false }),
        Effect.provide(KernelLogger.layer(options)),
        Effect.provideContext(
          Context.add(context, Reloads, {
            all: reloads,
            provider: Context.get(context, ConfigProvider.ConfigProvider)
          }).pipe(
            Context.add(CurrentWorker, worker),
            Context.add(Application, { id, cfgDir, development: options.development, isTest: false })
          )
        )
      )
    })).pipe(
      KernelConfig.explained,
      Effect.catch((error) => error instanceof StartFailed ? Effect.fail(error) : report(error))
    )
  }

/** Operations of repositories are counted for those who read it. */
const counting = Layer.effect(CountsOperations, isMeasured)

/** Sends what the configuration says. What sends it is loaded by services that do. */
const telemetry = Layer.unwrap(Effect.gen(function*() {
  const { endpoint, ...options } = yield* KernelConfig.telemetry
  if (endpoint === undefined) return Layer.empty
  const { layer } = yield* Effect.promise(() => import("../monitoring/telemetry.ts"))
  return layer({ endpoint, ...options })
}))

const reported = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, StartFailed, R> =>
  Effect.catch(KernelConfig.explained(effect), (error) => report(error)).pipe(
    // Some mistakes in declarations are only found when a layer is built.
    Effect.catchDefect((defect) => defect instanceof DeclarationError ? report(defect) : Effect.die(defect))
  )

const report = (error: unknown): Effect.Effect<never, StartFailed> => {
  const detail = error instanceof Error ? error.message : String(error)
  return Effect.andThen(Effect.logFatal(detail), Effect.fail(new StartFailed({ detail })))
}

/** `runMain` would treat a second signal like the first, and a clean stop as a failure. */
const signals: Effect.Effect<void, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => {
    let stopping: number | undefined
    const onSignal = (signal: NodeJS.Signals): void => {
      if (stopping === undefined) stopping = process.uptime()
      else if (process.uptime() - stopping > sameSignal) process.exit(128 + constants.signals[signal])
    }
    // `runMain` listens already, and its interruption may end the scope before the next listener runs.
    process.prependListener("SIGINT", onSignal).prependListener("SIGTERM", onSignal)
    return { onSignal, isStopping: () => stopping !== undefined }
  }),
  ({ isStopping, onSignal }) =>
    Effect.sync(() => {
      process.off("SIGINT", onSignal).off("SIGTERM", onSignal)
      if (isStopping()) {
        process.once("exit", (code) => {
          if (code === interrupted) process.exitCode = 0
        })
      }
    })
).pipe(Effect.asVoid)

/** Runs an effect at a signal, once for those that come meanwhile. A closing terminal's `SIGHUP` ends the process. */
const atSignal = Effect.fnUntraced(function*(signal: "SIGHUP" | "SIGUSR2", effect: Effect.Effect<void>) {
  if (signal === "SIGHUP" && process.stdout.isTTY) return
  const arrived = yield* Queue.sliding<void>(1)
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Queue.take(arrived), effect)))
  const onSignal = (): void => void Queue.offerUnsafe(arrived, undefined)
  yield* Effect.acquireRelease(
    Effect.sync(() => process.on(signal, onSignal)),
    () => Effect.sync(() => process.off(signal, onSignal))
  )
})

/** The time after which a worker that stops is killed. */
const stopTime = Effect.gen(function*() {
  const times = [
    yield* KernelConfig.shutdownDelay,
    yield* configOf("server.shutdown_timeout"),
    yield* KernelConfig.killTimeout
  ]
  return times.reduce(Duration.sum)
})

/** The number of processes that the configuration asks for. */
const workersOf = Effect.map(KernelConfig.workers, (workers) => workers === "auto" ? availableParallelism() : workers)

/** Workers have the same secret of cursors. */
const primaryOf = Effect.fnUntraced(function*(count: number) {
  const { runPrimary } = yield* Effect.promise(() => import("./primary.ts"))
  const isConfigured = (yield* KernelConfig.cursorSecret) !== undefined
  const secret = isConfigured ? {} : { APPKERNEL_SECURITY_CURSOR_SECRET: `${randomUUID()}${randomUUID()}` }
  return yield* runPrimary(count, secret, atSignal)
})

/** In seconds. A Ctrl-C on a terminal reaches a process that `npm` started twice. */
const sameSignal = 0.2

/** The exit code of `runMain` for an interrupted effect. */
const interrupted = 130
