/**
 * Finds, assigns and removes the fields of a document by their paths, as updates read them: an array is entered by the
 * index of an item.
 */
import type { Document } from "@appkernel/document-store/StoreTypes"
import { isArrayIndex, type Segments } from "../bson/path.ts"
import { isArray, isDocument, ownField, setField } from "../bson/value.ts"

/** The value at a path, or the path of the value that can't have the next field. */
export type UpdateTarget = { readonly value: unknown; readonly isInArray: boolean } | { readonly blockedAt: string }

export const locate = (document: Document, segments: Segments): UpdateTarget => {
  let node: unknown = document
  let isInArray = false
  for (const [i, segment] of segments.entries()) {
    if (node === undefined) break
    if (isDocument(node)) node = ownField(node, segment)
    else if (isArray(node) && isArrayIndex(segment)) {
      if (Number(segment) > node.length + maxPadding) return { blockedAt: segments.slice(0, i).join(".") }
      node = node[Number(segment)]
      isInArray = true
    } else return { blockedAt: segments.slice(0, i).join(".") }
  }
  return { value: node, isInArray }
}

/**
 * A copy of a normalised document with another normalised value at a path that {@link locate} finds not to be blocked. It
 * shares with the document what is not on the way. Missing documents on the way are made, and a short array is padded with
 * `null`.
 */
export const assignAt = (document: Document, segments: Segments, value: unknown): Document =>
  assignField(document, segments, 0, value)

/** A copy of the document without the field at a path. An array's item becomes `null`. */
export const removeAt = (document: Document, segments: Segments): Document => removeField(document, segments, 0)

// internal

// MongoDB's limit for padding an array with `null`.
const maxPadding = 1_500_000

const assignField = (document: Document, segments: Segments, at: number, value: unknown): Document => {
  const segment = segments[at] ?? ""
  const copy: { [key: string]: unknown } = { ...document }
  setField(
    copy,
    segment,
    at + 1 === segments.length ? value : assign(ownField(document, segment), segments, at + 1, value)
  )
  return Object.freeze(copy)
}

const assign = (node: unknown, segments: Segments, at: number, value: unknown): unknown => {
  if (!isArray(node)) return assignField(isDocument(node) ? node : {}, segments, at, value)
  const index = Number(segments[at])
  const items = [...node]
  while (items.length < index) items.push(null)
  items[index] = at + 1 === segments.length ? value : assign(node[index], segments, at + 1, value)
  return Object.freeze(items)
}

const removeField = (document: Document, segments: Segments, at: number): Document => {
  const segment = segments[at] ?? ""
  if (!Object.hasOwn(document, segment)) return document
  const copy: { [key: string]: unknown } = { ...document }
  if (at + 1 === segments.length) delete copy[segment]
  else setField(copy, segment, remove(document[segment], segments, at + 1))
  return Object.freeze(copy)
}

const remove = (node: unknown, segments: Segments, at: number): unknown => {
  if (isDocument(node)) return removeField(node, segments, at)
  const index = Number(segments[at])
  return isArray(node) && index < node.length
    ? Object.freeze(node.with(index, at + 1 === segments.length ? null : remove(node[index], segments, at + 1)))
    : node
}
