/**
 * Permissions: who may do something, as values.
 *
 * **Details**
 *
 * A list of permissions stands for alternatives, as `or` does. Only `Anonymous` admits callers without credentials;
 * `not` never does.
 *
 * **Example** (Combining permissions)
 *
 * ```ts
 * import { Permission, Role } from "appkernel"
 *
 * const editor = Permission.and(Role("editor"), Permission.not(Role("suspended")))
 *
 * Permission.describe([editor, Permission.CurrentSubject])
 * // => "editor and not suspended, or the subject itself"
 * ```
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import type * as Model from "../Model/Model.ts"
import type { DocumentInvalid, ReadError } from "../Repository/RepositoryError.ts"
import type { CurrentUser } from "../Security/CurrentUser.ts"

const typeId = "~appkernel/Permission"

/**
 * A permission. `Open` is whether it admits callers without credentials; `R` are the services that its decision needs.
 *
 * @category models
 * @since 0.1.0
 */
export interface Permission<out Open extends boolean, out R> extends Any {
  readonly [typeId]: { readonly open: Open; readonly services: () => R }
}

/**
 * Any permission.
 *
 * @category models
 * @since 0.1.0
 */
export interface Any {
  readonly [typeId]: { readonly open: boolean; readonly services: () => unknown }
  readonly node: Node
  /** Whether the permission admits callers without credentials, or may do so. */
  readonly isOpen: boolean
  /** The permission in words, for a review of the policy. */
  readonly words: string
  /** The parts that `and`, `or` and `not` compose to the permission. */
  readonly leaves: ReadonlyArray<Node>
  /** The permission and alternatives as one. */
  readonly orAny: (others: ReadonlyArray<Any>) => Any
}

/**
 * One permission, or alternatives.
 *
 * @category models
 * @since 0.1.0
 */
export type OneOrMore = Any | ReadonlyArray<Any>

/**
 * What a rule takes: one or more permissions. In the place of a text stands a message that names the permission, which no text
 * is.
 *
 * @category models
 * @since 0.1.0
 */
export type Given<P> = P extends string ? `Role("${P}") is a permission, and a text is not` : P

/**
 * Whether one of the permissions admits callers without credentials.
 *
 * @category models
 * @since 0.1.0
 */
export type IsOpen<P> = true extends OpenOf<P> ? true : false

/**
 * The services that the decisions of permissions need.
 *
 * @category models
 * @since 0.1.0
 */
export type ServicesOf<P> = P extends ReadonlyArray<infer One> ? ServicesOf<One>
  : P extends Permission<boolean, infer R> ? R
  : never

/**
 * A permission as data.
 *
 * @category models
 * @since 0.1.0
 */
export type Node =
  | { readonly _tag: "Role"; readonly name: string }
  | { readonly _tag: "Authenticated" }
  | { readonly _tag: "CurrentSubject" }
  | { readonly _tag: "Anonymous" }
  | { readonly _tag: "Denied" }
  | { readonly _tag: "And"; readonly parts: ReadonlyArray<Node> }
  | { readonly _tag: "Or"; readonly parts: ReadonlyArray<Node> }
  | { readonly _tag: "Not"; readonly part: Node }
  | {
    readonly _tag: "Custom"
    readonly name: string
    readonly anonymous: boolean
    /** Its services are those of the server, as the types of the engine say. */
    readonly decide: (request: Request<Option.Option<Caller>, unknown>) => Effect.Effect<boolean, Failure>
  }

/**
 * What an authenticated caller is known by.
 *
 * @category models
 * @since 0.1.0
 */
export type Caller = CurrentUser["Service"]

/**
 * What a decision may depend on.
 *
 * @category models
 * @since 0.1.0
 */
export interface Request<Me, Document> {
  readonly caller: Me
  readonly request: HttpServerRequest.HttpServerRequest
  /** The addressed document; none for a collection, an operation, or an unknown identifier. It is read when asked for. */
  readonly document: Effect.Effect<Option.Option<Document>, Failure>
}

/**
 * What a decision may fail with. The request is then answered as if the store had failed so.
 *
 * @category models
 * @since 0.1.0
 */
export type Failure = ReadError | DocumentInvalid

/**
 * Admits callers with the role.
 *
 * @category constructors
 * @since 0.1.0
 */
export const Role = (name: string): Permission<false, never> => fromNode({ _tag: "Role", name })

/**
 * Admits every caller with credentials.
 *
 * @category constructors
 * @since 0.1.0
 */
export const Authenticated: Permission<false, never> = fromNode({ _tag: "Authenticated" })

/**
 * Admits callers to the document whose identifier is their subject. On a collection it is the rule for rows `id = subject`.
 * On an operation it compares the parameter `id` of the path.
 *
 * @category constructors
 * @since 0.1.0
 */
export const CurrentSubject: Permission<false, never> = fromNode({ _tag: "CurrentSubject" })

/**
 * Admits everybody, callers without credentials included. Wrong credentials are a 401 nevertheless.
 *
 * @category constructors
 * @since 0.1.0
 */
export const Anonymous: Permission<true, never> = fromNode({ _tag: "Anonymous" })

/**
 * Admits nobody.
 *
 * @category constructors
 * @since 0.1.0
 */
export const Denied: Permission<false, never> = fromNode({ _tag: "Denied" })

/**
 * Admits callers whom all permissions admit.
 *
 * @category combinators
 * @since 0.1.0
 */
export const and = <const P extends ReadonlyArray<Any>>(
  ...permissions: P
): Permission<false extends P[number][typeof typeId]["open"] ? false : true, ServicesOf<P>> =>
  fromNode({ _tag: "And", parts: permissions.map(({ node }) => node) })

