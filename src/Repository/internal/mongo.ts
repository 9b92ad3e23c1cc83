import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import {
  type AbstractCursor,
  type Collection,
  type Db,
  type IndexDescriptionInfo,
  MongoBulkWriteError,
  MongoClient,
  MongoError,
  MongoServerError
} from "mongodb"
import type { Document, InsertManyResult } from "../DocumentStore.ts"
import { QueryRejected, type ReadError, type StoreError, StoreUnavailable } from "../RepositoryError.ts"
import type { MongoAddress } from "./mongoAddress.ts"
import { classify, classifyWriteError, defect, type FailureContext } from "./mongoError.ts"

/**
 * A connected database, and what failures and spans say about it.
 *
 * @internal
 */
export interface MongoSession {
  readonly collection: (name: string) => Collection
  readonly redact: (text: string) => string
  readonly attributes: Readonly<Record<string, string>>
}

/**
 * One call of the driver: which operation on which collection of which database.
 *
 * @internal
 */
export interface MongoCall {
  readonly session: MongoSession
  readonly operation: string
  readonly collection: string
}

const closeTimeout = Duration.seconds(3)

// A longer timer of Node fires at once.
const maxTimerMillis = 2 ** 31 - 1

// The driver's own timeout knows why it could not connect, so it may speak first.
const connectGrace = Duration.seconds(1)

class Unforeseen {
  readonly _tag = "Unforeseen"
  readonly cause: unknown
  constructor(cause: unknown) {
    this.cause = cause
  }
}

const contextOf = (call: MongoCall): FailureContext => ({
  operation: call.operation,
  collection: call.collection,
  redact: call.session.redact
})

const translate = (cause: unknown, context: FailureContext): StoreError | Unforeseen =>
  classify(cause, context) ?? new Unforeseen(defect(cause, context))

const dieUnforeseen = <A>(self: Effect.Effect<A, StoreError | Unforeseen>): Effect.Effect<A, StoreError> =>
  Effect.catchTag(self, "Unforeseen", (unforeseen) => Effect.die(unforeseen.cause))

// Without a tracer nobody sees the span, so none is made.
const withClientSpan = <A, E>(self: Effect.Effect<A, E>, call: MongoCall): Effect.Effect<A, E> =>
  Effect.withFiber((fiber) =>
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
  )

/**
 * Runs a call that may be abandoned: `signal` closes its cursor and its connection.
 *
 * @internal
 */
export const attempt = <A>(
  call: MongoCall,
  run: (collection: Collection, signal: AbortSignal) => PromiseLike<A>
): Effect.Effect<A, StoreError> =>
  withClientSpan(
    dieUnforeseen(Effect.tryPromise({
      try: (signal) => run(call.session.collection(call.collection), signal),
      catch: (cause) => translate(cause, contextOf(call))
    })),
    call
  )

/**
 * {@link attempt} of what adds nothing to a collection, save a pipeline that ends in `$merge`: its duplicate is the
 * pipeline's fault.
 *
 * @internal
 */
export const read = <A>(
  call: MongoCall,
  run: (collection: Collection, signal: AbortSignal) => PromiseLike<A>
): Effect.Effect<A, ReadError> => withoutDuplicate(attempt(call, run), call)

const withoutDuplicate = <A>(self: Effect.Effect<A, StoreError>, call: MongoCall): Effect.Effect<A, ReadError> =>
  Effect.catchTag(
    self,
    "DuplicateKey",
    (duplicate) => Effect.fail(new QueryRejected({ operation: call.operation, detail: duplicate.message }))
  )

/**
 * Runs a call that, once begun, is waited for: whoever is interrupted knows whether it happened.
 *
 * @internal
 */
export const write = <A>(
  call: MongoCall,
  run: (collection: Collection) => PromiseLike<A>
): Effect.Effect<A, StoreError> => Effect.uninterruptible(attempt(call, (collection) => run(collection)))

/**
 * {@link write} of what adds nothing.
 *
 * @internal
 */
