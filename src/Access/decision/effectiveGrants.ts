/**
 * Decides which grants of a registration apply to a caller. The effects are those of permissions of the application's own, and
 * of row filters that read data; without these, the result is there at once.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { memoize } from "effect/Function"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import { isPlainObject } from "../../internal/objects.ts"
import type * as Model from "../../Model/Model.ts"
import type { Filter } from "../../Repository/DocumentStore.ts"
import { allOf, anyOf, type EffectiveGrant, negated, nothing } from "../../Repository/internal.ts"
import * as Query from "../../Repository/Query.ts"
import type { AnyRows, Rule, Rules } from "../Grant.ts"
import type { Any, Caller, Failure, Node } from "../Permission.ts"

/** Who asks, and for which document. */
export interface AccessRequest {
  /** The caller, with all roles that theirs include. */
  readonly caller: Option.Option<Caller>
  readonly request: HttpServerRequest.HttpServerRequest
  /** The model that row filters are about; none for a service. */
  readonly model: Model.Any | undefined
  /** The filter that `CurrentSubject` means. */
  readonly subjectFilter: (subject: string) => Filter | undefined
  /** `undefined` if the document is not known yet. What a permission says of it may then hold. */
  readonly document: Effect.Effect<Option.Option<unknown>, Failure> | undefined
}

/** The documents for which something holds: all if `undefined`, and {@link nothing} for none. */
type Condition = Filter | undefined

type Decided<A> = Effect.Effect<A, Failure>

/** The grants with these numbers, which there are, that apply to the caller; none if the caller may not do this. */
export const effectiveGrants = (
  { grants, restrictions }: Rules,
  ids: ReadonlyArray<number>,
  request: AccessRequest
): Decided<ReadonlyArray<EffectiveGrant>> => {
  const granted = Effect.mapEager(
    allEager(ids.map((id) => effectiveGrant(id, grants[id]!, request))),
    (all) => all.filter((grant) => grant !== undefined)
  )
  if (restrictions.length === 0) return granted
  return Effect.flatMapEager(granted, (grants) => {
    if (grants.length === 0 || Option.isNone(request.caller)) return Effect.succeed([])
    const limits = allEager(restrictions.map((rows) => rowFilter(rows, false, request)))
    return Effect.mapEager(
      limits,
      (filters) =>
        grants.map((grant) => ({
          ...grant,
          rows: allOf(grant.rows, ...filters),
          check: allOf(grant.check, ...filters)
        }))
    )
  })
}

/** Whether what a permission says may depend on the addressed document. */
export const dependsOnDocument = ({ leaves }: Any): boolean => leaves.some(({ _tag }) => _tag === "Custom")

/** Roles with those that they include. */
export const makeIncluding = (
  roles: { readonly [role: string]: ReadonlyArray<string> }
): (own: ReadonlyArray<string>) => ReadonlyArray<string> => {
  const table = new Map(Object.entries(roles))
  return (own) => {
    if (table.size === 0) return own
    const all = new Set(own)
    // A set is iterated with what is added on the way.
    for (const role of all) for (const included of table.get(role) ?? []) all.add(included)
    return all.size === own.length ? own : [...all]
  }
}

/** Callers as grants see them: with the roles that theirs include, and without claims that are `null`. */
export const makeCallers = (
  withIncluded: ReturnType<typeof makeIncluding>
): (user: Caller | undefined) => Option.Option<Caller> => {
  // What is decided on a request is known by its caller, which is the same one each time.
  const callerOf = memoize((user: Caller) => {
    const roles = withIncluded(user.roles)
    const claims = hasNull(user.claims) ? withoutNulls(user.claims) : user.claims
    return Option.some(roles === user.roles && claims === user.claims ? user : { ...user, roles, claims })
  })
  return (user) => user === undefined ? Option.none() : callerOf(user)
}

// internal

const effectiveGrant = (id: number, rule: Rule, request: AccessRequest): Decided<EffectiveGrant | undefined> => {
  const { check, fields, permission: { isOpen, node }, rows } = rule
  const admitted = conditionOf(node, request)
  return admitted === denied ? Effect.undefined : Effect.flatMapEager(admitted, (condition) => {
    if (condition === nothing) return Effect.undefined
    if (rows === undefined && check === undefined) {
      return Effect.succeed({ id, rows: condition, check: condition, fields })
    }
    const conditions = check === undefined ? [rows] : [rows, check]
    return Effect.mapEager(allEager(conditions.map((one) => rowFilter(one, isOpen, request))), (filters) => {
      const [own, left] = filters.map((filter) => allOf(condition, filter))
      return { id, rows: own, check: check === undefined ? own : left, fields }
    })
  })
}

/** Where the permission admits callers without credentials, the condition takes the caller as an option. */
const rowFilter = (
  rows: AnyRows | undefined,
  isOpen: boolean,
  { caller, model, request }: AccessRequest
): Decided<Condition> => {
  if (rows === undefined || model === undefined) return Effect.undefined
  // The permission decides the type of the caller, and an open one is the only one that holds without a caller.
  const where = rows((isOpen ? caller : Option.getOrUndefined(caller)) as never)
  const answer: Decided<Query.Where<Model.Any>> = Effect.isEffect(where)
    ? once(answersOf(request)(caller)[isOpen ? "open" : "closed"], rows, where)
    : Effect.succeed(where)
  return Effect.mapEager(answer, (where) => {
    const filter = Query.toFilter(model, where)
    return isComplete(filter) ? filter : nothing
  })
}

