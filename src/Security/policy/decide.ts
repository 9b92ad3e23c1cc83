/**
 * Decides which rules of a registration a caller holds. Nothing is effectful but permissions of the application's own and
 * conditions that are effects; without these, a decision is computed at once.
 */
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import type * as Model from "../../Model/Model.ts"
import type { Filter } from "../../Repository/DocumentStore.ts"
import { nothing } from "../../Repository/introspection.ts"
import * as Query from "../../Repository/Query.ts"
import type { AnyRows, Fields, Rule, Rules } from "../Grant.ts"
import type { Any, Caller, Failure, Node } from "../Permission.ts"
import { both, contrary, either, type Verdict } from "./verdict.ts"

/**
 * What a decision is about.
 *
 * @internal
 */
export interface Situation {
  /** The caller, with all roles that theirs include. */
  readonly caller: Option.Option<Caller>
  readonly request: HttpServerRequest.HttpServerRequest
  /** The model that rows are conditions of; none for a service. */
  readonly model: Model.Any | undefined
  /** What `CurrentSubject` says: a filter for a model's documents, or whether the subject is the one in the path. */
  readonly isSubject: (subject: string) => Verdict
  /** `undefined` if it is not known which document it will be. What a permission says of it may then hold. */
  readonly document: Effect.Effect<Option.Option<unknown>, Failure> | undefined
}

/**
 * A rule that the caller holds.
 *
 * @internal
 */
export interface Held {
  /** The place of the rule in its registration. */
  readonly id: number
  /** The documents that it reaches; all if `undefined`. */
  readonly rows: Filter | undefined
  /** What a write by it may leave behind; anything if `undefined`. */
  readonly check: Filter | undefined
  readonly fields: Fields | undefined
}

/** A value, or the effect that computes it. */
type Maybe<A> = A | Effect.Effect<A, Failure>

/**
 * The rules among the numbered ones that the caller holds; empty if they may not do this.
 *
 * @internal
 */
export const heldBy = (
  { grants, restrictions }: Rules,
  numbers: ReadonlyArray<number>,
  situation: Situation
): Maybe<ReadonlyArray<Held>> => {
  const restricted = () =>
    all(
      restrictions.map((rows) => Option.isNone(situation.caller) ? false : filterOf(rows, false, situation)),
      (verdicts) => verdicts.reduce<Verdict>(both, true)
    )
  const granted = all(
    numbers.map((id) => ruleOf(id, grants[id], situation)),
    (held) => held.filter((one) => one !== undefined)
  )
  if (restrictions.length === 0) return granted
  return then(granted, (held) =>
    held.length === 0
      ? held
      : then(restricted(), (limit) => limit === false ? [] : held.map((one) => withLimit(one, limit))))
}

/**
 * Whether what a permission says may depend on the addressed document.
 *
 * @internal
 */
export const isOfDocument = (permission: Any): boolean => isCustom(permission.node)

/**
 * The rules for a method or a call, as their numbers. A call with the option `require` is under those alone that name it.
 *
 * @internal
 */
export const rulesFor = ({ grants }: Rules, name: string, isCall: boolean): ReadonlyArray<number> => {
  const named = grants.flatMap(({ on }, id) => on?.includes(name) === true ? [id] : [])
  const general = grants.flatMap(({ on }, id) => on === undefined ? [id] : [])
  return isCall && named.some((id) => grants[id]?.isOwn === true)
    ? named
    : [...general, ...named].toSorted((one, other) => one - other)
}

// internal

const isCustom = (node: Node): boolean => {
  switch (node._tag) {
    case "Custom":
      return true
    case "Not":
      return isCustom(node.part)
    case "And":
    case "Or":
      return node.parts.some(isCustom)
    default:
      return false
  }
}

const ruleOf = (id: number, rule: Rule | undefined, situation: Situation): Maybe<Held | undefined> => {
  if (rule === undefined) return undefined
  const verdict = verdictOf(rule.permission.node, situation)
  if (verdict === false) return undefined
  return isReady(verdict)
    ? heldAs(id, rule, verdict, situation)
    : Effect.flatMap(verdict, (verdict) => asEffect(heldAs(id, rule, verdict, situation)))
}

/** What is held of a rule by the verdict on its permission. */
const heldAs = (id: number, rule: Rule, verdict: Verdict, situation: Situation): Maybe<Held | undefined> => {
  if (verdict === false) return undefined
  const { check, fields, isOpen, rows } = rule
  const held = (reached: Verdict, left: Verdict): Held => {
    const some = filterIn(both(verdict, reached))
    return { id, rows: some, check: left === reached ? some : filterIn(both(verdict, left)), fields }
  }
  const reached = filterOf(rows, isOpen, situation)
  const left = check === undefined ? reached : filterOf(check, isOpen, situation)
  return isReady(reached) && isReady(left)
    ? held(reached, left)
    : Effect.flatMap(
      asEffect(reached),
      (reached) =>
        check === undefined
          ? Effect.succeed(held(reached, reached))
          : Effect.map(asEffect(left), (left) => held(reached, left))
    )
}

const asEffect = <A>(value: Maybe<A>): Effect.Effect<A, Failure> => isReady(value) ? Effect.succeed(value) : value

/** Where the permission admits nobody without credentials, rows are asked about the caller, and else about an option. */
const filterOf = (
  rows: AnyRows | undefined,
  isOpen: boolean,
  { caller, model, request }: Situation
): Maybe<Verdict> => {
  if (rows === undefined || model === undefined) return true
  // The permission decides the type of the caller, and an open one is the only one that holds without a caller.
  const where = rows((isOpen ? caller : Option.getOrUndefined(caller)) as never)
  const answer = Effect.isEffect(where) ? once(request, isOpen ? "open" : "closed", rows, where) : where
  return then<Query.Where<Model.Any>, Verdict>(answer, (where) => {
    const filter = Query.toFilter(model, where)
    return isComplete(filter) ? filter : nothing
  })
}

