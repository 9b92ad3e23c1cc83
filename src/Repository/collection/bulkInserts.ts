/**
 * Inserts of several documents, some of which are rejected. A rejected document ends an ordered insert, and none of those after
 * it is inserted; an unordered one inserts every other document.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Document } from "../DocumentStore.ts"
import type { ReadError, WriteError } from "../RepositoryError.ts"
import type { InsertManyResult } from "./modelCollection.ts"

/** The result of an insert, with the rejected documents by their index in the input. */
interface Inserted<E> {
  readonly insertedCount: number
  readonly failures: ReadonlyArray<{ readonly index: number; readonly error: E }>
}

/** Inserts the documents that are not rejected already. `insert` inserts those at its indexes. */
export const insertAdmitted = <Rejection, E, Failure>(
  rejections: ReadonlyArray<Rejection | undefined>,
  isOrdered: boolean,
  insert: (indexes: ReadonlyArray<number>) => Effect.Effect<Inserted<E>, Failure>
): Effect.Effect<Inserted<E | Rejection>, Failure> => {
  const rejected = rejections.flatMap((error, index) => error === undefined ? [] : [{ index, error }])
  const end = isOrdered ? rejected[0]?.index ?? Infinity : Infinity
  const indexes = Array.from(rejections.keys()).filter((i) => i < end && rejections[i] === undefined)
  return Effect.map(insert(indexes), ({ failures, insertedCount }) => {
    const all = [...failures.map(({ error, index }) => ({ index: indexes[index]!, error })), ...rejected]
    return {
      insertedCount,
      failures: isOrdered ? all.slice(0, 1) : all.toSorted((one, other) => one.index - other.index)
    }
  })
}

/** Inserts documents in chunks; ordered by default, as stores do. */
export const insertInChunks = Effect.fnUntraced(function*(
  documents: ReadonlyArray<Document>,
  options: { readonly ordered?: boolean | undefined } | undefined,
  insert: (chunk: ReadonlyArray<Document>, isOrdered: boolean) => Effect.Effect<InsertManyResult, ReadError>
): Effect.fn.Return<InsertManyResult, ReadError> {
  const isOrdered = options?.ordered !== false
  const failures: Array<InsertManyResult["failures"][number]> = []
  let insertedCount = 0
  for (const [from, chunk] of chunksOf(documents)) {
    const inserted = yield* insert(chunk, isOrdered)
    insertedCount += inserted.insertedCount
    failures.push(...inserted.failures.map(({ error, index }) => ({ index: from + index, error })))
    if (isOrdered && failures.length > 0) break
  }
  return { insertedCount, failures }
})

/** An insert of several documents that fails if one of them is rejected, so that its transaction writes none. */
export const failingOnRejection = (
  insert: Effect.Effect<InsertManyResult, ReadError>
): Effect.Effect<InsertManyResult, WriteError> =>
  Effect.filterOrFail(insert, ({ failures }) => failures.length === 0, ({ failures }) => failures[0]!.error)

/** Inserts documents one by one: one that is rejected ends the transaction that it is part of. */
export const insertEach = Effect.fnUntraced(function*(
  documents: ReadonlyArray<Document>,
  isOrdered: boolean,
  insert: (document: Document) => Effect.Effect<unknown, WriteError>
): Effect.fn.Return<InsertManyResult, ReadError> {
  const failures: Array<InsertManyResult["failures"][number]> = []
  for (const [index, document] of documents.entries()) {
    const result = yield* Effect.result(insert(document))
    if (Result.isSuccess(result)) continue
    const error = result.failure
    if (!isRejection(error)) return yield* error
    failures.push({ index, error })
    if (isOrdered) return { insertedCount: index, failures }
  }
  return { insertedCount: documents.length - failures.length, failures }
})

/** Whether an error says that a document is rejected, and not that the store fails. */
export const isRejection = (error: WriteError): error is InsertManyResult["failures"][number]["error"] =>
  error._tag === "DuplicateKey" || error._tag === "QueryRejected" || error._tag === "AccessDenied" ||
  error._tag === "FileQuotaExceeded" || error._tag === "ValidationException"

// Bounds how many documents and history entries are in memory at a time.
const chunkSize = 200

/** Chunks of a list, each with the index of its first item. */
export const chunksOf = function*<A>(
  all: ReadonlyArray<A>
): Generator<readonly [from: number, chunk: ReadonlyArray<A>]> {
  for (let from = 0; from < all.length; from += chunkSize) yield [from, all.slice(from, from + chunkSize)]
}
