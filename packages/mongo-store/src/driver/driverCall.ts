/**
 * Calls MongoDB's driver: with a span, a deadline, an abort signal, and errors classified by `classifyError`.
 *
 * A read is interruptible, which closes its cursor and its connection. A write is not: the caller knows whether it
 * happened, unless its deadline passes first.
 */
import type { Document, StoreOptions } from "@appkernel/document-store/DocumentStore"
import { CurrentStoreOptions, makeStopwatch, rejectDuplicateKey } from "@appkernel/document-store/shared"
import { QueryTimeout, type ReadError, type StoreError, StoreUnavailable } from "@appkernel/document-store/StoreError"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import type { AbstractCursor, ClientSession, Collection, GridFSBucket } from "mongodb"
import { classify, defect, type FailureContext, unknownOutcome } from "./classifyError.ts"
import type { Deadlines } from "./deadlines.ts"
import { documentsOfBytes } from "./documentBytes.ts"

/** A connected database, with the attributes of its spans and errors. */
export interface MongoSession {
  readonly collection: (name: string, options: StoreOptions) => Collection
  /** A bucket of GridFS. */
  readonly files: (bucket: string) => GridFSBucket
  readonly redact: (text: string) => string
  readonly attributes: Readonly<Record<string, string>>
  readonly startSession: () => ClientSession
  /** The milliseconds that a call without a time limit may take; `Infinity` is unlimited. */
  readonly limit: number
  /** The milliseconds that a read of one document by its identifier may take without a time limit. */
  readonly lookUpLimit: number
  readonly deadlines: Deadlines
  /** The transaction of all calls, or the driver's session that they share, if any. */
  readonly transaction?: Participation
}

