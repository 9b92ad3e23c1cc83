/**
 * Random writes of every kind, random changes of roles and of grants, disconnects and restarts. At every place, what a client has
 * built from a stream is the list that the same caller gets now, and no message has what its caller may not see.
 *
 * `STREAM_STEPS=100000 npx vitest run test/Http/behaviour/StreamDifferential.test.ts` takes as many steps.
 */
import { assert, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Exit, Layer, Random, Redacted, Schema, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { type ClientRequest, get } from "node:http"
import {
  DocumentStore,
  EmbeddedStore,
  Index,
  Jwt,
  KernelEngine,
  Model,
  Permission,
  type Query,
  Resource
} from "../../../src/index.ts"
import * as SignIns from "../../../src/Security/SignIns.ts"
import type { Message } from "../../support/eventStream.ts"
import { freshDirectory } from "../../support/folders.ts"
import { shop } from "../../support/tokens.ts"

class Order extends Model.Class<Order>()("Order", {
  id: Model.id(),
  owner: Schema.String,
  state: Schema.String,
  n: Schema.Int,
  cost: Schema.optionalKey(Schema.Int),
  expires: Model.DateTime.pipe(Model.indexed(Index.expireAfter(0)))
}, { logged: { keep: "3 hours" } }) {}

const steps = Number(process.env["STREAM_STEPS"] ?? 100)

const owners = ["ann", "bob", "cleo"]

const int = (max: number) => Effect.map(Random.next, (part) => Math.floor(part * max))

const pick = <A>(values: ReadonlyArray<A>) => Effect.map(int(values.length), (i) => values[i]!)

const settled = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 2)))

const delay = Duration.seconds(9)

const configured = Layer.mergeAll(
  ConfigProvider.layer(ConfigProvider.fromUnknown({ appkernel: { live: { max_streams_per_caller: 100 } } })),
  Layer.orDie(shop("ES256")),
  Layer.succeed(SignIns.Lifetimes, {
    accessToken: Duration.hours(10),
    refreshToken: Duration.days(30),
    revocationDelay: delay
  })
)

/** What grants go by. */
interface Rights {
  owners: ReadonlyArray<string>
  isOpen: boolean
  hasCosts: boolean
}

const engineOf = (rights: Rights) => {
  const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const
  const isGuest = ({ caller }: { readonly caller: { readonly roles: ReadonlyArray<string> } }) =>
    caller.roles.includes("guest")
  return KernelEngine.make("followed").register(
    Resource.make(Order, { methods })
      .grant(Permission.Role("admin"), { methods })
      .grant(Permission.Role("clerk"), {
        methods: ["GET"],
        rows: () => Effect.sync((): Query.Where<typeof Order> => ($) => $.owner.in([...rights.owners])),
        hide: ["cost"]
      })
      .grant(Permission.make("open", {}, (of) => Effect.sync(() => rights.isOpen && isGuest(of))), {
        methods: ["GET"],
        hide: ["cost"]
      })
      .grant(Permission.make("costs", {}, (of) => Effect.sync(() => rights.hasCosts && isGuest(of))), {
        methods: ["GET"],
        rows: () => ($) => $.owner.equals("ann")
      })
  ).enableSecurity()
}

/** What a caller may be told of a document. */
const maySee = (rights: Rights, roles: ReadonlyArray<string>, value: { readonly [name: string]: unknown }): boolean => {
  if (roles.includes("admin")) return true
  const guest = roles.includes("guest")
  const withCosts = guest && rights.hasCosts && value["owner"] === "ann"
  const without = (roles.includes("clerk") && rights.owners.includes(String(value["owner"]))) ||
    (guest && rights.isOpen)
  return withCosts || (without && !("cost" in value))
}

/** A client that follows a list, with pages or with events. It may not be told anything that does not fit what it has. */
class Follower {
  readonly documents = new Map<string, string>()
  offset: string | undefined
  check: (value: { readonly [name: string]: unknown }) => void = () => {}
  request: ClientRequest | undefined
  status = 0
  #isSnapshot = false

