/** Serves a service: its routes in their stages, in the stages of the service. */
import * as ByteSize from "effect/ByteSize"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Scope from "effect/Scope"
import { ClientAddressSource } from "../../internal/clientAddress.ts"
import { ContentHashed, MayConvert } from "../../internal/passwordHash.ts"
import { filesOf } from "../../Model/internal.ts"
import { keepSignIn } from "../../Security/SignIns.ts"
import { mayConvert } from "../request/costlyValues.ts"
import { ErrorFormat } from "../response/problemDetails.ts"
import { addressOfRequest } from "../server/forwardedAddress.ts"
import { answerAtOnce } from "./answersAtOnce.ts"
import { compose } from "./composition.ts"
import type { ServiceParts } from "./engineParts.ts"
import { respondingOf, servingOf } from "./stages.ts"

/** Serves registrations and further layers of the router on the current server. */
export const serve = Effect.fnUntraced(function*(parts: ServiceParts) {
  const { causes, doors, endStreams, repositories, surroundings } = yield* compose(parts)
  const { clientAddressOf, errorFormat, limits, router, routes } = surroundings
  let stopping: Fiber.Fiber<void> | undefined
  // After the server has stopped, beside which the jobs do.
  if (hasJobs(parts)) yield* Effect.addFinalizer(() => stopping === undefined ? Effect.void : Fiber.await(stopping))
  yield* router.addAll(
    routes.flatMap((route) => {
      const responding = respondingOf(route, surroundings)
      return [route, ...route.asked ?? []].map(({ method, path }) => HttpRouter.route(method, path, responding))
    })
  )
  // Handlers get the context of the server's fiber.
  yield* Effect.provideContext(
    servingOf(surroundings)((answer) => HttpServer.serveEffect(answer)),
    Context.add(repositories, ClientAddressSource, addressOfRequest(clientAddressOf)).pipe(
      Context.add(ContentHashed, keepSignIn),
      Context.add(MayConvert, mayConvert),
      Context.add(ErrorFormat, errorFormat),
      // For routes of `HttpRouter`.
      Context.add(HttpServerRequest.MaxBodySize, ByteSize.bytes(limits.maxBodySize))
    )
  )
  // After the server serves, so that it ends before.
  yield* answerAtOnce(surroundings)
  if (parts.registrations.some((one) => one._tag === "Resource" && filesOf(one.model) !== undefined)) {
    const { sweeping } = yield* Effect.promise(() => import("./sweeping.ts"))
    yield* sweeping
  }
  if (hasJobs(parts)) {
    const { doingJobs } = yield* Effect.promise(() => import("./jobs.ts"))
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer((exit) =>
      Effect.map(Effect.forkDetach(Scope.close(scope, exit)), (fiber) => {
        stopping = fiber
      })
    )
    yield* Scope.provide(
      Effect.provideContext(doingJobs(parts, { ...surroundings, causes, doors, repositories }), repositories),
      scope
    )
  }
  yield* Effect.addFinalizer(() => endStreams)
  return repositories
})

// internal

const hasJobs = ({ jobs, schedules, webhooks, workflows }: ServiceParts): boolean =>
  jobs.length + schedules.length + workflows.length > 0 || webhooks !== undefined
