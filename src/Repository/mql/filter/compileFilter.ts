/**
 * Compiles filters that consist of field operators, `$and`, `$or` and `$nor`. They are the common ones, and mingo's own
 * compilation takes longer than a read.
 */
import { isArray, isDocument } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { documentOptions } from "../expression/operators.ts"
import { filterOperatorOf } from "../predicate/comparison.ts"

/** @internal */
export type Test = (document: Document) => boolean

/**
 * Compiles a filter into a test; `undefined` if it needs mingo.
 *
 * @internal
 */
export const compileFilter = (condition: Document): Test | undefined => {
  const tests: Array<Test> = []
  for (const [path, operand] of Object.entries(condition)) {
    const test = path.startsWith("$") ? logicalTest(path, operand) : fieldTest(path, operand)
    if (test === undefined) return undefined
    tests.push(test)
  }
  return everyTest(tests)
}

/** @internal */
export const everyTest = (tests: ReadonlyArray<Test>): Test => {
  const [first, second, ...others] = tests
  if (first === undefined) return () => true
  if (second === undefined) return first
  const both: Test = (document) => first(document) && second(document)
  return others.length === 0 ? both : (document) => both(document) && others.every((test) => test(document))
}

const logicalTest = (operator: string, operand: unknown): Test | undefined => {
  if (operator !== "$and" && operator !== "$or" && operator !== "$nor" || !isArray(operand)) return undefined
  const tests = operand.map((part) => isDocument(part) ? compileFilter(part) : undefined)
  const known = tests.filter((test) => test !== undefined)
  if (known.length < tests.length) return undefined
  if (operator === "$and") return everyTest(known)
  const isOr = operator === "$or"
  return (document) => known.some((test) => test(document)) === isOr
}

const fieldTest = (path: string, operators: unknown): Test | undefined => {
  if (!isDocument(operators)) return undefined
  const tests: Array<Test> = []
  for (const [name, operand] of Object.entries(operators)) {
    const operator = filterOperatorOf(name)
    if (operator === undefined) return undefined
    tests.push(operator(path, operand, documentOptions))
  }
  return everyTest(tests)
}
