import { withoutIndexes, type WriteMask } from "../../Access/introspection.ts"
import { limitProblems } from "../../Model/introspection.ts"
import { PropertyRequiredException, ValidationException } from "../../Model/ModelError.ts"
import { BulkInsertFailed, DuplicateKey } from "../../Repository/RepositoryError.ts"
import { BadRequest, Forbidden } from "../HttpError.ts"
import { badRequestOf, englishOf, problemOf, translatable } from "../messages/message.ts"

/**
 * The error of a caller who sent a field that they may not write.
 *
 * @internal
 */
export const fieldForbidden = (field: string): Forbidden =>
  translatable(
    new Forbidden({ message: englishOf("errors.FieldForbidden", { field }) }),
    "errors.FieldForbidden",
    { field }
  )

/**
 * The failure of a write as its caller may learn it: without the names of fields that are hidden from them.
 *
 * @internal
 */
export const withoutHiddenFields = (
  mask: WriteMask
): <E extends { readonly _tag: string }>(error: E) => E | BadRequest => {
  if (mask.isEmpty) return (error) => error
  const unnamed = withoutHiddenKeys(mask)
  const isHidden = hiddenIn(mask)
  return (error) => {
    const problems = error instanceof BadRequest
      ? error.errors
      : error instanceof PropertyRequiredException || error instanceof ValidationException
      ? error.problems
      : []
    if (!problems.some(({ field }) => isHidden(field))) return unnamed(error)
    const hidden = problemOf("", "Hidden", "errors.HiddenField")
    return badRequestOf(limitProblems([...problems.filter(({ field }) => !isHidden(field)), hidden]))
  }
}

/**
 * Taken unique values, without the names of fields that are hidden from the caller.
 *
 * @internal
 */
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
  // The replacement of an error is one of the same class.
  return <E extends { readonly _tag: string }>(error: E) => conceal(error) as E
}

const hiddenIn = (mask: WriteMask) => (field: string) => mask.isHidden(withoutIndexes(field))
