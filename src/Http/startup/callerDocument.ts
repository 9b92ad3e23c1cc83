import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { makePossibleGrants } from "../../Access/enforcement.ts"
import { Denied } from "../../Access/Permission.ts"
import { CurrentUser } from "../../Security/CurrentUser.ts"
import * as AccessPolicy from "../AccessPolicy.ts"
import type * as OpenApi from "../OpenApi.ts"
import * as File from "../openapi/cachedFile.ts"
import { identifierOf } from "../response/identifier.ts"
import type { ImplementedResource, ImplementedService } from "../routes/implemented.ts"

/**
 * Answers with the OpenAPI document of what the caller may do, generated once for each set of grants; the last 64 are cached.
 * A request without credentials gets `unauthenticated` if the document would be empty.
 *
 * @internal
 */
export const callerDocument = Effect.fnUntraced(function*({ documentOf, registrations, unauthenticated, roles = {} }: {
  readonly registrations: ReadonlyArray<ImplementedResource | ImplementedService>
  readonly roles: { readonly [role: string]: ReadonlyArray<string> } | undefined
  readonly documentOf: (policy: AccessPolicy.AccessPolicy) => OpenApi.Document
  readonly unauthenticated: Effect.Effect<HttpServerResponse.HttpServerResponse>
}) {
  const possibleGrants = makePossibleGrants(
    registrations.map((registration) => ({
      rules: registration.rules,
      resource: registration._tag === "Resource"
        ? { model: registration.model, identifier: identifierOf(registration.model) }
        : undefined
    })),
    roles
  )
  const policyOf = (ids: ReadonlyArray<ReadonlyArray<number>>) =>
    AccessPolicy.make(
      registrations.map((registration, i) => ({
        ...registration,
        rules: {
          ...registration.rules,
          // The others keep their places: a call with a rule of its own is under that one.
          grants: registration.rules.grants.map((rule, number) =>
            ids[i]?.includes(number) === true ? rule : { ...rule, permission: Denied }
          )
        }
      })),
      true
    )
  const files = yield* Cache.make({
    capacity: 64,
    lookup: (key: string) =>
      Effect.suspend(() => {
        const document = documentOf(policyOf(idsIn(key)))
        return Effect.map(File.make(JSON.stringify(document), { contentType: "application/json" }), (file) => ({
          file,
          isEmpty: Object.keys(document.paths).length === 0
        }))
      })
  })
  const answer = Effect.fnUntraced(function*({ context }: Fiber.Fiber<unknown, unknown>) {
    const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
    const user = Context.getOrUndefined(context, CurrentUser)
    const ids = yield* Effect.catchTag(possibleGrants(user, request), "DocumentInvalid", (error) => Effect.die(error))
    // Other requests wait for the same document.
    const { file, isEmpty } = yield* Effect.uninterruptible(Cache.get(files, keyOf(ids)))
    return isEmpty && user === undefined ? yield* unauthenticated : file.respond(request)
  })
  return Effect.withFiber(answer)
})

const keyOf = (ids: ReadonlyArray<ReadonlyArray<number>>): string => ids.map((numbers) => numbers.join()).join(";")

const idsIn = (key: string): ReadonlyArray<ReadonlyArray<number>> =>
  key.split(";").map((numbers) => numbers === "" ? [] : numbers.split(",").map(Number))
