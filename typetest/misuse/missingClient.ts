/** The cause is `No layer provides HttpClientFactory`: a handler calls another service, and nothing opens connections. */
import { NodeRuntime } from "@effect/platform-node"
import { EmbeddedStore, HttpClientFactory, KernelEngine, Service } from "appkernel"
import { Effect, Layer, Schema } from "effect"

const Rates = Service.make("RateService").operation("today", { success: Schema.Unknown }, () =>
  Effect.gen(function*() {
    const proxy = yield* HttpClientFactory.get<"rates">("http://rates:5000")
    const [, rates] = yield* proxy.rates.get()
    return rates
  }))

const engine = KernelEngine.make("shop").register(Rates)

engine.layer.pipe(
  Layer.provide(EmbeddedStore.layer),
  engine.launch,
  NodeRuntime.runMain
)
