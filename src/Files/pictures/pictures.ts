/**
 * Makes pictures of pictures by `sharp`, whose own threads decode and encode them. It is loaded with the first picture. Of all that
 * wait, two are made at a time, since each takes the memory of its pixels.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import type { Metadata, Sharp, SharpOptions } from "sharp"
import { PictureRefused } from "../port/errors.ts"

/** What a picture becomes. */
export interface Resizing {
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly fit?: "contain" | "cover" | undefined
  readonly format?: Format | undefined
  readonly quality?: number | undefined
  readonly maxPixels: number
}

type Format = "avif" | "jpeg" | "png" | "webp"

/** Whether the package is not there. */
export const isSharpMissing = (): boolean => Result.isFailure(Result.try(() => import.meta.resolve("sharp")))

/** Whether a file of the type may become another picture. */
export const isPicture = (type: string): boolean => /^image\/(?:apng|avif|gif|jpeg|png|tiff|webp)$/u.test(type)

/** A picture in another size, the right way up, in the colours of screens and without metadata. An animated one is the first of its pictures. */
export const resizedPicture = <E, R>(
  content: Stream.Stream<Uint8Array, E, R>,
  { fit = "cover", format = "webp", height, maxPixels, quality = 80, width }: Resizing
): Effect.Effect<{ readonly bytes: Uint8Array; readonly type: string }, E | PictureRefused, R> =>
  Effect.map(
    made(content, maxPixels, {}, (picture) =>
      picture.autoOrient().resize({
        ...width === undefined ? {} : { width },
        ...height === undefined ? {} : { height },
        fit: fit === "contain" ? "inside" : fit,
        withoutEnlargement: true
      }).toFormat(format, qualityOf(format, quality))),
    (bytes) => ({ bytes, type: `image/${format}` })
  )

/** The same picture without metadata, but with its profile of colours. Only what can be encoded again as it is, is not refused. */
export const cleanedPicture = <E, R>(
  content: Stream.Stream<Uint8Array, E, R>,
  type: string,
  maxPixels: number
): Effect.Effect<Uint8Array, E | PictureRefused, R> => {
  const format = encoded.get(type)
  if (format === undefined) return Effect.fail(new PictureRefused({}))
  const isAnimated = format === "gif" || format === "webp"
  return made(content, maxPixels, { animated: isAnimated }, (picture, { pages = 1 }, bytes) =>
    // The pictures of an animation have no orientation.
    (pages === 1 ? picture.autoOrient() : picture).keepIccProfile().toFormat(
      format,
      format === "webp" && isLossless(bytes) ? { lossless: true } : qualityOf(format, 90)
    ))
}

// internal

const encoded: ReadonlyMap<string, Format | "gif"> = new Map([
  ["image/avif", "avif"],
  ["image/gif", "gif"],
  ["image/jpeg", "jpeg"],
  ["image/png", "png"],
  ["image/webp", "webp"]
])

/** A PNG with a quality would have a palette of at most 256 colours. */
const qualityOf = (format: Format | "gif", quality: number): { readonly quality?: number } =>
  format === "png" ? {} : { quality }

/** Whether the first picture of a WebP has lost nothing, by the name of its part. */
const isLossless = (webp: Buffer): boolean => {
  const [lossless, lossy] = [webp.indexOf("VP8L"), webp.indexOf("VP8 ")]
  return lossless >= 0 && (lossy < 0 || lossless < lossy)
}

const permits = Semaphore.makeUnsafe(2)

/** The seconds after which no picture is made any more. */
const timeLimit = 30

/** Decodes a picture, unless it has too many pixels by what its first bytes say, and encodes what `become` makes of it. */
const made = <E, R>(
  content: Stream.Stream<Uint8Array, E, R>,
  maxPixels: number,
  options: SharpOptions,
  become: (picture: Sharp, metadata: Metadata, bytes: Buffer) => Sharp
): Effect.Effect<Uint8Array, E | PictureRefused, R> =>
  permits.withPermit(Effect.flatMap(Stream.runCollect(content), (pieces) =>
    // What runs can't be stopped, and keeps its permit.
    Effect.uninterruptible(Effect.gen(function*() {
      const { default: sharp } = yield* Effect.promise(() => import("sharp"))
      const read = { ...options, failOn: "error", limitInputPixels: maxPixels, sequentialRead: true } as const
      const bytes = Buffer.concat(pieces)
      const picture = sharp(bytes, read)
      const attempt = <A>(run: () => Promise<A>) =>
        Effect.tryPromise({
          try: run,
          catch: (cause) => new PictureRefused(/pixel limit/u.test(String(cause)) ? { limit: maxPixels } : {})
        })
      const metadata = yield* attempt(() => picture.metadata())
      return yield* attempt(() => become(picture, metadata, bytes).timeout({ seconds: timeLimit }).toBuffer())
    }))))
