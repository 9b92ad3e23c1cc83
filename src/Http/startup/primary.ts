/**
 * The primary process of a service with several workers: it starts them, hands them connections, starts another one in the place of
 * one that ends, and restarts them one after the other, as `workerStates.ts` says.
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { SendHandle, Serializable } from "node:child_process"
import cluster, { type Worker } from "node:cluster"
import process from "node:process"
import { makeQuotas } from "../../internal/rateLimiter.ts"
import type { Question } from "../../internal/worker.ts"
import { type FromPrimary, type FromWorker, workerVariable } from "./workerChannel.ts"
import { type Action, type Event, initialWorkers, serving, transition } from "./workerStates.ts"

/** Occurs when the first worker of a service ends before it listens. Its log says why. */
export class WorkerFailed extends Schema.TaggedError<WorkerFailed>()("WorkerFailed", {}) {
  override get message(): string {
    return "The first worker could not start; its lines say why"
  }
}

/** The time for the metrics of all workers. */
const patience = "500 millis"

/** Runs workers until interrupted. */
export const runPrimary = Effect.fnUntraced(function*(
  count: number,
  environment: { readonly [name: string]: string },
  /** Runs an effect at a signal. */
  at: (
    signal: "SIGHUP" | "SIGUSR2",
    effect: Effect.Effect<void>
  ) => Effect.Effect<void, never, Scope.Scope>
) {
  const scope = yield* Effect.scope
  const processes = new Map<number, Worker>()
  const timers = yield* FiberMap.make<string>()
  const events = yield* Queue.unbounded<Event>()
  const messages = yield* Queue.unbounded<readonly [key: number, FromWorker]>()
  const failed = yield* Deferred.make<never, WorkerFailed>()
  const ended = yield* Deferred.make<void>()
  let workers = initialWorkers(count)

  const tell = (key: number, message: FromPrimary): void => {
    const worker = processes.get(key)
    if (worker?.isConnected() === true) worker.send(message)
  }

  const fork = (key: number, id: number): void => {
    const begin = process.uptime()
    const worker = cluster.fork({ ...environment, [workerVariable]: String(id) })
    processes.set(key, worker)
    closeUndelivered(worker)
    const exited = (how: string): void => {
      if (!processes.delete(key)) return
      Queue.offerUnsafe(events, { is: "exited", key, how, ranMillis: (process.uptime() - begin) * 1_000 })
    }
    worker.on("message", (message: FromWorker) => {
      Queue.offerUnsafe(messages, [key, message])
    })
    worker.on("exit", (code, signal) => exited(signal ?? `code ${code}`))
    // Of a message to one that has ended; or the system has started none, and there is no exit.
    worker.on("error", ({ message }) => {
      if (worker.process.pid === undefined) exited(message)
    })
  }

  const later = (timer: string, millis: number, event: Event) =>
    FiberMap.run(timers, timer, Effect.delay(Queue.offer(events, event), millis))

  const perform = (action: Action): Effect.Effect<unknown> => {
    switch (action.do) {
      case "fork":
        return Effect.sync(() => fork(action.key, action.id))
      case "stop":
      case "reload":
        return Effect.sync(() => tell(action.key, { appkernel: action.do }))
      case "kill":
        return Effect.sync(() => processes.get(action.key)?.process.kill("SIGKILL"))
      case "limit":
        return later(`limit ${action.key}`, action.millis, { is: "overdue", key: action.key })
      case "wait":
        return later(`wait ${action.id}`, action.millis, { is: "waited", id: action.id })
      case "log": {
        const line = logs[action.level](action.text)
        return action.id === undefined ? line : Effect.annotateLogs(line, { worker: action.id })
      }
      case "fail":
        return Deferred.fail(failed, new WorkerFailed())
      case "end":
        return Deferred.succeed(ended, undefined)
    }
  }

  const happened = (event: Event): Effect.Effect<void> =>
    Effect.suspend(() => {
      const [after, actions] = transition(workers, event)
      workers = after
      return Effect.forEach(actions, perform, { discard: true })
    })

  const quotas = yield* makeQuotas
  const asked = new Map<number, (text: string, id: number) => void>()
  let lastAsked = 0
  const texts = Effect.suspend(() => {
    const own = ++lastAsked
    const found = new Map<number, string>()
    const waiting = serving(workers)
    return Effect.callback<void>((resume) => {
      asked.set(own, (text, id) => {
        found.set(id, text)
        if (found.size === waiting.length) resume(Effect.void)
      })
      for (const { key } of waiting) tell(key, { appkernel: "metrics", id: own })
      return Effect.sync(() => asked.delete(own))
    }).pipe(
      Effect.timeoutOption(patience),
      Effect.map(() => [...found].toSorted(([a], [b]) => a - b)),
      Effect.ensuring(Effect.sync(() => asked.delete(own)))
    )
  })
  const answerTo = (question: Question): Effect.Effect<unknown> => {
    if (question.kind === "metrics") return texts
    const rate = { limit: question.limit, window: Duration.millis(question.millis) }
    return quotas[question.kind](question.key, rate)
  }
  const handle = (key: number, message: FromWorker): Effect.Effect<unknown> => {
    switch (message.appkernel) {
      case "joined":
        return Queue.offer(events, { is: "joined", key, stopMillis: message.stopMillis })
      case "ready":
        return Queue.offer(events, { is: "ready", key })
      case "metrics":
        return Effect.sync(() => asked.get(message.id)?.(message.text, message.worker))
      case "ask": {
        const answered = Effect.map(answerTo(message.question), (value) => {
          tell(key, { appkernel: "answer", id: message.id, value })
        })
        return message.question.kind === "metrics" ? Effect.forkIn(answered, scope) : answered
      }
    }
  }
  yield* Effect.forkScoped(
    Effect.forever(Effect.flatMap(Queue.take(messages), ([key, message]) => handle(key, message)))
  )
  yield* Effect.forkScoped(Effect.forever(Effect.flatMap(Queue.take(events), happened)))
  yield* at("SIGUSR2", Effect.asVoid(Queue.offer(events, { is: "restart" })))
  yield* at("SIGHUP", Effect.asVoid(Queue.offer(events, { is: "reload" })))
  yield* Effect.addFinalizer(() => Effect.andThen(Queue.offer(events, { is: "stop" }), Deferred.await(ended)))
  yield* Queue.offer(events, { is: "begin" })
  return yield* Deferred.await(failed)
})

// internal

const logs = { info: Effect.logInfo, warning: Effect.logWarning, error: Effect.logError }

/**
 * Closes the connection that is on its way to a worker when that ends. Node's `cluster` keeps it open until the worker says that it
 * has it.
 */
const closeUndelivered = ({ process: child }: Worker): void => {
  const underway = new Map<unknown, NonNullable<SendHandle>>()
  const send = child.send.bind(child)
  const disconnect = child.disconnect.bind(child)
  // A connection that is handed over is no socket yet: only these calls reveal it. Node itself makes the second one at the end of
  // the channel, and emits no event while a connection is on its way.
  Object.assign(child, {
    send: (message: Serializable, handle?: SendHandle | null, ...rest: ReadonlyArray<unknown>): boolean => {
      if (handle) underway.set(Reflect.get(Object(message), "seq"), handle)
      return Reflect.apply(send, child, [message, handle, ...rest])
    },
    disconnect: (): void => {
      disconnect()
      // What it said last is still to be emitted.
      process.nextTick(() => {
        for (const handle of underway.values()) Reflect.apply(Reflect.get(handle, "close"), handle, [])
      })
    }
  })
  child.on("internalMessage", (message: unknown) => underway.delete(Reflect.get(Object(message), "ack")))
}
