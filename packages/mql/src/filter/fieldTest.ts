/** Conditions on a field: how they read single values, and paths through arrays. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import { type Segments, segmentsOf, someAt } from "../bson/path.ts"
import { isArray, isDocument, ownField } from "../bson/value.ts"
import { chargeTest } from "../limits/costBudget.ts"
import type { ValueCondition } from "../predicate/comparisonOperators.ts"

/** Tests a document. It may throw: an expression rejects what it can't compute. */
export type Test = (document: Document) => boolean

/** A condition on a field, whatever its path. */
export interface FieldTest {
  /** Tests a single value. */
  readonly accepts: ValueCondition
  /** Tests what is at the rest of a path, from this segment on. */
  readonly matches: (node: unknown, path: Segments, at: number) => boolean
  /** The tests of the items of an array. */
  readonly items: ReadonlyArray<ItemTest>
}

export interface ItemTest {
  readonly accepts: ValueCondition
  /** Whether the test is an `$elemMatch`, which is about one item. */
  readonly isElement: boolean
}

/** An array matches as itself or by an item, as for most operators, unless its index selected it. */
export const onItems = (accepts: ValueCondition): FieldTest => {
  const test = (value: unknown, isItem: boolean): boolean => {
    if (!isItem && isArray(value)) {
      chargeItems(value)
      for (const item of value) if (accepts(item)) return true
    }
    return accepts(value)
  }
  return {
    accepts,
    matches: (node, path, at) => someAt(node, path, at, test, chargeItems),
    items: [{ accepts, isElement: false }]
  }
}

/** An operator that takes an array as a whole. */
export const onValue = (accepts: ValueCondition, items: ReadonlyArray<ItemTest> = []): FieldTest => ({
  accepts,
  matches: (node, path, at) => someAt(node, path, at, accepts, chargeItems),
  items
})

/** A negation matches when no value at the path matches the condition. It says nothing about the items of an array. */
export const noneOf = ({ accepts, matches }: FieldTest): FieldTest => ({
  accepts: (value) => !accepts(value),
  matches: (node, path, at) => !matches(node, path, at),
  items: []
})

/** Several conditions, each of which any item of an array may meet. */
export const allTests = (tests: ReadonlyArray<FieldTest>): FieldTest => {
  const [only, ...others] = tests
  return only !== undefined && others.length === 0 ? only : {
    accepts: every(tests.map(({ accepts }) => accepts)),
    matches: (node, path, at) => tests.every(({ matches }) => matches(node, path, at)),
    items: tests.flatMap(({ items }) => items)
  }
}

/** Tests the field at a path of a document. */
export const testAt = (path: string, { accepts, matches }: FieldTest): Test => {
  const segments = segmentsOf(path)
  if (segments.length === 1) {
    return (document) => {
      const value = ownField(document, path)
      return isArray(value) ? matches(value, segments, 1) : accepts(value)
    }
  }
  return (document) => {
    let node: unknown = document
    let at = 0
    while (at < segments.length && isDocument(node)) node = ownField(node, segments[at++]!)
    return isArray(node) ? matches(node, segments, at) : accepts(at < segments.length ? undefined : node)
  }
}

export const every = <A>(tests: ReadonlyArray<(value: A) => boolean>): (value: A) => boolean => {
  const [first, second, ...others] = tests
  if (first === undefined) return () => true
  if (second === undefined) return first
  const both = (value: A) => first(value) && second(value)
  return others.length === 0 ? both : (value) => both(value) && others.every((test) => test(value))
}

/** Tests an array's items with a filter, which reads an inner array as a document of its indexes. */
export const itemTest = (test: Test): ValueCondition => (item) => {
  if (isDocument(item)) return test(item)
  if (!isArray(item)) return false
  chargeItems(item)
  return test({ ...item })
}

/** Charges a test of each item of an array. */
export const chargeItems = (array: ReadonlyArray<unknown>): void => chargeTest(array.length)
