/**
 * Delivers events: one to one subscription by each job.
 *
 * An attempt ends with one transaction, which notes the outcome and enqueues the next attempt if there is one. So a receiver that
 * does not answer is no failure of a job. It pauses its subscription, and whatever is due meanwhile is put off, which takes no
 * attempt and no connection: however much is due for a dead receiver, the others don't wait for it.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { type Failure, putOff } from "../../Jobs/internal.ts"
import type { Any, Attempt } from "../../Jobs/Job.ts"
import { Delivery, job, type Options, type payload, Subscription } from "../../Jobs/Webhooks.ts"
import { type Document, DocumentStore, type Update } from "../../Repository/DocumentStore.ts"
import { decodeDocument, identifierOf } from "../../Repository/internal.ts"
import * as Repository from "../../Repository/Repository.ts"
import type { StoreError } from "../../Repository/RepositoryError.ts"
import type { Door } from "../expansion/embeddable.ts"
import { type HandlerFailure, isRefusal } from "../response/handlerFailures.ts"
import { logUnreadable } from "../response/representation.ts"
import { type Answer, makeSending } from "./sending.ts"

/** What is delivered of the documents of a registration. */
export interface Delivered {
  readonly type: string
  readonly door: Door
  /** The path of its documents. */
  readonly path: string
}

/** Runs an effect with the rights that a subject has now, of roles only those that are among some; `undefined` is nobody. */
export type AsSubject = <A>(
  subject: string | undefined,
  work: Effect.Effect<A, Failure>,
  among: ReadonlyArray<string> | undefined
) => Effect.Effect<A, Failure>

type Payload = Schema.Struct<typeof payload>["Type"]

