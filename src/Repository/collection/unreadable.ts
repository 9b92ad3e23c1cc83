/**
 * Stored documents that cannot be brought into the newest version of their model. Such a document is read as one whose fields no
 * schema accepts: so it is an invalid one for whoever decodes it, and shows nothing.
 */
import { type FieldProblem, type ModelLike, modelVersionField } from "../../Model/internal.ts"
import type { Document } from "../DocumentStore.ts"

/** The field that only such a document has. */
export const unreadableField = "_unreadable"

/** Makes the document that is read instead. */
export const unreadable = (
  model: ModelLike,
  document: Document,
  problems: ReadonlyArray<FieldProblem>
): Document => {
  const shown = {
    ...Object.fromEntries(Object.keys(model.store.fields).map((field) => [field, noValue])),
    _id: document["_id"],
    [modelVersionField]: document[modelVersionField],
    [unreadableField]: true
  }
  known.set(shown, problems)
  return shown
}

/** Why a document is not readable; `undefined` if nothing is known. */
export const unreadableProblems = (document: Document): ReadonlyArray<FieldProblem> | undefined => known.get(document)

// internal

/** A value of no schema. */
const noValue = Symbol("unreadable")

const known = new WeakMap<Document, ReadonlyArray<FieldProblem>>()
