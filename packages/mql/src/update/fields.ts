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

/** A document that an update changes in place, before anybody else has it. */
export interface Draft {
  [key: string]: unknown
}

/**
 * Gives a draft another normalised value at a path that {@link locate} finds not to be blocked. What is below the draft is
 * copied on the way. Missing documents on the way are made, and a short array is padded with `null`.
 */
export const assignAt = (draft: Draft, segments: Segments, value: unknown, at = 0): void => {
  const segment = segments[at] ?? ""
  setField(
    draft,
    segment,
    at + 1 === segments.length ? value : assigned(ownField(draft, segment), segments, at + 1, value)
  )
}

/** Removes the field at a path from a draft. An array's item becomes `null`. */
export const removeAt = (draft: Draft, segments: Segments, at = 0): void => {
  const segment = segments[at] ?? ""
  if (!Object.hasOwn(draft, segment)) return
  if (at + 1 === segments.length) delete draft[segment]
  else setField(draft, segment, removed(draft[segment], segments, at + 1))
}

// internal

// MongoDB's limit for padding an array with `null`.
const maxPadding = 1_500_000

const assigned = (node: unknown, segments: Segments, at: number, value: unknown): unknown => {
  if (!isArray(node)) {
    const copy: Draft = isDocument(node) ? { ...node } : {}
    assignAt(copy, segments, value, at)
    return Object.freeze(copy)
  }
  const index = Number(segments[at])
  const items = [...node]
  while (items.length < index) items.push(null)
  items[index] = at + 1 === segments.length ? value : assigned(node[index], segments, at + 1, value)
  return Object.freeze(items)
}

const removed = (node: unknown, segments: Segments, at: number): unknown => {
  if (isDocument(node)) {
    const copy: Draft = { ...node }
    removeAt(copy, segments, at)
    return Object.freeze(copy)
  }
  const index = Number(segments[at])
  return isArray(node) && index < node.length
    ? Object.freeze(node.with(index, at + 1 === segments.length ? null : removed(node[index], segments, at + 1)))
    : node
}
