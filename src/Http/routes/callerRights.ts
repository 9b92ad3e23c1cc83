import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import type * as Model from "../../Model/Model.ts"
import type { Rules } from "../../Security/Grant.ts"
import { heldBy } from "../../Security/introspection.ts"
import type { Caller, Failure } from "../../Security/Permission.ts"
import { callersOf } from "./authorization.ts"
import { subjectsOf, withAllData } from "./callerAccess.ts"

/**
 * The numbers of the rules of each registration that a caller holds for some document, or may hold: what a permission says of a
 * document is not known.
 *
 * @internal
 */
export const heldNumbers = (
  registrations: ReadonlyArray<{ readonly rules: Rules; readonly model?: Model.Any | undefined }>,
  roles: { readonly [role: string]: ReadonlyArray<string> }
) => {
  const asCaller = callersOf(roles)
  const ruled = registrations.map(({ model, rules }) => ({
    model,
    rules,
    numbers: rules.grants.map((_, number) => number),
    subjects: model === undefined ? () => true : subjectsOf(model)
  }))
  return Effect.fnUntraced(function*(
    user: Caller | undefined,
    request: HttpServerRequest.HttpServerRequest
  ): Effect.fn.Return<ReadonlyArray<ReadonlyArray<number>>, Failure> {
    const caller = Option.fromUndefinedOr(user === undefined ? undefined : asCaller(user))
    return yield* withAllData(Effect.forEach(ruled, ({ model, numbers, rules, subjects }) => {
      const held = heldBy(rules, numbers, {
        caller,
        request,
        model,
        isSubject: (subject) => subjects(subject, undefined),
        document: undefined
      })
      return Effect.map(Effect.isEffect(held) ? held : Effect.succeed(held), (held) => held.map(({ id }) => id))
    }))
  })
}
