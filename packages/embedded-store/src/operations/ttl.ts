/**
 * Removes expired documents: in the minute after one expires, it reads the entries of each TTL index up to the current time, and
 * removes their documents in small jobs. The job checks each document again. It sleeps while nothing expires.
 */
import { bound, dateOf, documentKey, invert, limitedRange, Rank, rankBound } from "@appkernel/mql/internal"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import type { Catalog } from "../catalog/catalog.ts"
import type { Collection, Index } from "../catalog/collection.ts"
import { indexEntries } from "../catalog/indexKeys.ts"
import type { KeyValue, Range, StoreFailure } from "../storage/orderedStore.ts"
import type { DocumentWriter } from "./documentWriter.ts"
import { maxPerJob } from "./writeJob.ts"

/** Starts the removal of expired documents until the scope closes; does nothing if it has been started. */
export type BeginExpiry = Effect.Effect<void>

export const makeExpiry = (
  store: KeyValue,
  catalog: Catalog,
  writer: DocumentWriter
): Effect.Effect<BeginExpiry, never, Scope.Scope> =>
  Effect.flatMap(Scope.Scope, (scope) => {
    const sweep = sweepOnce(store, catalog, writer)
    // The minute after a write, for what was not committed yet, and the one in which the next document expires.
    const round = (wasWritten: boolean): Effect.Effect<never> =>
      Effect.gen(function*() {
        writer.expiring.closeUnsafe()
        yield* sweep
        const sweptAt = yield* Clock.currentTimeMillis
        const minutes = wasWritten ? 1 : minutesUntilNext(store, catalog, sweptAt)
        const isWritten = yield* Effect.race(
          minutes === Infinity ? Effect.never : Effect.as(Effect.sleep(minutes * minute), false),
          Effect.as(writer.expiring.await, true)
        )
        if (isWritten) yield* Effect.sleep(minute - ((yield* Clock.currentTimeMillis) - sweptAt) % minute)
        return isWritten
      }).pipe(Effect.flatMap(round))
    return Effect.cached(Effect.asVoid(Effect.forkIn(round(true), scope)))
  })

// internal

const sweepOnce = (
  store: KeyValue,
  catalog: Catalog,
  writer: DocumentWriter
): Effect.Effect<void> => {
  const expire = (name: string, index: Index, seconds: number): Effect.Effect<void, StoreFailure> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const range = expiredAt(index, now - seconds * 1000)
      const damaged = new Set<string>()
      let damage: StoreFailure | undefined
      const remove = (recordIds: Iterable<string>) =>
        store.write(operation, () => {
          for (const recordId of recordIds) {
            removeExpired(store, catalog.pending(name), writer, index, range, recordId)
          }
        })
      // One that can't be read keeps no other.
      const removeEach = (recordIds: Iterable<string>) =>
        Effect.forEach(
          recordIds,
          (recordId) =>
            Effect.catchTag(remove([recordId]), "DataDamaged", (failure) =>
              Effect.sync(() => {
                damaged.add(recordId)
                damage = failure
              })),
          { discard: true }
        )
      const some: Effect.Effect<void, StoreFailure> = Effect.suspend(() => {
        const found = store.read(operation, () => recordIdsIn(store, index, range, damaged))
        if (Result.isFailure(found)) return Effect.fail(found.failure)
        const recordIds = found.success
        if (recordIds.size === 0) return damage === undefined ? Effect.void : Effect.fail(damage)
        return Effect.catchTag(remove(recordIds), "DataDamaged", () => removeEach(recordIds)).pipe(
          Effect.andThen(Effect.yieldNow),
          Effect.andThen(some)
        )
      })
      return some
    })
  return Effect.suspend(() =>
    Effect.forEach(
      Array.from(catalog.committed.values()).flatMap(({ indexes, name }) => indexes.map((index) => ({ index, name }))),
      ({ index, name }) => {
        const { expireAfterSeconds } = index.description
        return expireAfterSeconds === undefined || !index.isReady
          ? Effect.void
          : Effect.catchCause(
            expire(name, index, expireAfterSeconds),
            (cause) => Effect.logWarning(`Expired documents of ${name} could not be removed`, cause)
          )
      },
      { discard: true }
    )
  )
}

const operation = "expire"

const minute = 60_000

/** How many minutes later the next document expires; `Infinity` without one. */
const minutesUntilNext = (store: KeyValue, catalog: Catalog, now: number): number => {
  const expiring = Array.from(catalog.committed.values()).flatMap(({ indexes }) =>
    indexes.flatMap((index) => {
      const { expireAfterSeconds } = index.description
      return expireAfterSeconds === undefined || !index.isReady ? [] : [{ index, millis: expireAfterSeconds * 1_000 }]
    })
  )
  const someWithin = (minutes: number): boolean =>
    Result.getOrElse(
      store.read(operation, () =>
        expiring.some(({ index, millis }) => {
          let isThere = false
          const until = Math.min(now + minutes * minute - millis, lastDate)
          store.entries(index.number).scan(expiredAt(index, until), () => {
            isThere = true
            return false
          })
          return isThere
        })),
      // The sweep says why.
      () => true
    )
  let [none, some] = [0, 1]
  while (!someWithin(some)) {
    if (some * minute > 2 * lastDate) return Infinity
    ;[none, some] = [some, some * 2]
  }
  while (some - none > 1) {
    const middle = Math.floor((none + some) / 2)
    if (someWithin(middle)) some = middle
    else none = middle
  }
  return some
}

// The last one that there is.
const lastDate = 8_640_000_000_000_000

// The keys of all dates up to a time.
const expiredAt = ({ directions }: Index, time: number): Range => {
  const [from, to] = [rankBound(Rank.date), bound(dateOf(time))]
  const isDescending = directions[0]?.descending === true
  return { ...isDescending ? limitedRange(invert(to), invert(from)) : limitedRange(from, to), reverse: false }
}

const recordIdsIn = (
  store: KeyValue,
  index: Index,
  range: Range,
  without: ReadonlySet<string>
): ReadonlySet<string> => {
  const recordIds = new Set<string>()
  store.entries(index.number).scan(
    range,
    (_, recordId) => without.has(recordId) || recordIds.add(recordId).size < maxPerJob
  )
  return recordIds
}

/** For jobs: removes a record, unless it was changed or the index was dropped meanwhile. */
const removeExpired = (
  store: KeyValue,
  collection: Collection | undefined,
  writer: DocumentWriter,
  index: Index,
  { end, start }: Range,
  recordId: string
): void => {
  if (collection?.indexes.some(({ number }) => number === index.number) !== true) return
  const document = store.documents(collection.number).get(recordId)
  const entries = document === undefined
    ? undefined
    : indexEntries(index, document, documentKey(document["_id"]))
  if (document === undefined || entries === undefined || Result.isFailure(entries)) return
  if (Array.from(entries.success.keys).some((entry) => entry >= start && entry < end)) {
    writer.remove(collection, { recordId, document })
  }
}
