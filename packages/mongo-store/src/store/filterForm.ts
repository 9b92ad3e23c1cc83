/** Filters in the form of MongoDB's driver. */
import type { Document, Filter } from "@appkernel/document-store/DocumentStore"
import * as Predicate from "effect/Predicate"

/** The filter of an identifier. One from outside may be an object whose keys are operators. */
export const filterById = (id: unknown): Filter => ({
  _id: Predicate.isObject(id) && !(id instanceof Date) && !("_bsontype" in id) ? { $eq: id } : id
})

/** A filter with `null` for `undefined`. The driver's option would apply to the update of a command, too. */
export const withNulls = (filter: Filter): Filter => {
  const replace = (value: unknown): unknown =>
    value === undefined
      ? null
      : Array.isArray(value)
      ? value.map(replace)
      : isPlainObject(value)
      ? withNulls(value)
      : value
  return Object.fromEntries(Object.entries(filter).map(([key, value]) => [key, replace(value)]))
}

// internal

const isPlainObject = (value: unknown): value is Document => {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
