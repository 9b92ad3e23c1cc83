/** How many jobs wait, how many are dead letters, and how late the oldest is. */
import { dateOf } from "@appkernel/mql/values"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { ReadError } from "../../Repository/RepositoryError.ts"
import { pending, queuedJobs } from "../queue/records.ts"

/** Measures queues again and again, until the scope closes. */
export const measureQueues = (
  store: DocumentStore["Service"],
  names: ReadonlyArray<string>
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.forEach(names, (name) => measure(store, name), { discard: true }).pipe(
    Effect.catch((error) => Effect.logWarning("Can't count the jobs", error)),
    Effect.repeat(Schedule.spaced("10 seconds")),
    Effect.forkScoped,
    Effect.asVoid
  )

// internal

const measure = Effect.fnUntraced(function*(
  store: DocumentStore["Service"],
  queue: string
): Effect.fn.Return<void, ReadError> {
  const now = yield* Clock.currentTimeMillis
  const due = { queue, due: { $lte: dateOf(now) }, ...pending }
  const { documents: [oldest], total } = yield* store.findAndCount(queuedJobs, {
    filter: due,
    sort: { due: 1 },
    limit: 1
  })
  const since = oldest?.["due"]
  const dead = yield* store.count(queuedJobs, { state: "dead", queue })
  const set = (metric: Metric.Gauge<number>, value: number) =>
    Metric.update(Metric.withAttributes(metric, { job: queue }), value)
  yield* set(waiting, total)
  yield* set(deadLetters, dead)
  yield* set(delay, since instanceof Date ? (now - since.getTime()) / 1000 : 0)
})

const waiting = Metric.gauge("appkernel.jobs.waiting", {
  description: "Jobs whose time has come, and that nobody does"
})

const deadLetters = Metric.gauge("appkernel.jobs.dead", { description: "Dead letters" })

const delay = Metric.gauge("appkernel.jobs.delay", {
  description: "How long the oldest of those that wait has done so",
  attributes: { unit: "s" }
})
