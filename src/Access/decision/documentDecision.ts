/** The decision on the documents of an endpoint's model. */
import { getOrMake } from "@appkernel/document-store/internal"
import { isPlainObject } from "../../internal/objects.ts"
import type { Filter } from "../../Repository/DocumentStore.ts"
import { type EffectiveGrant, type ModelDecision, nothing, type RowFilters } from "../../Repository/internal.ts"
import type { Caller } from "../Permission.ts"
import type { ModelPolicy } from "./modelPolicy.ts"
import { linksByGrants } from "./permittedLinks.ts"
import { filtersOfAction, filtersOfCreation, filtersOfMethod, withinRows } from "./rowFilters.ts"

type Grants = ReadonlyArray<EffectiveGrant>

/** Decides by the grants that apply to the caller; the last decision is kept with the user's object while they stay. */
export const documentDecision = ({ hasLinks, isOperation, name, ownIds, policy, within }: {
  readonly policy: ModelPolicy
  readonly hasLinks: boolean
  /** The numbers of the grants for the endpoint; the others are those for `GET` and, of a `POST`, for `PUT`. */
  readonly ownIds: ReadonlySet<number>
  readonly name: string
  readonly isOperation: boolean
  /** The method within whose rows an operation is. */
  readonly within?: string | undefined
}): (user: Caller | undefined, grants: Grants) => ModelDecision => {
  const decide = (grants: Grants): ModelDecision => {
    const write = grants.filter(({ id }) => ownIds.has(id))
    const read = policy.forMethods(grants, ["GET"])
    const filtersBy = isOperation
      ? (own: Grants): RowFilters =>
        filtersOfAction(within === undefined ? own : withinRows(own, policy.forMethods(grants, [within])), read)
      : name === "POST"
      ? filtersOfCreation(write, policy.forMethods(grants, ["PUT"]))
      : filtersOfMethod
    return {
      read,
      write,
      rows: filtersBy(write),
      rowsBy: (some) => filtersBy(write.filter((grant) => some.includes(grant))),
      links: hasLinks && policy.links !== undefined ? linksByGrants(policy.links, grants) : undefined,
      matcher: policy.matcher,
      reason: notAllowed
    }
  }
  const anonymous = {}
  const known = new WeakMap<object, { readonly grants: Grants; readonly decision: ModelDecision }>()
  return (user, grants) => {
    const before = known.get(user ?? anonymous)
    if (before !== undefined && areSameGrants(before.grants, grants)) return before.decision
    const copied = copyOf(grants)
    const decision = decide(copied)
    known.set(user ?? anonymous, { grants: copied, decision })
    return decision
  }
}

export const notAllowed = "the caller's grants do not allow it"

// internal

/** Whether two lists have the same grants with the same filters. */
const areSameGrants = (some: Grants, others: Grants): boolean =>
  some.length === others.length && some.every(({ check, id, rows }, i) => {
    const other = others[i]!
    // What a write may leave behind is most often what the grant's rows are.
    return id === other.id && isSame(rows, other.rows) &&
      (check === rows && other.check === other.rows || isSame(check, other.check))
  })

/** A copy with filters of its own: an application may change a condition in place, also one that it returns again. */
const copyOf = (grants: Grants): Grants => {
  // Grants that share a filter share its copy.
  const filters = new Map<Filter, Filter>()
  const filterOf = (filter: Filter | undefined): Filter | undefined => {
    if (filter === undefined || filter === nothing) return filter
    return getOrMake(filters, filter, () => copiedFields(filter))
  }
  return grants.map((one) => ({ ...one, rows: filterOf(one.rows), check: filterOf(one.check) }))
}

/** Objects that are no plain ones, nor lists or dates, are not copied. */
const copied = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(copied)
  if (value instanceof Date) return structuredClone(value)
  return isPlainObject(value) ? copiedFields(value) : value
}

const copiedFields = (fields: { readonly [key: string]: unknown }): { readonly [key: string]: unknown } =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, copied(value)]))

/** Whether two parts of filters are the same: dates by time, BSON values by their own equality. */
const isSame = (one: unknown, other: unknown): boolean => {
  if (Object.is(one, other)) return true
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false
  if (isPlainObject(one)) return isPlainObject(other) && areSameFields(one, other)
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length && one.every((item, i) => isSame(item, other[i]))
  }
  if (one instanceof Date) return other instanceof Date && Object.is(one.getTime(), other.getTime())
  return hasEquality(one) && hasEquality(other) && one._bsontype === other._bsontype && one.equals(other)
}

type Plain = { readonly [key: string]: unknown }

const areSameFields = (one: Plain, other: Plain): boolean => {
  const keys = Object.keys(one)
  const others = Object.keys(other)
  // The order of keys counts in documents that are compared as a whole.
  return keys.length === others.length && keys.every((key, i) => key === others[i] && isSame(one[key], other[key]))
}

const hasEquality = (
  value: object
): value is { readonly _bsontype: unknown; readonly equals: (other: unknown) => boolean } =>
  "_bsontype" in value && "equals" in value && typeof value.equals === "function"
