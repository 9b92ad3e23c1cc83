/** Receives a file: finds out what it is by its first bytes, and keeps it in the store as it arrives. */
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
import type { FileField, StoredFile } from "../../Model/internal.ts"
import type { Room } from "../../Repository/internal.ts"
import { errorOf, fromFailure, type HttpError } from "../HttpError.ts"
import { bodyTooLarge, otherType } from "../request/body.ts"
import { headSize, isAsSaid, isUnmarked, typeOfHead } from "./contentTypes.ts"

/** A file as its sender describes it. */
export interface Given {
  readonly name: string | undefined
  /** The type that the sender says, in lower case and without parameters. */
  readonly type: string | undefined
  readonly content: Stream.Stream<Uint8Array, HttpError>
}

/** What a field says of files, with a size for each. */
export interface Rules extends Pick<FileField, "maxPixels" | "stripMetadata" | "types"> {
  readonly maxSize: number
  /** What the quotas leave; `undefined` for any number of bytes. */
  readonly room: Room | undefined
}

/** What is known before the bytes: the failure for a type, or a size, that the field does not take. */
export const refusedBefore = (
  { maxSize, room, types }: Pick<Rules, "maxSize" | "room" | "types">,
  { size, type }: { readonly type: string | undefined; readonly size: number | undefined }
): HttpError | undefined =>
  size !== undefined && size > Math.min(maxSize, room?.bytes ?? Infinity)
    ? tooLarge(maxSize, room)
    : types.length === 0 || type === undefined || type === "application/octet-stream" || types.includes(type)
    ? undefined
    : otherType(types)

/** Keeps a file. Its type is that of its bytes, and has to be one that the field takes. */
export const receive = (
  files: Service,
  { maxPixels, maxSize, room, stripMetadata, types }: Rules,
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

/**
 * The type of a file by its first bytes. One that the field does not take is a 415; what is none of the type that its sender says, and the
 * field takes, is a 422 (RFC 9110, sections 15.5.16 and 15.5.21).
 */
export const checkedType = Effect.fnUntraced(function*(
  head: Uint8Array,
  said: string | undefined,
  types: ReadonlyArray<string>
): Effect.fn.Return<string, HttpError> {
  const type = yield* typeOfHead(head, said)
  if (types.length > 0 && !types.includes(type)) {
    const args = { type, types: types.join(", ") }
    // Of a type that the field takes, it is the bytes that contradict.
    return yield* said !== undefined && types.includes(said)
      ? errorOf("UnprocessableContent", "errors.FileType", args)
      : errorOf("UnsupportedMediaType", "errors.FileType", args)
  }
  // A field that takes anything takes drawings and lists that have no mark, as what nothing runs.
  if (!isAsSaid(type, said) && (types.length > 0 || !isUnmarked(type))) {
    return yield* errorOf("UnprocessableContent", "errors.FileType", { type, types: said ?? "" })
  }
  return type
})

/** A store that can't be asked at the moment is a 503. */
export const unavailable = (error: FileStoreFailed): Effect.Effect<never, HttpError> =>
  error.retryable
    ? Effect.andThen(
      Effect.logWarning(error.message),
      Effect.fail(errorOf("ServiceUnavailable", "errors.StoreUnavailable"))
    )
    : Effect.die(error)

// internal

/** The failure for a file that is larger than the field takes, or than the quotas leave. */
const tooLarge = (maxSize: number, room: Room | undefined): HttpError =>
  room === undefined || room.bytes >= maxSize ? bodyTooLarge(maxSize) : fromFailure(room.exceeded)

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
