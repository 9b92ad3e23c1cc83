/** Clients that generators make of the example shop and of a nasty service: each is compiled, and calls what runs. */
import { afterAll, assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Logger } from "effect"
import { HttpServer } from "effect/http"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { engine as shopOfExample } from "../../examples/shop/engine.ts"
import { EmbeddedStore, KernelServer, OpenApi, Repository, Webhooks } from "../../src/index.ts"
import { type Generator, madeByOpenapiGenerator, type Options, printedByClients } from "./clientGenerators.ts"
import { engine as nasty } from "./nastyService.ts"
import { quickHashes } from "./quickHashes.ts"
import { administrator, credentials, payments } from "./shop.ts"
import { Files } from "./uploads.ts"

const shop = shopOfExample.register(Files, { urlBase: "/api/v1" })

const address = Effect.map(HttpServer.HttpServer, ({ address }) => HttpServer.formatAddress(address))

/** A delivery to the administrator, who has no account by which there would be one. */
const delivered = Effect.gen(function*() {
  const deliveries = yield* Repository.for(Webhooks.Delivery)
  const about = { subscription: "WS1", event: "E1", subject: "O1" }
  const at = yield* DateTime.now
  yield* deliveries.insert(
    new Webhooks.Delivery({
      id: "E1.WS1",
      ...about,
      owner: "U-admin",
      event_type: "order.created",
      state: "failed",
      attempts: 1,
      at,
      payload: JSON.stringify({ ...about, type: "order.created", time: DateTime.formatIso(at), attempt: 1 })
    })
  )
})

const surroundings = Layer.provideMerge(KernelServer.layerWith({ address: "127.0.0.1", port: 0 }))
const inMemory = Layer.provide([EmbeddedStore.layerMemory, quickHashes])

/** The services: their documents, what the programs of their clients print if these can do all calls, and their servers. */
const services = {
  shop: {
    document: OpenApi.make(shop, { title: "Shop", version: "1.0.0" }),
    answers: {
      create: "Ann",
      createList: 2,
      list: ["Ann"],
      get: "Ann",
      patch: "Annie",
      action: "Chair",
      upload: ["scan.txt", 5, "a note"],
      error: [404, "ErrorMessage"],
      delete: 1
    },
    // Where it listens, and the credentials of an administrator.
    started: Layer.build(
      shop.layerServe.pipe(
        Layer.provide(payments),
        Layer.provideMerge(credentials),
        surroundings,
        inMemory,
        Layer.provide(Logger.layer([]))
      )
    ).pipe(
      Effect.flatMap((context) =>
        Effect.all([delivered, address, Effect.map(administrator, ({ authorization }) => authorization)]).pipe(
          Effect.map(([, ...args]) => args),
          Effect.provide(context)
        )
      )
    )
  },
  nasty: {
    document: OpenApi.make(nasty, { title: "Nasty", version: "1.0.0" }),
    answers: {
      create: "one",
      list: ["one"],
      get: "one",
      patch: "two",
      action: "three",
      error: [422, "Refused", 13],
      upload: ["scan.txt", 5, "a note"],
      csv: "a,b",
      odd: ["class", 1, "type", "2nd", "dashed", "low", "camel", true, 1_234_567.89],
      oddList: ["class"],
      tree: "leaf",
      kinds: ["v1", 1, "42", "any", true, 1_769_851_800_000, 1_234_567.89],
      version2: ["class"]
    },
    started: Layer.build(nasty.layerServe.pipe(surroundings, inMemory, Layer.provide(Logger.layer([]))))
      .pipe(Effect.flatMap((context) => Effect.provide(Effect.map(address, (url) => [url, ""]), context)))
  }
}

const operations = Object.entries(services.shop.document.paths).flatMap(([path, item]) =>
  Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`)
)

/** The client of a service: its program, and what it can't do. */
interface Client<Call extends string> extends Options {
  readonly program: string
  /** The calls that the client can't do, each with its reason. */
  readonly limits: { readonly [C in Call]?: string }
}

type Answers<Service extends keyof typeof services> = keyof typeof services[Service]["answers"]

/** The clients that a generator makes. */
export interface Clients {
  readonly generator: Generator
  readonly shop: Client<Answers<"shop">> | Client<string> & { readonly prints: "statuses of every operation" }
  readonly nasty: Client<Answers<"nasty">>
}

const possible = <A>(calls: ReadonlyArray<readonly [call: string, answer: A]>, limits: Clients["nasty"]["limits"]) =>
  Object.fromEntries(calls.filter(([call]) => !Object.hasOwn(limits, call)))

/** A test for each generator. */
export const clientsOfServices = (generators: { readonly [name: string]: Clients }) => {
  const place = mkdtempSync(join(tmpdir(), "clients-"))
  afterAll(() => rmSync(place, { recursive: true, force: true }))
  let batch: Promise<void> | undefined
  // The first test that needs it waits for those of all.
  const batched = () =>
    batch ??= madeByOpenapiGenerator(
      place,
      Object.fromEntries(
        Object.entries(generators).map(([name, { generator, nasty, shop }]) => [name, {
          generator,
          services: {
            shop: { ...shop, document: services.shop.document },
            nasty: { ...nasty, document: services.nasty.document }
          }
        }])
      )
    )
  for (const [name, { generator, nasty, shop }] of Object.entries(generators)) {
    it.live(`${name}: the clients compile, and their calls are answered`, ({ skip }) =>
      Effect.gen(function*() {
        const ofNasty = { ...nasty, document: services.nasty.document, args: yield* services.nasty.started }
        const ofShop = { ...shop, document: services.shop.document, args: yield* services.shop.started }
        const made = () => batched().then(() => join(place, name))
        const printed = yield* printedByClients(generator, { shop: ofShop, nasty: ofNasty }, made, skip)
        assert.deepStrictEqual(
          printed["nasty"],
          possible(Object.entries<unknown>(services.nasty.answers), nasty.limits)
        )
        if ("prints" in shop) {
          const isPrinted = operations.map((operation) => [operation, true] as const)
          const succeeded = Object.entries(printed["shop"] ?? {}).map(([call, status]) => [call, Number(status) < 300])
          assert.deepStrictEqual(Object.fromEntries(succeeded), possible(isPrinted, shop.limits))
        } else {
          assert.deepStrictEqual(printed["shop"], possible(Object.entries<unknown>(services.shop.answers), shop.limits))
        }
      }).pipe(Effect.scoped), 600_000)
  }
}
