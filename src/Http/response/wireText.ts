/**
 * JSON texts as they are sent, with one character for each byte of their UTF-8: joining them looks at none of the characters, their
 * length is the number of bytes, and the socket sends them without encoding. Those of the records of a store are kept for the next reads.
 */
import * as Result from "effect/Result"
import { writtenDefaults } from "../../Model/internal.ts"
import type { Document } from "../../Repository/DocumentStore.ts"

/** A text as it is sent. */
export interface WireText {
  /** A character for each byte. */
  readonly text: string
  /** Whether the bytes are the characters of the text itself. */
  readonly isAscii: boolean
}

/** The bytes of a text. The result is flat: it does not hold the pieces that the text was joined of. */
export const wireTextOf = (text: string): WireText => {
  if (text.length * 3 > scratch.length) {
    // To count the bytes makes the text flat.
    return Buffer.byteLength(text) === text.length
      ? { text, isAscii: true }
      : { text: Buffer.from(text).toString("latin1"), isAscii: false }
  }
  const length = scratch.write(text)
  return { text: latin1Slice.call(scratch, 0, length), isAscii: length === text.length }
}

/** Texts as they are sent, one behind another, with commas between them. */
export class WireTexts implements WireText {
  text = ""
  isAscii = true

  add({ isAscii, text }: WireText): void {
    this.text += this.text === "" ? text : `,${text}`
    this.isAscii &&= isAscii
  }

  /** These texts between others. */
  within(before: WireText, after: WireText): WireText {
    return { text: before.text + this.text + after.text, isAscii: before.isAscii && this.isAscii && after.isAscii }
  }
}

/** The characters of a text as it is sent. */
export const charactersOf = (wire: WireText): string => wire.isAscii ? wire.text : bytesOf(wire).toString()

/** The text or its bytes, of which digests are the same. */
export const contentOf = (wire: WireText): string | Uint8Array => wire.isAscii ? wire.text : bytesOf(wire)

/** The texts of documents as they are sent. */
export const textsToWire =
  (textOf: (document: Document) => string | undefined) => (document: Document): WireText | undefined => {
    const text = textOf(document)
    return text === undefined ? undefined : wireTextOf(text)
  }

/** The bytes of a text as it is sent. */
export const bytesOf = ({ text }: Pick<WireText, "text">): Buffer => Buffer.from(text, "latin1")

/** The text of the document at a place; `undefined` for one that does not match the model. */
export type WireTextAt = (at: number) => WireText | undefined

/** The texts of the documents of a page, each by itself. */
export const eachBy =
  (wireOf: (document: Document) => WireText | undefined) => (documents: ReadonlyArray<Document>): WireTextAt => (at) =>
    wireOf(documents[at]!)

/** Writes a document with its links. */
type Write = (document: Document, links: string) => string | undefined

/** The links of a document. */
type Links = (id: unknown, document: Document) => string

/**
 * The texts of records, kept within a number of bytes for the process. A text stands with its record, one for each form and set of
 * links, so that a write, which makes another record, leaves it behind. A record is a document that is frozen: what a store gives to
 * several readers, and what never changes. Its text is kept when it is read for the second time, of which the first one is not noted
 * at each read of one record: to note it costs as much as a part of the text.
 */
