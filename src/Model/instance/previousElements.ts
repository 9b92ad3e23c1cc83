/** Compares new values with the previous instance, so that unchanged ones are not validated or converted again. */
import * as Equal from "effect/Equal"
import { isPlainObject, ownValue } from "../../internal/objects.ts"
import { managedField, type ModelLike } from "../shape/variants.ts"
import { Kept } from "./keptFields.ts"

/** The previous element of a new one: with the same identifier if the model has one, else at the same index. */
export const previousElements = (model: ModelLike, previous: unknown): (value: unknown, index: number) => unknown => {
  if (!Array.isArray(previous)) return () => undefined
  const idField = managedField(model, "id")
  if (idField === undefined) return (_, index): unknown => previous[index]
  const byId = new Map<unknown, unknown>(previous.map((element: unknown) => [ownValue(element, idField), element]))
  return (value) => {
    const id = ownValue(value, idField)
    return id === undefined ? undefined : byId.get(id)
  }
}

/** Whether the instance already has all the values, as with a document that was read and is sent back. */
export const isContainedIn = (values: unknown, previous: unknown): boolean => {
  if (values instanceof Kept) return true
  if (Array.isArray(values)) {
    return Array.isArray(previous) && values.length === previous.length &&
      values.every((value, i) => isContainedIn(value, previous[i]))
  }
  return Equal.equals(values, previous) ||
    isPlainObject(values) && typeof previous === "object" && previous !== null &&
      Object.entries(values).every(([key, value]) => isContainedIn(value ?? undefined, ownValue(previous, key)))
}
