/** Refuses requests that waited too long while a service is overloaded. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { performance } from "node:perf_hooks"
// Tests may replace the global `setImmediate`.
import { setImmediate, setTimeout } from "node:timers"
import { unwrittenResponse } from "../request/nodeHttp.ts"
import { refusalsOf, secondsOf } from "./overload.ts"
import type { OrderedResponse, RequestListener } from "./requestListener.ts"

/** Which requests are answered first while a service is overloaded. */
export type Priority = "low" | "normal" | "high"

const priorities: ReadonlyArray<Priority> = ["high", "normal", "low"]

/** A request in the queue. */
export interface Waiting {
  readonly handle: () => void
  readonly refuse: () => void
  /** Whether the client of the request has disconnected. */
  readonly isGone: () => boolean
}

/** The clock and the turns of an event loop. */
export interface Loop {
  /** In milliseconds. */
  readonly now: () => number
  /** Runs a step after the events of this turn. */
  readonly afterEvents: (step: () => void) => void
}

const nodeLoop: Loop = { now: () => performance.now(), afterEvents: (step) => void setImmediate(step) }

/** The milliseconds for which bursts may last (RFC 8289, section 4.2). */
const interval = 100

/** The milliseconds of a turn in which requests begin. Then the turn ends, so that the next one receives new events. */
const slice = 2

/**
 * The queue of requests that are not handled yet. Without it they would wait in their sockets, where the time that they
 * wait is unknown.
 *
 * A request begins at once while the current turn has time. The others begin in the next turns, by priority and then by
 * arrival. A queue that is not empty for longer than a burst (100 ms) is a standing queue: it only delays requests. A
 * standing queue takes as many requests as are handled within `most`, and refuses the others.
 */
export class AdmissionQueue {
  readonly #most: number
  readonly #emptied: () => void
  readonly #loop: Loop
  readonly #queues: { readonly [P in Priority]: Queue } = { high: new Queue(), normal: new Queue(), low: new Queue() }
  #size = 0
  /** The time of the turn's first request; `undefined` before it. */
  #begin: number | undefined
  /** Whether a connection was accepted in this turn. */
  #isAccepting = false
  #lastHandled = 0
  #lastEmpty: number
  /** The begin of the current interval; `#handled` counts the requests that began in it. */
  #intervalBegin: number
  #handled = 0
  /** The number of requests in a standing queue: as many as were handled within `most` in the last interval. */
  #room = 0

  /** `emptied` runs after each turn that leaves the queue empty. */
  constructor(mostMillis: number, emptied: () => void, loop: Loop = nodeLoop) {
    this.#most = mostMillis
    this.#emptied = emptied
    this.#loop = loop
    this.#lastEmpty = this.#intervalBegin = loop.now()
  }

