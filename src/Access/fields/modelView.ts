/**
 * What callers with a set of grants see and write: of a model, compiled once for the set, and of each of its documents.
 */
import { getOrMake } from "@appkernel/document-store/internal"
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import type * as Fiber from "effect/Fiber"
import { memoize } from "effect/Function"
import * as Result from "effect/Result"
import { BoundedCache } from "../../internal/boundedCache.ts"
import { type DocumentForm, type FieldNames, formWithout, modelWithout } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document, Filter } from "../../Repository/DocumentStore.ts"
import {
  AccessDecision,
  type EffectiveGrant,
  hiddenBy,
  type ModelDecision,
  nothing,
  type RowFilters
} from "../../Repository/internal.ts"
import { type Masked, maskedBy, maskedByAll, unwritableBy, unwritableByAll } from "./maskedFields.ts"
import { type WriteMask, writeMaskOf, type WrittenValues } from "./writeMask.ts"

/** The grants of a caller for the documents of a model. */
export type Grants = Pick<ModelDecision, "matcher" | "read" | "rowsBy" | "write">

/** The grants of a caller without any. */
export const noGrants: Grants = {
  read: [],
  write: [],
  rowsBy: () => ({ rows: () => nothing, check: () => nothing }),
  matcher: () => () => false
}

/** What a caller sees of each document. */
export interface CallerDocuments {
  /** Whether the caller sees the document at all. */
  readonly isShown: (document: Document) => boolean
  /** How the document is written for the caller. */
  readonly formOf: (document: Document) => DocumentForm
  /** The form of all documents, if it is the same. */
  readonly form: DocumentForm | undefined
  /** How the document may be updated: by any one of these. */
  readonly updatesOf: (document: Document) => GrantedWrites
  /** The row filters of the grants that allow to insert these values, or the name of a field that none allows. */
  readonly insertFiltersOf: (sent: WrittenValues) => Result.Result<RowFilters | undefined, string>
  /** The fields that some documents show and others hide, with the grants to read; `undefined`: there are none. */
  readonly partlyHidden: { readonly grants: ReadonlyArray<EffectiveGrant>; readonly hidden: Masked } | undefined
}

/** What the caller may write by grants with the same fields. */
interface GrantedWrite {
  readonly mask: WriteMask
  /** Whether one of the grants allows to leave the document behind. */
  readonly allows: (document: Document) => boolean
  /** The row filters of a write by these grants; `undefined`: those of all grants of the caller. */
  readonly filters: RowFilters | undefined
}

type GrantedWrites = Arr.NonEmptyReadonlyArray<GrantedWrite>

/** What a set of grants says of the fields of all documents. */
interface GrantedFields {
  readonly model: Model.Any
  readonly hidden: Masked
  readonly unwritable: Masked
  /** The fields that callers can't see or write, in a write of any document. */
  readonly mask: WriteMask
  /** Whether the mask of a write depends on the document. */
  readonly maskDependsOnDocument: boolean
  /** The form of all documents, if it is the same. */
  readonly form: DocumentForm | undefined
}

/** Whether all grants show and may write all fields. */
export const hasAllFields = ({ read, write }: Pick<Grants, "read" | "write">): boolean =>
  read.every(({ fields }) => fields === undefined) && write.every(({ fields }) => fields === undefined)

/** A key for what a set of grants says of fields, and for which of them depend on the document. */
export const keyOf = ({ read, write }: Pick<Grants, "read" | "write">): string => `${keysOf(read)};${keysOf(write)}`

/** A model as callers with a set of grants see it, compiled once for the set. */
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

/** The view of a set of grants. The last 64 of a model are cached. */
export const modelView = (model: Model.Any, grants: Grants): ModelView =>
  views(model).getOrMake(keyOf(grants), () => makeView(model, grants))

// internal

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
  const ofCaller = same === undefined ? memoize((view: Grants) => callerDocuments(fields, view)) : () => same
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
    keys += fields === undefined ? "," : `${fieldsKey(fields)},`
    if (rows !== undefined) keys += "?"
    if (check !== undefined) keys += "!"
  }
  return keys
}

const fieldsKey = memoize(({ hide, readOnly }: FieldsOfGrant): string => JSON.stringify([hide, readOnly]))

