/** Inserts lists of documents atomically. A problem carries the index of its item. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { type bodyDecoder, type FieldProblem, limitProblems } from "../../Model/internal.ts"
import type { ModelError } from "../../Model/ModelError.ts"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { RowFilters } from "../../Repository/internal.ts"
import type { BulkInsertFailed, ReadError, StoreError, WriteError } from "../../Repository/RepositoryError.ts"
import { maxCostly } from "../description/limits.ts"
import type { BadRequest, Conflict, Forbidden, PayloadTooLarge } from "../HttpError.ts"
import { badRequestOf, type Rejection, rejectionOf, under } from "../messages/message.ts"

type Values = Record<string, unknown>

/** Decodes the items of a bulk insert, or returns all problems: one with `email` of the fourth item has the field `3.email`. */
export const readItems = (
  body: ReadonlyArray<unknown>,
  options: {
    /** Decodes one item. */
    readonly decode: ReturnType<typeof bodyDecoder>
    /** Why a decoded item can't be inserted, if it can't. */
    readonly problemOf: (item: Values) => FieldProblem | undefined
    readonly maxItems: number
    /** How many values of an item are costly to convert. */
    readonly costlyIn: (item: Values) => number
  }
): Result.Result<ReadonlyArray<Values>, ReadonlyArray<FieldProblem>> => {
  const { costlyIn, decode, maxItems, problemOf } = options
  if (body.length === 0) {
    return Result.fail([{ field: "", validator: "NotEmpty", message: "must not be empty" }])
  }
  if (body.length > maxItems) {
    return Result.fail([{ field: "", validator: "Max", message: `must have at most ${maxItems} elements` }])
  }
  const values: Array<Values> = []
  const problems: Array<FieldProblem> = []
  body.forEach((item, i) => {
    const decoded = decode(item, i > 0)
    if (decoded._tag === "Invalid") problems.push(...under(i, decoded.problems))
    else {
      const problem = problemOf(decoded.value)
      if (problem === undefined) values.push(decoded.value)
      else problems.push(...under(i, [problem]))
    }
  })
  if (problems.length > 0) return Result.fail(limitProblems(problems))
  return values.reduce((sum, item) => sum + costlyIn(item), 0) > maxCostly
    ? Result.fail([{ field: "", validator: "Limit", message: `must have at most ${maxCostly} values to hash` }])
    : Result.succeed(values)
}

/** Completes each item with `complete`. Fails with a `BadRequest` that contains all problems of all items. */
export const completeAll = Effect.fnUntraced(function*<A>(
  items: ReadonlyArray<Values>,
  complete: (item: Values, fiber: Fiber.Fiber<unknown, unknown>) => Effect.Effect<A, ModelError>
): Effect.fn.Return<ReadonlyArray<A>, BadRequest> {
  // Hashing passwords uses the four threads of Node's pool, which other requests need too.
  const results = yield* Effect.forEach(
    items,
    (item) => Effect.result(Effect.withFiber((fiber) => complete(item, fiber))),
    { concurrency: 2 }
  )
  const problems = results.flatMap((result, i) => Result.isFailure(result) ? under(i, result.failure.problems) : [])
  return problems.length > 0 ? yield* badRequestOf(problems) : Arr.getSuccesses(results)
})

/**
 * Inserts all items or none. Returns their stored identifiers, in order. `complete` supplies missing values,
 * `toDocument` encodes an item, and `insertMany` is the repository's.
 *
 * Fails with `BadRequest` if an item is invalid or the store rejects it, and with `Conflict` or `Forbidden`, which contain
 * the index of the item, if a unique value is taken or the caller may not write the item.
 */
export const insertAll = Effect.fnUntraced(function*(
  items: ReadonlyArray<Values>,
  { complete, insertMany, filtersOf, toDocument, transaction }: {
    readonly complete: (item: Values, fiber: Fiber.Fiber<unknown, unknown>) => Effect.Effect<Values, ModelError>
    /** The row filters for each item. Consecutive items with the same filters are inserted together. */
    readonly filtersOf?:
      | ((sent: ReadonlyArray<Values>) => Effect.Effect<ReadonlyArray<RowFilters | undefined>, Forbidden>)
      | undefined
    readonly insertMany: (
      documents: ReadonlyArray<Values>,
      filters: RowFilters | undefined
    ) => Effect.Effect<unknown, BulkInsertFailed | ReadError>
    readonly toDocument: (completed: Values) => Values
    readonly transaction: DocumentStore["Service"]["transaction"]
  }
): Effect.fn.Return<ReadonlyArray<unknown>, BadRequest | Forbidden | Conflict | PayloadTooLarge | StoreError> {
  // `complete` changes the values, and the filters depend on those that were sent.
  const sent = filtersOf === undefined ? items : items.map((item) => ({ ...item }))
  // Completed before the transaction, so that a retry inserts the same generated values.
  const documents = (yield* completeAll(items, complete)).map(toDocument)
  const filters = filtersOf === undefined ? [] : yield* filtersOf(sent)
  const starts = Array.from(documents.keys()).filter((i) => i === 0 || filters[i] !== filters[i - 1])
  const insertions = starts.map((start, i) =>
    Effect.catchIf(
      insertMany(documents.slice(start, starts[i + 1]), filters[start]),
      (error): error is BulkInsertFailed => error._tag === "BulkInsertFailed",
      ({ failures: [first] }) => Effect.fail(rejectionOf(start + (first?.index ?? 0), first?.error))
    )
  )
  yield* transaction(Effect.all(insertions, { discard: true }))
  return documents.map(({ _id }) => _id)
})

/** Adds the index of the item to the failure of its insertion. */
export const rejectedAsItem = <A>(
  index: number,
  insert: Effect.Effect<A, ModelError | WriteError | Forbidden>
): Effect.Effect<A, BadRequest | Forbidden | Conflict | PayloadTooLarge | StoreError> =>
  Effect.catchIf(insert, isRejection, (error) => Effect.fail(rejectionOf(index, error)))

const isRejection = (error: ModelError | WriteError | Forbidden): error is Rejection =>
  error._tag === "DuplicateKey" || error._tag === "QueryRejected" || error._tag === "AccessDenied" ||
  error._tag === "FileQuotaExceeded" || error._tag === "ValidationException" ||
  error._tag === "PropertyRequiredException"
