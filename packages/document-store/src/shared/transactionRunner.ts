/**
 * Runs transactions over the attempts that a store provides.
 *
 * The current transaction travels in the fiber's context, and each operation joins it. A nested transaction is part of
 * the outer one. Once an operation has failed, the transaction can only fail. After the transaction has ended, operations
 * of fibers that it has started fail. Isolation and durability are those of the store's attempts.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { DocumentStore } from "../DocumentStore.ts"
import { QueryRejected, type ReadError, type StoreError, StoreUnavailable, Unsupported } from "../StoreError.ts"
import { makeInstrumentation } from "./instrumented.ts"
import { delegatingOperations, type StoreOperations } from "./storeOperations.ts"

type Store = DocumentStore["Service"]

/** An attempt that ends with {@link TransactionAttempt.commit} or {@link TransactionAttempt.rollback}. */
export interface TransactionAttempt {
  readonly operations: StoreOperations
  /** Whether a failed attempt has met a conflict with another transaction, so that it is aborted and retried. */
  readonly hasConflict: Effect.Effect<boolean>
  /** Commits all writes or none; fails with {@link TransactionConflict} when another transaction has come first. */
  readonly commit: Effect.Effect<void, TransactionConflict | StoreError>
  readonly rollback: Effect.Effect<void>
}

/**
 * Occurs when an attempt is aborted by a conflict with another transaction. `failure` is the failure of the transaction
 * if there is no further attempt.
 */
export class TransactionConflict {
  readonly _tag = "TransactionConflict"
  readonly failure: StoreError
  constructor(failure: StoreError) {
    this.failure = failure
  }
}

export const isConflict = (error: unknown): error is TransactionConflict => error instanceof TransactionConflict

/** How a store begins and retries attempts. */
export interface TransactionPolicy {
  readonly begin: Effect.Effect<TransactionAttempt, StoreError>
  /** Retries an effect while it fails with {@link TransactionConflict}, up to the store's limit. */
  readonly retry: <A, E, R>(
    attempt: Effect.Effect<A, E | TransactionConflict, R>
  ) => Effect.Effect<A, E | TransactionConflict | StoreError, R>
}

interface Transactional {
  /** The store's operations. In a transaction, they are part of it. */
  readonly operations: StoreOperations
  readonly transaction: Store["transaction"]
  /** Wraps operations that can't be part of a transaction, so that they are rejected in one. */
  readonly outside: <Members extends object>(members: Members) => Members
}

/** An attempt of the current transaction. */
interface Surrounding {
  /** What runs once it is committed. */
  readonly committed: Array<Effect.Effect<void>>
  /** The context from before the outermost transaction. */
  readonly before: Context.Context<never>
}

/** `undefined` outside of transactions. */
const Surrounding = Context.Reference<Surrounding | undefined>("appkernel/Repository/surrounding", {
  defaultValue: () => undefined
})

/** Runs an effect once the transaction is committed, not if it is rolled back; outside of one, now. */
export const afterCommit = (effect: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const surrounding = fiber.getRef(Surrounding)
    return surrounding === undefined ? effect : Effect.sync(() => {
      surrounding.committed.push(effect)
    })
  })

/** Runs an effect as if there were no transaction around it: it sees what is committed now, and no write of the transaction. */
export const outsideTransaction = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.withFiber((fiber) => {
    const surrounding = fiber.getRef(Surrounding)
    return surrounding === undefined ? effect : Effect.setContext(effect, surrounding.before)
  })

/** What stands for the snapshot of the current transaction: another one in each attempt, `undefined` outside of transactions. */
export const snapshotOf = (fiber: Fiber.Fiber<unknown, unknown>): object | undefined => fiber.getRef(Surrounding)

export const makeTransactional = (direct: StoreOperations, { begin, retry }: TransactionPolicy): Transactional => {
  stores += 1
  // A key for each store: a transaction of one store does not include operations of another.
  const current = Context.Reference<ActiveTransaction | undefined>(`appkernel/Repository/transaction/${stores}`, {
    defaultValue: () => undefined
  })

  const transaction: Store["transaction"] = (effect) =>
    Effect.withFiber((fiber) => {
      const outer = fiber.getRef(current)
      if (outer !== undefined) return joinOuter(outer, effect)
      let committed: ReadonlyArray<Effect.Effect<void>> = []
      const attempt = Effect.uninterruptibleMask((restore) =>
        runAttempt(begin, (transaction) =>
          restore(Effect.provideContext(
            effect,
            Context.make(current, transaction).pipe(
              Context.add(Surrounding, {
                committed: transaction.committed,
                before: fiber.getRef(Surrounding)?.before ?? fiber.context
              })
            )
          )), (transaction) => {
          committed = transaction.committed
        })
      )
      return instrument(() =>
        Effect.ensuring(
          Effect.catchIf(retry(attempt), isConflict, ({ failure }) => Effect.fail(failure)),
          // After what the store does for an attempt: one that has the store alone would keep it from the writes of these.
          Effect.suspend(() => committed.length === 0 ? Effect.void : runCommitted(committed))
        )
      )
    })

  return {
    operations: delegatingOperations(
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
        // Each member keeps its type; all of them may already fail with `Unsupported`.
      ) as Members
  }
}

