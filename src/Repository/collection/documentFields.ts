/**
 * Which fields of a document a filter depends on, and which an update changes. Fields are those of the document itself: a
 * path within a field counts as the field.
 */
import { isArray, isDocument } from "@appkernel/mql/values"
import { ownValue } from "../../internal/objects.ts"
import type { Document, Filter, Update } from "../DocumentStore.ts"

/** The fields that a filter depends on; `undefined` if it may depend on any. */
export const fieldsOfFilter = (filter: Filter): ReadonlySet<string> | undefined => {
  const fields = new Set<string>()
  for (const [key, operand] of Object.entries(filter)) {
    if (!key.startsWith("$")) fields.add(topFieldOf(key))
    else if (key !== "$comment") {
      const parts = branches.has(key) && isArray(operand) ? operand.map(fieldsOfBranch) : [undefined]
      for (const part of parts) {
        if (part === undefined) return undefined
        for (const field of part) fields.add(field)
      }
    }
  }
  return fields
}

/** The fields that an update changes. */
export const fieldsOfUpdate = (update: Update): ReadonlyArray<string> =>
  Object.entries(update).flatMap(([operator, operands]) =>
    Object.entries(Object(operands)).flatMap(([path, operand]) =>
      operator === "$rename" ? [topFieldOf(path), topFieldOf(String(operand))] : [topFieldOf(path)]
    )
  )

/** The document after an update that sets, removes and increments its fields, and none within them. */
export const afterUpdate = (document: Document, { $inc, $set, $unset }: Update): Document => {
  const removed = new Set(Object.keys(Object($unset)))
  return {
    ...Object.fromEntries(Object.entries(document).filter(([field]) => !removed.has(field))),
    ...Object($set),
    ...Object.fromEntries(
      Object.entries(Object($inc)).map(([field, by]) => [field, Number(document[field] ?? 0) + Number(by)])
    )
  }
}

/** A filter that matches while these fields have the values that were read. */
export const unchangedSince = (read: Document, fields: ReadonlyArray<string>): Filter =>
  Object.fromEntries(
    fields.map((field) => [field, ownValue(read, field) === undefined ? { $exists: false } : { $eq: read[field] }])
  )

/** The field that a path begins with. */
export const topFieldOf = (path: string): string => path.split(".", 1)[0] ?? path

// internal

const branches: ReadonlySet<string> = new Set(["$and", "$or", "$nor"])

const fieldsOfBranch = (branch: unknown) => isDocument(branch) ? fieldsOfFilter(branch) : undefined
