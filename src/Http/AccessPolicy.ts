/**
 * The rules of an engine as a table: who may call what, for which documents, and with which of their fields.
 *
 * **Details**
 *
 * A policy is a value, so that a review can read it and a test can hold it: a change of a rule is then a change of a file.
 *
 * **Example** (A table)
 *
 * ```ts
 * import { AccessPolicy, CurrentSubject, KernelEngine, Model, Resource, Role } from "appkernel"
 * import { Schema } from "effect"
 *
 * class User extends Model.Class<User>()("User", { id: Model.id(), email: Schema.String, notes: Schema.String }) {}
 *
 * const Users = Resource.make(User)
 *   .grant(CurrentSubject, { hide: ["notes"] })
 *   .require(Role("admin"))
 *
 * const { policy } = KernelEngine.make("shop").register(Users).enableSecurity()
 *
 * policy.entries.map(({ endpoint, who }) => `${endpoint}: ${who}`).slice(0, 2)
 * // => ["GET /users: the subject itself", "GET /users: admin"]
 * AccessPolicy.toText(policy).split("\n")[1]
 * // => "GET /users            the subject itself  the caller's  the caller's  notes   -"
 * ```
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Order from "effect/Order"
import type * as PlatformError from "effect/PlatformError"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Grant from "../Access/Grant.ts"
import type * as Permission from "../Access/Permission.ts"
import type * as Model from "../Model/Model.ts"
import type { Filter } from "../Repository/DocumentStore.ts"
import * as Query from "../Repository/Query.ts"
import { watchPathOf } from "./description/pathShape.ts"
import { endpointsOf, isLogged, standardEndpoints } from "./description/standardEndpoints.ts"
import * as History from "./History.ts"
import type { ResourceInfo, ServiceInfo } from "./registration/registration.ts"
import { isOpen, permissionsOf } from "./resource/rules.ts"

/**
 * A row: what one rule says of one endpoint. An endpoint that nobody may call has one row, too.
 *
 * @category models
 * @since 0.1.0
 */
export interface Entry {
  /** The name of the registration; `changes` for the changes of several collections, `documentation` for its pages, and `explorer` for this. */
  readonly registration: string
  /** The method and the path: `GET /api/v1/users/:id`. */
  readonly endpoint: string
  /**
   * What a `POST` to a collection does with the identifier of an existing document: `configured` is what `server.on_known_id` says,
   * and shown as its default. `undefined` of other endpoints.
   */
  readonly onKnownId: "replace" | "error" | "configured" | undefined
  /** The permission in words; `nobody` without a rule. */
  readonly who: string
  /** The row filter of the rule. */
  readonly rows: string
  /** What a write may leave behind. */
  readonly check: string
  readonly hidden: ReadonlyArray<string>
  readonly readOnly: ReadonlyArray<string>
  /**
   * Whether the rule admits callers without credentials: `none` if it says the same of everybody, `optional` if what it gives may
   * depend on the caller.
   */
  readonly credentials: "none" | "optional" | "required"
}

/**
 * The rules of an engine, by registration and endpoint, in order. Without security, everybody may do everything.
 *
 * @category models
 * @since 0.1.0
 */
export interface AccessPolicy {
  readonly isEnabled: boolean
  readonly entries: ReadonlyArray<Entry>
}

/**
 * Occurs when a policy differs from the file that holds it. `difference` has the lines that are missing and surplus.
 *
 * @category errors
 * @since 0.1.0
 */
export class PolicyChanged extends Schema.TaggedError<PolicyChanged>()("PolicyChanged", {
  file: Schema.String,
  difference: Schema.String
}) {
  override get message(): string {
    return `The access policy differs from ${this.file}:\n${this.difference}`
  }
}

/**
 * The policy as a text with aligned columns.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toText = (policy: AccessPolicy): string => {
  const rows = [headers, ...policy.entries.map(cellsOf)]
  const widths = headers.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  return rows.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ").trimEnd()).join("\n")
}

/**
 * The policy as a table in Markdown.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toMarkdown = (policy: AccessPolicy): string =>
  [headers, headers.map(() => "---"), ...policy.entries.map(cellsOf)]
    .map((row) => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`)
    .join("")

/**
 * Compares the policy with a file that holds it as Markdown, for tests. A missing file is written. `update` writes the file
 * anew.
 *
 * @category testing
 * @since 0.1.0
 */
