/**
 * Finds out by the log of changes what has happened, and enqueues its deliveries.
 *
 * Each process follows the log, from the place in it that the store has. The place moves on in the transaction in which the
 * deliveries of the changes before it are enqueued, and only from where the process has read on: of several, one enqueues those of
 * each change. So they are enqueued once for what is committed, whoever has written it and wherever a process is killed.
 */
import * as BSON from "bson"
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Tracer from "effect/Tracer"
import { randomUUID } from "node:crypto"
import { job, Subscription } from "../../Jobs/Webhooks.ts"
import { managedField } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import { DocumentStore, type Position, type StoredChange } from "../../Repository/DocumentStore.ts"
import { identifierOf } from "../../Repository/internal.ts"
import type { PositionGone, ReadError, StoreError } from "../../Repository/RepositoryError.ts"

type Store = DocumentStore["Service"]

/** What is told of the documents of a model. */
export interface Told {
  readonly type: string
  readonly model: Model.Any
  /** A change with its documents in the model's newest version. */
  readonly upgraded: (change: StoredChange) => StoredChange
}

/** The span in which a transaction was written, if this process knows it. */
export type CauseOf = (transaction: string) => Tracer.AnySpan | undefined

/** Enqueues deliveries from now on, until the scope closes. Their jobs go on in the traces of what has caused them. */
export const telling = Effect.fnUntraced(function*(
  all: ReadonlyArray<Told>,
  causeOf: CauseOf
): Effect.fn.Return<void, StoreError, DocumentStore | Scope.Scope> {
  const store = yield* DocumentStore
  const collections = [...new Set(all.map(({ model }) => model.modelName))]
  // Before the service is ready: what is written from then on is told.
  yield* placeOf(store)
  const followed = Effect.gen(function*() {
    let place = yield* movedOn(store, collections, yield* placeOf(store))
    yield* store.changes.stream(collections, { after: place }).pipe(
      Stream.runForEach(({ changes, position }) =>
        Effect.gen(function*() {
          for (let rest = changes; rest.length > 0;) {
            const told = yield* store.transaction(tell(store, all, causeOf, rest, place, position))
            rest = rest.slice(told.count)
            place = told.position
            yield* Effect.sync(() => latchOf(store).openUnsafe())
          }
        })
      )
    )
  })
  yield* Effect.timeoutOption(followed, refreshTime).pipe(
    // Another process has gone on.
    Effect.catchTag("Behind", () => Effect.void),
    Effect.catchTag("PositionGone", () =>
      Effect.andThen(
        Effect.logError("Events are lost: changes that were not told yet are no longer kept"),
        Effect.flatMap(store.changes.end, (position) => store.updateOne(places, place, { $set: { position } }))
      )),
    Effect.catch((error) =>
      Effect.andThen(Effect.logWarning("Can't tell of changes", error), Effect.sleep("1 second"))
    ),
    Effect.forever,
    Effect.forkScoped
  )
})

/** Waits until all changes of collections are told, for tests. Returns whether there were some that were not. */
export const collectionsTold = Effect.fnUntraced(function*(
  store: Store,
  collections: ReadonlyArray<string>
): Effect.fn.Return<boolean, ReadError> {
  const latch = latchOf(store)
  for (let wasBehind = false;; wasBehind = true) {
    latch.closeUnsafe()
    const told = yield* store.findById(places, place._id)
    const { changes } = yield* Effect.catchTag(
      store.changes.read(collections, { after: String(told?.["position"]), limit: 1 }),
      "PositionGone",
      (error) => Effect.die(error)
    )
    if (changes.length === 0) return wasBehind
    yield* latch.await
  }
})

// internal

const places = "appkernel_webhooks"

const place = { _id: "told" }

/** A place in which nothing has happened may be kept no longer than what has. */
const refreshTime = "1 hour"

/** Opened when changes were told. */
const latchOf = Function.memoize((_store: Store) => Latch.makeUnsafe(false))

