/**
 * MongoDB's transactions, by the rules that its drivers have for them.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import { type ClientSession, MongoBulkWriteError, MongoError } from "mongodb"
import { QueryRejected, type StoreError, StoreUnavailable } from "../RepositoryError.ts"
import { Again, type Attempt, isAgain, type Operations, type Policy } from "../store/transactionRunner.ts"
import * as mongo from "./driverCall.ts"

/**
 * Transactions of a connected database; `makeOperations` gives those of a session.
 *
 * @internal
 */
export const makePolicy = (
  session: mongo.MongoSession,
  makeOperations: (session: mongo.MongoSession) => Operations
): Policy => ({
  begin: Effect.try({
    try: () => {
      const driverSession = session.startSession()
      driverSession.startTransaction(guarantees)
      return driverSession
    },
    catch: (cause) => new Caught(cause)
  }).pipe(
    Effect.catch(({ cause }) => mongo.failWith(cause, { session, operation, collection: "" })),
    Effect.map((driverSession) => makeAttempt(session, driverSession, makeOperations))
  ),
  repeat: (attempt) => Effect.retry(attempt, { schedule: untilTimeIsUp, while: isAgain })
})

// internal

const operation = "transaction"

// What the driver has thrown, as it is: its labels say what to do.
class Caught {
  readonly _tag = "Caught"
  readonly cause: unknown
  constructor(cause: unknown) {
    this.cause = cause
  }
}

// Where a connection string says that reads may go elsewhere, in a transaction they may not.
const guarantees = {
  readConcern: { level: "snapshot" },
  writeConcern: { w: "majority" },
  readPreference: "primary"
} as const

// As the drivers of MongoDB do it.
const maxDelay = Duration.millis(500)
const untilTimeIsUp = Schedule.exponential("5 millis", 1.5).pipe(
  Schedule.modifyDelay(({ duration }) => Effect.succeed(Duration.min(duration, maxDelay))),
  Schedule.jittered,
  Schedule.upTo({ duration: "120 seconds" })
)

const makeAttempt = (
  session: mongo.MongoSession,
  driverSession: ClientSession,
  makeOperations: (session: mongo.MongoSession) => Operations
): Attempt => {
  let isVain = false
  // The server may or may not have done what nobody waited for.
  let isBroken = false
  const turn = Semaphore.makeUnsafe(1)
  const transaction: mongo.Participation = {
    session: driverSession,
    inTurn: (call) =>
      turn.withPermit(Effect.onInterrupt(call, () =>
        Effect.sync(() => {
          isBroken = true
        }))),
    note: (cause) => {
      isVain ||= hasLabel(cause, transient)
    }
  }
  const call: mongo.MongoCall = { session: { ...session, transaction }, operation, collection: "" }
  // It aborts what was not committed.
  const end = mongo.bounded(() => driverSession.endSession())
  const commit = mongo.inTime(session, session.limit, {
    run: () => driverSession.commitTransaction(),
    failed: (cause): Caught | StoreError => new Caught(cause),
    late: () => uncertainOutcome
  }).pipe(
    Effect.retry({ schedule: untilTimeIsUp, while: isUncertain }),
    Effect.catchTag("Caught", ({ cause }): Effect.Effect<never, Again | StoreError> =>
      hasLabel(cause, transient)
        ? Effect.mapError(mongo.failWith(cause, call), (failure) => new Again(failure))
        : hasLabel(cause, uncertain)
        ? Effect.fail(uncertainOutcome)
        : mongo.failWith(cause, call))
  )
  return {
    operations: makeOperations(call.session),
    isVain: Effect.sync(() => isVain && !isBroken),
    commit: Effect.ensuring(turn.withPermit(Effect.suspend(() => isBroken ? Effect.fail(broken) : commit)), end),
    rollback: turn.withPermit(end)
  }
}

const transient = "TransientTransactionError"

const uncertain = "UnknownTransactionCommitResult"

const isUncertain = (failure: Caught | StoreError): boolean =>
  failure._tag === "Caught" && hasLabel(failure.cause, uncertain) && !hasTimedOut(failure.cause)

const uncertainOutcome = new StoreUnavailable({
  operation,
  detail: "the outcome is unknown: the server has not said whether the transaction is committed",
  // It may be: then it would happen twice.
  retryable: false
})

const broken = new QueryRejected({ operation, detail: "an operation of the transaction did not end" })

const hasTimedOut = (cause: unknown): boolean => cause instanceof MongoError && cause.code === 50

// A bulk write wraps what the server has said.
const hasLabel = (cause: unknown, label: string): boolean =>
  cause instanceof MongoError && (
    cause.hasErrorLabel(label) || (cause instanceof MongoBulkWriteError && hasLabel(cause.errorResponse, label))
  )
