/** Checks the values of lmdb's file by their checksums, as its pages are read. */
import type { Document } from "@appkernel/document-store/DocumentStore"
import { recordIdLength } from "@appkernel/mql/internal"
import { everything } from "../orderedStore.ts"
import {
  DamagedValue,
  emptyHash,
  hashOfBytes,
  isIntactDocument,
  isIntactEntry,
  isUncheckedEntry,
  storedDocument,
  uncheckedDocument
} from "./checksum.ts"
import { formatKey, isMixed } from "./format.ts"
import type { Gap } from "./gaps.ts"

export interface Content {
  readonly table: DamagedValue["table"]
  readonly number: number
  values: number
  /** Values without a checksum. */
  unchecked: number
  readonly damaged: Array<DamagedValue>
  readonly gaps: Array<Gap>
}

export class RecordCheck {
  /** The definitions of collections and indexes. */
  readonly catalog = new Map<string, Document>()
  readonly #tables: Array<Content> = []
  /** The damaged documents, and those that identifiers lead to. */
  readonly #records = new Set<string>()
  readonly #recordsById = new Map<string, string>()
  #isMixed = false
  /** The last intact key of the table, and the gap after it. */
  readonly #last = Buffer.alloc(maxKey)
  #lastLength = 0
  #gap: OpenGap | undefined

  /** Sees the values in order. Whether they may be there: without the definitions, nothing can be read. */
  readonly see = (tree: string, key: Buffer, value: Buffer): boolean => {
    const hash = hashOfBytes(key, key.length, emptyHash)
    if (tree === "catalog") return this.#define(key.toString("latin1"), storedDocument(value, hash, true))
    if ((tree !== "documents" && tree !== "entries") || key.length < prefixLength) return false
    const content = this.#contentOf(tree, key.readUInt32BE(0))
    content.values += 1
    if (!this.#isIntact(content, value, hash)) {
      const text = key.toString("latin1", prefixLength)
      content.damaged.push(new DamagedValue(tree, content.number, text, value))
      this.#gap ??= this.#begin(content)
      if (tree === "documents") this.#records.add(`${content.number}:${text}`)
      // Record ids ascend, so that those after the last one are not affected.
      this.#gap.end = tree === "documents" ? `${text}\0` : everything.end
      return true
    }
    if (tree === "entries" && this.#records.size > 0) {
      const record = value.toString("latin1", 0, recordIdLength)
      if (this.#records.has(`${content.number}:${record}`)) {
        this.#recordsById.set(`${content.number}:${key.toString("latin1", prefixLength)}`, record)
      }
    }
    if (this.#gap !== undefined) this.#gap.end = key.toString("latin1", prefixLength)
    this.#gap = undefined
    this.#lastLength = key.copy(this.#last, 0, prefixLength)
    return true
  }

  contentOf(table: Content["table"], number: number): Omit<Content, "table" | "number"> {
    return this.#tables.find((content) => content.table === table && content.number === number) ??
      { values: 0, unchecked: 0, damaged: [], gaps: [] }
  }

  /** The damaged record that an identifier leads to. */
  readonly recordOf = (collection: number, documentKey: string): string | undefined =>
    this.#recordsById.get(`${collection}:${documentKey}`)

  #define(key: string, document: Document | undefined): boolean {
    if (document === undefined) return false
    this.catalog.set(key, document)
    if (key === formatKey) this.#isMixed = isMixed(document)
    return true
  }

  #begin({ gaps }: Content): OpenGap {
    const gap = { start: this.#last.toString("latin1", 0, this.#lastLength), end: everything.end }
    gaps.push(gap)
    return gap
  }

  #contentOf(table: Content["table"], number: number): Content {
    const current = this.#tables.at(-1)
    if (current?.table === table && current.number === number) return current
    const next: Content = { table, number, values: 0, unchecked: 0, damaged: [], gaps: [] }
    this.#tables.push(next)
    this.#gap = undefined
    this.#lastLength = 0
    return next
  }

  #isIntact(content: Content, value: Buffer, hash: number): boolean {
    const isDocument = content.table === "documents"
    if (isDocument ? isIntactDocument(value, hash) : isIntactEntry(value, hash)) return true
    if (!this.#isMixed || !(isDocument ? uncheckedDocument(value) !== undefined : isUncheckedEntry(value))) return false
    content.unchecked += 1
    return true
  }
}

// internal

interface OpenGap extends Gap {
  end: string
}

const prefixLength = 4

// More than lmdb takes.
const maxKey = 4096
