/**
 * The document that an upsert starts from, and the identifier that every update keeps.
 */
import { ObjectId } from "bson"
import * as Result from "effect/Result"
import { normalise } from "../../bson/normalise.ts"
import { segmentsOf } from "../../bson/path.ts"
import { fieldOf, isDocument, isIdentical, setField } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import type { Filter } from "../filter/parseFilter.ts"
import { type Problem, rejected } from "../limits/queryProblem.ts"

/**
 * A document with the identifier that it has to have. Rejects another one.
 *
 * @internal
 */
export const keepingId = (document: Document, id: unknown): Result.Result<Document, Problem> => {
  const given = document["_id"]
  if (id !== undefined && given !== undefined && !isIdentical(given, id)) {
    return Result.fail(rejected("_id can't change"))
  }
  return Result.succeed(given !== undefined || id === undefined ? document : Object.freeze({ _id: id, ...document }))
}

/**
 * A document with an identifier, a new one if it has none.
 *
 * @internal
 */
export const withId = (document: Document): Document =>
  document["_id"] === undefined ? Object.freeze({ _id: new ObjectId(), ...document }) : document

/**
 * The document that an upsert starts from: what the filter requires to be equal.
 *
 * @internal
 */
export const fromEqualities = ({ equalities }: Filter): Result.Result<Document, Problem> => {
  const root: { [key: string]: unknown } = {}
  for (const [path, value] of equalities) {
    const segments = segmentsOf(path)
    let node = root
    for (const [i, segment] of segments.entries()) {
      const isLast = i === segments.length - 1
      const inner = fieldOf(node, segment)
      if (inner !== undefined && (isLast || !isDocument(inner))) {
        return Result.fail(rejected(`the filter asks for several values of "${path}"`))
      }
      const next: { [key: string]: unknown } = isDocument(inner) ? { ...inner } : {}
      setField(node, segment, isLast ? value : next)
      node = next
    }
  }
  return Result.mapError(normalise(root), rejected)
}
