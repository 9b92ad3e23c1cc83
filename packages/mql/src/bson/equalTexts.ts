/**
 * Replaces texts that a collation takes for equal by one of them, so that values with texts can be compared and hashed by
 * code points.
 */
import { type Collator, partition } from "./collator.ts"
import { isArray, isDocument, setField } from "./value.ts"

export class EqualTexts {
  readonly #compare: Collator["compareTexts"]
  // The different texts so far, in the order of the collation, in blocks that are cheap to insert into.
  readonly #blocks: Array<Array<string>> = []

  constructor({ compareTexts }: Collator) {
    this.#compare = compareTexts
  }

  /** The value with the first known text for each of its texts; a new one becomes known. */
  readonly add = (value: unknown): unknown => this.#replaced(value, (text) => this.#add(text))

  /** The value with the first known text for each of its texts that equals a known one. */
  readonly find = (value: unknown): unknown => this.#replaced(value, (text) => this.#find(text) ?? text)

  #replaced(value: unknown, replace: (text: string) => string): unknown {
    if (typeof value === "string") return replace(value)
    if (isArray(value)) return value.map((item) => this.#replaced(item, replace))
    if (!isDocument(value)) return value
    const copy: { [key: string]: unknown } = {}
    for (const key of Object.keys(value)) setField(copy, key, this.#replaced(value[key], replace))
    return copy
  }

  #find(text: string): string | undefined {
    const block = this.#blockOf(text)
    const found = block === undefined ? undefined : block[this.#placeIn(block, text) - 1]
    return found !== undefined && this.#compare(found, text) === 0 ? found : undefined
  }

  #add(text: string): string {
    const block = this.#blockOf(text)
    if (block === undefined) {
      this.#blocks.push([text])
      return text
    }
    const place = this.#placeIn(block, text)
    const found = block[place - 1]
    if (found !== undefined && this.#compare(found, text) === 0) return found
    block.splice(place, 0, text)
    if (block.length > maxBlock) {
      this.#blocks.splice(this.#blocks.indexOf(block) + 1, 0, block.splice(maxBlock / 2))
    }
    return text
  }

  /** The last block that does not begin behind a text, or the first one. */
  #blockOf(text: string): Array<string> | undefined {
    const place = partition(0, this.#blocks.length, (i) => this.#compare(this.#blocks[i]![0]!, text) <= 0)
    return this.#blocks[Math.max(0, place - 1)]
  }

  #placeIn(block: ReadonlyArray<string>, text: string): number {
    return partition(0, block.length, (i) => this.#compare(block[i]!, text) <= 0)
  }
}

// internal

const maxBlock = 512
