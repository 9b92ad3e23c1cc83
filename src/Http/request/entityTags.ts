/** Entity tags (RFC 9110, section 8.8.3): those of documents, and those that requests name. */
import { hash } from "node:crypto"

/** An entity tag (RFC 9110, section 8.8.3). */
interface EntityTag {
  readonly weak: boolean
  /** The text between the quotation marks. */
  readonly opaque: string
}

/** `*`, or a list of entity tags. */
export type TagCondition = "any" | ReadonlyArray<EntityTag>

export const malformed = "malformed"

/**
 * The entity tag of a text, or of its bytes in UTF-8: a digest of it, and of nothing else, so that it tells nothing that the text does not. 64 bits: two
 * texts of one document have the same digest by chance only. A digest of what is embedded follows.
 */
export const etagOf = (text: string | Uint8Array, embedded?: string | Uint8Array): string =>
  `"${digest(text)}${embedded === undefined ? "" : `+${digest(embedded)}`}"`

const digest = (text: string | Uint8Array): string => hash("sha1", text).slice(0, 16)

/** The codings of responses whose tags are known, the preferred ones first. */
export const codings = ["zstd", "br", "gzip"] as const

/** The tag of a compressed response: a strong one of its own (RFC 9110, section 8.8.3.3). A weak one stays. */
export const withCoding = (etag: string, coding: string): string =>
  etag.startsWith("W/") ? etag : `${etag.slice(0, -1)}-${coding}"`

/** Whether `If-None-Match` has a tag, by weak comparison. A malformed header has none. */
export const includesTag = (header: string | undefined, etag: string): boolean => {
  const condition = header === undefined ? malformed : parseTags(header)
  if (condition === "any" || condition === malformed) return condition === "any"
  const opaque = etag.replace("W/", "").slice(1, -1)
  return condition.some((tag) => tag.opaque === opaque)
}

/** The tags of a header, or {@link malformed}. */
export const parseTags = (header: string): TagCondition | typeof malformed => {
  if (header.trim() === "*") return "any"
  const tags: Array<EntityTag> = []
  let rest = header
  while (rest !== "") {
    const tag = entityTag.exec(rest)
    const [element] = tag ?? emptyElement.exec(rest) ?? []
    if (element === undefined) return malformed
    if (tag !== null) tags.push({ weak: tag[1] !== undefined, opaque: tag[2] ?? "" })
    rest = rest.slice(element.length)
  }
  return tags.length === 0 ? malformed : tags
}

/** The tags without those of codings that the client does not accept: its answer would have another one. */
export const acceptedTags = <A extends TagCondition | typeof malformed>(condition: A, acceptEncoding: string): A => {
  if (typeof condition === "string") return condition
  let weights: ReturnType<typeof weightsOf> | undefined
  // A part of a list is a list.
  return condition.filter(({ opaque }) => {
    const coding = coded.exec(opaque)?.[0].slice(1)
    if (coding === undefined) return true
    weights ??= weightsOf(acceptEncoding)
    return weights(coding) > 0
  }) as ReadonlyArray<EntityTag> as A
}

/** The weights of codings in an `Accept-Encoding` (RFC 9110, section 12.5.3). One that it does not name comes last. */
export const weightsOf = (accepted: string | undefined): (coding: string) => number => {
  const weights = new Map(
    (accepted ?? "").toLowerCase().split(",").map((part) => {
      const [name = "", ...parameters] = part.split(";").map((text) => text.trim())
      const weight = parameters.find((one) => one.startsWith("q="))
      return [name, weight === undefined ? 1 : Number(weight.slice("q=".length)) || 0] as const
    })
  )
  return (coding) => weights.get(coding) ?? weights.get("*") ?? (coding === "identity" ? Number.MIN_VALUE : 0)
}

/**
 * Whether a strong tag is that of the document, in any coding (RFC 9110, section 8.8.3.2), whatever was embedded: a write does not
 * depend on that.
 */
export const strongly = (condition: TagCondition, etag: string | undefined): boolean =>
  condition === "any" ||
  condition.some(({ opaque, weak }) =>
    !weak && (isTag({ opaque }, etag) || isTag({ opaque: opaque.replace(embeddedPart, "") }, etag))
  )

/** Whether a tag is that of the document, in any coding. */
export const weakly = (condition: TagCondition, etag: string | undefined): boolean =>
  condition === "any" || condition.some((tag) => isTag(tag, etag))

// internal

/** `etagc` includes all visible characters except the quotation mark, and all non-ASCII characters. */
const entityTag = /^[ \t]*(W\/)?"([!\u0023-\u007e\u0080-\uffff]*)"[ \t]*(?:,|$)/u

/** A list may have empty elements (RFC 9110, section 5.6.1). */
const emptyElement = /^[ \t]*(?:,|$)/u

const embeddedPart = /\+[\da-f]{16}(?=$|-)/u

const isTag = ({ opaque }: Pick<EntityTag, "opaque">, etag: string | undefined): boolean =>
  `"${opaque.replace(coded, "")}"` === etag

const coded = new RegExp(`-(?:${codings.join("|")})$`, "u")
