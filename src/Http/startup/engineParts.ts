/** The parts of an engine, and what they describe: the policy of access, and the OpenAPI document. */
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import type * as HttpRouter from "effect/http/HttpRouter"
import type * as Layer from "effect/Layer"
import type * as Job from "../../Jobs/Job.ts"
import type { Options as WebhookOptions } from "../../Jobs/Webhooks.ts"
import type * as Model from "../../Model/Model.ts"
import type { Migration } from "../../Repository/Migration.ts"
import { provided } from "../../Security/Authentication.ts"
import * as AccessPolicy from "../AccessPolicy.ts"
import { type ExplorerAt, explorerRoutesAt } from "../explorer/options.ts"
import type * as KernelApi from "../KernelApi.ts"
import * as KernelConfig from "../KernelConfig.ts"
import type { McpAt } from "../mcp/options.ts"
import type * as OpenApi from "../OpenApi.ts"
import { documentationPaths } from "../openapi/documentationPaths.ts"
import { config as configuredLimits, type RateLimits } from "../RateLimits.ts"
import type * as Resource from "../Resource.ts"
import { type AnyImplementation, implemented } from "../routes/implemented.ts"
import { CredentialsUnprovided } from "./credentialsUnprovided.ts"
import type * as Documentation from "./documentation.ts"
import type { Options } from "./launch.ts"

/** What events are of. */
export type EventSource = Model.Any | Resource.Any

/** The events that subscribers are told, by their types. */
export interface Webhooks {
  readonly events: { readonly [type: string]: EventSource }
  readonly options: WebhookOptions
}

/** The parts of an engine. */
export interface EngineParts {
  readonly api: KernelApi.Any
  readonly implementations: ReadonlyArray<AnyImplementation>
  readonly additions: ReadonlyArray<Layer.Layer<never, never, HttpRouter.HttpRouter>>
  readonly migrations: ReadonlyArray<Migration>
  readonly jobs: ReadonlyArray<Job.Any>
  readonly workflows: ReadonlyArray<Layer.Layer<never>>
  readonly schedules: ReadonlyArray<Job.Schedule>
  readonly webhooks?: Webhooks | undefined
  readonly options: Options
  readonly openApi: OpenApi.Options & Documentation.Options | undefined
  readonly mcp?: McpAt | undefined
  readonly explorer?: ExplorerAt | undefined
  /** The roles that roles include. */
  readonly security?: { readonly roles?: { readonly [role: string]: ReadonlyArray<string> } | undefined } | undefined
  readonly rateLimits?: RateLimits | undefined
}

/** The parts of an engine with which its service is composed. */
export interface ServiceParts extends Omit<EngineParts, "options"> {
  readonly registrations: KernelApi.Any["registrations"]
  /** `undefined` without security. */
  readonly security: EngineParts["security"]
  /** `undefined` unless the program enables limits. */
  readonly rateLimits: RateLimits | undefined
}

/** What an engine has its service composed with. */
export const servicePartsOf = (parts: EngineParts): ServiceParts => {
  const { guards, registrations } = parts.api
  return {
    ...parts,
    registrations,
    security: guards.has("security") ? parts.security ?? {} : undefined,
    rateLimits: guards.has("rateLimits") ? parts.rateLimits ?? {} : undefined
  }
}

/** Who may call what, by the rules of the registrations and of the documentation. */
export const policyOf = (
  { api: { guards, registrations }, explorer, implementations, openApi }: EngineParts
): AccessPolicy.AccessPolicy => {
  const policy = AccessPolicy.make(
    registrations.map((registration) => implemented(registration, implementations)),
    guards.has("security")
  )
  const documented = openApi === undefined
    ? policy
    : AccessPolicy.withPages(policy, "documentation", documentationPaths(openApi.includeDocs), openApi.require)
  if (explorer === undefined) return documented
  const { document, page } = explorerRoutesAt(explorer.path)
  return AccessPolicy.withPages(
    AccessPolicy.withPages(documented, "explorer", [page], undefined),
    "explorer",
    [document],
    explorer.require ?? "signedIn"
  )
}

/** The OpenAPI document; `undefined` if the service has none. */
export const openApiOf = (
  parts: EngineParts
): Effect.Effect<OpenApi.Document | undefined, CredentialsUnprovided | Config.ConfigError> =>
  Effect.gen(function*() {
    const { api, openApi } = parts
    const { guards, registrations } = api
    if (openApi === undefined) return undefined
    const { limitsOf, servedDocument } = yield* Effect.promise(() => import("./servedDocument.ts"))
    const schemes = guards.has("security") ? yield* provided : []
    const isNamed = openApi.securitySchemes !== undefined
    if (guards.has("security") && schemes.length === 0 && !isNamed) return yield* new CredentialsUnprovided()
    const rateLimits = limitsOf(guards.has("rateLimits") ? parts.rateLimits ?? {} : undefined, yield* configuredLimits)
    const make = servedDocument({
      api,
      registrations,
      limits: yield* KernelConfig.Limits,
      openApi,
      rateLimits,
      schemes: schemes.length === 0 && isNamed ? undefined : schemes
    })
    return make(policyOf(parts))
  })
