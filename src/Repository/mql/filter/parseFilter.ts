/**
 * Parses MongoDB's filters: rejects invalid ones before the first document is read, compiles a test, and extracts the
 * constraints that an index can use.
 */
import * as Result from "effect/Result"
import { isOrdinaryKey, normalise } from "../../bson/normalise.ts"
import { isArray, isDocument, Rank, rankOf, setField } from "../../bson/value.ts"
import { DifferentValues } from "../../bson/valueSet.ts"
import type { Document } from "../../DocumentStore.ts"
import type { ExpressionContext } from "../expression/expression.ts"
import { parseExpression } from "../expression/parseExpression.ts"
import { beginEvaluation } from "../limits/costBudget.ts"
import { catchRejection, type Problem, rejected, unsupported } from "../limits/queryProblem.ts"
import { isEqual, isOperatorDocument, isValueCondition, Operand } from "../predicate/comparison.ts"
import { literalPrefix } from "../text/regularExpression.ts"
import { parseTextSearch, type TextField, type TextSearch } from "../text/textSearch.ts"
import { compileFilter, compileItemCondition, everyTest } from "./compileFilter.ts"

/**
 * A condition that every match meets, as an index can use it. `in` is equality with one of the values, no two of which are equal; `least` and `most`
 * are bounds, exclusive if `isStrict`; `begins` is a literal prefix of a text.
 *
 * @internal
 */
export type Constraint =
  | { readonly kind: "in"; readonly path: string; readonly values: ReadonlyArray<unknown> }
  | { readonly kind: "least" | "most"; readonly path: string; readonly value: unknown; readonly isStrict: boolean }
  | { readonly kind: "begins"; readonly path: string; readonly text: string }
  | { readonly kind: "exists"; readonly path: string }

/** @internal */
export interface Filter {
  /** Tests a document. It may throw if {@link Filter.isComputed}: an expression rejects what it can't compute. */
  readonly matches: (document: Document) => boolean
  readonly constraints: ReadonlyArray<Constraint>
  /** The equality conditions that every match meets: an upsert inserts their values. */
  readonly equalities: ReadonlyArray<readonly [path: string, value: unknown]>
  /** Whether every document matches. */
  readonly isEmpty: boolean
  /** Whether it only compares fields with texts, numbers or booleans: its constraints say all of it. */
  readonly isEquality: boolean
  /** The parsed conditions. */
  readonly condition: Document
  /** The cost of a test relative to an ordinary filter; 1 for those. */
  readonly relativeCost: number
  /** Whether it contains an expression, which may take long for one document. */
  readonly isComputed: boolean
  /** The text search of a filter with `$text`. */
  readonly search?: Search | undefined
}

/**
 * The text search of a filter.
 *
 * @internal
 */
export interface Search {
  /** The words searched for; a match contains at least one of them. */
  readonly words: ReadonlyArray<string>
  /** The relevance of a document. */
  readonly score: (document: Document) => number
}

/**
 * What the parsing of filters depends on.
 *
 * @internal
 */
export interface FilterContext extends ExpressionContext {
  /** The fields of the collection's text index; without them, `$text` is rejected. */
  readonly texts?: ReadonlyArray<TextField> | undefined
}

/** @internal */
export const parseFilter = (
  filter: unknown,
  context: FilterContext
): Result.Result<Filter, Problem> => {
  const equality = equalityFilter(filter)
  if (equality !== undefined) return Result.succeed(equality)
  const normalised = Result.mapError(normalise(filter, true), rejected)
  if (Result.isFailure(normalised)) return Result.fail(normalised.failure)
  const reader = new Reader(context)
  const condition = reader.filter(normalised.success, true)
  if (reader.problem !== undefined) return Result.fail(reader.problem)
  const { search } = reader
  return Result.flatMap(catchRejection(() => compileFilter(condition)), (matches) => {
    const { isComputed } = reader
    const parsed: Filter = {
      matches: isComputed
        ? (document) => {
          beginEvaluation()
          return matches(document)
        }
        : matches,
      isComputed,
      constraints: reader.constraints,
      equalities: reader.equalities,
      isEmpty: Object.keys(condition).length === 0,
      isEquality: false,
      condition,
      relativeCost: relativeCostOf(sizeOf(condition))
    }
    return search === undefined
      ? Result.succeed(parsed)
      : context.texts === undefined
      ? Result.fail(rejected("$text needs a text index, and in a pipeline it needs to be in the first stage"))
      : Result.succeed(withSearch(parsed, search, context.texts))
  })
}

/** The fast path for filters that compare top-level fields with scalars, such as `{ _id }`; else `undefined`. */
const equalityFilter = (filter: unknown): Filter | undefined => {
  if (!isOwnDocument(filter)) return undefined
  const fields: Array<readonly [string, unknown]> = []
  for (const path of Object.keys(filter)) {
    const value = comparedValue(filter[path])
    if (!isScalar(value) || !isOrdinaryKey(path) || path.startsWith("$") || path.includes(".")) return undefined
    fields.push([path, value])
  }
  return new EqualityFilter(fields)
}

