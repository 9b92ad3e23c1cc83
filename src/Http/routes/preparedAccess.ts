import * as Effect from "effect/Effect"
import type { ModelLike } from "../../Model/introspection.ts"
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
  /** Whether there is a handler or a hook under other rules than the request's own document. */
  readonly hasOtherRules: boolean
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
  hasOtherRules: false,
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
    const rules = isCall
      ? rulesOfAddressing(own, heldHere("GET").flatMap(({ held }) => held))
      : name === "POST"
      ? rulesOfCreating(own, heldHere("PUT").flatMap(({ held }) => held))
      : rulesOfRoute(own)
    return {
      isCall,
      hasOtherRules: isCall || ruled.hasHooks,
      model: ruled.model,
      view: viewOf(heldHere("GET"), [{ registration: ruled, held: own }]),
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
    const access = prepare(held)
    known.set(user ?? nobody, { held, access })
    return access
  }
}

const areSame = (some: ReadonlyArray<Held>, others: ReadonlyArray<Held>): boolean =>
  some.length === others.length && some.every(({ check, id, rows }, i) => {
    const other = others[i]!
    return id === other.id && isSame(rows, other.rows) && isSame(check, other.check)
  })

/** Whether two parts of filters are the same; those that are no plain values are if they are one object. */
const isSame = (one: unknown, other: unknown): boolean => {
  if (one === other) return true
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length && one.every((item, i) => isSame(item, other[i]))
  }
  if (!isPlain(one) || !isPlain(other)) return false
  const keys = Object.keys(one)
  const others = Object.keys(other)
  // The order of keys counts in documents that are compared as a whole.
  return keys.length === others.length && keys.every((key, i) => key === others[i] && isSame(one[key], other[key]))
}

const isPlain = (value: object): value is { readonly [key: string]: unknown } =>
  Object.getPrototypeOf(value) === Object.prototype
