/**
 * The entries of documents in indexes.
 */
import * as Result from "effect/Result"
import { component, fit, invert } from "../../bson/keyEncoding.ts"
import { isArrayIndex, keysOf, type Segments } from "../../bson/path.ts"
import { fieldOf, isArray, isDocument } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { indexedWords, type TextField } from "../../mql/text/textSearch.ts"
import type { Index } from "./catalog.ts"

/** @internal */
export interface Entries {
  readonly keys: ReadonlySet<string>
  readonly multikey: boolean
  readonly inexact: boolean
}

/**
 * Whether entries with the same values are in the order of the identifiers turned round: as the last of the values are, so
 * that an order by it that ends with the identifier in the same direction is an index's.
 *
 * @internal
 */
export const isTurned = ({ directions }: Index): boolean => directions.at(-1)?.descending === true

const none: Entries = { keys: new Set(), multikey: false, inexact: false }

/**
 * The keys of a document in an index. In a unique index they are of the values alone, so that two documents with the
 * same meet.
 *
 * @internal
 */
export const entriesOf = (index: Index, document: Document, documentKey: string): Result.Result<Entries, string> => {
  if (index.part?.holds(document) === false) return Result.succeed(none)
  if (index.text !== undefined) return Result.succeed(textEntries(document, index.text, documentKey))
  if (index.description.sparse === true && !index.directions.some(({ path }) => leadsSomewhere(document, path, 0))) {
    return Result.succeed(none)
  }
  const suffix = index.description.unique === true ? "" : isTurned(index) ? invert(documentKey) : documentKey
  return Result.map(keysOf(document, index.directions.map(({ path }) => path)), ({ keys, multiple }) => {
    const notes = { inexact: false }
    return {
      keys: new Set(keys.map((values) =>
        fit(
          index.directions
            .map(({ descending }, i) => descending ? invert(component(values[i], notes)) : component(values[i], notes))
            .join(""),
          notes
        ) + suffix
      )),
      multikey: multiple,
      inexact: notes.inexact
    }
  })
}

/**
 * What the keys of a word in a text index begin with.
 *
 * @internal
 */
export const wordKey = (word: string): string => component(word, { inexact: false })

const textEntries = (document: Document, fields: ReadonlyArray<TextField>, documentKey: string): Entries => ({
  keys: new Set(
    Array.from(indexedWords(document, fields), (word) => fit(wordKey(word), { inexact: false }) + documentKey)
  ),
  multikey: true,
  inexact: false
})

const leadsSomewhere = (node: unknown, path: Segments, at: number): boolean => {
  const segment = path[at]
  if (segment === undefined) return node !== undefined
  if (isDocument(node)) return leadsSomewhere(fieldOf(node, segment), path, at + 1)
  if (!isArray(node)) return false
  return (isArrayIndex(segment) && leadsSomewhere(node[Number(segment)], path, at + 1))
    || node.some((item) => isDocument(item) && leadsSomewhere(item, path, at))
}
