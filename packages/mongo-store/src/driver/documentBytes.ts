/**
 * Documents from the bytes that the server sends. Our decoder reads them in less than half the time of the driver's, to the same
 * values.
 */
import type { Document } from "@appkernel/document-store/DocumentStore"
import { decodeDocument, plainStored } from "@appkernel/mql/values"

/** The option with which cursors have bytes. */
export const asBytes = { raw: true } as const

/** The document of the bytes that a cursor with {@link asBytes} has, whatever the driver's types say. */
export const documentOfBytes = (bytes: unknown): Document =>
  // The option above.
  plainStored(decodeDocument(bytes as Uint8Array))

/** {@link documentOfBytes} of each. */
export const documentsOfBytes = (all: ReadonlyArray<unknown>): Array<Document> =>
  all.map((bytes) => documentOfBytes(bytes))
