/**
 * The implementation of a resource: its description with handlers, hooks and rules, and how it is built. `Resource` exports
 * it.
 *
 * @since 0.1.0
 */
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as Grant from "../../Access/Grant.ts"
import type * as Permission from "../../Access/Permission.ts"
import type * as Model from "../../Model/Model.ts"
import * as Action from "../Action.ts"
import type * as Endpoint from "../description/endpoint.ts"
import type * as Hook from "../description/hook.ts"
import { errorList, type OwnErrors } from "../description/ownErrors.ts"
import type * as Operation from "../Operation.ts"
import { type AnyDescription, type Description, makeDescription, type Method, withAction } from "./description.ts"
import { grant, noRules, requirement, rulesOf, withOwnRule, withRule } from "./rules.ts"

const typeId = "~appkernel/Resource"

/**
 * The options of an implementation.
 *
 * @category models
 * @since 0.1.0
 */
export interface HookOptions {
  /**
   * Whether a before-hook and its write form one transaction of the store. The hook may then run several times if
   * others write what it reads. Defaults to false.
   */
  readonly transactional?: boolean | undefined
}

/**
 * A description with its handlers and hooks. `R` are the services that these need.
 *
 * @category models
 * @since 0.1.0
 */
export interface Implementation<
  in out M extends Model.Any,
  in out Methods extends Method,
  in out Actions extends HttpApiEndpoint.Constraint,
  in out E extends Endpoint.ByMethod.Errors,
  out R
> extends Any {
  readonly [typeId]: { readonly services: () => R }
  readonly description: Description<M, Methods, Actions, E>
}

/**
 * Any implementation.
 *
 * @category models
 * @since 0.1.0
 */
export interface Any {
  readonly [typeId]: unknown
  readonly description: AnyDescription
  readonly handlers: Operation.Handlers
  readonly hooks: ReadonlyArray<AnyHook>
  readonly transactional: boolean
  readonly rules: Grant.Rules
}

/**
 * A hook of a resource.
 *
 * @category models
 * @since 0.1.0
 */
export interface AnyHook {
  readonly name: Hook.Name
  readonly hook: Hook.ByName<Model.Any, Hook.Name, unknown, unknown>
}

/** @internal */
export type Parts = Omit<Any, typeof typeId>

/** @internal */
export const noParts = { handlers: new Map(), hooks: [], rules: noRules }

/** @internal */
export const transactionalOf = (options: HookOptions | undefined) => ({
  transactional: options?.transactional ?? false
})

const hookMethods: { readonly [N in Hook.Name]: Method } = {
  beforeGet: "GET",
  afterGet: "GET",
  beforePost: "POST",
  afterPost: "POST",
  beforePut: "PUT",
  afterPut: "PUT",
  beforePatch: "PATCH",
  afterPatch: "PATCH",
  beforeDelete: "DELETE",
  afterDelete: "DELETE"
}

// The keys are the hook names.
/** @internal */
export const hookNames = Object.keys(hookMethods) as ReadonlyArray<Hook.Name>

/** Makes a resource of its parts. @internal */
export const makeResource = (parts: Parts): Any => {
  const { description, handlers, rules } = parts
  const action = (first: string | Operation.Any, options?: Action.Options, handler?: Operation.Any["handler"]) => {
    const added = typeof first === "string"
      // The overloads declare that a name is followed by the other two parts.
      ? Action.make(description.model, first, options ?? {}, handler as never)
      : first
    return makeResource({
      ...parts,
      description: withAction(description, added),
      handlers: new Map([...handlers, [added.name, added.handler]]),
      rules: withOwnRule(rules, added)
    })
  }
  const withHook = (name: Hook.Name) => (hook: AnyHook["hook"], options?: Hook.Options<OwnErrors>) => {
    const method = hookMethods[name]
    const errors = [...new Set([...description.errors[method] ?? [], ...errorList(options?.error ?? [])])]
    return makeResource({
      ...parts,
      description: makeDescription({ ...description, errors: { ...description.errors, [method]: errors } }),
      hooks: [...parts.hooks, { name, hook }]
    })
  }
  // The type-level property is never read.
  const resource = { [typeId]: undefined, ...parts, action, ...byHook(withHook), ...access(parts, makeRuled) }
  return resource
}

/** Makes the implementation of a description of its parts. @internal */
export const makeImplemented = (parts: Parts): Any => ({
  // The type-level property is never read.
  [typeId]: undefined,
  ...parts,
  ...byHook((name) => (hook: AnyHook["hook"]) =>
    makeImplemented({ ...parts, hooks: [...parts.hooks, { name, hook }] })
  ),
  ...access(parts, makeImplemented)
})

/** The method of a hook. @internal */
export const methodOfHook = (name: Hook.Name): Method => hookMethods[name]

/** @internal */
export const isResource = (u: unknown): u is Any => typeof u === "object" && u !== null && typeId in u

// internal

/** The short form's description says which methods admit callers without credentials, and which fields may be hidden. */
const makeRuled = (parts: Parts): Any => {
  const { description, rules } = parts
  const open = rules.grants.flatMap(({ on, permission }) =>
    permission.isOpen ? description.methods.filter((method) => on?.includes(method) !== false) : []
  )
  const hidden = rules.grants.flatMap(({ fields }) => fields?.hide ?? [])
  return makeResource({
    ...parts,
    description: makeDescription({
      ...description,
      anonymous: [...new Set([...description.anonymous, ...open])],
      hidden: [...new Set([...description.hidden, ...hidden])]
    })
  })
}

/** The methods that add rules. */
const access = (parts: Parts, remade: (parts: Parts) => Any) => {
  const { rules } = parts
  const withGrant = (rule: Grant.Rule) => remade({ ...parts, rules: withRule(rules, rule) })
  return {
    denyAll: () => remade({ ...parts, rules: rulesOf([], rules.restrictions) }),
    require: (permission: Permission.OneOrMore, methods?: string | ReadonlyArray<string>) =>
      withGrant(requirement(permission, methods)),
    grant: (permission: Permission.OneOrMore, options: Grant.Options<Model.Any, string, never, never>) =>
      withGrant(grant(permission, options)),
    restrict: (rows: Grant.AnyRows) => remade({ ...parts, rules: rulesOf(rules.grants, [...rules.restrictions, rows]) })
  }
}

const byHook = (withHook: (name: Hook.Name) => unknown) =>
  Object.fromEntries(hookNames.map((name) => [name, withHook(name)]))
