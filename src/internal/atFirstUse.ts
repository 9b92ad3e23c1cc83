/** What is made when it is first used, since it loads much that many programs never need. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"

/** Makes something at its first use, for as long as the present scope is open. What has failed is tried again at the next use. */
export const atFirstUse = <A, E, R>(
  make: Effect.Effect<A, E, R>
): Effect.Effect<Effect.Effect<A, E, Exclude<R, Scope.Scope>>, never, Scope.Scope> =>
  Effect.flatMap(Effect.scope, (scope) =>
    Effect.cachedWithTTL(
      Effect.uninterruptible(Scope.provide(make, scope)),
      (exit) => Exit.isSuccess(exit) ? Infinity : 0
    ))
