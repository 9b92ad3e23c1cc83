/**
 * What streams of changes of others have let out, lost or done for ever. Names in brackets are their reports: supabase/supabase,
 * supabase/supabase-js, directus/directus, HarperFast/harper, parse-community/parse-server, meteor/meteor, sgdg/morphium.
 */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Redacted, Ref, Schema } from "effect"
import { TestClock } from "effect/testing"
import { connect } from "node:net"
import { type DocumentStore, Jwt, KernelConfig, KernelEngine, Model, Permission, Resource } from "../../../src/index.ts"
import * as SignIns from "../../../src/Security/SignIns.ts"
import {
  endForClient,
  type Message,
  messagesIn,
  nextData,
  nextMessages,
  type OpenedStream,
  openedStream,
  pass
} from "../../support/eventStream.ts"
import { sendTo } from "../../support/rest.ts"
import { storesWithImages } from "../../support/storeMatrix.ts"
import { shop } from "../../support/tokens.ts"

class Inner extends Model.Class<Inner>()("Inner", {
  note: Schema.String,
  margin: Schema.optionalKey(Schema.Int)
}) {}

class Order extends Model.Class<Order>()("Order", {
  id: Model.id(),
  owner: Schema.String,
  state: Schema.String,
  total: Schema.Int,
  cost: Schema.optionalKey(Schema.Int),
  inner: Inner,
  text: Schema.optionalKey(Schema.String)
}, { logged: { keep: "1 hour" } }) {}

class Hooked extends Model.Class<Hooked>()("Hooked", { id: Model.id(), secret: Schema.String }, {
  logged: { keep: "1 hour" }
}) {}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

const lifetimes = Layer.succeed(SignIns.Lifetimes, {
  accessToken: Duration.hours(10),
  refreshToken: Duration.days(30),
  revocationDelay: Duration.seconds(9)
})

const configured = Layer.mergeAll(Layer.orDie(shop("ES256")), lifetimes)

type Headers = Record<string, string>

const serving = <E>(store: Layer.Layer<DocumentStore.DocumentStore, E>) =>
  Effect.gen(function*() {
    const isAdmitted = yield* Ref.make(true)
    const Orders = Resource.make(Order, { methods })
      .grant(Permission.Role("admin"), { methods })
      .grant(Permission.Role("clerk"), {
        methods: ["GET"],
        rows: ({ subject }) => ($) => $.owner.equals(subject),
        hide: ["cost", "inner.margin"]
      })
      .grant(Permission.Role("auditor"), { methods: ["GET"], rows: () => ($) => $.state.equals("paid") })
      .grant(
        Permission.make("admitted", {}, ({ caller }) =>
          caller.roles.includes("guest") ? Ref.get(isAdmitted) : Effect.succeed(false)),
        { methods: ["GET"] }
      )
    const Hookeds = Resource.make(Hooked, { methods })
      .require(Permission.Role("admin"))
      .afterGet(() =>
        Effect.void
      )
    const engine = KernelEngine.make("leaks").register(Orders).register(Hookeds).enableSecurity({
      roles: { lead: ["clerk"] }
    })
    const test = yield* engine.test({ store: Layer.fresh(Layer.orDie(store)) })
    const jwt = yield* Jwt.Jwt
    const as = (subject: string, ...roles: ReadonlyArray<string>): Effect.Effect<Headers> =>
      Effect.map(Effect.orDie(jwt.sign({ subject, roles, expiresIn: "100 hours" })), (token) => ({
        authorization: `Bearer ${Redacted.value(token)}`
      }))
    const admin = yield* as("root", "admin")
    const orders = `${test.baseUrl}/orders`
    const request = (method: string, url: string, value?: unknown, headers: Headers = admin) =>
      sendTo(url, method, "", value, headers)
    const written = (method: string, id: string, value?: object) =>
      Effect.map(
        request(method, method === "POST" ? orders : `${orders}/${id}`, value),
        ({ status, text }) => assert.isBelow(status, 300, text)
      )
    return {
      ...test,
      isAdmitted,
      orders,
      changes: `${orders}/changes`,
      admin,
      as,
      request,
      insert: (id: string, owner: string, rest: object = {}) =>
        written("POST", id, { id, owner, state: "open", total: 1, inner: { note: "" }, ...rest }),
      patch: (id: string, value: object) => written("PATCH", id, value),
      remove: (id: string) => written("DELETE", id)
    }
  })

