import type { Filter } from "../../Repository/DocumentStore.ts"
import { nothing, type UpdateGrant } from "../../Repository/introspection.ts"

/**
 * The documents that grants reach together; none without a grant.
 *
 * @internal
 */
export const reachOf = (grants: ReadonlyArray<Pick<UpdateGrant, "rows">>): Filter | undefined =>
  anyOf(grants.map(({ rows }) => rows))

/**
 * What writes by one of the grants may leave behind.
 *
 * @internal
 */
export const leftBy = (grants: ReadonlyArray<Pick<UpdateGrant, "check">>): Filter | undefined =>
  anyOf(grants.map(({ check }) => check))

/**
 * The documents that match one of the filters; `undefined` matches all.
 *
 * @internal
 */
export const anyOf = (filters: ReadonlyArray<Filter | undefined>): Filter | undefined => {
  const given = filters.filter((filter) => filter !== undefined)
  if (given.length < filters.length) return undefined
  const [one = nothing] = given
  return given.length < 2 ? one : { $or: given }
}

/**
 * The documents that match both filters.
 *
 * @internal
 */
export const allOf = (one: Filter | undefined, other: Filter | undefined): Filter | undefined =>
  one === undefined ? other : other === undefined ? one : { $and: [one, other] }
