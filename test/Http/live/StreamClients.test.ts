/** Clients of others follow a list over a socket, through writes of every kind and a service that restarts. */
import { stream } from "@durable-streams/client"
import { createStateSchema, isChangeEvent, MaterializedState, type StateEvent } from "@durable-streams/state"
import { createStreamDB } from "@durable-streams/state/db"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Exit, Latch, Layer, Option, Redacted, Schema, Scope } from "effect"
import { EventSource } from "eventsource"
import * as fs from "node:fs"
import * as path from "node:path"
import { EmbeddedStore, Jwt, KernelEngine, Model, Permission, Resource } from "../../../src/index.ts"
import { inBrowser } from "../../support/browser.ts"
import { doorTo } from "../../support/door.ts"
import { openedStream } from "../../support/eventStream.ts"
import { freshDirectory } from "../../support/folders.ts"
import { sendTo } from "../../support/rest.ts"
import { shop } from "../../support/tokens.ts"

class Order extends Model.Class<Order>()("Order", {
  id: Model.id(),
  state: Schema.String,
  total: Schema.Int
}, { logged: true }) {}

class Product extends Model.Class<Product>()("Product", {
  id: Model.id(),
  name: Schema.String,
  stock: Schema.Int
}, { logged: true }) {}

const engine = KernelEngine.make("followed").register(
  Resource.make(Order, { methods: ["GET", "POST", "PATCH", "DELETE"] })
)

/** A service on a folder, at an address that stays while it restarts. */
const serving = Effect.gen(function*() {
  const path = yield* freshDirectory
  let server = { scope: yield* Scope.make(), baseUrl: "" }
  const start = Effect.gen(function*() {
    const scope = yield* Scope.fork(yield* Scope.Scope)
    const { baseUrl } = yield* Scope.provide(engine.test({ store: EmbeddedStore.layerWith({ path }) }), scope)
    server = { scope, baseUrl }
  })
  yield* start
  const door = yield* doorTo(server.baseUrl)
  yield* door.open
  const call = (method: string, id: string, value?: object) =>
    // The server is another one after a restart.
    Effect.map(
      Effect.suspend(() => sendTo(server.baseUrl, method, `/orders${id}`, value)),
      ({ headers, status, text }) => {
        assert.isBelow(status, 300, text)
        return headers["stream-txid"]
      }
    )
  return {
    url: `http://127.0.0.1:${door.port}/orders/changes?state=open`,
    insert: (id: string, total: number, state = "open") => call("POST", "", { id, state, total }),
    patch: (id: string, value: object) => call("PATCH", `/${id}`, value),
    remove: (id: string) => call("DELETE", `/${id}`),
    /** Restarts the service; clients don't reach it before `meanwhile` is done. */
    restart: (meanwhile: Effect.Effect<unknown>) =>
      Effect.gen(function*() {
        yield* door.close
        yield* Scope.close(server.scope, Exit.void)
        yield* start
        yield* meanwhile
        yield* door.turnTo(server.baseUrl)
        yield* door.open
      })
  }
})

type Events = ReadonlyArray<StateEvent>

type Totals = ReadonlyMap<string, number>

/** What a client has been told, and whoever waits for more. */
class Told {
  readonly events: Array<StateEvent> = []
  readonly more = Latch.makeUnsafe(false)
  readonly tell = (events: Events): void => {
    this.events.push(...events)
    this.more.openUnsafe()
  }
}

/** Follows a list. Gives what the client has of it. */
type Follow = (url: string, told: Told) => Effect.Effect<() => Totals, never, Scope.Scope>

const totalsOf = (orders: Iterable<readonly [string, { readonly total: number }]>): Totals =>
  new Map(Array.from(orders, ([key, { total }]) => [key, total]))

/** The list as the State Protocol's own client builds it. */
const materialized = (told: Told) => () => {
  const state = new MaterializedState()
  state.applyBatch(told.events.filter((event) => isChangeEvent(event)))
  return totalsOf(state.getType("orders") as Map<string, Order>)
}

const eventSource: Follow = (url, told) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const source = new EventSource(`${url}&live=sse`)
      source.addEventListener("data", ({ data }) => told.tell(JSON.parse(data)))
      return source
    }),
    (source) => Effect.sync(() => source.close())
  ).pipe(Effect.as(materialized(told)))

