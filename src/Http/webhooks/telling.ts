/**
 * Finds out by the log of changes what has happened, and enqueues its deliveries.
 *
 * Each process follows the log for each type of event, from the place in it that the store has. The place moves on in the transaction
 * in which the deliveries of the changes before it are enqueued, and only from where the process has read on: of several, one
 * enqueues those of each change. So they are enqueued once for what is committed, whoever has written it and wherever a process is
 * killed. A version of the service that lacks a type does not move the place of that type.
 */
import * as BSON from "bson"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as Latch from "effect/Latch"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Tracer from "effect/Tracer"
import { createHash, randomUUID } from "node:crypto"
import { isPlainObject } from "../../internal/objects.ts"
import { job, Subscription } from "../../Jobs/Webhooks.ts"
import { managedField, withoutOmitted } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import { DocumentStore, type Position, type StoredChange } from "../../Repository/DocumentStore.ts"
import { compare, identifierOf, isMarkedDeleted } from "../../Repository/internal.ts"
import type { PositionGone, ReadError, StoreError } from "../../Repository/RepositoryError.ts"

type Store = DocumentStore["Service"]

/** What is told of the documents of a model. */
interface Told {
  readonly type: string
  readonly model: Model.Any
  /** A change with its documents in the model's newest version. */
  readonly upgraded: (change: StoredChange) => StoredChange
}

/** The span in which a transaction was written, if this process knows it. */
type CauseOf = (transaction: string) => Tracer.AnySpan | undefined

/** What a service tells. */
export interface Telling {
  /** The name of the service: others may have the same store. */
  readonly service: string
  readonly told: ReadonlyArray<Told>
  readonly causeOf: CauseOf
}

/** Enqueues deliveries from now on, until the scope closes. Their jobs go on in the traces of what has caused them. */
export const telling = Effect.fnUntraced(function*(
  from: Telling
): Effect.fn.Return<void, StoreError, DocumentStore | Scope.Scope> {
  yield* divided(yield* DocumentStore, from)
  yield* Effect.forEach(from.told, (told) => tellingOf(from, told), { discard: true })
})

/** Waits until all changes of a collection are told by events of a type, for tests. Returns whether there were some that were not. */
export const isToldOf = Effect.fnUntraced(function*(
  store: Store,
  service: string,
  type: string,
  collection: string
): Effect.fn.Return<boolean, ReadError> {
  const latch = latchOf(store)
  for (let wasBehind = false;; wasBehind = true) {
    latch.closeUnsafe()
    const told = yield* store.findById(places, placeIdOf(service, type))
    const { changes } = yield* Effect.catchTag(
      store.changes.read([collection], { after: String(told?.["position"]), limit: 1 }),
      "PositionGone",
      (error) => Effect.die(error)
    )
    if (changes.length === 0) return wasBehind
    yield* latch.await
  }
})

// internal

const tellingOf = Effect.fnUntraced(function*(
  { causeOf, service }: Telling,
  told: Told
): Effect.fn.Return<void, StoreError, DocumentStore | Scope.Scope> {
  const store = yield* DocumentStore
  const { model: { modelName }, type } = told
  const collections = [modelName]
  const _id = placeIdOf(service, type)
  // Before the service is ready: what is written from then on is told.
  let from: Place = { _id, position: yield* placeOf(store, _id) }
  const followed = Effect.gen(function*() {
    from = { _id, position: yield* placeOf(store, _id) }
    from = yield* movedOn(store, collections, from)
    yield* store.changes.stream(collections, { after: from.position }).pipe(
      Stream.runForEach(({ changes, position }) =>
        Effect.gen(function*() {
          for (let rest = changes; rest.length > 0;) {
            const subscribed = rest.some((change) => isOf(told, change)) ? yield* subscribers(store, type) : []
            const done = subscribed.length > 0
              ? yield* tell(store, told, causeOf, rest, from, position, subscribed)
              : { count: rest.length, place: yield* moved(store, from, position) }
            rest = rest.slice(done.count)
            from = done.place
            yield* Effect.sync(() => latchOf(store).openUnsafe())
          }
        })
      )
    )
  })
  let isClosing = false
  yield* Effect.timeoutOption(followed, refreshTime).pipe(
    // Another process has gone on.
    Effect.catchTag("Behind", () => Effect.void),
    Effect.catchTag("PositionGone", () =>
      Effect.andThen(
        Effect.logError(
          `Events ${type} may be lost: changes since the last that were told are no longer kept, or were not recorded`
        ),
        // Another process may have gone on.
        Effect.flatMap(store.changes.end, (position) => store.updateOne(places, { ...from }, { $set: { position } }))
      )),
    Effect.catchCauseIf(
      // Something that it waits for may be interrupted as well.
      (cause) => !isClosing || !Cause.hasInterrupts(cause),
      (cause) => Effect.andThen(Effect.logWarning("Can't tell of changes", cause), Effect.sleep("1 second"))
    ),
    Effect.forever,
    Effect.forkScoped
  )
  // Before the fiber is interrupted.
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      isClosing = true
    })
  )
})

