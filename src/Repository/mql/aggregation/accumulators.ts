/**
 * The accumulators of `$group` and `$bucketAuto`. Each consumes its documents one at a time and retains only what its
 * result needs.
 */
import * as Result from "effect/Result"
import { compareKeys, type KeyValues, sortKeyOf } from "../../bson/path.ts"
import { compare, fieldOf, isDocument } from "../../bson/value.ts"
import { ValueSet } from "../../bson/valueSet.ts"
import type { Document } from "../../DocumentStore.ts"
import { inOrder, percentiles } from "../expression/arrayOperators.ts"
import { prepareExpression } from "../expression/fieldReferences.ts"
import { evaluate, type EvaluationOptions, isNothing, mingoAccumulators } from "../expression/operatorContext.ts"
import { expressionProblem, isAccumulator, isExpression } from "../expression/operators.ts"
import { charge } from "../limits/costBudget.ts"
import { type Problem, reject, rejected, unsupported } from "../limits/queryProblem.ts"
import { memoryOf, sizeOfValue } from "../limits/sizeLimits.ts"
import { parseSort } from "../projection/sortSpec.ts"

/** A group of documents. */
interface GroupOf {
  readonly key: unknown
  readonly options: EvaluationOptions
  /** Adjusts the memory of the group by this many bytes. May throw. */
  readonly weigh: (bytes: number) => void
}

// The state of an accumulator for one group. Both members may throw, as mingo does.
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
 * Parses the accumulator fields of a stage. `now` is the value of `$$NOW` in milliseconds.
 *
 * @internal
 */
export const parseAccumulations = (
  stage: string,
  fields: Document,
  now: number
): Result.Result<Accumulations, Problem> =>
  Result.all(
    Object.entries(fields).map(([field, accumulation]): Result.Result<Accumulations[number], Problem> => {
      const [name = "", ...others] = isDocument(accumulation) ? Object.keys(accumulation) : []
      if (field.includes(".") || field.startsWith("$")) {
        return Result.fail(rejected(`${stage} can't make the field "${field}"`))
      }
      if (name === "$accumulator") return Result.fail(unsupported(name))
      const make = accumulators.get(name)
      if (!isDocument(accumulation) || others.length > 0 || make === undefined || !isAccumulator(name)) {
        return Result.fail(rejected(`"${field}" of ${stage} needs exactly one accumulator`))
      }
      const problem = expressionProblem(accumulation[name], isExpression)
      if (problem !== undefined) return Result.fail(problem)
      return Result.map(make(prepareExpression(accumulation[name], now)), (accumulator) => [field, accumulator])
    })
  )

/**
 * Compiles an expression, with fast paths for numbers and top-level fields. May throw, as mingo does.
 *
 * @internal
 */
export const valueOf = (operand: unknown): (document: Document, options: EvaluationOptions) => unknown => {
  if (typeof operand === "number") return () => operand
  const field = typeof operand === "string" ? /^\$([^$.]+)$/.exec(operand)?.[1] : undefined
  return field === undefined
    ? (document, options) => evaluate(document, operand, options)
    : (document) => fieldOf(document, field)
}

// internal

type Make = (operand: unknown) => Result.Result<Accumulator, Problem>

/** An accumulator over one value of each document. */
const ofValues =
  (start: (group: GroupOf) => { readonly add: (value: unknown) => void; readonly result: () => unknown }): Make =>
  (operand) => {
    const read = valueOf(operand)
    return Result.succeed((group) => {
      const { add, result } = start(group)
      return { add: (document) => add(read(document, group.options)), result }
    })
  }

