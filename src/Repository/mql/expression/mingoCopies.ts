/**
 * Documents on their way to mingo, which may change them in place, and back.
 */
import { escapedProto, isArray, isDocument, setField } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { spend } from "../limits/costBudget.ts"
import { isReadyForMingo } from "../limits/sizeLimits.ts"

/**
 * A copy that mingo may change in place.
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

// What it takes to look at a value, in units of work.
const nodeCost = 3

/**
 * What mingo may read, but not change: mostly the document itself.
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
  // By far the quickest way through the fields of what is frozen.
  for (const key in value) {
    spend(nodeCost)
    if (key === "__proto__" || hasProto(value[key])) return true
  }
  return false
}

/**
 * What mingo computed without the fields that came to nothing.
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

/** A copy in which all is as it was up to a field, whose value is known. */
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
