/**
 * Synchronises the indexes of a collection with their descriptions, in every store.
 *
 * Not atomic: a failure leaves the changes made so far. An index that makes room for another one is restored when the
 * creation of that one fails.
 */
import * as Effect from "effect/Effect"
import type { DocumentStore, IndexChanges, IndexDescription } from "../DocumentStore.ts"
import type { ReadError, StoreError } from "../StoreError.ts"
import { excludeEachOther, isSameIndex, missingIndexesOf } from "./indexDefinition.ts"

/** The operations of a store on single indexes. */
interface IndexTools {
  readonly list: (collection: string) => Effect.Effect<ReadonlyArray<IndexDescription>, ReadError>
  readonly create: (collection: string, index: IndexDescription) => Effect.Effect<void, StoreError>
  /** Drops an index; succeeds with whether it existed. */
  readonly drop: (collection: string, name: string) => Effect.Effect<boolean, ReadError>
}

export const makeSync = (tools: IndexTools): Pick<DocumentStore["Service"], "syncIndexes" | "dropIndexes"> => ({
  syncIndexes: Effect.fnUntraced(function*(collection, indexes): Effect.fn.Return<IndexChanges, StoreError> {
    const wanted = yield* Effect.fromResult(missingIndexesOf("syncIndexes", collection, indexes, []))
    const installed = yield* tools.list(collection)
    const stale = new Set(installed.filter((index) => !wanted.some((other) => isSameIndex(index, other))))
    const known = new Set(Array.from(stale, ({ name }) => name))
    const missing = wanted.filter((index) => !installed.some((other) => isSameIndex(index, other)))
    for (const index of missing) {
      const conflicting = Array.from(stale).filter((other) => excludeEachOther(other, index))
      for (const other of conflicting) {
        yield* tools.drop(collection, other.name)
        stale.delete(other)
      }
      yield* Effect.onError(
        tools.create(collection, index),
        () => Effect.forEach(conflicting, (other) => Effect.ignore(tools.create(collection, other)), { discard: true })
      )
    }
    for (const { name } of stale) yield* tools.drop(collection, name)
    const names = new Set(wanted.map(({ name }) => name))
    return {
      created: missing.map(({ name }) => name).filter((name) => !known.has(name)),
      rebuilt: missing.map(({ name }) => name).filter((name) => known.has(name)),
      dropped: Array.from(known).filter((name) => !names.has(name))
    }
  }),
  dropIndexes: (collection, names) =>
    Effect.flatMap(
      names === undefined
        ? Effect.map(tools.list(collection), (indexes) => indexes.map(({ name }) => name))
        : Effect.succeed(names.filter((name) => name !== "_id_")),
      (names) => Effect.filter(new Set(names), (name) => tools.drop(collection, name))
    )
})
