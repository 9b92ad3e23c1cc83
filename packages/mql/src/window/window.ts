/** What a window function is: a window slides over the documents of a partition, and the function follows it. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import type { Collator } from "../bson/collator.ts"
import type { Direction } from "../bson/path.ts"
import type { Expression } from "../expression/expression.ts"

/** Which documents are in the window of the document at `index`. Both ends only move on as `index` grows. May throw. */
export interface Window {
  /** Whether the document at `at` is not beyond the end of the window. */
  readonly enters: (at: number, index: number) => boolean
  /** Whether the document at `at` is before the beginning of the window. */
  readonly leaves: (at: number, index: number) => boolean
}

/** What a function retains of the documents in the window. May throw. */
export interface Content {
  /** Adds the document that follows the last one. */
  readonly push: (document: Document, at: number) => void
  /** Removes the first document; `false` if it has to be called again, in another step. */
  readonly shift: () => boolean
  /** The value for the document at `index`, whose window is from `from` to before `to`. */
  readonly result: (index: number, from: number, to: number) => unknown
}

/** A partition that a window slides over. */
interface Slide {
  readonly documents: ReadonlyArray<Document>
  /** Adjusts the memory that the function needs by this many bytes. May throw. */
  readonly weigh: (bytes: number) => void
}

export type Bounds = (documents: ReadonlyArray<Document>) => Window

/** A parsed window function, for any partition. */
export type WindowFunction = (slide: Slide) => Window & Content

/** What parsing a window function depends on. */
export interface WindowContext {
  readonly sort: ReadonlyArray<Direction>
  /** May throw. */
  readonly parse: (expression: unknown) => Expression
  /** The value of an expression without fields; anything else is rejected. May throw. */
  readonly constant: (expression: unknown) => unknown
  /** How texts compare, unless by their code points. */
  readonly collator: Collator | undefined
}

/** A content that needs no more than the documents themselves. */
export const withoutState = (result: Content["result"]): Content => ({ push: () => {}, shift: () => true, result })

/** A content that follows all documents up to the current one. */
export const following = (push: Content["push"], result: Content["result"]): Window & Content => ({
  enters: (at, index) => at <= index,
  leaves: () => false,
  push,
  shift: () => true,
  result
})
