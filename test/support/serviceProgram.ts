/**
 * A service with slow answers, for tests of shutdown: `/slow` takes a second and a half, `/stuck` never ends, and `/busy`
 * blocks the event loop for half a second. With `START_STUCK` in the environment it never finishes its start.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Config, Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import * as KernelEngine from "../../src/Http/KernelEngine.ts"
import * as KernelServer from "../../src/Http/KernelServer.ts"
import { accessLogged } from "../../src/Http/server/accessLog.ts"
import { makeClientAddress } from "../../src/Http/server/forwardedAddress.ts"
import * as KernelLogger from "../../src/Http/server/kernelLogger.ts"

const clientAddressOf = makeClientAddress({ trustedProxies: [], forwardedHeader: "x-forwarded-for" })

const holdLoop = (): void => {
  const end = performance.now() + 500
  while (performance.now() < end);
}

const route = (path: `/${string}`, effect: Effect.Effect<void>) =>
  HttpRouter.route(
    "GET",
    path,
    Effect.andThen(Effect.logInfo(`began ${path}`), Effect.as(effect, HttpServerResponse.text(`answer of ${path}`)))
  )

const service = Layer.effectDiscard(Effect.gen(function*() {
  const router = yield* HttpRouter.make
  yield* router.addAll([
    route("/", Effect.void),
    route("/things/:id", Effect.void),
    route("/slow", Effect.sleep("1500 millis")),
    route("/busy", Effect.sync(holdLoop)),
    route("/stuck", Effect.never)
  ])
  const log = yield* KernelLogger.AccessLogger
  const handler = Effect.orDie(router.asHttpEffect())
  yield* HttpServer.serveEffect(log === undefined ? handler : accessLogged(handler, log, clientAddressOf))
}))

const stuckStart = Layer.effectDiscard(
  Effect.flatMap(
    Config.option(Config.String("START_STUCK")),
    (stuck) => Option.isNone(stuck) ? Effect.void : Effect.andThen(Effect.logInfo("the start is stuck"), Effect.never)
  )
)

service.pipe(
  Layer.provide(stuckStart),
  Layer.provide([KernelServer.layer, KernelLogger.layerAccess]),
  KernelEngine.make("slow").launch,
  NodeRuntime.runMain
)
