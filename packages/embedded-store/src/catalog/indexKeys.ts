/** Computes the entries of a document in an index. */
import type { Document } from "@appkernel/document-store/DocumentStore"
import {
  beginEvaluation,
  catchRejection,
  encodeComponent,
  EqualTexts,
  existsAt,
  indexedWords,
  invert,
  keysAtPath,
  limitedKey,
  limitLength,
  locationKeys,
  type TextField
} from "@appkernel/mql/internal"
import * as Result from "effect/Result"
import { type Index, isGeographic } from "./collection.ts"

export interface IndexEntries {
  readonly keys: ReadonlySet<string>
  readonly multikey: boolean
  readonly inexact: boolean
}

/** Whether equal values are in descending order of identifiers: as the last path, to serve a sort by `_id`. */
export const isIdDescending = ({ directions }: Index): boolean => directions.at(-1)?.descending === true

const none: IndexEntries = { keys: new Set(), multikey: false, inexact: false }

/** Whether no two documents have one key in an index; texts that differ may, with a collation. */
export const hasUniqueKeys = ({ collator, description }: Index): boolean =>
  description.unique === true && collator === undefined

/** The end of the keys of a document. */
export const suffixOf = (index: Index, documentKey: string): string =>
  hasUniqueKeys(index) ? "" : isIdDescending(index) ? invert(documentKey) : documentKey

/** Whether two documents have equal values in an index with a collation. */
export const haveEqualValues = (index: Index, document: Document, other: Document): boolean => {
  if (index.collator === undefined) return false
  const texts = new EqualTexts(index.collator)
  const valuesOf = (document: Document, replace: (value: unknown) => unknown): ReadonlyArray<string> =>
    Result.match(keysAtPath(document, index.directions.map(({ path }) => path)), {
      onSuccess: ({ keys }) =>
        keys.map((values) => values.map((value) => encodeComponent(replace(value), { inexact: false })).join("")),
      onFailure: () => []
    })
  const known = new Set(valuesOf(document, texts.add))
  return valuesOf(other, texts.find).some((values) => known.has(values))
}

/** A document's entries in an index. Keys end in the identifier, except where equal values must clash. */
export const indexEntries = (
  index: Index,
  document: Document,
  documentKey: string
): Result.Result<IndexEntries, string> => {
  if (index.part?.holds(document) === false) return Result.succeed(none)
  if (isGeographic(index)) return geographicEntries(index, document, documentKey)
  if (index.text !== undefined) return Result.succeed(textEntries(document, index.text, documentKey))
  if (index.description.sparse === true && !index.directions.some(({ path }) => existsAt(document, path))) {
    return Result.succeed(none)
  }
  const { collator } = index
  const suffix = suffixOf(index, documentKey)
  return Result.map(keysAtPath(document, index.directions.map(({ path }) => path), maxKeys), ({ keys, multiple }) => {
    const notes = { inexact: false }
    return {
      keys: new Set(keys.map((values) =>
        limitedKey(
          index.directions.map(({ descending }, i) =>
            descending
              ? invert(encodeComponent(values[i], notes, collator))
              : encodeComponent(values[i], notes, collator)
          ),
          suffix,
          notes
        )
      )),
      multikey: multiple,
      inexact: notes.inexact
    }
  })
}

/** The key prefix of a word in a text index. */
export const wordKey = (word: string): string => encodeComponent(word, { inexact: false })

const textEntries = (document: Document, fields: ReadonlyArray<TextField>, documentKey: string): IndexEntries => ({
  keys: new Set(
    Array.from(indexedWords(document, fields), (word) => limitLength(wordKey(word), { inexact: false }) + documentKey)
  ),
  multikey: true,
  inexact: false
})

// The component of documents without a location, which no cell has.
const noLocation: ReadonlySet<string> = new Set(["\0"])

/** The entries of an index with locations: each cell of the locations with each key of the other paths. */
const geographicEntries = (
  { collator, directions, kinds, paths }: Index,
  document: Document,
  documentKey: string
): Result.Result<IndexEntries, string> => {
  beginEvaluation()
  const located = catchRejection(() =>
    directions.map(({ path }, i) => {
      const kind = kinds[i]
      return kind === undefined ? undefined : locationKeys(document, path, kind)
    })
  )
  if (Result.isFailure(located)) {
    return Result.fail(`no entry for the index of ${paths.join(", ")}: ${located.failure.text}`)
  }
  if (!located.success.some((keys) => keys !== undefined && keys.size > 0)) return Result.succeed(none)
  const others = directions.filter((_, i) => kinds[i] === undefined)
  return Result.flatMap(keysAtPath(document, others.map(({ path }) => path), maxKeys), ({ keys, multiple }) => {
    const count = located.success.reduce((product, cells) => product * Math.max(1, cells?.size ?? 1), keys.length)
    if (count > maxKeys) {
      return Result.fail(`no entry for the index of ${paths.join(", ")}: a document has at most ${maxKeys} keys`)
    }
    const notes = { inexact: false }
    const all = keys.flatMap((values) => {
      let at = 0
      let texts: ReadonlyArray<string> = [""]
      for (const [i, { descending }] of directions.entries()) {
        const cells = located.success[i]
        if (cells === undefined) {
          const component = encodeComponent(values[at++], notes, collator)
          texts = texts.map((text) => text + (descending ? invert(component) : component))
        } else {
          const some = Array.from(cells.size === 0 ? noLocation : cells)
          texts = texts.flatMap((text) => some.map((cell) => text + cell))
        }
      }
      return texts
    })
    return Result.succeed({
      keys: new Set(all.map((key) => limitLength(key, notes) + documentKey)),
      multikey: multiple || all.length > 1,
      inexact: notes.inexact
    })
  })
}

// The maximum for one document in an index, as in MongoDB. With locations, the values of several paths multiply.
const maxKeys = 100_000