const callerDocuments = (fields: GrantedFields, grants: Grants): CallerDocuments => {
  const { form, hidden, mask, maskDependsOnDocument, model } = fields
  const reading = matchingBy(grants, grants.read, ({ rows }) => rows)
  const anyWrite: GrantedWrites = [{ mask, allows: always, filters: undefined }]
  return {
    isShown: (document) => reading(document).length > 0,
    formOf: form === undefined
      ? (document) => formWithout(model, hiddenFrom(fields, reading(document)))
      : () => form,
    form,
    updatesOf: maskDependsOnDocument ? updatesBy(fields, grants, reading) : () => anyWrite,
    insertFiltersOf: maskDependsOnDocument ? insertionsBy(model, grants) : () => Result.succeed(undefined),
    partlyHidden: hidden.dependsOnDocument ? { grants: grants.read, hidden } : undefined
  }
}

type Matching = (document: Document) => ReadonlyArray<EffectiveGrant>

/** The grants whose filter matches a document. Each is parsed once, when it is first asked about a document. */
const matchingBy = (
  { matcher }: Grants,
  grants: ReadonlyArray<EffectiveGrant>,
  filterOf: (grant: EffectiveGrant) => Filter | undefined
): Matching => {
  if (grants.every((grant) => filterOf(grant) === undefined)) return () => grants
  let matches: ReadonlyArray<(document: Document) => boolean> | undefined
  return (document) => {
    const tests = matches ??= grants.map((grant) => {
      const filter = filterOf(grant)
      return filter === undefined ? always : matcher(filter)
    })
    return grants.filter((_, i) => tests[i]!(document))
  }
}

/** If no grant allows the document, the fields that any of the grants hides are hidden. */
const hiddenFrom = ({ hidden }: GrantedFields, reading: ReadonlyArray<EffectiveGrant>): FieldNames => {
  if (!hidden.dependsOnDocument) return hidden.always
  return reading.length === 0 ? hidden.ever : maskedByAll(reading.map(hiddenBy))
}

const updatesBy = (fields: GrantedFields, grants: Grants, reading: Matching): CallerDocuments["updatesOf"] => {
  const { model, unwritable } = fields
  const writing = matchingBy(grants, grants.write, ({ rows }) => rows)
  const leaving = matchingBy(grants, grants.write, ({ check }) => check)
  return (document) => {
    const own = reading(document)
    const maskWithout = (unwritable: FieldNames) =>
      writeMaskOf(model, {
        hidden: constantly(hiddenFrom(fields, own)),
        unwritable: constantly(unwritable),
        isUnreadable: own.length === 0,
        isPartlyReadable: false
      })
    const writes = bySameFields(writing(document)).map((same, _, all): GrantedWrite => ({
      mask: maskWithout(maskedByAll(same.map(unwritableBy))),
      allows: (document) => leaving(document).some((grant) => same.includes(grant)),
      filters: all.length === 1 ? undefined : grants.rowsBy(same)
    }))
    return Arr.isReadonlyArrayNonEmpty(writes)
      ? writes
      : [{ mask: maskWithout(unwritable.ever), allows: () => false, filters: undefined }]
  }
}

/** The same grants get the same object of filters, so that the inserts of a list that share it are one insert. */
const insertionsBy = (model: Model.Any, view: Grants): CallerDocuments["insertFiltersOf"] => {
  // Most requests insert nothing.
  const groupsOf = () =>
    bySameFields(view.write).map((grants) => {
      const unwritable = constantly(maskedByAll(grants.map(unwritableBy)))
      return {
        grants,
        mask: writeMaskOf(model, { hidden: constantly([]), unwritable, isUnreadable: false, isPartlyReadable: false })
      }
    })
  let groups: ReturnType<typeof groupsOf> | undefined
  const known = new Map<string, RowFilters>()
  return (sent) => {
    groups ??= groupsOf()
    const attempts = groups.map(({ grants, mask }) => Result.map(mask.keep(sent, undefined, "replace"), () => grants))
    const allowed = Arr.getSuccesses(attempts)
    if (allowed.length === attempts.length) return Result.succeed(undefined)
    const [denied = ""] = Arr.getFailures(attempts)
    if (allowed.length === 0) return Result.fail(denied)
    const key = attempts.map(Result.isSuccess).join()
    return Result.succeed(getOrMake(known, key, () => view.rowsBy(allowed.flat())))
  }
}

/** The grants by the fields that they take away, those that take away the fewest first. */
const bySameFields = (grants: ReadonlyArray<EffectiveGrant>): ReadonlyArray<ReadonlyArray<EffectiveGrant>> => {
  const groups = Map.groupBy(grants, (grant) => maskedByAll([unwritableBy(grant)]).join())
  return [...groups.values()].toSorted(([one], [other]) => unwritableBy(one!).length - unwritableBy(other!).length)
}

const constantly = (names: ReadonlyArray<string>) => ({ always: names, ever: names })

const always = () => true