/** The job of deliveries, with its client of receivers. */
export const delivering = Effect.fnUntraced(function*(
  all: ReadonlyArray<Delivered>,
  options: Options,
  asSubject: AsSubject
): Effect.fn.Return<Any, StoreError, DocumentStore | Scope.Scope> {
  const { concurrency = 16, delays = defaultDelays, maxFailures = 80, source = "" } = options
  const store = yield* DocumentStore
  const subscriptions = yield* Repository.make(Subscription)
  // For its indexes.
  yield* Repository.make(Delivery)
  const send = yield* makeSending(options)
  const lanes = new Lanes()
  const most = {
    subscription: Math.max(1, Math.floor(concurrency / 4)),
    owner: Math.max(1, Math.floor(concurrency / 2))
  }

  const bodyOf = Effect.fnUntraced(function*(
    { door, path }: Delivered,
    { before: bytes, changed, event, subject, time, type }: Payload,
    { owner, subscription: { roles } }: Receiver
  ) {
    const before = bytes === undefined ? undefined : decodeDocument(Buffer.from(bytes, "base64"))
    // Who has no account, or may not sign in, may read nothing.
    const data = yield* Effect.catchIf(
      asSubject(owner, renderedThrough(door, { id: subject, before, changed }), roles),
      ({ _tag }) => _tag === "CredentialsInvalid",
      () => Effect.undefined
    )
    if (data === undefined) return undefined
    const envelope = {
      specversion: "1.0",
      id: event,
      source: `${source}${path}`,
      type,
      subject,
      time,
      datacontenttype: "application/json"
    }
    return `${JSON.stringify(envelope).slice(0, -1)},"data":${data}}`
  })

  /** Stores the outcome of an attempt, and what follows from it. */
  const settle = Effect.fnUntraced(function*(
    delivery: Payload,
    { failures, owner, subscription }: Receiver,
    { failure, status }: Answer,
    isSent: boolean
  ): Effect.fn.Return<State, StoreError, DocumentStore> {
    const { enabled, id } = subscription
    const now = yield* Clock.currentTimeMillis
    const isSuccess = status !== undefined && status >= 200 && status < 300
    const isGone = status === 410
    const delay = isSuccess || isGone || !enabled ? undefined : delays[delivery.attempt - 1]
    const next = delay === undefined ? undefined : now + Duration.toMillis(Duration.fromInputUnsafe(delay))
    const state: State = isSuccess ? "delivered" : next === undefined ? "failed" : "retrying"
    const change: Update | undefined = isSuccess
      ? subscription.failures === 0 && subscription.reason === undefined
        ? undefined
        : { $set: { failures: 0 }, $unset: { paused_until: "", reason: "" } }
      : isGone
      ? { $set: { enabled: false, reason: "the receiver has answered 410: it is gone" } }
      : enabled && isSent
      ? pausing(failures, now, maxFailures)
      : undefined
    if (change !== undefined) {
      // What one receiver answers says nothing about the next one. Of attempts that fail together, one counts.
      const asked = { _id: id, url: subscription.url }
      const found = isSuccess || isGone ? asked : { ...asked, failures: subscription.failures }
      yield* store.updateOne(Subscription.modelName, found, change)
    }
    const { attempt, event, subject, type } = delivery
    yield* store.replaceOne(Delivery.modelName, { _id: deliveryIdOf(delivery) }, {
      subscription: id,
      ...owner === undefined ? {} : { owner },
      event,
      event_type: type,
      subject: isSent ? subject : "",
      state,
      attempts: attempt,
      ...status === undefined ? {} : { status },
      ...isSuccess ? {} : { failure: failure ?? `the receiver has answered ${status}` },
      at: dateOf(now),
      ...next === undefined ? {} : { next: dateOf(next) },
      payload: JSON.stringify(delivery)
    }, { upsert: true })
    if (next !== undefined) {
      yield* job.enqueue({ ...delivery, attempt: attempt + 1 }, {
        // The same each time: a process that is killed before the end of the job comes here once more.
        key: `${deliveryIdOf(delivery)}.${delivery.run ?? ""}.${attempt + 1}`,
        delay: next - now
      })
    }
    return state
  })

  /** Says of a delivery that was to be tried again that it never is. */
  const abandon = (delivery: Payload, failure: string) =>
    store.updateOne(Delivery.modelName, { _id: deliveryIdOf(delivery), state: "retrying" }, {
      $set: { state: "failed", failure },
      $unset: { next: "" }
    })

  const attempted = Effect.fnUntraced(function*(delivery: Payload, attempt: Attempt) {
    const found = yield* subscriptions.findOne(($) => $.id.equals(delivery.subscription))
    if (Option.isNone(found)) return yield* Effect.as(abandon(delivery, "the subscription is deleted"), "unsubscribed")
    const receiver = receiverOf(found.value)
    const { failures, owner, pausedUntil, subscription } = receiver
    const now = yield* Clock.currentTimeMillis
    const known = all.find(({ type }) => type === delivery.type)
    if (known === undefined) {
      // Another service of the store, or a newer version of this one, may know it.
      if (now - Date.parse(delivery.time) > maxUnknown) {
        return yield* Effect.as(abandon(delivery, "the service has no such event"), "unreadable")
      }
      return yield* Effect.as(putOff(job, attempt, now + 30_000), "put off")
    }
    const lane = subscription.id
    const later = Effect.suspend(() =>
      Effect.as(putOff(job, attempt, Math.max(lanes.next(lane, now), pausedUntil)), "put off")
    )
    if (subscription.enabled && pausedUntil > now) return yield* later
    const delivered = Effect.gen(function*() {
      const rendered = yield* Effect.exit(bodyOf(known, delivery, receiver))
      if (Exit.isFailure(rendered)) {
        if (Cause.hasInterrupts(rendered.cause)) return yield* Effect.failCause(rendered.cause)
        // It is no fault of the receiver, and what it waits for may take hours.
        yield* Effect.logWarning("An event can't be written", rendered.cause)
        const answer = { failure: "the service could not read the document" }
        return yield* store.transaction(settle(delivery, receiver, answer, false))
      }
      const body = rendered.value
      if (body === undefined) {
        yield* store.deleteOne(Delivery.modelName, { _id: deliveryIdOf(delivery) })
        return "unreadable"
      }
      const answer = subscription.enabled
        ? yield* send({ url: subscription.url, id: delivery.event, body, secrets: secretsOf(subscription, now) })
        : { failure: "the subscription is disabled" }
      return yield* store.transaction(settle(delivery, receiver, answer, true))
    })
    const places = [{ of: `subscription ${lane}`, most: failures > 0 ? 1 : most.subscription }]
    if (owner !== undefined) places.push({ of: `owner ${owner}`, most: most.owner })
    return yield* lanes.within(places, delivered, later)
  })

  const described = job["~appkernel/Job"]
  return {
    _tag: "JobImplementation",
    job: {
      name: job.name,
      "~appkernel/Job": { ...described, options: { ...described.options, concurrency: Math.max(2, concurrency) } }
    },
    run: (delivery: Payload, attempt) =>
      Effect.tap(
        attempted(delivery, attempt),
        (outcome) => Metric.update(Metric.withAttributes(outcomes, { type: delivery.type, outcome }), 1)
      )
  }
})

/** What an event is about. */
interface Subject {
  /** The identifier of the document, in its form in URLs. */
  readonly id: string
  /** What a deleted document was. */
  readonly before: Document | undefined
  /** The fields that have changed, and of nested ones their parts; `undefined` if it is no update. */
  readonly changed: ReadonlyArray<string> | undefined
}

/**
 * The JSON text of a document; `undefined` if the user may not read it, there is none, or the user sees none of the fields that have
 * changed. It dies of one that does not fit the model, which is no refusal: another version of the service may write it.
 */
