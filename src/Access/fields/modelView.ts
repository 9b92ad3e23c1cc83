import * as Context from "effect/Context"
import type * as Fiber from "effect/Fiber"
import { memoize } from "effect/Function"
import { BoundedCache } from "../../internal/boundedCache.ts"
import type * as Model from "../../Model/Model.ts"
import { AccessDecision, type EffectiveGrant } from "../../Repository/introspection.ts"
import { type CallerDocuments, callerDocuments, type GrantedFields, type Grants, noGrants } from "./callerDocuments.ts"
import { formWithout } from "./documentForm.ts"
import { type FieldNames, hiddenBy, maskedBy, modelWithout, unwritableByAll } from "./fieldMask.ts"
import { writeMaskOf } from "./writeMask.ts"

/**
 * Whether all grants show and may write all fields.
 *
 * @internal
 */
export const hasAllFields = ({ read, write }: Pick<Grants, "read" | "write">): boolean =>
  read.every(({ fields }) => fields === undefined) && write.every(({ fields }) => fields === undefined)

/**
 * A key for what a set of grants says of fields, and for which of them depend on the document.
 *
 * @internal
 */
export const keyOf = ({ read, write }: Pick<Grants, "read" | "write">): string => `${keysOf(read)};${keysOf(write)}`

/**
 * A model as callers with a set of grants see it, compiled once for the set.
 *
 * @internal
 */
export interface ModelView extends Pick<GrantedFields, "form" | "mask" | "maskDependsOnDocument"> {
  /** The model without the fields that are hidden in every document. What may be left out of a body is optional. */
  readonly model: Model.Any
  /** The fields that are hidden in every document. */
  readonly hidden: FieldNames
  /** The documents of the caller for whom the fiber runs. */
  readonly of: (fiber: Fiber.Fiber<unknown, unknown>) => CallerDocuments
  /** The documents of a caller with these grants. */
  readonly ofCaller: (grants: Grants) => CallerDocuments
  /** Whether documents are shown at all. */
  readonly isReadable: boolean
  /** Whether documents show different fields, or different ones may be written. */
  readonly dependsOnDocument: boolean
  /** The documents of every caller, if they do not depend on the caller. */
  readonly same: CallerDocuments | undefined
}

/**
 * The view of callers who see and write everything.
 *
 * @internal
 */
export const wholeView = (model: Model.Any): ModelView => {
  const all = [{ id: 0, fields: undefined, rows: undefined, check: undefined }]
  return makeView(model, { ...noGrants, read: all, write: all })
}

/**
 * The view of a set of grants. The last 64 of a model are cached.
 *
 * @internal
 */
export const modelView = (model: Model.Any, grants: Grants): ModelView =>
  views(model).getOrMake(keyOf(grants), () => makeView(model, grants))

const maxViews = 64

const views = memoize(() => new BoundedCache<ModelView>(maxViews))

const makeView = (model: Model.Any, grants: Grants): ModelView => {
  const hidden = maskedBy(grants.read, hiddenBy)
  const unwritable = unwritableByAll(grants.write)
  const isReadable = grants.read.length > 0
  /** Whether the caller sees some of the documents that they write, and others not. */
  const isPartlyReadable = isReadable && grants.read.every(({ rows }) => rows !== undefined)
  const mask = writeMaskOf(model, { hidden, unwritable, isUnreadable: !isReadable, isPartlyReadable })
  const maskDependsOnDocument = hidden.dependsOnDocument || unwritable.dependsOnDocument ||
    isPartlyReadable && hidden.ever.length + unwritable.ever.length > 0
  const shown = modelWithout(model, hidden.always, mask.loose)
  const form = hidden.dependsOnDocument ? undefined : formWithout(model, hidden.always)
  const fields: GrantedFields = { model, hidden, unwritable, mask, maskDependsOnDocument, form }
  const isStatic = !maskDependsOnDocument && [...grants.read, ...grants.write].every(({ rows }) => rows === undefined)
  const same = isStatic ? callerDocuments(fields, grants) : undefined
  // The grants of a caller are the same object in all requests with the same row filters.
  const known = new WeakMap<Grants, CallerDocuments>()
  const ofCaller = (view: Grants): CallerDocuments => {
    if (same !== undefined) return same
    const before = known.get(view)
    if (before !== undefined) return before
    const documents = callerDocuments(fields, view)
    known.set(view, documents)
    return documents
  }
  return {
    model: shown,
    hidden: hidden.always,
    mask,
    isReadable,
    form,
    dependsOnDocument: hidden.dependsOnDocument || unwritable.dependsOnDocument,
    maskDependsOnDocument,
    same,
    ofCaller,
    of: (fiber) => same ?? ofCaller(Context.get(fiber.context, AccessDecision)?.endpoint ?? noGrants)
  }
}

type FieldsOfGrant = NonNullable<EffectiveGrant["fields"]>

const keysOf = (grants: ReadonlyArray<EffectiveGrant>): string => {
  let keys = ""
  for (const { check, fields, rows } of grants) {
    keys += fields === undefined ? "," : `${textOf(fields)},`
    if (rows !== undefined) keys += "?"
    if (check !== undefined) keys += "!"
  }
  return keys
}

const textOf = (fields: FieldsOfGrant): string => {
  const known = texts.get(fields)
  if (known !== undefined) return known
  const text = JSON.stringify([fields.hide, fields.readOnly])
  texts.set(fields, text)
  return text
}

const texts = new WeakMap<FieldsOfGrant, string>()
