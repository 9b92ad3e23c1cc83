import { IncomingMessage } from "node:http"

/**
 * A request that may hold its body until somebody asks for it: as {@link Request.body} at once, or as the stream that
 * every request is.
 *
 * @internal
 */
export class Request extends IncomingMessage {
  #held: Array<Buffer> | undefined
  #complete: (() => void) | undefined

  /** Whether there is a body, which may be held: Node itself holds no more of one that nobody reads. */
  get isSmall(): boolean {
    const size = Number(this.headers["content-length"])
    return size > 0 && size <= this.readableHighWaterMark
  }

  /** Holds the body; `complete` is called when all of it is there. */
  hold(complete: () => void): void {
    this.#held = []
    this.#complete = complete
  }

  /** All of the body, if it is held and nobody has begun to read it as a stream. */
  get body(): Buffer | undefined {
    const held = this.#held
    if (held === undefined || !this.complete) return undefined
    // Else Node has it read to its end, by nobody, after the answer. It can still be read.
    Reflect.set(this, "_consuming", true)
    return held.length === 1 ? held[0] : Buffer.concat(held)
  }

  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    if (this.#held === undefined) return super.push(chunk, encoding)
    if (chunk === null) this.#complete?.()
    else this.#held.push(chunk)
    return true
  }

  override _read(size: number): void {
    super._read(size)
    const held = this.#held
    if (held === undefined || !this.complete) return
    this.#held = undefined
    for (const chunk of held) super.push(chunk)
    super.push(null)
  }
}
