/** The expression operators that compare, combine conditions and choose. */
import { orderOf } from "../bson/collator.ts"
import { isArray, isDocument, isNumber, isTruthy, ownField } from "../bson/value.ts"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { sizeOfValue } from "../limits/sizeLimits.ts"
import { typeNameOf } from "../predicate/types.ts"
import {
  argumentsOf,
  binary,
  collated,
  constant,
  type Expression,
  isNothing,
  missing,
  namesOf,
  type OperatorParser,
  type OperatorParsers,
  unary
} from "./expression.ts"

const comparison = (test: (order: number) => unknown): OperatorParser =>
  collated((collator) => {
    const { compare } = orderOf(collator)
    return binary((left, right) => {
      // A comparison reads at most the size of the smaller value; the left one's is an estimate.
      if (typeof left === typeof right) charge(sizeOfValue(left) / 4)
      return test(compare(left, right))
    })
  })

const conditions = (operand: unknown, name: string, parse: (expression: unknown) => Expression) =>
  argumentsOf(operand, name, 0).map(parse)

const $and: OperatorParser = (operand, { parse }, name) => {
  const all = conditions(operand, name, parse)
  return (document) => {
    for (let i = 0; i < all.length; i++) if (!isTruthy(all[i]!(document))) return false
    return true
  }
}

const $or: OperatorParser = (operand, { parse }, name) => {
  const all = conditions(operand, name, parse)
  return (document) => {
    for (let i = 0; i < all.length; i++) if (isTruthy(all[i]!(document))) return true
    return false
  }
}

const $cond: OperatorParser = (operand, { parse }, name) => {
  const parts = isDocument(operand) ? namesOf(operand, name, ["if", "then", "else"]) : undefined
  const [test = missing, then = missing, otherwise = missing] =
    (parts === undefined ? argumentsOf(operand, name, 3, 3) : [parts["if"], parts["then"], parts["else"]]).map(parse)
  return (document) => isTruthy(test(document)) ? then(document) : otherwise(document)
}

const $ifNull: OperatorParser = (operand, { parse }, name) => {
  const choices = argumentsOf(operand, name, 2).map(parse)
  return (document) => {
    let value: unknown
    for (let i = 0; i < choices.length; i++) {
      value = choices[i]!(document)
      if (!isNothing(value)) return value
    }
    return value
  }
}

const $switch: OperatorParser = (operand, { parse }, name) => {
  const { branches, default: otherwise } = { ...namesOf(operand, name, ["branches"], ["default"]) }
  if (!isArray(branches) || branches.length === 0) return reject("$switch needs branches")
  const cases = branches.map((branch) => {
    const parts = namesOf(branch, "a branch of $switch", ["case", "then"])
    return [parse(ownField(parts, "case")), parse(ownField(parts, "then"))] as const
  })
  // `default` may be an expression whose value is missing, so its own presence decides.
  const last = isDocument(operand) && Object.hasOwn(operand, "default")
    ? parse(otherwise)
    : () => reject("no branch of $switch matches, and it has no default")
  return (document) => {
    for (const [test, then] of cases) if (isTruthy(test(document))) return then(document)
    return last(document)
  }
}

export const logicOperators: OperatorParsers = {
  $cmp: comparison((order) => Math.sign(order)),
  $eq: comparison((order) => order === 0),
  $ne: comparison((order) => order !== 0),
  $gt: comparison((order) => order > 0),
  $gte: comparison((order) => order >= 0),
  $lt: comparison((order) => order < 0),
  $lte: comparison((order) => order <= 0),
  $and,
  $or,
  $not: unary((value) => !isTruthy(value)),
  $cond,
  $ifNull,
  $switch,
  $literal: (operand) => constant(operand),
  $type: unary(typeNameOf),
  $isNumber: unary(isNumber),
  $isArray: unary(isArray)
}
