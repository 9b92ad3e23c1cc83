/** A Node request that buffers small bodies, so that handlers read them synchronously, without the cost of a stream. */

// Tests may replace the global `setImmediate`.
import { clearImmediate, setImmediate } from "node:timers"
import { IncomingMessage } from "./nodeHttp.ts"

/** A request that can buffer its body until it is read: synchronously by {@link BufferedRequest.body}, or as a stream. */
export class BufferedRequest extends IncomingMessage {
  #chunks: Array<Buffer> | undefined
  #complete: (() => void) | undefined

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