const places = "appkernel_webhooks"

/** Up to where a service has told changes by events of a type. */
interface Place {
  readonly _id: string
  readonly position: Position
}

const placeIdOf = (service: string, type: string): string => `told ${service} ${type}`

/** A place in which nothing has happened may be kept no longer than what has. */
const refreshTime = "10 minutes"

/** Opened when changes were told. */
const latchOf = Function.memoize((_store: Store) => Latch.makeUnsafe(false))

/** Gives each type the place that earlier versions had for all of them. */
const divided = Effect.fnUntraced(function*(
  store: Store,
  { service, told }: Telling
): Effect.fn.Return<void, StoreError> {
  const _id = `told ${service}`
  const known = yield* store.findById(places, _id)
  if (known === undefined) return
  const { position } = known
  yield* store.transaction(Effect.gen(function*() {
    for (const { type } of told) {
      yield* store.updateOne(
        places,
        { _id: placeIdOf(service, type) },
        { $setOnInsert: { position } },
        { upsert: true }
      )
    }
    yield* store.deleteOne(places, { _id })
  }))
})

/** Up to where changes were told; the first time, the end. */
const placeOf = Effect.fnUntraced(function*(store: Store, _id: string): Effect.fn.Return<Position, StoreError> {
  const known = yield* store.findById(places, _id)
  if (known !== undefined) return String(known["position"])
  const position = yield* store.changes.end
  yield* Effect.catchTag(
    store.updateOne(places, { _id }, { $setOnInsert: { position } }, { upsert: true }),
    "DuplicateKey",
    () => Effect.void
  )
  return yield* placeOf(store, _id)
})

/** A later place with nothing between. */
const movedOn = Effect.fnUntraced(function*(
  store: Store,
  collections: ReadonlyArray<string>,
  from: Place
): Effect.fn.Return<Place, StoreError | PositionGone> {
  const { changes, position } = yield* store.changes.read(collections, { after: from.position, limit: 1 })
  if (changes.length > 0 || position === from.position) return from
  const { matchedCount } = yield* store.updateOne(places, { ...from }, { $set: { position } })
  return matchedCount === 0 ? from : { ...from, position }
})

class Behind {
  readonly _tag = "Behind"
}

/** Moves a place on, unless another process has. */
const moved = Effect.fnUntraced(function*(
  store: Store,
  from: Place,
  position: Position
): Effect.fn.Return<Place, StoreError | Behind> {
  const { matchedCount } = yield* store.updateOne(places, { ...from }, { $set: { position } })
  return matchedCount === 0 ? yield* Effect.fail(new Behind()) : { ...from, position }
})

const subscribers = (store: Store, type: string) =>
  Effect.map(
    store.find(Subscription.modelName, { filter: { enabled: { $ne: false }, types: type }, projection: { _id: 1 } }),
    (found) => found.map(({ _id }) => String(_id))
  )