export const remove = <A>(
  call: MongoCall,
  run: (collection: Collection) => PromiseLike<A>
): Effect.Effect<A, ReadError> => Effect.uninterruptible(read(call, (collection) => run(collection)))

/**
 * The indexes of a collection; none when it isn't there yet.
 *
 * @internal
 */
export const listIndexes = (call: MongoCall): Effect.Effect<ReadonlyArray<IndexDescriptionInfo>, ReadError> =>
  read(call, (collection) =>
    collection.listIndexes().toArray().then(
      (indexes) => indexes,
      (cause: unknown) => isNamespaceNotFound(cause) ? [] : Promise.reject(cause)
    ))

const isNamespaceNotFound = (cause: unknown): boolean => cause instanceof MongoServerError && cause.code === 26

/**
 * Inserts documents and gives back those that the server refused.
 *
 * @internal
 */
export const insertMany = (
  call: MongoCall,
  documents: ReadonlyArray<Document>,
  ordered: boolean
): Effect.Effect<InsertManyResult, ReadError> =>
  remove(call, (collection) =>
    collection.insertMany(documents, { ordered }).then(
      ({ insertedCount }): BulkOutcome => ({ insertedCount, refusals: [] }),
      (cause: unknown) => refusalsOf(cause)
    )).pipe(Effect.flatMap(({ insertedCount, refusals }) =>
      Effect.map(
        Effect.forEach(refusals, ({ code, index, message }) => {
          const error = classifyWriteError(code, message, contextOf(call))
          if (error === undefined) return Effect.die(defect(new Error(`Write error ${code}`), contextOf(call)))
          return error._tag === "DuplicateKey" || error._tag === "QueryRejected"
            ? Effect.succeed({ index, error })
            : Effect.fail(error)
        }),
        (failures) => ({ insertedCount, failures })
      )
    ))

interface BulkOutcome {
  readonly insertedCount: number
  readonly refusals: ReadonlyArray<{ readonly index: number; readonly code: number; readonly message: string }>
}

const refusalsOf = (cause: unknown): Promise<BulkOutcome> => {
  if (!(cause instanceof MongoBulkWriteError)) return Promise.reject(cause)
  const writeErrors = Arr.ensure(cause.writeErrors)
  // A write concern that was not met concerns what was written: no list of refusals makes up for it.
  const unmet = cause.result.getWriteConcernError()
  if (writeErrors.length === 0 || unmet !== undefined) return Promise.reject(cause)
  return Promise.resolve({
    insertedCount: cause.insertedCount,
    refusals: writeErrors
      .map(({ code, errmsg, index }) => ({ code, index, message: errmsg ?? "" }))
      .toSorted((a, b) => a.index - b.index)
  })
}

/**
 * The documents of a cursor, batch by batch as they are pulled. The cursor is closed with the stream. With `writes` a
 * batch that is on its way is waited for.
 *
 * @internal
 */
export const readBatches = (
  call: MongoCall,
  open: (collection: Collection, signal: AbortSignal) => AbstractCursor<Document>,
  options?: { readonly writes?: boolean | undefined }
): Stream.Stream<Document, ReadError> =>
  Stream.unwrap(Effect.gen(function*() {
    const signal = yield* Effect.abortSignal
    let pulling = false
    const cursor = yield* Effect.acquireRelease(
      withoutDuplicate(
        dieUnforeseen(Effect.try({
          try: () => open(call.session.collection(call.collection), signal),
          catch: (cause) => translate(cause, contextOf(call))
        })),
        call
      ),
      // To close a cursor that waits for its server would wait too; the signal, which comes next, makes the driver do it.
      (cursor) => pulling ? Effect.void : bounded(() => cursor.close())
    )
    const batch = read(call, () => {
      pulling = true
      return cursor.hasNext().then((more) => more ? cursor.readBufferedDocuments() : []).finally(() => {
        pulling = false
      })
    })
    const pull = Effect.filterOrElse(
      options?.writes === true ? Effect.uninterruptible(batch) : batch,
      Arr.isArrayNonEmpty,
      () => Cause.done()
    )
    return Stream.fromPull(Effect.succeed(pull))
  }))

