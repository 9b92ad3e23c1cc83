/** Parses filters into tests in one pass, which also finds the constraints that every match meets. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import { isArray, isDocument, isTruthy } from "../bson/value.ts"
import { DifferentValues } from "../bson/valueSet.ts"
import type { ExpressionContext } from "../expression/expression.ts"
import { parseExpression } from "../expression/parseExpression.ts"
import { parseGeoIntersects, parseGeoWithin } from "../geo/geoFilter.ts"
import { type Near, parseNear } from "../geo/near.ts"
import { reject, rejectWith, unsupported } from "../limits/queryProblem.ts"
import { equal, isOperatorDocument, isValueCondition, type ValueCondition } from "../predicate/comparisonOperators.ts"
import { parseJsonSchema } from "../schema/jsonSchema.ts"
import { parseTextSearch, type TextSearch } from "../text/textSearch.ts"
import { type Constraint, constraintsOf, equalitiesOf, isExact } from "./constraints.ts"
import { fieldOperators } from "./fieldOperators.ts"
import {
  allTests,
  chargeItems,
  every,
  type FieldTest,
  itemTest,
  noneOf,
  onItems,
  onValue,
  type Test,
  testAt
} from "./fieldTest.ts"
import { type ItemConditions, itemConditionsOf, noItemConditions } from "./matchedItem.ts"

/** A parsed filter, or a part of one. */
export interface Clause {
  readonly test: Test
  readonly itemConditions: ItemConditions
}

/**
 * Its methods {@link reject} what is invalid. `isRequired` says that every match meets what is parsed: it is no branch of an
 * `$or`, no negation and no `$elemMatch`.
 */
export class FilterParser {
  search: TextSearch | undefined = undefined
  near: Near | undefined = undefined
  /** Whether there is an expression or a JSON schema. */
  isComputed = false
  /** The number of filters, fields and operators. */
  size = 0
  /** The number of conditions that a document may fail. */
  conditions = 0
  /** The number of conditions that a single constraint expresses completely. */
  exactConditions = 0
  readonly constraints: Array<Constraint> = []
  readonly equalities: Array<readonly [path: string, value: unknown]> = []
  readonly #context: ExpressionContext
  /** Whether what is parsed is of the items of a list. */
  #isOfItems = false

  constructor(context: ExpressionContext) {
    this.#context = context
  }

  filter(filter: Document, isRequired: boolean): Clause {
    this.size += 1
    const clauses: Array<Clause> = []
    for (const [key, operand] of Object.entries(filter)) {
      this.size += 1
      if (!key.startsWith("$")) clauses.push(this.#field(key, operand, isRequired))
      else if (key === "$text") this.#text(operand, isRequired)
      else if (key !== "$comment") clauses.push(this.#top(key, operand, isRequired))
    }
    return allOf(clauses)
  }

  operators(path: string, operators: Document, isRequired: boolean): FieldTest {
    return allTests(
      Object.entries(operators).map(([name, operand]) => this.#operator(path, name, operand, operators, isRequired))
    )
  }

  /** The condition of an `$elemMatch`. */
  item(condition: Document): ValueCondition {
    const isWithinItems = this.#isOfItems
    this.#isOfItems = true
    const accepts = isValueCondition(condition)
      ? this.operators("", condition, false).accepts
      : itemTest(this.filter(condition, false).test)
    this.#isOfItems = isWithinItems
    return accepts
  }

  /** The condition of a `$pull`: operators read an item as they read a field, and other conditions only documents. */
  pull(condition: Document | RegExp): ValueCondition {
    this.#isOfItems = true
    if (condition instanceof RegExp || isValueCondition(condition)) {
      const { matches } = condition instanceof RegExp
        ? onItems(equal(condition, undefined))
        : this.operators("", condition, false)
      return (item) => matches(item, [], 0)
    }
    const { test } = this.filter(condition, false)
    return (item) => isDocument(item) && test(item)
  }

  #top(operator: string, operand: unknown, isRequired: boolean): Clause {
    switch (operator) {
      case "$and":
      case "$or":
      case "$nor":
        return this.#branches(operator, operand, isRequired)
      case "$expr":
        return this.#isOfItems
          ? reject("$expr is of a document, and can't be used in $elemMatch or $pull")
          : this.#expression(operand)
      case "$sampleRate":
        return this.#expression({ $sampleRate: operand })
      case "$jsonSchema":
        return this.#schema(operand)
      default:
        return rejectOperator(operator)
    }
  }

  #text(operand: unknown, isRequired: boolean): void {
    const search = parseTextSearch(operand)
    if (!isRequired || this.search !== undefined) reject("$text can be used once, and not in $or, $nor or $elemMatch")
    this.search = search
  }

  #branches(operator: "$and" | "$or" | "$nor", operand: unknown, isRequired: boolean): Clause {
    if (!isArray(operand) || operand.length === 0 || !operand.every(isDocument)) {
      return reject(`${operator} needs an array of filters, at least one`)
    }
    const isBranchRequired = isRequired && (operator === "$and" || (operator === "$or" && operand.length === 1))
    const branches = operand.map((branch) => this.filter(branch, isBranchRequired))
    if (operator === "$and") return allOf(branches)
    this.conditions += 1
    const any = anyOf(branches.map(({ test }) => test))
    return operator === "$or"
      ? {
        test: any,
        itemConditions: (path) =>
          branches.flatMap(({ itemConditions, test }) =>
            itemConditions(path).map((found) => ({ ...found, applies: test }))
          )
      }
      : { test: (document) => !any(document), itemConditions: noItemConditions }
  }

