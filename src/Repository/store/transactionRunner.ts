/**
 * Transactions, whichever store they are of: the one that a fiber is in travels in its context, and each operation looks
 * there for where it belongs.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { DocumentStore } from "../DocumentStore.ts"
import { QueryRejected, type ReadError, type StoreError, StoreUnavailable, Unsupported } from "../RepositoryError.ts"
import { observer } from "./instrumented.ts"

type Store = DocumentStore["Service"]

/**
 * What takes part in transactions.
 *
 * @internal
 */
export type Operations = Pick<
  Store,
  | "findById"
  | "find"
  | "findAndCount"
  | "stream"
  | "count"
  | "estimatedCount"
  | "distinct"
  | "insertOne"
  | "insertMany"
  | "replaceOne"
  | "updateOne"
  | "updateMany"
  | "findOneAndUpdate"
  | "findOneAndReplace"
  | "findOneAndDelete"
  | "deleteOne"
  | "deleteMany"
  | "aggregate"
>

/**
 * One attempt at a transaction, as a store makes it. It ends with either {@link Attempt.commit} or
 * {@link Attempt.rollback}; neither is interrupted.
 *
 * @internal
 */
export interface Attempt {
  readonly operations: Operations
  /** Asked when it has failed: whether others were in the way. Then that counts for nothing, and another one is due. */
  readonly isVain: Effect.Effect<boolean>
  /** Keeps all that was written, or nothing, when others were in the way. */
  readonly commit: Effect.Effect<void, Again | StoreError>
  readonly rollback: Effect.Effect<void>
}

/**
 * Others were in the way; the failure is for when it is the last attempt.
 *
 * @internal
 */
export class Again {
  readonly _tag = "Again"
  readonly failure: StoreError
  constructor(failure: StoreError) {
    this.failure = failure
  }
}

/** @internal */
export const isAgain = (error: unknown): error is Again => error instanceof Again

/**
 * What a store has to say about its transactions.
 *
 * @internal
 */
export interface Policy {
  /** Begins an attempt. */
  readonly begin: Effect.Effect<Attempt, StoreError>
  /** Repeats what fails with {@link Again}, as long as that makes sense. */
  readonly repeat: <A, E, R>(attempt: Effect.Effect<A, E | Again, R>) => Effect.Effect<A, E | Again | StoreError, R>
}

/** @internal */
export interface Transactional {
  /** The store's operations: in a transaction, part of it. */
  readonly operations: Operations
  readonly transaction: Store["transaction"]
  /** Operations that can't be part of a transaction, and are refused in one. */
  readonly outside: <Members extends object>(members: Members) => Members
}

/** @internal */
export const makeTransactional = (direct: Operations, { begin, repeat }: Policy): Transactional => {
  stores += 1
  // Each store has transactions of its own.
  const current = Context.Reference<Ongoing | undefined>(`appkernel/Repository/transaction/${stores}`, {
    defaultValue: () => undefined
  })

  const join = <A, E, R>(outer: Ongoing, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | StoreError, R> => {
    const refusal = outer.refusal("transaction")
    return refusal === undefined
      ? Effect.onExit(effect, (exit) =>
        Effect.sync(() => {
          if (Exit.isFailure(exit)) {
            outer.fail(new QueryRejected({ operation: "transaction", detail: "a transaction in it has failed" }))
          }
        }))
      : Effect.fail(refusal)
  }

  const attempt = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | StoreError | Again, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(begin, (begun) => {
        const ongoing = new Ongoing(begun)
        return Effect.flatMap(
          Effect.exit(restore(Effect.provideService(effect, current, ongoing))),
          (exit): Effect.Effect<A, E | StoreError | Again> => {
            const failure = ongoing.end()
            if (Exit.isSuccess(exit) && failure === undefined) return Effect.as(begun.commit, exit.value)
            const reason = failure ?? overtakenTooOften()
            const failed: Effect.Effect<never, E | StoreError | Again> = Exit.isFailure(exit)
              ? Effect.failCause(exit.cause)
              : Effect.fail(reason)
            return Effect.flatMap(
              Exit.hasInterrupts(exit) ? Effect.succeed(false) : begun.isVain,
              (isVain) => Effect.andThen(begun.rollback, isVain ? Effect.fail(new Again(reason)) : failed)
            )
          }
        )
      })
    )

  const transaction: Store["transaction"] = (effect) =>
    Effect.withFiber((fiber) => {
      const outer = fiber.getRef(current)
      if (outer !== undefined) return join(outer, effect)
      return observed(() =>
        repeat(attempt(effect)).pipe(Effect.catchIf(isAgain, ({ failure }) => Effect.fail(failure)))
      )
    })

  return {
    operations: through(
      (use) => Effect.withFiber((fiber) => use(fiber.getRef(current)?.operations ?? direct)),
      (use) =>
        Stream.unwrap(Effect.withFiber((fiber) => Effect.succeed(use(fiber.getRef(current)?.operations ?? direct))))
    ),
    transaction,
    outside: <Members extends object>(members: Members): Members =>
      Object.fromEntries(
        Object.entries(members).map(([operation, member]) => [
          operation,
          (...args: ReadonlyArray<unknown>) =>
            Effect.withFiber((fiber) =>
              fiber.getRef(current) === undefined
                ? member(...args)
                : Effect.fail(new Unsupported({ operation, feature: `${operation} in a transaction` }))
            )
        ])
        // Each member is still itself, but for the failure that all of them have.
      ) as Members
  }
}

