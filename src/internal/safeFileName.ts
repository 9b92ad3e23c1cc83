/** File names from outside, made safe for a folder on Linux, macOS and Windows alike. */
import { parse } from "content-disposition"
import * as Result from "effect/Result"

/** The name in a header `Content-Disposition`; an empty text without one. */
export const nameInHeader = (disposition: string): string => {
  const name = parse(disposition).parameters["filename"] ?? ""
  return isBytes(name) ? Result.getOrElse(decodeUtf8(name), () => name) : name
}

/** The last segment of a path of any platform, changed into a name that all of them take, or `undefined` without one. */
export const safeFileName = (path: string): string | undefined => {
  const segment = path.toWellFormed().split(/[/\\]/u).findLast((one) => one !== "") ?? ""
  const name = shortened(trimmed(segment.replace(invisible, "").replace(unsafe, "_").normalize("NFC")))
  return name === "" ? undefined : windowsDevice.test(name) ? `_${name}` : name
}

// internal

/** Formatting characters, for example those that change the direction of text. The joiners belong to scripts and emoji. */
const invisible = /(?![\u{200C}\u{200D}])\p{Cf}/gu

/** What Windows has no place for in a name, control characters and line ends, and what looks like a separator. */
const unsafe = /[<>:"|?*\p{Cc}\p{Zl}\p{Zp}\u{2044}\u{2215}\u{29F5}\u{29F8}\u{29F9}\u{FE68}\u{FF0F}\u{FF3C}]/gu

/** Windows takes these for devices, with any extension. */
const windowsDevice =
  /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3])\s*(?:\.|$)/iu

/** Windows drops dots and spaces at the end, and a name that starts with a dot is hidden elsewhere. */
const trimmed = (name: string): string => {
  let start = 0
  let end = name.length
  while (start < end && atNoEdge.test(name.charAt(start))) start++
  while (start < end && atNoEdge.test(name.charAt(end - 1))) end--
  return name.slice(start, end)
}
const atNoEdge = /[.\s]/u

const extension = /\.[^.\s]{1,16}$/u

/** One byte less than what file systems take, since a device's name gets one more. */
const maxBytes = 254

/** The beginning of a name that is too long, with its extension. */
const shortened = (name: string): string => {
  if (byteLength(name) <= maxBytes) return name
  const end = extension.exec(name)?.[0] ?? ""
  let start = ""
  let left = maxBytes - byteLength(end)
  for (const character of name) {
    left -= byteLength(character)
    if (left < 0) break
    start += character
  }
  return trimmed(start) + end
}

const encoder = new TextEncoder()
const byteLength = (text: string): number => encoder.encode(text).length

/** Whether the name may be undecoded: HTTP's headers are bytes, which Node gives as Latin-1. */
const isBytes = (text: string): boolean => /[\u{80}-\u{FF}]/u.test(text) && !/[^\0-\u{FF}]/u.test(text)

const utf8 = new TextDecoder("utf-8", { fatal: true })
const decodeUtf8 = (bytes: string) =>
  Result.try(() => utf8.decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0))))
