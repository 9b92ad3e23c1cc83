/** Bounds what a request makes the service compute: the hashes of passwords. */
import * as Context from "effect/Context"
import type * as Fiber from "effect/Fiber"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type { ModelLike } from "../../Model/internal.ts"
import { costlyFields, maxCostly } from "../description/limits.ts"

/** Whether the request that the fiber handles may have one more value that is costly to convert. */
export const mayConvert = ({ context }: Fiber.Fiber<unknown, unknown>): boolean => {
  const request = Context.getOrUndefined(context, HttpServerRequest.HttpServerRequest)
  if (request === undefined) return true
  const count = (counts.get(request.source) ?? 0) + 1
  counts.set(request.source, count)
  return count <= maxCostly
}

/** Counts the values of a document that are costly to convert, without those of documents in it. */
export const costlyCounter = (model: ModelLike): (values: { readonly [field: string]: unknown }) => number => {
  const fields = costlyFields(model)
  return (values) => fields.filter((field) => (values[field] ?? null) !== null).length
}

// internal

const counts = new WeakMap<object, number>()