const durableStream = (live: "sse" | "long-poll"): Follow => (url, told) =>
  Effect.gen(function*() {
    const { signal } = yield* abortedAtEnd
    // A request that breaks is sent again, and an answer that does is left to the program.
    const read = async (offset?: string): Promise<void> => {
      const response = await stream<StateEvent>({ url, live, signal, ...offset === undefined ? {} : { offset } })
      response.subscribeJson(({ items }) => told.tell(items))
      response.closed.catch(() => signal.aborted ? undefined : read(response.offset))
    }
    yield* Effect.promise(() => read())
    return materialized(told)
  })

const streamDb: Follow = (url, told) =>
  Effect.gen(function*() {
    const state = createStateSchema({
      orders: {
        type: "orders",
        primaryKey: "id",
        schema: Schema.toStandardSchemaV1(Schema.Struct({ id: Schema.String, total: Schema.Int }))
      }
    })
    const db = yield* Effect.acquireRelease(
      Effect.sync(() =>
        createStreamDB({ streamOptions: { url }, state, onBatch: ({ items }) => told.events.push(...items) })
      ),
      (db) => Effect.sync(() => db.close())
    )
    yield* Effect.promise(() => db.preload())
    const { orders } = db.collections
    orders.subscribeChanges(() => told.tell([]), { includeInitialState: true })
    return () => totalsOf(orders.entries())
  })

const abortedAtEnd = Effect.acquireRelease(
  Effect.sync(() => new AbortController()),
  (controller) => Effect.sync(() => controller.abort())
)

const follows = (follow: Follow) =>
  Effect.gen(function*() {
    const { insert, patch, remove, restart, url } = yield* serving
    yield* insert("a", 1)
    yield* insert("b", 2, "paid")
    yield* insert("c", 3)
    const told = new Told()
    const totals = yield* follow(url, told)
    const becomes = (expected: { readonly [id: string]: number }) =>
      Effect.gen(function*() {
        while (true) {
          told.more.closeUnsafe()
          const list = Object.fromEntries([...totals()].toSorted(([a], [b]) => a.localeCompare(b)))
          if (JSON.stringify(list) === JSON.stringify(expected)) return
          const isTold = yield* Effect.timeoutOption(told.more.await, "2 minutes")
          if (Option.isNone(isTold)) assert.deepStrictEqual(list, expected)
        }
      })
    yield* becomes({ a: 1, c: 3 })
    const inserted = yield* insert("d", 4)
    yield* becomes({ a: 1, c: 3, d: 4 })
    yield* patch("a", { total: 5 })
    yield* becomes({ a: 5, c: 3, d: 4 })
    yield* patch("c", { state: "paid" })
    yield* becomes({ a: 5, d: 4 })
    yield* patch("b", { state: "open" })
    yield* becomes({ a: 5, b: 2, d: 4 })
    yield* remove("a")
    yield* becomes({ b: 2, d: 4 })
    yield* restart(Effect.all([insert("e", 6), patch("b", { total: 7 }), remove("d")]))
    yield* becomes({ b: 7, e: 6 })
    const last = yield* insert("f", 8)
    yield* becomes({ b: 7, e: 6, f: 8 })

    const changes = told.events.flatMap((event) => "key" in event ? [[event.headers.operation, event.key]] : [])
    assert.deepStrictEqual(changes, [
      ["insert", "a"],
      ["insert", "c"],
      ["insert", "d"],
      ["update", "a"],
      ["delete", "c"],
      ["insert", "b"],
      ["delete", "a"],
      ["insert", "e"],
      ["update", "b"],
      ["delete", "d"],
      ["insert", "f"]
    ])
    const transactionOf = (id: string) =>
      told.events.flatMap((event) => "key" in event && event.key === id ? [event.headers.txid] : [])[0]
    assert.deepStrictEqual([transactionOf("d"), transactionOf("f")], [inserted ?? "", last ?? ""])
    // After the restart it went on where it was.
    const controls = told.events.flatMap((event) => "control" in event.headers ? [event.headers.control] : [])
    assert.deepStrictEqual(controls, ["snapshot-start", "snapshot-end"])
  }).pipe(Effect.scoped)

describe("A live list, through writes and a restart, in", () => {
  it.live("the package eventsource", () => follows(eventSource))
  it.live("the client of Durable Streams, by events", () => follows(durableStream("sse")))
  it.live("the client of Durable Streams, by waiting requests", () => follows(durableStream("long-poll")))
  it.live("the client of its State Protocol, with TanStack DB", () => follows(streamDb))
})

