import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { type bodyDecoder, type FieldProblem, limitProblems } from "../../Model/introspection.ts"
import type { ModelError } from "../../Model/ModelError.ts"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { BulkInsertFailed, ReadError, StoreError } from "../../Repository/RepositoryError.ts"
import { BadRequest, Conflict } from "../HttpError.ts"
import { badRequestOf, translatable } from "../messages/message.ts"

type Values = Record<string, unknown>

/**
 * The items of a list, each decoded, or everything that is wrong with any of them: what is wrong with `email` of the
 * fourth is a problem of `3.email`.
 *
 * @internal
 */
export type Items =
  | { readonly _tag: "Valid"; readonly values: ReadonlyArray<Values> }
  | { readonly _tag: "Invalid"; readonly problems: ReadonlyArray<FieldProblem> }

/**
 * Decodes the body of a bulk insertion; `decode` is for one item.
 *
 * @internal
 */
export const readItems = (
  body: ReadonlyArray<unknown>,
  options: {
    readonly decode: ReturnType<typeof bodyDecoder>
    /** What else keeps a decoded item from being inserted. */
    readonly problemOf: (item: Values) => FieldProblem | undefined
    readonly maxItems: number
  }
): Items => {
  const { decode, maxItems, problemOf } = options
  if (body.length === 0) return invalid([{ field: "", validator: "NotEmpty", message: "must not be empty" }])
  if (body.length > maxItems) {
    return invalid([{ field: "", validator: "Max", message: `must have at most ${maxItems} elements` }])
  }
  const values: Array<Values> = []
  const problems: Array<FieldProblem> = []
  body.forEach((item, i) => {
    const decoded = decode(item)
    if (decoded._tag === "Invalid") problems.push(...under(i, decoded.problems))
    else {
      const problem = problemOf(decoded.value)
      if (problem === undefined) values.push(decoded.value)
      else problems.push(...under(i, [problem]))
    }
  })
  return problems.length === 0 ? { _tag: "Valid", values } : invalid(limitProblems(problems))
}

/**
 * Fills the items in, each by `complete`. Fails with `BadRequest`, which has all that is wrong with any of them, when one
 * can't be.
 *
 * @internal
 */
export const completeAll = Effect.fnUntraced(function*<A>(
  items: ReadonlyArray<Values>,
  complete: (item: Values, fiber: Fiber.Fiber<unknown, unknown>) => Effect.Effect<A, ModelError>
): Effect.fn.Return<ReadonlyArray<A>, BadRequest> {
  // Hashes are made in threads, of which there are four: other requests need some, too.
  const results = yield* Effect.forEach(
    items,
    (item) => Effect.result(Effect.withFiber((fiber) => complete(item, fiber))),
    { concurrency: 2 }
  )
  const problems = results.flatMap((result, i) => Result.isFailure(result) ? under(i, result.failure.problems) : [])
  return problems.length > 0 ? yield* badRequestOf(limitProblems(problems)) : Arr.getSuccesses(results)
})

/**
 * Inserts all of the items or none; the result is their identifiers, in order, as they are stored. `complete` fills an item in, `toDocument`
 * gives it as it is stored, and `insertDocuments` is the repository's.
 *
 * Fails with `BadRequest` when an item can't be filled in or the store does not take it, and with `Conflict`, which names
 * the place of the item, when a unique value of it is taken.
 *
 * @internal
 */
export const insertAll = Effect.fnUntraced(function*(
  items: ReadonlyArray<Values>,
  { complete, insertDocuments, toDocument, transaction }: {
    readonly complete: (item: Values, fiber: Fiber.Fiber<unknown, unknown>) => Effect.Effect<Values, ModelError>
    readonly insertDocuments: (documents: ReadonlyArray<Values>) => Effect.Effect<unknown, BulkInsertFailed | ReadError>
    readonly toDocument: (completed: Values) => Values
    readonly transaction: DocumentStore["Service"]["transaction"]
  }
): Effect.fn.Return<ReadonlyArray<unknown>, BadRequest | Conflict | StoreError> {
  // What is generated is generated once, however often the transaction has to be repeated.
  const documents = (yield* completeAll(items, complete)).map(toDocument)
  yield* Effect.catchIf(
    transaction(insertDocuments(documents)),
    (error): error is BulkInsertFailed => error._tag === "BulkInsertFailed",
    ({ failures: [first] }) => Effect.fail(refusalOf(first?.index ?? 0, first?.error))
  )
  return documents.map(({ _id }) => _id)
})

/**
 * Inserts instances one by one, all of them or none, where each is to be seen as it was inserted. Fails as `insertAll`.
 *
 * @internal
 */
export const insertEach = <A>(
  instances: ReadonlyArray<A>,
  { insert, transaction }: {
    readonly insert: (instance: A) => Effect.Effect<A, ModelError | StoreError>
    readonly transaction: DocumentStore["Service"]["transaction"]
  }
): Effect.Effect<ReadonlyArray<A>, BadRequest | Conflict | StoreError> =>
  transaction(
    Effect.forEach(instances, (instance, i) =>
      Effect.catchIf(
        insert(instance),
        isRefusal,
        (error) => Effect.fail(refusalOf(i, error))
      ))
  )

/**
 * An item that can't be inserted.
 *
 * @internal
 */
export const badItem = (index: number, problems: ReadonlyArray<FieldProblem>): BadRequest =>
  badRequestOf(limitProblems(under(index, problems)))

type Refusal = BulkInsertFailed["failures"][number]["error"]

const isRefusal = (error: ModelError | StoreError): error is Refusal =>
  error._tag === "DuplicateKey" || error._tag === "QueryRejected" ||
  error._tag === "ValidationException" || error._tag === "PropertyRequiredException"

const refusalOf = (index: number, error: Refusal | undefined): BadRequest | Conflict => {
  switch (error?._tag) {
    case "DuplicateKey":
      return translatable(
        new Conflict({ message: `Item ${index + 1}: ${error.message}` }),
        "errors.InItem",
        ({ of }) => ({ position: index + 1, message: of(error) })
      )
    case "ValidationException":
    case "PropertyRequiredException":
      return badItem(index, error.problems)
    default:
      return new BadRequest({ message: `The store can't take item ${index + 1}`, errors: [] })
  }
}

const invalid = (problems: ReadonlyArray<FieldProblem>): Items => ({ _tag: "Invalid", problems })

const under = (index: number, problems: ReadonlyArray<FieldProblem>): ReadonlyArray<FieldProblem> =>
  problems.map((problem) => ({
    ...problem,
    field: problem.field === "" ? String(index) : `${index}.${problem.field}`
  }))
