/** The OpenAPI document that a service serves. */
import type * as Effect from "effect/Effect"
import type { Rules } from "../../Access/Grant.ts"
import type { Scheme } from "../../Security/Authentication.ts"
import type { AccessPolicy } from "../AccessPolicy.ts"
import { RateLimiting } from "../Guard.ts"
import type * as KernelApi from "../KernelApi.ts"
import * as OpenApi from "../OpenApi.ts"
import * as File from "../openapi/cachedFile.ts"
import { securitySchemesOf } from "../openapi/securitySchemes.ts"
import type { RateLimits } from "../RateLimits.ts"
import type { Registration } from "../registration/registration.ts"
import { labelledCall, type OperationLabels } from "../response/translatedResponses.ts"
import * as TokensApi from "../TokensApi.ts"

/**
 * Makes the document of a policy. Limits of the configuration alone are in the document, and not in the types. Without
 * `schemes` the options name them.
 */
export const servedDocument = ({ api, limits, openApi, rateLimits, registrations, schemes }: {
  readonly api: Pick<KernelApi.Any, "api">
  readonly registrations: ReadonlyArray<Registration>
  readonly limits: OpenApi.Options["limits"]
  readonly openApi: OpenApi.Options
  readonly rateLimits: RateLimits | undefined
  readonly schemes: ReadonlyArray<Scheme> | undefined
}) => {
  const base = openApi.servers?.[0]?.url.replace(/\/$/u, "") ?? ""
  const path = tokenPathOf(registrations)
  const own = schemes === undefined ? {} : {
    securitySchemes: securitySchemesOf(schemes, path && `${base}${path}`),
    slowsSignIns: schemes.some((scheme) => scheme.slowsGuesses)
  }
  return (policy: AccessPolicy, options: Pick<OpenApi.Options, "omitsUnreachable"> = {}): OpenApi.Document => {
    // Most starts need no description of all endpoints, so it is made here.
    const described = rateLimits === undefined ? api.api : api.api.middleware(RateLimiting)
    return OpenApi.make({ api: described, registrations, policy }, { limits, ...own, ...openApi, ...options })
  }
}

/** A page for those who operate the service; without rules, it is for everybody. */
export interface MonitoringPage {
  readonly path: string
  readonly endpoint?: { readonly rules: Rules } | undefined
}

/**
 * The file of a document that says which of these pages its reader may ask and, in a language, what people call those operations of
 * services that it has.
 */
export const describedFile = ({ document, labels, pages, registrations }: {
  readonly document: OpenApi.Document
  readonly pages: ReadonlyArray<MonitoringPage>
  readonly registrations: ReadonlyArray<Registration>
  readonly labels: OperationLabels | undefined
}): Effect.Effect<File.File> => {
  const described = { ...document, "x-monitoring": pages.map(({ path }) => path) }
  const contentType = "application/json"
  if (labels === undefined) return File.make(JSON.stringify(described), { contentType })
  const ids = new Set(
    Object.values(document.paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId))
  )
  const services = registrations.filter(({ _tag }) => _tag === "Service").map(({ calls, name }) => ({
    name,
    label: labels.ofService(name),
    calls: calls.map((call) => ({ ...labelledCall(name, call), name: `${name}.${call.name}` }))
      .filter((call) => ids.has(call.name))
  }))
  const own = services.filter(({ calls, label }) => label !== undefined && calls.length > 0)
  const named = Object.fromEntries(own.map(({ label, name }) => [name, { label }]))
  const called = labels.of(services.flatMap(({ calls }) => calls))
  return File.make(JSON.stringify({ ...described, "x-labels": { ...named, ...called } }), {
    contentType,
    headers: { ...labels.headers, vary: "accept-encoding, accept-language" }
  })
}

/** The limits of the program, those of the configuration before them; `undefined` if neither has any. */
export const limitsOf = (
  declared: RateLimits | undefined,
  { perAddress, perCaller }: RateLimits
): RateLimits | undefined =>
  declared === undefined && perAddress === undefined && perCaller === undefined ? undefined : {
    ...declared,
    perAddress: perAddress ?? declared?.perAddress,
    perCaller: perCaller ?? declared?.perCaller
  }

/** Where tokens are issued; `undefined` if nowhere. */
export const tokenPathOf = (registrations: ReadonlyArray<Registration>): `/${string}` | undefined =>
  registrations.find(({ description }) => description === TokensApi.description)?.calls
    .find(({ name }) => name === "token")?.path
