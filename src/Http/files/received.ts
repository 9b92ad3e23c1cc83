/** Receives a file: keeps it in the store as it arrives, unless `refusals.ts` refuses it. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { randomBytes } from "node:crypto"
import type { FileStoreFailed, PictureRefused, Service } from "../../Files/FileStore.ts"
import { isCleanable, putCleaned } from "../../Files/internal.ts"
import { withPiecesOf } from "../../internal/ownPieces.ts"
import { safeFileName } from "../../internal/safeFileName.ts"
import type { StoredFile } from "../../Model/internal.ts"
import { errorOf, type HttpError } from "../HttpError.ts"
import { headSize } from "./contentTypes.ts"
import { checkedType, type FileRules, tooLarge } from "./refusals.ts"

/** A file as its sender describes it. */
export interface Given {
  readonly name: string | undefined
  /** The type that the sender says, in lower case and without parameters. */
  readonly type: string | undefined
  readonly content: Stream.Stream<Uint8Array, HttpError>
}

/** Keeps a file. Its type is that of its bytes, and has to be one that the field takes. */
export const receive = (
  files: Service,
  { maxPixels, maxSize, room, stripMetadata, types }: FileRules,
  { content, name, type: said }: Given
): Effect.Effect<StoredFile, HttpError> =>
  Effect.scoped(Effect.gen(function*() {
    const { head, whole } = yield* peeked(content)
    const type = yield* checkedType(head, said, types)
    const limits = { maxPixels, maxSize: Math.min(maxSize, room?.bytes ?? Infinity) }
    const isCleaned = stripMetadata && type.startsWith("image/")
    if (isCleaned && !isCleanable(type)) return yield* errorOf("UnsupportedMediaType", "errors.PictureUnreadable")
    const { id, sha256, size } = yield* isCleaned
      ? putCleaned(files, whole, type, limits)
      : files.put(whole, limits)
    return {
      id,
      key: randomBytes(9).toString("base64url"),
      name: safeFileName(name ?? "") ?? "file",
      size,
      type,
      sha256,
      at: yield* DateTime.now
    }
  })).pipe(Effect.catchTags({
    FileTooLarge: () => Effect.fail(tooLarge(maxSize, room)),
    FileStoreFailed: unavailable,
    PictureRefused: ({ limit }: PictureRefused) =>
      Effect.fail(
        limit === undefined
          ? errorOf("UnprocessableContent", "errors.PictureUnreadable")
          : errorOf("PayloadTooLarge", "errors.PictureTooLarge", { limit })
      )
  }))

/** A store that can't be asked at the moment is a 503. */
export const unavailable = (error: FileStoreFailed): Effect.Effect<never, HttpError> =>
  error.retryable
    ? Effect.andThen(
      Effect.logWarning(error.message),
      Effect.fail(errorOf("ServiceUnavailable", "errors.StoreUnavailable"))
    )
    : Effect.die(error)

// internal

/** The first bytes of a stream, and all of it. */
const peeked = <E>(
  content: Stream.Stream<Uint8Array, E>
): Effect.Effect<
  { readonly head: Uint8Array; readonly whole: Stream.Stream<Uint8Array, E> },
  E,
  Scope.Scope
> =>
  Effect.flatMap(Stream.toPull(content), (pull) => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    const begun = (isEnded: boolean) => {
      const first = Stream.fromArray(chunks)
      return {
        head: Buffer.concat(chunks).subarray(0, headSize),
        whole: withPiecesOf(content, isEnded ? first : Stream.concat(first, Stream.fromPull(Effect.succeed(pull))))
      }
    }
    const next: Effect.Effect<ReturnType<typeof begun>, E> = Pull.matchEffect(pull, {
      onSuccess: (more) => {
        for (const chunk of more) {
          chunks.push(chunk)
          size += chunk.length
        }
        return size < headSize ? next : Effect.succeed(begun(false))
      },
      onFailure: (cause) => Effect.failCause(cause),
      onDone: () => Effect.succeed(begun(true))
    })
    return next
  })