/**
 * What becomes of a transaction that others were in the way of for too long.
 *
 * @internal
 */
export const overtakenTooOften = (operation = "transaction"): StoreUnavailable =>
  new StoreUnavailable({
    operation,
    detail: "others kept writing what the transaction uses; nothing was written",
    retryable: true
  })

// internal

let stores = 0

const observed = observer("transaction")

class Ongoing {
  readonly operations: Operations
  #failure: StoreError | undefined
  #isOver = false

  constructor({ operations }: Attempt) {
    const guarded = through(
      <A, E extends StoreError>(use: Use<Effect.Effect<A, E>>, operation: string) =>
        Effect.suspend((): Effect.Effect<A, E | ReadError> => {
          const refusal = this.refusal(operation)
          return refusal === undefined
            ? Effect.onExit(use(operations), (exit) => Effect.sync(() => this.#note(operation, exit)))
            : Effect.fail(refusal)
        }),
      (use, operation) =>
        Stream.suspend(() => {
          const refusal = this.refusal(operation)
          return refusal === undefined
            ? Stream.tapError(use(operations), (failure) => Effect.sync(() => this.fail(failure)))
            : Stream.fail(refusal)
        })
    )
    this.operations = {
      ...guarded,
      insertMany: (collection, documents, options) =>
        Effect.tap(
          guarded.insertMany(collection, documents, options),
          ({ failures: [first] }) => Effect.sync(() => first === undefined || this.fail(first.error))
        )
    }
  }

  /** From now on, nothing takes part any more; what it has failed with. */
  end(): StoreError | undefined {
    this.#isOver = true
    return this.#failure
  }

  /** From now on, it can only fail. */
  fail(failure: StoreError): void {
    this.#failure ??= failure
  }

  /** Why an operation can't take part. */
  refusal(operation: string): ReadError | undefined {
    if (this.#isOver) {
      return new StoreUnavailable({ operation, detail: "the transaction has ended", retryable: false })
    }
    const failure = this.#failure
    return failure?._tag === "DuplicateKey"
      ? new QueryRejected({ operation, detail: `the transaction has failed: ${failure.message}` })
      : failure
  }

  #note(operation: string, exit: Exit.Exit<unknown, StoreError>): void {
    if (Exit.isSuccess(exit)) return
    const failure = Option.getOrUndefined(Exit.findErrorOption(exit))
    this.fail(failure ?? new QueryRejected({ operation, detail: "an operation of the transaction did not end" }))
  }
}

type Use<Out> = (operations: Operations) => Out

/** Operations that decide at each call which others do it, and how. */
const through = (
  effect: <A, E extends StoreError>(
    use: Use<Effect.Effect<A, E>>,
    operation: string
  ) => Effect.Effect<A, E | ReadError>,
  stream: <A>(use: Use<Stream.Stream<A, ReadError>>, operation: string) => Stream.Stream<A, ReadError>
): Operations => ({
  findById: (collection, id, options) => effect((_) => _.findById(collection, id, options), "findById"),
  find: (collection, options) => effect((_) => _.find(collection, options), "find"),
  findAndCount: (collection, options) => effect((_) => _.findAndCount(collection, options), "findAndCount"),
  stream: (collection, options) => stream((_) => _.stream(collection, options), "stream"),
  count: (collection, filter, options) => effect((_) => _.count(collection, filter, options), "count"),
  estimatedCount: (collection) => effect((_) => _.estimatedCount(collection), "estimatedCount"),
  distinct: (collection, path, filter, options) =>
    effect((_) => _.distinct(collection, path, filter, options), "distinct"),
  insertOne: (collection, document) => effect((_) => _.insertOne(collection, document), "insertOne"),
  insertMany: (collection, documents, options) =>
    effect((_) => _.insertMany(collection, documents, options), "insertMany"),
  replaceOne: (collection, filter, document, options) =>
    effect((_) => _.replaceOne(collection, filter, document, options), "replaceOne"),
  updateOne: (collection, filter, update, options) =>
    effect((_) => _.updateOne(collection, filter, update, options), "updateOne"),
  updateMany: (collection, filter, update, options) =>
    effect((_) => _.updateMany(collection, filter, update, options), "updateMany"),
  findOneAndUpdate: (collection, filter, update, options) =>
    effect((_) => _.findOneAndUpdate(collection, filter, update, options), "findOneAndUpdate"),
  findOneAndReplace: (collection, filter, document, options) =>
    effect((_) => _.findOneAndReplace(collection, filter, document, options), "findOneAndReplace"),
  findOneAndDelete: (collection, filter, options) =>
    effect((_) => _.findOneAndDelete(collection, filter, options), "findOneAndDelete"),
  deleteOne: (collection, filter) => effect((_) => _.deleteOne(collection, filter), "deleteOne"),
  deleteMany: (collection, filter) => effect((_) => _.deleteMany(collection, filter), "deleteMany"),
  aggregate: (collection, pipeline, options) => stream((_) => _.aggregate(collection, pipeline, options), "aggregate")
})
