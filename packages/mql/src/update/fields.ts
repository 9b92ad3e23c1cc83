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
 * A document that an update changes in place, before anybody else has it. What is below it is copied when it is first
 * changed.
 */
export class Draft {
  readonly #root: Fields
  // Most updates change top-level fields, and have none.
  #copies: Set<unknown> | undefined = undefined

  constructor(document: Document) {
    this.#root = { ...document }
  }

  /**
   * Assigns a normalised value at a path that {@link locate} finds not to be blocked. Missing documents on the way are made,
   * and a short array is padded with `null`.
   */
  assign(segments: Segments, value: unknown): void {
    this.#assign(this.#root, segments, value, 0)
  }

  /** Removes the field at a path. An array's item becomes `null`. */
  remove(segments: Segments): void {
    this.#remove(this.#root, segments, 0)
  }

  /** The changed document. The draft can't be changed any more. */
  finish(): Document {
    if (this.#copies !== undefined) { for (const copy of this.#copies) Object.freeze(copy) }
    return Object.freeze(this.#root)
  }

  #assign(node: Copy, segments: Segments, value: unknown, at: number): void {
    const segment = segments[at] ?? ""
    const isLast = at + 1 === segments.length
    if (isArray(node)) {
      const index = Number(segment)
      while (node.length < index) node.push(null)
      node[index] = isLast ? value : this.#assigned(node[index], segments, value, at + 1)
    } else setField(node, segment, isLast ? value : this.#assigned(ownField(node, segment), segments, value, at + 1))
  }

  #assigned(node: unknown, segments: Segments, value: unknown, at: number): unknown {
    const copy = this.#copyOf(isArray(node) || isDocument(node) ? node : {})
    this.#assign(copy, segments, value, at)
    return copy
  }

  #remove(node: Copy, segments: Segments, at: number): void {
    const segment = segments[at] ?? ""
    const isLast = at + 1 === segments.length
    if (isArray(node)) {
      const index = Number(segment)
      if (index < node.length) node[index] = isLast ? null : this.#removed(node[index], segments, at + 1)
    } else if (Object.hasOwn(node, segment)) {
      if (isLast) delete node[segment]
      else setField(node, segment, this.#removed(node[segment], segments, at + 1))
    }
  }

  #removed(node: unknown, segments: Segments, at: number): unknown {
    if (!isArray(node) && !isDocument(node)) return node
    const copy = this.#copyOf(node)
    this.#remove(copy, segments, at)
    return copy
  }

  #copyOf(node: ReadonlyArray<unknown> | Document): Copy {
    const copies = this.#copies ??= new Set()
    // What is in the set is a copy.
    if (copies.has(node)) return node as Copy
    const copy: Copy = isArray(node) ? [...node] : { ...node }
    copies.add(copy)
    return copy
  }
}

// internal

interface Fields {
  [key: string]: unknown
}

type Copy = Fields | Array<unknown>

// MongoDB's limit for padding an array with `null`.
const maxPadding = 1_500_000
