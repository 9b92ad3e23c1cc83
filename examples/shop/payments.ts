import { HttpClientFactory, KernelServer, type RequestWrapper } from "appkernel"
import { Config, ConfigProvider, Context, Effect, Layer, Option } from "effect"
import { HttpServer } from "effect/http"
import { served } from "../payments.ts"

/** The service that takes the payments. */
export class PaymentProvider extends Context.Service<PaymentProvider, {
  readonly payments: RequestWrapper.RequestWrapper
}>()("shop/PaymentProvider") {}

/** The configuration of another service: none of the shop's. */
const unconfigured = ConfigProvider.layer(ConfigProvider.fromUnknown({}))

/** The service of `examples/payments.ts`, in this process, on a free port. It ends with the shop. */
const ownService = Effect.map(
  Layer.build(
    served.pipe(
      Layer.provideMerge(KernelServer.layerWith({ address: "127.0.0.1", port: 0 })),
      Layer.provide(unconfigured)
    )
  ),
  (context) => HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)
)

const make = Effect.gen(function*() {
  const configured = yield* Config.option(Config.nested(Config.URL("payments_url"), "shop"))
  const root = Option.isSome(configured) ? configured.value : yield* ownService
  const proxy = yield* HttpClientFactory.get(root, {
    name: "payments",
    circuitBreaker: { failureThreshold: 3, recoveryTimeout: "10 seconds" }
  })
  return { payments: proxy.at("payments") }
})

/** The service at `shop.payments_url`. Without one it is started here. */
export const paymentProvider = Layer.effect(PaymentProvider, make)
