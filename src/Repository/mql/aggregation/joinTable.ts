/**
 * The documents that a stage joins, held in memory by their keys. They are read once, however often the stage runs.
 */
import { EqualTexts } from "../../bson/equalTexts.ts"
import { encodeComponent } from "../../bson/keyEncoding.ts"
import { segmentsOf } from "../../bson/path.ts"
import { isArray } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { type BatchIterator, consumeThen } from "../execution/batchIterator.ts"
import { follow } from "../expression/parseExpression.ts"
import { beginEvaluation, charge } from "../limits/costBudget.ts"
import { memoryOf, sizeOfValue } from "../limits/sizeLimits.ts"
import type { StageContext } from "./stageContext.ts"

/** @internal */
export interface JoinTable {
  readonly all: ReadonlyArray<Document>
  /** The documents with one of these keys, each once, in the order in which they were read. May throw. */
  readonly find: (keys: ReadonlyArray<unknown>) => ReadonlyArray<Document>
}

/**
 * Reads a source when it is needed first, then continues with its table. `keysOf` may throw; without it no document is found
 * by a key.
 *
 * @internal
 */
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

/** @internal */
export const isName = (value: unknown): value is string => typeof value === "string" && value !== ""

/** @internal */
export const listOf = (value: unknown): ReadonlyArray<unknown> => isArray(value) ? value : [value ?? null]

/**
 * The values at a path; a missing one is `null`. May throw.
 *
 * @internal
 */
export const valuesAt = (document: Document, path: string): ReadonlyArray<unknown> =>
  listOf(follow(document, segmentsOf(path), 0, true))

// internal

const entrySize = 100

const foundCost = 10

/** Gives values the same text that are equal once their texts are replaced. */
const textBy = (replace: ((value: unknown) => unknown) | undefined) => (value: unknown): string => {
  charge(20 + sizeOfValue(value))
  return encodeComponent((replace === undefined ? value : replace(value)) ?? null, { inexact: false })
}