/** The failure of a transaction that has met conflicts too often. */
export const tooManyConflicts = (operation = "transaction"): StoreUnavailable =>
  new StoreUnavailable({
    operation,
    detail: "others kept writing what the transaction uses; nothing was written",
    retryable: true
  })

// internal

let stores = 0

const instrument = makeInstrumentation("transaction")

class ActiveTransaction {
  readonly operations: StoreOperations
  readonly committed: Array<Effect.Effect<void>> = []
  #failure: StoreError | undefined
  #isOver = false

  constructor({ operations }: TransactionAttempt) {
    const guarded = delegatingOperations(
      <A, E extends StoreError>(use: (_: StoreOperations) => Effect.Effect<A, E>, operation: string) =>
        Effect.suspend((): Effect.Effect<A, E | ReadError> => {
          const rejection = this.rejection(operation)
          return rejection === undefined
            ? Effect.onExit(use(operations), (exit) => Effect.sync(() => this.#note(operation, exit)))
            : Effect.fail(rejection)
        }),
      (use, operation) =>
        Stream.suspend(() => {
          const rejection = this.rejection(operation)
          return rejection === undefined
            ? Stream.tapError(use(operations), (failure) => Effect.sync(() => this.fail(failure)))
            : Stream.fail(rejection)
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

  /** Ends the transaction: later operations are rejected. Returns the failure of the transaction, if any. */
  end(): StoreError | undefined {
    this.#isOver = true
    return this.#failure
  }

  /** Records the failure of an operation, after which the transaction can only fail. */
  fail(failure: StoreError): void {
    this.#failure ??= failure
  }

  /** Why an operation is rejected, if it is. */
  rejection(operation: string): ReadError | undefined {
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

/** Runs an effect as part of an outer transaction, which fails with it. */
const joinOuter = <A, E, R>(
  outer: ActiveTransaction,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | StoreError, R> => {
  const rejection = outer.rejection("transaction")
  return rejection === undefined
    ? Effect.onExit(effect, (exit) =>
      Effect.sync(() => {
        if (Exit.isFailure(exit)) {
          outer.fail(new QueryRejected({ operation: "transaction", detail: "a transaction in it has failed" }))
        }
      }))
    : Effect.fail(rejection)
}

/** What is committed stands, whatever one of them dies of. */
const runCommitted = (effects: ReadonlyArray<Effect.Effect<void>>): Effect.Effect<void> =>
  Effect.forEach(
    effects,
    (effect) => Effect.catchCause(effect, (cause) => Effect.logError("What follows a commit has failed", cause)),
    { discard: true }
  )

/** Begins an attempt, runs the effect in it, and commits or rolls back. Must run uninterruptibly. */
const runAttempt = Effect.fnUntraced(function*<A, E, R>(
  begin: TransactionPolicy["begin"],
  run: (transaction: ActiveTransaction) => Effect.Effect<A, E, R>,
  committed: (transaction: ActiveTransaction) => void
): Effect.fn.Return<A, E | StoreError | TransactionConflict, R> {
  const attempt = yield* begin
  const transaction = new ActiveTransaction(attempt)
  const exit = yield* Effect.exit(run(transaction))
  const failure = transaction.end()
  if (Exit.isSuccess(exit) && failure === undefined) {
    yield* attempt.commit
    committed(transaction)
    return exit.value
  }
  const hasConflict = Exit.hasInterrupts(exit) ? false : yield* attempt.hasConflict
  yield* attempt.rollback
  const reason = failure ?? tooManyConflicts()
  if (hasConflict) return yield* Effect.fail(new TransactionConflict(reason))
  return yield* Exit.isFailure(exit) ? Effect.failCause(exit.cause) : Effect.fail(reason)
})
