/**
 * Stored documents that cannot be brought into the newest version of their model. Such a document is read as one whose fields no
 * schema accepts: so it is an invalid one for whoever decodes it, and shows nothing.
 */
import { type FieldProblem, type ModelLike, modelVersionField } from "../../Model/internal.ts"
import type { Document } from "../DocumentStore.ts"

/** The field that only such a document has. */
export const unreadableField = "_unreadable"

/**
 * Makes the document that is read instead of a stored one. It has its place in an order by the stored values, but for those of
 * changed fields, which count as missing.
 */
export const unreadable = (
  model: ModelLike,
  stored: Document,
  problems: ReadonlyArray<FieldProblem>,
  changed: ReadonlySet<string>
): Document => {
  const mark = {
    _id: stored["_id"],
    [modelVersionField]: stored[modelVersionField],
    [unreadableField]: true
  }
  const shown = {
    ...Object.fromEntries(Object.keys(model.store.fields).map((field) => [field, noValue])),
    ...mark
  }
  const place = {
    ...Object.fromEntries(Object.entries(stored).filter(([field]) => !changed.has(field))),
    ...mark
  }
  known.set(shown, { problems, stored, place })
  shownAt.set(place, shown)
  return shown
}

/** Why a document is not readable; `undefined` if nothing is known. */
export const unreadableProblems = (document: Document): ReadonlyArray<FieldProblem> | undefined =>
  known.get(document)?.problems

/** The document as it is stored, if it can't be read; otherwise itself. */
export const storedIfUnreadable = (document: Document): Document => known.get(document)?.stored ?? document

/** What a document is sorted by: itself, unless it can't be read. */
export const placeOf = (document: Document): Document => known.get(document)?.place ?? document

/** The document that is read, at its place. */
export const documentAt = (place: Document): Document => shownAt.get(place) ?? place

// internal

/** A value of no schema. */
const noValue = Symbol("unreadable")

interface Unreadable {
  readonly problems: ReadonlyArray<FieldProblem>
  readonly stored: Document
  readonly place: Document
}

const known = new WeakMap<Document, Unreadable>()

const shownAt = new WeakMap<Document, Document>()
