/** The row filters that follow from the grants of a caller. */
import { getOrMake } from "@appkernel/document-store/internal"
import type { Filter } from "../../Repository/DocumentStore.ts"
import {
  allOf,
  anyOf,
  type EffectiveGrant,
  nothing,
  type Privilege,
  type RowFilters,
  type UpdateGrant
} from "../../Repository/internal.ts"

type Grants = ReadonlyArray<EffectiveGrant>

/** The documents that one of the grants allows. */
export const rowsOf = (grants: ReadonlyArray<Pick<UpdateGrant, "rows">>): Filter | undefined =>
  anyOf(grants.map(({ rows }) => rows))

/** The filters of the grants for the request's method, whatever the repository does. */
export const filtersOfMethod = (grants: Grants): RowFilters => {
  const [rows, check, updates] = [rowsOf(grants), checkOf(grants), distinctUpdates(grants)]
  return { rows: () => rows, check: () => check, updateGrants: () => updates }
}

/** The filters of a `POST`, which replaces a document only if the grants for `PUT` allow the same fields. */
export const filtersOfCreation = (inserting: Grants, replacing: Grants): (by: Grants) => RowFilters => {
  const sameFields = fieldsOf(inserting) === fieldsOf(replacing)
  return (by) => {
    const inserted = checkOf(by)
    const pairs = !sameFields ?
      [] :
      by.flatMap((one) =>
        replacing.flatMap((other) =>
          one.id === other.id || one.fields === undefined && other.fields === undefined
            ? [{ rows: allOf(one.rows, other.rows), check: allOf(one.check, other.check) }]
            : []
        )
      )
    const [rows, replaced, updates] = [rowsOf(pairs), checkOf(pairs), distinctUpdates(pairs)]
    return {
      // What was inserted is read for its response.
      rows: (privilege) => privilege === "insert" ? inserted : rows,
      check: (privilege) => privilege === "insert" ? inserted : replaced,
      updateGrants: () => updates
    }
  }
}

/**
 * The filters for the document that an action addresses. They allow what the grants for the action allow. If the caller may
 * read documents of the model, they allow only those of them. What a write may leave behind follows from the grants for the
 * action alone.
 */
export const filtersOfAction = (own: Grants, readable: Grants): RowFilters =>
  filtersOfMethod(readable.length === 0 ? own : withinRows(own, readable))

/** The grants for documents that one of the others allows as well. */
export const withinRows = (own: Grants, others: Grants): Grants => {
  const rows = others.length === 0 ? nothing : rowsOf(others)
  return own.map((grant) => ({ ...grant, rows: allOf(grant.rows, rows) }))
}

/**
 * The filters for a model that a handler works with, from the grants for the kind of operation. If the caller has no grant of
 * this kind, the filters allow what the caller may read. They also allow what the filters `addressed` allow.
 */
export const filtersOfHandler = (grantsTo: (privilege: Privilege) => Grants, addressed?: RowFilters): RowFilters => {
  const grants = (privilege: Privilege): Grants => {
    const own = grantsTo(privilege)
    return own.length > 0 ? own : grantsTo("read")
  }
  const also = (filter: Filter | undefined, more: Filter | undefined): Filter | undefined =>
    addressed === undefined ? filter : anyOf([filter, more])
  // Repositories parse each filter once.
  const updates = once<"update", ReadonlyArray<UpdateGrant> | undefined>(() =>
    distinctUpdates([...grants("update"), ...addressed === undefined ? [] : updateGrantsOf(addressed)])
  )
  return {
    rows: once((privilege) => also(rowsOf(grants(privilege)), addressed?.rows(privilege))),
    check: once((privilege) => also(checkOf(grants(privilege)), addressed?.check(privilege))),
    updateGrants: () => updates("update")
  }
}

// internal

/** What writes by one of the grants may leave behind. */
const checkOf = (grants: ReadonlyArray<Pick<UpdateGrant, "check">>): Filter | undefined =>
  anyOf(grants.map(({ check }) => check))

/** The grants for updates if one has to allow both the document before and after; else `undefined`. */
const distinctUpdates = (grants: ReadonlyArray<UpdateGrant>): ReadonlyArray<UpdateGrant> | undefined => {
  const isSame = (key: keyof UpdateGrant) => grants.every((grant) => grant[key] === grants[0]?.[key])
  return isSame("rows") || isSame("check") ||
      grants.some(({ check, rows }) => check === undefined && rows === undefined)
    ? undefined
    : grants.map(({ check, rows }) => ({ rows, check }))
}

/** The grants that take fields away; none beside one that allows everything. */
const fieldsOf = (grants: Grants): string =>
  grants.some(({ check, fields, rows }) => fields === undefined && rows === undefined && check === undefined) ||
    grants.every(({ fields }) => fields === undefined)
    ? ""
    : grants.map(({ id }) => id).toSorted((one, other) => one - other).join()

const updateGrantsOf = ({ check, rows, updateGrants }: RowFilters): ReadonlyArray<UpdateGrant> =>
  updateGrants?.() ?? [{ rows: rows("update"), check: check("update") }]

const once = <K, A>(f: (key: K) => A): (key: K) => A => {
  const known = new Map<K, { readonly value: A }>()
  return (key) => getOrMake(known, key, () => ({ value: f(key) })).value
}