const shown = ({ headers, key, value }: Message) =>
  headers.control ?? (value === undefined ? [headers.operation, key] : [headers.operation, key, value["total"]])

const next = (stream: OpenedStream) => Effect.map(nextMessages(stream), (messages) => messages.map(shown))

const live = "live=sse&offset=now"

storesWithImages((name, store) =>
  describe(`live / leaks / ${name}`, () => {
    it.effect("nobody hears of the deletion of what they could not see (supabase#48785)", () =>
      Effect.gen(function*() {
        const { as, changes, insert, patch, remove } = yield* serving(store)
        yield* insert("hidden", "bob", { cost: 4711 })
        yield* insert("own", "ann", { cost: 4712 })
        yield* insert("given", "ann", { cost: 4713 })
        const stream = yield* openedStream(`${changes}?${live}`, yield* as("ann", "clerk"))
        yield* remove("hidden")
        yield* remove("own")
        yield* patch("given", { owner: "bob" })
        yield* remove("given")
        yield* insert("last", "ann")
        assert.deepStrictEqual(
          [yield* next(stream), yield* next(stream), yield* next(stream)],
          [[["delete", "own"]], [["delete", "given"]], [["insert", "last", 1]]]
        )
        assert.notMatch(stream.seen.bytes, /hidden|bob|cost|\b471\d\b/u)
      }).pipe(Effect.scoped, Effect.provide(configured)))

    it.effect("a stream that has begun loses no write that follows (supabase-js#1599)", () =>
      Effect.gen(function*() {
        const { admin, changes, insert, request } = yield* serving(store)
        for (let i = 0; i < 10; i++) {
          // The answer has begun, and nothing of it has been read.
          const stream = yield* openedStream(`${changes}?${live}`, admin)
          yield* insert(`s${i}`, "ann")
          assert.deepStrictEqual(yield* next(stream), [["insert", `s${i}`, 1]])
          stream.controller.abort()
          const now = yield* request("GET", `${changes}?offset=now`)
          yield* insert(`p${i}`, "ann")
          const page = yield* request(
            "GET",
            `${changes}?live=long-poll&offset=${String(now.headers["stream-next-offset"])}`
          )
          assert.deepStrictEqual(JSON.parse(page.text).map(shown), [["insert", `p${i}`, 1]])
        }
      }).pipe(Effect.scoped, Effect.provide(configured)))

    it.effect(
      "nothing of a document that left the filter comes, but that it left (directus#19704)",
      () =>
        Effect.gen(function*() {
          const { admin, changes, insert, patch, remove } = yield* serving(store)
          yield* insert("a", "ann")
          yield* insert("b", "ann", { state: "paid" })
          const open = yield* openedStream(`${changes}?${live}&state=open`, admin)
          const one = yield* openedStream(`${changes}?${live}&id=a`, admin)
          yield* patch("b", { total: 2 })
          yield* patch("a", { state: "paid" })
          yield* patch("a", { total: 3 })
          yield* remove("b")
          yield* remove("a")
          yield* insert("a", "ann", { total: 4 })
          assert.deepStrictEqual([yield* next(open), yield* next(open)], [[["delete", "a"]], [["insert", "a", 4]]])
          assert.deepStrictEqual(
            [yield* next(one), yield* next(one), yield* next(one), yield* next(one)],
            [[["update", "a", 1]], [["update", "a", 3]], [["delete", "a"]], [["insert", "a", 4]]]
          )
          assert.notInclude(open.seen.bytes + one.seen.bytes, "\"b\"")
        }).pipe(Effect.scoped, Effect.provide(configured))
    )

    it.effect("a stream ends with the right to it, and has nothing of later (harper#1414)", () =>
      Effect.gen(function*() {
        const { as, changes, insert, isAdmitted } = yield* serving(store)
        const guest = yield* as("gus", "guest")
        const stream = yield* openedStream(`${changes}?${live}`, guest)
        yield* insert("before", "ann")
        assert.deepStrictEqual(yield* next(stream), [["insert", "before", 1]])
        yield* Ref.set(isAdmitted, false)
        yield* pass(9)
        yield* insert("later", "ann")
        assert.strictEqual(yield* endForClient(stream), 403)
        assert.notInclude(stream.seen.bytes, "later")
        const again = yield* openedStream(`${changes}?${live}`, guest)
        assert.strictEqual(again.response.status, 403)
      }).pipe(Effect.scoped, Effect.provide(configured)))

    it.effect(
      "what is hidden from one stays hidden, whoever else follows the list (parse-server#10331)",
      () =>
        Effect.gen(function*() {
          const { admin, as, changes, insert, patch } = yield* serving(store)
          const clerk = yield* as("ann", "clerk")
          const streams = yield* Effect.forEach(
            [admin, clerk, admin, clerk, admin],
            (headers) => Effect.map(openedStream(`${changes}?${live}`, headers), (stream) => ({ headers, stream })),
            { concurrency: 5 }
          )
          yield* insert("a", "ann", { cost: 4711, inner: { note: "seen", margin: 4712 } })
          yield* patch("a", { total: 2, inner: { note: "new", margin: 4713 } })
          yield* patch("a", { owner: "bob" })
          yield* patch("a", { owner: "ann" })
          for (const { headers, stream } of streams) {
            const values = []
            for (let i = 0; i < 4; i++) {
              values.push(...(yield* nextMessages(stream)).map(({ value }) => value))
            }
            const isClerk = headers === clerk
            const expected = [[1, "seen", 4712], [2, "new", 4713], isClerk ? undefined : [2, "new", 4713], [
              2,
              "new",
              4713
            ]]
            assert.deepStrictEqual(
              values.map((value) => value && [value["total"], value["cost"], value["inner"]]),
              expected.map((value) =>
                value && [
                  value[0],
                  isClerk ? undefined : 4711,
                  { _type: "Inner", note: value[1], ...isClerk ? {} : { margin: value[2] } }
                ]
              )
            )
            if (isClerk) assert.notMatch(stream.seen.bytes, /cost|margin|\b4711\b/u)
          }
        }).pipe(Effect.scoped, Effect.provide(configured))
    )

    it.effect(
      "a stream has the fields that a list has, by all roles of the caller (parse-server#10655)",
      () =>
        Effect.gen(function*() {
          const { admin, as, changes, insert, orders, patch, request } = yield* serving(store)
          const callers = [
            admin,
            yield* as("ann", "clerk"),
            // A lead is a clerk, too.
            yield* as("ann", "lead"),
            yield* as("ann", "auditor"),
            yield* as("ann", "lead", "auditor"),
            yield* as("bob", "auditor", "clerk")
          ]
          const streams = yield* Effect.forEach(callers, (headers) => openedStream(`${changes}?${live}`, headers))
          const listed = (headers: Headers) =>
            Effect.map(request("GET", orders, undefined, headers), ({ text }) =>
              new Map<string, object>(
                JSON.parse(text)._items.map((item: { readonly id: string }) => [item.id, withoutLinks(item)])
              ))
          yield* insert("open", "ann", { cost: 1, inner: { note: "n", margin: 2 } })
          yield* insert("paid", "ann", { state: "paid", cost: 3, inner: { note: "n", margin: 4 } })
          yield* insert("other", "bob", { state: "paid", cost: 5 })
          yield* patch("open", { state: "paid" })
          yield* patch("paid", { state: "open" })
          // All see the last one.
          yield* insert("last", "ann", { state: "paid" })
          yield* insert("last2", "bob", { state: "paid" })
          for (const [i, stream] of streams.entries()) {
            const documents = new Map<string, object>()
            const own = i === 5 ? "last2" : "last"
            while (!documents.has(own)) {
              for (const { headers, key, value } of yield* nextMessages(stream)) {
                if (headers.operation === "delete") documents.delete(key!)
                else documents.set(key!, withoutLinks(value!))
              }
            }
            const list = yield* listed(callers[i]!)
            if (own === "last") list.delete("last2")
            assert.deepStrictEqual(documents, list, `${i}`)
          }
        }).pipe(Effect.scoped, Effect.provide(configured))
    )

    it.effect("where a hook runs after reads, there is no stream that goes around it (parse-server#10233)", () =>
      Effect.gen(function*() {
        const { baseUrl, request } = yield* serving(store)
        const created = yield* request("POST", `${baseUrl}/hookeds`, { id: "h", secret: "4711" })
        assert.strictEqual(created.status, 201)
        for (const query of ["", "?live=sse", "?live=long-poll", "?offset=now&live=sse"]) {
          const { status, text } = yield* request("GET", `${baseUrl}/hookeds/changes${query}`)
          assert.strictEqual(status, 501)
          assert.notInclude(text, "4711")
        }
      }).pipe(Effect.scoped, Effect.provide(configured)))

    it.effect("no filter asks for what is hidden, however it is written (parse-server#10176, #10351)", () =>
      Effect.gen(function*() {
        const { as, changes, insert, request } = yield* serving(store)
        yield* insert("a", "ann", { cost: 4711, inner: { note: "n", margin: 4712 } })
        const clerk = yield* as("ann", "clerk")
        const conditions: ReadonlyArray<unknown> = [
          { cost: 4711 },
          { cost: { $gt: 1 } },
          { "inner.margin": 4712 },
          { inner: { note: "n", margin: 4712 } },
          { inner: { $elemMatch: { margin: 4712 } } },
          { $or: [{ cost: 4711 }, { total: 5 }] },
          { $and: [{ total: 1 }, { $or: [{ "inner.margin": { $exists: true } }] }] },
          { $nor: [{ cost: 1 }] },
          { total: { $not: { $gt: 5 } }, cost: { $not: { $gt: 5 } } },
          { $expr: { $gt: ["$cost", 1] } },
          { $expr: { $gt: [{ $getField: "cost" }, 1] } },
          { $expr: { $eq: ["$$ROOT.cost", 4711] } },
          { $jsonSchema: { required: ["cost"] } },
          { $where: "this.cost > 1" },
          // Operators whose arguments only look like arrays.
          { $or: { 0: { cost: 4711 }, length: 1 } },
          { $and: { 0: { cost: 4711 }, length: 1 } },
          { $nor: { 0: { cost: 1 }, length: 1 } },
          { $or: { cost: 4711 } },
          { $or: [[{ cost: 4711 }]] }
        ]
        const queries = [
          "cost=4711",
          "cost=>1",
          "inner.margin=4712",
          "fields=cost",
          ...conditions.map((condition) => `query=${encodeURIComponent(JSON.stringify(condition))}`)
        ]
        for (const query of queries) {
          for (const mode of ["", "&live=sse", "&live=sse&offset=now"]) {
            const { status, text } = yield* request("GET", `${changes}?${query}${mode}`, undefined, clerk)
            assert.include([400, 403], status, query)
            assert.notInclude(text, "\"n\"")
          }
        }
      }).pipe(Effect.scoped, Effect.provide(configured)))

    it.effect(
      "a change of what is hidden or not asked for is no event at all (parse-server#10254)",
      () =>
        Effect.gen(function*() {
          const { admin, as, changes, insert, patch } = yield* serving(store)
          yield* insert("a", "ann", { cost: 1, inner: { note: "n", margin: 1 } })
          const clerk = yield* as("ann", "clerk")
          const hidden = yield* openedStream(`${changes}?${live}`, clerk)
          const narrow = yield* openedStream(`${changes}?${live}&fields=state`, admin)
          for (let i = 2; i < 6; i++) yield* patch("a", { cost: i, inner: { note: "n", margin: i } })
          yield* patch("a", { total: 7, state: "paid" })
          for (const stream of [hidden, narrow]) {
            const [message] = messagesIn(yield* nextData(stream))
            assert.strictEqual(message?.value?.["state"], "paid")
            assert.strictEqual(stream.seen.bytes.match(/event: data/gu)?.length, 1)
          }
          assert.notMatch(hidden.seen.bytes, /cost|margin/u)
        }).pipe(Effect.scoped, Effect.provide(configured))
    )

    it.effect("a place that is gone is refused each time, and one asks anew once (meteor#14607)", () =>
      Effect.gen(function*() {
        const { admin, changes, insert, request } = yield* serving(store)
        yield* insert("a", "ann")
        const now = yield* request("GET", `${changes}?offset=now`)
        const [, rights] = String(now.headers["stream-next-offset"]).split(".")
        const dead = name === "mongodb" ? "0000000000000001_00" : "0000000000000000_0"
        for (let i = 0; i < 3; i++) {
          for (const mode of ["", "&live=sse", "&live=long-poll"]) {
            const { headers, status } = yield* request("GET", `${changes}?offset=${dead}.${rights}${mode}`)
            // A browser connects again after a stream that has begun, and not after this.
            assert.strictEqual(status, 410)
            assert.notInclude(String(headers["content-type"]), "event-stream")
          }
        }
        const stream = yield* openedStream(`${changes}?live=sse`, admin)
        assert.deepStrictEqual(yield* next(stream), ["snapshot-start", ["insert", "a", 1], "snapshot-end"])
        yield* insert("b", "ann")
        assert.deepStrictEqual(yield* next(stream), [["insert", "b", 1]])
      }).pipe(Effect.scoped, Effect.provide(configured)))

    it.effect.skipIf(name === "mongodb")("a replay never begins later than it was asked to (morphium#320)", () =>
      Effect.gen(function*() {
        const { admin, changes, insert, request } = yield* serving(store)
        const offsets: Array<string> = []
        const mark = Effect.map(
          request("GET", `${changes}?offset=now`),
          ({ headers }) =>
            offsets.push(String(headers["stream-next-offset"]))
        )
        for (let i = 0; i < 12; i++) {
          yield* mark
          yield* insert(`d${i}`, "ann")
          yield* TestClock.adjust("10 minutes")
        }
        // Some of it is no longer kept. From each place there is all that follows, or nothing at all.
        let gone = 0
        for (const [i, offset] of offsets.entries()) {
          const page = yield* request("GET", `${changes}?offset=${offset}`)
          const stream = yield* openedStream(`${changes}?live=sse`, { ...admin, "last-event-id": offset })
          assert.strictEqual(stream.response.status, page.status)
          if (page.status === 410) {
            gone += 1
            continue
          }
          const expected = offsets.slice(i).map((_, k) => ["insert", `d${i + k}`, 1])
          assert.deepStrictEqual(JSON.parse(page.text).map(shown), expected)
          const seen: Array<unknown> = []
          while (seen.length < expected.length) seen.push(...yield* next(stream))
          assert.deepStrictEqual(seen, expected)
        }
        assert.isAbove(gone, 2)
        assert.isBelow(gone, 10)
      }).pipe(Effect.scoped, Effect.provide(configured)))

    it.effect("a client that reads nothing is disconnected and resumes, and little is held for it (buffers without bounds)", () =>
      Effect.gen(function*() {
        const { admin, changes, insert } = yield* serving(store)
        const text = "x".repeat(200_000)
        const { hostname, pathname, port } = new URL(changes)
        const socket = yield* Effect.acquireRelease(
          Effect.promise(() =>
            new Promise<ReturnType<typeof connect>>((resolve) => {
              const own = connect(Number(port), hostname, () => {
                own.pause()
                const authorization = admin["authorization"]
                own.write(
                  `GET ${pathname}?${live} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: ${authorization}\r\n\r\n`
                )
                resolve(own)
              })
              own.on("error", () => {})
            })
          ),
          (own) =>
            Effect.sync(() => own.destroy())
        )
        const other = yield* openedStream(`${changes}?${live}`, admin)
        const count = 80
        for (let i = 0; i < count; i++) {
          yield* insert(`d${i}`, "ann", { text })
          assert.deepStrictEqual(yield* next(other), [["insert", `d${i}`, 1]])
        }
        const { heartbeat } = yield* KernelConfig.live
        for (let i = 0; i < 4; i++) {
          yield* TestClock.adjust(heartbeat)
          yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 20)))
        }
        // What had been sent to it arrives now, and then its end.
        const received: Array<Buffer> = []
        yield* Effect.promise(() =>
          new Promise((resolve) => {
            socket.on("data", (chunk) => received.push(chunk))
            socket.on("close", resolve)
            socket.resume()
          })
        )
        const events = withoutChunks(Buffer.concat(received)).split("\n\n").slice(0, -1)
        const complete = events.join("").split("\"key\":").length - 1
        const last = /^id: (.+)$/mu.exec(events.at(-1)!)![1]!
        assert.isBelow(complete, count - 20)
        const again = yield* openedStream(`${changes}?live=sse`, { ...admin, "last-event-id": last })
        const rest: Array<string> = []
        while (rest.at(-1) !== `d${count - 1}`) {
          rest.push(...(yield* nextMessages(again)).map(({ key }) => key!))
        }
        // It goes on with the one after the last whole event.
        assert.strictEqual(rest[0], `d${complete}`)
        assert.strictEqual(rest.length, count - complete)
      }).pipe(Effect.scoped, Effect.provide(configured)))
  })
)

const withoutLinks = (item: object): object =>
  Object.fromEntries(Object.entries(item).filter(([name]) => name !== "_links"))

/** The body of an answer in chunks, as far as it has arrived. */
const withoutChunks = (answer: Buffer): string => {
  let at = answer.indexOf("\r\n\r\n") + 4
  const parts: Array<Buffer> = []
  for (let end = answer.indexOf("\r\n", at); end >= 0; end = answer.indexOf("\r\n", at)) {
    const length = Number.parseInt(answer.subarray(at, end).toString(), 16)
    parts.push(answer.subarray(end + 2, end + 2 + length))
    at = end + 2 + length + 2
  }
  return Buffer.concat(parts).toString()
}
