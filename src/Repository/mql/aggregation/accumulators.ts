/**
 * The accumulators of `$group` and `$bucketAuto`. Each consumes its documents one at a time and retains only what its
 * result needs.
 */
import * as Result from "effect/Result"
import { type Collator, type Order, orderOf } from "../../bson/collator.ts"
import { type BsonNumber, plainNumber } from "../../bson/number.ts"
import { compareKeys, type KeyValues, sortKeyOf } from "../../bson/path.ts"
import { isDocument } from "../../bson/value.ts"
import { ValueSet } from "../../bson/valueSet.ts"
import type { Document } from "../../DocumentStore.ts"
import { inOrder } from "../expression/arrayOperators.ts"
import { type Expression, type ExpressionContext, isNothing, namesOf } from "../expression/expression.ts"
import { parseExpression } from "../expression/parseExpression.ts"
import {
  checkMethod,
  Deviation,
  isExtreme,
  partsOfPercentile,
  percentiles,
  Total
} from "../expression/summaryOperators.ts"
import { charge } from "../limits/costBudget.ts"
import { catchRejection, type Problem, reject, rejected, unsupported } from "../limits/queryProblem.ts"
import { memoryOf, sizeOfValue } from "../limits/sizeLimits.ts"
import { parseSort } from "../projection/sortSpec.ts"

/** A group of documents. */
interface GroupOf {
  readonly key: unknown
  /** Adjusts the memory of the group by this many bytes. May throw. */
  readonly weigh: (bytes: number) => void
}

// The state of an accumulator for one group. Both members may throw.
interface State {
  readonly add: (document: Document) => void
  readonly result: () => unknown
}

type Accumulator = (group: GroupOf) => State

/**
 * The accumulators of a stage with their output fields.
 *
 * @internal
 */
export type Accumulations = ReadonlyArray<readonly [field: string, accumulator: Accumulator]>

/**
 * Parses the accumulator fields of a stage.
 *
 * @internal
 */
export const parseAccumulations = (
  stage: string,
  fields: Document,
  context: ExpressionContext
): Result.Result<Accumulations, Problem> =>
  Result.all(
    Object.entries(fields).map(([field, accumulation]): Result.Result<Accumulations[number], Problem> => {
      const [name = "", ...others] = isDocument(accumulation) ? Object.keys(accumulation) : []
      if (field.includes(".") || field.startsWith("$")) {
        return Result.fail(rejected(`${stage} can't make the field "${field}"`))
      }
      if (name === "$accumulator") return Result.fail(unsupported(name))
      const make = accumulators.get(name)
      if (!isDocument(accumulation) || others.length > 0 || make === undefined) {
        return Result.fail(rejected(`"${field}" of ${stage} needs exactly one accumulator`))
      }
      return Result.map(make(accumulation[name], context), (accumulator) => [field, accumulator])
    })
  )

// internal

type Make = (operand: unknown, context: ExpressionContext) => Result.Result<Accumulator, Problem>

interface ValueState {
  readonly add: (value: unknown) => void
  readonly result: () => unknown
}