const renderedThrough = (
  door: Door,
  { before, changed, id: text }: Subject
): Effect.Effect<string | undefined, HandlerFailure> =>
  Effect.gen(function*() {
    const entered = yield* door.enter(text)
    if (entered === undefined) return undefined
    const { afterEach, beforeEach, documents, limits, model, representations } = entered.embeddable
    const id = identifierOf(model).parse(text)
    if (id === undefined) return undefined
    return yield* entered.within(Effect.gen(function*() {
      yield* beforeEach?.(id) ?? Effect.void
      const document = before ?? (yield* documents.findById(id, { timeLimit: limits.queryTimeout }))
      if (document === undefined) return undefined
      const { isShown, shows, textOf } = yield* Effect.withFiber((fiber) => Effect.succeed(representations(fiber)))
      if (!isShown(document) || changed?.some((field) => shows(document, field)) === false) return undefined
      yield* afterEach?.(document) ?? Effect.void
      const written = textOf(document)
      if (written !== undefined) return written
      yield* logUnreadable(model, [document])
      return yield* Effect.die(new Error("The document does not fit the model"))
    }))
  }).pipe(Effect.catchIf(isRefusal, () => Effect.undefined))

// internal

type State = "delivered" | "retrying" | "failed"

/** A subscription for an attempt. */
interface Receiver {
  readonly subscription: Subscription
  readonly owner: string | undefined
  /** The failures that count: none before somebody has enabled it again. */
  readonly failures: number
  /** In milliseconds since 1970. */
  readonly pausedUntil: number
}

const receiverOf = (subscription: Subscription): Receiver => {
  const { enabled, failures, owner, paused_until: pausedUntil, reason } = subscription
  const isAgain = enabled && reason !== undefined
  return {
    subscription,
    owner,
    failures: isAgain ? 0 : failures,
    pausedUntil: isAgain || pausedUntil === undefined ? 0 : pausedUntil.epochMilliseconds
  }
}

const pausing = (failures: number, now: number, maxFailures: number): Update => {
  const count = failures + 1
  const pausedUntil = dateOf(now + Math.min(firstPause * 2 ** Math.min(failures, 20), maxPause))
  return count < maxFailures
    ? { $set: { failures: count, paused_until: pausedUntil }, $unset: { reason: "" } }
    : { $set: { failures: count, enabled: false, reason: `${count} attempts have failed, and none has succeeded` } }
}

const dateOf = (time: number): Date => DateTime.toDateUtc(DateTime.makeUnsafe(time))

/** In milliseconds. */
const maxUnknown = 7 * 86_400_000
const firstPause = 5_000
const maxPause = 3_600_000

const defaultDelays: ReadonlyArray<Duration.Input> = [
  "5 seconds",
  "5 minutes",
  "30 minutes",
  "2 hours",
  "5 hours",
  "10 hours",
  "14 hours",
  "20 hours",
  "24 hours"
]

const deliveryIdOf = ({ event, subscription }: Payload): string => `${event}.${subscription}`

const secretsOf = ({ earlier_secrets: earlier = [], secret }: Subscription, now: number): ReadonlyArray<string> => [
  secret,
  ...earlier.filter(({ until }) => until.epochMilliseconds > now).map(({ secret }) => secret)
]

/** So many deliveries may be made at a time of a subscription or an owner. */
interface Places {
  readonly of: string
  readonly most: number
}

/** How many deliveries are made at a time of each subscription and each owner, so that those of others have places. */
class Lanes {
  readonly #taken = new Map<string, number>()
  readonly #next = new Map<string, number>()

  /** Runs an effect in a place of each of them. Where none is free, it is put off instead: waiting would take a worker. */
  within<A, E, R, B, E2, R2>(
    places: ReadonlyArray<Places>,
    use: Effect.Effect<A, E, R>,
    putOff: Effect.Effect<B, E2, R2>
  ): Effect.Effect<A | B, E | E2, R | R2> {
    return Effect.uninterruptibleMask((restore): Effect.Effect<A | B, E | E2, R | R2> => {
      if (places.some(({ most, of }) => (this.#taken.get(of) ?? 0) >= most)) return restore(putOff)
      for (const { of } of places) this.#taken.set(of, (this.#taken.get(of) ?? 0) + 1)
      return Effect.ensuring(
        restore(use),
        Effect.sync(() => {
          for (const { of } of places) {
            const taken = (this.#taken.get(of) ?? 1) - 1
            if (taken === 0) this.#taken.delete(of)
            else this.#taken.set(of, taken)
          }
        })
      )
    })
  }

  /** When to come again: after a second, one after the other. */
  next(lane: string, now: number): number {
    const next = Math.max(now + 1_000, (this.#next.get(lane) ?? 0) + 10)
    this.#next.delete(lane)
    this.#next.set(lane, next)
    for (const [oldest, time] of this.#next) {
      if (time >= now) break
      this.#next.delete(oldest)
    }
    return next
  }
}

const outcomes = Metric.counter("appkernel.webhooks.attempts", {
  description: "Attempts to deliver events, by type and outcome",
  incremental: true
})