inBrowser("A live list, through writes and a restart, in a browser", (open) => {
  it.live("by its own EventSource", () =>
    follows((url, told) =>
      Effect.gen(function*() {
        const browser = yield* open
        yield* Effect.promise(async () => {
          const page = await browser.newPage()
          await page.exposeFunction("tell", (data: string) => told.tell(JSON.parse(data)))
          await page.goto(url)
          await page.evaluate(`
            new EventSource(location.href + "&live=sse").addEventListener("data", ({ data }) => tell(data))
          `)
        })
        return materialized(told)
      })
    ))

  const [eventSourceLines = "", fetchLines = ""] = fs
    .readFileSync(path.join(import.meta.dirname, "../../../docs/guides/live.md"), "utf8")
    .split(/^```js\n/mu).slice(1).map((part) => part.slice(0, part.indexOf("```")))

  /** A page of the service, which tells after each event of its stream what it has. */
  const pageOf = (url: string) =>
    Effect.gen(function*() {
      const browser = yield* open
      const page = yield* Effect.promise(() => browser.newPage())
      yield* Effect.promise(() => page.goto(url))
      const run = (code: string) => Effect.promise(() => page.evaluate<unknown>(code))
      const becomes = (code: string) => Effect.promise(() => page.waitForFunction(code, undefined, { polling: 20 }))
      return { run, becomes }
    })

  const inserted = (products: string, name: string, headers: Record<string, string> = {}) =>
    Effect.map(
      sendTo(products, "POST", "", { id: name, name, stock: 3 }, headers),
      ({ status, text }) => assert.isBelow(status, 300, text)
    )

  it.live("by the lines of the guide, though its place is gone, or it is answered 429", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* KernelEngine.make("shown").register(Product, { methods: ["GET", "POST"] }).test()
      const products = `${baseUrl}/products`
      yield* inserted(products, "lamp")
      const { becomes, run } = yield* pageOf(`${products}/meta`)
      const other = yield* openedStream(`${products}/changes?live=sse&offset=now`)
      const lines = eventSourceLines.replace("\"-1\"", "\"0000000000000000_0.\"")
      yield* run(`${lines}; products.set("old", {}); Object.assign(globalThis, {
        shown: () => [...products.keys()].join(),
        waits: () => wait
      })`)
      // It is counted with the other one.
      yield* becomes("waits() > 1_000")
      assert.strictEqual(yield* run("shown()"), "old")
      other.controller.abort()
      yield* becomes("shown() === 'lamp'")
      yield* inserted(products, "chair")
      yield* becomes("shown() === 'lamp,chair'")
    }).pipe(
      Effect.scoped,
      Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({
        appkernel: { live: { max_streams_per_caller: 1 } }
      })))
    ))

  it.live("by the guide's lines for signed-in users, through a restart and until their rights end", () =>
    Effect.gen(function*() {
      const Products = Resource.make(Product, { methods: ["GET", "POST"] }).require(Permission.Role("clerk"))
      const { baseUrl } = yield* KernelEngine.make("signed").register(Products).enableSecurity().test()
      const door = yield* doorTo(baseUrl)
      yield* door.open
      const products = `http://127.0.0.1:${door.port}/products`
      const jwt = yield* Jwt.Jwt
      const token = (role: string) =>
        Effect.map(jwt.sign({ subject: "ann", roles: [role] }), (signed) => Redacted.value(signed))
      const clerk = yield* token("clerk")
      const authorization = { authorization: `Bearer ${clerk}` }
      yield* inserted(products, "lamp", authorization)
      const { becomes, run } = yield* pageOf(`${products}/changes`)
      yield* run(`
        ${fetchLines}
        let token = "${clerk}"
        const told = []
        const tell = (messages) => told.push(...messages.map(({ headers, key }) => headers.control ?? key))
        const end = followAs("/products/changes?stock=>0", () => token, tell).then(({ status }) => status)
        Object.assign(globalThis, { told, end, turnTo: (other) => token = other })
      `)
      yield* becomes("told.join() === 'snapshot-start,lamp,snapshot-end'")
      yield* door.close
      yield* inserted(`${baseUrl}/products`, "chair\u2028", authorization)
      yield* door.open
      yield* becomes("told.at(-1) === 'chair\u2028'")
      assert.strictEqual(yield* run("told.length"), 4)
      yield* run(`turnTo("${yield* token("guest")}")`)
      yield* door.close
      yield* door.open
      assert.strictEqual(yield* run("end"), 403)
    }).pipe(Effect.scoped, Effect.provide(Layer.orDie(shop("ES256")))))
})
