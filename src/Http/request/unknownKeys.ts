import type * as Schema from "effect/Schema"
import {
  type bodyDecoder,
  bounded,
  elementOf,
  type FieldProblem,
  type ModelLike,
  nestedModel
} from "../../Model/introspection.ts"

type Decode = ReturnType<typeof bodyDecoder>

/**
 * Decodes a body as `decode` does, and refuses the keys that the model, or one within it, does not have.
 *
 * @internal
 */
export const refusingExcess = (model: ModelLike, decode: Decode): Decode => (body) => {
  const decoded = decode(body)
  const excess = excessIn(model, body, "")
  if (excess.length === 0) return decoded
  return { _tag: "Invalid", problems: bounded([...excess, ...(decoded._tag === "Valid" ? [] : decoded.problems)]) }
}

/**
 * What is wrong with a key that a model does not have.
 *
 * @internal
 */
export const excessProblem = (field: string): FieldProblem => ({
  field,
  validator: "Unknown",
  message: "is not a field of the model"
})

/** What answers say beside the fields, so that a document that was read can be sent back. */
const shown: ReadonlySet<string> = new Set(["_type", "_links"])

const excessIn = (model: ModelLike, value: unknown, path: string): ReadonlyArray<FieldProblem> => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return []
  return Object.entries(value).flatMap(([key, part]) => {
    if (!Object.hasOwn(model.store.fields, key)) return shown.has(key) ? [] : [excessProblem(`${path}${key}`)]
    // A field of a struct is a schema.
    const schema = model.store.fields[key] as Schema.Top
    const inner = nestedModel(schema)
    if (inner === undefined) return []
    return elementOf(schema) === undefined
      ? excessIn(inner, part, `${path}${key}.`)
      : Array.isArray(part)
      ? part.flatMap((item: unknown, i) => excessIn(inner, item, `${path}${key}.${i}.`))
      : []
  })
}
