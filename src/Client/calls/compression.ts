/**
 * Bodies that are compressed for the way (RFC 9110, section 8.4).
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { RequestHandlingException } from "../ClientError.ts"
import { concatenated, tooLarge } from "./bytes.ts"
import { failure, unusable } from "./failures.ts"
import type { RawAnswer } from "./transport.ts"

/**
 * What requests accept.
 *
 * @internal
 */
export const baseHeaders: { readonly [name: string]: string } = { "accept-encoding": "gzip, deflate" }

/**
 * The ways to read a body.
 *
 * @internal
 */
export type Decoded = Pick<RawAnswer, "bytes" | "stream">

/**
 * The body of an answer without its compressions. Fails with `InvalidAnswer` for one that is unknown or broken.
 *
 * @internal
 */
export const decoded = (raw: RawAnswer, upstream: string): Decoded => {
  const encoding = raw.headers["content-encoding"]
  if (encoding === undefined) return raw
  const encodings = (typeof encoding === "string" ? encoding : encoding.join())
    .split(",").map((one) => one.trim().toLowerCase()).filter((one) => one !== "" && one !== "identity")
  // Nothing is not compressed, whatever the header says.
  const isEmpty = raw.status === 204 || raw.status === 304 || raw.headers["content-length"] === "0"
  if (encodings.length === 0 || isEmpty) return raw
  const formats = encodings.map((one) => formatOf.get(one))
  if (encodings.length > maxEncodings || formats.includes(undefined)) {
    const unknown = unusable(upstream, "compressed its answer in a way that is not supported")
    return { bytes: () => Effect.fail(unknown), stream: Stream.fail(unknown) }
  }
  // The last one that was applied is undone first.
  const stream = formats.reduceRight<Stream.Stream<Uint8Array, RequestHandlingException>>(
    (body, format) => format === undefined ? body : decompressed(body, format, upstream),
    raw.stream
  )
  return { bytes: (maxBytes) => collected(stream, maxBytes, upstream), stream }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Each multiplies what a small answer can grow to. */
const maxEncodings = 2

const formatOf: ReadonlyMap<string, CompressionFormat> = new Map<string, CompressionFormat>([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"]
])

const decompressed = (
  body: Stream.Stream<Uint8Array, RequestHandlingException>,
  format: CompressionFormat,
  upstream: string
): Stream.Stream<Uint8Array, RequestHandlingException> =>
  Stream.unwrap(Effect.sync(() => {
    // The web stream has errors of its own for what fails before it.
    let before: RequestHandlingException | undefined
    const source = Stream.toReadableStream(Stream.tapError(body, (error) =>
      Effect.sync(() => {
        before = error
      })))
    return Stream.fromReadableStream({
      // The types of Node's streams and of the web's differ in the buffers of their chunks.
      evaluate: () =>
        source.pipeThrough<Uint8Array>(new DecompressionStream(format) as ReadableWritablePair<Uint8Array, Uint8Array>),
      onError: () => before ?? failure(upstream, "InvalidAnswer", "sent an answer whose compression is broken")
    })
  }))

const collected = (
  body: Stream.Stream<Uint8Array, RequestHandlingException>,
  maxBytes: number,
  upstream: string
): Effect.Effect<Uint8Array, RequestHandlingException> =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    return Effect.map(
      Stream.runForEach(body, (chunk) => {
        size += chunk.length
        chunks.push(chunk)
        return size > maxBytes ? Effect.fail(tooLarge(upstream, maxBytes)) : Effect.void
      }),
      () => concatenated(chunks, size)
    )
  })