/** Whether no value is missing. A missing one, such as a claim that a token does not have, would match what has no value. */
const isComplete = (part: unknown): boolean => {
  if (part === undefined) return false
  if (Array.isArray(part)) return part.every(isComplete)
  if (typeof part !== "object" || part === null) return true
  // Of other objects, such as dates and identifiers, no part is a value of its own.
  const prototype: unknown = Object.getPrototypeOf(part)
  return prototype !== Object.prototype && prototype !== null || Object.values(part).every(isComplete)
}

/** Both are not `false`. */
const filterIn = (verdict: Verdict): Filter | undefined => typeof verdict === "boolean" ? undefined : verdict

const withLimit = (held: Held, limit: Verdict): Held => ({
  ...held,
  rows: filterIn(both(held.rows ?? true, limit)),
  check: filterIn(both(held.check ?? true, limit))
})

const verdictOf = (node: Node, situation: Situation, isNegated = false): Maybe<Verdict> => {
  const caller = Option.getOrUndefined(situation.caller)
  switch (node._tag) {
    case "Anonymous":
      return true
    case "Denied":
      return false
    case "Role":
      return caller !== undefined && caller.roles.includes(node.name)
    case "Authenticated":
      return caller !== undefined
    case "CurrentSubject":
      return caller !== undefined && situation.isSubject(caller.subject)
    case "Not":
      return caller === undefined ? false : then(verdictOf(node.part, situation, !isNegated), contrary)
    case "And":
      return node.parts.length === 0
        ? caller !== undefined
        : all(
          node.parts.map((part) => verdictOf(part, situation, isNegated)),
          (parts) => parts.reduce<Verdict>(both, true)
        )
    case "Or":
      return all(
        node.parts.map((part) => verdictOf(part, situation, isNegated)),
        (parts) => parts.reduce<Verdict>(either, false)
      )
    case "Custom":
      return caller === undefined && !node.anonymous
        ? false
        : decisionOf(node.decide, situation, !isNegated)
  }
}

/**
 * The decision, or `whenAsked` if it depends on the document and that is not known. It is made once for a request, and for each
 * document that it depends on.
 */
const decisionOf = (
  decide: Extract<Node, { readonly _tag: "Custom" }>["decide"],
  situation: Situation,
  whenAsked: boolean
): Effect.Effect<boolean, Failure> =>
  Effect.suspend(() => {
    const { decisions } = answersTo(situation.request)
    const before = decisions.get(decide)
    if (before !== undefined) {
      if (!before.isAsked || before.document === situation.document) return Effect.succeed(before.decision)
      if (situation.document === undefined) return Effect.succeed(whenAsked)
    }
    let isAsked = false
    const document = Effect.suspend(() => {
      isAsked = true
      return situation.document ?? Effect.succeedNone
    })
    return Effect.map(decide({ ...situation, document }), (decision) => {
      if (isAsked && situation.document === undefined) return whenAsked
      decisions.set(decide, { isAsked, document: situation.document, decision })
      return decision
    })
  })

interface Decision {
  /** Whether it depends on the document. */
  readonly isAsked: boolean
  readonly document: Situation["document"]
  readonly decision: boolean
}

/** What the effects of a request's rules have answered: the rules are asked for the endpoint, for handlers, and for links. */
interface Answers {
  readonly decisions: Map<unknown, Decision>
  /** By the functions; those of permissions that admit anybody get an option as the caller. */
  readonly open: Map<AnyRows, Query.Where<Model.Any>>
  readonly closed: Map<AnyRows, Query.Where<Model.Any>>
}

const answersTo = (request: HttpServerRequest.HttpServerRequest): Answers => {
  const before = answers.get(request)
  if (before !== undefined) return before
  const none: Answers = { decisions: new Map(), open: new Map(), closed: new Map() }
  answers.set(request, none)
  return none
}

const answers = new WeakMap<HttpServerRequest.HttpServerRequest, Answers>()

const once = (
  request: HttpServerRequest.HttpServerRequest,
  kind: "open" | "closed",
  rows: AnyRows,
  asked: Effect.Effect<Query.Where<Model.Any>, Failure>
): Effect.Effect<Query.Where<Model.Any>, Failure> =>
  Effect.suspend(() => {
    const known = answersTo(request)[kind]
    const before = known.get(rows)
    return before === undefined
      ? Effect.map(asked, (where) => {
        known.set(rows, where)
        return where
      })
      : Effect.succeed(before)
  })

const then = <A, B>(value: Maybe<A>, f: (value: A) => Maybe<B>): Maybe<B> => {
  if (isReady(value)) return f(value)
  return Effect.flatMap(value, (value) => {
    const next = f(value)
    return isReady(next) ? Effect.succeed(next) : next
  })
}

const all = <A, B>(values: ReadonlyArray<Maybe<A>>, f: (values: ReadonlyArray<A>) => B): Maybe<B> => {
  const areReady = (values: ReadonlyArray<Maybe<A>>): values is ReadonlyArray<A> => values.every(isReady)
  return areReady(values)
    ? f(values)
    : Effect.map(Effect.forEach(values, (value) => isReady(value) ? Effect.succeed(value) : value), f)
}

/** Most values are booleans, for which the question is cheap. */
const isReady = <A>(value: Maybe<A>): value is A =>
  typeof value === "boolean" || value === undefined || !Effect.isEffect(value)
