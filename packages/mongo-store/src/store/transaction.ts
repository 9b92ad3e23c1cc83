/**
 * MongoDB's transactions, by the specification of its drivers: an attempt with a `TransientTransactionError` is retried
 * as a whole, a commit with an `UnknownTransactionCommitResult` is retried by itself, both for at most 120 seconds.
 *
 * Snapshot isolation: read concern `snapshot`, write concern `majority`, reads from the primary. A commit whose outcome
 * stays unknown is not retried as a whole, since it may have happened.
 */
import {
  isConflict,
  type StoreOperations,
  type TransactionAttempt,
  TransactionConflict,
  type TransactionPolicy,
  WriteReceipt
} from "@appkernel/document-store/shared"
import { QueryRejected, type StoreError, StoreUnavailable } from "@appkernel/document-store/StoreError"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import { type ClientSession, MongoBulkWriteError, MongoError } from "mongodb"
import * as mongo from "../driver/driverCall.ts"
import { operationTimeOf } from "./receipts.ts"

/** The transactions of a connected database; `operationsOf` makes the operations of a session. */
export const mongoTransactions = (
  session: mongo.MongoSession,
  operationsOf: (session: mongo.MongoSession) => StoreOperations
): TransactionPolicy => ({
  begin: Effect.try(() => {
    const driverSession = session.startSession()
    driverSession.startTransaction(guarantees)
    return driverSession
  }).pipe(
    Effect.catch(({ cause }) => mongo.failWith(cause, { session, operation, collection: "" })),
    Effect.map((driverSession) => makeAttempt(session, driverSession, operationsOf))
  ),
  retry: (attempt) => Effect.retry(attempt, { schedule: retrySchedule, while: isConflict })
})

// internal

const operation = "transaction"

// Overrides the connection string, which may direct reads to secondaries.
const guarantees = {
  readConcern: { level: "snapshot" },
  writeConcern: { w: "majority" },
  readPreference: "primary"
} as const

// The delays of the drivers' specification.
const maxDelay = Duration.millis(500)
const retrySchedule = Schedule.exponential("5 millis", 1.5).pipe(
  Schedule.modifyDelay(({ duration }) => Effect.succeed(Duration.min(duration, maxDelay))),
  Schedule.jittered,
  Schedule.upTo({ duration: "120 seconds" })
)

const makeAttempt = (
  session: mongo.MongoSession,
  driverSession: ClientSession,
  operationsOf: (session: mongo.MongoSession) => StoreOperations
): TransactionAttempt => {
  let hasConflict = false
  // After an interrupted call, the state of the transaction on the server is unknown.
  let isInterrupted = false
  const turn = Semaphore.makeUnsafe(1)
  const transaction: mongo.Participation = {
    session: driverSession,
    isTransaction: true,
    serialized: (call) =>
      turn.withPermit(Effect.onInterrupt(call, () =>
        Effect.sync(() => {
          isInterrupted = true
        }))),
    note: (cause) => {
      hasConflict ||= hasLabel(cause, transient)
    }
  }
  const call: mongo.MongoCall = { session: { ...session, transaction }, operation, collection: "" }
  // Ending the session aborts an uncommitted transaction.
  const end = mongo.cleanUp(() => driverSession.endSession())
  const commit = mongo.withDeadline(session, session.limit, {
    run: () => driverSession.commitTransaction(),
    // The driver's error itself: its labels decide about a retry.
    failed: (cause): Cause.UnknownError | StoreError => new Cause.UnknownError(cause),
    late: () => uncertainOutcome
  }).pipe(
    Effect.retry({ schedule: retrySchedule, while: isUncertain }),
    Effect.catchTag(
      "UnknownError",
      ({ cause }): Effect.Effect<never, TransactionConflict | StoreError> =>
        hasLabel(cause, transient)
          ? Effect.mapError(mongo.failWith(cause, call), (failure) => new TransactionConflict(failure))
          : hasLabel(cause, uncertain)
          ? Effect.fail(uncertainOutcome)
          : mongo.failWith(cause, call)
    )
  )
  const noteTime = Effect.withFiber((fiber) => {
    const receipt = fiber.getRef(WriteReceipt)
    if (receipt !== undefined) receipt.transaction = operationTimeOf(driverSession)
    return Effect.void
  })
  return {
    operations: operationsOf(call.session),
    hasConflict: Effect.sync(() => hasConflict && !isInterrupted),
    commit: Effect.ensuring(
      turn.withPermit(Effect.suspend(() => isInterrupted ? Effect.fail(interrupted) : Effect.tap(commit, noteTime))),
      end
    ),
    rollback: turn.withPermit(end)
  }
}

const transient = "TransientTransactionError"

const uncertain = "UnknownTransactionCommitResult"

const isUncertain = (failure: Cause.UnknownError | StoreError): boolean =>
  failure._tag === "UnknownError" && hasLabel(failure.cause, uncertain) && !hasTimedOut(failure.cause)

const uncertainOutcome = new StoreUnavailable({
  operation,
  detail: "the outcome is unknown: the server has not said whether the transaction is committed",
  // A retry could apply the transaction twice.
  retryable: false
})

const interrupted = new QueryRejected({ operation, detail: "an operation of the transaction did not end" })

const hasTimedOut = (cause: unknown): boolean => cause instanceof MongoError && cause.code === 50

// A bulk write wraps the server's error.
const hasLabel = (cause: unknown, label: string): boolean =>
  cause instanceof MongoError && (
    cause.hasErrorLabel(label) || (cause instanceof MongoBulkWriteError && hasLabel(cause.errorResponse, label))
  )
