/** Errors and schemas for callers from whom fields are hidden. */
import type { WriteMask } from "../../Access/internal.ts"
import { type FieldNames, withoutIndexes } from "../../Model/internal.ts"
import { PropertyRequiredException, ValidationException } from "../../Model/ModelError.ts"
import { BulkInsertFailed, DuplicateKey } from "../../Repository/RepositoryError.ts"
import { BadRequest, errorOf, type Forbidden } from "../HttpError.ts"
import { badRequestOf, fieldProblem, problemsIn } from "../messages/message.ts"

/** The error for a field that its caller may not write. */
export const fieldForbidden = (field: string): Forbidden => errorOf("Forbidden", "errors.FieldForbidden", { field })

/** Removes the names of hidden fields from the failure of a write. */
export const withoutHiddenFields = (
  mask: WriteMask
): <E extends { readonly _tag: string }>(error: E) => E | BadRequest => {
  if (mask.isEmpty) return (error) => error
  const unnamed = withoutHiddenKeys(mask)
  const isHidden = hiddenIn(mask)
  return (error) => {
    const problems = error instanceof BadRequest
      ? problemsIn(error)
      : error instanceof PropertyRequiredException || error instanceof ValidationException
      ? error.problems
      : []
    if (!problems.some(({ field }) => isHidden(field))) return unnamed(error)
    const hidden = fieldProblem("", "Hidden", "errors.HiddenField")
    return badRequestOf([...problems.filter(({ field }) => !isHidden(field)), hidden])
  }
}

/** Removes the names of hidden fields from errors about taken unique values. */
export const withoutHiddenKeys = (mask: WriteMask): <E extends { readonly _tag: string }>(error: E) => E => {
  if (mask.isEmpty) return (error) => error
  const isHidden = hiddenIn(mask)
  const unnamed = (error: DuplicateKey) =>
    new DuplicateKey({
      collection: error.collection,
      index: "",
      fields: error.fields.filter((field) => !isHidden(field))
    })
  const conceal = (error: { readonly _tag: string }): unknown => {
    if (error instanceof DuplicateKey) return error.fields.some(isHidden) ? unnamed(error) : error
    if (!(error instanceof BulkInsertFailed)) return error
    const { collection, insertedCount } = error
    const failures = error.failures.map(({ error, index }) => ({
      index,
      error: error instanceof DuplicateKey ? unnamed(error) : error
    }))
    return new BulkInsertFailed({ collection, insertedCount, failures })
  }
  // `conceal` returns an error of the same class.
  return <E extends { readonly _tag: string }>(error: E) => conceal(error) as E
}

/** Removes properties from a JSON schema. Their paths lead through objects, lists and alternatives. */
export const withoutProperties = (schema: Schema, names: FieldNames): Schema =>
  names.reduce((reduced, name) => without(reduced, name.split(".")), schema)

// internal

type Schema = { readonly [keyword: string]: unknown }

const without = (schema: Schema, path: ReadonlyArray<string>): Schema => {
  const [key = "", ...rest] = path
  const inParts = Object.fromEntries(
    Object.entries(schema).map(([keyword, part]) => [
      keyword,
      keyword === "items" || keyword === "anyOf" || keyword === "oneOf" || keyword === "allOf"
        ? inEach(part, path)
        : part
    ])
  )
  const { properties, required } = schema
  if (!isSchema(properties) || !Object.hasOwn(properties, key)) return inParts
  if (rest.length > 0) return { ...inParts, properties: { ...properties, [key]: inEach(properties[key], rest) } }
  const { [key]: _, ...others } = properties
  const names = Array.isArray(required) ? required.filter((name) => name !== key) : []
  const { required: __, ...kept } = inParts
  return { ...kept, properties: others, ...(names.length === 0 ? {} : { required: names }) }
}

const inEach = (part: unknown, path: ReadonlyArray<string>): unknown =>
  Array.isArray(part) ? part.map((one: unknown) => inEach(one, path)) : isSchema(part) ? without(part, path) : part

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const hiddenIn = (mask: WriteMask) => (field: string) => mask.isHidden(withoutIndexes(field))
