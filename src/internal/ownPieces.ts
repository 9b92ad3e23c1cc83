/**
 * Streams of bytes whose pieces nobody else has, so that who has used a piece can give its memory back. V8 collects its whole heap for
 * about 32 MB of memory outside of it, which is most of the work of moving large files.
 */
import type * as Stream from "effect/Stream"

type Bytes = Stream.Stream<Uint8Array, unknown, unknown>

const streams = new WeakSet<object>()

/** Marks a stream that makes its pieces for one reader, and uses none again. */
export const withOwnPieces = <S extends Bytes>(stream: S): S => {
  streams.add(stream)
  return stream
}

/** Whether the pieces are the reader's own. */
export const hasOwnPieces = (stream: Bytes): boolean => streams.has(stream)

/** Marks a stream of the pieces of another one, if that is marked. */
export const withPiecesOf = <S extends Bytes>(other: Bytes, stream: S): S =>
  hasOwnPieces(other) ? withOwnPieces(stream) : stream

/** Gives the memory of a piece back. One that is a part of larger memory keeps it. */
export const release = ({ buffer, byteLength }: Uint8Array): void => {
  if (buffer instanceof ArrayBuffer && byteLength > 0 && buffer.byteLength === byteLength) buffer.transfer(0)
}
