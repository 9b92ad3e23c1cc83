/**
 * The connections of a client, over all services that it calls. A connection carries one call at a time.
 *
 * **Details**
 *
 * - At most `maxConnections` are open. A call that finds none free waits; the one that waits longest is next, whatever
 *   service it is for. At most `maxWaiting` wait.
 * - At most `maxIdle` connections stay open without a call. The one that has been idle longest is closed first, also to make
 *   room for a connection to another service.
 */
import type * as Undici from "@effect/platform-node/Undici"

export interface PoolLimits {
  readonly maxConnections: number
  readonly maxIdle: number
  readonly maxWaiting: number
}

/** What carries calls to an origin, and what ends it, also while it connects. */
export interface Opened {
  readonly dispatcher: Undici.Dispatcher
  readonly shut: () => void
  /** What ended its connection, where the system or TLS told. */
  readonly socketError: () => Error | undefined
  /** Says whether the next bytes are the head of an answer. */
  readonly awaitHead: (isAwaited: boolean) => void
}

/** What carries one call at a time to an origin. */
export interface Connection extends Opened {
  readonly origin: string
  /** Whether the connection has carried a call before. */
  isUsed: boolean
  /** Whether the service, or the client for idleness, has closed it. */
  isClosed: boolean
}

/** A call that waits for a connection. */
export interface WaitingCall {
  readonly origin: string
  /** Runs when it is its turn. */
  readonly connected: (connection: Connection) => void
  /** Ends the call, since the client is shut down. */
  readonly shutDown: () => void
}

export interface Pool {
  /** A free connection. `"Waiting"`: `connected` runs later, unless {@link leave} does before. */
  readonly take: (self: WaitingCall) => Connection | "Waiting" | "PoolFull" | "Closed"
  /** Ends the waiting of a call. */
  readonly leave: (self: WaitingCall) => void
  /** Gives a connection back. One that can't carry another call is closed. */
  readonly release: (connection: Connection, isReusable: boolean) => void
  /** A new connection for a call, in the place of its own, which can't carry it. */
  readonly replace: (connection: Connection) => Connection
  /** Lets no further call in, and runs `then` once no connection is in use and all are closed. */
  readonly close: (then: () => void) => void
  /** Ends all calls. */
  readonly endAll: () => void
}

/** `open` makes what connects to an origin at its first use, and tells by `onClose` when that is closed. */
export const makePool = (
  { maxConnections, maxIdle, maxWaiting }: PoolLimits,
  open: (origin: string, onClose: () => void) => Opened
): Pool => {
  const waiting = new Set<WaitingCall>()
  const idle = new Map<string, Array<Connection>>()
  /** All of `idle`, longest idle first. */
  const idleByAge = new Set<Connection>()
  /** The connections that carry a call. */
  const active = new Map<Connection, WaitingCall>()
  let closed: (() => void) | undefined
  let isHandingOver = false

  const removeIdle = (connection: Connection) => {
    if (!idleByAge.delete(connection)) return
    const { origin } = connection
    const remaining = (idle.get(origin) ?? []).filter((one) => one !== connection)
    if (remaining.length === 0) idle.delete(origin)
    else idle.set(origin, remaining)
  }
  const closeOldest = () => {
    const [oldest] = idleByAge
    if (oldest === undefined) return
    removeIdle(oldest)
    oldest.shut()
  }
  const takeIdle = (origin: string): Connection | undefined => {
    const ofOrigin = idle.get(origin)
    // The last one used is the one that the service is least likely to close.
    const connection = ofOrigin?.pop()
    if (connection === undefined) return undefined
    idleByAge.delete(connection)
    if (ofOrigin?.length === 0) idle.delete(origin)
    return connection
  }
  const connect = (origin: string): Connection => {
    const found = takeIdle(origin)
    if (found !== undefined) return found
    if (active.size + idleByAge.size >= maxConnections) closeOldest()
    return opened(origin)
  }
  const opened = (origin: string): Connection => {
    const onClose = () => {
      connection.isClosed = true
      removeIdle(connection)
    }
    const connection: Connection = { ...open(origin, onClose), origin, isUsed: false, isClosed: false }
    return connection
  }
  const keep = (connection: Connection) => {
    connection.isUsed = true
    const ofOrigin = idle.get(connection.origin)
    if (ofOrigin === undefined) idle.set(connection.origin, [connection])
    else ofOrigin.push(connection)
    idleByAge.add(connection)
    if (idleByAge.size > maxIdle) closeOldest()
  }
  /** Later than what the end of a call tells its caller, whose circuit breaker may refuse those that wait. */
  const handOver = () => {
    isHandingOver = false
    for (const next of waiting) {
      if (active.size >= maxConnections) break
      waiting.delete(next)
      const free = connect(next.origin)
      active.set(free, next)
      next.connected(free)
    }
    if (active.size === 0) closed?.()
  }

  return {
    take: (self) => {
      if (closed !== undefined) return "Closed"
      if (active.size >= maxConnections || waiting.size > 0) {
        if (waiting.size >= maxWaiting) return "PoolFull"
        waiting.add(self)
        return "Waiting"
      }
      const connection = connect(self.origin)
      active.set(connection, self)
      return connection
    },
    leave: (self) => {
      waiting.delete(self)
    },
    release: (connection, isReusable) => {
      active.delete(connection)
      if (isReusable && !connection.isClosed && closed === undefined) keep(connection)
      else connection.shut()
      if (isHandingOver) return
      if (waiting.size > 0) {
        isHandingOver = true
        queueMicrotask(handOver)
      } else if (active.size === 0) closed?.()
    },
    replace: (connection) => {
      const self = active.get(connection)
      active.delete(connection)
      connection.shut()
      const fresh = opened(connection.origin)
      if (self !== undefined) active.set(fresh, self)
      return fresh
    },
    close: (then) => {
      closed = then
      while (idleByAge.size > 0) closeOldest()
      if (active.size === 0 && waiting.size === 0) then()
    },
    endAll: () => {
      for (const self of [...waiting, ...active.values()]) self.shutDown()
    }
  }
}
