/** Entity tags (RFC 9110, section 8.8.3): those of documents, and those that requests name. */
import { hash } from "node:crypto"

/** An entity tag (RFC 9110, section 8.8.3). */
interface EntityTag {
  readonly weak: boolean
  /** The text between the quotation marks. */
  readonly opaque: string
}

/** `*`, or a list of entity tags. */
export type Condition = "any" | ReadonlyArray<EntityTag>

export const malformed = "malformed"

/** The entity tag: the version, and a digest of the caller's text, which others may change without the version. */
export const etagOf = (version: number, text: string): string => `"${opaqueOf(version, text)}"`

/** Whether `If-None-Match` has a tag, by weak comparison. A malformed header has none. */
export const includesTag = (header: string | undefined, etag: string): boolean => {
  const condition = header === undefined ? malformed : parseTags(header)
  if (condition === "any" || condition === malformed) return condition === "any"
  return condition.some(({ opaque }) => etag === `W/"${opaque}"`)
}

/** The tags of a header, or {@link malformed}. */
export const parseTags = (header: string): Condition | typeof malformed => {
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

/** Whether a strong tag names the version (RFC 9110, section 8.8.3.2). */
export const strongly = (condition: Condition, version: number | undefined): boolean =>
  condition === "any" || version !== undefined && versionsOf(condition).includes(version)

/** Whether a tag is that of the document. Without a text, all tags of the version match. */
export const weakly = (condition: Condition, version: number | undefined, text: string | undefined): boolean => {
  if (condition === "any" || version === undefined) return condition === "any"
  const own = text === undefined ? undefined : opaqueOf(version, text)
  return condition.some(({ opaque }) => own === undefined ? versionIn(opaque) === version : opaque === own)
}

/** The versions of strong tags. Other tags match no document. */
export const versionsOf = (tags: ReadonlyArray<EntityTag>): ReadonlyArray<number> => [
  ...new Set(tags.flatMap(({ opaque, weak }) => weak ? [] : versionIn(opaque) ?? []))
]

// internal

/** `etagc` includes all visible characters except the quotation mark, and all non-ASCII characters. */
const entityTag = /^[ \t]*(W\/)?"([!\u0023-\u007e\u0080-\uffff]*)"[ \t]*(?:,|$)/u

/** A list may have empty elements (RFC 9110, section 5.6.1). */
const emptyElement = /^[ \t]*(?:,|$)/u

const opaqueOf = (version: number, text: string): string => `${version}-${hash("sha1", text).slice(0, digestLength)}`

/** 64 bits: two texts of one version have the same digest by chance only. */
const digestLength = 16

/** The version in the text of a tag. */
const versionIn = (opaque: string): number | undefined => {
  const [, text = ""] = /^(-?\d+)(?:-\w+)?$/u.exec(opaque) ?? []
  const version = Number(text)
  return Number.isSafeInteger(version) && String(version) === text ? version : undefined
}
