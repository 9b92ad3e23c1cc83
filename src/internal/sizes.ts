/** Parses sizes such as `10 MB`, for configuration keys. */
import * as ByteSize from "effect/ByteSize"
import * as Option from "effect/Option"

/** The bytes of a text: a number, or a size such as `10 MB` or `10 MiB`. `undefined` for any other text, and for 0. */
export const parseByteSize = (text: string): number | undefined => {
  const bytes = /^\s*\d+\s*$/u.test(text)
    ? Number(text)
    : Number(Option.getOrUndefined(Option.map(ByteSize.fromString(text), ByteSize.toBigInt)))
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined
}
