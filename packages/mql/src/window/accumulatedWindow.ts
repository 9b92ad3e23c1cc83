/** The accumulators of windows: those of `$group`, over the documents in a window. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import * as Result from "effect/Result"
import { type Collator, orderOf } from "../bson/collator.ts"
import { type BsonNumber, doubleOf, toDouble } from "../bson/number.ts"
import { compareKeys, sortKeyOf } from "../bson/path.ts"
import { isDocument, isNumber } from "../bson/value.ts"
import { type Expression, isNothing, namesOf, wholeOf } from "../expression/expression.ts"
import { BestValues, SortedValues } from "../expression/sortedValues.ts"
import {
  checkMethod,
  isExtreme,
  numberSummaries,
  partsOfPercentile,
  percentilePlace,
  type Summary
} from "../expression/summaryOperators.ts"
import { charge } from "../limits/costBudget.ts"
import { reject, rejectWith } from "../limits/queryProblem.ts"
import { memoryOf } from "../limits/sizeLimits.ts"
import { parseSort } from "../projection/sortSpec.ts"
import { isLeft, parseBounds } from "./bounds.ts"
import { Fifo } from "./fifo.ts"
import { summarised } from "./slidingSummary.ts"
import { type Bounds, type WindowContext, type WindowFunction, withoutState } from "./window.ts"

/** Parses the operand of an accumulator and its `window`. May throw. */
export type WindowParser = (operand: unknown, window: unknown, context: WindowContext) => WindowFunction

/** An accumulator of values, as a summary. */
export const summarising =
  <A extends Summary<A>>(start: () => A, result: (summary: A) => unknown): WindowParser => (operand, window, context) =>
    summarised(parseBounds(window, context), context.parse(operand), start, result)

// internal

class Extreme implements Summary<Extreme> {
  value: unknown = null
  readonly #isBetter: ReturnType<typeof isExtreme>

  constructor(isBetter: ReturnType<typeof isExtreme>) {
    this.#isBetter = isBetter
  }

