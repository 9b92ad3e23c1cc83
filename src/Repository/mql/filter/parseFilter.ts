/**
 * MongoDB's filters. mingo evaluates them; what is wrong with one is found before the first document is looked at, and
 * what an index could use of one is told.
 */
import * as Result from "effect/Result"
import { Query } from "mingo/query"
import { isArray, isDocument, isPlainKey, normalise, Rank, rankOf } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { prepared } from "../expression/fieldReferences.ts"
import { attempt, documentOptions, isExpression, problemOf } from "../expression/operators.ts"
import { beginEvaluation } from "../limits/costBudget.ts"
import { type Problem, rejected, unsupported } from "../limits/queryProblem.ts"
import { escapePath, isEqual, isOperatorDocument, isValueCondition, Operand } from "../predicate/comparison.ts"
import { beginningOf } from "../text/regularExpression.ts"
import { parseTextSearch, type TextField, type TextSearch } from "../text/textSearch.ts"
import { everyTest, plainTest } from "./compileFilter.ts"

/**
 * Something that every matching document fulfils, as an index may use it. `in` is equality with one of the values; `least`
 * and `most` leave out the value itself when they are strict; `begins` is a text that begins so, or a regular expression.
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
  /** May throw, as mingo does. */
  readonly matches: (document: Document) => boolean
  readonly constraints: ReadonlyArray<Constraint>
  /** What every match has at a path, where the filter says so in as many words: an upsert begins with it. */
  readonly equalities: ReadonlyArray<readonly [path: string, value: unknown]>
  /** Whether every document matches. */
  readonly isEmpty: boolean
  /** The filter as mingo reads it. */
  readonly condition: Document
  /** How much longer it takes to test a document than with an ordinary filter; 1 for those. */
  readonly effort: number
  /** Whether it has an expression, which may take long for one document. */
  readonly isComputed: boolean
  /** The words that it asks for, when it does. */
  readonly search?: Search | undefined
}

/**
 * A search among the texts of a collection.
 *
 * @internal
 */
export interface Search {
  /** A match has one of them at least. */
  readonly words: ReadonlyArray<string>
  /** How well a document matches. */
  readonly score: (document: Document) => number
}

/**
 * Reads a filter; `now` is the time that `$$NOW` stands for, in milliseconds. `texts` are the fields that `$text` looks
 * at; without them, there is no `$text`.
 *
 * @internal
 */
export const parseFilter = (
  filter: unknown,
  now: number,
  texts?: ReadonlyArray<TextField>
): Result.Result<Filter, Problem> => {
  const plain = plainFilter(filter)
  if (plain !== undefined) return Result.succeed(plain)
  const normalised = Result.mapError(normalise(filter, true), rejected)
  if (Result.isFailure(normalised)) return Result.fail(normalised.failure)
  const reader = new Reader(now)
  const condition = reader.filter(normalised.success, true)
  if (reader.problem !== undefined) return Result.fail(reader.problem)
  const { search } = reader
  return Result.flatMap(attempt(() => testOf(condition)), (matches) => {
    const { isComputed } = reader
    const found: Filter = {
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
      condition,
      effort: effortOf(sizeOf(condition))
    }
    return search === undefined
      ? Result.succeed(found)
      : texts === undefined
      ? Result.fail(rejected("$text needs a text index, and in a pipeline it needs to be in the first stage"))
      : Result.succeed(searching(found, search, texts))
  })
}

/**
 * A filter that has a plain value for each of its fields, as most have that look for one document: there is nothing to
 * find out about it, and nothing wrong with it. `undefined` for any other.
 */
const plainFilter = (filter: unknown): Filter | undefined => {
  if (typeof filter !== "object" || filter === null || Object.getPrototypeOf(filter) !== Object.prototype) {
    return undefined
  }
  const fields = Object.entries(filter)
  return fields.every(isPlainField) ? new PlainFilter(fields) : undefined
}

const isPlainField = ([path, value]: readonly [string, unknown]): boolean =>
  isPlainValue(value) && isPlainKey(path) && !path.startsWith("$") && !path.includes(".")

class PlainFilter implements Filter {
  readonly equalities: Filter["equalities"]
  readonly constraints: ReadonlyArray<Constraint>
  readonly matches: Filter["matches"]
  readonly isEmpty: boolean
  readonly effort: number
  readonly isComputed = false
  constructor(fields: Filter["equalities"]) {
    this.equalities = fields
    this.constraints = fields.map(([path, value]) => ({ kind: "in", path, values: [value] }))
    this.matches = everyTest(fields.map(([path, value]) => isEqual(path, value, documentOptions)))
    this.isEmpty = fields.length === 0
    this.effort = effortOf(1 + 2 * fields.length)
  }
  // Only some updates ask for it.
  get condition(): Document {
    return Object.fromEntries(this.equalities.map(([path, value]) => [path, { $eq: new Operand(value) }]))
  }
}

const ordinarySize = 64

const effortOf = (size: number): number => Math.max(1, size / ordinarySize)

/**
 * The filter that every document matches.
 *
 * @internal
 */
export const matchAll: Filter = new PlainFilter([])

const isPlainValue = (value: unknown): boolean =>
  typeof value === "string" ? value.isWellFormed() : typeof value === "number" || typeof value === "boolean"

/** May throw, as mingo does. */
const testOf = (condition: Document): Filter["matches"] => {
  const test = plainTest(condition)
  if (test !== undefined) return test
  const query = new Query(condition, documentOptions)
  return (document) => query.test(document)
}

