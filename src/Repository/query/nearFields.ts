/** Searches by distance, which stores neither count nor do everywhere. */
import * as Arr from "effect/Array"
import type { Document, Filter } from "../DocumentStore.ts"

/** The fields by whose distance from a point a filter searches. */
export const nearFields = (filter: Filter): ReadonlyArray<string> =>
  Object.entries(filter).flatMap(([key, operand]) => {
    if (key === "$and" && Arr.isArray(operand)) return operand.filter(isObject).flatMap(nearFields)
    return isObject(operand) && ["$near", "$nearSphere"].some((one) => Object.hasOwn(operand, one)) ? [key] : []
  })

// internal

const isObject = (value: unknown): value is Document => typeof value === "object" && value !== null
