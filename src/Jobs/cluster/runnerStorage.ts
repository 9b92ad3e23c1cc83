/** The runners of Effect's cluster, and their locks on shards, on our stores: its port `RunnerStorage.Encoded`. */
import * as Clock from "effect/Clock"
import { PersistenceError } from "effect/cluster/ClusterError"
import type * as RunnerStorage from "effect/cluster/RunnerStorage"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { StoreError } from "../../Repository/RepositoryError.ts"

/** The runners and the locks in a store. A runner and its locks end when it has given no sign of life for the `expiration`. */
export const storedRunners = Effect.fnUntraced(function*(
  store: DocumentStore["Service"],
  expiration: Duration.Duration
): Effect.fn.Return<RunnerStorage.Encoded> {
  const context = yield* Effect.context()
  // Signs of life and locks are no part of the transaction of the work that asks for them, which may be rolled back.
  const outside = <A, E>(operation: Effect.Effect<A, E>) =>
    PersistenceError.refail(Effect.setContext(operation, context))
  const time = Duration.toMillis(expiration)

  const owned = (address: string, shardIds: ReadonlyArray<string>, now: number) =>
    Effect.map(
      store.find(locks, { filter: { _id: { $in: [...shardIds] }, owner: address, until: { $gt: now } } }),
      (found) => found.map(({ _id }) => String(_id))
    )

  const acquire = Effect.fnUntraced(function*(
    address: string,
    shardIds: ReadonlyArray<string>
  ): Effect.fn.Return<Array<string>, StoreError> {
    const now = yield* Clock.currentTimeMillis
    const lock = { owner: address, until: now + time }
    const known = yield* store.find(locks, { filter: { _id: { $in: [...shardIds] } }, projection: { _id: 1 } })
    const ids = new Set(known.map(({ _id }) => _id))
    const free = shardIds.filter((id) => !ids.has(id))
    // Of two that insert the same, one is rejected.
    if (free.length > 0) yield* store.insertMany(locks, free.map((_id) => ({ _id, ...lock })), { ordered: false })
    yield* store.updateMany(
      locks,
      { _id: { $in: [...shardIds] }, $or: [{ owner: address }, { until: { $lte: now } }] },
      { $set: lock }
    )
    return yield* owned(address, shardIds, now)
  })

  const refresh = Effect.fnUntraced(function*(
    address: string,
    shardIds: ReadonlyArray<string>
  ): Effect.fn.Return<Array<string>, StoreError> {
    const now = yield* Clock.currentTimeMillis
    yield* store.updateOne(runners, { _id: address }, { $set: { until: now + time } })
    yield* store.updateMany(locks, { _id: { $in: [...shardIds] }, owner: address }, { $set: { until: now + time } })
    return yield* owned(address, shardIds, now)
  })

  const register = Effect.fnUntraced(function*(
    address: string,
    runner: string,
    healthy: boolean
  ): Effect.fn.Return<number, StoreError> {
    const now = yield* Clock.currentTimeMillis
    const own = { runner, healthy, until: now + time }
    const known = yield* store.findOneAndUpdate(runners, { _id: address }, { $set: own })
    if (known !== undefined) return Number(known["machine"])
    // Those of processes that were killed come back by no name, and one that was only late registers itself again.
    yield* store.deleteMany(runners, { until: { $lte: now } })
    const next = yield* store.findOneAndUpdate(
      runners,
      { _id: "machines" },
      { $inc: { machine: 1 } },
      { upsert: true, returnDocument: "after" }
    )
    const machine = Number(next?.["machine"])
    yield* store.updateOne(runners, { _id: address }, { $set: { ...own, machine } }, { upsert: true })
    return machine
  })

  return {
    getRunners: outside(Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.map(
        store.find(runners, { filter: { until: { $gt: now } }, sort: { machine: 1 } }),
        (found) => found.map(({ healthy, runner }) => [String(runner), healthy === true] as const)
      ))),
    register: (address, runner, healthy) => outside(register(address, runner, healthy)),
    unregister: (address) => outside(Effect.asVoid(store.deleteOne(runners, { _id: address }))),
    setRunnerHealth: (address, healthy) =>
      outside(Effect.asVoid(store.updateOne(runners, { _id: address }, { $set: { healthy } }))),
    acquire: (address, shardIds) => outside(acquire(address, shardIds)),
    refresh: (address, shardIds) => outside(refresh(address, shardIds)),
    release: (address, shardId) => outside(Effect.asVoid(store.deleteOne(locks, { _id: shardId, owner: address }))),
    releaseAll: (address) => outside(Effect.asVoid(store.deleteMany(locks, { owner: address })))
  }
})

// internal

const runners = "appkernel_runners"

const locks = "appkernel_shards"
