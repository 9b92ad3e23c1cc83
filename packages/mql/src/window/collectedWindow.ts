/** The accumulators of windows that collect what is in the documents: lists, sets and merged documents. */
import type { Collator } from "../bson/collator.ts"
import { EqualTexts } from "../bson/equalTexts.ts"
import { encodeComponent } from "../bson/keyEncoding.ts"
import { Merged } from "../expression/documentOperators.ts"
import { type Expression, listOperand } from "../expression/expression.ts"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { memoryOf, sizeOfValue } from "../limits/sizeLimits.ts"
import type { WindowParser } from "./accumulatedWindow.ts"
import { isLeft, parseBounds } from "./bounds.ts"
import { Fifo } from "./fifo.ts"
import type { Bounds, WindowFunction } from "./window.ts"

export const collectingFunctions: ReadonlyMap<string, WindowParser> = new Map<string, WindowParser>([
  [
    "$push",
    (operand, window, context) => listed(parseBounds(window, context), context.parse(operand), (values) => values)
  ],
  [
    "$concatArrays",
    (operand, window, context) =>
      listed(parseBounds(window, context), arrayIn("$concatArrays", context.parse(operand)), joined)
  ],
  ["$addToSet", (operand, window, context) => {
    const read = context.parse(operand)
    const items = (document: unknown) => {
      const value = read(document)
      return value === undefined ? [] : [value]
    }
    return united(parseBounds(window, context), items, context.collator)
  }],
  ["$setUnion", (operand, window, context) => {
    const read = arrayIn("$setUnion", context.parse(operand))
    return united(parseBounds(window, context), (document) => read(document) ?? [], context.collator)
  }],
  ["$mergeObjects", (operand, window, context) => merged(operand, window, context)]
])

// internal

// The bytes of an array slot.
const slot = 16

/** An array of each document, unless it is missing. */
const arrayIn = (name: string, read: Expression) => (document: unknown): ReadonlyArray<unknown> | undefined => {
  const value = read(document)
  return value === undefined ? undefined : listOperand(name, value)
}

const joined = (lists: ReadonlyArray<ReadonlyArray<unknown>>): ReadonlyArray<unknown> => {
  charge(lists.reduce((sum, { length }) => sum + length, 0))
  return lists.flat()
}

/** The values that are not missing, one after the other. */
const listed = <A>(
  bounds: Bounds,
  read: (document: unknown) => A | undefined,
  result: (values: ReadonlyArray<A>) => unknown
): WindowFunction =>
({ documents, weigh }) => {
  const values = new Fifo<A | undefined>()
  return {
    ...bounds(documents),
    push: (document) => {
      const value = read(document)
      weigh(slot + memoryOf(value))
      values.push(value)
    },
    shift: () => {
      weigh(-slot - memoryOf(values.shift()))
      return true
    },
    result: () => {
      charge(values.length)
      return result(values.toArray().filter((value) => value !== undefined))
    }
  }
}

const bytesWithText = (text: string, value: unknown): number => 5 * slot + 2 * text.length + memoryOf(value)

/** The items of all documents, each once. */
const united = (
  bounds: Bounds,
  itemsOf: (document: unknown) => ReadonlyArray<unknown>,
  collator: Collator | undefined
): WindowFunction =>
({ documents, weigh }) => {
  const alike = collator === undefined ? undefined : new EqualTexts(collator)
  const texts = new Fifo<ReadonlyArray<string>>()
  // The equal values of a text. The first that is in the window stands for them.
  const known = new Map<string, Fifo<unknown>>()
  const add = (value: unknown): string => {
    charge(sizeOfValue(value))
    const text = encodeComponent(alike === undefined ? value : alike.add(value), { inexact: false })
    weigh(bytesWithText(text, value))
    const equals = known.get(text) ?? new Fifo()
    equals.push(value)
    known.set(text, equals)
    return text
  }
  const remove = (text: string): void => {
    const equals = known.get(text)
    if (equals === undefined) return
    weigh(-bytesWithText(text, equals.shift()))
    if (equals.length === 0) known.delete(text)
  }
  return {
    ...bounds(documents),
    push: (document) => texts.push(itemsOf(document).map(add)),
    shift: () => {
      texts.shift()?.forEach(remove)
      return true
    },
    result: () => {
      charge(known.size)
      return Array.from(known.values(), (equals) => equals.first)
    }
  }
}

const merged: WindowParser = (operand, window, context) => {
  if (isLeft(window)) return reject("the window of $mergeObjects begins at unbounded")
  const [bounds, read] = [parseBounds(window, context), context.parse(operand)]
  return ({ documents, weigh }) => {
    const all = new Merged(weigh)
    return {
      ...bounds(documents),
      push: (document) => all.add(read(document)),
      shift: () => true,
      result: () => {
        charge(4 * all.size)
        return all.document()
      }
    }
  }
}
