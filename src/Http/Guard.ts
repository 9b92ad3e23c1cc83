/**
 * What guards the endpoints of an API: the checks before a request is handled, as their descriptions show them.
 *
 * **Details**
 *
 * Each is a middleware of `HttpApi` without an implementation of its own: the engine performs the checks. So their errors
 * are in the error types of exactly the endpoints that can answer with them, for every client of the description.
 *
 * @since 0.1.0
 */
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import type * as Endpoint from "./description/endpoint.ts"
import { responses } from "./HttpError.ts"

/**
 * The check of credentials. Every endpoint of an API with security can answer with `Unauthorized`, where credentials are needed
 * and missing, and where they are wrong; and with `TooManyRequests`, where too many were.
 *
 * @category models
 * @since 0.1.0
 */
export class Authentication extends HttpApiMiddleware.Service<Authentication>()("appkernel/Guard/Authentication", {
  error: [responses.Unauthorized, responses.TooManyRequests]
}) {}

/**
 * The check of rules. Endpoints that everybody may call to read have none.
 *
 * @category models
 * @since 0.1.0
 */
export class Authorization extends HttpApiMiddleware.Service<Authorization>()("appkernel/Guard/Authorization", {
  error: responses.Forbidden
}) {}

/**
 * The check of how often a service is called. It comes before the others.
 *
 * @category models
 * @since 0.1.0
 */
export class RateLimiting extends HttpApiMiddleware.Service<RateLimiting>()("appkernel/Guard/RateLimiting", {
  error: responses.TooManyRequests
}) {}

/**
 * The guards that an engine enables: `security` by `enableSecurity`, `rateLimits` by `enableRateLimits`.
 *
 * @category models
 * @since 0.1.0
 */
export type Guard = "security" | "rateLimits"

/**
 * Groups of endpoints with guards.
 *
 * @category models
 * @since 0.1.0
 */
export type Guarded<Groups extends HttpApiGroup.Constraint, G extends Guard> = [G] extends [never] ? Groups
  : Groups extends HttpApiGroup.HttpApiGroup<infer Name, infer Endpoints, infer TopLevel>
    ? HttpApiGroup.HttpApiGroup<Name, GuardedEndpoint<Endpoints, OpenIn<Groups>, G>, TopLevel> & HiddenOf<Groups>
  : never

/**
 * An endpoint with guards. `Open` are the methods of its group that admit callers without credentials.
 *
 * @category models
 * @since 0.1.0
 */
export type GuardedEndpoint<E, Open, G extends Guard> = E extends HttpApiEndpoint.Constraint
  ? HttpApiEndpoint.AddMiddleware<E, MiddlewareOf<E, Open, G>> & Marks<E>
  : never

/**
 * The middleware of a guard at an endpoint.
 *
 * @category models
 * @since 0.1.0
 */
export type MiddlewareOf<E extends HttpApiEndpoint.Constraint, Open, G extends Guard> = G extends "security"
  ? Authentication | (IsOpen<E, Open> extends true ? never : Authorization)
  : G extends "rateLimits" ? RateLimiting
  : never

/**
 * Whether an endpoint answers everybody, by its group's open methods: it is described as open to callers without credentials, and nothing in a request
 * can be denied, as a field in a body can.
 *
 * @internal
 */
export const isOpen = (
  open: ReadonlyArray<Endpoint.Method>,
  { broughtBy }: { readonly broughtBy: Endpoint.Method | "any" }
): boolean => open.includes("GET") && (broughtBy === "GET" || broughtBy === "any")

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type HiddenOf<Group> = [Endpoint.HiddenIn<Group>] extends [never] ? unknown : Endpoint.Hidden<Endpoint.HiddenIn<Group>>

type OpenIn<Group> = Group extends { readonly "~Open"?: infer Open } ? Open : never

/** What `AddMiddleware` does not know of. */
type Marks<E> = Pick<E, Extract<keyof E, "~Standard" | "~Model" | "~Anonymous">>

type IsOpen<E extends HttpApiEndpoint.Constraint, Open> = E["identifier"] extends keyof Endpoint.Reads
  ? "GET" extends Open ? true : false
  : E extends { readonly "~Anonymous"?: infer A } ? [A] extends [true | undefined] ? true : false
  : false
