/** What a service with access control checks requests with, and the OpenAPI document for each caller. */
import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import {
  type GuardedEndpoint,
  makeAccessControl,
  makePossibleGrants,
  type ModelPolicy,
  modelPolicy
} from "../../Access/AccessControl.ts"
import * as views from "../../Access/internal.ts"
import { Denied } from "../../Access/Permission.ts"
import type * as Model from "../../Model/Model.ts"
import type { Repository } from "../../Repository/Repository.ts"
import { provided, type Scheme } from "../../Security/Authentication.ts"
import { CurrentUser } from "../../Security/CurrentUser.ts"
import * as AccessPolicy from "../AccessPolicy.ts"
import type * as OpenApi from "../OpenApi.ts"
import { noRules, rulesOf } from "../resource/rules.ts"
import { linkedEndpoints } from "../response/links.ts"
import { type ErrorResponses, operationLabels } from "../response/translatedResponses.ts"
import { makeAuthenticator } from "../routes/authentication.ts"
import { type Authorization, makeAuthorization } from "../routes/authorization.ts"
import type { ImplementedResource, ImplementedService } from "../routes/implemented.ts"
import type { Translations } from "../Translations.ts"
import { CredentialsUnprovided } from "./credentialsUnprovided.ts"
import { describedFile, type MonitoringPage } from "./servedDocument.ts"

/** What a service with access control checks requests with. */
export interface Access extends Authorization {
  /** A registered resource with its repository, for its endpoints. */
  readonly resourceOf: (resource: ImplementedResource, repository: Repository<Model.Any>) => GuardedEndpoint["resource"]
  readonly schemes: ReadonlyArray<Scheme>
  /** What callers see of models. */
  readonly views: typeof views
}

/** The schemes that are provided, and the grants of all registrations. Fails if there is no scheme. */
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
      return [[registration, modelPolicy({ linked, model, path, rules })]]
    })
  )
  const authorization = makeAuthorization(
    makeAccessControl([...policies.values()], roles),
    makeAuthenticator({ schemes, realm, errorResponses })
  )
  return {
    ...authorization,
    schemes,
    views,
    resourceOf: (resource, repository) => {
      const policy = policies.get(resource)
      return policy === undefined ? undefined : { policy, repository }
    }
  }
})

/**
 * Answers with the document of what the caller may do, for the last 64 sets of grants. With translations, it has the labels of
 * operations in the language of the request.
 */
export const callerDocument = Effect.fnUntraced(
  function*({ documentOf, monitoring, registrations, translations, unauthenticated, roles = {} }: {
    readonly registrations: ReadonlyArray<ImplementedResource | ImplementedService>
    readonly roles: { readonly [role: string]: ReadonlyArray<string> } | undefined
    readonly documentOf: (policy: AccessPolicy.AccessPolicy) => OpenApi.Document
    /** The pages for those who operate the service. */
    readonly monitoring: ReadonlyArray<MonitoringPage>
    readonly translations?: Translations | undefined
    readonly unauthenticated: Effect.Effect<HttpServerResponse.HttpServerResponse>
  }) {
    const possibleGrants = makePossibleGrants(
      [
        ...registrations.map((registration) => ({
          rules: registration.rules,
          model: registration._tag === "Resource" ? registration.model : undefined
        })),
        ...monitoring.map(({ endpoint }) => ({ rules: endpoint?.rules ?? noRules, model: undefined }))
      ],
      roles
    )
    const policyOf = (ids: ReadonlyArray<ReadonlyArray<number>>) =>
      AccessPolicy.make(
        registrations.map((registration, i) => ({
          ...registration,
          // The others keep their places: a call with a rule of its own is under that one.
          rules: rulesOf(
            registration.rules.grants.map((rule, number) =>
              ids[i]?.includes(number) === true ? rule : { ...rule, permission: Denied }
            ),
            registration.rules.restrictions
          )
        })),
        true
      )
    const labelsIn = (accepted: string | undefined) =>
      translations === undefined ? undefined : operationLabels(translations, accepted)
    const files = yield* Cache.make({
      capacity: 64,
      lookup: (key: string) =>
        Effect.suspend(() => {
          const [tag = "", , grants = ""] = key.split("\n")
          const ids = idsIn(grants)
          const document = documentOf(policyOf(ids))
          const open = monitoring.filter(({ endpoint }, i) =>
            endpoint === undefined || ids[registrations.length + i]?.length !== 0
          )
          return Effect.map(
            describedFile({ document, pages: open, registrations, labels: labelsIn(tag) }),
            (file) => ({ file, isEmpty: Object.keys(document.paths).length === 0 })
          )
        })
    })
    const answer = Effect.fnUntraced(function*({ context }: Fiber.Fiber<unknown, unknown>) {
      const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
      const user = Context.getOrUndefined(context, CurrentUser)
      const ids = yield* Effect.catchTag(possibleGrants(user, request), "DocumentInvalid", (error) => Effect.die(error))
      const { tag = "", version } = labelsIn(request.headers["accept-language"]) ?? {}
      // Other requests wait for the same document.
      const { file, isEmpty } = yield* Effect.uninterruptible(Cache.get(files, `${tag}\n${version}\n${keyOf(ids)}`))
      return isEmpty && user === undefined ? yield* unauthenticated : file.respond(request)
    })
    return Effect.withFiber(answer)
  }
)

// internal

const keyOf = (ids: ReadonlyArray<ReadonlyArray<number>>): string => ids.map((numbers) => numbers.join()).join(";")

const idsIn = (key: string): ReadonlyArray<ReadonlyArray<number>> =>
  key.split(";").map((numbers) => numbers === "" ? [] : numbers.split(",").map(Number))
