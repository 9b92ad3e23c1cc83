import * as Effect from "effect/Effect"
import { provided, type Scheme } from "../../Security/Authentication.ts"
import type { ErrorResponses } from "../response/translation.ts"
import { makeAuthenticator } from "../routes/authentication.ts"
import { makeAuthorizer } from "../routes/authorization.ts"
import { type RuledModel, ruledModel } from "../routes/callerAccess.ts"
import { type Access, makeAccess } from "../routes/secured.ts"
import type { ServedResource, ServedService } from "../routes/served.ts"
import { CredentialsUnprovided } from "./credentialsUnprovided.ts"

/**
 * What a service with access control checks requests with.
 *
 * @internal
 */
export interface ServedAccess extends Access {
  /** The rules of a registered resource. */
  readonly ruledBy: (resource: ServedResource) => RuledModel | undefined
  readonly schemes: ReadonlyArray<Scheme>
}

/**
 * The schemes that are provided, and the rules of all registrations. Fails if there is no scheme.
 *
 * @internal
 */
export const accessOf = Effect.fnUntraced(function*({ errorResponses, realm, registrations, roles = {} }: {
  readonly registrations: ReadonlyArray<ServedResource | ServedService>
  /** The roles that roles include. */
  readonly roles: { readonly [role: string]: ReadonlyArray<string> } | undefined
  readonly realm: string
  readonly errorResponses: ErrorResponses
}): Effect.fn.Return<ServedAccess, CredentialsUnprovided> {
  const schemes = yield* provided
  if (schemes.length === 0) return yield* new CredentialsUnprovided()
  const ruled = new Map(
    registrations.flatMap((registration): ReadonlyArray<readonly [ServedResource, RuledModel]> =>
      registration._tag === "Resource" ? [[registration, ruledModel(registration)]] : []
    )
  )
  const access = makeAccess({
    authenticator: makeAuthenticator({ schemes, realm, errorResponses }),
    authorizer: makeAuthorizer([...ruled.values()], roles),
    errorResponses
  })
  return { ...access, schemes, ruledBy: (resource) => ruled.get(resource) }
})