/** Up to where changes were told; the first time, the end. */
const placeOf = Effect.fnUntraced(function*(store: Store): Effect.fn.Return<Position, StoreError> {
  const known = yield* store.findById(places, place._id)
  if (known !== undefined) return String(known["position"])
  const position = yield* store.changes.end
  yield* Effect.catchTag(
    store.updateOne(places, place, { $setOnInsert: { position } }, { upsert: true }),
    "DuplicateKey",
    () => Effect.void
  )
  return yield* placeOf(store)
})

/** A later place with nothing between. */
const movedOn = Effect.fnUntraced(function*(
  store: Store,
  collections: ReadonlyArray<string>,
  from: Position
): Effect.fn.Return<Position, StoreError | PositionGone> {
  const { changes, position } = yield* store.changes.read(collections, { after: from, limit: 1 })
  if (changes.length > 0 || position === from) return from
  const { matchedCount } = yield* store.updateOne(places, { ...place, position: from }, { $set: { position } })
  return matchedCount === 0 ? from : position
})

class Behind {
  readonly _tag = "Behind"
}

/** Enqueues the deliveries of the first of some changes, in a transaction. */
const tell = Effect.fnUntraced(function*(
  store: Store,
  all: ReadonlyArray<Told>,
  causeOf: CauseOf,
  changes: ReadonlyArray<StoredChange>,
  from: Position,
  end: Position
): Effect.fn.Return<
  { readonly count: number; readonly position: Position },
  StoreError | Behind,
  DocumentStore
> {
  const types = all.map(({ type }) => type)
  const subscriptions = yield* store.find(Subscription.modelName, {
    filter: { enabled: { $ne: false }, types: { $in: types } },
    projection: { types: 1 }
  })
  const count = Math.max(1, Math.min(changes.length, Math.floor(maxDeliveries / Math.max(1, subscriptions.length))))
  const position = count === changes.length ? end : changes[count - 1]?.position ?? end
  const { matchedCount } = yield* store.updateOne(places, { ...place, position: from }, { $set: { position } })
  if (matchedCount === 0) return yield* Effect.fail(new Behind())
  for (const change of changes.slice(0, count)) {
    for (const { model, type, upgraded } of all) {
      if (change.collection !== model.modelName || !type.endsWith(`.${kindOf(model, change)}`)) continue
      const told = subscriptions.filter(({ types }) => Array.isArray(types) && types.includes(type))
      if (told.length === 0) continue
      const before = type.endsWith(".deleted") ? beforeOf(upgraded(change)) : undefined
      const event = {
        event: randomUUID(),
        type,
        subject: identifierOf(model).print(change.id),
        time: change.time.toISOString(),
        attempt: 1,
        ...before === undefined ? {} : { before }
      }
      const enqueued = Effect.forEach(told, ({ _id }) => job.enqueue({ ...event, subscription: String(_id) }), {
        discard: true
      })
      const cause = causeOf(change.transaction)
      yield* cause === undefined ? enqueued : Effect.withParentSpan(enqueued, cause)
    }
  }
  return { count, position }
})

/** The most deliveries that a transaction enqueues, unless there are more of one change. */
const maxDeliveries = 1_000

/** What a change is to those who don't see deleted documents. */
const kindOf = (model: Model.Any, change: StoredChange): "created" | "updated" | "deleted" | undefined => {
  const field = managedField(model, "deleted")
  const isThere = (document: { readonly [name: string]: unknown }) =>
    field === undefined || (document[field] ?? null) === null
  const wasThere = change.operation !== "insert" && isThere(change.before)
  const isNow = change.operation !== "delete" && isThere(change.after)
  return wasThere ? isNow ? "updated" : "deleted" : isNow ? "created" : undefined
}

/** The document before a change, as BSON in Base64. One that does not fit a job is nobody's to see. */
const beforeOf = (change: StoredChange): string | undefined => {
  const bytes = change.operation === "insert" ? undefined : BSON.serialize(change.before)
  return bytes === undefined || bytes.length > maxBefore ? undefined : Buffer.from(bytes).toString("base64")
}

/** In bytes. A document of MongoDB has 16 MB. */
const maxBefore = 8_000_000
