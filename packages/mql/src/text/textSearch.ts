/** Text search: the words of a document for a text index, and the operand of `$text`. */
import { spend } from "@appkernel/document-store/internal"
import type { Document } from "@appkernel/document-store/StoreTypes"
import { forEachValue, type Segments } from "../bson/path.ts"
import { isDocument } from "../bson/value.ts"
import { chargeTest } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"

/** A path of a text index, and its weight in the score. */
export interface TextField {
  readonly path: Segments
  readonly weight: number
}

export interface TextSearch {
  /** The words searched for, as the index stores them. A match contains at least one of them. */
  readonly words: ReadonlyArray<string>
  readonly matches: (document: Document, fields: ReadonlyArray<TextField>) => boolean
  /** The relevance of a document, by MongoDB's formula. */
  readonly score: (document: Document, fields: ReadonlyArray<TextField>) => number
}

/** The words of a document as the index stores them. */
export const indexedWords = (document: Document, fields: ReadonlyArray<TextField>): ReadonlySet<string> =>
  new Set(fields.flatMap(({ path }) => textsAt(document, path).flatMap((text) => wordsOf(fold(text)))))

/** Parses `$text`: matches have one of the words, every quoted phrase, and nothing that has a `-`. May throw. */
export const parseTextSearch = (operand: unknown): TextSearch => {
  if (!isDocument(operand)) return reject("$text needs a document")
  const { $caseSensitive, $diacriticSensitive, $language, $search, ...others } = operand
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return reject(`$text has no option "${unknown}"`)
  if (typeof $search !== "string") return reject("$text needs a text as its $search")
  if ($language !== undefined && typeof $language !== "string") return reject("$language needs a text")
  if (![$caseSensitive, $diacriticSensitive].every((option) => option === undefined || typeof option === "boolean")) {
    return reject("$caseSensitive and $diacriticSensitive are either true or false")
  }
  return makeSearch(partsOf($search), $caseSensitive === true, $diacriticSensitive === true)
}

// internal

interface Parts {
  readonly words: ReadonlyArray<string>
  readonly excludedWords: ReadonlyArray<string>
  readonly phrases: ReadonlyArray<string>
  readonly excludedPhrases: ReadonlyArray<string>
}

const makeSearch = (parts: Parts, caseSensitive: boolean, diacriticSensitive: boolean): TextSearch => {
  const isInsensitive = !caseSensitive && !diacriticSensitive
  const folded = (text: string): string => {
    const bare = diacriticSensitive ? text.normalize("NFC") : withoutDiacritics(text)
    return caseSensitive ? bare : bare.toLowerCase()
  }
  const [words, excludedWords] = [parts.words, parts.excludedWords].map((words) => new Set(words.map(folded)))
  const [phrases = [], excludedPhrases = []] = [parts.phrases, parts.excludedPhrases].map((phrases) =>
    Array.from(new Set(phrases.map(folded)))
  )
  const indexed = new Set(parts.words.map(fold))
  return {
    words: Array.from(indexed),
    matches: (document, fields) => {
      const texts = fields.flatMap(({ path }) => textsAt(document, path)).map(isInsensitive ? fold : folded)
      let hasWord = false
      for (const text of texts) {
        for (const word of wordsOf(text)) {
          if (excludedWords?.has(word) === true) return false
          hasWord ||= words?.has(word) === true
        }
      }
      return hasWord && phrases.every(isIn(texts)) && !excludedPhrases.some(isIn(texts))
    },
    score: (document, fields) =>
      fields.reduce(
        (sum, { path, weight }) =>
          sum + weight * textsAt(document, path).reduce((sum, text) => sum + scoreOf(fold(text), indexed), 0),
        0
      )
  }
}

const isIn = (texts: ReadonlyArray<string>) => (phrase: string): boolean =>
  texts.some((text) => {
    // A search may compare much of the phrase at each place.
    chargeTest(4 + text.length * (1 / 8 + phrase.length / 160))
    return text.includes(phrase)
  })

// As MongoDB parses it: a `-` excludes only at the beginning of a word or a phrase.
const partsOf = (search: string): Parts => {
  const parts = {
    words: new Array<string>(),
    excludedWords: new Array<string>(),
    phrases: new Array<string>(),
    excludedPhrases: new Array<string>()
  }
  for (const [, sign = "", phrase, text = ""] of search.matchAll(/((?<![^\s"])-)?(?:"([^"]*)(?:"|$)|([^\s"]+))/gu)) {
    if (phrase !== undefined) {
      const isEmpty = wordsOf(phrase).length === 0
      if (!isEmpty && sign !== "") parts.excludedPhrases.push(phrase)
      else if (!isEmpty) {
        parts.phrases.push(phrase)
        // Not spread into one call: the number of arguments is limited.
        for (const word of wordsOf(phrase)) parts.words.push(word)
      }
      continue
    }
    const [first, ...others] = wordsOf(text)
    if (first === undefined) continue
    if (sign === "") parts.words.push(first)
    else parts.excludedWords.push(first)
    for (const word of others) parts.words.push(word)
  }
  return parts
}

const textsAt = (document: Document, path: Segments): ReadonlyArray<string> => {
  const texts: Array<string> = []
  forEachValue(document, path, (value) => {
    if (typeof value === "string") texts.push(value)
  })
  return texts
}

// The cost of splitting a text into words, for each character.
const simpleCost = 4
const segmentCost = 8

const isAscii = /^[\0-\x7f]*$/

// Some languages don't separate words. The dictionaries for them are large.
let segmenter: Intl.Segmenter | undefined

/** The words of a text in order. A word consists of letters, digits, marks and underscores. */
const wordsOf = (text: string): ReadonlyArray<string> => {
  const isSimple = isAscii.test(text)
  spend(text.length * (isSimple ? simpleCost : segmentCost))
  if (isSimple) return text.match(/\w+/g) ?? []
  const words: Array<string> = []
  segmenter ??= new Intl.Segmenter("en", { granularity: "word" })
  for (const { isWordLike, segment } of segmenter.segment(text)) {
    if (isWordLike === true) words.push(...segment.match(/[\p{L}\p{N}\p{M}_]+/gu) ?? [])
  }
  return words
}

const withoutDiacritics = (text: string): string =>
  isAscii.test(text)
    ? text
    // Marks that are not diacritics, such as vowel signs of Hindi, distinguish words and stay.
    : text.normalize("NFD").replaceAll(/(?=\p{M})\p{Diacritic}/gu, "").normalize("NFC")

// Lower case first: only the lower case of `İ` has its dot as a separate mark.
const fold = (text: string): string => withoutDiacritics(text.toLowerCase())

// MongoDB's formula: each further occurrence adds half as much as the previous one. The share of the words in the text
// counts, and a text that is only the word counts 10 % more.
const scoreOf = (text: string, wanted: ReadonlySet<string>): number => {
  const words = wordsOf(text)
  const counts = new Map<string, number>()
  for (const word of words) if (wanted.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1)
  let sum = 0
  for (const [word, count] of counts) {
    const frequency = 2 - 2 ** (1 - count)
    sum += frequency * ((0.5 * count) / words.length + 0.5) * (text === word ? 1.1 : 1)
  }
  return sum
}