/** Whether no value is missing. A missing one, such as a claim that a token does not have, would match what has no value. */
const isComplete = (part: unknown): boolean => {
  if (part === undefined) return false
  if (Array.isArray(part)) return part.every(isComplete)
  // Of other objects, such as dates and identifiers, no part is a value of its own.
  return !isPlainObject(part) || Object.values(part).every(isComplete)
}

const conditionOf = (node: Node, request: AccessRequest, isNegated = false): Decided<Condition> => {
  const caller = Option.getOrUndefined(request.caller)
  switch (node._tag) {
    case "Anonymous":
      return permitted
    case "Denied":
      return denied
    case "Role":
      return caller?.roles.includes(node.name) === true ? permitted : denied
    case "Authenticated":
      return caller === undefined ? denied : permitted
    case "CurrentSubject":
      return caller === undefined ? denied : Effect.succeed(request.subjectFilter(caller.subject))
    case "Not":
      return caller === undefined ? denied : Effect.mapEager(conditionOf(node.part, request, !isNegated), negated)
    case "And":
      return node.parts.length === 0 && caller === undefined
        ? denied
        : Effect.mapEager(
          allEager(node.parts.map((part) => conditionOf(part, request, isNegated))),
          (parts) => allOf(...parts)
        )
    case "Or":
      return Effect.mapEager(allEager(node.parts.map((part) => conditionOf(part, request, isNegated))), anyOf)
    case "Custom":
      return caller === undefined && !node.anonymous
        ? denied
        : Effect.map(decisionOf(node.decide, request, !isNegated), (holds) => holds ? undefined : nothing)
  }
}

const permitted: Decided<Condition> = Effect.undefined

const denied: Decided<Condition> = Effect.succeed(nothing)

/** The decision, made once for a request and document, or `whenAsked` if it depends on a document that is not known. */
const decisionOf = (
  decide: Extract<Node, { readonly _tag: "Custom" }>["decide"],
  request: AccessRequest,
  whenAsked: boolean
): Decided<boolean> =>
  Effect.suspend(() => {
    const { decisions } = answersOf(request.request)(request.caller)
    const before = decisions.get(decide)
    if (before !== undefined) {
      if (!before.isAsked || before.document === request.document) return Effect.succeed(before.decision)
      if (request.document === undefined) return Effect.succeed(whenAsked)
    }
    let isAsked = false
    const document = Effect.suspend(() => {
      isAsked = true
      return request.document ?? Effect.succeedNone
    })
    return Effect.map(decide({ ...request, document }), (decision) => {
      if (isAsked && request.document === undefined) return whenAsked
      decisions.set(decide, { isAsked, document: request.document, decision })
      return decision
    })
  })

interface Answer {
  /** Whether the answer depends on the document. */
  readonly isAsked: boolean
  readonly document: AccessRequest["document"]
  readonly decision: boolean
}

/** The results of the effects for a caller of a request: the grants are evaluated for the endpoint, for handlers, and for links. */
interface Answers {
  readonly decisions: Map<unknown, Answer>
  /** By the functions; those of permissions that admit callers without credentials take the caller as an option. */
  readonly open: Map<AnyRows, Query.Where<Model.Any>>
  readonly closed: Map<AnyRows, Query.Where<Model.Any>>
}

const answersOf = memoize((_request: HttpServerRequest.HttpServerRequest) =>
  memoize((_caller: AccessRequest["caller"]): Answers => ({ decisions: new Map(), open: new Map(), closed: new Map() }))
)

const once = <K, A>(known: Map<K, A>, key: K, effect: Decided<A>): Decided<A> =>
  Effect.suspend(() => {
    const before = known.get(key)
    if (before !== undefined) return Effect.succeed(before)
    return Effect.map(effect, (value) => {
      known.set(key, value)
      return value
    })
  })

/** All results, at once if each is there. */
const allEager = <A>(effects: ReadonlyArray<Decided<A>>): Decided<ReadonlyArray<A>> =>
  effects.every(isReady) ? Effect.succeed(effects.map(({ value }) => value)) : Effect.all(effects)

const isReady = <A>(effect: Decided<A>): effect is Exit.Success<A> => Exit.isExit(effect) && Exit.isSuccess(effect)

const hasNull = (value: unknown): boolean => {
  if (typeof value !== "object") return false
  return value === null || (Array.isArray(value) ? value : Object.values(value)).some(hasNull)
}

const withoutNulls = (values: object): { readonly [name: string]: unknown } =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => value === null ? [] : [[name, withoutNullsIn(value)]])
  )

const withoutNullsIn = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.flatMap((item: unknown) => item === null ? [] : [withoutNullsIn(item)])
  return typeof value === "object" && value !== null ? withoutNulls(value) : value
}
