/** Bodies that are read as a whole. */
import * as Result from "effect/Result"
import { BoundedCache } from "../../internal/boundedCache.ts"
import type { RequestHandlingException } from "../ClientError.ts"
import { unusable } from "./failures.ts"

export const answerTooLarge = (upstream: string, maxBytes: number): RequestHandlingException =>
  unusable(upstream, `answered with more than ${maxBytes} bytes`)

/** Bytes as they arrive. Many small parts are joined: each would take some hundred bytes more than it has. */
export class Chunks {
  /** The number of bytes so far. */
  length = 0
  #parts: Array<Uint8Array> = []
  /** What joins small parts, where it is free, and where the bytes begin that are in no part yet. */
  #block = none
  #free = 0
  #begin = 0

  add(chunk: Uint8Array): void {
    this.length += chunk.length
    // A part keeps its whole buffer, of which it may be little: what is between parts has no maximum.
    const isLittle = chunk.length < blockSize / 2 && chunk.length * 2 < chunk.buffer.byteLength
    if (chunk.length >= small && !isLittle || this.#parts.length < few) {
      this.#seal()
      this.#parts.push(chunk)
      return
    }
    if (this.#free + chunk.length > this.#block.length) {
      this.#seal()
      this.#block = new Uint8Array(blockSize)
      this.#begin = this.#free = 0
    }
    this.#block.set(chunk, this.#free)
    this.#free += chunk.length
  }

  /** The parts since the last time. */
  take(): ReadonlyArray<Uint8Array> {
    this.#seal()
    const parts = this.#parts
    this.#parts = []
    return parts
  }

  /** All that was not taken, as one. */
  whole(): Uint8Array {
    const parts = this.take()
    const [only] = parts
    if (only !== undefined && parts.length === 1) return only
    const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
    let offset = 0
    for (const part of parts) {
      whole.set(part, offset)
      offset += part.length
    }
    return whole
  }

  #seal(): void {
    if (this.#free === this.#begin) return
    this.#parts.push(this.#block.subarray(this.#begin, this.#free))
    this.#begin = this.#free
  }
}

/** Text in the charset that a content type names; UTF-8 if it names none, or one that is unknown. */
export const decodedText = (bytes: Uint8Array, contentType: ContentType): string =>
  (decoderOf(contentType) ?? utf8).decode(bytes)

/** A body as UTF-8, if its content type names another charset. */
export const inUtf8 = (bytes: Uint8Array, contentType: ContentType): Uint8Array => {
  const decoder = decoderOf(contentType)
  return decoder === undefined ? bytes : encoder.encode(decoder.decode(bytes))
}

// internal

const small = 4_096

/** So many parts are kept as they are, of whatever size. */
const few = 16

const blockSize = 65_536

const none = new Uint8Array(0)

type ContentType = string | ReadonlyArray<string> | undefined

const utf8 = new TextDecoder()

const encoder = new TextEncoder()

const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/iu

const decoders = new BoundedCache<TextDecoder>(20)

/** The decoder of any other charset than UTF-8. */
const decoderOf = (contentType: ContentType): TextDecoder | undefined => {
  const label = typeof contentType === "string" ? charset.exec(contentType)?.[1]?.toLowerCase() : undefined
  if (label === undefined || label === "utf-8") return undefined
  return decoders.getOrMake(label, () => Result.getOrElse(Result.try(() => new TextDecoder(label)), () => utf8))
}