  apply(messages: ReadonlyArray<Message>, offset: string | undefined): void {
    for (const { headers, key = "", value } of messages) {
      if (value !== undefined) this.check(value)
      if (headers.control === "reset") this.documents.clear()
      else if (headers.control === "snapshot-start") this.#isSnapshot = true
      else if (headers.control === "snapshot-end") this.#isSnapshot = false
      else if (headers.operation === "delete") {
        assert.isTrue(this.documents.delete(key), `${key} is deleted, and was not there`)
        assert.isUndefined(value)
      } else {
        if (!this.#isSnapshot) assert.strictEqual(this.documents.has(key), headers.operation === "update", key)
        this.documents.set(key, textOf(value!))
      }
    }
    this.offset = offset ?? this.offset
  }

  open(url: string, headers: Record<string, string>): void {
    const own = this.offset === undefined ? headers : { ...headers, "last-event-id": this.offset }
    if (this.offset === undefined) this.documents.clear()
    this.status = 0
    let rest = ""
    const request = get(url, { headers: own, agent: false }, (answer) => {
      this.status = answer.statusCode ?? 0
      answer.setEncoding("utf8")
      answer.on("data", (text: string) => {
        if (this.request !== request) return
        const events = (rest + text).split("\n\n")
        rest = events.pop()!
        for (const event of events) {
          const of = (field: string) =>
            event.split("\n").filter((line) => line.startsWith(`${field}: `)).map((line) =>
              line.slice(field.length + 2)
            )
          const isData = of("event")[0] === "data"
          this.apply(isData ? JSON.parse(of("data").join("\n")) : [], of("id")[0])
        }
      })
      const end = () => {
        if (this.request === request) this.request = undefined
      }
      answer.on("close", end).on("error", end)
    })
    request.on("error", () => {
      if (this.request === request) this.request = undefined
    })
    this.request = request
  }

  close(): void {
    const { request } = this
    this.request = undefined
    request?.destroy()
  }
}

const textOf = (value: object): string =>
  JSON.stringify(Object.entries(value).filter(([name]) => name !== "_links").toSorted(([a], [b]) => a < b ? -1 : 1))

const writeTo = (store: DocumentStore.DocumentStore["Service"], http: (...of: Request) => Effect.Effect<unknown>) =>
  Effect.gen(function*() {
    const id = `d${yield* int(20)}`
    const document = {
      owner: yield* pick(owners),
      state: yield* pick(["open", "paid"]),
      n: yield* int(5),
      cost: yield* int(1000),
      expires: new Date(Date.UTC(2100, 0))
    }
    const { cost: _, ...cheap } = document
    const expires = new Date((yield* Effect.clockWith((clock) => clock.currentTimeMillis)) + (yield* int(100)) * 60_000)
    switch (yield* int(15)) {
      case 0:
      case 1:
        return yield* http("POST", "", { id, ...document })
      case 2:
        return yield* http("POST", "", [1, 2, 3].map((i) => ({ id: `d${20 + i}`, ...document, n: i })))
      case 3:
        return yield* http("PUT", `/${id}`, { id, ...cheap })
      case 4:
        return yield* http("PATCH", `/${id}`, { n: document.n })
      case 5:
        return yield* http("PATCH", `/${id}`, { cost: document.cost })
      case 6:
        return yield* http("DELETE", `/${id}`)
      case 7:
        return yield* store.updateMany("Order", { n: document.n }, [{
          $set: { n: { $add: ["$n", 1] }, state: "paid" }
        }])
      case 8:
        return yield* store.updateMany("Order", { state: "paid" }, { $set: { owner: document.owner }, $inc: { n: -1 } })
      case 9: {
        const fails = (yield* int(2)) === 0
        return yield* Effect.ignore(store.transaction(Effect.gen(function*() {
          yield* store.replaceOne("Order", { _id: id }, document, { upsert: true })
          yield* store.updateOne("Order", { _id: id }, { $set: { owner: "cleo" } })
          yield* store.deleteMany("Order", { n: document.n })
          yield* store.replaceOne("Order", { _id: "t" }, cheap, { upsert: true })
          if (fails) return yield* Effect.fail("rolled back")
        })))
      }
      case 10:
        return yield* store.aggregate("Order", [{ $match: { n: document.n } }, { $set: { state: document.state } }, {
          $merge: { into: "Order", whenMatched: "merge", whenNotMatched: "insert" }
        }]).pipe(Stream.runDrain)
      case 11:
        return yield* store.replaceOne("Order", { _id: id }, { ...document, expires }, { upsert: true })
      case 12:
        return yield* TestClock.adjust("10 minutes")
      case 13:
        return yield* store.deleteMany("Order", { owner: document.owner, n: { $gt: 3 } })
      default:
        return yield* store.insertMany("Order", [1, 2, 3, 4].map((i) => ({ ...document, _id: `d${i * 4}`, n: i })), {
          ordered: false
        })
    }
  }).pipe(Effect.ignore)

type Request = [method: string, path: string, body?: unknown]

const differential = (
  name: string,
  open: Effect.Effect<Effect.Effect<DocumentStore.DocumentStore["Service"], unknown, Scope.Scope>, unknown, Scope.Scope>
) =>
  it.effect(
    `what clients build is what they may see, over ${steps} random steps / ${name}`,
    () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(Date.UTC(2026, 0, 1))
        const rights: Rights = { owners: ["ann"], isOpen: true, hasCosts: false }
        const engine = engineOf(rights)
        const openStore = yield* open
        let scope = yield* Scope.make()
        yield* Effect.addFinalizer(() => Effect.suspend(() => Scope.close(scope, Exit.void)))
        const start = Effect.gen(function*() {
          scope = yield* Scope.make()
          return yield* Scope.provide(
            Effect.gen(function*() {
              const store = yield* openStore
              const { baseUrl } = yield* engine.test({ store: Layer.succeed(DocumentStore.DocumentStore, store) })
              return { store, orders: `${baseUrl}/orders` }
            }),
            scope
          )
        })
        let service = yield* start
        const jwt = yield* Jwt.Jwt
        const as = (roles: ReadonlyArray<string>) =>
          Effect.map(Effect.orDie(jwt.sign({ subject: "someone", roles, expiresIn: "5000 days" })), (token) => ({
            authorization: `Bearer ${Redacted.value(token)}`
          }))
        const admin = yield* as(["admin"])
        const call = (url: string, headers: Record<string, string>, [method, path, body]: Request = ["GET", ""]) =>
          Effect.promise(async () => {
            const response = await fetch(url + path, {
              method,
              headers: { ...headers, "content-type": "application/json" },
              ...body === undefined ? {} : { body: JSON.stringify(body) }
            })
            return { status: response.status, headers: response.headers, text: await response.text() }
          })
        const callers: Array<{
          roles: ReadonlyArray<string>
          headers: Record<string, string>
          readonly filter: string
          readonly page: Follower
          readonly live: Follower
        }> = []
        for (
          const [roles, filter] of [
            [["admin"], ""],
            [["clerk"], "state=open"],
            [["guest"], "n=>1"],
            [["clerk", "guest"], ""]
          ] as const
        ) {
          callers.push({ roles, headers: yield* as(roles), filter, page: new Follower(), live: new Follower() })
        }
        yield* Effect.addFinalizer(() => Effect.sync(() => callers.forEach(({ live }) => live.close())))
        let gone = 0
        let resets = 0
        for (let step = 0; step < steps; step++) {
          const what = yield* int(60)
          if (what === 0) {
            // The rights change, and the streams of those who had others end within the delay.
            rights.owners = owners.filter((_, i) => (step >> i) % 2 === 0)
            rights.isOpen = (yield* int(2)) === 0
            rights.hasCosts = (yield* int(2)) === 0
            if ((yield* int(2)) === 0) {
              const caller = callers[1 + (yield* int(3))]!
              caller.roles = yield* pick([["clerk"], ["guest"], ["clerk", "guest"], ["other"]])
              caller.headers = yield* as(caller.roles)
              caller.live.close()
            }
            for (const { live } of callers) live.check = () => {}
            for (let i = 0; i < 12; i++) yield* Effect.andThen(TestClock.adjust("750 millis"), settled)
          } else if (what === 1) {
            yield* Scope.close(scope, Exit.void)
            service = yield* start
          } else if (what < 5) (yield* pick(callers)).live.close()
          else if (what === 5 && (yield* int(4)) === 0) yield* TestClock.adjust("4 hours")
          else yield* writeTo(service.store, (...of) => call(service.orders, admin, of))

          for (const caller of callers) {
            const { filter, headers, live, page, roles } = caller
            const check = (value: { readonly [name: string]: unknown }) =>
              assert.isTrue(maySee(rights, roles, value), `${roles.join()} ${JSON.stringify([value, rights])}`)
            page.check = check
            // A stream may go by the rights of before until the delay has passed.
            live.check = check
            const changes = `${service.orders}/changes?${filter}`
            let list = yield* call(`${service.orders}?page_size=100${filter === "" ? "" : `&${filter}`}`, headers)
            const readOn = Effect.gen(function*() {
              while (true) {
                const offset = page.offset === undefined ? "" : `&offset=${page.offset}`
                const got = yield* call(`${changes}${offset}`, headers)
                if (got.status === 410 || got.status === 403) {
                  if (got.status === 403) assert.strictEqual(list.status, 403)
                  else gone += 1
                  page.documents.clear()
                  page.offset = undefined
                  if (got.status === 403) break
                  continue
                }
                assert.strictEqual(got.status, 200, got.text)
                if (got.text.includes("\"reset\"")) resets += 1
                page.apply(JSON.parse(got.text), got.headers.get("stream-next-offset")!)
                if (got.headers.get("stream-up-to-date") === "true") break
              }
            })
            yield* readOn
            assert.include([200, 403], list.status, list.text)
            if (list.status === 403) {
              yield* Effect.promise(async () => {
                while (live.request !== undefined && live.status !== 403) {
                  await new Promise((resolve) => setTimeout(resolve, 1))
                  if (live.status === 200) break
                }
              })
              live.close()
              live.documents.clear()
              live.offset = undefined
              continue
            }
            const listOf = ({ text }: { readonly text: string }) =>
              new Map<string, string>(JSON.parse(text)._items.map((item: { id: string }) => [item.id, textOf(item)]))
            // A document may have expired between both.
            for (let i = 0; i < 3 && !isSame(page.documents, listOf(list)); i++) {
              list = yield* call(`${service.orders}?page_size=100${filter === "" ? "" : `&${filter}`}`, headers)
            }
            assert.deepStrictEqual(page.documents, listOf(list), `${name}, step ${step}, ${roles.join()}`)
            // As here: what has expired since is gone from the page, too, when it reads on.
            for (let i = 0; i < 3 && !isSame(live.documents, page.documents); i++) {
              if (i > 0) yield* readOn
              yield* Effect.promise(async () => {
                const until = performance.now() + 5_000
                while (!isSame(live.documents, page.documents)) {
                  if (live.request === undefined) {
                    // Its place may be gone by now.
                    if (live.status === 410 || live.status === 403) {
                      live.offset = undefined
                      live.documents.clear()
                    }
                    live.open(`${changes}&live=sse`, headers)
                  }
                  await new Promise((resolve) => setTimeout(resolve, 1))
                  if (performance.now() > until) break
                }
              })
            }
            assert.deepStrictEqual(live.documents, page.documents, `${name}, step ${step}, ${roles.join()}, live`)
          }
        }
        console.log(`${name}: ${steps} steps, ${resets} resets, ${gone} places gone`)
      }).pipe(
        Effect.scoped,
        Effect.provide(configured),
        Random.withSeed(process.env["CHANGE_SEED"] ?? "streams")
      ),
    steps * 500 + 120_000
  )

const isSame = (one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean =>
  one.size === other.size && [...one].every(([key, value]) => other.get(key) === value)

differential("memory", Effect.map(EmbeddedStore.makeMemory, (store) => Effect.succeed(store)))
differential("embedded", Effect.map(freshDirectory, (path) => EmbeddedStore.make({ path })))
