/**
 * What a reader sees of changes: a document that enters what the reader may see is an insert, one that leaves it is a delete
 * without contents, and a change without a visible difference is nothing.
 */
import { compare, documentKey, isArray, isDocument, setField } from "@appkernel/mql/values"
import type { EffectiveGrant, ModelDecision } from "../collection/accessDecision.ts"
import type { Document, StoredChange } from "../DocumentStore.ts"

/** The documents that a reader sees. */
export interface ChangeView {
  readonly sees: (document: Document) => boolean
  /** Whether both states of a document, which are seen, look the same. */
  readonly isSame: (before: Document, after: Document) => boolean
}

/** A change as a reader sees it. A delete has no `before` if the document still exists. */
export type SeenChange =
  | { readonly operation: "insert"; readonly after: Document }
  | { readonly operation: "update"; readonly before: Document; readonly after: Document }
  | { readonly operation: "delete"; readonly before: Document | undefined }

export const seenChange = ({ isSame, sees }: ChangeView, change: StoredChange): SeenChange | undefined => {
  const before = change.operation !== "insert" && sees(change.before) ? change.before : undefined
  const after = change.operation !== "delete" && sees(change.after) ? change.after : undefined
  if (after === undefined) {
    return before === undefined
      ? undefined
      : { operation: "delete", before: change.operation === "delete" ? before : undefined }
  }
  if (before === undefined) return { operation: "insert", after }
  return isSame(before, after) ? undefined : { operation: "update", before, after }
}

/** The key of a document in a map. */
export const idKey = (id: unknown): string => documentKey(id)

/** Compares states of documents without the fields that a caller does not see. */
export const sameFor = (decision: ModelDecision | undefined): ChangeView["isSame"] => {
  const grants = decision?.read ?? []
  const names = [...new Set(grants.flatMap(({ fields }) => fields?.hide ?? []))]
  if (decision === undefined || names.length === 0) return haveSameFields
  const shown = (document: Document): Document => {
    const own = grants.filter(({ rows }) => rows === undefined || decision.matcher(rows)(document))
    return names.filter((name) => own.every((grant) => hides(grant, name))).reduce(
      (rest, name) => without(rest, name.split(".")),
      document
    )
  }
  return (before, after) => haveSameFields(shown(before), shown(after))
}

// internal

const haveSameFields = (one: Document, other: Document): boolean => {
  const keys = Object.keys(one)
  return keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && (one[key] === other[key] || compare(one[key], other[key]) === 0))
}

const hides = ({ fields }: EffectiveGrant, name: string): boolean =>
  fields?.hide.some((hidden) => name === hidden || name.startsWith(`${hidden}.`)) === true

const without = (document: Document, [field = "", ...rest]: ReadonlyArray<string>): Document => {
  if (!Object.hasOwn(document, field)) return document
  const copy: { [key: string]: unknown } = {}
  for (const key of Object.keys(document)) {
    if (key !== field) setField(copy, key, document[key])
    else if (rest.length > 0) setField(copy, key, withoutIn(document[key], rest))
  }
  return copy
}

const withoutIn = (value: unknown, path: ReadonlyArray<string>): unknown =>
  isArray(value)
    ? value.map((item) => withoutIn(item, path))
    : isDocument(value)
    ? without(value, path)
    : value
