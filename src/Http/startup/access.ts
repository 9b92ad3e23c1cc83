import * as Effect from "effect/Effect"
import { type Endpoint, makeAccessControl, type ModelPolicy, modelPolicy } from "../../Access/enforcement.ts"
import type * as Model from "../../Model/Model.ts"
import type { Repository } from "../../Repository/Repository.ts"
import { provided, type Scheme } from "../../Security/Authentication.ts"
import { identifierOf } from "../response/identifier.ts"
import { linkedEndpoints } from "../response/links.ts"
import type { ErrorResponses } from "../response/translation.ts"
import { makeAuthenticator } from "../routes/authentication.ts"
import { type Authorization, documentOf, makeAuthorization } from "../routes/authorization.ts"
import type { ImplementedResource, ImplementedService } from "../routes/implemented.ts"
import { CredentialsUnprovided } from "./credentialsUnprovided.ts"

/**
 * What a service with access control checks requests with.
 *
 * @internal
 */
export interface Access extends Authorization {
  /** A registered resource with its repository, for its endpoints. */
  readonly resourceOf: (resource: ImplementedResource, repository: Repository<Model.Any>) => Endpoint["resource"]
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
  return {
    ...authorization,
    schemes,
    resourceOf: (resource, repository) => {
      const policy = policies.get(resource)
      const document = (id: string) => documentOf(repository, id)
      return policy === undefined ? undefined : { model: resource.model, policy, document }
    }
  }
})