const isOwnDocument = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** The value of `{ $eq: value }`, otherwise the operand itself. */
const comparedValue = (operand: unknown): unknown => {
  if (!isOwnDocument(operand)) return operand
  const [operator, ...others] = Object.keys(operand)
  return operator === "$eq" && others.length === 0 ? operand[operator] : operand
}

class EqualityFilter implements Filter {
  readonly equalities: Filter["equalities"]
  readonly constraints: ReadonlyArray<Constraint>
  readonly matches: Filter["matches"]
  readonly isEmpty: boolean
  readonly isEquality = true
  readonly relativeCost: number
  readonly isComputed = false
  constructor(fields: Filter["equalities"]) {
    this.equalities = fields
    this.constraints = fields.map(([path, value]) => ({ kind: "in", path, values: [value] }))
    this.matches = everyTest(fields.map(([path, value]) => isEqual(path, value)))
    this.isEmpty = fields.length === 0
    this.relativeCost = relativeCostOf(1 + 2 * fields.length)
  }
  // Computed on demand: only positional updates need it.
  get condition(): Document {
    return Object.fromEntries(this.equalities.map(([path, value]) => [path, { $eq: new Operand(value) }]))
  }
}

const ordinarySize = 64

const relativeCostOf = (size: number): number => Math.max(1, size / ordinarySize)

/**
 * The filter that every document matches.
 *
 * @internal
 */
export const matchAll: Filter = new EqualityFilter([])

const isScalar = (value: unknown): boolean =>
  typeof value === "string" ? value.isWellFormed() : typeof value === "number" || typeof value === "boolean"

const withSearch = (filter: Filter, search: TextSearch, texts: ReadonlyArray<TextField>): Filter => ({
  ...filter,
  matches: (document) => filter.matches(document) && search.matches(document, texts),
  isEmpty: false,
  isEquality: false,
  search: { words: search.words, score: (document) => search.score(document, texts) }
})

/** The number of keys, items and operands of a filter. */
const sizeOf = (condition: unknown): number => {
  if (condition instanceof Operand) return 1
  const parts = isArray(condition) ? condition : isDocument(condition) ? Object.values(condition) : []
  return parts.reduce<number>((sum, part) => sum + sizeOf(part), 1)
}

/**
 * Parses a condition on the items of an array, the operand of `$pull`, into a test of an item.
 *
 * @internal
 */
export const parseItemCondition = (
  condition: Document,
  context: ExpressionContext
): Result.Result<(item: unknown) => boolean, Problem> => {
  const reader = new Reader(context)
  const read = isValueCondition(condition)
    ? reader.operators("", condition, false)
    : reader.filter(condition, false)
  return reader.problem === undefined
    ? catchRejection(() => compileItemCondition(read))
    : Result.fail(reader.problem)
}

const topOperators = new Set(["$and", "$or", "$nor", "$expr", "$comment", "$text"])

const fieldOperators = new Set([
  "$eq",
  "$ne",
  "$gt",
  "$gte",
  "$lt",
  "$lte",
  "$in",
  "$nin",
  "$not",
  "$regex",
  "$options",
  "$exists",
  "$size",
  "$mod",
  "$type",
  "$elemMatch",
  "$all",
  "$comment"
])

const unsupportedOperators = new Set([
  "$where",
  "$jsonSchema",
  "$near",
  "$nearSphere",
  "$geoWithin",
  "$geoIntersects",
  "$bitsAllSet",
  "$bitsAnySet",
  "$bitsAllClear",
  "$bitsAnyClear",
  "$sampleRate"
])

// Checks a filter and brings it into the form that {@link compileFilter} takes.
class Reader {
  problem: Problem | undefined = undefined
  search: TextSearch | undefined = undefined
  isComputed = false
  readonly constraints: Array<Constraint> = []
  readonly equalities: Array<readonly [path: string, value: unknown]> = []
  readonly #context: ExpressionContext

  constructor(context: ExpressionContext) {
    this.#context = context
  }

