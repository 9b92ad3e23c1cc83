/** Clients of the example shop that generators make: each is compiled, and calls the running shop. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { HttpServer } from "effect/http"
import { engine as shop } from "../../examples/shop/engine.ts"
import { EmbeddedStore, KernelServer, OpenApi } from "../../src/index.ts"
import { type Generator, printedByClient } from "./clientGenerators.ts"
import { quickHashes } from "./quickHashes.ts"
import { administrator, credentials, payments } from "./shop.ts"

const layer = shop.layerServe.pipe(
  Layer.provide(payments),
  Layer.provideMerge(credentials),
  Layer.provideMerge(KernelServer.layerWith({ address: "127.0.0.1", port: 0 })),
  Layer.provide([EmbeddedStore.layerMemory, quickHashes]),
  Layer.provide(Logger.layer([]))
)

const document = OpenApi.make(shop, { title: "Shop", version: "1.0.0" })

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`)
)

/** What the program of a client prints, unless it can't do a call. */
const answers = {
  create: "Ann",
  createList: 2,
  list: ["Ann"],
  get: "Ann",
  patch: "Annie",
  action: "Chair",
  error: [404, "ErrorMessage"],
  delete: 1
}

/** The program of a client, and what it prints: the statuses of all operations, or `answers`. */
export interface Client {
  readonly generator: Generator
  readonly program: string
  /** The calls that the client can't do, each with its reason; or that it calls every operation of the shop. */
  readonly limits: { readonly [Call in keyof typeof answers]?: string } | "every operation"
}

/** A test for each client. */
export const clientsOfShop = (clients: { readonly [name: string]: Client }) =>
  it.layer(layer, { excludeTestServices: true })("of the shop", (it) => {
    for (const [name, { generator, limits, program }] of Object.entries(clients)) {
      it.effect(`${name}: the client compiles, and its calls are answered`, ({ skip }) =>
        Effect.gen(function*() {
          const { address } = yield* HttpServer.HttpServer
          const { authorization } = yield* administrator
          const args = [HttpServer.formatAddress(address), authorization]
          const printed = yield* printedByClient(generator, document, program, args, skip)
          if (limits === "every operation") {
            assert.sameMembers(Object.keys(printed), operations)
            assert.deepStrictEqual(Object.entries(printed).filter(([, status]) => Number(status) >= 300), [])
          } else {
            const possible = Object.entries(answers).filter(([call]) => !Object.hasOwn(limits, call))
            assert.deepStrictEqual(printed, Object.fromEntries(possible))
          }
        }), 600_000)
    }
  })
