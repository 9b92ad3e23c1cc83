/**
 * The format of a folder, which the catalog has.
 *
 * Format 1 stored the documents in the order of their identifiers, and is not recorded. Format 2 had no checksums. A folder
 * of format 2 becomes one of format 3 when it is opened, whose values get their checksums as they are written.
 */
import type { Document } from "@appkernel/document-store/DocumentStore"
import { StoreUnavailable } from "@appkernel/document-store/StoreError"
import type { RootDatabase } from "lmdb"
import { everything, type Table } from "../orderedStore.ts"

export const formatKey = "format"

const format = 3
const formatWithoutChecksums = 2

/** Whether a folder may have values without checksums. */
export const isMixed = (known: Document | undefined): boolean =>
  known?.["version"] === formatWithoutChecksums || known?.["isMixed"] === true

/** Records the format of a folder; returns why it can't be used. */
export const takeFormat = (
  environment: RootDatabase,
  catalog: Table<Document>,
  folder: string
): StoreUnavailable | undefined =>
  environment.transactionSync(() => {
    const known = catalog.get(formatKey)
    const found = known === undefined ? formatOf(catalog) : known["version"]
    if (found !== format && found !== formatWithoutChecksums) return otherFormat(folder, found)
    catalog.put(formatKey, { version: format, isMixed: isMixed(known) }, undefined)
    return undefined
  })

// internal

const formatOf = (catalog: Table<Document>): number => {
  let isNew = true
  catalog.scanKeys(everything, () => isNew = false)
  return isNew ? format : 1
}

const otherFormat = (folder: string, found: unknown): StoreUnavailable =>
  new StoreUnavailable({
    operation: "open",
    detail: `folder ${folder} was written in format ${
      String(found)
    } by another version; this one reads format ${format}`,
    retryable: false
  })
