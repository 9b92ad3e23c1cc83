/**
 * The item of an array that a filter matched, which `$` stands for in updates and projections.
 */
import { childOf, segmentsOf } from "../../bson/path.ts"
import { isArray, isDocument } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { compileFilter, compileItemCondition, fieldTest } from "./compileFilter.ts"

/**
 * Finds the place of the first item of the array at a path that meets the filter's conditions of its items: all of them if
 * there is such an item, else those of an `$elemMatch`, else the first of them. `undefined` if the filter has no such
 * condition. Rejects invalid operands.
 *
 * @internal
 */
export const matchedItem = (
  condition: Document,
  path: string
): ((document: Document) => number | undefined) | undefined => {
  const conditions = conditionsOf(condition, path)
  if (conditions.length === 0) return undefined
  const segments = segmentsOf(path)
  const [first] = conditions.toSorted((a, b) => Number(b.isElement) - Number(a.isElement))
  return (document) => {
    const list = segments.reduce(childOf, document as unknown)
    if (!isArray(list)) return undefined
    const known = conditions.filter(({ applies }) => applies(document))
    const all = list.findIndex((item) => known.length > 0 && known.every(({ test }) => test(item)))
    const at = all >= 0 ? all : list.findIndex((item) => first?.test(item) === true)
    return at < 0 ? undefined : at
  }
}

// internal

interface ItemCondition {
  readonly test: (item: unknown) => boolean
  /** Whether it is an `$elemMatch`, which is about one item. */
  readonly isElement: boolean
  /** Whether the branch of the filter that the condition is in matches. */
  readonly applies: (document: Document) => boolean
}

const always = () => true

const conditionsOf = (condition: Document, path: string): ReadonlyArray<ItemCondition> =>
  Object.entries(condition).flatMap(([key, operand]) => {
    if (key === "$and" && isArray(operand)) {
      return operand.filter(isDocument).flatMap((part) => conditionsOf(part, path))
    }
    if (key === "$or" && isArray(operand)) {
      return operand.filter(isDocument).flatMap((part) => {
        const applies = compileFilter(part)
        return conditionsOf(part, path).map((found) => ({ ...found, applies }))
      })
    }
    if (!isDocument(operand)) return []
    if (key === path) return Object.entries(operand).flatMap(([name, value]) => ofOperator(name, value))
    if (!key.startsWith(`${path}.`)) return []
    const test = fieldTest(key.slice(path.length + 1), operand)
    return [{ test: (item) => isDocument(item) && test(item), isElement: false, applies: always }]
  })

const ofOperator = (name: string, value: unknown): ReadonlyArray<ItemCondition> => {
  // These are about the array itself.
  if (name === "$size" || name === "$exists") return []
  if (name === "$elemMatch" && isDocument(value)) {
    return [{ test: compileItemCondition(value), isElement: true, applies: always }]
  }
  if (name === "$every" && isArray(value)) {
    const [first] = value
    return isDocument(first) ? Object.entries(first).flatMap(([inner, operand]) => ofOperator(inner, operand)) : []
  }
  return [{ test: compileItemCondition({ [name]: value }), isElement: false, applies: always }]
}
