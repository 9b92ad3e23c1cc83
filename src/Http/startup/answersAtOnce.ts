/** Answers plain requests before they get a fiber, where their route and all of its stages can. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FindMyWay from "effect/http/FindMyWay"
import * as Result from "effect/Result"
import { mayFindAtOnce } from "../../Repository/internal.ts"
import { type AtOnce, isPlain } from "../request/atOnce.ts"
import { sendWireJson } from "../response/json.ts"
import { routerConfig } from "../routes/routing.ts"
import { nodeServerOf } from "../server/shedding.ts"
import { respondingAtOnceOf } from "./stages.ts"
import type { ServedRoute, ServiceSurroundings } from "./surroundings.ts"

/** Answers what needs no fiber without one, until the scope ends. */
export const answerAtOnce = Effect.fnUntraced(function*(service: ServiceSurroundings) {
  const node = yield* nodeServerOf
  if (node === undefined || !(yield* mayFindAtOnce)) return
  const find = routesAtOnce(service)
  if (find === undefined) return
  const clock = yield* Clock.Clock
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      node.answersAtOnce = (message, response) => {
        if (!isPlain(message) || response.destroyed) return false
        const found = find(message.url ?? "")
        if (found?.handler.atOnce === undefined) return false
        const { handler: { atOnce, route }, params, searchParams: parameters } = found
        const request = { message, route: route.path, params, parameters, clock }
        // What a model computes may throw. In a fiber that is a 500.
        const answer = Result.getOrUndefined(Result.try(() => atOnce(request)))
        if (answer === undefined) return false
        sendWireJson(answer, response)
        return true
      }
    }),
    () =>
      Effect.sync(() => {
        node.answersAtOnce = undefined
      })
  )
})

// internal

interface Found {
  readonly route: ServedRoute
  readonly atOnce: AtOnce | undefined
}

/** Finds routes as the router of the service does: it has all of them. `undefined` if none answers at once. */
const routesAtOnce = (service: ServiceSurroundings) => {
  const router = FindMyWay.make<Found>(routerConfig)
  const found = service.routes.filter(({ method }) => method === "GET")
    .map((route): Found => ({ route, atOnce: respondingAtOnceOf(route, service) }))
  if (found.every(({ atOnce }) => atOnce === undefined)) return undefined
  for (const one of found) router.on("GET", one.route.path, one)
  return (url: string) => router.find("GET", url)
}
