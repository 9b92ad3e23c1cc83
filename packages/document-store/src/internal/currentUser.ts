/**
 * The service of the current user. It is below all folders, since models and repositories read its subject and can't
 * import `Security`.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as Option from "effect/Option"

/** The current user. `Security` exports it; models and repositories read its subject. */
export class CurrentUser extends Context.Service<CurrentUser, {
  /** The identifier of the user, which generators, audit fields and histories take: `sub` of a token. */
  readonly subject: string
  /** The roles that the credentials name. */
  readonly roles: ReadonlyArray<string>
  /** All claims of a token; empty with other credentials. */
  readonly claims: { readonly [name: string]: unknown }
  // The module that exports it is one of Security.
  // @effect-diagnostics-next-line deterministicKeys:off
}>()("appkernel/Security/CurrentUser") {
  /** The current user, if there is one. It has no requirements. */
  static readonly option: Effect.Effect<Option.Option<CurrentUser["Service"]>> = Effect.serviceOption(CurrentUser)
}

/** The subject of the current user of a fiber. */
export const currentUserIdOf = (fiber: Fiber.Fiber<unknown, unknown>): string | undefined =>
  Context.getOrUndefined(fiber.context, CurrentUser)?.subject
