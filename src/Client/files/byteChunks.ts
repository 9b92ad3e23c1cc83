/** Byte streams in chunks of one size. */
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { DeclarationError } from "../../internal/declarationError.ts"

/** The same bytes in chunks of `chunkSize`, 64 KiB by default, without reading ahead of what comes at once. */
export const inChunksOf = <E, R>(
  source: Stream.Stream<Uint8Array, E, R>,
  chunkSize: ByteSize.Input = 65_536
): Stream.Stream<Uint8Array, E, R> => {
  const size = Number(Option.getOrUndefined(ByteSize.fromInput(chunkSize)))
  if (!Number.isSafeInteger(size) || size < 1) {
    return Stream.fromEffect(Effect.die(
      new DeclarationError(`chunkSize has to be a size in bytes from 1, not ${String(chunkSize)}`)
    ))
  }
  return Stream.mapAccumArray(
    source,
    (): Filling => ({ buffer: undefined, length: 0 }),
    (filling, pieces) => [filling, fill(filling, pieces, size)],
    { onHalt: ({ buffer, length }) => buffer === undefined ? [] : [buffer.subarray(0, length)] }
  )
}

// internal

/** The chunk that is not full yet. */
interface Filling {
  buffer: Uint8Array | undefined
  length: number
}

/** Adds the pieces, and returns the chunks that have become full. A whole chunk within a piece is not copied. */
const fill = (filling: Filling, pieces: ReadonlyArray<Uint8Array>, size: number): ReadonlyArray<Uint8Array> => {
  const full: Array<Uint8Array> = []
  for (const piece of pieces) {
    let at = 0
    while (at < piece.length) {
      if (filling.buffer === undefined && piece.length - at >= size) {
        full.push(piece.subarray(at, at += size))
        continue
      }
      filling.buffer ??= new Uint8Array(size)
      const part = piece.subarray(at, at + size - filling.length)
      filling.buffer.set(part, filling.length)
      filling.length += part.length
      at += part.length
      if (filling.length === size) {
        full.push(filling.buffer)
        filling.buffer = undefined
        filling.length = 0
      }
    }
  }
  return full
}
