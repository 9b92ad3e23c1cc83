/**
 * Documents as a store returns them: numbers are JavaScript's where they are exact, as the driver reads them.
 */
import type { Document } from "../DocumentStore.ts"
import { hasWrapped, plainNumber } from "./number.ts"
import { isArray, isDocument, setField } from "./value.ts"

/**
 * A value with plain numbers: the value itself if it has no others, else a copy.
 *
 * @internal
 */
export const plainValue = <A>(value: A): A => {
  if (!hasWrapped() || typeof value !== "object" || value === null) return value
  // The copy has the same fields.
  if (isArray(value)) return plainItems(value) as A
  return (isDocument(value) ? plainFields(value) : plainNumber(value)) as A
}

// internal

const plainItems = (items: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
  let copy: Array<unknown> | undefined
  for (let i = 0; i < items.length; i++) {
    const plain = plainValue(items[i])
    if (plain === items[i]) continue
    copy ??= [...items]
    copy[i] = plain
  }
  return copy ?? items
}

const plainFields = (document: Document): Document => {
  let copy: { [key: string]: unknown } | undefined
  for (const key in document) {
    const value = document[key]
    if (typeof value !== "object" || value === null) continue
    const plain = plainValue(value)
    if (plain === value) continue
    copy ??= { ...document }
    setField(copy, key, plain)
  }
  return copy ?? document
}
