/** The item of an array that a filter matched, which `$` stands for in updates and projections. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import { childOf, segmentsOf } from "../bson/path.ts"
import { isArray, isDocument } from "../bson/value.ts"
import { beginEvaluation, chargeTest } from "../limits/costBudget.ts"
import { type FieldTest, type ItemTest, type Test, testAt } from "./fieldTest.ts"

/** A condition of a filter on the items of an array. */
interface ItemCondition extends ItemTest {
  /** Whether the branch of the filter that the condition is in matches. */
  readonly applies: Test
}

/** The conditions of a filter on the items of the array at a path. */
export type ItemConditions = (path: string) => ReadonlyArray<ItemCondition>

export const noItemConditions: ItemConditions = () => []

/** The conditions on items that a condition on a field has. */
export const itemConditionsOf = (field: string, test: FieldTest): ItemConditions => (path) => {
  if (field === path) return test.items.map((item) => ({ ...item, applies: always }))
  if (!field.startsWith(`${path}.`)) return []
  const inner = testAt(field.slice(path.length + 1), test)
  return [{ accepts: (item) => isDocument(item) && inner(item), isElement: false, applies: always }]
}

/**
 * Finds the place of the first item of the array at a path that meets the filter's conditions of its items: all of them if
 * there is such an item, else those of an `$elemMatch`, else the first of them. `undefined` if the filter has no such
 * condition.
 */
export const matchedItem = (
  itemConditions: ItemConditions,
  path: string
): ((document: Document) => number | undefined) | undefined => {
  const conditions = itemConditions(path)
  if (conditions.length === 0) return undefined
  const segments = segmentsOf(path)
  const [first] = conditions.toSorted((a, b) => Number(b.isElement) - Number(a.isElement))
  return (document) => {
    const list = segments.reduce(childOf, document as unknown)
    if (!isArray(list)) return undefined
    beginEvaluation()
    const known = conditions.filter(({ applies }) => applies(document))
    chargeTest(list.length * (1 + known.length))
    const all = list.findIndex((item) => known.length > 0 && known.every(({ accepts }) => accepts(item)))
    const at = all >= 0 ? all : list.findIndex((item) => first?.accepts(item) === true)
    return at < 0 ? undefined : at
  }
}

// internal

const always = () => true
