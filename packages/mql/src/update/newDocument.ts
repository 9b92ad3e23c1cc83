/** The document that an upsert starts from, and the identifier that every update keeps. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import { ObjectId } from "bson"
import * as Result from "effect/Result"
import { normalise } from "../bson/normalise.ts"
import { segmentsOf } from "../bson/path.ts"
import { equals, isDocument, ownField, setField } from "../bson/value.ts"
import type { Filter } from "../filter/parseFilter.ts"
import { reject } from "../limits/queryProblem.ts"

/** A document with the identifier that it has to have, or an equal one; rejects another one. */
export const keepingId = (document: Document, id: unknown): Document =>
  document["_id"] === undefined && id !== undefined ? Object.freeze({ _id: id, ...document }) : keptId(document, id)

/** A changed document, if it still has its identifier, or an equal one of another numeric type; rejects any other. */
export const keptId = (document: Document, id: unknown): Document =>
  id === undefined || (document["_id"] !== undefined && equals(document["_id"], id))
    ? document
    : reject("_id can't change")

/** A document that begins with its identifier, a new one if it has none. */
export const beginningWithId = (document: Document): Document =>
  Object.freeze({ _id: document["_id"] === undefined ? new ObjectId() : document["_id"], ...document })

/** The document that an upsert starts from: what the filter requires to be equal. May throw. */
export const fromEqualities = ({ equalities }: Filter): Document => {
  const root: { [key: string]: unknown } = {}
  for (const [path, value] of equalities) {
    const segments = segmentsOf(path)
    let node = root
    for (const [i, segment] of segments.entries()) {
      const isLast = i === segments.length - 1
      const inner = ownField(node, segment)
      if (inner !== undefined && (isLast || !isDocument(inner))) {
        return reject(`the filter asks for several values of "${path}"`)
      }
      const next: { [key: string]: unknown } = isDocument(inner) ? { ...inner } : {}
      setField(node, segment, isLast ? value : next)
      node = next
    }
  }
  return Result.getOrElse(normalise(root), reject)
}
