/** What refuses a file: its size, and its type as its sender says it and as its first bytes are. */
import * as Effect from "effect/Effect"
import type { FileField } from "../../Model/internal.ts"
import type { Room } from "../../Repository/internal.ts"
import { errorOf, fromFailure, type HttpError } from "../HttpError.ts"
import { bodyTooLarge, otherType } from "../request/body.ts"
import { isAsSaid, isUnmarked, typeOfHead } from "./contentTypes.ts"

/** What a field says of files, with a size for each. */
export interface FileRules extends Pick<FileField, "maxPixels" | "stripMetadata" | "types"> {
  readonly maxSize: number
  /** What the quotas leave; `undefined` for any number of bytes. */
  readonly room: Room | undefined
}

/** What is known before the bytes: the failure for a type, or a size, that the field does not take. */
export const refusedBefore = (
  { maxSize, room, types }: Pick<FileRules, "maxSize" | "room" | "types">,
  { size, type }: { readonly type: string | undefined; readonly size: number | undefined }
): HttpError | undefined =>
  size !== undefined && size > Math.min(maxSize, room?.bytes ?? Infinity)
    ? tooLarge(maxSize, room)
    : types.length === 0 || type === undefined || type === "application/octet-stream" || types.includes(type)
    ? undefined
    : otherType(types)

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

/** The failure for a file that is larger than the field takes, or than the quotas leave. */
export const tooLarge = (maxSize: number, room: Room | undefined): HttpError =>
  room === undefined || room.bytes >= maxSize ? bodyTooLarge(maxSize) : fromFailure(room.exceeded)