  add(value: unknown): void {
    if (this.#isBetter(value, this.value)) this.value = value
  }

  with(later: Extreme): Extreme {
    const both = new Extreme(this.#isBetter)
    both.add(this.value)
    both.add(later.value)
    return both
  }
}

const extreme = (sign: 1 | -1): WindowParser => (operand, window, context) => {
  const isBetter = isExtreme(sign, orderOf(context.collator), sign === 1 && isLeft(window))
  return summarising(() => new Extreme(isBetter), ({ value }) => value)(operand, window, context)
}

/** A function that reads the documents in the window when it is asked. */
const ofPlaces = (
  result: (documents: ReadonlyArray<Document>, from: number, to: number) => unknown,
  window: unknown,
  context: WindowContext
): WindowFunction => {
  const bounds = parseBounds(window, context)
  return ({ documents }) => ({
    ...bounds(documents),
    ...withoutState((_, from, to) => result(documents, from, to))
  })
}

/** The operand of an accumulator of `n` values. */
const someOf = (
  operand: unknown,
  name: string,
  { constant, parse }: WindowContext
): { readonly n: number; readonly read: Expression } => {
  const { input, n } = namesOf(operand, name, ["input", "n"])
  return { n: countOf(constant(n)), read: parse(input) }
}

const countOf = (n: unknown): number => {
  const count = wholeOf("n", n)
  return count >= 1 ? count : reject("a whole number from 1 is needed as n")
}

const valuesIn = (
  documents: ReadonlyArray<Document>,
  read: Expression,
  from: number,
  to: number
): ReadonlyArray<unknown> => documents.slice(from, to).map((document) => read(document) ?? null)

// The bytes of an array slot.
const slot = 16

/** A value with what it is sorted by. */
interface Sortable {
  readonly order: ReadonlyArray<unknown>
  readonly value: unknown
}

const valuesOf = (sortables: ReadonlyArray<Sortable>): ReadonlyArray<unknown> => {
  charge(sortables.length)
  return sortables.map(({ value }) => value)
}

const firstOf = ([first]: ReadonlyArray<Sortable>): unknown => first?.value ?? null

type CompareSortables = (a: Sortable, b: Sortable) => number

const byValue = (collator: Collator | undefined): CompareSortables => {
  const { compare } = orderOf(collator)
  return (a, b) => compare(a.value, b.value)
}

/** Values that are there, sorted by themselves. */
const present = (read: Expression) => (document: Document): Sortable | undefined => {
  const value = read(document)
  return isNothing(value) ? undefined : { order: [], value }
}

/** The value of a document that is sorted, unless it has none. May throw. */
type Sorting = (document: Document) => Sortable | undefined

const bytesOf = ({ order, value }: Sortable): number => 6 * slot + memoryOf(order) + memoryOf(value)

const sortedBy = (
  bounds: Bounds,
  sortable: Sorting,
  compare: CompareSortables,
  result: (values: SortedValues<Sortable>) => unknown
): WindowFunction =>
({ documents, weigh }) => {
  const inWindow = new Fifo<Sortable | undefined>()
  const values = new SortedValues(compare)
  return {
    ...bounds(documents),
    push: (document) => {
      const item = sortable(document)
      inWindow.push(item)
      if (item === undefined) return
      weigh(bytesOf(item))
      charge(sortCost)
      values.add(item)
    },
    shift: () => {
      const item = inWindow.shift()
      if (item === undefined) return true
      weigh(-bytesOf(item))
      charge(sortCost)
      values.remove(item)
      return true
    },
    result: () => result(values)
  }
}

// What it takes to find a value's place among others.
const sortCost = 400

/** The first or the last values of a window that no document leaves: no others are retained. */
const retained = (
  bounds: Bounds,
  sortable: Sorting,
  start: () => BestValues<Sortable>,
  result: (values: ReadonlyArray<Sortable>) => unknown
): WindowFunction =>
({ documents, weigh }) => {
  const best = start()
  return {
    ...bounds(documents),
    push: (document) => {
      const item = sortable(document)
      const dropped = item === undefined ? undefined : best.add(item)
      if (item === undefined || dropped === item) return
      weigh(bytesOf(item) - (dropped === undefined ? 0 : bytesOf(dropped)))
    },
    shift: () => true,
    result: () => result(best.toArray())
  }
}

/** Which values of a window a function is of. */
interface Chosen {
  readonly sortable: Sorting
  readonly compare: CompareSortables
  readonly n: number
  readonly best: "first" | "last"
}

const chosen = (
  { best, compare, n, sortable }: Chosen,
  result: (values: ReadonlyArray<Sortable>) => unknown,
  window: unknown,
  context: WindowContext
): WindowFunction => {
  const bounds = parseBounds(window, context)
  return isLeft(window)
    ? sortedBy(bounds, sortable, compare, (values) => result(best === "first" ? values.first(n) : values.last(n)))
    : retained(bounds, sortable, () => new BestValues(compare, n, best), result)
}

const extremes = (
  name: string,
  best: "first" | "last",
  result: (values: ReadonlyArray<Sortable>) => unknown
): WindowParser =>
(operand, window, context) => {
  const { n, read } = someOf(operand, name, context)
  return chosen({ sortable: present(read), compare: byValue(context.collator), n, best }, result, window, context)
}

const placed = (
  name: string,
  best: "first" | "last",
  result: (values: ReadonlyArray<Sortable>) => unknown
): WindowParser =>
(operand, window, context) => {
  const hasN = name.endsWith("N")
  const { n: given, output, sortBy } = {
    ...namesOf(operand, name, hasN ? ["output", "sortBy", "n"] : ["output", "sortBy"])
  }
  const n = hasN ? countOf(context.constant(given)) : 1
  const directions = Result.getOrElse(parseSort(sortBy, context.collator), rejectWith)
  const read = context.parse(output)
  const sortable = (document: Document): Sortable => ({
    order: Result.getOrElse(sortKeyOf(document, directions), reject),
    value: read(document) ?? null
  })
  const compare: CompareSortables = (a, b) => compareKeys(a.order, b.order, directions)
  return chosen({ sortable, compare, n, best }, result, window, context)
}

const sortedNumbers = (
  window: unknown,
  context: WindowContext,
  read: Expression,
  result: (numberAt: (part: number) => BsonNumber | null) => unknown
): WindowFunction =>
  sortedBy(
    parseBounds(window, context),
    (document) => {
      const value = read(document)
      const double = isNumber(value) ? toDouble(value) : NaN
      return Number.isNaN(double) ? undefined : { order: [], value: double }
    },
    byValue(undefined),
    (values) =>
      result((part) => {
        const found = values.at(percentilePlace(part, values.length))?.value
        return typeof found === "number" ? doubleOf(found) : null
      })
  )

export const windowAccumulators: ReadonlyMap<string, WindowParser> = new Map<string, WindowParser>([
  ...Object.entries(numberSummaries(summarising)),
  ["$count", (operand, window, context) =>
    isDocument(operand) && Object.keys(operand).length === 0
      ? ofPlaces((_, from, to) => to - from, window, context)
      : reject("$count of a window takes an empty document")],
  ["$min", extreme(-1)],
  ["$max", extreme(1)],
  ["$first", (operand, window, context) => {
    const read = context.parse(operand)
    return ofPlaces((documents, from, to) => from < to ? read(documents[from]) : null, window, context)
  }],
  ["$last", (operand, window, context) => {
    const read = context.parse(operand)
    return ofPlaces((documents, from, to) => from < to ? read(documents[to - 1]) : null, window, context)
  }],
  ["$firstN", (operand, window, context) => {
    const { n, read } = someOf(operand, "$firstN", context)
    return ofPlaces((documents, from, to) => valuesIn(documents, read, from, Math.min(to, from + n)), window, context)
  }],
  ["$lastN", (operand, window, context) => {
    const { n, read } = someOf(operand, "$lastN", context)
    return ofPlaces((documents, from, to) => valuesIn(documents, read, Math.max(from, to - n), to), window, context)
  }],
  ["$minN", extremes("$minN", "first", valuesOf)],
  ["$maxN", extremes("$maxN", "last", (values) => valuesOf(values).toReversed())],
  ["$top", placed("$top", "first", firstOf)],
  ["$bottom", placed("$bottom", "last", firstOf)],
  ["$topN", placed("$topN", "first", valuesOf)],
  ["$bottomN", placed("$bottomN", "last", valuesOf)],
  ["$median", (operand, window, context) => {
    const { input, method } = namesOf(operand, "$median", ["input", "method"])
    checkMethod(method)
    return sortedNumbers(window, context, context.parse(input), (numberAt) => numberAt(0.5))
  }],
  ["$percentile", (operand, window, context) => {
    const { input, method, p } = namesOf(operand, "$percentile", ["input", "method", "p"])
    checkMethod(method)
    const parts = partsOfPercentile(context.constant(p))
    return sortedNumbers(window, context, context.parse(input), (numberAt) => parts.map(numberAt))
  }]
])
