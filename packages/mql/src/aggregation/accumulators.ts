/**
 * The accumulators of `$group` and `$bucketAuto`. Each consumes its documents one at a time and retains only what its
 * result needs.
 */
import type { Document } from "@appkernel/document-store/StoreTypes"
import * as Result from "effect/Result"
import { type Collator, type Order, orderOf } from "../bson/collator.ts"
import { type BsonNumber, plainNumber } from "../bson/number.ts"
import { compareKeys, type KeyValues, sortKeyOf } from "../bson/path.ts"
import { isArray, isDocument } from "../bson/value.ts"
import { ValueSet } from "../bson/valueSet.ts"
import { Merged } from "../expression/documentOperators.ts"
import { type Expression, type ExpressionContext, isNothing, listOperand, namesOf } from "../expression/expression.ts"
import { parseExpression } from "../expression/parseExpression.ts"
import { BestValues } from "../expression/sortedValues.ts"
import {
  checkMethod,
  isExtreme,
  numberSummaries,
  partsOfPercentile,
  percentiles,
  type Summary
} from "../expression/summaryOperators.ts"
import { charge } from "../limits/costBudget.ts"
import { orReject, reject, rejectWith, unsupported } from "../limits/queryProblem.ts"
import { memoryOf, sizeOfValue } from "../limits/sizeLimits.ts"
import { parseSort } from "../projection/sortSpec.ts"
import { Fifo } from "../window/fifo.ts"

/** A group of documents. */
interface GroupOf {
  readonly key: unknown
  /** Adjusts the memory of the group by this many bytes. May throw. */
  readonly weigh: (bytes: number) => void
}

/** What an accumulator has made of the values of one group. Both members may throw. */
export interface AccumulatorState<V = unknown> {
  add(value: V): void
  result(): unknown
}

interface Accumulator<V = unknown> {
  /** The value of a document. May throw. */
  readonly read: (document: Document) => V
  readonly start: (group: GroupOf) => AccumulatorState<V>
}

/** The accumulators of a stage with their output fields. */
export type Accumulations = ReadonlyArray<readonly [field: string, accumulator: Accumulator]>

/** Parses the accumulator fields of a stage. */
export const parseAccumulations = (
  stage: string,
  fields: Document,
  context: ExpressionContext
): Accumulations =>
  Object.entries(fields).map(([field, accumulation]) => {
    const [name = "", ...others] = isDocument(accumulation) ? Object.keys(accumulation) : []
    if (field.includes(".") || field.startsWith("$")) return reject(`${stage} can't make the field "${field}"`)
    if (name === "$accumulator") return rejectWith(unsupported(name))
    const make = accumulators.get(name)
    if (!isDocument(accumulation) || others.length > 0 || make === undefined) {
      return reject(`"${field}" of ${stage} needs exactly one accumulator`)
    }
    const operand = accumulation[name]
    return isArray(operand) ? reject(`${name} of ${stage} takes no array of operands`) : [field, make(operand, context)]
  })

// internal

type Make = (operand: unknown, context: ExpressionContext) => Accumulator

/** An accumulator over the values of an expression. */
const ofValues =
  (start: (group: GroupOf, collator: Collator | undefined) => AccumulatorState): Make => (operand, context) => ({
    read: parseExpression(operand, context),
    start: (group) => start(group, context.collator)
  })

/** Retains at most one value. */
const ofOne = (better: (order: Order) => (value: unknown, kept: unknown) => boolean): Make =>
  ofValues(({ weigh }, collator) => {
    const isBetter = better(orderOf(collator))
    let kept: unknown
    let isKept = false
    return {
      add: (value) => {
        if (isKept && !isBetter(value, kept)) return
        weigh(memoryOf(value) - memoryOf(kept))
        kept = value
        isKept = true
      },
      result: () => kept ?? null
    }
  })

const summed = <A extends Summary<A>>(start: () => A, result: (summary: A) => unknown): Make =>
  ofValues(() => new Summarised(start(), result))

// A class, since a state per group with functions of its own takes several times the memory.
class Summarised<A extends Summary<A>> implements AccumulatorState {
  readonly #summary: A
  readonly #result: (summary: A) => unknown

  constructor(summary: A, result: (summary: A) => unknown) {
    this.#summary = summary
    this.#result = result
  }

  add(value: unknown): void {
    this.#summary.add(value)
  }

  result(): unknown {
    return this.#result(this.#summary)
  }
}

/** Retains every value that is not missing. */
const ofAll = (result: (values: Array<unknown>) => unknown): Make =>
  ofValues(({ weigh }) => {
    const values: Array<unknown> = []
    return {
      add: (value) => {
        if (value === undefined) return
        weigh(slot + memoryOf(value))
        values.push(value)
      },
      result: () => result(values)
    }
  })

// The bytes of an array slot.
const slot = 16

const unions = (itemsOf: (value: unknown) => ReadonlyArray<unknown>): Make =>
  ofValues(({ weigh }, collator) => {
    const known = new ValueSet([], collator)
    const values: Array<unknown> = []
    return {
      add: (value) => {
        if (value === undefined) return
        for (const item of itemsOf(value)) {
          charge(sizeOfValue(item))
          if (!known.add(item)) continue
          // The set holds the value a second time, as a key.
          weigh(4 * slot + 2 * memoryOf(item))
          values.push(item)
        }
      },
      result: () => values
    }
  })

const $concatArrays = ofValues(({ weigh }) => {
  const values: Array<unknown> = []
  return {
    add: (value) => {
      if (value === undefined) return
      const items = listOperand("$concatArrays", value)
      weigh(slot * items.length + memoryOf(value))
      for (const item of items) values.push(item)
    },
    result: () => values
  }
})

