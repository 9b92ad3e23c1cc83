import * as Effect from "effect/Effect"
import { makeAccessControl, type ModelPolicy, modelPolicy } from "../../Access/enforcement.ts"
import { provided, type Scheme } from "../../Security/Authentication.ts"
import { identifierOf } from "../response/identifier.ts"
import { linkedEndpoints } from "../response/links.ts"
import type { ErrorResponses } from "../response/translation.ts"
import { makeAuthenticator } from "../routes/authentication.ts"
import { type Authorization, makeAuthorization } from "../routes/authorization.ts"
import type { ImplementedResource, ImplementedService } from "../routes/implemented.ts"
import { CredentialsUnprovided } from "./credentialsUnprovided.ts"

/**
 * What a service with access control checks requests with.
 *
 * @internal
 */
export interface Access extends Authorization {
  /** The grants of a registered resource. */
  readonly policyOf: (resource: ImplementedResource) => ModelPolicy | undefined
  readonly schemes: ReadonlyArray<Scheme>
}

/**
 * The schemes that are provided, and the grants of all registrations. Fails if there is no scheme.
 *
 * @internal
 */
export const accessOf = Effect.fnUntraced(function*({ errorResponses, realm, registrations, roles = {} }: {
  readonly registrations: ReadonlyArray<ImplementedResource | ImplementedService>
  /** The roles that roles include. */
  readonly roles: { readonly [role: string]: ReadonlyArray<string> } | undefined
  readonly realm: string
  readonly errorResponses: ErrorResponses
}): Effect.fn.Return<Access, CredentialsUnprovided> {
  const schemes = yield* provided
  if (schemes.length === 0) return yield* new CredentialsUnprovided()
  const policies = new Map(
    registrations.flatMap((registration): ReadonlyArray<readonly [ImplementedResource, ModelPolicy]> => {
      if (registration._tag === "Service") return []
      const { enableHateoas, model, path, rules } = registration
      const linked = enableHateoas ? linkedEndpoints(registration) : undefined
      return [[registration, modelPolicy({ identifier: identifierOf(model), linked, model, path, rules })]]
    })
  )
  const authorization = makeAuthorization({
    access: makeAccessControl([...policies.values()], roles),
    authenticator: makeAuthenticator({ schemes, realm, errorResponses }),
    errorResponses
  })
  return { ...authorization, schemes, policyOf: (resource) => policies.get(resource) }
})
