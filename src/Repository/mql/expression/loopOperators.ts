/** The expression operators that bind variables, most of them for each item of an array. */
import { isDocument, isTruthy } from "../../bson/value.ts"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { sizeOfValue } from "../limits/sizeLimits.ts"
import {
  costOf,
  type Expression,
  isNothing,
  listOf,
  namesOf,
  type OperatorParser,
  type OperatorParsers,
  type Parser,
  Variable,
  wholeOf
} from "./expression.ts"

const iterationCost = 60

/** The values of a variable. They are measured, so that using it repeatedly can't grow a value without limit. */
const measured = (expression: unknown, { parse }: Parser): Expression => {
  const read = parse(expression)
  // The value of a reference was measured when it was made.
  if (typeof expression === "string") return read
  return (document) => {
    const value = read(document)
    sizeOfValue(value)
    return value
  }
}

/** The name of a variable; rejects any other value. `name` is the operator that binds it. */
export const variableName = (name: string, value: unknown): string =>
  typeof value === "string" && /^[a-z\u0080-\uffff][\w\u0080-\uffff]*$/u.test(value)
    ? value
    : reject(`${name} can't name a variable "${String(value).slice(0, 100)}"`)

/** The name of a variable of an expression, which may bind `CURRENT`, too: `$name` stands for `$$CURRENT.name`. */
const boundName = (name: string, value: unknown): string => value === "CURRENT" ? value : variableName(name, value)

/** The name of the variable that holds an item's place in the list. */
const placeName = (name: string, arrayIndexAs: unknown): string =>
  arrayIndexAs === undefined ? "IDX" : boundName(name, arrayIndexAs)

const $map: OperatorParser = (operand, parser, name) => {
  const parts = namesOf(operand, name, ["input", "in"], ["as", "arrayIndexAs"])
  const { arrayIndexAs, as = "this", in: body, input } = { ...parts }
  const list = measured(input, parser)
  const [item, place] = [new Variable(), new Variable()]
  const variables = { [placeName(name, arrayIndexAs)]: place, [boundName(name, as)]: item }
  const compute = parser.within(variables).parse(body)
  const cost = iterationCost + costOf(body)
  return (document) => {
    const value = list(document)
    if (isNothing(value)) return null
    const items = listOf(name, value)
    charge(items.length * cost)
    const results = new Array<unknown>(items.length)
    for (let i = 0; i < items.length; i++) {
      item.value = items[i]
      place.value = i
      results[i] = compute(document) ?? null
    }
    return results
  }
}

const $filter: OperatorParser = (operand, parser, name) => {
  const parts = namesOf(operand, name, ["input", "cond"], ["as", "limit", "arrayIndexAs"])
  const { arrayIndexAs, as = "this", cond, input, limit } = { ...parts }
  const list = measured(input, parser)
  const [item, place] = [new Variable(), new Variable()]
  const variables = { [placeName(name, arrayIndexAs)]: place, [boundName(name, as)]: item }
  const test = parser.within(variables).parse(cond)
  const most = limit === undefined ? undefined : parser.parse(limit)
  const cost = iterationCost + costOf(cond)
  return (document) => {
    const value = list(document)
    if (isNothing(value)) return null
    const items = listOf(name, value)
    charge(items.length * cost)
    const given = most?.(document)
    const wanted = isNothing(given) ? Infinity : wholeOf(`the limit of ${name}`, given)
    if (wanted < 1) return reject("the limit of $filter is 1 at least")
    const results: Array<unknown> = []
    for (let i = 0; i < items.length && results.length < wanted; i++) {
      item.value = items[i]
      place.value = i
      if (isTruthy(test(document))) results.push(items[i])
    }
    return results
  }
}

const $reduce: OperatorParser = (operand, parser, name) => {
  const parts = namesOf(operand, name, ["input", "initialValue", "in"], ["as", "valueAs", "arrayIndexAs"])
  const { arrayIndexAs, as = "this", in: body, initialValue, input, valueAs = "value" } = { ...parts }
  const [list, initial] = [measured(input, parser), measured(initialValue, parser)]
  const [item, result, place] = [new Variable(), new Variable(), new Variable()]
  const variables = {
    [placeName(name, arrayIndexAs)]: place,
    [boundName(name, as)]: item,
    [boundName(name, valueAs)]: result
  }
  const compute = parser.within(variables).parse(body)
  const cost = iterationCost + costOf(body)
  return (document) => {
    const value = list(document)
    if (isNothing(value)) return null
    const items = listOf(name, value)
    charge(items.length * cost)
    let reduced = initial(document)
    for (let i = 0; i < items.length; i++) {
      item.value = items[i]
      place.value = i
      result.value = reduced
      reduced = compute(document)
      sizeOfValue(reduced)
    }
    return reduced
  }
}

const $let: OperatorParser = (operand, parser, name) => {
  const { in: body, vars } = { ...namesOf(operand, name, ["vars", "in"]) }
  if (!isDocument(vars)) return reject("$let needs vars and an expression")
  const bound = Object.entries(vars).map(([variable, value]) =>
    [boundName(name, variable), new Variable(), measured(value, parser)] as const
  )
  const compute = parser.within(Object.fromEntries(bound.map(([variable, cell]) => [variable, cell]))).parse(body)
  return (document) => {
    for (const [, variable, read] of bound) variable.value = read(document)
    return compute(document)
  }
}

export const loopOperators: OperatorParsers = { $map, $filter, $reduce, $let }
