/** The `HttpApi` of registrations, with a group for each of them. */
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import type * as Schema from "effect/Schema"
import type * as Endpoint from "../description/endpoint.ts"
import { endpointOf } from "../description/operationEndpoint.ts"
import { responsesOf } from "../description/ownErrors.ts"
import { describeEndpoint, endpointsOf } from "../description/standardEndpoints.ts"
import { Tags } from "../description/tags.ts"
import * as Guard from "../Guard.ts"
import { responses } from "../HttpError.ts"
import type { Registration, ResourceInfo } from "./registration.ts"

/** The endpoints of registrations as an `HttpApi`. */
export const apiOf = (
  id: string,
  registrations: ReadonlyArray<Registration>,
  guards: ReadonlySet<Guard.Guard>
): HttpApi.Top =>
  registrations.reduce(
    (api: HttpApi.Constraint, registration): HttpApi.Constraint =>
      // The platform's type has hidden type parameters.
      (api as HttpApi.Top).add(group(registration, guards)),
    HttpApi.make(id)
  ) as HttpApi.Top

// internal

const group = (registration: Registration, guards: ReadonlySet<Guard.Guard>): HttpApiGroup.Constraint => {
  const { calls, isDeprecated, name, path, tags } = registration
  const guarded = (described: HttpApiEndpoint.Constraint, isOpen: boolean) => {
    const endpoint = isDeprecated ? anyEndpoint(described).annotate(OpenApi.Deprecated, true) : described
    const authenticated = guards.has("security") ? withSecurity(endpoint, isOpen) : endpoint
    return guards.has("rateLimits") ? anyEndpoint(authenticated).middleware(Guard.RateLimiting) : authenticated
  }
  const standard = registration._tag === "Service" ? [] : standardOf(registration, guarded)
  const own: HttpApiGroup.Constraint = HttpApiGroup.make(name).annotate(OpenApi.Title, tags[0] ?? name).annotate(
    Tags,
    tags
  )
  const placed: HttpApiGroup.Constraint = erased(standard.reduce(added, own)).prefix(path)
  const model = registration._tag === "Service" ? undefined : registration.model
  return calls.reduce(
    (group, call) => added(group, guarded(endpointOf(call, model), call.options.anonymous === true)),
    placed
  )
}

// The platform's group has its endpoints in its type, but the endpoints of an arbitrary registration have no static
// names.
const erased = (group: HttpApiGroup.Constraint) => group as HttpApiGroup.Top

const added = (group: HttpApiGroup.Constraint, endpoint: HttpApiEndpoint.Constraint): HttpApiGroup.Constraint =>
  erased(group).add(endpoint)

// The endpoints of an arbitrary registration have no static types.
const anyEndpoint = (endpoint: HttpApiEndpoint.Constraint) => endpoint as HttpApiEndpoint.Top

const withSecurity = (endpoint: HttpApiEndpoint.Constraint, isOpen: boolean): HttpApiEndpoint.Constraint => {
  const authenticated = anyEndpoint(endpoint).middleware(Guard.Authentication)
  return isOpen ? authenticated : authenticated.middleware(Guard.Authorization)
}

const standardOf = (
  registration: ResourceInfo,
  guarded: (endpoint: HttpApiEndpoint.Constraint, isOpen: boolean) => HttpApiEndpoint.Constraint
): ReadonlyArray<HttpApiEndpoint.Constraint> => {
  const { description, lists, methods, model } = registration
  const isPartial = description.hidden.length > 0
  const errors = new Map<string, ReadonlyArray<Schema.Top>>(
    methods.map((method) => [method, hookErrorsOf(registration, method)])
  )
  return endpointsOf(registration).map((endpoint) =>
    guarded(
      describeEndpoint(endpoint, model, errors.get(endpoint.broughtBy) ?? [], { isPartial, lists }),
      Guard.isOpen(description.anonymous, endpoint)
    )
  )
}

const hookErrorsOf = ({ description }: ResourceInfo, method: Endpoint.Method): ReadonlyArray<Schema.Top> => {
  const own = description.errors[method]
  return own === undefined ? [] : [...responsesOf(own), responses.BadRequest, responses.NotFound, responses.Conflict]
}