  #expression(expression: unknown): Clause {
    this.isComputed = true
    this.conditions += 1
    const compute = parseExpression(expression, this.#context)
    return { test: (document) => isTruthy(compute(document)), itemConditions: noItemConditions }
  }

  #schema(schema: unknown): Clause {
    this.isComputed = true
    this.conditions += 1
    return { test: parseJsonSchema(schema).accepts, itemConditions: noItemConditions }
  }

  #field(path: string, operand: unknown, isRequired: boolean): Clause {
    const test = isOperatorDocument(operand)
      ? this.operators(path, operand, isRequired)
      : this.#operator(path, operand instanceof RegExp ? "$regex" : "$eq", operand, {}, isRequired)
    return { test: testAt(path, test), itemConditions: itemConditionsOf(path, test) }
  }

  #operator(path: string, name: string, given: unknown, siblings: Document, isRequired: boolean): FieldTest {
    this.size += 1
    if (name !== "$comment" && name !== "$options") this.conditions += 1
    // Whatever is done for each of them is done once for those that are equal.
    const { collator } = this.#context
    const operand = name === "$in" && isArray(given) ? new DifferentValues(given, collator) : given
    const test = fieldOperators.get(name)?.(operand, siblings, collator) ?? this.#nested(name, operand)
      ?? this.#location(path, name, siblings, isRequired) ?? rejectOperator(name)
    // Each of them is tested by itself.
    if (operand instanceof DifferentValues) this.size += operand.list.filter((item) => item instanceof RegExp).length
    if (isRequired) {
      for (const value of equalitiesOf(name, operand)) this.equalities.push([path, value])
      const constraints = constraintsOf(path, name, operand, siblings["$options"])
      this.constraints.push(...constraints)
      if (constraints.length === 1 && constraints.every(isExact)) this.exactConditions += 1
    }
    return test
  }

  /** An operator with conditions in it; `undefined` for any other name. */
  #nested(name: string, operand: unknown): FieldTest | undefined {
    switch (name) {
      case "$not":
        return this.#negation(operand)
      case "$elemMatch": {
        const accepts = isDocument(operand) ? this.item(operand) : reject("$elemMatch needs a filter or operators")
        return onValue(someItem(accepts), [{ accepts, isElement: true }])
      }
      case "$all":
        return this.#all(operand)
      default:
        return undefined
    }
  }

  /** An operator on locations; `undefined` for any other name. */
  #location(path: string, name: string, siblings: Document, isRequired: boolean): FieldTest | undefined {
    switch (name) {
      case "$geoWithin":
      case "$within":
      case "$geoIntersects": {
        this.isComputed = true
        const { area, test } = name === "$geoIntersects"
          ? parseGeoIntersects(siblings[name])
          : parseGeoWithin(siblings[name])
        if (isRequired) this.constraints.push({ kind: "area", path, area })
        return onItems(test)
      }
      case "$near":
      case "$nearSphere": {
        this.isComputed = true
        if (!isRequired || this.near !== undefined) {
          return reject(`${name} can be used once, and not in $or, $nor, $not or $elemMatch`)
        }
        this.near = parseNear(path, name, siblings)
        this.constraints.push({ kind: "area", path, area: this.near.areaBetween(this.near.least, this.near.most) })
        // A document is tested by the nearest of its locations.
        return onValue(always)
      }
      case "$minDistance":
      case "$maxDistance":
        return Object.hasOwn(siblings, "$near") || Object.hasOwn(siblings, "$nearSphere")
          ? onValue(always)
          : reject(`${name} needs a $near or a $nearSphere`)
      default:
        return undefined
    }
  }

  #negation(operand: unknown): FieldTest {
    if (operand instanceof RegExp) return noneOf(onItems(equal(operand, undefined)))
    return isOperatorDocument(operand)
      ? noneOf(this.operators("", operand, false))
      : reject("$not needs operators or a regular expression")
  }

  #all(operand: unknown): FieldTest {
    if (!isArray(operand)) return reject("$all needs an array")
    const elements = operand.filter(isOperatorDocument).length
    if (elements > 0 && elements < operand.length) return reject("$all takes either values or $elemMatch")
    const tests = operand.map((item) => {
      if (!isOperatorDocument(item)) return onItems(equal(item, this.#context.collator))
      if (Object.keys(item).some((key) => key !== "$elemMatch")) {
        return reject("$all can't contain operators other than $elemMatch")
      }
      return this.operators("", item, false)
    })
    this.size += tests.length
    const [first] = tests
    return first === undefined ? onValue(never) : { ...allTests(tests), items: first.items }
  }
}

// internal

const rejectOperator = (name: string): never =>
  name === "$where"
    ? rejectWith(unsupported(name))
    : reject(`${name} is no operator that can be used here`)

const always = () => true

const never = () => false

const allOf = (clauses: ReadonlyArray<Clause>): Clause => {
  const [only, ...others] = clauses
  return only !== undefined && others.length === 0 ? only : {
    test: every(clauses.map(({ test }) => test)),
    itemConditions: (path) => clauses.flatMap(({ itemConditions }) => itemConditions(path))
  }
}

const anyOf = (tests: ReadonlyArray<Test>): Test => (document) => {
  for (const test of tests) if (test(document)) return true
  return false
}

const someItem = (accepts: ValueCondition): ValueCondition => (value) => {
  if (!isArray(value)) return false
  chargeItems(value)
  for (const item of value) if (accepts(item)) return true
  return false
}
