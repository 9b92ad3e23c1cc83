/**
 * A Node request that buffers small bodies, so that handlers read them synchronously, without the cost of a stream. It is read like
 * any other if it asks for a protocol that the server does not speak.
 */

import * as Predicate from "effect/Predicate"
// Tests may replace the global `setImmediate`.
import { clearImmediate, setImmediate } from "node:timers"
import { IncomingMessage, unwrittenResponse } from "./nodeHttp.ts"

/** A request that can buffer its body until it is read: synchronously by {@link BufferedRequest.body}, or as a stream. */
export class BufferedRequest extends IncomingMessage {
  #chunks: Array<Buffer> | undefined
  #complete: (() => void) | undefined
  #upgrade: boolean | undefined = false
  /** Whether the bytes that came with the request are lost: Node's parser skips what follows an `Upgrade` header without a body. */
  losesNext = false

  /**
   * Whether Node hands over the connection unread, as its parser suggests. It would do so for each request with an `Upgrade`
   * header, whose body were lost.
   */
  get upgrade(): boolean {
    // Node asks again, when what came before may have been answered.
    if (this.#upgrade === undefined) {
      this.#upgrade = this.method === "CONNECT" || isHandshake(this)
      this.losesNext = !this.#upgrade && !hasBody(this) && !endsChunk(this.socket)
    }
    return this.#upgrade
  }

  set upgrade(isSuggested: boolean) {
    // Node's constructor sets it, too, before there are private fields.
    if (#upgrade in this) this.#upgrade = isSuggested ? undefined : false
  }

  /** Whether the body fits into the stream's buffer. Node itself buffers no more of an unread body. */
  get isSmall(): boolean {
    const size = Number(this.headers["content-length"])
    return size > 0 && size <= this.readableHighWaterMark
  }

  /** Buffers the body, and calls `ready` when it is there or the turn ends: the request may be refused before. */
  buffer(ready: () => void): void {
    this.#chunks = []
    const turn = setImmediate(() => {
      this.#stream()
      ready()
    })
    this.#complete = () => {
      clearImmediate(turn)
      ready()
    }
  }

  /** Keeps the body that was read as a stream, for who reads it again. */
  keep(body: Buffer): void {
    this.#chunks = [body]
  }

  /** The complete body, unless it is not buffered or is being read as a stream. */
  get body(): Buffer | undefined {
    const buffered = this.#chunks
    if (buffered === undefined || !this.complete) return undefined
    // Otherwise Node would drain the body after the response. It can still be read.
    Reflect.set(this, "_consuming", true)
    return buffered.length === 1 ? buffered[0] : Buffer.concat(buffered)
  }

  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    if (this.#chunks !== undefined) {
      if (chunk === null) this.#complete?.()
      else this.#chunks.push(chunk)
      return true
    }
    if (chunk !== null || this.readableLength > 0 || Reflect.get(this, "_consuming") === true) {
      return super.push(chunk, encoding)
    }
    // Without a body, the stream ends for who reads it. Node would end it for nobody, which takes it several turns.
    this.#chunks = []
    Reflect.set(this, "_consuming", true)
    return false
  }

  /** Ends the stream for who listens to its end, although nobody has read it. */
  endForListeners(): void {
    if (this.complete && !this.readableEnded && this.listenerCount("end") + this.listenerCount("close") > 0) {
      this.resume()
    }
  }

  override _read(size: number): void {
    super._read(size)
    if (this.#chunks === undefined || !this.complete) return
    this.#stream()
    super.push(null)
  }

  #stream(): void {
    const chunks = this.#chunks ?? []
    this.#chunks = undefined
    for (const chunk of chunks) super.push(chunk)
  }
}

/** Whether the request opens a WebSocket (RFC 6455, section 4.1) on a connection that has nothing else to do. */
const isHandshake = (request: IncomingMessage): boolean =>
  request.method === "GET" && request.headers.upgrade?.toLowerCase() === "websocket" && !hasBody(request)
  && unwrittenResponse(request.socket) === undefined

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) !== 0

/** Whether the bytes that Node parses end with the head of a request, and have no other one. */
const endsChunk = (socket: object): boolean => {
  const parser: unknown = Reflect.get(socket, "parser")
  const chunk: unknown =
    Predicate.hasProperty(parser, "getCurrentBuffer") && Predicate.isFunction(parser.getCurrentBuffer)
      ? parser.getCurrentBuffer()
      : undefined
  return Buffer.isBuffer(chunk) && chunk.indexOf("\r\n\r\n") === chunk.length - 4
}
