/** Jobs in Effect's queue: what is stored of one, and by whom and in which trace it was caused. */
import { dateOf } from "@appkernel/mql/values"
import * as Clock from "effect/Clock"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as Option from "effect/Option"
import * as PersistedQueue from "effect/persistence/PersistedQueue"
import * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import { DocumentStore } from "../../Repository/DocumentStore.ts"
import { afterCommit } from "../../Repository/internal.ts"
import type { ReadError, StoreError } from "../../Repository/RepositoryError.ts"
import { CurrentUser } from "../../Security/CurrentUser.ts"
import type { Attempt, Described, EnqueueOptions } from "./description.ts"
import { localQueue, wake, wakeUnsafe } from "./localQueue.ts"
import { jobIdOf, pending, queuedJobs, thisProcess } from "./records.ts"
import { offerRecord } from "./storedQueue.ts"

/** What is stored of a job. */
export interface Element {
  readonly payload: unknown
  /** The subject of the user who caused it. */
  readonly subject?: string | undefined
  /** The roles of the credentials by which that was; none are known of jobs of earlier versions. */
  readonly roles?: ReadonlyArray<string> | undefined
  /** The span in which it was caused. */
  readonly span?: { readonly traceId: string; readonly spanId: string; readonly sampled: boolean } | undefined
}

/** The queue of a job in a store of queues. */
export const queueOf = (
  store: PersistedQueue.PersistedQueueStore["Service"],
  { name, options: { retry }, payload }: Described
): Effect.Effect<PersistedQueue.PersistedQueue<Element>> =>
  PersistedQueue.makeFactory.pipe(
    Effect.flatMap((factory) =>
      factory.make({
        name,
        schema: elementSchema(payload),
        maxAttempts: (retry?.times ?? 9) + 1,
        retrySchedule: retry?.schedule
      })
    ),
    Effect.provideService(PersistedQueue.PersistedQueueStore, store)
  )

/** Stores a job, with who causes it and in which span. */
export const enqueue = (
  described: Described,
  payload: unknown,
  { delay = 0, key }: EnqueueOptions = {}
): Effect.Effect<void, StoreError, DocumentStore> =>
  Effect.gen(function*() {
    const user = Option.getOrUndefined(yield* CurrentUser.option)
    const span = Option.getOrUndefined(yield* Effect.serviceOption(Tracer.ParentSpan))
    yield* enqueueElement(described, {
      payload,
      ...(user !== undefined && { subject: user.subject, roles: user.roles }),
      ...(span !== undefined && { span: { traceId: span.traceId, spanId: span.spanId, sampled: span.sampled } })
    }, { delay: Duration.max(Duration.fromInputUnsafe(delay), Duration.zero), key })
  })

/**
 * Stores a job. Whoever enqueues gives a payload that fits its type, so one that the schema refuses is a defect. With a negative delay
 * it comes before those that are due since.
 */
export const enqueueElement = (
  described: Described,
  element: Element,
  { delay = 0, key }: EnqueueOptions = {}
): Effect.Effect<void, StoreError, DocumentStore> =>
  DocumentStore.use((store) =>
    Effect.flatMap(Effect.orDie(encoderOf(described)(element)), (encoded) => {
      const time = Duration.fromInputUnsafe(delay)
      // Its time never comes.
      return Duration.isLessThan(time, longestDelay)
        ? offerRecord(store, {
          name: described.name,
          // One after the other, so that those of a moment stand on few pages of the store.
          id: key === undefined ? SecureRandom.uuidV7Unsafe() : wellFormed(key),
          isCustomId: key !== undefined,
          element: encoded,
          delay: time
        })
        : Effect.void
    })
  )

/** Dates end some 270,000 years from now. */
const longestDelay = Duration.days(36_500_000)

/** Half a character is no text that can be stored, and would become the same one as any other. */
const wellFormed = (key: string): string => key.isWellFormed() ? key : JSON.stringify(key)

/** Gives a dead letter its attempts again. */
export const retryDead = Effect.fnUntraced(function*(id: string): Effect.fn.Return<boolean, StoreError, DocumentStore> {
  const store = yield* DocumentStore
  const now = yield* Clock.currentTimeMillis
  const found = yield* store.findOneAndUpdate(
    queuedJobs,
    { _id: id, state: "dead" },
    { $set: { state: "waiting", attempts: 0, due: dateOf(now) }, $unset: { ended: "" } }
  )
  if (found === undefined) return false
  yield* afterCommit(wake(store, String(found["queue"])))
  return true
})

/**
 * Gives a job another time during an attempt, which is none then. What its worker says of it at the end of its work has no effect any
 * more.
 */
export const putOff = Effect.fnUntraced(function*(
  { name }: Pick<Described, "name">,
  { attempt, id }: Attempt,
  due: number
): Effect.fn.Return<void, StoreError, DocumentStore> {
  const store = yield* DocumentStore
  const local = localQueue(store, name)
  const _id = jobIdOf(name, id)
  const known = local.known.get(_id)
  // Otherwise the process has lost it, and has taken it again.
  const claim = known?.attempts === attempt ? known : undefined
  // Its begin is not stored any more.
  if (claim !== undefined) claim.ending = "otherwise"
  if (claim?.writing !== undefined) yield* claim.writing.await
  const $set = { state: "waiting", due: dateOf(due) }
  const { matchedCount } = yield* claim !== undefined && claim.token === undefined
    ? store.updateOne(queuedJobs, { _id, state: "waiting" }, { $set })
    : store.updateOne(queuedJobs, { _id, state: "running", process: thisProcess, attempts: attempt }, {
      $set,
      $inc: { attempts: -1 },
      $unset: { token: "", process: "" }
    })
  if (matchedCount === 0) return
  yield* afterCommit(Effect.sync(() => {
    if (claim !== undefined) claim.isLost = true
    wakeUnsafe(local)
  }))
}, Effect.uninterruptible)

/** Waits until no job of these queues is due or running: for tests, whose clock does not go on meanwhile. */
export const untilIdle = Effect.fnUntraced(function*(
  store: DocumentStore["Service"],
  queues: ReadonlyArray<string>
): Effect.fn.Return<void, ReadError> {
  for (const queue of queues) {
    const { settled } = localQueue(store, queue)
    for (;;) {
      settled.closeUnsafe()
      const due = dateOf(yield* Clock.currentTimeMillis)
      const isAtWork = [{ due: { $lte: due } }, { state: "running" }]
      const count = yield* store.count(queuedJobs, { queue, ...pending, $or: isAtWork })
      if (count === 0) break
      yield* settled.await
    }
  }
})

// internal

const elementSchema = (payload: Schema.Top) =>
  Schema.Struct({
    payload,
    subject: Schema.optional(Schema.String),
    roles: Schema.optional(Schema.Array(Schema.String)),
    span: Schema.optional(
      Schema.Struct({ traceId: Schema.String, spanId: Schema.String, sampled: Schema.Boolean })
    )
    // The schemas of payloads need no services.
  }) as unknown as Schema.Codec<Element, unknown>

// Compiled once.
const encoderOf = Function.memoize(({ payload }: Described) =>
  Schema.encodeUnknownEffect(Schema.toCodecJson(elementSchema(payload)))
)
