/** The expression operators that bind variables, most of them for each item of an array. */
import { isDocument, isTruthy } from "../bson/value.ts"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { sizeOfValue } from "../limits/sizeLimits.ts"
import {
  costOf,
  type Expression,
  isNothing,
  listOperand,
  type Named,
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

/** The loop of an operator over its input: `enter` sets the variables of an item, with which `compute` is evaluated. */
const loopOf = (
  { arrayIndexAs, as = "this", input }: Named,
  body: unknown,
  parser: Parser,
  name: string,
  others: { readonly [name: string]: Variable } = {}
) => {
  const list = measured(input, parser)
  const [item, place] = [new Variable(), new Variable()]
  const variables = { [placeName(name, arrayIndexAs)]: place, [boundName(name, as)]: item, ...others }
  const compute = parser.within(variables).parse(body)
  const cost = iterationCost + costOf(body)
  return {
    compute,
    /** The items of a document's list, whose evaluation is charged; `null` if there is none. */
    itemsOf: (document: unknown): ReadonlyArray<unknown> | null => {
      const value = list(document)
      if (isNothing(value)) return null
      const items = listOperand(name, value)
      charge(items.length * cost)
      return items
    },
    enter: (items: ReadonlyArray<unknown>, index: number): void => {
      item.value = items[index]
      place.value = index
    }
  }
}

const $map: OperatorParser = (operand, parser, name) => {
  const parts = namesOf(operand, name, ["input", "in"], ["as", "arrayIndexAs"])
  const { compute, enter, itemsOf } = loopOf(parts, parts["in"], parser, name)
  return (document) => {
    const items = itemsOf(document)
    if (items === null) return null
    const results = new Array<unknown>(items.length)
    for (let i = 0; i < items.length; i++) {
      enter(items, i)
      results[i] = compute(document) ?? null
    }
    return results
  }
}

const $filter: OperatorParser = (operand, parser, name) => {
  const parts = namesOf(operand, name, ["input", "cond"], ["as", "limit", "arrayIndexAs"])
  const { compute, enter, itemsOf } = loopOf(parts, parts["cond"], parser, name)
  const most = parts["limit"] === undefined ? undefined : parser.parse(parts["limit"])
  return (document) => {
    const items = itemsOf(document)
    if (items === null) return null
    const given = most?.(document)
    const wanted = isNothing(given) ? Infinity : wholeOf(`the limit of ${name}`, given)
    if (wanted < 1) return reject("the limit of $filter is 1 at least")
    const results: Array<unknown> = []
    for (let i = 0; i < items.length && results.length < wanted; i++) {
      enter(items, i)
      if (isTruthy(compute(document))) results.push(items[i])
    }
    return results
  }
}

const $reduce: OperatorParser = (operand, parser, name) => {
  const parts = namesOf(operand, name, ["input", "initialValue", "in"], ["as", "valueAs", "arrayIndexAs"])
  const { in: body, initialValue, valueAs = "value" } = { ...parts }
  const [initial, result] = [measured(initialValue, parser), new Variable()]
  const { compute, enter, itemsOf } = loopOf(parts, body, parser, name, { [boundName(name, valueAs)]: result })
  return (document) => {
    const items = itemsOf(document)
    if (items === null) return null
    let reduced = initial(document)
    for (let i = 0; i < items.length; i++) {
      enter(items, i)
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
