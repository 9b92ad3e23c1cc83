/**
 * Connects a client of MongoDB's driver, and counts its connections in metrics that are named by OpenTelemetry's conventions for
 * databases.
 */
import { getOrMake } from "@appkernel/document-store/internal"
import { StoreUnavailable } from "@appkernel/document-store/StoreError"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { type Collection, type Db, GridFSBucket, MongoClient, MongoError, type W } from "mongodb"
import { classify, defect, type FailureContext } from "./classifyError.ts"
import type { MongoAddress } from "./connectionString.ts"
import { type Deadlines, makeDriverDeadlines } from "./deadlines.ts"
import { cleanUp, limitGrace, maxTimerMillis, type MongoSession, UnclassifiedError } from "./driverCall.ts"

// The driver's own timeout reports a reason, so it may fire first.
const connectGrace = Duration.seconds(1)

/** The time limits of a connection. */
export interface Timeouts {
  /** To accept a connection. */
  readonly connect: Duration.Duration
  /** To be found. */
  readonly serverSelection: Duration.Duration
  /** To answer. */
  readonly socket: Duration.Duration
}

/** Connects a client and waits for the answer to a `ping`. The client is closed with the scope. */
export const connect = (
  address: MongoAddress,
  database: string,
  timeouts: Timeouts
): Effect.Effect<MongoSession, StoreUnavailable, Scope.Scope> =>
  Effect.gen(function*() {
    const { hosts, redact, sets } = address
    const timeout = Duration.max(timeouts.connect, timeouts.serverSelection)
    const context = { operation: "connect", collection: "", redact }
    const failed = (cause: unknown) => unconnected(cause, context)
    const metrics = yield* Effect.context<never>()
    const deadlines = yield* makeDriverDeadlines
    const { client } = yield* Effect.acquireRelease(
      Effect.try({
        try: () => {
          const client = new MongoClient(Redacted.value(address.url), {
            ignoreUndefined: true,
            // Without a prototype: the driver looks every key up in it, and would find one like `constructor`.
            fieldsAsRaw: Object.create(null),
            // The driver would otherwise add an `_id` to the caller's own object.
            forceServerObjectId: true,
            ...sets("serverSelectionTimeoutMS") ? {} : { serverSelectionTimeoutMS: timerOf(timeouts.serverSelection) },
            ...sets("connectTimeoutMS") ? {} : { connectTimeoutMS: timerOf(timeouts.connect) }
          })
          return { client, unwatch: watchPools(client, `${hosts}/${database}`, metrics) }
        },
        // No connection is made yet, so the host must be invalid.
        catch: (cause) => misconfigured(cause, context)
      }),
      ({ client, unwatch }) => Effect.andThen(cleanUp(() => client.close()), Effect.sync(unwatch))
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
    const { serverSelectionTimeoutMS, socketTimeoutMS } = client.options
    // 0 means no timeout; the driver also applies the one of the URL itself.
    const socketTimeout = sets("socketTimeoutMS") ? socketTimeoutMS || Infinity : Duration.toMillis(timeouts.socket)
    const limit = serverSelectionTimeoutMS + socketTimeout
    const lookUpLimit = Math.min(limit, Math.max(serverSelectionTimeoutMS, lookUpTimeout) + limitGrace)
    return makeSession({ client, db, address, deadlines, limit, lookUpLimit })
  }).pipe(Effect.catchTag("UnclassifiedError", (unclassified) => Effect.die(unclassified.cause)))

// A server that takes longer to find one document by its identifier does not answer any more.
const lookUpTimeout = 5000

const timerOf = (timeout: Duration.Duration): number => Math.min(Duration.toMillis(timeout), maxTimerMillis)

const ping = (db: Db, signal: AbortSignal): Promise<Db> => db.command({ ping: 1 }, { signal }).then(() => db)

// Before the first connection, any rejection by the driver is a configuration error.
const unconnected = (cause: unknown, context: FailureContext): StoreUnavailable | UnclassifiedError => {
  const error = classify(cause, context)
  if (error?._tag === "StoreUnavailable") return error
  return error !== undefined || cause instanceof MongoError
    ? misconfigured(cause, context)
    : new UnclassifiedError(defect(cause, context))
}

const misconfigured = (cause: unknown, { operation, redact }: FailureContext): StoreUnavailable =>
  new StoreUnavailable({
    operation,
    detail: cause instanceof Error ? redact(cause.message) : "the driver does not take the host",
    retryable: false
  })

const makeSession = ({ address, client, db, deadlines, limit, lookUpLimit }: {
  readonly client: MongoClient
  readonly db: Db
  readonly address: MongoAddress
  readonly deadlines: Deadlines
  readonly limit: number
  readonly lookUpLimit: number
}): MongoSession => {
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
    files: (bucketName) => new GridFSBucket(db, { bucketName }),
    startSession: () => client.startSession(),
    limit,
    lookUpLimit,
    deadlines,
    collection: (name, { readConcern, readPreference, writeConcern }) => {
      if (readConcern !== undefined || readPreference !== undefined || writeConcern !== undefined) {
        return db.collection(name, {
          ...readConcern === undefined ? {} : { readConcern },
          ...readPreference === undefined ? {} : { readPreference },
          ...writeConcern === undefined ? {} : {
            writeConcern: {
              // The driver's type has no names of tags.
              ...writeConcern.w === undefined ? {} : { w: writeConcern.w as W },
              ...writeConcern.journal === undefined ? {} : { journal: writeConcern.journal }
            }
          }
        })
      }
      return getOrMake(collections, name, () => db.collection(name))
    }
  }
}

