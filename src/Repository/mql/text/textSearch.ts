/**
 * Words: those of a document's texts, and those that a search asks for.
 */
import * as Result from "effect/Result"
import { isPosition, type Segments } from "../../bson/path.ts"
import { fieldOf, isArray, isDocument } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { spend } from "../limits/costBudget.ts"
import { type Problem, rejected } from "../limits/queryProblem.ts"

/**
 * A path whose words are known, and how much they count.
 *
 * @internal
 */
export interface TextField {
  readonly path: Segments
  readonly weight: number
}

/** @internal */
export interface TextSearch {
  /** The words asked for, as an index has them. A match has one of them at least. */
  readonly words: ReadonlyArray<string>
  readonly matches: (document: Document, fields: ReadonlyArray<TextField>) => boolean
  /** How well a document matches, by MongoDB's formula. */
  readonly score: (document: Document, fields: ReadonlyArray<TextField>) => number
}

/**
 * The words of a document as an index has them.
 *
 * @internal
 */
export const indexedWords = (document: Document, fields: ReadonlyArray<TextField>): ReadonlySet<string> =>
  new Set(fields.flatMap(({ path }) => textsAt(document, path, 0).flatMap((text) => wordsOf(fold(text)))))

/**
 * Reads the operand of `$text`. Words are alternatives, of which a match has one; what stands in quotes it has all, letter
 * by letter; what has a `-` before it, it has not.
 *
 * @internal
 */
export const parseTextSearch = (operand: unknown): Result.Result<TextSearch, Problem> => {
  if (!isDocument(operand)) return Result.fail(rejected("$text needs a document"))
  const { $caseSensitive, $diacriticSensitive, $language, $search, ...others } = operand
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return Result.fail(rejected(`$text has no option "${unknown}"`))
  if (typeof $search !== "string") return Result.fail(rejected("$text needs a text as its $search"))
  if ($language !== undefined && typeof $language !== "string") return Result.fail(rejected("$language needs a text"))
  if (![$caseSensitive, $diacriticSensitive].every((option) => option === undefined || typeof option === "boolean")) {
    return Result.fail(rejected("$caseSensitive and $diacriticSensitive are either true or false"))
  }
  return Result.succeed(makeSearch(partsOf($search), $caseSensitive === true, $diacriticSensitive === true))
}

// internal

interface Parts {
  readonly words: ReadonlyArray<string>
  readonly excludedWords: ReadonlyArray<string>
  readonly phrases: ReadonlyArray<string>
  readonly excludedPhrases: ReadonlyArray<string>
}

const makeSearch = (parts: Parts, caseSensitive: boolean, diacriticSensitive: boolean): TextSearch => {
  const isPlain = !caseSensitive && !diacriticSensitive
  const folded = (text: string): string => {
    const bare = diacriticSensitive ? text.normalize("NFC") : withoutDiacritics(text)
    return caseSensitive ? bare : bare.toLowerCase()
  }
  const [words, excludedWords] = [parts.words, parts.excludedWords].map((words) => new Set(words.map(folded)))
  const [phrases = [], excludedPhrases = []] = [parts.phrases, parts.excludedPhrases].map((texts) => texts.map(folded))
  const indexed = Array.from(new Set(parts.words.map(fold)))
  return {
    words: indexed,
    matches: (document, fields) => {
      const texts = fields.flatMap(({ path }) => textsAt(document, path, 0)).map(isPlain ? fold : folded)
      let isFound = false
      for (const text of texts) {
        for (const word of wordsOf(text)) {
          if (excludedWords?.has(word) === true) return false
          isFound ||= words?.has(word) === true
        }
      }
      return isFound
        && phrases.every((phrase) => texts.some((text) => text.includes(phrase)))
        && !excludedPhrases.some((phrase) => texts.some((text) => text.includes(phrase)))
    },
    score: (document, fields) =>
      fields.reduce(
        (sum, { path, weight }) =>
          sum + weight * textsAt(document, path, 0).reduce((sum, text) => sum + scoreOf(fold(text), indexed), 0),
        0
      )
  }
}

// As MongoDB reads it: a `-` excludes where a word or a phrase begins.
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
        parts.words.push(...wordsOf(phrase))
      }
      continue
    }
    const [first, ...others] = wordsOf(text)
    if (first === undefined) continue
    if (sign === "") parts.words.push(first)
    else parts.excludedWords.push(first)
    parts.words.push(...others)
  }
  return parts
}

// What a text says at the end of a path, in a list or out of one.
const textsAt = (node: unknown, path: Segments, at: number): ReadonlyArray<string> => {
  const segment = path[at]
  if (segment === undefined) {
    return typeof node === "string"
      ? [node]
      : isArray(node)
      ? node.filter((item) => typeof item === "string")
      : []
  }
  if (isDocument(node)) return textsAt(fieldOf(node, segment), path, at + 1)
  if (!isArray(node)) return []
  return isPosition(segment)
    ? textsAt(node[Number(segment)], path, at + 1)
    : node.flatMap((item) => isDocument(item) ? textsAt(item, path, at) : [])
}

// What it costs to take a text apart, for each character.
const simpleCost = 4
const segmentCost = 8

const isAscii = /^[\0-\x7f]*$/

// Some languages don't put anything between two words.
const segmenter = new Intl.Segmenter("en", { granularity: "word" })

/** The words of a text in their order. An underscore is part of one; whatever else is no letter, digit or mark is not. */
const wordsOf = (text: string): ReadonlyArray<string> => {
  const isSimple = isAscii.test(text)
  spend(text.length * (isSimple ? simpleCost : segmentCost))
  if (isSimple) return text.match(/\w+/g) ?? []
  const words: Array<string> = []
  for (const { isWordLike, segment } of segmenter.segment(text)) {
    if (isWordLike === true) words.push(...segment.match(/[\p{L}\p{N}\p{M}_]+/gu) ?? [])
  }
  return words
}

const withoutDiacritics = (text: string): string =>
  isAscii.test(text)
    ? text
    // Marks that are not diacritics, such as vowels of Hindi, tell one word from another.
    : text.normalize("NFD").replaceAll(/(?=\p{M})\p{Diacritic}/gu, "").normalize("NFC")

// `İ` has a dot that only lower case takes for a mark.
const fold = (text: string): string => withoutDiacritics(text.toLowerCase())

// A word counts more the more often it is there, each time by half as much again, the more of the text it is, and some
// more when it is all of the text.
const scoreOf = (text: string, wanted: ReadonlyArray<string>): number => {
  const words = wordsOf(text)
  return wanted.reduce((sum, word) => {
    const count = words.filter((other) => other === word).length
    if (count === 0) return sum
    const frequency = 2 - 2 ** (1 - count)
    return sum + frequency * ((0.5 * count) / words.length + 0.5) * (text === word ? 1.1 : 1)
  }, 0)
}
