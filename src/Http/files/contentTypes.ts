/** What a file is by its first bytes, and how a browser gets it. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { fileTypeFromBuffer } from "file-type"

/** The number of first bytes that tell what a file is. */
export const headSize = 16_384

/**
 * The media type of a file by its first bytes. Text has no mark: it is what its sender says, if that is a text that nothing runs, and
 * what a browser would read as markup is that, whatever it is called.
 */
export const typeOfHead = (head: Uint8Array, said: string | undefined): Effect.Effect<string> =>
  Effect.map(
    // It fails for a head that ends within a structure.
    Effect.orElseSucceed(Effect.tryPromise(() => fileTypeFromBuffer(head)), () => undefined),
    (found) => {
      if (found !== undefined && found.mime !== "application/xml") return withoutParameters(found.mime)
      const text = textOf(head)
      if (text === undefined) return "application/octet-stream"
      return markupOf(text) ?? (said !== undefined && texts.has(said) ? said : "text/plain")
    }
  )

/** How a file of a type is sent: what a browser could run is saved, and never of a type by which a page could run it. */
export const sentAs = (type: string): { readonly type: string; readonly disposition: "inline" | "attachment" } =>
  isShown(type)
    ? { type: type.startsWith("text/") ? `${type};charset=utf-8` : type, disposition: "inline" }
    : { type: isActive(type) ? "application/octet-stream" : type, disposition: "attachment" }

/** Whether nothing was found in the bytes of a file of this type: they may be any without a mark. */
export const isUnmarked = (type: string): boolean => type === "application/octet-stream" || type === "text/plain"

/** Whether bytes of the type may be those of a file that its sender says is of the other one. */
export const isAsSaid = (type: string, said: string | undefined): boolean => {
  if (said === undefined || said === type || !/^(?:image|audio|video|font)\//u.test(said)) return true
  const [kind] = said.split("/")
  // A container may hold sound or pictures.
  return kind === "audio" || kind === "video"
    ? /^(?:audio|video)\/|^application\/(?:ogg|octet-stream)$/u.test(type)
    : type.startsWith(`${kind}/`) && !isActive(type)
}

// internal

const withoutParameters = (type: string): string => type.split(";", 1)[0]!.trim()

const isShown = (type: string): boolean => shown.has(type) || /^(?:audio|video)\/[\w.+-]+$/u.test(type)

const shown: ReadonlySet<string> = new Set([
  "image/apng",
  "image/avif",
  "image/bmp",
  "image/gif",
  "image/jpeg",
  "image/png",
  "image/webp",
  "image/x-icon",
  "text/plain"
])

/** Documents of offices are packages whose types only mention XML. */
const isActive = (type: string): boolean =>
  !texts.has(type) && /(?:html|(?<!\bopen)xml|script|svg|css|pdf|flash|multipart|mht|rfc822|xslt|wasm|json)/u.test(type)

/** Types of text that a browser neither runs nor reads as a style. */
const texts: ReadonlySet<string> = new Set([
  "application/json",
  "application/x-ndjson",
  "application/yaml",
  "text/calendar",
  "text/csv",
  "text/markdown",
  "text/plain",
  "text/tab-separated-values",
  "text/vcard",
  "text/vtt"
])

/** Valid UTF-8 without control characters. The head of a longer file may end in the middle of a character. */
const textOf = (head: Uint8Array): string | undefined => {
  const decoder = new TextDecoder("utf-8", { fatal: true })
  const text = Result.getOrUndefined(Result.try(() => decoder.decode(head, { stream: head.length >= headSize })))
  // oxlint-disable-next-line no-control-regex -- texts have no other ones
  return text === undefined || /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/u.test(text) ? undefined : text
}

const markupOf = (text: string): string | undefined =>
  /<svg[\s>/]/iu.test(text)
    ? "image/svg+xml"
    : tags.test(text)
    ? "text/html"
    : /^\s*<(?:\?xml|!--|!doctype)/iu.test(text)
    ? "application/xml"
    : undefined

/** What browsers take for HTML when they sniff, and what runs in it. */
const tags =
  /<(?:!doctype html|html|head|body|script|iframe|style|title|table|meta|link|base|object|embed|img|form|a|div|p|br|h1|b|font)[\s>/]|<!doctype html/iu