/**
 * Counts the connections of a client's pools, one for each server; called before the client connects. The metrics are computed when they
 * are read, and clients with the same pool name are added up. The returned function removes the client from the metrics when it is
 * closed.
 */
const watchPools = (client: MongoClient, name: string, context: Context.Context<never>): () => void => {
  const counts: PoolCounts = { open: new Set(), used: 0, pending: 0 }
  const pools = getOrMake(poolsOf, name, () => new Set<PoolCounts>()).add(counts)
  const attributes = { "db.client.connection.pool.name": name }
  const state = "db.client.connection.state"
  const register = (metric: Metric.Gauge<number>, valueOf: (counts: PoolCounts) => number): void => {
    Metric.registerUnsafe(metric, context, {
      get: () => ({ value: [...pools].reduce((sum, counts) => sum + valueOf(counts), 0) }),
      update: () => {},
      modify: () => {}
    })
  }
  const connections = "Connections that are open"
  register(
    gaugeOf("db.client.connection.count", connections, { ...attributes, [state]: "idle" }),
    ({ open, used }) => open.size - used
  )
  register(gaugeOf("db.client.connection.count", connections, { ...attributes, [state]: "used" }), ({ used }) => used)
  register(
    gaugeOf("db.client.connection.pending_requests", "Requests that wait for a connection", attributes),
    ({ pending }) => pending
  )
  client
    .on("connectionReady", ({ address, connectionId }) => counts.open.add(`${address}/${connectionId}`))
    // Some are closed that never were ready.
    .on("connectionClosed", ({ address, connectionId }) => counts.open.delete(`${address}/${connectionId}`))
    .on("connectionCheckOutStarted", () => counts.pending++)
    .on("connectionCheckOutFailed", () => counts.pending--)
    .on("connectionCheckedOut", () => {
      counts.pending--
      counts.used++
    })
    .on("connectionCheckedIn", () => counts.used--)
  return () => {
    for (const event of events) client.removeAllListeners(event)
    pools.delete(counts)
  }
}

interface PoolCounts {
  readonly open: Set<string>
  used: number
  pending: number
}

/** The counts of the open clients by the names of their pools. */
const poolsOf = new Map<string, Set<PoolCounts>>()

const events = [
  "connectionReady",
  "connectionClosed",
  "connectionCheckOutStarted",
  "connectionCheckOutFailed",
  "connectionCheckedOut",
  "connectionCheckedIn"
] as const

const gaugeOf = (name: string, description: string, attributes: Metric.Metric.AttributeSet): Metric.Gauge<number> =>
  Metric.gauge(name, { description, attributes })
