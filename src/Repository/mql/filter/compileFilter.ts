/**
 * Compiles parsed filters into tests.
 */
import { isArray, isDocument } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { isTruthy } from "../expression/expression.ts"
import { reject } from "../limits/queryProblem.ts"
import { isValueCondition, Operand, testAt, valueOperators } from "../predicate/comparison.ts"

/**
 * Tests a document. It may throw: an expression rejects what it can't compute.
 *
 * @internal
 */
export type Test = (document: Document) => boolean

/**
 * Compiles a filter. Rejects invalid operands.
 *
 * @internal
 */
export const compileFilter = (condition: Document): Test =>
  everyTest(
    Object.entries(condition).map(([key, operand]) =>
      key.startsWith("$") ? logicalTest(key, operand) : fieldTest(key, operand)
    )
  )

/** @internal */
export const everyTest = (tests: ReadonlyArray<Test>): Test => {
  const [first, second, ...others] = tests
  if (first === undefined) return () => true
  if (second === undefined) return first
  const both: Test = (document) => first(document) && second(document)
  return others.length === 0 ? both : (document) => both(document) && others.every((test) => test(document))
}

/**
 * Compiles the condition of an `$elemMatch` or a `$pull` into a test of an array's items.
 *
 * @internal
 */
export const compileItemCondition = (condition: Document): (item: unknown) => boolean => {
  if (!isValueCondition(condition)) {
    const test = compileFilter(condition)
    // A filter reads an array in an array as a document whose keys are the indexes.
    return (item) => isDocument(item) ? test(item) : isArray(item) && test({ ...item })
  }
  const test = fieldTest("item", condition)
  const takesArrays = Object.keys(condition).every((key) => key === "$elemMatch" || key === "$size")
  // The other operators would also test the items of an item.
  return (item) => test({ item: isArray(item) && !takesArrays ? [item] : item })
}

/**
 * Compiles the operators on one field.
 *
 * @internal
 */
export const fieldTest = (path: string, operators: unknown): Test =>
  isDocument(operators)
    ? everyTest(Object.entries(operators).map(([name, operand]) => operatorTest(path, name, operand)))
    : reject("a field needs operators")

// internal

const logicalTest = (operator: string, operand: unknown): Test => {
  if (operator === "$expr") {
    // The parser of filters has made an expression of it.
    const compute = operand instanceof Operand && typeof operand.value === "function" ? operand.value : undefined
    return compute === undefined ? reject("$expr needs an expression") : (document) => isTruthy(compute(document))
  }
  if (!isArray(operand)) return reject(`${operator} needs an array of filters`)
  const tests = operand.filter(isDocument).map(compileFilter)
  if (operator === "$and") return everyTest(tests)
  const isOr = operator === "$or"
  return (document) => tests.some((test) => test(document)) === isOr
}

const operatorTest = (path: string, name: string, operand: unknown): Test => {
  switch (name) {
    case "$not": {
      const test = fieldTest(path, operand)
      return (document) => !test(document)
    }
    case "$elemMatch": {
      const test = isDocument(operand) ? compileItemCondition(operand) : reject("$elemMatch needs a condition")
      return testAt(path, (value) => isArray(value) && value.some(test))
    }
    // The conditions of an `$all`: each is an equality or an `$elemMatch`.
    case "$every":
      return everyTest(isArray(operand) ? operand.map((condition) => fieldTest(path, condition)) : [])
    default: {
      const operator = valueOperators.get(name)
      return operator === undefined ? reject(`${name} is no operator that can be used here`) : operator(path, operand)
    }
  }
}