  enter(priority: Priority, waiting: Waiting): void {
    const now = this.#loop.now()
    if (this.#begin === undefined) {
      this.#begin = now
      this.#loop.afterEvents(() => this.#endTurn())
    }
    if (this.#size === 0) {
      this.#lastEmpty = now
      if (!this.#isAccepting && now - this.#begin < slice) return this.#handle(waiting)
    }
    if (now - this.#intervalBegin > interval) {
      this.#room = this.#handled * this.#most / (now - this.#intervalBegin)
      this.#intervalBegin = now
      this.#handled = 0
    }
    if (now - this.#lastEmpty > interval && this.#before(priority) > this.#room) return waiting.refuse()
    this.#size++
    this.#queues[priority].push(waiting, now)
  }

  /**
   * Notes that a connection was accepted in this turn. Node accepts one connection in a turn, so more may be pending, some
   * of them from probes. Such a turn begins no request if one was handled within the last 2 ms.
   */
  connected(): void {
    this.#isAccepting = true
  }

  /** The number of waiting requests that begin before a new one of this priority. */
  #before(priority: Priority): number {
    const { high, low, normal } = this.#queues
    return high.size + (priority === "high" ? 0 : normal.size + (priority === "normal" ? 0 : low.size))
  }

  #endTurn(): void {
    const begin = this.#loop.now()
    if (!this.#isAccepting || begin - this.#lastHandled >= slice) {
      for (let now = begin; this.#size > 0 && now - begin < slice; now = this.#loop.now()) this.#next(now)
    }
    this.#isAccepting = false
    this.#begin = this.#size > 0 ? begin : undefined
    if (this.#size > 0) this.#loop.afterEvents(() => this.#endTurn())
    else this.#emptied()
  }

  /** Refuses or handles one request. */
  #next(now: number): void {
    const limit = now - this.#lastEmpty > interval ? this.#most : Math.max(this.#most, interval)
    const late = priorities.find((priority) => now - this.#queues[priority].since > limit)
    const next = late ?? priorities.find((priority) => this.#queues[priority].size > 0) ?? "normal"
    const waiting = this.#queues[next].shift()
    this.#size--
    if (waiting === undefined || waiting.isGone()) return
    if (late === undefined) this.#handle(waiting)
    else waiting.refuse()
  }

  #handle(waiting: Waiting): void {
    this.#handled++
    waiting.handle()
    this.#lastHandled = this.#loop.now()
  }
}

/** A queue in an array. It removes its beginning in large parts, since each removal moves the rest. */
class Queue {
  #waiting: Array<{ readonly waiting: Waiting; readonly since: number }> = []
  #first = 0

  get size(): number {
    return this.#waiting.length - this.#first
  }

  /** The time since which the first request waits. */
  get since(): number {
    return this.#waiting[this.#first]?.since ?? Infinity
  }

  push(waiting: Waiting, since: number): void {
    this.#waiting.push({ waiting, since })
  }

  shift(): Waiting | undefined {
    const first = this.#waiting[this.#first++]
    if (this.#first > 1_000 || this.#first >= this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#first)
      this.#first = 0
    }
    return first?.waiting
  }
}

/** The milliseconds of pause for each refusal in an interval. */
const pausePerRefusal = 1

/** Shorter pauses are omitted, in milliseconds. */
const shortestPause = 5

/** The number of paused connections that are resumed after a turn with an empty queue. */
const atOnce = 32

/**
 * Pauses connections whose request was refused. The pause grows with the number of refusals, up to the time after which
 * clients were asked to retry. So refusals take a small part of the processor, even if clients retry at once.
 */
class Pauses {
  readonly #longest: number
  #sockets: Array<Socket> = []
  readonly #paused = new Set<Socket>()
  #begin = performance.now()
  #refusals = 0
  #pause = 0

  constructor(longest: number) {
    this.#longest = longest
  }

  refused(socket: Socket): void {
    const now = performance.now()
    const elapsed = now - this.#begin
    if (elapsed > interval) {
      this.#pause = Math.min(this.#longest, this.#refusals / elapsed * interval * pausePerRefusal)
      this.#begin = now
      this.#refusals = 0
    }
    this.#refusals++
    if (this.#pause < shortestPause) return
    this.#sockets.push(socket)
    if (this.#sockets.length === 1) {
      // The responses of this turn are written at its end, so the pause begins after it.
      setImmediate(() => setImmediate(() => this.#begun()))
    }
  }

  /** Resumes the connections that have paused longest. */
  resumeSome(): void {
    let remaining = atOnce
    for (const socket of this.#paused) {
      if (remaining-- === 0) return
      this.#resume([socket])
    }
  }

  #begun(): void {
    const paused = this.#sockets.filter((socket) => !socket.destroyed && unwrittenResponse(socket) === undefined)
    this.#sockets = []
    for (const socket of paused) {
      socket.pause()
      this.#paused.add(socket)
    }
    // Connections have no fiber that could sleep.
    // @effect-diagnostics-next-line globalTimers:off
    setTimeout(() => this.#resume(paused), this.#pause).unref()
  }

  #resume(sockets: Iterable<Socket>): void {
    for (const socket of sockets) {
      if (this.#paused.delete(socket)) socket.resume()
    }
  }
}

/** A server with a gate, which each request passes before it is handled. */
type Gated = Pick<RequestListener<typeof OrderedResponse<IncomingMessage>>, "answersAtOnce" | "gate">

const servers = new WeakMap<HttpServer.HttpServer["Service"], Gated>()

/** Lets {@link shed} find Node's server. */
export const gated = (server: HttpServer.HttpServer["Service"], node: Gated): void => {
  servers.set(server, node)
}

/** Node's server of the current one. */
export const nodeServerOf = Effect.map(HttpServer.HttpServer, (server) => servers.get(server))

/** A response that needs no fiber. */
interface EarlyResponse {
  readonly status: number
  readonly text: string
  readonly headers: { readonly [name: string]: string }
}

/** Refuses requests that waited longer than `maxDelay`, before a fiber handles them. Ends with the scope. */
export const shed = Effect.fnUntraced(function*({ maxDelay, priorityOf, probeAt, refusal, retryAfter }: {
  readonly maxDelay: Duration.Duration
  readonly priorityOf: (url: string) => Priority
  /** Finds probes, which don't wait in the queue. */
  readonly probeAt: ((url: string) => unknown) | undefined
  readonly refusal: (headers: IncomingHttpHeaders) => EarlyResponse
  readonly retryAfter: Duration.Duration
}) {
  const node = servers.get(yield* HttpServer.HttpServer)
  if (node === undefined) return
  const context = yield* Effect.context<never>()
  const refusals = refusalsOf("delay")
  const pauses = new Pauses(Duration.toMillis(retryAfter))
  const queue = new AdmissionQueue(Duration.toMillis(maxDelay), () => pauses.resumeSome())
  const seconds = secondsOf(retryAfter)
  const refuse = (request: IncomingMessage, response: ServerResponse): void => {
    refusals.updateUnsafe(1, context)
    pauses.refused(request.socket)
    const { headers, status, text } = refusal(request.headers)
    // A client that waits for `100 Continue` may still send its body, which must not be read as the next request.
    if (request.headers.expect !== undefined) response.shouldKeepAlive = false
    response.writeHead(status, { ...headers, "retry-after": seconds }).end(text)
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      node.gate = {
        connected: () => queue.connected(),
        enter: (request, response, handle) => {
          const { url = "" } = request
          if (probeAt?.(url) !== undefined) return handle()
          queue.enter(priorityOf(url), {
            handle,
            refuse: () => refuse(request, response),
            isGone: () => response.destroyed
          })
        }
      }
    }),
    () =>
      Effect.sync(() => {
        node.gate = undefined
      })
  )
})
