/**
 * One request over one connection: the waiting for a connection, the time limit of each phase, the answer's body.
 *
 * **Details**
 *
 * The phases and their limits: `waiting` for a connection (`pool`), `connecting` (`connect`), `sending` the body (`write`),
 * `answering` until the head of the answer is complete (`read`), and `receiving`, where each wait for more of the body has
 * the limit `read`. A body that is not read as fast as it comes stops the connection until it is.
 *
 * The connection goes back to the pool when the body is complete. An answer that is closed before ends its connection.
 */
import type * as Undici from "@effect/platform-node/Undici"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import type { Admission, Refusable } from "../breaker/admission.ts"
import type { CircuitOpenError, RequestHandlingException } from "../ClientError.ts"
import { answerTooLarge, Chunks } from "./bytes.ts"
import type { Deadlines, Expiring } from "./deadlines.ts"
import { failure, failureBy, failureOf, markUnsent } from "./failures.ts"
import { isIdempotent } from "./idempotent.ts"
import type { Connection, Pool, WaitingCall } from "./pool.ts"

/** The limits of one call, in milliseconds. */
interface TimeLimits {
  readonly pool: number
  readonly connect: number
  readonly write: number
  readonly read: number
  /** Whether `write` limits each wait for more of the body to be taken instead of the time for the whole body. */
  readonly isWritePerPart: boolean
}

export type Body = Exclude<Undici.Dispatcher.DispatchOptions["body"], undefined>

export interface Message {
  readonly method: string
  readonly url: URL
  readonly headers: { readonly [name: string]: string }
  readonly body: Body
  /** The name of the service, for errors. */
  readonly upstream: string
  readonly limits: TimeLimits
  /** What a breaker let in. It asks once more before the message is sent. */
  readonly admission: Admission | undefined
}

export interface RawHeaders {
  readonly [name: string]: string | ReadonlyArray<string> | undefined
}

/** An answer whose body is not read yet. */
export interface RawAnswer {
  readonly status: number
  readonly headers: RawHeaders
  /** The whole body. Fails with `InvalidAnswer` if it has more bytes than `maxBytes`. */
  readonly bytes: (maxBytes: number) => Effect.Effect<Uint8Array, RequestHandlingException>
  /** The body in parts, once. */
  readonly stream: Stream.Stream<Uint8Array, RequestHandlingException>
  /** Gives the connection back, or ends it if the body is not complete. */
  readonly close: () => void
}

export interface Wire {
  readonly pool: Pool
  readonly deadlines: Deadlines
}

/** Sends a request and waits for the head of its answer. `opened` gets at once what has to be closed in the end. */
export const transmit = (
  wire: Wire,
  message: Message,
  opened: (call: Pick<RawAnswer, "close">) => void
): Effect.Effect<RawAnswer, RequestHandlingException | CircuitOpenError> =>
  Effect.callback<RawAnswer, RequestHandlingException | CircuitOpenError>((resume) => {
    const call = new Call(wire, message, (exit) => resume(exit))
    opened(call)
    call.start()
  })

// internal

/** Bytes that are kept before the connection stops reading. */
const highWater = 262_144

type OnHead = (exit: Exit.Exit<RawAnswer, RequestHandlingException | CircuitOpenError>) => void

class Call implements Undici.Dispatcher.DispatchHandler, Expiring, WaitingCall, Refusable, RawAnswer {
  expiresAt = Infinity
  status = 0
  headers: RawHeaders = {}
  readonly origin: string
  readonly #wire: Wire
  readonly #message: Message
  #onHead: OnHead | undefined
  #onBody: (() => void) | undefined
  #phase: "waiting" | "connecting" | "sending" | "answering" | "receiving" | "ended" = "waiting"
  #connection: Connection | undefined
  #controller: Undici.Dispatcher.DispatchController | undefined
  #failure: RequestHandlingException | undefined
  readonly #chunks = new Chunks()
  /** The number of bytes to keep: more stop the connection. */
  #capacity = highWater
  #maxBytes = Infinity
  #isSent = false

  constructor(wire: Wire, message: Message, onHead: OnHead) {
    this.#wire = wire
    this.#message = message
    this.#onHead = onHead
    this.origin = message.url.origin
  }