const searching = (filter: Filter, search: TextSearch, texts: ReadonlyArray<TextField>): Filter => ({
  ...filter,
  matches: (document) => filter.matches(document) && search.matches(document, texts),
  isEmpty: false,
  search: { words: search.words, score: (document) => search.score(document, texts) }
})

/** How many keys, items and operands there are. */
const sizeOf = (condition: unknown): number => {
  if (condition instanceof Operand) return 1
  const parts = isArray(condition) ? condition : isDocument(condition) ? Object.values(condition) : []
  return parts.reduce<number>((sum, part) => sum + sizeOf(part), 1)
}

/**
 * A condition on the items of an array, as `$pull` has it and as mingo reads it.
 *
 * @internal
 */
export const parseItemCondition = (condition: unknown, now: number): Result.Result<unknown, Problem> => {
  const reader = new Reader(now)
  const read = isDocument(condition)
    ? isValueCondition(condition) ? reader.operators("", condition, false) : reader.filter(condition, false)
    : condition
  return reader.problem === undefined ? Result.succeed(read) : Result.fail(reader.problem)
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

// Rewrites a filter so that mingo understands it as MongoDB would.
class Reader {
  problem: Problem | undefined = undefined
  search: TextSearch | undefined = undefined
  isComputed = false
  readonly constraints: Array<Constraint> = []
  readonly equalities: Array<readonly [path: string, value: unknown]> = []
  readonly #now: number

  constructor(now: number) {
    this.#now = now
  }

  #reject(text: string): void {
    this.problem ??= rejected(text)
  }

  #check(operator: string, known: ReadonlySet<string>): void {
    if (unsupportedOperators.has(operator)) this.problem ??= unsupported(operator)
    else if (!known.has(operator)) this.#reject(`${operator} is no operator that can be used here`)
  }

  /** `certain` says that whatever the filter asks for holds for every match, and not only for some. */
  filter(filter: Document, certain: boolean): Document {
    const read: { [key: string]: unknown } = {}
    for (const [key, operand] of Object.entries(filter)) {
      if (!key.startsWith("$")) read[escapePath(key)] = this.#field(key, operand, certain)
      else {
        this.#check(key, topOperators)
        if (key === "$expr") read[key] = this.#expression(operand)
        else if (key === "$text") this.#text(operand, certain)
        else if (key !== "$comment") read[key] = this.#branches(key, operand, certain)
      }
    }
    return read
  }

  #text(operand: unknown, certain: boolean): void {
    const search = parseTextSearch(operand)
    if (Result.isFailure(search)) this.problem ??= search.failure
    else if (!certain || this.search !== undefined) {
      this.#reject("$text can be used once, and not in $or, $nor or $elemMatch")
    } else this.search = search.success
  }

  #branches(operator: string, operand: unknown, certain: boolean): ReadonlyArray<Document> {
    if (!isArray(operand) || operand.length === 0 || !operand.every(isDocument)) {
      this.#reject(`${operator} needs an array of filters, at least one`)
      return []
    }
    const isCertain = certain && (operator === "$and" || (operator === "$or" && operand.length === 1))
    return operand.map((branch) => this.filter(branch, isCertain))
  }

  #expression(expression: unknown): unknown {
    this.isComputed = true
    this.problem ??= problemOf(expression, isExpression)
    return prepared(expression, this.#now)
  }

  #field(path: string, operand: unknown, certain: boolean): unknown {
    if (isOperatorDocument(operand)) return this.operators(path, operand, certain)
    if (certain) this.#constrain(path, "$eq", operand)
    return { $eq: new Operand(operand) }
  }

  operators(path: string, operators: Document, certain: boolean): Document {
    const read: { [key: string]: unknown } = {}
    for (const [operator, operand] of Object.entries(operators)) {
      this.#check(operator, fieldOperators)
      if (certain) this.#constrain(path, operator, operand, operators["$options"])
      switch (operator) {
        case "$comment":
          break
        case "$options":
          if (!Object.hasOwn(operators, "$regex")) this.#reject("$options needs a $regex")
          break
        case "$regex":
          read["$pattern"] = new Operand({ regex: operand, options: operators["$options"] ?? "" })
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
    // Without an operator it would be a value.
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

  // mingo's own compares otherwise: all of several is each of them.
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
    if (operator === "$eq" && rank !== Rank.regularExpression) this.equalities.push([path, operand])
    if (operator === "$eq" && isUsable) this.constraints.push({ kind: "in", path, values: [operand] })
    if (
      operator === "$in" && isArray(operand) && operand.every((item) => !isArray(item) && !(item instanceof RegExp))
    ) {
      this.constraints.push({ kind: "in", path, values: operand })
    }
    if ((operator === "$gt" || operator === "$gte") && isUsable) {
      this.constraints.push({ kind: "least", path, value: operand, isStrict: operator === "$gt" })
    }
    if ((operator === "$lt" || operator === "$lte") && isUsable) {
      this.constraints.push({ kind: "most", path, value: operand, isStrict: operator === "$lt" })
    }
    if (operator === "$regex" || (operator === "$eq" && operand instanceof RegExp)) {
      const text = beginningOf(operand, options)
      if (text !== "") this.constraints.push({ kind: "begins", path, text })
    }
    if (operator === "$exists" && operand === true) this.constraints.push({ kind: "exists", path })
  }
}
