/**
 * Remembers in a bounded table which record had an identifier, so that a read by the identifier looks up the record only.
 *
 * The table has hashes, and nothing is removed from it: the record may be gone, or have another identifier with the same
 * hash. So a reader compares the identifier of the record, and asks the index if it is another one.
 */

/** The records of identifiers of all collections. */
export class RecordHints {
  readonly #maxSlots: number
  readonly #grow: (bytes: number) => void
  // A hash, and the number of its record plus 1, or 0 in a free slot.
  #slots = new Uint32Array(2 * firstSlots)
  #mask = maskOf(firstSlots)
  #used = 0

  /** The table takes at most `maxBytes`, and a few thousand. `grow` is called with the bytes that it takes in addition. */
  constructor(maxBytes: number, grow: (bytes: number) => void) {
    this.#maxSlots = maxBytes / slotBytes
    this.#grow = grow
  }

  /** The number of the record that may have the identifier with this hash. */
  get(hash: number): number | undefined {
    const slots = this.#slots
    const first = hash & this.#mask
    for (let at = first; at < first + bucketLength; at += 2) {
      if (slots[at] === hash) return slots[at + 1] === 0 ? undefined : slots[at + 1]! - 1
    }
    return undefined
  }

  set(hash: number, record: number): void {
    if (record > maxRecord) return
    const slots = this.#slots
    const first = hash & this.#mask
    const end = first + bucketLength
    let at = first
    while (at < end && slots[at + 1] !== 0 && slots[at] !== hash) at += 2
    if (at === end) {
      if (this.#doubled()) {
        this.set(hash, record)
        return
      }
      // One of them by chance, as good as any.
      at = first + 2 * (record % bucketSlots)
    } else if (slots[at + 1] === 0) this.#used += 1
    slots[at] = hash
    slots[at + 1] = record + 1
  }

  /** Doubles the table if half of it is used and there is room; returns whether it has. */
  #doubled(): boolean {
    const before = this.#slots
    const count = before.length / 2
    if (2 * count > this.#maxSlots || 2 * this.#used < count) return false
    this.#grow(count * slotBytes)
    this.#slots = new Uint32Array(2 * before.length)
    this.#mask = maskOf(2 * count)
    this.#used = 0
    for (let at = 0; at < before.length; at += 2) {
      if (before[at + 1] !== 0) this.set(before[at]!, before[at + 1]! - 1)
    }
    return true
  }
}

/** The hash of an identifier in a collection: of a text, or of the key of another value. */
export const hashOfIdentifier = (collection: number, text: string): number => {
  let hash = Math.imul(collection ^ text.length, 0x9e37_79b1)
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x0100_0193)
  hash = Math.imul(hash ^ hash >>> 15, 0x85eb_ca77)
  return (hash ^ hash >>> 13) >>> 0
}

// internal

const firstSlots = 1024
const slotBytes = 8

// Half of a line of the processor's cache.
const bucketSlots = 4
const bucketLength = 2 * bucketSlots

const maxRecord = 0xffff_fffe

/** The bits of a hash that are the place of its bucket. */
const maskOf = (slots: number): number => 2 * slots - bucketLength
