/** Reads the candidates of a plan: all documents, or those of single entries of an index. */
import type { Document } from "@appkernel/document-store/DocumentStore"
import { isStepDone } from "@appkernel/document-store/internal"
import { type LazySequence, numberOfRecord } from "@appkernel/mql/internal"
import { everything, type Range, type ReadTables } from "../storage/orderedStore.ts"

export interface StoredDocument {
  readonly recordId: string
  readonly document: Document
  /** The bytes that were read for it; 0 if it was cached. */
  readonly bytes?: number
}

/** The maximum cost of one step. A document costs 1, or more if it is large. */
export const maxCost = 128

export const costOfBytes = (bytes: number): number => bytes > bytesPerCost ? bytes / bytesPerCost : 1

const bytesPerCost = 2048

// V8 pretenures array literals, so that only a major GC frees them and the documents that they refer to. So these arrays are
// copied with `slice`, and matches are made by a constructor.
export const noDocuments: ReadonlyArray<StoredDocument> = []
export const noKeys: ReadonlyArray<string> = []

export class Match implements StoredDocument {
  readonly recordId: string
  readonly document: Document
  readonly bytes: number
  constructor(recordId: string, document: Document, bytes: number) {
    this.recordId = recordId
    this.document = document
    this.bytes = bytes
  }
}

/** Reads the next documents and returns those that pass the test; `undefined` at the end. */
export type Candidates = (
  cost: number,
  test: (document: Document) => boolean
) => ReadonlyArray<StoredDocument> | undefined

export type Documents = ReturnType<ReadTables["documents"]>
export type ReadEntries = ReturnType<ReadTables["entries"]>

// Documents that are inserted during the scan are beyond its end, so a consumer that inserts for each document terminates.
export const inOrder = (documents: Documents, end: string): Candidates => {
  let range: Range | undefined = { ...everything, end }
  return (cost, test) => {
    if (range === undefined) return undefined
    const found = noDocuments.slice()
    let left = cost
    let last: string | undefined
    let isCut = false
    documents.scan(range, (recordId, document, bytes) => {
      if (test(document)) found.push(new Match(recordId, document, bytes))
      last = recordId
      left -= costOfBytes(bytes)
      isCut = left <= 0 || isStepDone()
      return !isCut
    })
    range = last === undefined || !isCut ? undefined : behind(range, last)
    return found
  }
}

export const behind = (range: Range, last: string): Range =>
  range.reverse ? { ...range, end: last } : { ...range, start: `${last}\0` }

export const byEntries = (documents: Documents, entries: ReadEntries, keys: LazySequence<string>): Candidates => {
  const visited = new RecordSet()
  let at = 0
  return (cost, test) => {
    if (at >= keys.length) return undefined
    const recordIds = noKeys.slice()
    const next: Array<number> = []
    for (const end = Math.min(keys.length, at + cost); at < end; at++) {
      const recordId = entries.get(keys.at(at))
      if (recordId === undefined || visited.has(recordId)) continue
      recordIds.push(recordId)
      next.push(at + 1)
    }
    const found = noDocuments.slice()
    let left = cost
    documents.visit(recordIds, (place, document, bytes) => {
      const recordId = recordIds[place]!
      if (keys.length > 1) visited.add(recordId)
      if (test(document)) found.push(new Match(recordId, document, bytes))
      left -= costOfBytes(bytes)
      if (left > 0 && !isStepDone()) return true
      at = next[place]!
      return false
    })
    return found
  }
}

/** A set of record ids, with one bit for each, so that it may be large. */
export class RecordSet {
  readonly #bits = new Map<number, number>()
  size = 0

  has(recordId: string): boolean {
    if (this.size === 0) return false
    const number = numberOfRecord(recordId)
    return ((this.#bits.get(Math.floor(number / 32)) ?? 0) & (1 << (number % 32))) !== 0
  }

  /** Adds a record id; returns whether it is new. */
  add(recordId: string): boolean {
    const number = numberOfRecord(recordId)
    const key = Math.floor(number / 32)
    const bit = 1 << (number % 32)
    const bits = this.#bits.get(key) ?? 0
    if ((bits & bit) !== 0) return false
    this.#bits.set(key, bits | bit)
    this.size += 1
    return true
  }
}
