/** Compares texts by the rules of a language: which are equal, and in which order they are. */
import { compare, type CompareTexts, equals } from "./value.ts"

/** A collation, ready to compare with. */
export class Collator {
  /** Two collators of the same name compare alike. */
  readonly name: string
  readonly compareTexts: CompareTexts
  readonly #locale: string
  readonly #options: Intl.CollatorOptions
  #pivots: Pivots | undefined

  constructor(locale: string, options: Intl.CollatorOptions) {
    const collator = new Intl.Collator(locale, options)
    const { collation, caseFirst, ignorePunctuation, locale: resolved, numeric, sensitivity } = collator
      .resolvedOptions()
    this.name = JSON.stringify([resolved, collation, sensitivity, caseFirst, numeric, ignorePunctuation])
    this.compareTexts = collator.compare
    this.#locale = locale
    this.#options = options
  }

  /** MongoDB's order of values, with texts in the order of the collation. */
  readonly compare = (a: unknown, b: unknown): number => compare(a, b, this.compareTexts)

  readonly equals = (a: unknown, b: unknown): boolean => compare(a, b, this.compareTexts) === 0

  /**
   * A key of a text for an index. Equal texts have the same key, and a key is never less than that of a text before it. But
   * different texts may have the same key: `Intl` compares texts and gives no keys, so this one is made of comparisons.
   *
   * The text is compared with the letters of an alphabet, then with the greatest of them before it and one letter more, and
   * so on. Each step is a fixed tree of comparisons that depends only on the steps before. So of two texts, at the first
   * step that tells them apart, the lesser goes to an earlier branch, whatever the order of the letters is.
   */
  keyOf(text: string): string {
    const { letters, common } = this.#pivots ??= pivotsOf(this.#locale, this.#options)
    let key = ""
    let prefix = ""
    for (let step = 0; step < maxSteps; step++) {
      const nearby = partition(0, common.length, (i) => this.#isBefore(prefix + letters[common[i]!]!, text)) - 1
      const from = nearby < 0 ? 0 : common[nearby]! + 1
      const end = common[nearby + 1] ?? letters.length
      const place = partition(from, end, (i) => this.#isBefore(prefix + letters[i]!, text)) - 1
      if (place < 0) break
      key += digits(place + 1)
      prefix += letters[place]!
      // No text with the prefix is behind its last letter.
      if (place === letters.length - 1) break
    }
    return key + digits(0)
  }

  #isBefore(pivot: string, text: string): boolean {
    return this.compareTexts(pivot, text) <= 0
  }
}

/** How values compare: by a collation, or with texts by their code points. */
export type Order = Pick<Collator, "compare" | "equals">

export const orderOf = (collator: Collator | undefined): Order => collator ?? byCodePoints

/** The version of the rules that all collators follow. Keys of another version can't be compared with theirs. */
export const collationVersion = `1/${process.versions["icu"]}/${process.versions["cldr"]}`

/**
 * The first of the places from `from` to `end` that is not before, where all that are before come first. It always asks for
 * the same places in the same order, until an answer differs.
 */
export const partition = (from: number, end: number, isBefore: (at: number) => boolean): number => {
  let [low, high] = [from, end]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(middle)) low = middle + 1
    else high = middle
  }
  return low
}

// internal

const byCodePoints: Order = { compare, equals }

// Two bytes for a place.
const digits = (place: number): string => String.fromCharCode(place >>> 8, place & 0xff)

// A key describes at most this many letters: texts that differ only after them have the same key.
const maxSteps = 128

interface Pivots {
  /** Letters in the order of the collation. */
  readonly letters: ReadonlyArray<string>
  /** The places of the most frequent letters, which a search tries first. */
  readonly common: ReadonlyArray<number>
}

const range = (from: number, to: number, by = 1): ReadonlyArray<string> =>
  Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, i) => String.fromCodePoint(from + i * by))

// It orders behind all letters.
const last = "\uffff"

// Latin, Greek, Cyrillic, Armenian, Hebrew, Arabic, the scripts of India, Thai, Georgian, kana, the beginnings of syllables
// of hangul, and some Han characters. Others are between two of these.
const alphabet = () =>
  [
    [range(0x20, 0x17f), range(0x370, 0x52f), range(0x531, 0x587), range(0x5d0, 0x5ea), range(0x620, 0x64a)],
    [range(0x660, 0x6d3), range(0x900, 0xdff), range(0xe00, 0xe5b), range(0x10d0, 0x10ff), range(0x3041, 0x30ff)],
    [range(0xac00, 0xd7a3, 28), range(0x4e00, 0x9fff, 16)]
  ].flat(2).filter((letter) => /[\p{L}\p{N}\p{P}\p{S}\p{Zs}]/u.test(letter))

const frequent = new Set([
  ...[range(0x30, 0x39), range(0x41, 0x5a), range(0x61, 0x7a)].flat(),
  ..."@._-αабאاअก가あ一"
])

const pivotsOf = (locale: string, options: Intl.CollatorOptions): Pivots => {
  const { compare } = new Intl.Collator(locale, options)
  const { compare: compareBases } = new Intl.Collator(locale, { ...options, sensitivity: "base" })
  const letters: Array<string> = []
  for (const letter of alphabet().toSorted((a, b) => compare(a, b))) {
    const before = letters.at(-1) ?? ""
    // Not what is ignored, what has the same base as another letter, nor a letter that is spelled as several.
    if (compareBases(before, letter) < 0 && (before === "" || compareBases(before + last, letter) < 0)) {
      letters.push(letter)
    }
  }
  letters.push(last)
  return { letters, common: letters.flatMap((letter, i) => frequent.has(letter) ? [i] : []) }
}
