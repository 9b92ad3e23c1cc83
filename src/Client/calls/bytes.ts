/**
 * Bodies that are read as a whole.
 */
import * as Result from "effect/Result"
import { BoundedCache } from "../../internal/boundedCache.ts"
import type { RequestHandlingException } from "../ClientError.ts"
import { unusable } from "./failures.ts"

/** @internal */
export const tooLarge = (upstream: string, maxBytes: number): RequestHandlingException =>
  unusable(upstream, `answered with more than ${maxBytes} bytes`)

/** @internal */
export const concatenated = (chunks: ReadonlyArray<Uint8Array>, length: number): Uint8Array => {
  const [only] = chunks
  if (only !== undefined && chunks.length === 1) return only
  const whole = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.length
  }
  return whole
}

/**
 * Text in the charset that a content type names; UTF-8 if it names none, or one that is unknown.
 *
 * @internal
 */
export const textOf = (bytes: Uint8Array, contentType: ContentType): string =>
  (decoderOf(contentType) ?? utf8).decode(bytes)

/**
 * A body as UTF-8, if its content type names another charset.
 *
 * @internal
 */
export const inUtf8 = (bytes: Uint8Array, contentType: ContentType): Uint8Array => {
  const decoder = decoderOf(contentType)
  return decoder === undefined ? bytes : encoder.encode(decoder.decode(bytes))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

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