export const matchesFile: (
  policy: AccessPolicy,
  file: string,
  options?: { readonly update?: boolean | undefined }
) => Effect.Effect<void, PolicyChanged | PlatformError.PlatformError, FileSystem.FileSystem> = Effect.fn(
  "AccessPolicy.matchesFile"
)(function*(policy: AccessPolicy, file: string, options?: { readonly update?: boolean | undefined }) {
  const files = yield* FileSystem.FileSystem
  const text = toMarkdown(policy)
  if (options?.update === true || !(yield* files.exists(file))) return yield* files.writeFileString(file, text)
  const stored = (yield* files.readFileString(file)).replaceAll("\r\n", "\n")
  if (stored === text) return
  const [before, now] = [stored.split("\n"), text.split("\n")]
  const difference = [
    ...before.filter((line) => !now.includes(line)).map((line) => `- ${line}`),
    ...now.filter((line) => !before.includes(line)).map((line) => `+ ${line}`)
  ].join("\n")
  return yield* new PolicyChanged({ file, difference: difference === "" ? "the order of the lines" : difference })
})

/**
 * The endpoints that nobody may call.
 *
 * @category conversions
 * @since 0.1.0
 */
export const unreachable = (policy: AccessPolicy): ReadonlyArray<string> =>
  policy.entries.filter(({ who }) => who === nobody).map(({ endpoint }) => endpoint)

/** The endpoint of an action or operation, with the parameter that asks for it, if it has no address of its own. @internal */
export const endpointOf = ({ method, options = {}, path }: {
  readonly method: string
  readonly path: string
  readonly options?: object | undefined
}): string => {
  const parameter = History.parameterOf(options)
  return `${method} ${path}${parameter === undefined ? "" : `?${parameter}`}`
}

/** Whom an endpoint without a rule is for, in the words of permissions. @internal */
export const nobody = "nobody"

/** A registration with its rules. @internal */
export type Ruled = (ResourceInfo | ServiceInfo) & { readonly rules: Grant.Rules }

/** The policy with what the configuration says of `POST` at registrations that do not. @internal */
export const configured = (policy: AccessPolicy, onKnownId: "replace" | "error"): AccessPolicy => ({
  ...policy,
  entries: policy.entries.map((entry) => entry.onKnownId === "configured" ? { ...entry, onKnownId } : entry)
})

/** The policy of registrations. @internal */
export const make = (registrations: ReadonlyArray<Ruled>, isEnabled: boolean): AccessPolicy => {
  const entries = registrations.flatMap((registration) => entriesOf(registration, isEnabled))
  return { isEnabled, entries: [...entries, ...watched(registrations, entries, isEnabled)] }
}

/** The policy with pages that no registration has. Without a requirement they are for everybody, or for `signedIn`. @internal */
export const withPages = (
  policy: AccessPolicy,
  registration: string,
  paths: ReadonlyArray<`/${string}`>,
  require: Permission.OneOrMore | "signedIn" | undefined
): AccessPolicy => {
  const needsUser = policy.isEnabled && require === "signedIn"
  const permissions = policy.isEnabled && require !== undefined && require !== "signedIn" ? permissionsOf(require) : []
  const pages = paths.map((path) => ({
    ...unruled(
      registration,
      `GET ${path}`,
      permissions.map(({ words }) => words).join(", or ") || (needsUser ? "everybody signed in" : "everybody")
    ),
    credentials: !needsUser && (permissions.length === 0 || isOpen(permissions)) ? "none" as const : "required" as const
  }))
  return { ...policy, entries: [...policy.entries, ...pages] }
}

