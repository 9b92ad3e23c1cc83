/** The documents that a stage joins, held in memory by their keys. They are read once, however often the stage runs. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import { EqualTexts } from "../bson/equalTexts.ts"
import { encodeComponent } from "../bson/keyEncoding.ts"
import { forEachValue, type Segments, someAt } from "../bson/path.ts"
import { isArray } from "../bson/value.ts"
import { type BatchIterator, consumeThen } from "../execution/batchIterator.ts"
import { beginEvaluation, charge } from "../limits/costBudget.ts"
import { memoryOf, sizeOfValue } from "../limits/sizeLimits.ts"
import type { StageContext } from "./stageContext.ts"

export interface JoinTable {
  readonly all: ReadonlyArray<Document>
  /** The documents with one of these keys, each once, in the order in which they were read. May throw. */
  readonly find: (keys: ReadonlyArray<unknown>) => ReadonlyArray<Document>
}

/** Reads a source when first needed, then continues with its table. `keysOf`, to find by a key, may throw. */
export const makeJoinTable = (
  open: () => BatchIterator,
  keysOf: ((document: Document) => ReadonlyArray<unknown>) | undefined,
  { collator, lasting }: Pick<StageContext, "collator" | "lasting">
): (next: (table: JoinTable) => BatchIterator) => BatchIterator => {
  let made: JoinTable | undefined
  return (next) => {
    if (made !== undefined) return next(made)
    const all: Array<Document> = []
    const known = new Map<string, Array<number>>()
    const equalTexts = collator === undefined ? undefined : new EqualTexts(collator)
    const [textOf, textOfNew] = [textBy(equalTexts?.find), textBy(equalTexts?.add)]
    const add = (document: Document): void => {
      beginEvaluation()
      const texts = new Set(keysOf?.(document).map(textOfNew))
      let bytes = memoryOf(document)
      const place = all.push(document) - 1
      for (const text of texts) {
        const alike = known.get(text)
        bytes += entrySize + text.length
        if (alike === undefined) known.set(text, [place])
        else alike.push(place)
      }
      lasting.hold(bytes)
    }
    const find = (keys: ReadonlyArray<unknown>): ReadonlyArray<Document> => {
      const found = keys.map((key) => known.get(textOf(key)) ?? [])
      charge(found.reduce((sum, { length }) => sum + length, 0) * foundCost)
      const places = found.length === 1 ? found[0]! : Array.from(new Set(found.flat())).toSorted((a, b) => a - b)
      return places.map((place) => all[place]!)
    }
    return consumeThen(open(), add, () => {
      made = { all, find }
      return next(made)
    })
  }
}

/** The values at a path that other documents are joined by: each item of an array by itself. */
export const joiningValues = (document: Document, path: Segments): ReadonlyArray<unknown> => {
  const values: Array<unknown> = []
  forEachValue(document, path, (value) => values.push(value))
  return values
}

/** The values by which a path's filter finds the document: an array and its items, `null` if missing. */
export const joinedValues = (document: Document, path: Segments): ReadonlyArray<unknown> => {
  const values: Array<unknown> = []
  someAt(document, path, 0, (value, isItem) => {
    values.push(value ?? null)
    if (!isItem && isArray(value)) { for (const item of value) values.push(item) }
    return false
  }, (array) => charge(array.length))
  return values
}

// internal

const entrySize = 100

const foundCost = 10

/** Gives values the same text that are equal once their texts are replaced. */
const textBy = (replace: ((value: unknown) => unknown) | undefined) => (value: unknown): string => {
  charge(20 + sizeOfValue(value))
  return encodeComponent((replace === undefined ? value : replace(value)) ?? null, { inexact: false })
}
