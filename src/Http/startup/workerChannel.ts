/** What a worker and the primary process say to each other. */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import process from "node:process"
import type { Question, Worker } from "../../internal/worker.ts"

/** The variable with the number of a worker. */
export const workerVariable = "APPKERNEL_WORKER"

export type FromWorker =
  /** The worker handles messages. `stopMillis` is the longest time that its stop takes. */
  | { readonly appkernel: "joined"; readonly stopMillis: number }
  | { readonly appkernel: "ready" }
  | { readonly appkernel: "ask"; readonly id: number; readonly question: Question }
  | { readonly appkernel: "metrics"; readonly id: number; readonly worker: number; readonly text: string }

export type FromPrimary =
  | { readonly appkernel: "stop" | "reload" }
  | { readonly appkernel: "metrics"; readonly id: number }
  | { readonly appkernel: "answer"; readonly id: number; readonly value: unknown }

class Unanswered extends Data.TaggedError("Unanswered")<{ readonly message: string }> {}

const send = (message: FromWorker): void => {
  process.send?.(message)
}

/** The time for an answer. */
const patience = "1 second"

/** The worker that this process is, if it is one of this package. */
export const joinPrimary: Effect.Effect<
  Worker & {
    readonly joined: (stop: Duration.Duration) => Effect.Effect<void>
    readonly ready: Effect.Effect<void>
  } | undefined,
  never,
  Scope.Scope
> = Effect.gen(function*() {
  if (process.send === undefined) return undefined
  const given = yield* Effect.orDie(ConfigProvider.fromEnv().load([workerVariable]))
  const id = Number(given?.value)
  if (!Number.isSafeInteger(id) || id < 1) return undefined
  const pending = new Map<number, (value: unknown) => void>()
  let asked = 0
  let isStopping = false
  let metricsText: (() => string) | undefined
  const onMessage = (message: FromPrimary): void => {
    switch (message.appkernel) {
      case "answer":
        pending.get(message.id)?.(message.value)
        break
      case "metrics":
        send({ appkernel: "metrics", id: message.id, worker: id, text: metricsText?.() ?? "" })
        break
      case "reload":
        process.emit("SIGHUP", "SIGHUP")
        break
      case "stop":
        if (!isStopping) process.emit("SIGTERM", "SIGTERM")
    }
  }
  const onSignal = (): void => {
    isStopping = true
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      process.on("message", onMessage).on("SIGINT", onSignal).on("SIGTERM", onSignal)
    }),
    () =>
      Effect.sync(() => {
        process.off("message", onMessage).off("SIGINT", onSignal).off("SIGTERM", onSignal)
      })
  )
  return {
    id,
    joined: (stop) => Effect.sync(() => send({ appkernel: "joined", stopMillis: Duration.toMillis(stop) })),
    ready: Effect.sync(() => send({ appkernel: "ready" })),
    answerMetrics: (textOf) => {
      metricsText = textOf
    },
    ask: (question) =>
      Effect.callback<unknown>((resume) => {
        const own = ++asked
        pending.set(own, (value) => {
          pending.delete(own)
          resume(Effect.succeed(value))
        })
        send({ appkernel: "ask", id: own, question })
        return Effect.sync(() => pending.delete(own))
      }).pipe(
        Effect.timeoutOrElse({
          duration: patience,
          orElse: () => Effect.fail(new Unanswered({ message: "The primary process does not answer" }))
        })
      )
  }
})