/** Retains at most one value. */
const ofOne = (isBetter: (value: unknown, kept: unknown) => boolean): Make =>
  ofValues(({ weigh }) => {
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

const isExtreme = (sign: 1 | -1) => (value: unknown, kept: unknown): boolean =>
  !isNothing(value) && (isNothing(kept) || compare(value, kept) * sign > 0)

// Like mingo, ignores all values but numbers.
const isPlainNumber = (value: unknown): value is number => typeof value === "number" && !Number.isNaN(value)

const ofNumbers = (result: (sum: number, count: number) => unknown): Make =>
  ofValues(() => {
    let [sum, count] = [0, 0]
    return {
      add: (value) => {
        if (!isPlainNumber(value)) return
        sum += value
        count += 1
      },
      result: () => result(sum, count)
    }
  })

/** Retains every value. */
const ofAll = (result: (values: Array<unknown>, options: EvaluationOptions) => unknown): Make =>
  ofValues(({ options, weigh }) => {
    const values: Array<unknown> = []
    return {
      add: (value) => {
        weigh(slot + memoryOf(value))
        values.push(value ?? null)
      },
      result: () => result(values, options)
    }
  })

// The bytes of an array slot.
const slot = 16

const $addToSet = ofValues(({ weigh }) => {
  const known = new ValueSet()
  const values: Array<unknown> = []
  return {
    add: (value) => {
      charge(sizeOfValue(value))
      if (!known.add(value ?? null)) return
      // The set holds the value a second time, as a key.
      weigh(4 * slot + 2 * memoryOf(value))
      values.push(value ?? null)
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
  readonly candidate: (document: Document, options: EvaluationOptions) => Candidate | undefined
  /** The chosen `n` candidates in the order of the result. */
  readonly best: (candidates: ReadonlyArray<Candidate>, n: number) => ReadonlyArray<Candidate>
}

// Surplus candidates are collected and dropped in bulk, which amortises the cost of choosing.
const maxWaiting = 1024

const chosen = (
  { best, candidate, isFirst = false }: Choice,
  count: unknown,
  result: (values: ReadonlyArray<unknown>) => unknown
): Accumulator =>
({ key, options, weigh }) => {
  const n = evaluate(key, count, options)
  let kept: Array<Candidate> = []
  const cut = (n: number) => {
    kept = [...best(kept, n)]
  }
  return {
    add: (document) => {
      if (typeof n !== "number" || !Number.isInteger(n) || n < 1) return reject("a whole number from 1 is needed as n")
      if (isFirst && kept.length === n) return
      const found = candidate(document, options)
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

const someValues = (choice: (input: unknown) => Choice): Make => (operand) =>
  isDocument(operand) && Object.hasOwn(operand, "input") && Object.hasOwn(operand, "n")
    ? Result.succeed(chosen(choice(operand["input"]), operand["n"], all))
    : Result.fail(rejected("an input and n are needed"))

const placed = (isFirst: boolean): Make =>
  someValues((input) => ({
    isFirst,
    candidate: (document, options) => ({ order: [], value: evaluate(document, input, options) ?? null }),
    best: (candidates, n) => isFirst ? candidates.slice(0, n) : candidates.slice(-n)
  }))

const largest = (sign: 1 | -1): Make =>
  someValues((input) => ({
    candidate: (document, options) => {
      const value = evaluate(document, input, options)
      return isNothing(value) ? undefined : { order: [value], value }
    },
    best: (candidates, n) => {
      const values = inOrder(candidates.map(({ value }) => value), sign === 1 ? -1 : 1)
      return values.slice(0, n).map((value) => ({ order: [value], value }))
    }
  }))

const sortedBy = (isTop: boolean, isSingle: boolean): Make => (operand) => {
  const { n = 1, output, sortBy } = isDocument(operand) ? { ...operand } : {}
  return Result.map(parseSort(sortBy), (directions) =>
    chosen(
      {
        candidate: (document, options) => ({
          order: Result.getOrElse(sortKeyOf(document, directions), reject),
          value: evaluate(document, output, options) ?? null
        }),
        best: (candidates, n) => {
          charge(candidates.length * Math.log2(candidates.length + 1))
          const sorted = candidates.toSorted((a, b) => compareKeys(a.order, b.order, directions))
          return isTop ? sorted.slice(0, n) : sorted.slice(-n)
        }
      },
      isSingle ? 1 : n,
      isSingle ? ([value]) => value : all
    ))
}

const quantiles = (result: (values: ReadonlyArray<unknown>, operand: Document) => unknown): Make => (operand) =>
  isDocument(operand)
    ? ofAll((values) => result(values, operand))(operand["input"])
    : Result.fail(rejected("an input is needed"))

const accumulators = new Map<string, Make>([
  ["$sum", ofNumbers((sum) => sum)],
  ["$avg", ofNumbers((sum, count) => count === 0 ? null : sum / count)],
  ["$count", () => ofNumbers((sum) => sum)(1)],
  ["$min", ofOne(isExtreme(-1))],
  ["$max", ofOne(isExtreme(1))],
  ["$first", ofOne(() => false)],
  ["$last", ofOne(() => true)],
  ["$push", ofAll((values) => values)],
  ["$addToSet", $addToSet],
  ["$mergeObjects", $mergeObjects],
  ["$stdDevPop", ofAll((values, options) => mingoAccumulators.$stdDevPop(values, null, options))],
  ["$stdDevSamp", ofAll((values, options) => mingoAccumulators.$stdDevSamp(values, null, options))],
  ["$covariancePop", ofAll((values, options) => mingoAccumulators.$covariancePop(values, null, options))],
  ["$covarianceSamp", ofAll((values, options) => mingoAccumulators.$covarianceSamp(values, null, options))],
  ["$median", quantiles((values) => percentiles(values, [0.5], "approximate")[0])],
  ["$percentile", quantiles((values, { method, p }) => percentiles(values, p, method))],
  ["$firstN", placed(true)],
  ["$lastN", placed(false)],
  ["$maxN", largest(1)],
  ["$minN", largest(-1)],
  ["$top", sortedBy(true, true)],
  ["$topN", sortedBy(true, false)],
  ["$bottom", sortedBy(false, true)],
  ["$bottomN", sortedBy(false, false)]
])
