import * as Equal from "effect/Equal"
import { managedField, type ModelLike } from "../shape/variants.ts"

/**
 * Which element of a list before is the one that a new element replaces: that of the same identifier, in a model that
 * has one, else that at the same place.
 *
 * @internal
 */
export const previousElements = (model: ModelLike, previous: unknown): (value: unknown, index: number) => unknown => {
  if (!Array.isArray(previous)) return () => undefined
  const idField = managedField(model, "id")
  if (idField === undefined) return (_, index): unknown => previous[index]
  const byId = new Map<unknown, unknown>(previous.map((element: unknown) => [valueAt(element, idField), element]))
  return (value) => {
    const id = valueAt(value, idField)
    return id === undefined ? undefined : byId.get(id)
  }
}

/**
 * Whether all that values say is so in the instance already: it was read, and is sent back.
 *
 * @internal
 */
export const isPartOf = (values: unknown, previous: unknown): boolean => {
  if (Array.isArray(values)) {
    return Array.isArray(previous) && values.length === previous.length &&
      values.every((value, i) => isPartOf(value, previous[i]))
  }
  return Equal.equals(values, previous) ||
    typeof values === "object" && values !== null && typeof previous === "object" && previous !== null &&
      Object.getPrototypeOf(values) === Object.prototype &&
      Object.entries(values).every(([key, value]) =>
        isPartOf(value ?? undefined, Object.hasOwn(previous, key) ? Reflect.get(previous, key) : undefined)
      )
}

const valueAt = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