export class KeptTexts {
  readonly #maxBytes: number
  readonly #kept: Array<Kept> = []
  #bytes = 0
  #hand = 0
  #alone = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The text of a document, which is kept if it is a record; `undefined` if it does not match the model. */
  of(
    document: Document,
    write: Write,
    links: Links,
    id: (document: Document) => unknown,
    isAlone = false
  ): WireText | undefined {
    const first = Slot.of(document)
    const known = textIn(first, write, links)
    if (known !== undefined) return known
    const before = writtenDefaults()
    const text = write(document, links(id(document), document))
    if (text === undefined) return undefined
    const wire = wireTextOf(text)
    if (first === undefined) {
      // A record that is read once would displace those that are read often.
      if (canKeep && (!isAlone || ++this.#alone % notedAlone === 0) && Object.isFrozen(document)) {
        Slot.put(document, seen)
      }
    } else if (writtenDefaults() === before) {
      // The default of a field may be another one at the next read.
      this.#keep(document, wire.text, new Kept(wire, write, links, first))
    }
    return wire
  }

  /**
   * {@link KeptTexts.of} the documents of a page, by their places. Records, what stands with them, and texts are scattered in memory:
   * in loops that do nothing else the processor reads several at once.
   */
  each(
    documents: ReadonlyArray<Document>,
    writeOf: (document: Document) => Write,
    links: Links,
    id: (document: Document) => unknown
  ): WireTextAt {
    const first = documents.map((document) => Slot.of(document))
    const known = first.map((kept, i) => kept && textIn(kept, writeOf(documents[i]!), links))
    let length = 0
    for (const wire of known) if (wire !== undefined) length += wire.text.length
    const texts = length === 0 ? none : known
    return (at) => texts[at] ?? this.of(documents[at]!, writeOf(documents[at]!), links, id)
  }

  #keep(document: Document, text: string, kept: Kept): void {
    const cost = costOf(text)
    if (cost > maxKeptBytes || cost > this.#maxBytes) return
    // Evicts the text under the hand, unless it was used since the hand passed it.
    while (this.#bytes + cost > this.#maxBytes) {
      if (this.#hand >= this.#kept.length) this.#hand = 0
      const next = this.#kept[this.#hand]!
      if (next.isUsed) next.isUsed = false
      else {
        // What is kept has a text until it is evicted, which is once. Who has got the text may still hold it.
        this.#bytes -= costOf(next.text!)
        next.text = undefined
        const last = this.#kept.pop()!
        if (last !== next) this.#kept[this.#hand] = last
      }
      this.#hand += 1
    }
    this.#bytes += cost
    this.#kept.push(kept)
    Slot.put(document, kept)
  }
}

// internal

// What `toString` calls after it has looked at its arguments.
const { latin1Slice } = Buffer.prototype

const scratch = Buffer.allocUnsafeSlow(64 * 1024)

// A larger text would displace too many others.
const maxKeptBytes = 32 * 1024

/** Of so many records that are read alone, one is noted. */
const notedAlone = 8

// The memory of what is kept beside the characters.
const overhead = 150

const none: ReadonlyArray<WireText | undefined> = []

const costOf = (text: string): number => text.length + overhead

/** A {@link WireText} in one object: each object that a page of random records touches is one more miss of the processor's cache. */
class Kept {
  /** `undefined` once it is evicted. */
  text: string | undefined
  readonly isAscii: boolean
  readonly write: Write
  readonly links: Links
  /** What is kept of the same record for other callers. */
  next: Kept | undefined
  isUsed = false

  constructor(wire: WireText | undefined, write: Write, links: Links, next: Kept | undefined) {
    this.text = wire?.text
    this.isAscii = wire?.isAscii === true
    this.write = write
    this.links = links
    // The evicted ones before the first that is not.
    let kept = next
    while (kept !== undefined && kept.text === undefined) kept = kept.next
    this.next = kept
  }
}

/** What is kept of a form and set of links, after what was evicted before it is forgotten. */
const textIn = (first: Kept | undefined, write: Write, links: Links): WireText | undefined => {
  let previous: Kept | undefined
  for (let kept = first; kept !== undefined; kept = kept.next) {
    if (kept.text === undefined) {
      if (previous !== undefined) previous.next = kept.next
      continue
    }
    if (kept.write === write && kept.links === links) {
      // Most texts are marked already, and what is not written stays in the processor's cache.
      if (!kept.isUsed) kept.isUsed = true
      return { text: kept.text, isAscii: kept.isAscii }
    }
    previous = kept
  }
  return undefined
}

/** What stands with a record that was read once. */
const seen = new Kept(undefined, () => undefined, () => "", undefined)

/** Adds a private field to an object that is not its own: it is found as fast as a property, and copied with none. */
// oxlint-disable-next-line typescript/no-extraneous-class -- a private field is added to what the constructor of the base class returns
class Returning {
  constructor(record: object) {
    return record
  }
}

class Slot extends Returning {
  #first: Kept | undefined

  static of(record: object): Kept | undefined {
    return #first in record ? record.#first : undefined
  }

  static put(record: object, kept: Kept): void {
    if (!(#first in record)) Reflect.construct(Slot, [record])
    if (#first in record) record.#first = kept
  }
}

/** Whether private fields can be added to frozen objects. Engines that refuse it keep no texts. */
const canKeep = Result.isSuccess(Result.try(() => Reflect.construct(Slot, [Object.freeze({})])))
