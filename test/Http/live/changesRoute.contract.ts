/** Streams of changes over a socket, whichever store is under them. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, ConfigProvider, DateTime, Duration, Effect, Fiber, Layer, Redacted, Ref, Schema } from "effect"
import { workDone } from "../../../packages/document-store/src/internal/stepBudget.ts"
import {
  Accounts,
  Converter,
  DocumentStore,
  HttpError,
  Index,
  Jwt,
  KernelEngine,
  Model,
  Permission,
  type Query,
  Repository,
  Resource,
  Service
} from "../../../src/index.ts"
import * as SignIns from "../../../src/Security/SignIns.ts"
import {
  endForClient,
  endOfStream,
  eventsOf,
  type Message,
  messagesIn,
  nextData,
  type OpenedStream,
  openedStream
} from "../../support/eventStream.ts"
import { shop } from "../../support/tokens.ts"

class Order extends Model.Class<Order>()("Order", {
  id: Model.id(),
  owner: Schema.String,
  state: Schema.String,
  total: Schema.Int,
  cost: Schema.optionalKey(Schema.Int)
}, { logged: true }) {}

class User extends Model.Class<User>()("User", {
  id: Model.id(),
  email: Schema.String.pipe(Model.indexed(Index.unique)),
  password: Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds: 1_000 })), Model.omitted),
  roles: Schema.Array(Schema.String)
}) {}

class Plain extends Model.Class<Plain>()("Plain", { id: Model.id() }) {}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

const pay = (id: string) =>
  Effect.gen(function*() {
    const orders = yield* Repository.for(Order)
    yield* orders.patch(id, { state: "paid" })
    return id
  })

const engine = KernelEngine.make("changes")
  .register(
    Resource.make(Order, { methods }).action("pay", { method: "POST", success: Schema.String }, ({ id }) => pay(id))
  )
  .register(
    Service.make("HookService").operation(
      "receive",
      { payload: { paid: Schema.String }, success: Schema.String },
      ({ payload }) => pay(payload.paid)
    )
  )
  .register(Plain)

const shown = ({ headers, key, value }: Message) =>
  headers.control ?? (value === undefined ? [headers.operation, key] : [headers.operation, key, value["total"]])

const waitingFor = (poll_timeout: string) =>
  ConfigProvider.layer(ConfigProvider.fromUnknown({
    appkernel: { live: { heartbeat: "150 millis", poll_timeout, max_streams_per_caller: 3 } }
  }))

const configured = waitingFor("300 millis")

const lifetimes = Layer.succeed(SignIns.Lifetimes, {
  accessToken: Duration.minutes(15),
  refreshToken: Duration.days(30),
  revocationDelay: Duration.seconds(1)
})

const call = (url: string, init?: RequestInit) => Effect.promise(() => fetch(url, init))

const opened = (url: string, headers?: Record<string, string>) =>
  Effect.tap(
    openedStream(url, headers),
    ({ response }) => Effect.sync(() => assert.strictEqual(response.status, 200, url))
  )

const nextMessages = (stream: OpenedStream) => Effect.map(nextData(stream), (event) => messagesIn(event).map(shown))

const body = (value: object, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(value)
})

const patch = (value: object, headers: Record<string, string> = {}): RequestInit => ({
  ...body(value, headers),
  method: "PATCH"
})

const order = (id: string, total: number, rest: object = {}) => ({ id, owner: "ada", state: "open", total, ...rest })

export const changesContract = <E>(
  name: string,
  store: Layer.Layer<DocumentStore.DocumentStore, E>
) =>
  describe(`live / changesRoute / ${name}`, () => {
    const serving = Effect.gen(function*() {
      const test = yield* engine.test({ store: Layer.fresh(Layer.orDie(store)) })
      const orders = `${test.baseUrl}/orders`
      return { ...test, orders, changes: `${orders}/changes` }
    })

    it.live("reads a list and its changes by the protocol of Durable Streams", () =>
      Effect.gen(function*() {
        const { baseUrl, changes, orders } = yield* serving
        assert.strictEqual((yield* call(`${baseUrl}/plains/changes`)).status, 404)

        // A page: first the list, then what has changed since.
        const created = yield* call(orders, body(order("a", 1)))
        const written = created.headers.get("stream-txid")
        assert.isString(written)
        yield* call(orders, body(order("b", 2, { state: "paid" })))
        const first = yield* call(`${changes}?state=open`)
        assert.strictEqual(first.headers.get("cache-control"), "private, no-store")
        assert.strictEqual(first.headers.get("stream-up-to-date"), "true")
        const offset = first.headers.get("stream-next-offset")!
        const listed: ReadonlyArray<Message> = yield* Effect.promise(() => first.json())
        assert.deepStrictEqual(listed.map(shown), ["snapshot-start", ["insert", "a", 1], "snapshot-end"])
        assert.strictEqual(listed[1]?.type, "orders")
        assert.deepStrictEqual(yield* Effect.promise(() => json(`${changes}?state=open&offset=${offset}`)), [])
        const now = yield* call(`${changes}?offset=now`)
        assert.strictEqual(yield* Effect.promise(() => now.text()), "[]")
        const tail = now.headers.get("stream-next-offset")!

        // A document that begins to match is an insert, one that ceases to a delete without its contents.
        yield* call(`${orders}/b`, patch({ state: "open" }))
        yield* call(`${orders}/a`, patch({ total: 10 }))
        yield* call(`${orders}/a`, patch({ state: "paid" }))
        yield* call(`${orders}/a`, patch({ total: 11 }))
        yield* call(`${orders}/b`, { method: "DELETE" })
        const after: ReadonlyArray<Message> = yield* Effect.promise(() =>
          json(`${changes}?state=open&offset=${offset}`)
        )
        assert.deepStrictEqual(after.map(shown), [
          ["insert", "b", 2],
          ["update", "a", 10],
          ["delete", "a"],
          ["delete", "b"]
        ])
        // What is not shown is no change.
        const narrow: ReadonlyArray<Message> = yield* Effect.promise(() =>
          json(`${changes}?offset=${tail}&fields=state`)
        )
        assert.deepStrictEqual(narrow.map(({ headers, key, value }) => [headers.operation, key, value?.["state"]]), [
          ["update", "b", "open"],
          ["update", "a", "paid"],
          ["delete", "b", undefined]
        ])
        const again = yield* call(`${changes}?offset=${tail}`)
        const etag = again.headers.get("etag")!
        for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
          const cached = yield* call(`${changes}?offset=${tail}`, { headers: { "if-none-match": known } })
          assert.strictEqual(cached.status, 304, known)
        }
        const other = yield* call(`${changes}?offset=${tail}`, { headers: { "if-none-match": `"other"` } })
        assert.strictEqual(other.status, 200)

        // What is wrong is said, and a place that is no longer kept is 410 each time.
        for (
          const [query, status] of [
            ["offset=nowhere", 400],
            ["live=forever", 400],
            ["page=2", 400],
            ["unknown=2", 400],
            ["offset=0000000000000000_0.", 410],
            ["offset=0000000000000000_0.&live=sse", 410],
            ["offset=0000000000000000_0.&live=long-poll", 410],
            ["offset=0000000009999999_0.&live=sse", 410]
          ] as const
        ) {
          for (let i = 0; i < 2; i++) {
            const answer = yield* call(`${changes}?${query}`)
            assert.strictEqual(answer.status, status, query)
            yield* Effect.promise(() => answer.text())
          }
        }
        // An `EventSource` would give up at a 410, and it accepts nothing but events.
        for (const place of ["0000000000000000_0.", "0000000009999999_0."]) {
          const anew = yield* opened(`${changes}?live=sse&offset=${place}`, { accept: "text/event-stream" })
          assert.deepStrictEqual(yield* nextMessages(anew), [
            "reset",
            "snapshot-start",
            ["insert", "a", 11],
            "snapshot-end"
          ])
          anew.controller.abort()
          for (const accept of ["*/*", "text/event-stream, */*;q=0.1"]) {
            const gone = yield* call(`${changes}?live=sse&offset=${place}`, { headers: { accept } })
            assert.strictEqual(gone.status, 410, accept)
            yield* Effect.promise(() => gone.text())
          }
        }
        assert.strictEqual((yield* call(changes, { method: "HEAD" })).status, 200)
        assert.strictEqual((yield* call(changes, { method: "POST" })).status, 405)
        assert.strictEqual((yield* call(orders, body(order("changes", 1)))).status, 400)
      }).pipe(Effect.scoped, Effect.provide(configured)))

    it.live("waits for changes for a time", () =>
      Effect.gen(function*() {
        const { changes, orders } = yield* serving
        const none = yield* call(`${changes}?offset=now&live=long-poll`)
        assert.strictEqual(none.status, 204)
        assert.strictEqual(none.headers.get("stream-up-to-date"), "true")
        const offset = none.headers.get("stream-next-offset")!
        const cursor = none.headers.get("stream-cursor")!
        yield* call(orders, body(order("a", 1)))
        const found = yield* call(`${changes}?offset=${offset}&live=long-poll&cursor=${cursor}`)
        assert.strictEqual(found.status, 200)
        assert.isAbove(Number(found.headers.get("stream-cursor")), Number(cursor))
      }).pipe(Effect.scoped, Effect.provide(configured)))

    it.live("begins with the first change since a time, and goes on from there", () =>
      Effect.gen(function*() {
        const { changes, orders } = yield* serving
        const minute = 60_000
        const begun = DateTime.toEpochMillis(yield* DateTime.now)
        const at = (time: number) => encodeURIComponent(DateTime.formatIso(DateTime.makeUnsafe(time)))
        yield* call(orders, body(order("a", 1)))
        yield* call(`${orders}/a`, patch({ total: 2 }))
        yield* call(orders, body(order("b", 3, { state: "paid" })))
        const found = yield* call(`${changes}?state=open&offset=${at(begun - minute)}`)
        assert.strictEqual(found.headers.get("stream-up-to-date"), "true")
        const messages: ReadonlyArray<Message> = yield* Effect.promise(() => found.json())
        assert.deepStrictEqual(messages.map(shown), [["insert", "a", 1], ["update", "a", 2]])
        yield* call(`${orders}/a`, patch({ total: 4 }))
        const next = found.headers.get("stream-next-offset")!
        const further: ReadonlyArray<Message> = yield* Effect.promise(() =>
          json(`${changes}?state=open&offset=${next}`)
        )
        assert.deepStrictEqual(further.map(shown), [["update", "a", 4]])

        const stream = yield* opened(`${changes}?state=open&live=sse&offset=${at(begun - minute)}`)
        assert.deepStrictEqual(yield* nextMessages(stream), [["insert", "a", 1], ["update", "a", 2], [
          "update",
          "a",
          4
        ]])
        // A time that is to come is now.
        const nothing = yield* call(`${changes}?offset=${at(begun + 60 * minute)}`)
        assert.deepStrictEqual(yield* Effect.promise(() => nothing.json()), [])
        yield* call(orders, body(order("c", 5)))
        const later: ReadonlyArray<Message> = yield* Effect.promise(() =>
          json(`${changes}?offset=${nothing.headers.get("stream-next-offset")!}`)
        )
        assert.deepStrictEqual(later.map(shown), [["insert", "c", 5]])
        const wrong = yield* call(`${changes}?offset=2026-02-30T10:00:00Z`)
        assert.strictEqual(wrong.status, 400)
      }).pipe(Effect.scoped, Effect.provide(configured)))

    it.live("waits for changes, and ends when there is one", () =>
      Effect.gen(function*() {
        const { baseUrl, changes, orders } = yield* serving
        const offset = (yield* call(`${changes}?offset=now`)).headers.get("stream-next-offset")!
        const waiting = yield* Effect.forkChild(call(`${changes}?offset=${offset}&live=long-poll`))
        yield* Effect.sleep("50 millis")
        const created = yield* call(orders, body(order("a", 1)))
        const found = yield* Fiber.join(waiting)
        assert.strictEqual(found.status, 200)
        const messages: ReadonlyArray<Message> = yield* Effect.promise(() => found.json())
        assert.deepStrictEqual(messages.map(shown), [["insert", "a", 1]])
        // The client's own write has come back.
        assert.strictEqual(messages[0]?.headers.txid, created.headers.get("stream-txid"))
        const further = yield* call(`${changes}?offset=${found.headers.get("stream-next-offset")!}`)
        assert.deepStrictEqual(yield* Effect.promise(() => further.json()), [])
        // What is written while a request begins to wait is not missed.
        for (let i = 0; i < 60; i++) {
          const at = (yield* call(`${changes}?offset=now`)).headers.get("stream-next-offset")!
          const [answer] = yield* Effect.all(
            [call(`${changes}?offset=${at}&live=long-poll`), call(orders, body(order(`r${i}`, i)))],
            { concurrency: 2 }
          )
          assert.strictEqual(answer.status, 200)
          const [first]: ReadonlyArray<Message> = yield* Effect.promise(() => answer.json())
          assert.strictEqual(first?.key, `r${i}`)
        }
        // An action and an operation write, too.
        for (const [i, path] of ["/orders/a/pay", "/hooks/receive"].entries()) {
          const id = i === 0 ? "a" : "h"
          if (i === 1) yield* call(orders, body(order(id, 1)))
          const at = (yield* call(`${changes}?offset=now`)).headers.get("stream-next-offset")!
          const answer = yield* call(`${baseUrl}${path}`, body(i === 0 ? {} : { paid: id }))
          const [message]: ReadonlyArray<Message> = yield* Effect.promise(() => json(`${changes}?offset=${at}`))
          assert.deepStrictEqual([answer.status, message?.key, message?.value?.["state"]], [200, id, "paid"])
          assert.strictEqual(message?.headers.txid, answer.headers.get("stream-txid"))
        }
      }).pipe(Effect.scoped, Effect.provide(waitingFor("5 minutes"))))

    it.live("sends events, beats, resumes at an exact place and is counted", () =>
      Effect.gen(function*() {
        const { changes, orders } = yield* serving
        yield* call(orders, body(order("a", 1)))
        const url = `${changes}?live=sse`
        const stream = yield* opened(url, { accept: "text/event-stream", "accept-encoding": "gzip" })
        assert.strictEqual(stream.response.headers.get("content-type"), "text/event-stream")
        assert.strictEqual(stream.response.headers.get("content-encoding"), null)
        assert.deepStrictEqual(yield* nextMessages(stream), ["snapshot-start", ["insert", "a", 1], "snapshot-end"])
        const control = (yield* stream.next)!
        assert.strictEqual(control.event, "control")
        assert.strictEqual(JSON.parse(control.data).upToDate, true)
        assert.strictEqual(JSON.parse(control.data).streamNextOffset, control.id)
        // Without changes there are signs of life, which have the place.
        const beat = (yield* stream.next)!
        assert.strictEqual(beat.event, "control")

        // Each change is an event of its own, whose `id` is the place after it.
        const ids: Array<string> = []
        for (let total = 2; total <= 4; total++) {
          yield* call(`${orders}/a`, patch({ total }))
          const event = yield* nextData(stream)
          assert.deepStrictEqual(messagesIn(event).map(shown), [["update", "a", total]])
          ids.push(event.id!)
        }
        const second = yield* opened(url, { "last-event-id": ids[0]! })
        for (const total of [3, 4]) {
          assert.deepStrictEqual(yield* nextMessages(second), [["update", "a", total]])
        }
        // Many writes at once, also in one request, are in the order of the log.
        yield* call(
          orders,
          body(Array.from({ length: 30 }, (_, i) => order(`m${i}`, i)))
        )
        for (const one of [stream, second]) {
          const keys: Array<unknown> = []
          while (keys.length < 30) {
            keys.push(...(yield* nextMessages(one)).map((message) => message[1]))
          }
          assert.deepStrictEqual(keys, Array.from({ length: 30 }, (_, i) => `m${i}`))
        }
        const third = yield* opened(`${changes}?live=sse&offset=now`)
        assert.strictEqual((yield* third.next)?.event, "control")
        const fourth = yield* call(url)
        assert.strictEqual(fourth.status, 429)
        assert.isString(fourth.headers.get("retry-after"))
        yield* Effect.promise(() => fourth.text())
        third.controller.abort()
        // A stream that has ended is not counted, long before a beat tells that its client is gone.
        yield* Effect.eventually(Effect.flatMap(call(url), (response) =>
          response.status === 200
            ? Effect.sync(() => void response.body?.cancel())
            : Effect.andThen(Effect.sleep("20 millis"), Effect.fail("still counted"))))
      }).pipe(Effect.scoped, Effect.provide(configured)))

    it.live("says that it is up to date when nothing follows, and not before", () =>
      Effect.gen(function*() {
        const { changes, orders } = yield* serving
        // Holds the changes for those who come later.
        const other = yield* opened(`${changes}?live=sse&offset=now`)
        const { headers } = yield* call(`${changes}?offset=now`)
        const place = headers.get("stream-next-offset")!
        for (const id of ["a", "b", "c"]) {
          yield* call(orders, body(order(id, 1)))
          yield* nextData(other)
        }
        const seenWhenUpToDate = (query: string) =>
          Effect.gen(function*() {
            const stream = yield* opened(`${changes}?live=sse${query}`, { "last-event-id": place })
            const keys: Array<string | undefined> = []
            while (true) {
              const event = yield* stream.next
              if (event?.event === "data") keys.push(...messagesIn(event).map(({ key }) => key))
              else if (JSON.parse(event!.data).upToDate === true) return keys
            }
          })
        assert.deepStrictEqual(yield* seenWhenUpToDate(""), ["a", "b", "c"])
        assert.deepStrictEqual(yield* seenWhenUpToDate("&state=paid"), [])
      }).pipe(Effect.scoped))

    it.live("ends streams whose conditions take too much work for a change, and no others", () =>
      Effect.gen(function*() {
        const { changes, orders } = yield* serving
        yield* call(orders, body(order("a", 1)))
        const costly = (i: number) => {
          const inner = { $filter: { input: { $range: [0, 9] }, as: "x", cond: { $gt: ["$$x", "$total"] } } }
          const outer = { $filter: { input: { $range: [0, 3_000 + i] }, cond: { $gt: [{ $size: inner }, -1] } } }
          return `&query=${encodeURIComponent(JSON.stringify({ $expr: { $gt: [{ $size: outer }, 1] } }))}`
        }
        const url = `${changes}?live=sse&offset=now`
        const plain = yield* opened(`${url}&state=open`)
        const simple = yield* opened(`${url}&query=${encodeURIComponent("{\"$expr\":{\"$gt\":[\"$total\",0]}}")}`)
        const told = (total: number) =>
          Effect.gen(function*() {
            yield* call(`${orders}/a`, patch({ total }))
            for (const stream of [plain, simple]) {
              assert.deepStrictEqual(yield* nextMessages(stream), [["update", "a", total]])
            }
          })
        yield* told(2)
        const many = yield* Effect.forEach(Array.from({ length: 20 }, (_, i) => i), (i) => opened(`${url}${costly(i)}`))
        const before = workDone()
        yield* told(3)
        for (const stream of many) assert.strictEqual(yield* endOfStream(stream), 429)
        // The first of them takes more than the streams of a caller may, and the others are not asked.
        assert.isBelow(workDone() - before, 12_000_000)
        yield* told(4)

        // For a time, the next ones are refused before they begin, in each mode.
        const refused = yield* call(`${url}${costly(0)}`)
        assert.strictEqual(refused.status, 429)
        assert.isAbove(Number(refused.headers.get("retry-after")), 30)
        assert.include(yield* Effect.promise(() => refused.text()), "make yours simpler")
        yield* opened(`${url}&total=>0`)
        // Whoever reads the log is told at once.
        const place = (yield* plain.next)!.id!
        yield* told(5)
        for (const mode of ["", "&live=long-poll"]) {
          const answer = yield* call(`${changes}?offset=${place}${mode}${costly(30)}`)
          assert.strictEqual(answer.status, 429, mode)
          yield* Effect.promise(() => answer.text())
        }
        const late = yield* opened(`${changes}?live=sse&offset=${place}${costly(30)}`)
        assert.strictEqual(yield* endOfStream(late), 429)
      }).pipe(
        Effect.scoped,
        Effect.provide(
          ConfigProvider.layer(ConfigProvider.fromUnknown({ appkernel: { live: { heartbeat: "5 seconds" } } }))
        )
      ))

    it.live("loses nothing between the list and its changes", () =>
      Effect.gen(function*() {
        const { changes, orders } = yield* serving
        const write = (i: number) =>
          Effect.andThen(call(orders, body(order(`w${i}`, i))), (answer) => Effect.promise(() => answer.text()))
        yield* Effect.forkChild(Effect.forEach(Array.from({ length: 2_000 }, (_, i) => i), write, { discard: true }))
        for (let round = 0; round < 2; round++) {
          yield* Effect.sleep("30 millis")
          const stream = yield* opened(`${changes}?live=sse`)
          const seen: Array<string> = []
          while (seen.length < 60 + round * 40) {
            for (const message of messagesIn(yield* nextData(stream))) {
              if (message.headers.operation === "insert") seen.push(message.key!)
            }
          }
          const sorted = seen.toSorted((a, b) => Number(a.slice(1)) - Number(b.slice(1)))
          // All from the first on, each once.
          assert.deepStrictEqual(sorted, sorted.map((_, i) => `w${i}`))
          stream.controller.abort()
        }
      }).pipe(Effect.scoped, Effect.provide(configured)))

    it.live("ends when the service stops", () =>
      Effect.gen(function*() {
        const stream = yield* Effect.scoped(Effect.gen(function*() {
          const { changes } = yield* serving
          const response = yield* call(`${changes}?live=sse&offset=now`)
          const events = eventsOf(response)
          yield* events.next
          return events
        }))
        let last = yield* stream.next
        while (last !== undefined) last = yield* stream.next
      }).pipe(Effect.provide(configured)))

    it.live("shows nobody more than a list does, for as long as it is open", () =>
      Effect.gen(function*() {
        const isAdmitted = yield* Ref.make(true)
        const isRefusing = yield* Ref.make(false)
        const shared = yield* Ref.make("team")
        const Orders = Resource.make(Order, { methods })
          .require(Permission.Role("admin"))
          .grant(Permission.Role("clerk"), {
            methods: ["GET"],
            rows: ({ subject }) =>
              Effect.map(
                Ref.get(shared),
                (owner): Query.Where<typeof Order> => ($) => $.owner.in([subject, owner])
              ),
            hide: ["cost"]
          })
          .grant(
            Permission.make(
              "admitted",
              {},
              ({ caller }) => caller.roles.includes("guest") ? Ref.get(isAdmitted) : Effect.succeed(false)
            ),
            { methods: ["GET"], hide: ["cost"] }
          )
          .beforeGet(
            () =>
              Effect.flatMap(
                Ref.get(isRefusing),
                (refuses) => refuses ? Effect.fail(new HttpError.Conflict({ message: "closed" })) : Effect.void
              ),
            { error: [] }
          )
        const secured = KernelEngine.make("secured").register(Orders).enableSecurity()
        const test = yield* secured.test({ store: Layer.fresh(Layer.orDie(store)) })
        const orders = `${test.baseUrl}/orders`
        const jwt = yield* Jwt.Jwt
        const bearer = (subject: string, roles: ReadonlyArray<string>, options: object = {}) =>
          Effect.map(
            jwt.sign({ subject, roles, ...options }),
            (token) => ({ authorization: `Bearer ${Redacted.value(token)}` })
          )
        const admin = yield* bearer("root", ["admin"])
        const ann = yield* bearer("ann", ["clerk"])
        const streamOf = (headers: Record<string, string>, query = "") =>
          opened(`${orders}/changes?live=sse${query}`, headers)
        assert.strictEqual((yield* call(`${orders}/changes?live=sse`)).status, 401)
        assert.strictEqual((yield* call(`${orders}/changes`, { headers: yield* bearer("x", ["other"]) })).status, 403)

        // Rows, of deletes as well: what is not the caller's is in no byte, and neither is a hidden field.
        const mine = yield* streamOf(ann, "&offset=now")
        const all = yield* streamOf(admin, "&offset=now")
        yield* call(orders, body(order("secret", 1, { owner: "bob", cost: 4_711 }), admin))
        yield* call(orders, body(order("own", 2, { owner: "ann", cost: 4_712 }), admin))
        yield* call(`${orders}/own`, patch({ cost: 4_713 }, admin))
        yield* call(`${orders}/secret`, patch({ total: 3 }, admin))
        yield* call(`${orders}/secret`, { method: "DELETE", headers: admin })
        yield* call(`${orders}/own`, patch({ owner: "bob" }, admin))
        yield* call(`${orders}/own`, { method: "DELETE", headers: admin })
        yield* call(orders, body(order("last", 9, { owner: "ann" }), admin))
        for (const expected of [["insert", "own", 2], ["delete", "own"], ["insert", "last", 9]]) {
          assert.deepStrictEqual(yield* nextMessages(mine), [expected])
        }
        assert.notMatch(mine.seen.bytes, /secret|bob|cost|\b471[123]\b/u)
        for (let i = 0; i < 8; i++) {
          yield* nextData(all)
        }
        assert.match(all.seen.bytes, /4712/u)
        // What a caller can't see can't be asked for, either.
        for (const query of ["cost=4712", `query=${encodeURIComponent("{\"cost\":4712}")}`, "fields=cost"]) {
          assert.strictEqual((yield* call(`${orders}/changes?${query}`, { headers: ann })).status, 400, query)
        }
        yield* Effect.forEach([mine, all], ({ controller }) => Effect.sync(() => controller.abort()))

        // The rows of a grant change: the stream says so, and with its last place the list comes anew.
        const before = yield* streamOf(ann, "&offset=now")
        const place = (yield* before.next)!.id!
        yield* call(orders, body(order("shared", 5, { owner: "crew" }), admin))
        yield* Ref.set(shared, "crew")
        assert.deepStrictEqual(yield* endForClient(before), "reset")
        const anew = yield* streamOf({ ...ann, "last-event-id": place })
        assert.deepStrictEqual(yield* nextMessages(anew), [
          "reset",
          "snapshot-start",
          ["insert", "last", 9],
          ["insert", "shared", 5],
          "snapshot-end"
        ])
        anew.controller.abort()

        // A rule denies, a hook refuses, a token expires.
        const guest = yield* streamOf(yield* bearer("gus", ["guest"]), "&offset=now")
        yield* Ref.set(isAdmitted, false)
        assert.strictEqual(yield* endForClient(guest), 403)
        // Tokens count for 30 seconds longer, since clocks differ.
        const earlier = yield* Clock.clockWith((clock) =>
          Effect.succeed<Clock.Clock>(
            Object.assign(Object.create(clock), {
              currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now - 30_000)
            })
          )
        )
        const short = yield* Effect.provideService(
          bearer("ann", ["clerk"], { expiresIn: Duration.seconds(2) }),
          Clock.Clock,
          earlier
        )
        const expiring = yield* streamOf(short, "&offset=now")
        assert.strictEqual(yield* endForClient(expiring), 401)
        const polled = yield* call(`${orders}/changes?live=long-poll&offset=${place}`, { headers: short })
        assert.strictEqual(polled.status, 401)
        const hooked = yield* streamOf(ann, "&offset=now")
        yield* Ref.set(isRefusing, true)
        assert.deepStrictEqual(yield* endForClient(hooked), "reset")
        assert.strictEqual((yield* call(`${orders}/changes?live=sse`, { headers: ann })).status, 409)
      }).pipe(Effect.scoped, Effect.provide(Layer.mergeAll(configured, lifetimes, Layer.orDie(shop("ES256"))))))

    it.live("ends with the account, the role and the sign-in of its caller", () =>
      Effect.gen(function*() {
        const Orders = Resource.make(Order, { methods }).require(Permission.Role("clerk"))
        const secured = KernelEngine.make("signed").register(Orders).register(Resource.make(User).denyAll())
          .enableSecurity()
        const documents = yield* DocumentStore.DocumentStore
        const test = yield* secured.test({ store: Layer.succeed(DocumentStore.DocumentStore, documents) })
        const users = test.repositories.users
        const changes = `${test.baseUrl}/orders/changes?live=sse&offset=now`
        const signedIn = (email: string) =>
          Effect.gen(function*() {
            const user = yield* users.insert(
              yield* Model.finalise(User, { email, password: "correct horse", roles: ["clerk"] })
            )
            const { accessToken } = yield* SignIns.signIn({ subject: user.id, roles: user.roles })
            const headers = { authorization: `Bearer ${Redacted.value(accessToken)}` }
            return { id: user.id, accessToken, stream: yield* opened(changes, headers) }
          })
        const gone = yield* signedIn("gone")
        const less = yield* signedIn("less")
        const out = yield* signedIn("out")
        const other = yield* signedIn("other")
        yield* users.deleteById(gone.id)
        yield* users.patch(less.id, { roles: [] })
        yield* SignIns.revoke(out.accessToken)
        for (const { stream } of [gone, less, out]) {
          assert.strictEqual(yield* endForClient(stream), 401)
        }
        assert.strictEqual((yield* other.stream.next)?.event, "control")
        assert.strictEqual((yield* other.stream.next)?.event, "control")
      }).pipe(
        Effect.scoped,
        Effect.provide(
          Layer.mergeAll(
            Accounts.fromModel(User, { login: "email", secret: "password" }),
            Layer.orDie(shop("ES256")),
            configured,
            lifetimes
          ).pipe(Layer.provideMerge(Layer.fresh(Layer.orDie(store))))
        )
      ))
  })

const json = (url: string) => fetch(url).then((response) => response.json())
