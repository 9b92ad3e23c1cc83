/** The collections of the embedded store and their indexes. */
import type { IndexDescription } from "@appkernel/document-store/DocumentStore"
import { isText } from "@appkernel/document-store/shared"
import {
  type Collator,
  type Direction,
  type IndexKind,
  isArrayIndex,
  isIndexKind,
  parseCollation,
  segmentsOf,
  type TextField
} from "@appkernel/mql/internal"
import * as Result from "effect/Result"
import type { Recording } from "./changeRecorder.ts"
import { type FilterPart, parsePart } from "./partialIndex.ts"
import type { Validator } from "./validator.ts"

/** Properties of the keys of an index. They are never reset, even if the documents that caused them are removed. */
export interface KeyTraits {
  /** A document may have several entries. */
  multikey: boolean
  /** Some entries are not in the order of their values. */
  inexact: boolean
  /** Whether a document has a `Double` or a `Long`. Only the index of identifiers has this property. */
  wrapped?: boolean
}

export interface Index {
  readonly number: number
  readonly description: IndexDescription
  readonly paths: ReadonlyArray<string>
  readonly directions: ReadonlyArray<Direction>
  readonly traits: KeyTraits
  /** How texts compare; `undefined` for a comparison by code points. */
  readonly collator: Collator | undefined
  /** The filter of a partial index. */
  readonly part: FilterPart | undefined
  /** The kind of each path that has locations; `undefined` for other paths. */
  readonly kinds: ReadonlyArray<IndexKind | undefined>
  /** The fields of a text index. */
  readonly text: ReadonlyArray<TextField> | undefined
  /** Whether the index contains all documents; until then it is maintained by writes, but not read. */
  readonly isReady: boolean
  /** Whether the keys follow the collation of another version of `Intl`, so that the index has to be rebuilt. */
  readonly isOutdated: boolean
}

export interface Collection {
  readonly name: string
  readonly number: number
  /** The index of `_id`. */
  readonly identifiers: Index
  readonly indexes: ReadonlyArray<Index>
  readonly validator?: Validator | undefined
  /** How changes are recorded; `undefined` if they are not. */
  readonly recording?: Recording | undefined
}

export const makeCollection = (
  name: string,
  number: number,
  traits: KeyTraits = { multikey: false, inexact: false }
): Collection => ({
  name,
  number,
  identifiers: {
    ...makeIndex(number, { name: "_id_", key: { _id: 1 }, unique: true }),
    traits,
    isReady: true
  },
  indexes: []
})

export const makeIndex = (number: number, description: IndexDescription): Index => {
  const directions = Object.entries(description.key).map(([path, direction]) => ({
    path: segmentsOf(path),
    descending: direction === -1
  }))
  const { partialFilterExpression, weights = {} } = description
  // The collation and the filter are valid: they were parsed when the index was created.
  const collator = Result.getOrThrowWith(parseCollation(description.collation), ({ text }) => new Error(text))
  return {
    number,
    description,
    paths: Object.keys(description.key),
    directions,
    collator,
    part: partialFilterExpression === undefined
      ? undefined
      : Result.getOrThrowWith(parsePart(partialFilterExpression, collator), ({ text }) => new Error(text)),
    text: isText(description)
      ? directions.map(({ path }) => ({ path, weight: weights[path.join(".")] ?? 1 }))
      : undefined,
    kinds: Object.values(description.key).map((kind) => isIndexKind(kind) ? kind : undefined),
    traits: { multikey: false, inexact: false },
    isReady: false,
    isOutdated: false
  }
}

/** Whether filters can use an index: complete, and without numeric segments, which filters read in two ways. */
export const isSearchable = (index: Index): boolean =>
  index.isReady && index.text === undefined && !index.directions.some(({ path }) => path.some(isArrayIndex))

/** Whether an index is for locations. Such an index contains only documents with a location. */
export const isGeographic = ({ kinds }: Index): boolean => kinds.some((kind) => kind !== undefined)

/** The text index of a collection, if it has a complete one. */
export const textIndexOf = (collection: Collection | undefined): Index | undefined =>
  collection?.indexes.find(({ isReady, text }) => isReady && text !== undefined)
