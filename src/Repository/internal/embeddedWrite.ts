/**
 * The writing half of the embedded store.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Document, DocumentStore, InsertManyResult, UpdateResult } from "../DocumentStore.ts"
import type { DuplicateKey, ReadError, StoreError } from "../RepositoryError.ts"
import { normalise } from "./bsonValue.ts"
import type { Catalog, Collection } from "./catalog.ts"
import { type DocumentWriter, prepare, type Prepared } from "./documentWriter.ts"
import { drain, findSource, take, withNow } from "./embeddedRead.ts"
import { attempt } from "./expression.ts"
import { type Filter, parseFilter } from "./filter.ts"
import type { KeyValue } from "./keyValue.ts"
import { documentKey } from "./orderedKey.ts"
import { type Problem, rejected, toError } from "./problem.ts"
import type { Found } from "./scan.ts"
import { mapChunks, slice } from "./source.ts"
import { parseReplacement, parseUpdate, type Update } from "./update.ts"

type Store = DocumentStore["Service"]

/** @internal */
export type Writing = Pick<
  Store,
  "insertOne" | "insertMany" | "replaceOne" | "updateOne" | "updateMany" | "deleteOne" | "deleteMany"
>

/** @internal */
export const makeWriting = (store: KeyValue, catalog: Catalog, writer: DocumentWriter): Writing => {
  const prepareNew = (document: Document): Result.Result<Prepared, Problem> => {
    const normalised = normalise(document)
    return Result.isFailure(normalised)
      ? Result.fail(rejected(normalised.failure))
      : prepare(store, normalised.success)
  }

  const job = <A, D extends DuplicateKey = never>(
    operation: string,
    run: () => Result.Result<A, D | Problem>
  ): Effect.Effect<A, D | ReadError> =>
    Effect.flatMap(store.write(operation, run), (result) => outcome(operation, result))

  const insertOne: Writing["insertOne"] = (name, document) =>
    Effect.suspend(() => {
      const prepared = prepareNew(document)
      return Result.isFailure(prepared)
        ? Effect.fail(toError(prepared.failure, "insertOne"))
        : job("insertOne", () => writer.insert(catalog.ensure(name), prepared.success))
    })

  const insertChunk = (
    name: string,
    chunk: ReadonlyArray<ReturnType<typeof prepareNew>>,
    from: number,
    isOrdered: boolean
  ) =>
    store.write("insertMany", () => {
      catalog.ensure(name)
      let insertedCount = 0
      const failures: Array<Refusal> = []
      for (const [i, prepared] of chunk.entries()) {
        const inserted = Result.flatMap(
          prepared,
          // Asked for again, since a document may be the first with an array, say.
          (ready): Result.Result<void, DuplicateKey | Problem> => writer.insert(catalog.ensure(name), ready)
        )
        if (Result.isSuccess(inserted)) insertedCount += 1
        else {
          failures.push({ index: from + i, failure: inserted.failure })
          if (isOrdered) break
        }
      }
      return { insertedCount, failures }
    })

  const insertMany: Writing["insertMany"] = (name, documents, options) =>
    Effect.suspend(() => {
      const isOrdered = options?.ordered ?? true
      const prepared = documents.map(prepareNew)
      const go = (from: number, before: InsertManyResult): Effect.Effect<InsertManyResult, ReadError> =>
        from >= documents.length || (isOrdered && before.failures.length > 0)
          ? Effect.succeed(before)
          : insertChunk(name, prepared.slice(from, from + maxPerJob), from, isOrdered).pipe(
            Effect.flatMap((outcome) =>
              Effect.map(Effect.forEach(outcome.failures, refusal), (failures) => ({
                insertedCount: before.insertedCount + outcome.insertedCount,
                failures: [...before.failures, ...failures]
              }))
            ),
            Effect.flatMap((result) => inTurn(from + maxPerJob < documents.length, () => go(from + maxPerJob, result)))
          )
      return Effect.uninterruptible(go(0, { insertedCount: 0, failures: [] }))
    })

  /** The match as it is now, if it still is one. */
  const current = (
    collection: Collection,
    filter: Filter,
    key: string
  ): Result.Result<Found | undefined, Problem> => {
    const document = store.documents(collection.number).get(key)
    if (document === undefined) return Result.succeed(undefined)
    return Result.map(attempt(() => filter.matches(document)), (isMatch) => isMatch ? { key, document } : undefined)
  }

  const useMatch = <A, D extends DuplicateKey>(
    name: string,
    filter: Filter,
    key: string,
    use: Use<A, D>
  ): Result.Result<A | undefined, D | Problem> => {
    const collection = catalog.pending(name)
    if (collection === undefined) return Result.succeed(undefined)
    return Result.flatMap(
      current(collection, filter, key),
      (found): Result.Result<A | undefined, D | Problem> =>
        found === undefined ? Result.succeed(undefined) : use(collection, found)
    )
  }

  const findFirst = (operation: string, name: string, filter: Filter): Effect.Effect<Found | undefined, ReadError> =>
    Effect.map(
      drain(store, operation, slice(findSource(store, catalog, name, filter, [], 1), 0, 1)),
      ([found]) => found
    )

  /**
   * Uses the first match, or does without one. It is looked for before its turn comes, since that may take long: when it
   * is no longer one by then, or there was none and something was written since, it is looked for again.
   */
  const onFirst = <A, D extends DuplicateKey = never>(
    operation: string,
    name: string,
    filter: Filter,
    use: Use<A, D>,
    without: Without<A, D>
  ): Effect.Effect<A, D | ReadError> => {
    const key = pinnedKey(filter)
    if (key !== undefined) {
      // There is only one place to look at.
      return job(operation, () =>
        Result.flatMap(
          useMatch(name, filter, key, use),
          (used) => used === undefined ? without.insert() : Result.succeed(used)
        ))
    }
    const go: Effect.Effect<A, D | ReadError> = Effect.suspend(() => {
      const seen = catalog.seen(name)
      return Effect.flatMap(findFirst(operation, name, filter), (found) => {
        if (found === undefined && without.isFinal) return outcome(operation, without.insert())
        return Effect.flatMap(
          job(operation, (): Result.Result<A | undefined, D | Problem> =>
            found !== undefined
              ? useMatch(name, filter, found.key, use)
              : catalog.written(name) === seen
              ? without.insert()
              : Result.succeed(undefined)),
          (used) => used === undefined ? go : Effect.succeed(used)
        )
      })
    })
    return go
  }

  /** Uses every match, a few in each job; what no longer matches by then is left alone. */
  const onEach = <A, D extends DuplicateKey = never>(
    operation: string,
    name: string,
    filter: Filter,
    use: Use<A, D>
  ): Effect.Effect<ReadonlyArray<A>, D | ReadError> => {
    const keys = mapChunks(
      findSource(store, catalog, name, filter),
      (found) => Result.succeed(found.map(({ key }) => key))
    )
    const go = (
      all: ReadonlyArray<string>,
      from: number,
      results: Array<A>
    ): Effect.Effect<ReadonlyArray<A>, D | ReadError> =>
      from >= all.length
        ? Effect.succeed(results)
        : Effect.flatMap(
          job(operation, () => {
            const used: Array<A> = []
            for (const key of all.slice(from, from + maxPerJob)) {
              const result = useMatch(name, filter, key, use)
              if (Result.isFailure(result)) return Result.fail(result.failure)
              if (result.success !== undefined) used.push(result.success)
            }
            return Result.succeed(used)
          }),
          (used) => {
            for (const result of used) results.push(result)
            return inTurn(from + maxPerJob < all.length, () => go(all, from + maxPerJob, results))
          }
        )
    return Effect.flatMap(drain(store, operation, keys), (all) => Effect.uninterruptible(go(all, 0, [])))
  }

  /** Writes what a match becomes; tells whether it becomes something else. */
  const change = (update: Update, filter: Filter): Use<boolean, DuplicateKey> => (collection, { document }) =>
    Result.flatMap(
      update.apply(document, filter),
      (changed): Result.Result<boolean, DuplicateKey | Problem> =>
        changed === undefined
          ? Result.succeed(false)
          : Result.flatMap(
            prepare(store, changed),
            (prepared) => Result.map(writer.replace(collection, prepared, document), () => true)
          )
    )

  const changeFirst = (
    operation: string,
    name: string,
    request: Result.Result<{ readonly filter: Filter; readonly update: Update }, ReadError>,
    isUpsert: boolean
  ): Effect.Effect<UpdateResult, StoreError> => {
    if (Result.isFailure(request)) return Effect.fail(request.failure)
    const { filter, update } = request.success
    const changed = change(update, filter)
    const insert = (): Result.Result<UpdateResult, DuplicateKey | Problem> =>
      Result.flatMap(
        update.insert(filter),
        (document) =>
          Result.flatMap(prepare(store, document), (prepared) =>
            Result.map(
              writer.insert(catalog.ensure(name), prepared),
              () => ({ matchedCount: 0, modifiedCount: 0, upsertedId: document["_id"] })
            ))
      )
    return onFirst<UpdateResult, DuplicateKey>(
      operation,
      name,
      filter,
      (collection, found) =>
        Result.map(
          changed(collection, found),
          (isModified) => ({ matchedCount: 1, modifiedCount: Number(isModified) })
        ),
      isUpsert
        ? { insert, isFinal: false }
        : { insert: () => Result.succeed({ matchedCount: 0, modifiedCount: 0 }), isFinal: true }
    )
  }

  const requestOf = (
    operation: string,
    filter: unknown,
    update: Result.Result<Update, Problem>,
    now: number
  ) =>
    take(
      store,
      operation,
      () =>
        Result.flatMap(
          parseFilter(filter, now),
          (parsed) => Result.map(update, (update) => ({ filter: parsed, update }))
        )
    )

  const remove = (collection: Collection, { document, key }: Found): Result.Result<1, Problem> => {
    writer.remove(collection, key, document)
    return Result.succeed(1)
  }

  const withFilter = <A>(
    operation: string,
    filter: unknown,
    use: (filter: Filter) => Effect.Effect<A, ReadError>
  ): Effect.Effect<A, ReadError> =>
    withNow((now) => {
      const parsed = take(store, operation, () => parseFilter(filter, now))
      return Result.isSuccess(parsed) ? use(parsed.success) : Effect.fail(parsed.failure)
    })

  return {
    insertOne,
    insertMany,
    replaceOne: (name, filter, document, options) =>
      withNow((now) =>
        changeFirst(
          "replaceOne",
          name,
          requestOf("replaceOne", filter, parseReplacement(document), now),
          options?.upsert === true
        )
      ),
    updateOne: (name, filter, update, options) =>
      withNow((now) =>
        changeFirst(
          "updateOne",
          name,
          requestOf("updateOne", filter, parseUpdate(update, now), now),
          options?.upsert === true
        )
      ),
    updateMany: (name, filter, update) =>
      withNow((now) => {
        const request = requestOf("updateMany", filter, parseUpdate(update, now), now)
        if (Result.isFailure(request)) return Effect.fail(request.failure)
        const { filter: parsed, update: parsedUpdate } = request.success
        return Effect.map(onEach("updateMany", name, parsed, change(parsedUpdate, parsed)), (changed) => ({
          matchedCount: changed.length,
          modifiedCount: changed.filter((isModified) => isModified).length
        }))
      }),
    deleteOne: (name, filter) =>
      withFilter(
        "deleteOne",
        filter,
        (parsed) =>
          onFirst<number, never>("deleteOne", name, parsed, remove, { insert: () => Result.succeed(0), isFinal: true })
      ),
    deleteMany: (name, filter) =>
      withFilter(
        "deleteMany",
        filter,
        (parsed) => Effect.map(onEach<1, never>("deleteMany", name, parsed, remove), (removed) => removed.length)
      )
  }
}

