/**
 * Caches the JSON texts of list items.
 *
 * The key is the document object, so a changed document has another text. Cached are only texts of frozen documents, which
 * the embedded stores share between reads, and only texts that no code of the program took part in. Documents of other
 * stores are new objects for each read, so they cost a check and no more.
 */
import { textsByProgram } from "../../Model/introspection.ts"
import type { Document } from "../../Repository/DocumentStore.ts"

/** Writes the text of a document; `undefined` for one that does not match the model. */
type Write = (document: Document) => string | undefined

/**
 * The cached texts of all lists.
 *
 * @internal
 */
export interface ItemTexts {
  /** Caches the texts of `write`, which depend on nothing but the document unless it runs code of the program. */
  readonly keeping: (write: Write) => Write
}

/**
 * A cache of this many bytes.
 *
 * @internal
 */
export const makeItemTexts = (maxBytes = defaultBytes): ItemTexts => {
  // A full young generation becomes the old one. A text that is found in the old one moves to the young one.
  let young = new WeakMap<Document, Kept>()
  let old = young
  let bytes = 0
  // Rises with each text that is found, and falls with each that is not. Below zero, only every 61st item is looked up.
  let score = maxScore
  let turn = 0

  const add = (document: Document, kept: Kept): void => {
    if (bytes + kept.bytes > maxBytes / 2) {
      old = young
      young = new WeakMap()
      bytes = 0
    }
    bytes += kept.bytes
    young.set(document, kept)
  }

  const make = (document: Document, write: Write): string | undefined => {
    const before = textsByProgram()
    const text = write(document)
    if (text === undefined || textsByProgram() !== before || text.length > maxLength) return text
    const dates: Array<Moment> = []
    if (!isFixed(document, dates)) return text
    const kept = new Kept(write, text, dates, young.get(document))
    add(document, kept)
    return kept.text
  }

  const find = (document: Document, write: Write): string | undefined => {
    const kept = textIn(young.get(document), write)
    if (kept !== undefined) return kept.text
    const older = young === old ? undefined : textIn(old.get(document), write)
    if (older === undefined) return undefined
    add(document, new Kept(write, older.text, older.dates, young.get(document)))
    return older.text
  }

  return {
    keeping: (write) => (document) => {
      if (score < 0 && ++turn % lookedUp !== 0) return write(document)
      // Frozen objects are not extensible, and this check does not read their properties.
      if (Object.isExtensible(document)) return write(document)
      const found = find(document, write)
      score = found === undefined ? Math.max(score - scoreOfMissed, -scoreOfMissed) : Math.min(score + 1, maxScore)
      return found ?? make(document, write)
    }
  }
}

// internal

const defaultBytes = 16 * 1024 * 1024

// Longer texts are not cached: they would displace too many others.
const maxLength = 16 * 1024

// The bytes that a text takes besides its characters.
const overhead = 256

// A document has a text for each set of rights.
const maxTexts = 4

// Adding a text costs about twice what finding it saves.
const scoreOfMissed = 2
const maxScore = 4096

// A prime, so that the look-ups reach each item of a page in turn.
const lookedUp = 61

/** A date of a document, and its time when the text was written: freezing does not protect dates. */
interface Moment {
  readonly date: Date
  readonly millis: number
}

class Kept {
  readonly write: Write
  readonly text: string
  readonly dates: ReadonlyArray<Moment>
  readonly next: Kept | undefined
  readonly bytes: number
  readonly count: number

  constructor(write: Write, text: string, dates: ReadonlyArray<Moment>, next: Kept | undefined) {
    // A concatenated string refers to its pieces. The decoded copy does not.
    const encoded = Buffer.from(text)
    this.write = write
    this.text = encoded.toString()
    this.dates = dates
    this.next = next === undefined || next.count >= maxTexts ? undefined : next
    this.bytes = overhead + (encoded.length === text.length ? 1 : 2) * text.length
    this.count = 1 + (this.next?.count ?? 0)
  }
}

const textIn = (newest: Kept | undefined, write: Write): Kept | undefined => {
  for (let kept = newest; kept !== undefined; kept = kept.next) {
    if (kept.write === write) return isUnchanged(kept.dates) ? kept : undefined
  }
  return undefined
}

const isUnchanged = (dates: ReadonlyArray<Moment>): boolean => {
  for (let i = 0; i < dates.length; i++) if (dates[i]!.date.getTime() !== dates[i]!.millis) return false
  return true
}

/** Whether all of the value is frozen but its dates, which are collected. */
const isFixed = (value: unknown, dates: Array<Moment>): boolean => {
  if (typeof value !== "object" || value === null) return typeof value !== "function"
  if (value instanceof Date) {
    dates.push({ date: value, millis: value.getTime() })
    return true
  }
  if (!Object.isFrozen(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== Array.prototype) return false
  for (const part of Object.values(value)) if (!isFixed(part, dates)) return false
  return true
}
