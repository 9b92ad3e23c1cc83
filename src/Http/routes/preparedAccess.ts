import * as Effect from "effect/Effect"
import type { ModelLike } from "../../Model/introspection.ts"
import type { Filter } from "../../Repository/DocumentStore.ts"
import type { RowRules } from "../../Repository/introspection.ts"
import type { Held } from "../../Security/introspection.ts"
import type { Caller } from "../../Security/Permission.ts"
import type { CallerView, Rights } from "../view/callerView.ts"
import { heldFor, type RuledModel, rulesOfAddressing, rulesOfCreating, rulesOfRoute, viewOf } from "./callerAccess.ts"
import { type LinkRules, rightsByRules } from "./linkRights.ts"

/**
 * What follows from the rules that a caller holds for an endpoint.
 *
 * @internal
 */
export interface PreparedAccess {
  readonly isCall: boolean
  /** The model of the endpoint; none for a service. */
  readonly model: ModelLike | undefined
  readonly view: CallerView | undefined
  /** The rules for the model's documents. */
  readonly rules: RowRules | undefined
  readonly owned: Effect.Effect<RowRules> | undefined
  /** What links list; `undefined` if there are none, or a rule is to be asked for each request. */
  readonly rights: Rights | undefined
}

/**
 * The access to a route without rules.
 *
 * @internal
 */
export const unruledAccess: PreparedAccess = {
  isCall: false,
  model: undefined,
  view: undefined,
  rules: undefined,
  owned: undefined,
  rights: undefined
}

/**
 * Prepares the access of callers to an endpoint. What was prepared for a user is used again as long as the same rules with the
 * same conditions are held: these are decided for each request. It is kept as long as the user is, whom the cache of
 * verified tokens bounds.
 *
 * @internal
 */
export const preparedAccess = ({ isCall, isOwn, links, name, ruled }: {
  readonly ruled: RuledModel | undefined
  readonly links: LinkRules | undefined
  /** Whether the rule of this number is one of the endpoint; the others are those for `GET` and, of a `POST`, for `PUT`. */
  readonly isOwn: ReadonlySet<number>
  readonly name: string
  readonly isCall: boolean
}): (user: Caller | undefined, held: ReadonlyArray<Held>) => PreparedAccess => {
  const prepare = (all: ReadonlyArray<Held>): PreparedAccess => {
    if (ruled === undefined) return { ...unruledAccess, isCall }
    const own = all.filter(({ id }) => isOwn.has(id))
    const heldHere = (method: string) => heldFor([{ registration: ruled, held: all }], [method])
    const [readable, replacing] = ["GET", "PUT"].map((method) => heldHere(method).flatMap(({ held }) => held))
    const rulesBy = isCall
      ? (own: ReadonlyArray<Held>) => rulesOfAddressing(own, readable!)
      : name === "POST"
      ? rulesOfCreating(own, replacing!)
      : rulesOfRoute
    const rules = rulesBy(own)
    return {
      isCall,
      model: ruled.model,
      view: viewOf(heldHere("GET"), own, rulesBy),
      rules,
      owned: Effect.succeed(rules),
      rights: links === undefined ? undefined : rightsByRules(links, all)
    }
  }
  const nobody = {}
  const known = new WeakMap<object, { readonly held: ReadonlyArray<Held>; readonly access: PreparedAccess }>()
  return (user, held) => {
    const before = known.get(user ?? nobody)
    if (before !== undefined && areSame(before.held, held)) return before.access
    // An application may change a condition of its own in place, also one that it returns again.
    const copied = copyOf(held)
    const access = prepare(copied)
    known.set(user ?? nobody, { held: copied, access })
    return access
  }
}

const areSame = (some: ReadonlyArray<Held>, others: ReadonlyArray<Held>): boolean =>
  some.length === others.length && some.every(({ check, id, rows }, i) => {
    const other = others[i]!
    // What a write may leave behind is most often the row rule itself.
    return id === other.id && isSame(rows, other.rows) &&
      (check === rows && other.check === other.rows || isSame(check, other.check))
  })

const copyOf = (held: ReadonlyArray<Held>): ReadonlyArray<Held> => {
  // What is one filter in several rules is one in their copies.
  const filters = new Map<Filter, Filter>()
  const filterOf = (filter: Filter | undefined): Filter | undefined => {
    if (filter === undefined) return undefined
    const copy = filters.get(filter) ?? copiedFields(filter)
    filters.set(filter, copy)
    return copy
  }
  return held.map((one) => ({ ...one, rows: filterOf(one.rows), check: filterOf(one.check) }))
}

/** Objects that are no plain ones, nor lists or dates, are not copied. */
const copied = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(copied)
  if (value instanceof Date) return structuredClone(value)
  return isPlain(value) ? copiedFields(value) : value
}

const copiedFields = (fields: { readonly [key: string]: unknown }): { readonly [key: string]: unknown } =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, copied(value)]))

/**
 * Whether two parts of filters are the same: dates by their time, BSON values by their own equality where they have one,
 * and other objects that are neither plain nor lists if they are one object.
 */
const isSame = (one: unknown, other: unknown): boolean => {
  if (Object.is(one, other)) return true
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false
  if (isPlain(one)) return isPlain(other) && areSameFields(one, other)
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

const isPlain = (value: object): value is Plain => Object.getPrototypeOf(value) === Object.prototype
