import { IncomingMessage } from "node:http"

/**
 * A request that can buffer its body until it is read: synchronously by {@link Request.body}, or as a stream.
 *
 * @internal
 */
export class Request extends IncomingMessage {
  #held: Array<Buffer> | undefined
  #complete: (() => void) | undefined

  /** Whether the body fits into the stream's buffer. Node itself buffers no more of an unread body. */
  get isSmall(): boolean {
    const size = Number(this.headers["content-length"])
    return size > 0 && size <= this.readableHighWaterMark
  }

  /** Buffers the body and calls `complete` when it has arrived. */
  buffer(complete: () => void): void {
    this.#held = []
    this.#complete = complete
  }

  /** The complete body, unless it is not buffered or is being read as a stream. */
  get body(): Buffer | undefined {
    const buffered = this.#held
    if (buffered === undefined || !this.complete) return undefined
    // Otherwise Node would drain the body after the response. It can still be read.
    Reflect.set(this, "_consuming", true)
    return buffered.length === 1 ? buffered[0] : Buffer.concat(buffered)
  }

  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    if (this.#held === undefined) return super.push(chunk, encoding)
    if (chunk === null) this.#complete?.()
    else this.#held.push(chunk)
    return true
  }

  override _read(size: number): void {
    super._read(size)
    const buffered = this.#held
    if (buffered === undefined || !this.complete) return
    this.#held = undefined
    for (const chunk of buffered) super.push(chunk)
    super.push(null)
  }
}
