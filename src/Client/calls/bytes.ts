/**
 * Bodies that are read as a whole.
 */
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
