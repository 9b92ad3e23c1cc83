import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import type * as Model from "../../Model/Model.ts"
import type { Rules } from "../../Security/Grant.ts"
import { heldBy } from "../../Security/introspection.ts"
import type { Caller, Failure } from "../../Security/Permission.ts"
import { includedRoles, subjectsOf } from "./authorization.ts"
import { withAllData } from "./callerAccess.ts"

/**
 * The numbers of the rules of each registration that a caller holds for some document, or may hold: what a permission says of a
 * document is not known.
 *
 * @internal
 */
export const rightsOf = (
  registrations: ReadonlyArray<{ readonly rules: Rules; readonly model?: Model.Any | undefined }>,
  roles: { readonly [role: string]: ReadonlyArray<string> }
) => {
  const withIncluded = includedRoles(roles)
  return Effect.fnUntraced(function*(
    user: Caller | undefined,
    request: HttpServerRequest.HttpServerRequest
  ): Effect.fn.Return<ReadonlyArray<ReadonlyArray<number>>, Failure> {
    const caller = Option.fromUndefinedOr(user === undefined ? undefined : withIncluded(user))
    const isHeld = ({ model, rules }: (typeof registrations)[number], number: number) =>
      Effect.suspend(() => {
        let isAsked = false
        const held = heldBy(rules, [number], {
          caller,
          request,
          model,
          isSubject: (subject) => model === undefined || subjectsOf(model)(subject, undefined),
          document: Effect.sync(() => {
            isAsked = true
            return Option.none()
          })
        })
        return Effect.map(Effect.isEffect(held) ? held : Effect.succeed(held), ({ length }) => length > 0 || isAsked)
      })
    return yield* withAllData(Effect.forEach(
      registrations,
      (registration) => Effect.filter(registration.rules.grants.map((_, i) => i), (i) => isHeld(registration, i))
    ))
  })
}
