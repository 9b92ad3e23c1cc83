/** Schedules as jobs: one for each due time, with a key of it, so that of all processes one does it. */
import * as Clock from "effect/Clock"
import * as Cron from "effect/Cron"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { DeclarationError } from "../../internal/declarationError.ts"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { StoreError } from "../../Repository/RepositoryError.ts"
import type { Any, Described, Failure, Schedule } from "../queue/description.ts"
import { enqueueElement } from "../queue/jobQueue.ts"

/** The job of a schedule, and what enqueues its first run. */
export interface Scheduled {
  readonly implementation: Any
  readonly begin: Effect.Effect<void, StoreError, DocumentStore>
}

/** Dies if the expression or the time zone is wrong. */
export const scheduledOf = ({ expression, name, options, run: work }: Schedule): Effect.Effect<Scheduled> => {
  const parsed = Cron.parse(expression, options.zone ?? "UTC")
  if (Result.isFailure(parsed)) {
    return Effect.die(new DeclarationError(`The schedule ${name} is wrong: ${parsed.failure.message}`))
  }
  const { missed = "once", zone: _, ...others } = options
  const described: Described = { name: `cron ${name}`, payload: Payload, options: { ...others, concurrency: 1 } }
  const nextAfter = (time: number) => Cron.next(parsed.success, DateTime.makeUnsafe(time)).getTime()
  const enqueueNext = Effect.fnUntraced(function*(after: number) {
    const due = nextAfter(after)
    const delay = Math.max(0, due - (yield* Clock.currentTimeMillis))
    yield* enqueueElement(described, { payload: { due } }, { key: DateTime.formatIso(DateTime.makeUnsafe(due)), delay })
  })
  const run = Effect.fnUntraced(function*({ due }: typeof Payload.Type, attempt: number) {
    const now = yield* Clock.currentTimeMillis
    // Before the work, which may end the process. Of the times that have passed, "each" has the next one.
    yield* enqueueNext(missed === "each" ? due : now)
    if (missed === "skip" && attempt === 1 && now - due > late) {
      return yield* Effect.logWarning(`The schedule ${name} has missed ${DateTime.formatIso(DateTime.makeUnsafe(due))}`)
    }
    // The engine's type says which services it needs.
    yield* work(DateTime.makeUnsafe(due)) as Effect.Effect<unknown, Failure>
  })
  return Effect.succeed({
    implementation: {
      _tag: "JobImplementation",
      job: { name: described.name, "~appkernel/Job": described },
      run: (payload: typeof Payload.Type, { attempt }) => run(payload, attempt)
    },
    begin: Effect.flatMap(Clock.currentTimeMillis, (now) => enqueueNext(now))
  })
}

// internal

/** The due time, in milliseconds since 1970. */
const Payload = Schema.Struct({ due: Schema.Finite })

/** A run that begins later, in milliseconds, was missed. */
const late = 60_000