  #reject(text: string): void {
    this.problem ??= rejected(text)
  }

  #check(operator: string, known: ReadonlySet<string>): void {
    if (unsupportedOperators.has(operator)) this.problem ??= unsupported(operator)
    else if (!known.has(operator)) this.#reject(`${operator} is no operator that can be used here`)
  }

  /** `isRequired` says that every match meets this filter: it is no branch of an `$or`, no negation and no `$elemMatch`. */
  filter(filter: Document, isRequired: boolean): Document {
    const read: { [key: string]: unknown } = {}
    for (const [key, operand] of Object.entries(filter)) {
      if (!key.startsWith("$")) setField(read, key, this.#field(key, operand, isRequired))
      else {
        this.#check(key, topOperators)
        if (key === "$expr") read[key] = this.#expression(operand)
        else if (key === "$text") this.#text(operand, isRequired)
        else if (key !== "$comment") read[key] = this.#branches(key, operand, isRequired)
      }
    }
    return read
  }

  #text(operand: unknown, isRequired: boolean): void {
    const search = parseTextSearch(operand)
    if (Result.isFailure(search)) this.problem ??= search.failure
    else if (!isRequired || this.search !== undefined) {
      this.#reject("$text can be used once, and not in $or, $nor or $elemMatch")
    } else this.search = search.success
  }

  #branches(operator: string, operand: unknown, isRequired: boolean): ReadonlyArray<Document> {
    if (!isArray(operand) || operand.length === 0 || !operand.every(isDocument)) {
      this.#reject(`${operator} needs an array of filters, at least one`)
      return []
    }
    const isBranchRequired = isRequired && (operator === "$and" || (operator === "$or" && operand.length === 1))
    return operand.map((branch) => this.filter(branch, isBranchRequired))
  }

  #expression(expression: unknown): unknown {
    this.isComputed = true
    const parsed = parseExpression(expression, this.#context)
    if (Result.isFailure(parsed)) this.problem ??= parsed.failure
    return new Operand(Result.getOrUndefined(parsed))
  }

  #field(path: string, operand: unknown, isRequired: boolean): unknown {
    if (isOperatorDocument(operand)) return this.operators(path, operand, isRequired)
    if (isRequired) this.#constrain(path, "$eq", operand)
    return { $eq: new Operand(operand) }
  }

  operators(path: string, operators: Document, isRequired: boolean): Document {
    const read: { [key: string]: unknown } = {}
    for (const [operator, given] of Object.entries(operators)) {
      this.#check(operator, fieldOperators)
      // Whatever is done for each of them is done once for those that are equal.
      const operand = operator === "$in" && isArray(given) ? new DifferentValues(given) : given
      if (isRequired) this.#constrain(path, operator, operand, operators["$options"])
      switch (operator) {
        case "$comment":
          break
        case "$options":
          if (!Object.hasOwn(operators, "$regex")) this.#reject("$options needs a $regex")
          break
        case "$regex":
          read["$regex"] = new Operand({ regex: operand, options: operators["$options"] ?? "" })
          break
        case "$not":
          read[operator] = this.#negated(path, operand)
          break
        case "$elemMatch":
          read[operator] = this.#item(operand)
          break
        case "$all":
          Object.assign(read, this.#all(operand))
          break
        default:
          read[operator] = new Operand(operand)
      }
    }
    // An empty document would be compared as a value.
    return Object.keys(read).length === 0 ? { $nin: new Operand([]) } : read
  }

  #negated(path: string, operand: unknown): unknown {
    if (operand instanceof RegExp) return { $eq: new Operand(operand) }
    if (isOperatorDocument(operand)) return this.operators(path, operand, false)
    this.#reject("$not needs operators or a regular expression")
    return {}
  }

  #item(operand: unknown): Document {
    if (!isDocument(operand)) {
      this.#reject("$elemMatch needs a filter or operators")
      return {}
    }
    return isValueCondition(operand) ? this.operators("", operand, false) : this.filter(operand, false)
  }

  // `$every` tests each operand by itself.
  #all(operand: unknown): Document {
    if (!isArray(operand)) {
      this.#reject("$all needs an array")
      return {}
    }
    if (operand.length === 0) return { $in: new Operand([]) }
    const conditions = operand.map((item) => {
      if (!isOperatorDocument(item)) return { $eq: new Operand(item) }
      if (Object.keys(item).some((key) => key !== "$elemMatch")) {
        this.#reject("$all can't contain operators other than $elemMatch")
      }
      return { $elemMatch: this.#item(item["$elemMatch"]) }
    })
    return { $every: conditions }
  }

  #constrain(path: string, operator: string, operand: unknown, options?: unknown): void {
    const rank = rankOf(operand)
    const isUsable = rank !== Rank.regularExpression && rank !== Rank.array
    for (const value of equalitiesOf(operator, operand)) this.equalities.push([path, value])
    if (operator === "$eq" && isUsable) this.constraints.push({ kind: "in", path, values: [operand] })
    if (
      operand instanceof DifferentValues && operand.list.every((item) => !isArray(item) && !(item instanceof RegExp))
    ) {
      this.constraints.push({ kind: "in", path, values: operand.list })
    }
    if ((operator === "$gt" || operator === "$gte") && isUsable) {
      this.constraints.push({ kind: "least", path, value: operand, isStrict: operator === "$gt" })
    }
    if ((operator === "$lt" || operator === "$lte") && isUsable) {
      this.constraints.push({ kind: "most", path, value: operand, isStrict: operator === "$lt" })
    }
    if (operator === "$regex" || (operator === "$eq" && operand instanceof RegExp)) {
      const text = literalPrefix(operand, options)
      if (text !== "") this.constraints.push({ kind: "begins", path, text })
    }
    if (operator === "$exists" && operand === true) this.constraints.push({ kind: "exists", path })
  }
}

/** The values that an operator requires a field to have or to contain; an upsert inserts them. */
const equalitiesOf = (operator: string, operand: unknown): ReadonlyArray<unknown> => {
  const values = operator === "$eq"
    ? [operand]
    : operator === "$all" && isArray(operand)
    ? operand.filter((item) => !isOperatorDocument(item))
    : operand instanceof DifferentValues && operator === "$in" && operand.list.length === 1
    ? operand.list
    : []
  return values.filter((value) => rankOf(value) !== Rank.regularExpression)
}
