/** Documents as a store returns them: numbers are JavaScript's where they are exact, as the driver reads them. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import { plainNumber, wrappedCount } from "./number.ts"
import { isArray, isDocument, setField } from "./value.ts"

/** A value with plain numbers: the value itself if it has no others, else a copy. */
export const plainValue = <A>(value: A): A => {
  if (wrappedCount() === 0 || typeof value !== "object" || value === null) return value
  // The copy has the same fields.
  if (isArray(value)) return plainItems(value, plainValue) as A
  return (isDocument(value) ? plainFields(value) : plainNumber(value)) as A
}

/** Marks a document of a store that has a `Double` or a `Long`, before it is read. */
export const markWrapped = (document: Document): void => {
  marked.add(document)
}

/** A document of a store with plain numbers; only marked documents are looked into. */
export const plainStored = (document: Document): Document => marked.has(document) ? plainFields(document) : document

/** {@link plainStored} for each document: the same list if none is marked. */
export const plainStoredList = (documents: ReadonlyArray<Document>): ReadonlyArray<Document> =>
  plainItems(documents, plainStored)

// internal

const marked = new WeakSet<Document>()

const plainItems = <A>(items: ReadonlyArray<A>, plain: (item: A) => A): ReadonlyArray<A> => {
  let copy: Array<A> | undefined
  let at = 0
  for (const item of items) {
    const value = plain(item)
    if (value !== item) {
      copy ??= [...items]
      copy[at] = value
    }
    at += 1
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
