/** The changes of several collections over one connection, whichever store is under them. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Layer, Logger, Redacted, Ref, References, Schema } from "effect"
import { Jwt, KernelEngine, Model, OpenApi, Permission, type Query, Resource, Service } from "../../../src/index.ts"
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
import { type Headers, sendTo } from "../../support/rest.ts"
import { storesWithImages } from "../../support/storeMatrix.ts"
import { shop } from "../../support/tokens.ts"

class Order extends Model.Class<Order>()("Order", {
  id: Model.id(),
  owner: Schema.String,
  state: Schema.String,
  cost: Schema.optionalKey(Schema.Int)
}, { logged: true }) {}

class User extends Model.Class<User>()("User", { id: Model.id(), name: Schema.String, state: Schema.String }, {
  logged: true
}) {}

class Note extends Model.Class<Note>()("Note", { id: Model.id(), text: Schema.String }) {}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

const delay = Duration.seconds(9)

const configured = Layer.mergeAll(
  Layer.orDie(shop("ES256")),
  Layer.succeed(SignIns.Lifetimes, {
    accessToken: Duration.hours(10),
    refreshToken: Duration.days(30),
    revocationDelay: delay
  })
)

const shown = ({ headers, key, type, value }: Message) =>
  headers.control ?? [headers.operation, type, key, ...value === undefined ? [] : [value["state"]]]

const next = (stream: OpenedStream) => Effect.map(nextMessages(stream), (messages) => messages.map(shown))

storesWithImages((name, store) =>
  describe(`live / watchRoute / ${name}`, () => {
    const serving = Effect.gen(function*() {
      const owner = yield* Ref.make("ann")
      const isAdmitted = yield* Ref.make(true)
      const engine = KernelEngine.make("watched")
        .register(
          Resource.make(Order, { methods })
            .grant(Permission.Role("admin"), { methods })
            .grant(Permission.Role("clerk"), {
              methods: ["GET"],
              rows: () => Effect.map(Ref.get(owner), (own): Query.Where<typeof Order> => ($) => $.owner.equals(own)),
              hide: ["cost"]
            })
        )
        .register(
          Resource.make(User, { methods })
            .grant(Permission.Role("admin"), { methods })
            .grant(
              Permission.make(
                "admitted",
                {},
                ({ caller }) => caller.roles.includes("guest") ? Ref.get(isAdmitted) : Effect.succeed(false)
              ),
              { methods: ["GET"] }
            )
        )
        .register(Resource.make(Note, { methods }).require(Permission.Role("admin")))
        .enableSecurity()
      const test = yield* engine.test({ store: Layer.fresh(Layer.orDie(store)) })
      const jwt = yield* Jwt.Jwt
      const as = (...roles: ReadonlyArray<string>) =>
        Effect.map(Effect.orDie(jwt.sign({ subject: "someone", roles, expiresIn: "100 hours" })), (token) => ({
          authorization: `Bearer ${Redacted.value(token)}`
        }))
      const admin = yield* as("admin")
      const request = (method: string, path: string, value?: unknown, headers: Headers = admin) =>
        sendTo(test.baseUrl, method, path, value, headers)
      const write = (method: string, path: string, value?: unknown) =>
        Effect.map(request(method, path, value), (answer) => {
          assert.isBelow(answer.status, 300, answer.text)
          return answer.headers["stream-txid"]
        })
      const order = (id: string, rest: object = {}) =>
        write("POST", "/orders", { id, owner: "ann", state: "open", ...rest })
      const user = (id: string, rest: object = {}) => write("POST", "/users", { id, name: id, state: "open", ...rest })
      const opened = (query: string, headers: Record<string, string> = admin) =>
        openedStream(`${test.baseUrl}/changes?live=sse&${query}`, headers)
      return { ...test, admin, engine, as, isAdmitted, opened, order, owner, request, user, write }
    })

    it.effect("has the lists of all, and their changes in one order, each of its collection", () =>
      Effect.gen(function*() {
        const { admin, opened, order, request, user, write } = yield* serving
        yield* order("o1")
        yield* user("u1")
        const stream = yield* opened("watch=orders,users")
        assert.strictEqual(stream.response.headers.get("content-type"), "text/event-stream")
        const first = yield* nextData(stream)
        assert.deepStrictEqual(messagesIn(first).map(shown), [
          "snapshot-start",
          ["insert", "orders", "o1", "open"],
          ["insert", "users", "u1", "open"],
          "snapshot-end"
        ])
        yield* user("u2")
        const txid = yield* order("o2")
        yield* write("PATCH", "/users/u1", { state: "gone" })
        yield* write("DELETE", "/orders/o1")
        assert.deepStrictEqual(yield* next(stream), [["insert", "users", "u2", "open"]])
        const own = yield* nextData(stream)
        assert.deepStrictEqual(messagesIn(own).map(shown), [["insert", "orders", "o2", "open"]])
        assert.strictEqual(messagesIn(own)[0]!.headers.txid, txid)
        assert.deepStrictEqual(yield* next(stream), [["update", "users", "u1", "gone"]])
        assert.deepStrictEqual(yield* next(stream), [["delete", "orders", "o1"]])
        const resumed = yield* opened("watch=orders,users", { ...admin, "last-event-id": own.id! })
        assert.deepStrictEqual(
          [yield* next(resumed), yield* next(resumed)].flat(),
          [["update", "users", "u1", "gone"], ["delete", "orders", "o1"]]
        )
        const page = yield* request("GET", `/changes?watch=orders,users&offset=${first.id}`)
        assert.deepStrictEqual(JSON.parse(page.text).map(shown), [
          ["insert", "users", "u2", "open"],
          ["insert", "orders", "o2", "open"],
          ["update", "users", "u1", "gone"],
          ["delete", "orders", "o1"]
        ])
        assert.strictEqual(page.headers["stream-up-to-date"], "true")
        const place = String(page.headers["stream-next-offset"])
        const url = `/changes?watch=orders&watch=users&live=long-poll&offset=${place}`
        const [polled] = yield* Effect.all([request("GET", url), user("u3")], { concurrency: 2 })
        assert.deepStrictEqual(JSON.parse(polled.text).map(shown), [["insert", "users", "u3", "open"]])
        // With a collection more, what was told before is not all of it.
        const more = yield* request("GET", `/changes?watch=orders&offset=${place}`)
        assert.deepStrictEqual(shown(JSON.parse(more.text)[0]), "reset")
      }).pipe(Effect.scoped, Effect.provide(configured)))

    it.effect("filters all of them, or one whose name is before the parameter", () =>
      Effect.gen(function*() {
        const { opened, order, request, user, write } = yield* serving
        yield* order("o1", { cost: 1 })
        yield* user("u1")
        yield* user("u2", { state: "paid" })
        const one = yield* opened("watch=users,orders&users.state=paid&orders.fields=cost&orders.cost=>0")
        assert.deepStrictEqual(
          messagesIn(yield* nextData(one)).map(({ headers, value }) => {
            const { _links, ...fields } = value ?? {}
            return headers.control ?? fields
          }),
          [
            "snapshot-start",
            { _type: "User", id: "u2", name: "u2", state: "paid" },
            { _type: "Order", id: "o1", cost: 1 },
            "snapshot-end"
          ]
        )
        const all = yield* opened("watch=users,orders&state=paid&offset=now")
        yield* write("PATCH", "/orders/o1", { state: "paid", cost: 0 })
        yield* write("PATCH", "/users/u1", { state: "paid" })
        yield* write("PATCH", "/users/u2", { state: "open" })
        assert.deepStrictEqual(
          [yield* next(one), yield* next(one), yield* next(one)],
          [[["delete", "orders", "o1"]], [["insert", "users", "u1", "paid"]], [["delete", "users", "u2"]]]
        )
        assert.deepStrictEqual(
          [yield* next(all), yield* next(all), yield* next(all)],
          [[["insert", "orders", "o1", "paid"]], [["insert", "users", "u1", "paid"]], [["delete", "users", "u2"]]]
        )
        for (
          const query of [
            "",
            "watch=",
            "watch=notes",
            "watch=orders,nothing",
            "watch=orders,users&cost=1",
            "watch=orders,users&users.cost=1",
            "watch=orders,users&page=2",
            "watch=orders&users.state=open",
            "watch=orders&__proto__=1",
            "watch=orders,users&offset=nowhere",
            "watch=orders,users&offset=now&orders.offset=-1"
          ]
        ) {
          const { status, text } = yield* request("GET", `/changes?${query}`)
          assert.strictEqual(status, 400, `${query} ${text}`)
        }
      }).pipe(Effect.scoped, Effect.provide(configured)))

    it.effect("names the collections that the caller may list, and no others", () =>
      Effect.gen(function*() {
        const { admin, as, request } = yield* serving
        const secrets = /orders|users/u
        const answers = (headers: Record<string, string>) => (query: string) =>
          Effect.map(request("GET", `/changes?${query}`, undefined, headers), ({ status, text, headers }) => ({
            status,
            text,
            challenge: headers["www-authenticate"]
          }))
        const queries = ["", "watch=", "watch=nosuch", "watch=orders", "watch=users,nosuch", "watch=nosuch&x=1"]
        for (const [headers, status] of [[{}, 401], [yield* as("other"), 403]] as const) {
          const all = yield* Effect.forEach(queries, answers(headers))
          assert.strictEqual(all[0]!.status, status)
          assert.notMatch(all[0]!.text, secrets)
          for (const one of all) assert.deepStrictEqual(one, all[0])
        }
        const ofClerk = answers(yield* as("clerk"))
        const denied = yield* ofClerk("watch=users")
        assert.strictEqual(denied.status, 403)
        assert.include(denied.text, "You may watch orders only")
        // Neither alone, nor beside one that they may list, nor with a mistake that this one would be told of.
        for (const rest of ["", "&live=sse", "&orders.nothing=1", "&state.=1"]) {
          for (const names of ["users", "nosuch", "orders,users", "orders,nosuch", "users,orders", "nosuch,orders"]) {
            assert.deepStrictEqual(yield* ofClerk(`watch=${names}${rest}`), denied, names + rest)
          }
        }
        for (const query of ["", "watch=", "watch=orders,"]) {
          const { status, text } = yield* ofClerk(query)
          assert.strictEqual(status, 400)
          assert.include(text, "must be some of orders, separated by commas")
        }
        assert.strictEqual((yield* ofClerk("watch=orders")).status, 200)
        const { status, text } = yield* answers(admin)("watch=nosuch")
        assert.strictEqual(status, 400)
        assert.include(text, "must be some of orders, users, separated by commas")
      }).pipe(Effect.scoped, Effect.provide(configured)))

    it.effect("names to strangers what is open to them", () =>
      Effect.gen(function*() {
        const engine = KernelEngine.make("open")
          .register(Resource.make(Order, { methods }).grant(Permission.Anonymous, { methods: ["GET"] }))
          .register(Resource.make(User, { methods }).grant(Permission.Role("admin"), { methods }))
          .enableSecurity()
        const { baseUrl } = yield* engine.test({ store: Layer.fresh(Layer.orDie(store)) })
        const answer = (query: string) =>
          Effect.map(sendTo(baseUrl, "GET", `/changes?${query}`), ({ headers, status, text }) => ({
            status,
            challenge: headers["www-authenticate"],
            text
          }))
        const denied = yield* answer("watch=users")
        assert.strictEqual(denied.status, 401)
        assert.match(String(denied.challenge), /^Bearer realm=/u)
        assert.include(denied.text, "You may watch orders only")
        assert.deepStrictEqual(yield* answer("watch=nosuch"), denied)
        assert.strictEqual((yield* answer("watch=orders")).status, 200)
      }).pipe(Effect.scoped, Effect.provide(configured)))

    it.effect("has in the audit log the collections that refuse the request, and not those that let it in", () =>
      Effect.gen(function*() {
        const lines: Array<ReadonlyArray<unknown>> = []
        const logger = Logger.make<unknown, void>(({ fiber, message }) => {
          const { outcome, registration } = fiber.getRef(References.CurrentLogAnnotations)
          if (String(message) === "audit") lines.push([outcome, registration])
        })
        const { as, request } = yield* serving.pipe(
          Effect.provide([
            Logger.layer([logger]),
            ConfigProvider.layer(ConfigProvider.fromUnknown({ appkernel: { audit: { to: "log" } } }))
          ])
        )
        for (
          const [roles, watch, refusing] of [
            [["clerk"], "orders,users", "users"],
            [["clerk"], "users,orders", "users"],
            [["guest"], "users,orders", "orders"],
            [["other"], "orders,users", "orders"],
            [["clerk"], "orders,nosuch", "users"],
            [["other"], "nosuch,users", "users"],
            [["clerk"], "orders", undefined],
            [["admin"], "orders,users", undefined]
          ] as const
        ) {
          lines.length = 0
          const { status } = yield* request("GET", `/changes?watch=${watch}`, undefined, yield* as(...roles))
          assert.strictEqual(status, refusing === undefined ? 200 : 403)
          assert.deepStrictEqual(lines, refusing === undefined ? [] : [["denied", refusing]], `${roles[0]} ${watch}`)
        }
      }).pipe(Effect.scoped, Effect.provide(configured)))

    it.effect("has what the caller may see of each, for as long as they may see all of them", () =>
      Effect.gen(function*() {
        const { as, isAdmitted, opened, order, owner, request, user, write } = yield* serving
        yield* order("o1", { cost: 4711 })
        yield* order("o2", { owner: "bob", cost: 4712 })
        yield* user("u1")
        const anonymous = yield* request("GET", "/changes?watch=orders", undefined, {})
        assert.strictEqual(anonymous.status, 401)
        for (const role of ["clerk", "guest", "other"]) {
          const { status, text } = yield* request("GET", "/changes?watch=orders,users", undefined, yield* as(role))
          assert.strictEqual(status, 403)
          assert.notMatch(text, /o1|u1/u)
        }
        const both = yield* as("clerk", "guest")
        const stream = yield* opened("watch=orders,users", both)
        assert.deepStrictEqual(yield* next(stream), [
          "snapshot-start",
          ["insert", "orders", "o1", "open"],
          ["insert", "users", "u1", "open"],
          "snapshot-end"
        ])
        yield* write("PATCH", "/orders/o2", { state: "paid" })
        yield* write("PATCH", "/orders/o1", { cost: 4713 })
        yield* write("DELETE", "/orders/o2")
        yield* user("u2")
        assert.deepStrictEqual(yield* next(stream), [["insert", "users", "u2", "open"]])
        assert.notMatch(stream.seen.bytes, /o2|bob|cost|\b471\d\b/u)

        // Other rows of one of them: the stream says so, and the next has all lists anew.
        yield* Ref.set(owner, "bob")
        yield* order("o3", { owner: "bob" })
        yield* pass(9)
        assert.strictEqual(yield* endForClient(stream), "reset")
        // Also if the rows are those of before again until then.
        yield* Ref.set(owner, "ann")
        const last = /^id: (.+)$/gmu.exec(stream.seen.bytes.slice(stream.seen.bytes.lastIndexOf("id: ")))![1]!
        const anew = yield* opened("watch=orders,users", { ...both, "last-event-id": last })
        assert.deepStrictEqual(yield* next(anew), [
          "snapshot-start",
          ["insert", "orders", "o1", "open"],
          ["insert", "users", "u1", "open"],
          ["insert", "users", "u2", "open"],
          "snapshot-end"
        ])

        // The right to one of them ends, and with it the stream.
        yield* Ref.set(isAdmitted, false)
        yield* pass(9)
        yield* order("later")
        assert.strictEqual(yield* endForClient(anew), 403)
        assert.notInclude(anew.seen.bytes, "later")
      }).pipe(Effect.scoped, Effect.provide(configured)))

    it.effect("counts as one stream, shares its work, and is in the OpenAPI document", () =>
      Effect.gen(function*() {
        const { engine, opened, order, request } = yield* serving
        const streams = yield* Effect.forEach([1, 2, 3], () => opened("watch=orders,users&offset=now"), {
          concurrency: 3
        })
        yield* order("o1")
        for (const stream of streams) assert.deepStrictEqual(yield* next(stream), [["insert", "orders", "o1", "open"]])
        assert.strictEqual((yield* request("GET", "/changes?watch=orders&live=sse&offset=now")).status, 429)
        const document = OpenApi.make(engine, { title: "Watched", version: "1" })
        const { parameters } = document.paths["/changes"]!["get"]!
        assert.deepInclude(parameters, {
          name: "watch",
          in: "query",
          required: true,
          description: "The collections to follow, separated by commas",
          style: "form",
          explode: false,
          schema: { type: "array", items: { type: "string", enum: ["orders", "users"] }, minItems: 1 }
        })
      }).pipe(
        Effect.scoped,
        Effect.provide(Layer.merge(
          configured,
          ConfigProvider.layer(ConfigProvider.fromUnknown({ appkernel: { live: { max_streams_per_caller: 3 } } }))
        ))
      ))

    it.effect("gives way to an operation or a collection at its path", () =>
      Effect.gen(function*() {
        const engine = KernelEngine.make("taken")
          .register(Order)
          .register(
            Service.make("Own").operation(
              "told",
              { method: "GET", path: "/changes", success: Schema.String },
              () => Effect.succeed("mine")
            )
          )
        const { baseUrl } = yield* engine.test({ store: Layer.fresh(Layer.orDie(store)) })
        const answer = yield* Effect.promise(() => fetch(`${baseUrl}/changes`).then((response) => response.text()))
        assert.include(answer, "mine")
      }).pipe(Effect.scoped))
  })
)