const bounded = (run: () => PromiseLike<unknown>): Effect.Effect<void> =>
  Effect.promise(run).pipe(Effect.interruptible, Effect.timeoutOption(closeTimeout), Effect.ignoreCause, Effect.asVoid)

/**
 * A client that has answered a `ping`, for as long as the scope is open.
 *
 * @internal
 */
export const connect = (
  address: MongoAddress,
  database: string,
  timeout: Duration.Duration
): Effect.Effect<MongoSession, StoreUnavailable, Scope.Scope> =>
  Effect.gen(function*() {
    const { hosts, redact, sets } = address
    const milliseconds = Math.min(Duration.toMillis(timeout), maxTimerMillis)
    const context = { operation: "connect", collection: "", redact }
    const failed = (cause: unknown) => unconnected(cause, context)
    const client = yield* Effect.acquireRelease(
      Effect.try({
        try: () =>
          new MongoClient(Redacted.value(address.url), {
            ignoreUndefined: true,
            // The driver looks every key up in it, and one like `constructor` is found in what has a prototype.
            fieldsAsRaw: Object.create(null),
            // The driver would otherwise add an `_id` to the caller's own object.
            forceServerObjectId: true,
            ...sets("serverSelectionTimeoutMS") ? {} : { serverSelectionTimeoutMS: milliseconds },
            ...sets("connectTimeoutMS") ? {} : { connectTimeoutMS: milliseconds }
          }),
        // Nothing is running yet: whatever is wrong is wrong with the host.
        catch: (cause) => misconfigured(cause, context)
      }),
      (client) => bounded(() => client.close())
    )
    const db = yield* Effect.tryPromise({
      try: (signal) => client.connect().then(() => ping(client.db(database), signal)),
      catch: failed
    }).pipe(Effect.timeoutOrElse({
      duration: Duration.sum(timeout, connectGrace),
      orElse: () =>
        Effect.fail(
          new StoreUnavailable({
            operation: "connect",
            detail: `${hosts} did not answer within ${Duration.format(timeout)}`,
            retryable: true
          })
        )
    }))
    return makeSession(db, address)
  }).pipe(Effect.catchTag("Unforeseen", (unforeseen) => Effect.die(unforeseen.cause)))

const ping = (db: Db, signal: AbortSignal): Promise<Db> => db.command({ ping: 1 }, { signal }).then(() => db)

// What the driver refuses while there is no connection is the configuration, whatever it would be later.
const unconnected = (cause: unknown, context: FailureContext): StoreUnavailable | Unforeseen => {
  const error = classify(cause, context)
  if (error?._tag === "StoreUnavailable") return error
  return error !== undefined || cause instanceof MongoError
    ? misconfigured(cause, context)
    : new Unforeseen(defect(cause, context))
}

const misconfigured = (cause: unknown, { operation, redact }: FailureContext): StoreUnavailable =>
  new StoreUnavailable({
    operation,
    detail: cause instanceof Error ? redact(cause.message) : "the driver does not take the host",
    retryable: false
  })

const makeSession = (db: Db, address: MongoAddress): MongoSession => {
  const collections = new Map<string, Collection>()
  const port = /^[^,]*:(\d+)$/.exec(address.hosts)?.[1]
  return {
    redact: address.redact,
    attributes: {
      "db.system.name": "mongodb",
      "db.namespace": db.databaseName,
      "server.address": port === undefined ? address.hosts : address.hosts.slice(0, -port.length - 1),
      ...port === undefined ? {} : { "server.port": port }
    },
    collection: (name) => {
      const known = collections.get(name)
      if (known !== undefined) return known
      const collection = db.collection(name)
      collections.set(name, collection)
      return collection
    }
  }
}
