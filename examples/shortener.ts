// Short links: `node --conditions=source examples/shortener.ts`, then
// curl -H 'content-type: application/json' 127.0.0.1:5000/links -d '{"url": "https://effect.website/docs"}'
// and a browser at the address that comes back. SHORTENER_PUBLIC_URL and SHORTENER_PARTNER configure it.
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import {
  EmbeddedStore,
  Index,
  KernelClient,
  KernelEngine,
  Model,
  Repository,
  Service,
  ServiceError,
  Validator
} from "appkernel"
import { Config, Context, Effect, Layer, Option, Random, Schema } from "effect"
import { FetchHttpClient, HttpRouter, HttpServerResponse } from "effect/http"

const isWebAddress = (text: string) => /^https?:/iu.test(text) && URL.canParse(text)

const someCode = Effect.map(Random.nextIntBetween(0, 36 ** 6 - 1), (number) => number.toString(36).padStart(6, "0"))

class Link extends Model.Class<Link>()("Link", {
  id: Model.id({ prefix: "L" }),
  code: Schema.String.pipe(Model.generated(someCode), Model.indexed(Index.unique)),
  url: Schema.String.pipe(Validator.make("WebAddress", isWebAddress, { message: "must be a web address" })),
  visits: Schema.Int.pipe(Model.withDefault(() => 0))
}) {}

/** Read once, when the service starts; what is wrong ends the start. */
class Settings extends Context.Service<Settings>()("shortener/Settings", {
  make: Config.all({
    publicUrl: Config.URL("public_url").pipe(Config.withDefault(new URL("http://127.0.0.1:5000"))),
    partner: Config.option(Config.URL("partner"))
  }).pipe(Config.nested("shortener"))
}) {
  static readonly layer = Layer.effect(this, this.make)
}

class UnknownLink extends ServiceError<UnknownLink>()("UnknownLink", { status: 404 }) {}

const Links = Service.make("LinkService")
  .operation("shorten", {
    path: "./",
    payload: { url: Link.create.fields.url },
    success: Schema.String,
    summary: "A short address for a long one"
  }, ({ payload: { url } }) =>
    Effect.gen(function*() {
      const links = yield* Repository.for(Link)
      const { publicUrl } = yield* Settings
      // Two codes may be the same, if hardly ever.
      const link = yield* Effect.retry(
        Effect.flatMap(Model.finalise(Link, { url }), (link) => links.insert(link)),
        { times: 3, while: ({ _tag }) => _tag === "DuplicateKey" }
      )
      return new URL(link.code, publicUrl).href
    }))
  .operation("show", {
    path: "./{code}",
    success: Link,
    error: UnknownLink,
    summary: "Where a short address leads"
  }, ({ params }) =>
    Effect.gen(function*() {
      const links = yield* Repository.for(Link)
      const link = yield* links.findOne(($) => $.code.equals(params.code))
      return Option.isSome(link) ? link.value : yield* new UnknownLink()
    }))

const engine = KernelEngine.make("shortener").register(Links)

const redirectTo = (url: string) => HttpServerResponse.redirect(new URL(url))

/** Counts the visit. A code that is not known here may be known to the partner: another service of this kind. */
const visit = Effect.gen(function*() {
  const { code = "" } = yield* HttpRouter.params
  const links = yield* Repository.for(Link)
  const found = yield* links.findOneAndUpdate(($) => $.code.equals(code), ($) => [$.visits.increment(1)])
  if (Option.isSome(found)) return redirectTo(found.value.url)
  const unknown = HttpServerResponse.text("There is no such link", { status: 404 })
  const { partner } = yield* Settings
  if (Option.isNone(partner)) return unknown
  const client = yield* KernelClient.make(engine, { baseUrl: partner.value })
  return yield* client.links.show({ params: { code } }).pipe(
    Effect.map(({ url }) => redirectTo(url)),
    Effect.catchTags({
      UnknownLink: () => Effect.succeed(unknown),
      HttpClientError: () => Effect.succeed(HttpServerResponse.text("The partner does not answer", { status: 502 }))
    })
  )
})

engine.use(HttpRouter.add("GET", "/:code", visit)).layer.pipe(
  Layer.provide([Repository.layer(Link), Settings.layer, FetchHttpClient.layer]),
  Layer.provide(EmbeddedStore.layer),
  engine.launch,
  NodeRuntime.runMain
)
