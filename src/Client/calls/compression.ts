/** Bodies that are compressed for the way (RFC 9110, section 8.4). */
import type * as NodeStream from "@effect/platform-node/NodeStream"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
// oxlint-disable-next-line no-restricted-imports -- no service of the platform package decompresses; the web's has no zstd
import type * as Zlib from "node:zlib"
import type { RequestHandlingException } from "../ClientError.ts"
import { answerTooLarge, Chunks } from "./bytes.ts"
import { failure, unusable } from "./failures.ts"
import type { RawAnswer } from "./transport.ts"
import { zstdFrames } from "./zstdFrames.ts"

/** The ways to read a body. */
export type Decoded = Pick<RawAnswer, "bytes" | "stream">

export interface Compression {
  /** What requests accept: all that this Node undoes. */
  readonly baseHeaders: { readonly [name: string]: string }
  /** The body of an answer without its compressions. Fails with `InvalidAnswer` for one that is unknown or broken. */
  readonly decoded: (raw: RawAnswer, upstream: string) => Decoded
}

export const makeCompression = (
  zlib: typeof Zlib,
  pipeThroughDuplex: typeof NodeStream.pipeThroughDuplex
): Compression => {
  const through = (make: () => Decompressor): Decompress => (body, upstream) =>
    pipeThroughDuplex(body, { evaluate: make, chunkSize: 1, onError: () => broken(upstream) })
  /** The same for a format that has an end: Node leaves what is behind it. */
  const wholly = (make: () => Decompressor): Decompress => (body, upstream) =>
    Stream.suspend(() => {
      const decompressor = make()
      let size = 0
      const counted = Stream.map(body, (piece) => {
        size += piece.length
        return piece
      })
      return Stream.concat(
        through(() => decompressor)(counted, upstream),
        Stream.suspend(() => decompressor.bytesWritten === size ? Stream.empty : Stream.fail(broken(upstream)))
      )
    })
  const gunzip = through(() => zlib.createGunzip())
  const inflate = wholly(() => zlib.createInflate())
  const inflateRaw = wholly(() => zlib.createInflateRaw())
  /** Some services send the compressed data without the header that RFC 9110 asks for. */
  const deflated: Decompress = (body, upstream) =>
    Stream.unwrap(Effect.gen(function*() {
      const pull = yield* Stream.toPull(body)
      const first = yield* Pull.catchDone(pull, () => Effect.undefined)
      if (first === undefined) return Stream.empty
      const hasHeader = ((first[0][0] ?? 0) & 0x0f) === 8
      const whole = Stream.concat(Stream.fromArray(first), Stream.fromPull(Effect.succeed(pull)))
      return (hasHeader ? inflate : inflateRaw)(whole, upstream)
    }))
  const ways = new Map<string, Decompress>([
    ["gzip", gunzip],
    ["deflate", deflated],
    ["br", wholly(() => zlib.createBrotliDecompress())]
  ])
  // Since Node 22.15. RFC 9659 limits the window, and so the memory, to 8 MB.
  if ("createZstdDecompress" in zlib) {
    const params = { [zlib.constants.ZSTD_d_windowLogMax]: 23 }
    const unzstd = through(() => zlib.createZstdDecompress({ params }))
    ways.set(
      "zstd",
      (body, upstream) => Stream.suspend(() => unzstd(Stream.flattenIterable(Stream.map(body, zstdFrames())), upstream))
    )
  }
  const accepted = [...ways.keys()].join(", ")
  ways.set("x-gzip", gunzip)

  return {
    baseHeaders: { "accept-encoding": accepted },
    decoded: (raw, upstream) => {
      const encoding = raw.headers["content-encoding"]
      if (encoding === undefined) return raw
      const encodings = (typeof encoding === "string" ? encoding : encoding.join())
        .split(",").map((one) => one.trim().toLowerCase()).filter((one) => one !== "" && one !== "identity")
      // Nothing is not compressed, whatever the header says.
      const isEmpty = raw.status === 204 || raw.status === 304 || raw.headers["content-length"] === "0"
      if (encodings.length === 0 || isEmpty) return raw
      const undo = encodings.map((one) => ways.get(one))
      if (encodings.length > maxEncodings || undo.includes(undefined)) {
        const unknown = unusable(upstream, "compressed its answer in a way that is not supported")
        return { bytes: () => Effect.fail(unknown), stream: Stream.fail(unknown) }
      }
      // The last one that was applied is undone first.
      const stream = undo.reduceRight<Body>((body, one) => one === undefined ? body : one(body, upstream), raw.stream)
      return { bytes: (maxBytes) => collected(stream, maxBytes, upstream), stream }
    }
  }
}

// internal

type Body = Stream.Stream<Uint8Array, RequestHandlingException>

type Decompress = (body: Body, upstream: string) => Body

type Decompressor = ReturnType<Parameters<typeof NodeStream.pipeThroughDuplex>[1]["evaluate"]> & {
  /** The bytes of the body that were used. */
  readonly bytesWritten: number
}

const broken = (upstream: string): RequestHandlingException =>
  failure(upstream, "InvalidAnswer", "sent an answer whose compression is broken")

/** Each multiplies what a small answer can grow to. */
const maxEncodings = 2

const collected = (
  body: Body,
  maxBytes: number,
  upstream: string
): Effect.Effect<Uint8Array, RequestHandlingException> =>
  Effect.suspend(() => {
    const chunks = new Chunks()
    return Effect.map(
      Stream.runForEach(body, (chunk) => {
        chunks.add(chunk)
        return chunks.length > maxBytes ? Effect.fail(answerTooLarge(upstream, maxBytes)) : Effect.void
      }),
      () => chunks.whole()
    )
  })
