import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { CurrentUser } from "../../Security/CurrentUser.ts"
import { Denied } from "../../Security/Permission.ts"
import * as AccessPolicy from "../AccessPolicy.ts"
import type * as OpenApi from "../OpenApi.ts"
import * as File from "../openapi/cachedFile.ts"
import { heldNumbers } from "../routes/callerRights.ts"
import type { ServedResource, ServedService } from "../routes/served.ts"

/**
 * Answers with the OpenAPI document of what the caller may do, generated once for each set of rights; the last 64 are cached.
 * Nobody is answered by `onNobody` if nobody may do anything.
 *
 * @internal
 */
export const callerDocument = Effect.fnUntraced(function*({ documentOf, onNobody, registrations, roles = {} }: {
  readonly registrations: ReadonlyArray<ServedResource | ServedService>
  readonly roles: { readonly [role: string]: ReadonlyArray<string> } | undefined
  readonly documentOf: (policy: AccessPolicy.AccessPolicy) => OpenApi.Document
  readonly onNobody: Effect.Effect<HttpServerResponse.HttpServerResponse>
}) {
  const heldBy = heldNumbers(registrations, roles)
  const policyOf = (held: ReadonlyArray<ReadonlyArray<number>>) =>
    AccessPolicy.make(
      registrations.map((registration, i) => ({
        ...registration,
        rules: {
          ...registration.rules,
          // The others keep their places: a call with a rule of its own is under that one.
          grants: registration.rules.grants.map((rule, number) =>
            held[i]?.includes(number) === true ? rule : { ...rule, permission: Denied }
          )
        }
      })),
      true
    )
  const files = yield* Cache.make({
    capacity: 64,
    lookup: (key: string) =>
      Effect.suspend(() => {
        const document = documentOf(policyOf(rightsIn(key)))
        return Effect.map(File.make(JSON.stringify(document), { contentType: "application/json" }), (file) => ({
          file,
          isEmpty: Object.keys(document.paths).length === 0
        }))
      })
  })
  const answer = Effect.fnUntraced(function*({ context }: Fiber.Fiber<unknown, unknown>) {
    const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
    const user = Context.getOrUndefined(context, CurrentUser)
    const held = yield* Effect.catchTag(heldBy(user, request), "DocumentInvalid", (error) => Effect.die(error))
    // Other requests wait for the same document.
    const { file, isEmpty } = yield* Effect.uninterruptible(Cache.get(files, keyOf(held)))
    return isEmpty && user === undefined ? yield* onNobody : file.respond(request)
  })
  return Effect.withFiber(answer)
})

const keyOf = (held: ReadonlyArray<ReadonlyArray<number>>): string => held.map((numbers) => numbers.join()).join(";")

const rightsIn = (key: string): ReadonlyArray<ReadonlyArray<number>> =>
  key.split(";").map((numbers) => numbers === "" ? [] : numbers.split(",").map(Number))
