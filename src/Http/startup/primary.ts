/**
 * The primary process of a service with several workers: it starts them, hands them connections, takes the place of one that ends,
 * and restarts them one after the other.
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import cluster, { type Worker } from "node:cluster"
import process from "node:process"
import { makeQuotas } from "../../internal/rateLimiter.ts"
import type { Question } from "../../internal/worker.ts"
import { type FromPrimary, type FromWorker, workerVariable } from "./workerChannel.ts"

/** Occurs when the first worker of a service ends before it listens. Its log says why. */
export class WorkerFailed extends Schema.TaggedError<WorkerFailed>()("WorkerFailed", {}) {
  override get message(): string {
    return "The first worker could not start; its lines say why"
  }
}

interface Member {
  readonly id: number
  readonly worker: Worker
  readonly ready: Deferred.Deferred<void>
  readonly ended: Deferred.Deferred<string>
  /** Whether another process takes its place, or the service stops. */
  isRetired: boolean
}

/** The waits before one that has ended is started again. */
const firstDelay = Duration.seconds(1)
const maxDelay = Duration.seconds(30)

/** One that has run for so long has not failed because of how it starts. */
const healthyMillis = 60_000

/** The time for the metrics of all workers. */
const patience = "500 millis"

/** Runs workers until interrupted. The first starts alone, so that indexes and migrations are made once. */
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
  const members = new Map<number, Member>()
  const all = new Set<Member>()
  const failures = new Map<number, number>()
  const messages = yield* Queue.unbounded<readonly [Member, FromWorker]>()
  let isStopping = false

  const tell = ({ worker }: Member, message: FromPrimary): void => {
    if (worker.isConnected()) worker.send(message)
  }

  const spawn = Effect.fnUntraced(function*(id: number) {
    const ready = yield* Deferred.make<void>()
    const ended = yield* Deferred.make<string>()
    const worker = cluster.fork({ ...environment, [workerVariable]: String(id) })
    const member: Member = { id, worker, ready, ended, isRetired: isStopping }
    all.add(member)
    worker.on("message", (message: FromWorker) => {
      Queue.offerUnsafe(messages, [member, message])
    })
    worker.on("exit", (code, signal) => {
      all.delete(member)
      Deferred.doneUnsafe(ended, Effect.succeed(signal ?? `code ${code}`))
    })
    return member
  })

  /** Whether it listens; otherwise it has ended. */
  const started = ({ ended, ready }: Member) =>
    Effect.raceFirst(Effect.as(Deferred.await(ready), true), Effect.as(Deferred.await(ended), false))

  /** Starts another one in its place when it ends by itself. */
  const watch = (member: Member): Effect.Effect<void> =>
    Effect.gen(function*() {
      const begin = process.uptime()
      const how = yield* Deferred.await(member.ended)
      if (member.isRetired || isStopping) return
      const before = (process.uptime() - begin) * 1_000 > healthyMillis ? 0 : failures.get(member.id) ?? 0
      failures.set(member.id, before + 1)
      const delay = Duration.min(Duration.times(firstDelay, 2 ** Math.min(before, 10)), maxDelay)
      yield* Effect.annotateLogs(
        Effect.logError(`A worker has ended (${how}) and is started again in ${Duration.format(delay)}`),
        { worker: member.id }
      )
      yield* Effect.sleep(delay)
      yield* place(member.id)
    })

  const place = Effect.fnUntraced(function*(id: number) {
    const member = yield* spawn(id)
    members.set(id, member)
    yield* Effect.forkIn(watch(member), scope)
    return member
  })

  const retire = (member: Member) =>
    Effect.suspend(() => {
      member.isRetired = true
      tell(member, { appkernel: "stop" })
      return Effect.asVoid(Deferred.await(member.ended))
    })

  const restart = Effect.gen(function*() {
    yield* Effect.logInfo("The workers are restarted, one after the other")
    for (const [id, old] of members) {
      const next = yield* spawn(id)
      if (!(yield* started(next))) {
        return yield* Effect.annotateLogs(
          Effect.logError("A new worker could not start: the others stay as they are"),
          { worker: id }
        )
      }
      members.set(id, next)
      yield* Effect.forkIn(watch(next), scope)
      yield* retire(old)
    }
    yield* Effect.logInfo("All workers are restarted")
  })

  const quotas = yield* makeQuotas
  const asked = new Map<number, (text: string, id: number) => void>()
  let lastAsked = 0
  const texts = Effect.suspend(() => {
    const own = ++lastAsked
    const found = new Map<number, string>()
    const waiting = [...members.values()]
    return Effect.callback<void>((resume) => {
      asked.set(own, (text, id) => {
        found.set(id, text)
        if (found.size === waiting.length) resume(Effect.void)
      })
      for (const member of waiting) tell(member, { appkernel: "metrics", id: own })
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
  const handle = (member: Member, message: FromWorker): Effect.Effect<unknown> => {
    switch (message.appkernel) {
      case "ready":
        return Deferred.succeed(member.ready, undefined)
      case "metrics":
        return Effect.sync(() => asked.get(message.id)?.(message.text, member.id))
      case "ask": {
        const answered = Effect.map(answerTo(message.question), (value) => {
          tell(member, { appkernel: "answer", id: message.id, value })
        })
        return message.question.kind === "metrics" ? Effect.forkIn(answered, scope) : answered
      }
    }
  }
  yield* Effect.forkScoped(
    Effect.forever(Effect.flatMap(Queue.take(messages), ([member, message]) => handle(member, message)))
  )
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      isStopping = true
      return Effect.forEach([...all], retire, { concurrency: "unbounded", discard: true })
    })
  )
  const first = yield* place(1)
  if (!(yield* started(first))) return yield* new WorkerFailed()
  for (let id = 2; id <= count; id++) yield* place(id)
  yield* Effect.forEach([...members.values()], started, { concurrency: "unbounded", discard: true })
  yield* Effect.logInfo(`${count} workers serve: SIGHUP lets them read the configuration, SIGUSR2 restarts them`)
  yield* at("SIGUSR2", restart)
  yield* at(
    "SIGHUP",
    Effect.sync(() => {
      for (const member of members.values()) tell(member, { appkernel: "reload" })
    })
  )
  return yield* Effect.never
})