/** Enqueues the deliveries of the first of some changes, in a transaction. What is too large for one has several before it. */
const tell = Effect.fnUntraced(function*(
  store: Store,
  told: Told,
  causeOf: CauseOf,
  changes: ReadonlyArray<StoredChange>,
  from: Place,
  end: Position,
  subscribed: ReadonlyArray<string>
): Effect.fn.Return<
  { readonly count: number; readonly place: Place },
  StoreError | Behind,
  DocumentStore
> {
  const most = Math.max(1, Math.min(changes.length, Math.floor(maxDeliveries / subscribed.length)))
  const events: Array<{ readonly event: Event; readonly change: StoredChange }> = []
  let [count, length] = [0, 0]
  for (const change of changes.slice(0, most)) {
    if (isOf(told, change)) {
      const event = eventOf(told, change, from)
      if (Result.isFailure(event)) {
        yield* Effect.logError(`A change of ${change.collection} can't be told`, event.failure)
      } else {
        const { before = "", subject } = event.success
        const copies = before.length * subscribed.length
        if (length + copies > maxLength && events.length > 0) break
        length += copies
        if (before === "" && told.type.endsWith(".deleted")) {
          yield* Effect.logWarning(`Events ${told.type} tell nobody of ${subject}, which had more than 8 MB`)
        }
        events.push({ event: event.success, change })
      }
    }
    count += 1
  }
  const enqueued = (subscriptions: ReadonlyArray<string>, isKeyed: boolean) =>
    Effect.forEach(events, ({ change, event }) => {
      const all = Effect.forEach(
        subscriptions,
        (subscription) =>
          job.enqueue({ ...event, subscription }, isKeyed ? { key: `${event.event}.${subscription}` } : {}),
        { discard: true }
      )
      const cause = causeOf(change.transaction)
      return cause === undefined ? all : Effect.withParentSpan(all, cause)
    }, { discard: true })
  let last = subscribed
  if (length > maxLength && events.length === 1) {
    const size = Math.max(1, Math.floor(maxLength * subscribed.length / length))
    for (; last.length > size; last = last.slice(size)) {
      // Whoever comes here once more, or beside it, enqueues the same ones.
      yield* store.transaction(enqueued(last.slice(0, size), true))
    }
  }
  const place = yield* store.transaction(
    Effect.tap(
      moved(store, from, count === changes.length ? end : changes[count - 1]?.position ?? end),
      () => enqueued(last, last !== subscribed)
    )
  )
  return { count, place }
})

/** The most deliveries that a transaction enqueues, unless there are more of one change. */
const maxDeliveries = 1_000

/** The most characters of deleted documents that a transaction enqueues, unless there are more in one delivery. */
const maxLength = 16_000_000

type Event = Omit<Parameters<typeof job.enqueue>[0], "subscription">

/** Whether events of a type tell of a change. */
const isOf = ({ model, type }: Told, change: StoredChange): boolean => type.endsWith(`.${kindOf(model, change)}`)

/** What a change is to those who don't see deleted documents. */
const kindOf = (model: Model.Any, change: StoredChange): "created" | "updated" | "deleted" | undefined => {
  const field = managedField(model, "deleted")
  const wasThere = change.operation !== "insert" && !isMarkedDeleted(change.before, field)
  const isNow = change.operation !== "delete" && !isMarkedDeleted(change.after, field)
  return wasThere ? isNow ? "updated" : "deleted" : isNow ? "created" : undefined
}

/** It fails for a document that nobody can read, such as one with an identifier of another type. */
const eventOf = (
  { model, type, upgraded }: Told,
  change: StoredChange,
  { _id }: Place
): Result.Result<Event, unknown> =>
  Result.try(() => {
    const newest = upgraded(change)
    const subject = identifierOf(model).print(change.id)
    const before = type.endsWith(".deleted") ? beforeOf(model, newest) : undefined
    const changed = type.endsWith(".updated") ? changedIn(model, newest) : undefined
    return {
      // The same each time, since the deliveries of one may be enqueued in several transactions.
      event: before === undefined ? randomUUID() : identifierFrom(`${_id} ${change.position} ${subject}`),
      type,
      subject,
      time: change.time.toISOString(),
      attempt: 1,
      ...before === undefined ? {} : { before },
      ...changed === undefined ? {} : { changed }
    }
  })

/** A UUID of version 8, RFC 9562, from a text. */
const identifierFrom = (text: string): string => {
  const bytes = createHash("sha256").update(text).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/u, "$1-$2-$3-$4-")
}

/** The names of the fields that an update has changed, and of nested ones the paths of their parts. */
const changedIn = (model: Model.Any, change: StoredChange): ReadonlyArray<string> =>
  change.operation === "update"
    ? [...new Set(changedWithin("", withoutOmitted(model, change.before), withoutOmitted(model, change.after)))]
    : []

/** In lists as well if the same number of items is there: `lines.cost`. */
const changedWithin = (path: string, before: unknown, after: unknown): ReadonlyArray<string> => {
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item, i) => changedWithin(path, item, after[i]))
  }
  if (isPlainObject(before) && isPlainObject(after)) {
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
      changedWithin(path === "" ? name : `${path}.${name}`, before[name], after[name])
    )
  }
  return compare(before, after) === 0 ? [] : [path]
}

/** The document before a change, as BSON in Base64. One that does not fit a job is nobody's to see. */
const beforeOf = (model: Model.Any, change: StoredChange): string | undefined => {
  const bytes = change.operation === "insert" ? undefined : BSON.serialize(withoutOmitted(model, change.before))
  return bytes === undefined || bytes.length > maxBefore ? undefined : Buffer.from(bytes).toString("base64")
}

/** In bytes. A document of MongoDB has 16 MB. */
const maxBefore = 8_000_000
