/**
 * Makes pictures of pictures by `sharp`, whose own threads decode and encode them. It is loaded with the first picture. Of all that
 * wait, two are made at a time, since each takes the memory of its pixels.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import type { Metadata, Sharp, SharpOptions } from "sharp"
import { FileStoreFailed, type FileTooLarge, PictureRefused } from "../port/errors.ts"
import type { Service, Stored } from "../port/service.ts"

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
export const resizedPicture = <E>(
  content: Stream.Stream<Uint8Array, E>,
  { fit = "cover", format = "webp", height, maxPixels, quality = 80, width }: Resizing
): Effect.Effect<{ readonly bytes: Uint8Array; readonly type: string }, E | FileStoreFailed | PictureRefused> =>
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

/** Whether pictures of the type can be kept without metadata. */
export const isCleanable = (type: string): boolean => encoded.has(type)

/**
 * Keeps a picture without metadata, but with its profile of colours. Only what can be encoded again as it is, is not refused. It is in
 * the store until all of it has arrived, so that nobody who sends slowly keeps others from their pictures.
 */
export const putCleaned = <E>(
  files: Service,
  content: Stream.Stream<Uint8Array, E>,
  type: string,
  { maxPixels, maxSize }: { readonly maxPixels: number; readonly maxSize: number }
): Effect.Effect<Stored, E | FileStoreFailed | FileTooLarge | PictureRefused> => {
  const format = encoded.get(type)
  if (format === undefined) return Effect.fail(new PictureRefused({}))
  const isAnimated = format === "gif" || format === "webp"
  const cleaned = (id: string) =>
    made(files.read(id), maxPixels, { animated: isAnimated }, (picture, { depth, pages = 1, space }, bytes) =>
      // The pictures of an animation have no orientation, and only a PNG has 16 bits for a colour.
      inDepth(pages === 1 ? picture.autoOrient() : picture, format === "png" && depth === "ushort" ? space : undefined)
        .keepIccProfile().toFormat(
          format,
          format === "webp" && isLossless(bytes) ? { lossless: true } : qualityOf(format, 90)
        ))
  return Effect.flatMap(
    files.put(content, { maxSize: Math.min(maxSize, maxBytes) }),
    ({ id }) =>
      Effect.flatMap(cleaned(id), (bytes) => files.put(Stream.make(bytes), { maxSize })).pipe(
        Effect.catchTag("FileMissing", ({ message }) => Effect.fail(failedNow(message))),
        // What stays nevertheless is swept.
        Effect.ensuring(Effect.ignore(files.remove([id])))
      )
  )
}

/** Why no picture was made. Another attempt may be in time, or find the memory. */
export const failureOfPicture = (cause: unknown, maxPixels: number): FileStoreFailed | PictureRefused => {
  const detail = String(cause)
  if (/pixel limit/u.test(detail)) return new PictureRefused({ limit: maxPixels })
  return /timeout|memory/iu.test(detail) ? failedNow(detail) : new PictureRefused({})
}

// internal

const encoded: ReadonlyMap<string, Format | "gif"> = new Map([
  ["image/avif", "avif"],
  ["image/gif", "gif"],
  ["image/jpeg", "jpeg"],
  ["image/png", "png"],
  ["image/webp", "webp"]
])

/** A picture with the 16 bits for a colour that it has; the usual 8 of another one. */
const inDepth = (picture: Sharp, space: string | undefined): Sharp =>
  space === undefined
    ? picture
    : picture.toColourspace(space.startsWith("grey") || space === "b-w" ? "grey16" : "rgb16")

/** A PNG with a quality would have a palette of at most 256 colours. */
const qualityOf = (format: Format | "gif", quality: number): { readonly quality?: number } =>
  format === "png" ? {} : { quality }

/** Whether the first picture of a WebP has lost nothing, by the name of its part. */
const isLossless = (webp: Buffer): boolean => {
  const [lossless, lossy] = [webp.indexOf("VP8L"), webp.indexOf("VP8 ")]
  return lossless >= 0 && (lossy < 0 || lossless < lossy)
}

const permits = Semaphore.makeUnsafe(2)

/** The seconds after which no picture is read, or made, any more. */
const timeLimit = 30

/** The largest file that is read: all of it is in memory. */
const maxBytes = 64 * 1024 * 1024

const failedNow = (detail: string): FileStoreFailed =>
  new FileStoreFailed({ operation: "picture", detail, retryable: true })

/** All of a content. */
const collected = <E>(
  content: Stream.Stream<Uint8Array, E>
): Effect.Effect<Buffer, E | FileStoreFailed | PictureRefused> =>
  Effect.suspend(() => {
    let size = 0
    const bounded = Stream.mapEffect(content, (piece) => {
      size += piece.length
      return size > maxBytes ? Effect.fail(new PictureRefused({})) : Effect.succeed(piece)
    })
    return Effect.map(Stream.runCollect(bounded), (pieces) => Buffer.concat(pieces))
  }).pipe(Effect.timeoutOrElse({
    duration: Duration.seconds(timeLimit),
    orElse: () => Effect.fail(failedNow(`the store has not sent the picture in ${timeLimit} seconds`))
  }))

/** Decodes a picture of a store, unless it has too many pixels by what its first bytes say, and encodes what `become` makes of it. */
const made = <E>(
  content: Stream.Stream<Uint8Array, E>,
  maxPixels: number,
  options: SharpOptions,
  become: (picture: Sharp, metadata: Metadata, bytes: Buffer) => Sharp
): Effect.Effect<Uint8Array, E | FileStoreFailed | PictureRefused> =>
  permits.withPermit(Effect.flatMap(collected(content), (bytes) =>
    // What runs can't be stopped, and keeps its permit.
    Effect.uninterruptible(Effect.gen(function*() {
      const { default: sharp } = yield* Effect.promise(() => import("sharp"))
      const read = { ...options, failOn: "error", limitInputPixels: maxPixels, sequentialRead: true } as const
      const picture = sharp(bytes, read)
      const attempt = <A>(run: () => Promise<A>) =>
        Effect.tryPromise({ try: run, catch: (cause) => failureOfPicture(cause, maxPixels) })
      const metadata = yield* attempt(() => picture.metadata())
      return yield* attempt(() => become(picture, metadata, bytes).timeout({ seconds: timeLimit }).toBuffer())
    }))))
