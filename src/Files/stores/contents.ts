/** What stores of files share: identifiers, ranges, and the measures of a content on its way. */
import * as WebCrypto from "effect/crypto/WebCrypto"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import { withPiecesOf } from "../../internal/ownPieces.ts"
import { FileStoreFailed, FileTooLarge } from "../port/errors.ts"
import type { Range, Service } from "../port/service.ts"

/** A new identifier, of 128 random bits. */
export const newIdentifier: Effect.Effect<string> = Effect.map(
  WebCrypto.WebCrypto,
  (crypto) => Hex.encode(crypto.getRandomValues(new Uint8Array(16)))
)

/** Whether a text may be an identifier, so that no other text reaches a path or an address. */
export const isIdentifier = (id: string): boolean => /^[0-9a-f]{32}$/u.test(id)

/**
 * Puts a content: `write` takes it to its end under an identifier, as it is measured. No failure of `write` may leave
 * anything that is read, but what was there before: others may have put a copy under the same identifier, or do so meanwhile.
 */
export const putting = (
  write: <E, R>(
    id: string,
    content: Stream.Stream<Uint8Array, E, R>,
    isCopy: boolean
  ) => Effect.Effect<void, E | FileStoreFailed, R>
): Service["put"] =>
<E, R>(
  content: Stream.Stream<Uint8Array, E, R>,
  { id: given, maxSize = Infinity }: NonNullable<Parameters<Service["put"]>[1]> = {}
) =>
  Effect.flatMap(given === undefined ? newIdentifier : Effect.succeed(given), (id) => {
    // No other text reaches a path.
    if (!isIdentifier(id)) {
      return Effect.fail(new FileStoreFailed({ operation: "put", detail: noIdentifier, retryable: false }))
    }
    const hash = createHash("sha256")
    let size = 0
    const measured: Stream.Stream<Uint8Array, E | FileTooLarge, R> = Stream.mapArrayEffect(content, (pieces) => {
      for (const piece of pieces) {
        size += piece.length
        if (size > maxSize) return Effect.fail(new FileTooLarge({ limit: maxSize }))
        hash.update(piece)
      }
      return Effect.succeed(pieces)
    })
    const written = write(id, withPiecesOf(content, measured), given !== undefined)
    return Effect.map(written, () => ({ id, size, sha256: hash.digest("hex") }))
  })

/** The end of a range, without what is behind the end of the file. */
export const endOf = ({ length, offset }: Range, size: number): number => Math.min(offset + length, size)

/** The age after which a hold is one of a process that was killed. */
export const staleAfter = Duration.minutes(2)

/** Whether a hold is one of a process that is gone for good, so that its record can be removed. */
export const isForgotten = (renewed: DateTime.Utc, now: DateTime.Utc): boolean =>
  DateTime.isLessThan(renewed, DateTime.subtractDuration(now, Duration.days(1)))

// internal

const noIdentifier = "the identifier is none of a store of files"