  start(): void {
    const { admission, limits } = this.#message
    const refusal = admission?.refusal()
    if (refusal !== undefined) return this.#refused(refusal)
    const taken = this.#wire.pool.take(this)
    if (typeof taken === "object") this.connected(taken)
    else if (taken === "Waiting") {
      this.#wire.deadlines.set(this, limits.pool)
      admission?.wait(this)
    } else this.#end(failureBy(this.#message.upstream, taken), false)
  }

  connected(connection: Connection): void {
    const { admission, body, headers, limits, method, url } = this.#message
    admission?.connected(this)
    this.#connection = connection
    this.#phase = "connecting"
    this.#wire.deadlines.set(this, limits.connect)
    connection.awaitHead(true)
    // Errors come to `onResponseError`.
    connection.dispatcher.dispatch({
      origin: this.origin,
      path: url.pathname + url.search,
      method,
      headers,
      body,
      headersTimeout: 0,
      bodyTimeout: 0
    }, this)
  }

  expire(): void {
    const { upstream } = this.#message
    this.#end(
      this.#phase === "waiting"
        ? failureBy(upstream, "PoolTimeout")
        : failure(upstream, "Timeout", lateness[this.#phase]),
      false
    )
  }

  shutDown(): void {
    this.#end(failure(this.#message.upstream, "Closed", "did not answer before the client was shut down"), false)
  }

  refuse(): void {
    const refusal = this.#message.admission?.refusal()
    if (refusal !== undefined) this.#refused(refusal)
  }

  close(): void {
    if (this.#phase !== "ended") {
      this.#end(failure(this.#message.upstream, "Reset", "was left before its answer was complete"), false)
    }
  }

  // -- what undici calls ------------------------------------------------------

  onRequestStart(controller: Undici.Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#phase === "ended") controller.abort(new Error("The call has ended"))
    else {
      this.#phase = "sending"
      this.#wire.deadlines.set(this, this.#message.limits.write)
    }
  }

  onBodySent(): void {
    const { limits } = this.#message
    if (this.#phase === "sending") {
      if (limits.isWritePerPart) this.#wire.deadlines.set(this, limits.write)
    } else if (this.#phase === "receiving" && this.#capacity > 0) {
      // The service has begun to answer, and goes on to take the request.
      this.#wire.deadlines.set(this, limits.read)
    }
  }

  onRequestSent(): void {
    this.#isSent = true
    if (this.#phase !== "sending") return
    this.#phase = "answering"
    this.#wire.deadlines.set(this, this.#message.limits.read)
  }

  onResponseStart(_: Undici.Dispatcher.DispatchController, status: number, headers: RawHeaders): void {
    if (status < 200 || this.#phase === "ended") return
    this.#phase = "receiving"
    this.#connection?.awaitHead(false)
    this.#message.admission?.headed()
    this.#wire.deadlines.set(this, this.#message.limits.read)
    this.status = status
    this.headers = headers
    // After the parser: a short body has arrived by then, and nothing runs within undici.
    queueMicrotask(() => {
      const resume = this.#onHead
      this.#onHead = undefined
      resume?.(this.#failure === undefined ? Exit.succeed(this) : Exit.fail(this.#failure))
    })
  }

  onResponseData(controller: Undici.Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#phase !== "receiving") return
    this.#chunks.add(chunk)
    if (this.#chunks.length > this.#maxBytes) {
      return this.#end(answerTooLarge(this.#message.upstream, this.#maxBytes), false)
    }
    this.#capacity -= chunk.length
    if (this.#capacity <= 0) {
      controller.pause()
      // The reader is late, not the service.
      this.#wire.deadlines.clear(this)
    } else this.#wire.deadlines.set(this, this.#message.limits.read)
    this.#notify()
  }

  onResponseEnd(): void {
    if (this.#phase !== "receiving") return
    this.#phase = "ended"
    this.#wire.deadlines.clear(this)
    // Once undici has ended the request on its side.
    queueMicrotask(() => {
      // The rest of a request that is answered before it is sent would be taken for the next one.
      this.#release(this.#isSent)
      this.#notify()
    })
  }

  onResponseError(_: Undici.Dispatcher.DispatchController, error: Error): void {
    if (this.#phase === "ended") return
    const connection = this.#connection
    const failure = failureOf(this.#message.upstream, connection?.socketError() ?? error)
    if (connection?.isUsed === true && failure.reason._tag === "Reset" && this.#isRepeatable) {
      // The service has closed a kept connection at the moment of its use (RFC 9112, section 9.3.1).
      return this.connected(this.#wire.pool.replace(connection))
    }
    this.#end(failure, false)
  }

  get #isRepeatable(): boolean {
    const { body } = this.#message
    return this.#phase !== "receiving" && isIdempotent(this.#message) &&
      (body === null || typeof body === "string" || body instanceof Uint8Array)
  }

  // -- the body ---------------------------------------------------------------

  bytes(maxBytes: number): Effect.Effect<Uint8Array, RequestHandlingException> {
    return Effect.suspend(() => {
      this.#maxBytes = maxBytes
      const declared = this.#message.method === "HEAD" ? 0 : Number(this.headers["content-length"])
      if (this.#chunks.length > maxBytes || declared > maxBytes) {
        // A short body may be complete by now.
        const failure = answerTooLarge(this.#message.upstream, maxBytes)
        this.#end(failure, false)
        return Effect.fail(this.#failure ?? failure)
      }
      this.#flow(Infinity)
      return this.#isComplete
        ? this.#whole
        : Effect.andThen(this.#until(() => this.#isComplete), Effect.suspend(() => this.#whole))
    })
  }

  get stream(): Stream.Stream<Uint8Array, RequestHandlingException> {
    let taken = 0
    const pull: Pull.Pull<readonly [Uint8Array, ...Array<Uint8Array>], RequestHandlingException> = Effect.suspend(
      () => {
        const [first, ...others] = this.#chunks.take()
        taken = this.#chunks.length
        if (first !== undefined) {
          this.#flow(highWater)
          return Effect.succeed([first, ...others] as const)
        }
        if (this.#failure !== undefined) return Effect.fail(this.#failure)
        if (this.#isComplete) return Cause.done()
        return Effect.andThen(this.#until(() => this.#chunks.length > taken || this.#isComplete), pull)
      }
    )
    return Stream.fromPull(Effect.succeed(pull))
  }

  /** Once its connection is given back, so that the next call of the same caller takes it. */
  get #isComplete(): boolean {
    return this.#phase === "ended" && this.#connection === undefined
  }

  get #whole(): Effect.Effect<Uint8Array, RequestHandlingException> {
    return this.#failure === undefined
      ? Effect.succeed(this.#chunks.whole())
      : Effect.fail(this.#failure)
  }

  /** Keeps up to `capacity` bytes from now on. */
  #flow(capacity: number): void {
    const wasStopped = this.#capacity <= 0
    this.#capacity = capacity
    if (wasStopped && this.#phase === "receiving") {
      this.#wire.deadlines.set(this, this.#message.limits.read)
      this.#controller?.resume()
    }
  }

  #until(isReady: () => boolean): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      if (isReady()) return resume(Effect.void)
      this.#onBody = () => {
        if (!isReady()) return
        this.#onBody = undefined
        resume(Effect.void)
      }
    })
  }

  #notify(): void {
    this.#onBody?.()
  }

  // -- the end ----------------------------------------------------------------

  /** Ends a call that is not sent. */
  #refused(refusal: CircuitOpenError): void {
    if (this.#phase !== "waiting") return
    this.#phase = "ended"
    this.#leave()
    this.#onHead?.(Exit.fail(refusal))
    this.#onHead = undefined
  }

  /** Ends the call before its answer is complete. */
  #end(failure: RequestHandlingException, isReusable: boolean): void {
    if (this.#phase === "ended") return
    if (this.#phase === "waiting" || this.#phase === "connecting") markUnsent(failure)
    this.#phase = "ended"
    this.#failure = failure
    this.#leave()
    this.#controller?.abort(new Error(failure.message))
    this.#release(isReusable)
    const resume = this.#onHead
    this.#onHead = undefined
    resume?.(Exit.fail(failure))
    this.#notify()
  }

  #leave(): void {
    this.#wire.pool.leave(this)
    this.#wire.deadlines.clear(this)
    this.#message.admission?.leave(this)
  }

  #release(isReusable: boolean): void {
    const connection = this.#connection
    this.#connection = undefined
    if (connection !== undefined) this.#wire.pool.release(connection, isReusable)
  }
}

const lateness = {
  waiting: "",
  connecting: "did not accept the connection in time",
  sending: "did not take the request in time",
  answering: "did not answer in time",
  receiving: "did not complete its answer in time",
  ended: ""
}
