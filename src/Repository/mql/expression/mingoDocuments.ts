/**
 * Copies documents for mingo, which changes them in place and can't read a key `__proto__`, and cleans its results.
 */
import { spend } from "../../../internal/stepBudget.ts"
import { escapedProto, isArray, isDocument, setField } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { isReadyForMingo } from "../limits/sizeLimits.ts"

/**
 * A mutable copy for mingo.
 *
 * @internal
 */
export const thaw = (document: Document): Document => {
  const copy: { [key: string]: unknown } = {}
  const keys = Object.keys(document)
  spend(nodeCost * (1 + keys.length))
  for (const key of keys) {
    copy[key === "__proto__" ? escapedProto : key] = thawValue(document[key])
  }
  return copy
}

const thawValue = (value: unknown): unknown => {
  if (typeof value !== "object") return value
  if (isDocument(value)) return thaw(value)
  if (!isArray(value)) return value
  spend(nodeCost * (1 + value.length))
  return value.map(thawValue)
}

// The cost of visiting a value, in units of work.
const nodeCost = 3

/**
 * A form of the document that mingo may read but not change: usually the document itself.
 *
 * @internal
 */
export const readable = (document: Document): Document =>
  isReadyForMingo(document) || !hasProto(document) ? document : thaw(document)

const hasProto = (value: unknown): boolean => {
  if (typeof value !== "object") return false
  if (isArray(value)) {
    spend(nodeCost * (1 + value.length))
    for (let i = 0; i < value.length; i++) if (hasProto(value[i])) return true
    return false
  }
  if (!isDocument(value)) return false
  // `for in` is by far the fastest way through the fields of a frozen object.
  for (const key in value) {
    spend(nodeCost)
    if (key === "__proto__" || hasProto(value[key])) return true
  }
  return false
}

/**
 * A result of mingo without `undefined` fields. Copies only what changes.
 *
 * @internal
 */
export const definedFields = (document: Document): Document => {
  if (isReadyForMingo(document)) return document
  for (const key in document) {
    spend(nodeCost)
    const value = document[key]
    const kept = defined(value)
    if (kept === undefined || kept !== value || key === escapedProto) return copyFrom(document, key, kept)
  }
  return document
}

/** A copy whose fields before `first` need no cleaning; `value` is the cleaned value of `first`. */
const copyFrom = (document: Document, first: string, value: unknown): Document => {
  const copy: { [key: string]: unknown } = {}
  let isBefore = true
  for (const key of Object.keys(document)) {
    if (key === first) isBefore = false
    const kept = isBefore ? document[key] : key === first ? value : defined(document[key])
    if (kept !== undefined) setField(copy, key === escapedProto ? "__proto__" : key, kept)
  }
  return copy
}

/** @internal */
export const defined = (value: unknown): unknown => {
  if (typeof value !== "object") return value
  if (isDocument(value)) return definedFields(value)
  if (!isArray(value)) return value
  spend(nodeCost * (1 + value.length))
  let copy: Array<unknown> | undefined
  for (let i = 0; i < value.length; i++) {
    const item = defined(value[i]) ?? null
    if (copy === undefined && item !== value[i]) copy = value.slice(0, i)
    copy?.push(item)
  }
  return copy ?? value
}