const $mergeObjects = ofValues(({ weigh }) => {
  const merged = new Merged(weigh)
  return { add: (value) => merged.add(value), result: () => merged.document() }
})

interface Candidate {
  readonly order: KeyValues
  readonly value: unknown
}

/** What retains `n` candidates of a group. */
interface Retained {
  /** Adds a candidate. Returns the one that is dropped, maybe itself. */
  readonly add: (candidate: Candidate) => Candidate | undefined
  /** The retained candidates, in the order of the result. */
  readonly toArray: () => ReadonlyArray<Candidate>
}

const bytesOf = ({ order, value }: Candidate): number => 3 * slot + memoryOf(order) + memoryOf(value)

const chosen = (
  candidate: (document: Document) => Candidate | undefined,
  count: Expression,
  retain: (n: number) => Retained,
  result: (values: ReadonlyArray<unknown>) => unknown
): Accumulator<Candidate | undefined> => ({
  read: candidate,
  start: ({ key, weigh }) => {
    const n = plainNumber(count(key))
    const retained = typeof n === "number" && Number.isInteger(n) && n >= 1 ? retain(n) : undefined
    return {
      add: (found) => {
        if (retained === undefined) return reject("a whole number from 1 is needed as n")
        const dropped = found === undefined ? undefined : retained.add(found)
        if (found === undefined || dropped === found) return
        weigh(bytesOf(found) - (dropped === undefined ? 0 : bytesOf(dropped)))
      },
      result: () => result((retained?.toArray() ?? []).map(({ value }) => value))
    }
  }
})

const all = (values: ReadonlyArray<unknown>): unknown => values

const someValues =
  (make: (input: Expression, n: Expression, order: Order) => Accumulator<Candidate | undefined>): Make =>
  (operand, context) => {
    const { input, n } = { ...namesOf(operand, "an accumulator of n values", ["input", "n"]) }
    return make(parseExpression(input, context), parseExpression(n, context), orderOf(context.collator))
  }

const placed = (retain: (n: number) => Retained): Make =>
  someValues((input, n) => chosen((document) => ({ order: [], value: input(document) ?? null }), n, retain, all))

const firstOnes = (n: number): Retained => {
  const items: Array<Candidate> = []
  return { add: (item) => items.length < n ? void items.push(item) : item, toArray: () => items }
}

const lastOnes = (n: number): Retained => {
  const items = new Fifo<Candidate>()
  return {
    add: (item) => {
      items.push(item)
      return items.length > n ? items.shift() : undefined
    },
    toArray: () => items.toArray()
  }
}

const extremes = (
  best: "first" | "last",
  result: (values: ReadonlyArray<unknown>) => unknown
): Make =>
  someValues((input, n, { compare }) =>
    chosen(
      (document) => {
        const value = input(document)
        return isNothing(value) ? undefined : { order: [], value }
      },
      n,
      (n) => new BestValues<Candidate>((a, b) => compare(a.value, b.value), n, best),
      result
    )
  )

const sortedBy = (best: "first" | "last", isSingle: boolean): Make => (operand, context) => {
  const required = isSingle ? ["output", "sortBy"] : ["output", "sortBy", "n"]
  const name = `${best === "first" ? "$top" : "$bottom"}${isSingle ? "" : "N"}`
  const { n = 1, output, sortBy } = namesOf(operand, name, required)
  const directions = orReject(parseSort(sortBy, context.collator))
  const [compute, count] = [parseExpression(output, context), parseExpression(n, context)]
  return chosen(
    (document) => ({
      order: Result.getOrElse(sortKeyOf(document, directions), reject),
      value: compute(document) ?? null
    }),
    count,
    (n) => new BestValues<Candidate>((a, b) => compareKeys(a.order, b.order, directions), n, best),
    isSingle ? ([value]) => value : all
  )
}

const quantiles =
  (result: (quantiles: ReadonlyArray<BsonNumber | null>) => unknown, parts?: ReadonlyArray<number>): Make =>
  (operand, context) => {
    const { input, method, p } = namesOf(operand, "a percentile", ["input", "method"], parts === undefined ? ["p"] : [])
    checkMethod(method)
    const wanted = parts ?? partsOfPercentile(p)
    return ofAll((values) => result(percentiles(values, wanted)))(input, context)
  }

const summaries = numberSummaries(summed)

export const accumulators = new Map<string, Make>([
  ...Object.entries(summaries),
  ["$count", (operand, context) =>
    isDocument(operand) && Object.keys(operand).length === 0
      ? summaries.$sum(1, context)
      : reject("$count takes an empty document")],
  ["$min", ofOne((order) => isExtreme(-1, order))],
  ["$max", ofOne((order) => isExtreme(1, order))],
  ["$first", ofOne(() => () => false)],
  ["$last", ofOne(() => () => true)],
  ["$push", ofAll((values) => values)],
  ["$addToSet", unions((value) => [value])],
  ["$setUnion", unions((value) => listOperand("$setUnion", value))],
  ["$concatArrays", $concatArrays],
  ["$mergeObjects", $mergeObjects],
  ["$median", quantiles(([median]) => median, [0.5])],
  ["$percentile", quantiles((all) => all)],
  ["$firstN", placed(firstOnes)],
  ["$lastN", placed(lastOnes)],
  ["$maxN", extremes("last", (values) => values.toReversed())],
  ["$minN", extremes("first", all)],
  ["$top", sortedBy("first", true)],
  ["$topN", sortedBy("first", false)],
  ["$bottom", sortedBy("last", true)],
  ["$bottomN", sortedBy("last", false)]
])