/** The conditions of a resource's rules, as far as they can be computed without a caller. @internal */
export const conditionsOf = (
  { model, rules: { grants, restrictions } }: Ruled & ResourceInfo
): ReadonlyArray<Filter> => {
  const granted = grants.flatMap(({ check, permission, rows }) =>
    [rows, check].map((one) => one === undefined ? undefined : filterOf(one, permission.isOpen, model))
  )
  const restricted = restrictions.map((one) => filterOf(one, false, model))
  return [...granted, ...restricted].filter((filter) => filter !== undefined)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const headers = ["Endpoint", "Who", "Documents", "Left behind", "Hidden", "Read-only"]

const cellsOf = ({ check, endpoint, hidden, onKnownId, readOnly, rows, who }: Entry): ReadonlyArray<string> => [
  onKnownId === undefined ? endpoint : `${endpoint} (${onKnownId === "error" ? "creates" : "creates or replaces"})`,
  who,
  rows,
  check,
  hidden.join(", ") || "-",
  readOnly.join(", ") || "-"
]

const entriesOf = (registration: Ruled, isEnabled: boolean): ReadonlyArray<Entry> => {
  const { calls, name, path, rules } = registration
  const model = registration._tag === "Resource" ? registration.model : undefined
  const entries = (endpoint: string, on: string, isOperation: boolean): ReadonlyArray<Entry> => {
    const place = {
      registration: name,
      endpoint,
      onKnownId: registration._tag === "Service" || isOperation || on !== "POST"
        ? undefined
        : registration.onKnownId ?? "configured" as const
    }
    const fixed = (who: string, credentials: Entry["credentials"] = "required") => ({
      ...unruled(name, endpoint, who),
      ...place,
      credentials
    })
    if (!isEnabled) return [fixed("everybody", "none")]
    const found = rules.idsFor(on, isOperation).flatMap((id) => rules.grants[id] ?? [])
    const admitting = found.filter(({ permission }) => permission.node._tag !== "Denied")
    return admitting.length === 0 ? [fixed(nobody)] : admitting.map((rule) => ({
      ...place,
      ...described(rule, rules.restrictions, model)
    }))
  }
  const standard = registration._tag === "Service" ? [] : endpointsOf(registration)
  return [
    ...Arr.sortWith(standard, ({ broughtBy }) => broughtBy === "any", Order.Boolean)
      .flatMap(({ asks, method, path: own }) =>
        // Who may list may ask by a body.
        entries(`${method} ${path}${own}`, asks === undefined ? method : standardEndpoints[asks].method, false)
      ),
    ...calls.flatMap((call) => {
      // Deleted documents are on lists, too.
      const others = History.parameterOf(call.options) === "deleted" ? [path] : []
      return [...others, call.path].flatMap((path) => entries(endpointOf({ ...call, path }), call.name, true))
    })
  ]
}

/** The changes of several collections: who may read one of these may name it. */
const watched = (
  registrations: ReadonlyArray<Ruled>,
  entries: ReadonlyArray<Entry>,
  isEnabled: boolean
): ReadonlyArray<Entry> => {
  const streams = registrations.flatMap((one) =>
    one._tag === "Resource" && one.methods.includes("GET") && isLogged(one.model) ? [`${one.path}/changes`] : []
  )
  return Array.from(Map.groupBy(streams, watchPathOf), ([path, beside]) => {
    const isReadable = entries.some(({ endpoint, who }) =>
      who !== nobody && beside.includes(endpoint.slice("GET ".length))
    )
    const who = !isEnabled ? "everybody" : isReadable ? "who may read the collections that it names" : nobody
    return { ...unruled("changes", `GET ${path}`, who), credentials: isEnabled ? "optional" as const : "none" as const }
  }).filter(({ endpoint }) => !entries.some((entry) => entry.endpoint === endpoint))
}

/** A row without a rule. */
const unruled = (registration: string, endpoint: string, who: string) => ({
  registration,
  endpoint,
  onKnownId: undefined,
  who,
  rows: "-",
  check: "-",
  hidden: [],
  readOnly: []
})

const described = (
  { check, fields, permission, rows }: Grant.Rule,
  restrictions: ReadonlyArray<Grant.AnyRows>,
  model: Model.Any | undefined
): Omit<Entry, "registration" | "endpoint" | "onKnownId"> => {
  const own = ownsSubject(permission.node) ? ["the caller's"] : []
  const { isOpen, words: who } = permission
  const limits = restrictions.map((limit) => conditionOf(limit, false, model))
  const conditions = (rule: Grant.AnyRows | undefined) =>
    [...own, ...(rule === undefined ? [] : [conditionOf(rule, isOpen, model)]), ...limits].join(" and ") || "all"
  return {
    who,
    rows: model === undefined ? "-" : conditions(rows),
    check: model === undefined ? "-" : conditions(check ?? rows),
    hidden: fields?.hide ?? [],
    readOnly: fields?.readOnly ?? [],
    credentials: !isOpen || limits.length > 0
      ? "required"
      : permission.node._tag === "Anonymous" && rows === undefined && check === undefined
      ? "none"
      : "optional"
  }
}

/** Whether the permission is for the caller's own document only. */
const ownsSubject = (node: Permission.Node): boolean =>
  node._tag === "CurrentSubject" || node._tag === "And" && node.parts.some(ownsSubject)
  || node._tag === "Or" && node.parts.length === 1 && node.parts.every(ownsSubject)

/** The condition for a caller whose subject and claims are their names, if it can be computed without one. */
const conditionOf = (rows: Grant.AnyRows, isOpen: boolean, model: Model.Any | undefined): string => {
  if (model === undefined) return "all"
  const filter = filterOf(rows, isOpen, model)
  return filter === undefined ? "a condition that follows from the caller" : JSON.stringify(filter)
}

const filterOf = (rows: Grant.AnyRows, isOpen: boolean, model: Model.Any): Filter | undefined =>
  Result.getOrUndefined(Result.try(() => {
    // The permission decides the type of the caller.
    const where = rows((isOpen ? { _tag: "Some", value: symbolic } : symbolic) as never)
    return Effect.isEffect(where) ? undefined : Query.toFilter(model, where)
  }))

const symbolic: Permission.Caller = {
  subject: "‹subject›",
  roles: ["‹role›"],
  claims: new Proxy({}, { get: (_, name) => `‹${String(name)}›` })
}
