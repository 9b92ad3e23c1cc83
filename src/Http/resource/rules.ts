/**
 * The rules of a registration as data. Permissions bring what they mean, so a service without rules loads nothing of access
 * control.
 */
import type { AnyRows, Options, Rule, Rules } from "../../Access/Grant.ts"
import type * as Permission from "../../Access/Permission.ts"
import type * as Model from "../../Model/Model.ts"

export const rulesOf = (grants: ReadonlyArray<Rule>, restrictions: ReadonlyArray<AnyRows>): Rules => ({
  grants,
  restrictions,
  idsFor: (name, isOperation) => {
    const named = grants.flatMap(({ on }, id) => on?.includes(name) === true ? [id] : [])
    const general = grants.flatMap(({ on }, id) => on === undefined ? [id] : [])
    return isOperation && named.some((id) => grants[id]?.isOwn === true)
      ? named
      : [...general, ...named].toSorted((one, other) => one - other)
  }
})

export const noRules: Rules = rulesOf([], [])

export const withRule = ({ grants, restrictions }: Rules, rule: Rule): Rules => rulesOf([...grants, rule], restrictions)

export const requirement = (
  given: Permission.OneOrMore,
  on: string | ReadonlyArray<string> | undefined
): Rule => ({
  permission: nobody.orAny(permissionsOf(given)),
  isOwn: false,
  on: typeof on === "string" ? [on] : on,
  rows: undefined,
  check: undefined,
  fields: undefined
})

/** The rules with that of a call's own option `require`, if it has one. */
export const withOwnRule = (
  rules: Rules,
  { name, options: { require } }: {
    readonly name: string
    readonly options: { readonly require?: Permission.OneOrMore | undefined }
  }
): Rules => require === undefined ? rules : withRule(rules, { ...requirement(require, name), isOwn: true })

export const grant = (
  permission: Permission.OneOrMore,
  { check, hide = [], methods, readOnly = [], rows }: Options<Model.Any, string, never, never>
): Rule => ({
  ...requirement(permission, methods),
  rows,
  check,
  fields: hide.length === 0 && readOnly.length === 0 ? undefined : { hide, readOnly }
})

/** The permission of no alternatives. */
// The type-level property is never read.
const nobody = {
  node: { _tag: "Or", parts: [] },
  isOpen: false,
  words: "nobody",
  leaves: [],
  orAny: ([first, ...others]: ReadonlyArray<Permission.Any>): Permission.Any => first?.orAny(others) ?? nobody
} as unknown as Permission.Any

/** Whether one of the permissions admits callers without credentials. */
export const isOpen = (given: Permission.OneOrMore): boolean => permissionsOf(given).some((one) => one.isOpen)

export const permissionsOf = (given: Permission.OneOrMore): ReadonlyArray<Permission.Any> =>
  "node" in given ? [given] : given
