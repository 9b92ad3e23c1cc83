/** Schedules as jobs: one for each due time, with a key of it, so that of all processes one does it. */
import * as Clock from "effect/Clock"
import * as Cron from "effect/Cron"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { DeclarationError } from "../../internal/declarationError.ts"
import { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { StoreError } from "../../Repository/RepositoryError.ts"
import type { Any, Attempt, Described, Failure, Schedule } from "../queue/description.ts"
import { enqueueElement, putOff } from "../queue/jobQueue.ts"
import { jobIdOf, queuedJobs } from "../queue/records.ts"

/** The job of a schedule, and what enqueues its first run. */
export interface Scheduled {
  readonly implementation: Any
  readonly begin: Effect.Effect<void, StoreError, DocumentStore>
}

/** Dies if the expression or the time zone is wrong, or names no time that there is. Runs that are done are kept for the time `keep`. */
export const scheduledOf = Effect.fnUntraced(function*(
  { expression, name, options, run: work }: Schedule,
  keep: Duration.Duration
): Effect.fn.Return<Scheduled> {
  const wrong = (reason: string) => Effect.die(new DeclarationError(`The schedule ${name} is wrong: ${reason}`))
  const parsed = Cron.parse(expression, options.zone ?? "UTC")
  if (Result.isFailure(parsed)) return yield* wrong(parsed.failure.message)
  const { missed = "once", zone: _, ...others } = options
  const described: Described = { name: `cron ${name}`, payload: Payload, options: { ...others, concurrency: 1 } }
  const written = `${expression} ${options.zone ?? "UTC"}`
  const nextAfter = (time: number) => Cron.next(parsed.success, DateTime.makeUnsafe(time)).getTime()
  const begin = yield* Clock.currentTimeMillis
  // Such as on the 30th of February.
  if (Result.isFailure(Result.try(() => nextAfter(begin)))) return yield* wrong(`"${expression}" never occurs`)
  const enqueueNext = Effect.fnUntraced(function*(after: number) {
    const due = nextAfter(after)
    yield* enqueueElement(described, { payload: { due, expression: written } }, {
      key: DateTime.formatIso(DateTime.makeUnsafe(due)),
      // One that has passed comes before those that have passed later.
      delay: due - (yield* Clock.currentTimeMillis)
    })
  })
  const run = Effect.fnUntraced(function*({ due, expression }: typeof Payload.Type, attempt: Attempt) {
    const now = yield* Clock.currentTimeMillis
    const at = DateTime.formatIso(DateTime.makeUnsafe(due))
    const taken = missed === "once" ? now : yield* firstTaken(described.name, attempt.id, now)
    // Before the work, which may end the process. Of the times that have passed, "each" has the next one, unless this run is an old one
    // that is tried again: that one is done, and may be kept no longer.
    if (missed !== "each") yield* enqueueNext(now)
    else if (now - taken < Duration.toMillis(keep)) yield* enqueueNext(due)
    // Another version of the service has enqueued it, for a time that may be one of this version as well.
    if (expression !== written && nextAfter(due - 1) !== due) {
      // While versions replace each other, the other one may still do it.
      if (now - due < replacing) return yield* putOff(described, attempt, now + 30_000)
      return yield* Effect.logWarning(`The schedule ${name} is not for ${at} any more`)
    }
    if (missed === "skip" && taken - due > late) {
      return yield* Effect.logWarning(`The schedule ${name} has missed ${at}`)
    }
    // The engine's type says which services it needs.
    yield* work(DateTime.makeUnsafe(due)) as Effect.Effect<unknown, Failure>
  })
  return {
    implementation: {
      _tag: "JobImplementation",
      job: { name: described.name, "~appkernel/Job": described },
      run
    },
    begin: Effect.flatMap(Clock.currentTimeMillis, (now) => enqueueNext(now))
  }
})

// internal

/** The due time, in milliseconds since 1970, and by which expression and zone it is. */
const Payload = Schema.Struct({ due: Schema.Finite, expression: Schema.String })

/** When a run was taken for the first time: one that was interrupted, or is tried again, was not missed. */
const firstTaken = (queue: string, id: string, now: number) =>
  Effect.map(
    DocumentStore.use((store) => store.findById(queuedJobs, jobIdOf(queue, id))),
    (record) => record?.["taken"] instanceof Date ? record["taken"].getTime() : now
  )

/** A run that begins later, in milliseconds, was missed. */
const late = 60_000

/** The milliseconds for which processes of two versions run side by side. */
const replacing = 600_000
