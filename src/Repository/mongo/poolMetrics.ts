/**
 * The driver's connections as metrics, named by OpenTelemetry's conventions for databases.
 */
import type * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import type { MongoClient } from "mongodb"

/**
 * Observes the pools of a client, one for each server; called before the client connects. Clients with the same pool
 * name are added up. The returned function removes the client's connections from the metrics when it is closed.
 *
 * @internal
 */
export const watchPools = (client: MongoClient, name: string, context: Context.Context<never>): () => void => {
  const pool = { "db.client.connection.pool.name": name }
  const connections = (state: "idle" | "used") =>
    gaugeOf("db.client.connection.count", "Connections that are open", {
      ...pool,
      "db.client.connection.state": state
    })
  const [idle, used] = [connections("idle"), connections("used")]
  const pending = gaugeOf("db.client.connection.pending_requests", "Requests that wait for a connection", pool)
  const reported = { idle: 0, used: 0, pending: 0 }
  const open = new Set<string>()
  const inUse = new Set<string>()
  let waiting = 0

  const report = (): void => {
    const now = { idle: open.size - inUse.size, used: inUse.size, pending: waiting }
    idle.modifyUnsafe(now.idle - reported.idle, context)
    used.modifyUnsafe(now.used - reported.used, context)
    pending.modifyUnsafe(now.pending - reported.pending, context)
    Object.assign(reported, now)
  }
  const onConnection = (change: (connection: string) => void) => ({ address, connectionId }: ConnectionEvent): void => {
    change(`${address}/${connectionId}`)
    report()
  }
  const onWaiting = (change: 1 | -1) => (): void => {
    waiting += change
    report()
  }

  report()
  client
    .on("connectionReady", onConnection((connection) => open.add(connection)))
    .on(
      "connectionClosed",
      onConnection((connection) => {
        open.delete(connection)
        inUse.delete(connection)
      })
    )
    .on("connectionCheckOutStarted", onWaiting(1))
    .on("connectionCheckOutFailed", onWaiting(-1))
    .on(
      "connectionCheckedOut",
      onConnection((connection) => {
        waiting -= 1
        inUse.add(connection)
      })
    )
    .on("connectionCheckedIn", onConnection((connection) => inUse.delete(connection)))

  return () => {
    for (const event of events) client.removeAllListeners(event)
    open.clear()
    inUse.clear()
    waiting = 0
    report()
  }
}

// internal

interface ConnectionEvent {
  readonly address: string
  readonly connectionId: number | "<monitor>"
}

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