/** An accumulator over one value of each document. */
const ofValues = (start: (group: GroupOf, collator: Collator | undefined) => ValueState): Make => (operand, context) =>
  Result.map(parseExpression(operand, context), (read) => (group) => {
    const { add, result } = start(group, context.collator)
    return { add: (document) => add(read(document)), result }
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

const summed = <A extends { readonly add: (value: unknown) => void }>(
  start: () => A,
  result: (summary: A) => unknown
): Make =>
  ofValues(() => {
    const summary = start()
    return { add: (value) => summary.add(value), result: () => result(summary) }
  })

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

const $addToSet = ofValues(({ weigh }, collator) => {
  const known = new ValueSet([], collator)
  const values: Array<unknown> = []
  return {
    add: (value) => {
      if (value === undefined) return
      charge(sizeOfValue(value))
      if (!known.add(value)) return
      // The set holds the value a second time, as a key.
      weigh(4 * slot + 2 * memoryOf(value))
      values.push(value)
    },
    result: () => values
  }
})

const $mergeObjects = ofValues(({ weigh }) => {
  const merged = new Map<string, unknown>()
  return {
    add: (value) => {
      if (isNothing(value)) return
      if (!isDocument(value)) return reject("$mergeObjects needs documents")
      for (const [key, field] of Object.entries(value)) {
        if (field === undefined) continue
        weigh(memoryOf(field) - (merged.has(key) ? memoryOf(merged.get(key)) : -4 * slot - key.length))
        merged.set(key, field)
      }
    },
    result: () => Object.fromEntries(merged)
  }
})

interface Candidate {
  readonly order: KeyValues
  readonly value: unknown
}

/** How an accumulator chooses some of a group's values. */
interface Choice {
  /** Whether the first values are chosen, so that later ones need not be retained. */
  readonly isFirst?: boolean
  readonly candidate: (document: Document) => Candidate | undefined
  /** The chosen `n` candidates in the order of the result. */
  readonly best: (candidates: ReadonlyArray<Candidate>, n: number) => ReadonlyArray<Candidate>
}

// Surplus candidates are collected and dropped in bulk, which amortises the cost of choosing.
const maxWaiting = 1024

const chosen = (
  { best, candidate, isFirst = false }: Choice,
  count: Expression,
  result: (values: ReadonlyArray<unknown>) => unknown
): Accumulator =>
({ key, weigh }) => {
  const n = plainNumber(count(key))
  let kept: Array<Candidate> = []
  const cut = (n: number) => {
    kept = [...best(kept, n)]
  }
  return {
    add: (document) => {
      if (typeof n !== "number" || !Number.isInteger(n) || n < 1) return reject("a whole number from 1 is needed as n")
      if (isFirst && kept.length === n) return
      const found = candidate(document)
      if (found === undefined) return
      weigh(3 * slot + memoryOf(found.order) + memoryOf(found.value))
      kept.push(found)
      if (kept.length < 2 * n + maxWaiting) return
      const before = kept
      cut(n)
      const left = new Set(kept)
      for (const item of before) {
        if (!left.has(item)) weigh(-3 * slot - memoryOf(item.order) - memoryOf(item.value))
      }
    },
    result: () => {
      cut(Number(n))
      return result(kept.map(({ value }) => value))
    }
  }
}

const all = (values: ReadonlyArray<unknown>): unknown => values

const someValues = (choice: (input: Expression, order: Order) => Choice): Make => (operand, context) =>
  isDocument(operand) && Object.hasOwn(operand, "input") && Object.hasOwn(operand, "n")
    ? Result.map(
      Result.all([parseExpression(operand["input"], context), parseExpression(operand["n"], context)]),
      ([input, n]) => chosen(choice(input, orderOf(context.collator)), n, all)
    )
    : Result.fail(rejected("an input and n are needed"))

const placed = (isFirst: boolean): Make =>
  someValues((input) => ({
    isFirst,
    candidate: (document) => ({ order: [], value: input(document) ?? null }),
    best: (candidates, n) => isFirst ? candidates.slice(0, n) : candidates.slice(-n)
  }))

const largest = (sign: 1 | -1): Make =>
  someValues((input, order) => ({
    candidate: (document) => {
      const value = input(document)
      return isNothing(value) ? undefined : { order: [value], value }
    },
    best: (candidates, n) => {
      const values = inOrder(candidates.map(({ value }) => value), sign === 1 ? -1 : 1, order)
      return values.slice(0, n).map((value) => ({ order: [value], value }))
    }
  }))

const sortedBy = (isTop: boolean, isSingle: boolean): Make => (operand, context) => {
  const required = isSingle ? ["output", "sortBy"] : ["output", "sortBy", "n"]
  const parsed = Result.flatMap(
    catchRejection(() => namesOf(operand, `${isTop ? "$top" : "$bottom"}${isSingle ? "" : "N"}`, required)),
    ({ n = 1, output, sortBy }) =>
      Result.all([
        parseSort(sortBy, context.collator),
        parseExpression(output, context),
        parseExpression(n, context)
      ])
  )
  return Result.map(parsed, ([directions, compute, count]) =>
    chosen(
      {
        candidate: (document) => ({
          order: Result.getOrElse(sortKeyOf(document, directions), reject),
          value: compute(document) ?? null
        }),
        best: (candidates, n) => {
          charge(candidates.length * Math.log2(candidates.length + 1))
          const sorted = candidates.toSorted((a, b) => compareKeys(a.order, b.order, directions))
          return isTop ? sorted.slice(0, n) : sorted.slice(-n)
        }
      },
      count,
      isSingle ? ([value]) => value : all
    ))
}

const quantiles =
  (result: (quantiles: ReadonlyArray<BsonNumber | null>) => unknown, parts?: ReadonlyArray<number>): Make =>
  (operand, context) =>
    Result.flatMap(
      catchRejection(() => {
        const { input, method, p } = namesOf(
          operand,
          "a percentile",
          ["input", "method"],
          parts === undefined ? ["p"] : []
        )
        checkMethod(method)
        return { input, wanted: parts ?? partsOfPercentile(p) }
      }),
      ({ input, wanted }) => ofAll((values) => result(percentiles(values, wanted)))(input, context)
    )

const accumulators = new Map<string, Make>([
  ["$sum", summed(() => new Total(), (total) => total.sum())],
  ["$avg", summed(() => new Total(), (total) => total.mean())],
  ["$count", (_, context) => summed(() => new Total(), (total) => total.sum())(1, context)],
  ["$min", ofOne((order) => isExtreme(-1, order))],
  ["$max", ofOne((order) => isExtreme(1, order))],
  ["$first", ofOne(() => () => false)],
  ["$last", ofOne(() => () => true)],
  ["$push", ofAll((values) => values)],
  ["$addToSet", $addToSet],
  ["$mergeObjects", $mergeObjects],
  ["$stdDevPop", summed(() => new Deviation(), (deviation) => deviation.ofPopulation())],
  ["$stdDevSamp", summed(() => new Deviation(), (deviation) => deviation.ofSample())],
  ["$median", quantiles(([median]) => median, [0.5])],
  ["$percentile", quantiles((all) => all)],
  ["$firstN", placed(true)],
  ["$lastN", placed(false)],
  ["$maxN", largest(1)],
  ["$minN", largest(-1)],
  ["$top", sortedBy(true, true)],
  ["$topN", sortedBy(true, false)],
  ["$bottom", sortedBy(false, true)],
  ["$bottomN", sortedBy(false, false)]
])