// internal

// So many documents at most are written in one go, which nothing can interrupt.
const maxPerJob = 256

// Nothing but what it is given may be written to.
type Use<A, D extends DuplicateKey> = (collection: Collection, found: Found) => Result.Result<A, D | Problem>

interface Without<A, D extends DuplicateKey> {
  readonly insert: () => Result.Result<A, D | Problem>
  /** Whether it does not matter when somebody writes a match meanwhile. */
  readonly isFinal: boolean
}

interface Refusal {
  readonly index: number
  readonly failure: DuplicateKey | Problem
}

const failureOf = <D extends DuplicateKey>(failure: D | Problem, operation: string): D | ReadError =>
  "kind" in failure ? toError(failure, operation) : failure

const outcome = <A, D extends DuplicateKey>(
  operation: string,
  result: Result.Result<A, D | Problem>
): Effect.Effect<A, D | ReadError> =>
  Result.isSuccess(result) ? Effect.succeed(result.success) : Effect.fail(failureOf(result.failure, operation))

const refusal = ({ failure, index }: Refusal): Effect.Effect<InsertManyResult["failures"][number], ReadError> => {
  const error = failureOf(failure, "insertMany")
  return error._tag === "DuplicateKey" || error._tag === "QueryRejected"
    ? Effect.succeed({ index, error })
    : Effect.fail(error)
}

const inTurn = <A, E>(isLong: boolean, next: () => Effect.Effect<A, E>): Effect.Effect<A, E> =>
  isLong ? Effect.flatMap(Effect.yieldNow, next) : next()

const pinnedKey = ({ constraints }: Filter): string | undefined => {
  const id = constraints.find((constraint) => constraint.kind === "in" && constraint.path === "_id")
  return id?.kind === "in" && id.values.length === 1 ? documentKey(id.values[0]) : undefined
}
