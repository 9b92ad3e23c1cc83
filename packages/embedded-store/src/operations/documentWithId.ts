/** Looks up a document by its identifier: in the record that had it lately, or else by the index of identifiers. */
import type { Document } from "@appkernel/document-store/DocumentStore"
import { documentKey, numberOfRecord, recordIdOf } from "@appkernel/mql/internal"
import * as Result from "effect/Result"
import type { Collection } from "../catalog/collection.ts"
import type { ReadTables } from "../storage/orderedStore.ts"
import { hashOfIdentifier } from "../storage/recordHints.ts"

/** The document with a normalised identifier. */
export const documentWithId = (store: ReadTables, { number }: Collection, id: unknown): Document | undefined => {
  const { hints } = store
  const documents = store.documents(number)
  const text = textOf(id)
  const hash = hashOfIdentifier(number, text)
  const hinted = hints?.get(hash)
  if (hinted !== undefined) {
    // It may be the record of another document, whose damage is none of this one.
    const found = Result.try(() => documents.get(recordIdOf(hinted)))
    if (Result.isSuccess(found) && found.success !== undefined && isIdOf(found.success, id, text)) return found.success
  }
  const recordId = store.entries(number).get(text === id ? documentKey(id) : text)
  if (recordId === undefined) return undefined
  hints?.set(hash, numberOfRecord(recordId))
  return documents.get(recordId)
}

/** Remembers the record of a document. */
export const rememberRecord = ({ hints }: ReadTables, { number }: Collection, id: unknown, recordId: string): void =>
  hints?.set(hashOfIdentifier(number, textOf(id)), numberOfRecord(recordId))

// internal

// The key of a text takes more time than the text itself.
const textOf = (id: unknown): string => typeof id === "string" ? id : documentKey(id)

const isIdOf = ({ _id }: Document, id: unknown, text: string): boolean =>
  _id === id || (text !== id && documentKey(_id) === text)