/**
 * Admits callers whom at least one permission admits.
 *
 * @category combinators
 * @since 0.1.0
 */
export const or = <const P extends ReadonlyArray<Any>>(...permissions: P): Permission<IsOpen<P>, ServicesOf<P>> =>
  fromNode({ _tag: "Or", parts: permissions.map(({ node }) => node) })

/**
 * Admits callers with credentials whom the permission does not admit.
 *
 * @category combinators
 * @since 0.1.0
 */
export const not = <R>(permission: Permission<boolean, R>): Permission<false, R> =>
  fromNode({ _tag: "Not", part: permission.node })

/**
 * The options of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<M extends Model.Any, Open extends boolean> {
  /** The model of the addressed document, for its type. */
  readonly model?: M | undefined
  /** Whether callers without credentials are asked about, too. Defaults to false: they are not admitted. */
  readonly anonymous?: Open | undefined
}

/**
 * Makes a permission of the application's own. `name` stands in the policy and in the log. The decision is made before the
 * document is read or written, apart from it; a rule that has to hold in the same operation is one for rows.
 *
 * **Example** (A permission that needs a service)
 *
 * ```ts
 * import { Context, Effect } from "effect"
 * import { Permission } from "appkernel"
 *
 * class OfficeHours extends Context.Service<OfficeHours, { readonly isOpen: Effect.Effect<boolean> }>()("OfficeHours") {}
 *
 * const duringOfficeHours = Permission.make("during office hours", {}, () =>
 *   Effect.flatMap(OfficeHours, ({ isOpen }) => isOpen))
 *
 * Permission.describe(duringOfficeHours) // => "during office hours"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <R = never, M extends Model.Any = Model.Any, const Open extends boolean = false>(
  name: string,
  options: Options<M, Open>,
  decide: (
    request: Request<Open extends true ? Option.Option<Caller> : Caller, M["Type"]>
  ) => Effect.Effect<boolean, Failure, R>
): Permission<Open, R> =>
  fromNode({
    _tag: "Custom",
    name,
    anonymous: options.anonymous ?? false,
    decide: ({ caller, document, request }) =>
      // The option `anonymous` decides the type of the caller, and whether there may be none; the engine's type has `R`.
      // @effect-diagnostics-next-line unsafeEffectTypeAssertion:off
      decide({
        request,
        document,
        caller: (options.anonymous === true ? caller : Option.getOrUndefined(caller)) as never
      }) as Effect.Effect<boolean, Failure>
  })

/**
 * Whether a value is a permission.
 *
 * @category guards
 * @since 0.1.0
 */
export const isPermission = (u: unknown): u is Any => typeof u === "object" && u !== null && typeId in u

/**
 * The alternatives as one permission.
 *
 * @category conversions
 * @since 0.1.0
 */
export const ofAlternatives = (permissions: OneOrMore): Any =>
  isPermission(permissions) ? permissions : permissions.length === 1 ? permissions[0]! : or(...permissions)

/**
 * Whether a permission admits callers without credentials, or may do so.
 *
 * @category guards
 * @since 0.1.0
 */
export const isOpen = (permissions: OneOrMore): boolean => ofAlternatives(permissions).isOpen

/**
 * The permission in words, for a review of the policy.
 *
 * @category conversions
 * @since 0.1.0
 */
export const describe = (permissions: OneOrMore): string => ofAlternatives(permissions).words

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const leavesOf = (node: Node): ReadonlyArray<Node> =>
  node._tag === "Not" ? leavesOf(node.part) : "parts" in node ? node.parts.flatMap(leavesOf) : [node]

type OpenOf<P> = P extends ReadonlyArray<infer One> ? OpenOf<One>
  : P extends { readonly [typeId]: { readonly open: infer Open } } ? Open
  : false

function fromNode(node: Node): Permission<never, never> {
  // The type-level property is never read.
  const permission: Omit<Any, typeof typeId> & { readonly [typeId]: undefined } = {
    [typeId]: undefined,
    node,
    isOpen: admitsNobody(node),
    get words() {
      return words(node, "top")
    },
    get leaves() {
      return leavesOf(node)
    },
    orAny: (others) =>
      others.length === 0 ? fromNode(node) : fromNode({ _tag: "Or", parts: [node, ...others.map((one) => one.node)] })
  }
  return permission as never
}

function admitsNobody(node: Node): boolean {
  switch (node._tag) {
    case "Anonymous":
      return true
    case "And":
      return node.parts.length > 0 && node.parts.every(admitsNobody)
    case "Or":
      return node.parts.some(admitsNobody)
    case "Custom":
      return node.anonymous
    default:
      return false
  }
}

const words = (node: Node, within: "top" | "And" | "Or" | "Not"): string => {
  switch (node._tag) {
    case "Role":
      return node.name
    case "Authenticated":
      return "everybody signed in"
    case "CurrentSubject":
      return "the subject itself"
    case "Anonymous":
      return "everybody"
    case "Denied":
      return "nobody"
    case "Custom":
      return node.name
    case "Not":
      return `not ${words(node.part, "Not")}`
    case "And":
    case "Or": {
      if (node.parts.length === 0) return node._tag === "And" ? "everybody signed in" : "nobody"
      const joined = node.parts.map((part) => words(part, node._tag)).join(node._tag === "And" ? " and " : ", or ")
      return within === "top" || within === "Or" || node.parts.length === 1 || within === node._tag
        ? joined
        : `(${joined})`
    }
  }
}