/** How calls take part in a transaction, or share a session of the driver. */
export interface Participation {
  readonly session: ClientSession
  /** Whether the session has a transaction, which decides about concerns and preferences. */
  readonly isTransaction: boolean
  /** Runs the calls one at a time, as the server requires within a transaction. */
  readonly serialized: <A, E>(call: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Observes the driver's errors. */
  readonly note: (cause: unknown) => void
}

/** One call of the driver: which operation on which collection of which database. */
export interface MongoCall {
  readonly session: MongoSession
  readonly operation: string
  readonly collection: string
  readonly timeLimit?: Duration.Input
  readonly isWrite?: boolean
}

const closeTimeout = Duration.seconds(3)

/** The longest timer of Node; a longer one fires at once. */
export const maxTimerMillis = 2 ** 31 - 1

/** An error of the driver that is not classified: a defect. */
export class UnclassifiedError {
  readonly _tag = "UnclassifiedError"
  readonly cause: unknown
  constructor(cause: unknown) {
    this.cause = cause
  }
}

export const contextOf = (call: MongoCall): FailureContext => ({
  operation: call.operation,
  collection: call.collection,
  redact: call.session.redact,
  isLimited: call.timeLimit !== undefined,
  isWrite: call.isWrite === true && !isTransactional(call.session)
})

const translate = (cause: unknown, context: FailureContext): StoreError | UnclassifiedError =>
  classify(cause, context) ?? new UnclassifiedError(defect(cause, context))

const failureOf = (cause: unknown, call: MongoCall): StoreError | UnclassifiedError => {
  call.session.transaction?.note(cause)
  return translate(cause, contextOf(call))
}

/** Fails with the classified error of the driver. */
export const failWith = (cause: unknown, call: MongoCall): Effect.Effect<never, StoreError> =>
  dieUnclassified(Effect.fail(translate(cause, contextOf(call))))

const dieUnclassified = <A>(self: Effect.Effect<A, StoreError | UnclassifiedError>): Effect.Effect<A, StoreError> =>
  Effect.catchTag(self, "UnclassifiedError", (unclassified) => Effect.die(unclassified.cause))

// Without a tracer, no span is made.
const withClientSpan = <A, E>(
  self: Effect.Effect<A, E>,
  call: MongoCall,
  fiber: Fiber.Fiber<unknown, unknown>
): Effect.Effect<A, E> =>
  fiber.getRef(Tracer.Tracer) === Tracer.nativeTracer
    ? self
    : Effect.useSpan(`MongoStore.${call.operation}`, {
      kind: "client",
      attributes: {
        ...call.session.attributes,
        "db.collection.name": call.collection,
        "db.operation.name": call.operation
      }
    }, () => self)

const optionsOf = ({ collection, session }: MongoCall, fiber: Fiber.Fiber<unknown, unknown>): StoreOptions => {
  const options = fiber.getRef(CurrentStoreOptions)[collection]
  if (options === undefined) return noOptions
  // The transaction decides the others for all of its calls.
  return isTransactional(session) ? { hint: options.hint, batchSize: options.batchSize } : options
}

/** Whether the calls of a session are those of a transaction. */
export const isTransactional = ({ transaction }: MongoSession): boolean => transaction?.isTransaction ?? false

const noOptions: StoreOptions = {}

/** Runs a call until its deadline. Then, or on interruption, `signal` closes its cursor and connection. */
export const runCall = <A>(
  call: MongoCall,
  run: Run<A>,
  milliseconds = limitOf(call)
): Effect.Effect<A, StoreError> =>
  Effect.withFiber((fiber) => {
    const options = optionsOf(call, fiber)
    return withClientSpan(
      serialized(
        dieUnclassified(withDeadline(call.session, milliseconds, {
          run: (signal) => run(call.session.collection(call.collection, options), signal, options),
          failed: (cause) => failureOf(cause, call),
          late: () => lateFailure(call, milliseconds)
        })),
        call
      ),
      call,
      fiber
    )
  })

type Run<A> = (collection: Collection, signal: AbortSignal, options: StoreOptions) => PromiseLike<A>

const limitOf = ({ session, timeLimit }: MongoCall): number =>
  timeLimit === undefined ? session.limit : Duration.toMillis(Duration.fromInputUnsafe(timeLimit)) + limitGrace

/** The milliseconds beyond a call's limit: the server, which keeps the connection, may enforce it first. */
export const limitGrace = 500

const lateFailure = ({ isWrite, operation, timeLimit }: MongoCall, milliseconds: number): StoreError => {
  if (timeLimit !== undefined) return new QueryTimeout({ operation })
  const detail = `the server did not answer within ${Duration.format(Duration.millis(milliseconds))}`
  // A retry could write twice.
  return isWrite === true
    ? new StoreUnavailable({ operation, detail: `${detail}: ${unknownOutcome}`, retryable: false })
    : new StoreUnavailable({ operation, detail, retryable: true })
}

/** Runs a function of the driver; at the deadline, the signal is aborted and the effect fails with `late`. */
export const withDeadline = <A, E>(
  { deadlines }: MongoSession,
  milliseconds: number,
  { failed, late, run }: {
    readonly run: (signal: AbortSignal) => PromiseLike<A>
    readonly failed: (cause: unknown) => E
    readonly late: () => E
  }
): Effect.Effect<A, E> =>
  Effect.callback<A, E>((resume) => {
    const controller = new AbortController()
    const deadline = milliseconds === Infinity ? undefined : deadlines.add(milliseconds, () => {
      resume(Effect.fail(late()))
      controller.abort()
    })
    const end = (): void => {
      if (deadline !== undefined) deadlines.remove(deadline)
    }
    const succeed = (value: A): void => {
      end()
      resume(Effect.succeed(value))
    }
    const fail = (cause: unknown): void => {
      end()
      resume(Effect.fail(failed(cause)))
    }
    // Some functions of the driver throw instead of rejecting.
    Promise.resolve().then(() => run(controller.signal)).then(succeed, fail)
    return Effect.sync(() => {
      end()
      controller.abort()
    })
  })

const serialized = <A, E>(self: Effect.Effect<A, E>, { session }: MongoCall): Effect.Effect<A, E> =>
  session.transaction === undefined ? self : session.transaction.serialized(self)

/** The option that limits the time of a call on the server. */
export const limits = (timeLimit: Duration.Input | undefined): { readonly maxTimeMS?: number } => {
  if (timeLimit === undefined) return {}
  const milliseconds = Math.ceil(Duration.toMillis(Duration.fromInputUnsafe(timeLimit)))
  // 0 would mean no limit.
  return milliseconds > maxTimerMillis ? {} : { maxTimeMS: Math.max(1, milliseconds) }
}

/** Runs a call that adds no documents; a duplicate in its `$merge` is a rejected query. */
export const read = <A>(
  call: MongoCall,
  run: Run<A>,
  milliseconds?: number
): Effect.Effect<A, ReadError> => rejectDuplicateKey(call.operation, runCall(call, run, milliseconds))

/** Runs a call that writes. It is uninterruptible until its deadline, so that the caller knows whether it happened. */
export const write = <A>(
  call: MongoCall,
  run: Run<A>
): Effect.Effect<A, StoreError> => Effect.uninterruptible(runCall({ ...call, isWrite: true }, run))

/** Runs a call that writes but adds no documents. */
export const remove = <A>(
  call: MongoCall,
  run: Run<A>
): Effect.Effect<A, ReadError> => Effect.uninterruptible(read({ ...call, isWrite: true }, run))

/** Options with a signal: every operation of the driver takes one, although some types omit it. */
export const withSignal = <Options extends object>(options: Options, signal: AbortSignal): Options & {
  readonly signal: AbortSignal
} => ({ ...options, signal })

/**
 * The documents of a cursor of bytes, batch by batch as they are pulled. The cursor is closed with the stream. With `writes`, a
 * requested batch is uninterruptible.
 */
export const readBatches = (
  call: MongoCall,
  open: (collection: Collection, signal: AbortSignal, options: StoreOptions) => AbstractCursor<Document>,
  options?: { readonly writes?: boolean | undefined }
): Stream.Stream<Document, ReadError> =>
  Stream.unwrap(Effect.gen(function*() {
    const signal = yield* Effect.abortSignal
    const storeOptions = optionsOf(call, yield* Effect.fiber)
    const stopwatch = makeStopwatch(yield* Clock.Clock, call.timeLimit)
    let pulling = false
    const cursor = yield* Effect.acquireRelease(
      rejectDuplicateKey(
        call.operation,
        dieUnclassified(Effect.try({
          try: () => open(call.session.collection(call.collection, storeOptions), signal, storeOptions),
          catch: (cause) => failureOf(cause, call)
        }))
      ),
      // Closing a cursor that waits for the server would wait, too; the signal, which is aborted next, closes it.
      (cursor) => pulling ? Effect.void : cleanUp(() => cursor.close())
    )
    const batch = Effect.suspend(() => {
      stopwatch.start()
      const next = read({ ...call, isWrite: options?.writes === true }, () => {
        pulling = true
        return cursor.hasNext().then((more) => more ? documentsOfBytes(cursor.readBufferedDocuments()) : []).finally(
          () => {
            pulling = false
          }
        )
      }, call.timeLimit === undefined ? call.session.limit : stopwatch.left() + limitGrace)
      return Effect.ensuring(next, Effect.sync(stopwatch.stop))
    })
    const pull = Effect.filterOrElse(
      options?.writes === true ? Effect.uninterruptible(batch) : batch,
      Arr.isArrayNonEmpty,
      () => Cause.done()
    )
    return Stream.fromPull(Effect.succeed(pull))
  }))

/** Waits a limited time for a cleanup and ignores its failure. */
export const cleanUp = (run: () => PromiseLike<unknown>): Effect.Effect<void> =>
  Effect.promise(run).pipe(Effect.interruptible, Effect.timeoutOption(closeTimeout), Effect.ignoreCause, Effect.asVoid)
