import { assert, describe, it } from "@effect/vitest"
import { CloudEvent, HTTP } from "cloudevents"
import { Cause, Effect, Layer, Metric, Redacted, Schema, type Scope, Tracer } from "effect"
import { TestClock } from "effect/testing"
import { Webhook } from "standardwebhooks"
import {
  Accounts,
  Authenticated,
  Converter,
  DocumentStore,
  EmbeddedStore,
  Index,
  KernelEngine,
  Model,
  MongoStore,
  Repository,
  type RepositoryError,
  Resource,
  Role,
  Validator,
  Webhooks
} from "../../src/index.ts"
import { freshDatabase, onMongo } from "../support/mongo.ts"
import { type Received, receiver } from "../support/receiver.ts"

class Order extends Model.Class<Order>()("Order", {
  id: Model.id({ prefix: "O" }),
  buyer: Schema.String,
  total: Schema.Int,
  margin: Schema.Int.pipe(Model.withDefault(() => 7)),
  note: Schema.String.pipe(Model.optional, Model.omitted)
}, { logged: true }) {}

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  email: Schema.String.pipe(Model.indexed(Index.unique)),
  password: Schema.String.pipe(
    Validator.min(8),
    Model.converted(Converter.contentHasher({ rounds: 1_000 })),
    Model.omitted
  ),
  roles: Schema.Array(Schema.String).pipe(Model.withDefault(() => []))
}) {}

const Orders = Resource.make(Order, { methods: ["GET", "POST", "PATCH", "DELETE"] })
  .grant(Role("buyer"), { rows: (me) => ($) => $.buyer.equals(me.subject), hide: ["margin"] })
  .require(Role("staff"))

const Subscriptions = Resource.make(Webhooks.Subscription, { methods: ["GET", "POST", "PATCH", "DELETE"] })
  .grant(Authenticated, { rows: (me) => ($) => $.owner.equals(me.subject) })
  .action("rotate", { method: "POST", success: Schema.String, require: Authenticated }, ({ id }) => Webhooks.rotate(id))

const Deliveries = Resource.make(Webhooks.Delivery, { methods: ["GET"] })
  .grant(Authenticated, { methods: ["GET"], rows: (me) => ($) => $.owner.equals(me.subject) })
  .action(
    "send_again",
    { method: "POST", success: Schema.Boolean, require: Authenticated },
    ({ id }) => Webhooks.sendAgain(id)
  )

const local = { networks: ["127.0.0.0/8"], insecure: true }

const events = { "order.created": Orders, "order.updated": Orders, "order.deleted": Orders }

const shopOf = (options: Webhooks.Options = {}) =>
  KernelEngine.make("shop")
    .register(Orders, { urlBase: "/api" })
    .register(Resource.make(User, { methods: ["PATCH", "DELETE"] }).require(Role("staff")))
    .register(Subscriptions, { segment: "subscriptions", name: "subscriptions" })
    .register(Deliveries, { segment: "deliveries", name: "deliveries" })
    .enableSecurity()
    .enableWebhooks(events, { ...local, ...options })

/** The shop at this moment of this machine, by which others verify signatures, with some users. */
const opened = Effect.fnUntraced(function*(
  options: Webhooks.Options = {},
  layer: Layer.Layer<DocumentStore.DocumentStore, RepositoryError.StoreUnavailable> = EmbeddedStore.layerMemory
) {
  yield* TestClock.setTime(Date.now())
  const store = Accounts.fromModel(User, { login: "email", secret: "password" }).pipe(Layer.provideMerge(layer))
  const test = yield* shopOf(options).test({ store })
  const userOf = Effect.fnUntraced(function*(id: string, roles: ReadonlyArray<string>) {
    yield* test.repositories.users.insert(
      yield* Model.finalise(User, { id, email: `${id}@example.org`, password: "12345678", roles })
    )
    return yield* test.as({ subject: id, roles })
  })
  const inStore = Effect.provideService(DocumentStore.DocumentStore, test.store)
  return { ...test, userOf, inStore, staff: yield* userOf("staff", ["staff"]) }
})

const types = ["order.created", "order.updated", "order.deleted"]

/** What a receiver of the secret makes of a message, by the packages for it. */
const readBy = (secret: string, { body, headers }: Received) => {
  const verified = new Webhook(secret).verify(body, {
    "webhook-id": String(headers["webhook-id"]),
    "webhook-timestamp": String(headers["webhook-timestamp"]),
    "webhook-signature": String(headers["webhook-signature"])
  })
  const [event] = [HTTP.toEvent<Readonly<Record<string, unknown>>>({ headers, body })].flat()
  assert.isTrue(new CloudEvent({ ...event }).validate())
  const { data, id, source, subject, type } = event!
  assert.strictEqual(id, headers["webhook-id"])
  assert.deepStrictEqual(Object(verified).data, data)
  return { type, source, subject, data }
}

const told = ({ body }: Received) => {
  const { data, subject, type } = JSON.parse(body)
  return [type, subject, data.total]
}

const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`

describe("Webhooks", () => {
  const tellsWhatIsCommitted = (layer: Layer.Layer<DocumentStore.DocumentStore, RepositoryError.StoreUnavailable>) =>
    Effect.gen(function*() {
      const { idle, staff, userOf } = yield* opened({}, layer)
      const [of, ofStaff] = [yield* receiver(), yield* receiver()]
      const ann = yield* userOf("ann", ["buyer"])
      yield* ann.subscriptions.create({ payload: { url: of.url, types, secret } })
      yield* staff.subscriptions.create({ payload: { url: ofStaff.url, types: ["order.created"], secret } })
      const { result: mine } = yield* staff.orders.create({ payload: { buyer: "ann", total: 1 } })
      const { result: other } = yield* staff.orders.create({ payload: { buyer: "bob", total: 2 } })
      yield* idle
      const [message] = of.received
      assert.isDefined(message)
      assert.strictEqual(message.headers["content-type"], "application/cloudevents+json")
      const { data, ...event } = readBy(secret, message)
      assert.deepStrictEqual(event, { type: "order.created", source: "/api/orders", subject: mine })
      assert.strictEqual(data?.["total"], 1)
      assert.notProperty(data, "margin")
      assert.lengthOf(of.received, 1)
      assert.sameDeepMembers(ofStaff.received.map(told), [["order.created", mine, 1], ["order.created", other, 2]])
      assert.strictEqual(readBy(secret, ofStaff.received[0]!).data?.["margin"], 7)
      const { _items } = yield* ann.deliveries.list()
      assert.deepStrictEqual(
        _items.map(({ attempts, state, status, subject }) => ({ attempts, state, status, subject })),
        [{ attempts: 1, state: "delivered", status: 204, subject: mine }]
      )
      // Nobody sees another's, or a secret.
      assert.lengthOf((yield* staff.deliveries.list())._items, 2)
      assert.notInclude(JSON.stringify(yield* ann.subscriptions.list()), "whsec_")
      yield* staff.orders.patch({ params: { id: mine }, payload: { total: 3 } })
      yield* staff.orders.delete({ params: { id: mine } })
      yield* staff.orders.delete({ params: { id: other } })
      yield* idle
      // There is no order among deliveries, and an update of a document that is gone by then is not told.
      assert.deepInclude(of.received.map(told), ["order.deleted", mine, 3])
      assert.isFalse(of.received.some(({ body }) => body.includes("bob")))
    })

  it.effect("tell what is committed, signed, as CloudEvents, with what the subscriber may read", () =>
    tellsWhatIsCommitted(EmbeddedStore.layerMemory))

  onMongo("on a server", (_, server) => {
    it.effect("tell the same", () =>
      Effect.flatMap(
        freshDatabase(server),
        (db) => tellsWhatIsCommitted(MongoStore.layerWith({ host: server.url, db }))
      ))
  })

  it.effect("tell nothing that is rolled back", () =>
    Effect.gen(function*() {
      const { idle, inStore, repositories, staff } = yield* opened()
      const { received, url } = yield* receiver()
      yield* staff.subscriptions.create({ payload: { url, types } })
      const order = yield* Model.finalise(Order, { buyer: "ann", total: 1 })
      yield* inStore(Effect.flip(
        Repository.transaction(Effect.andThen(repositories.orders.insert(order), Effect.fail("no")))
      ))
      yield* inStore(Repository.transaction(repositories.orders.insert(order)))
      yield* idle
      assert.deepStrictEqual(received.map(told), [["order.created", order.id, 1]])
    }))

  it.effect("are tried again with growing delays, and then have failed, until they are sent again", () =>
    Effect.gen(function*() {
      const { idle, staff } = yield* opened({ delays: ["5 seconds", "1 hour"] })
      let status = 500
      const { received, url } = yield* receiver((response) => {
        response.writeHead(status).end("no")
      })
      yield* staff.subscriptions.create({ payload: { url, types, secret } })
      yield* staff.orders.create({ payload: { buyer: "ann", total: 1 } })
      const stateAfter = (time: "0 seconds" | "4 seconds" | "1 second" | "1 hour") =>
        Effect.gen(function*() {
          yield* TestClock.adjust(time)
          yield* idle
          const { _items: [delivery] } = yield* staff.deliveries.list()
          return [received.length, delivery?.state, delivery?.status]
        })
      assert.deepStrictEqual(yield* stateAfter("0 seconds"), [1, "retrying", 500])
      assert.deepStrictEqual(yield* stateAfter("4 seconds"), [1, "retrying", 500])
      assert.deepStrictEqual(yield* stateAfter("1 second"), [2, "retrying", 500])
      assert.deepStrictEqual(yield* stateAfter("1 hour"), [3, "failed", 500])
      const { _items: [subscription] } = yield* staff.subscriptions.list()
      assert.deepInclude(subscription, { enabled: true, failures: 3 })
      status = 200
      const { _items: [delivery] } = yield* staff.deliveries.list()
      yield* staff.deliveries.send_again({ params: { id: delivery!.id } })
      // After the pause of the receiver.
      assert.deepStrictEqual(yield* stateAfter("1 hour"), [4, "delivered", 200])
      assert.strictEqual(new Set(received.map(({ headers }) => headers["webhook-id"])).size, 1)
      const { _items: [after] } = yield* staff.subscriptions.list()
      assert.deepInclude(after, { enabled: true, failures: 0 })
    }))

  it.effect("end for a receiver that is gone, and for one that always fails, until they are enabled again", () =>
    Effect.gen(function*() {
      const { idle, staff } = yield* opened({ maxFailures: 2 })
      const statuses: { [id: string]: number } = {}
      const make = Effect.fnUntraced(function*(status: number) {
        const of = yield* receiver((response) => {
          response.writeHead(statuses[id] ?? status).end()
        })
        const { result: id } = yield* staff.subscriptions.create({ payload: { url: of.url, types, secret } })
        const state = Effect.map(
          staff.subscriptions.get({ params: { id } }),
          ({ enabled, failures, reason }) => ({ enabled, failures, reason })
        )
        return { ...of, id, state }
      })
      const gone = yield* make(410)
      const failing = yield* make(503)
      yield* staff.orders.create({ payload: { buyer: "ann", total: 1 } })
      yield* idle
      assert.deepInclude(yield* gone.state, { enabled: false })
      assert.include((yield* gone.state).reason, "410")
      assert.deepInclude(yield* failing.state, { enabled: true, failures: 1 })
      yield* TestClock.adjust("5 seconds")
      yield* idle
      assert.deepInclude(yield* failing.state, { enabled: false, failures: 2 })
      yield* staff.orders.create({ payload: { buyer: "ann", total: 2 } })
      yield* TestClock.adjust("3 days")
      yield* idle
      assert.deepStrictEqual([gone.received.length, failing.received.length], [1, 2])
      statuses[failing.id] = 200
      yield* staff.subscriptions.patch({ params: { id: failing.id }, payload: { enabled: true } })
      const { result: last } = yield* staff.orders.create({ payload: { buyer: "ann", total: 3 } })
      yield* idle
      assert.deepStrictEqual(failing.received.slice(2).map(told), [["order.created", last, 3]])
      assert.deepStrictEqual(yield* failing.state, { enabled: true, failures: 0, reason: undefined })
    }))

  it.effect("are signed with the secret of before as well for a day", () =>
    Effect.gen(function*() {
      const { idle, staff } = yield* opened()
      const { received, url } = yield* receiver()
      const { result: id } = yield* staff.subscriptions.create({ payload: { url, types, secret } })
      const { result: next } = yield* staff.subscriptions.rotate({ params: { id } })
      assert.notStrictEqual(next, secret)
      yield* staff.orders.create({ payload: { buyer: "ann", total: 1 } })
      yield* idle
      readBy(secret, received[0]!)
      readBy(next, received[0]!)
      yield* TestClock.adjust("25 hours")
      yield* staff.orders.create({ payload: { buyer: "ann", total: 2 } })
      yield* idle
      const signatures = String(received[1]!.headers["webhook-signature"])
      assert.lengthOf(signatures.split(" "), 1)
      const { body, headers } = received[1]!
      const time = new Date(Number(headers["webhook-timestamp"]) * 1_000)
      const signed = (secret: string) => new Webhook(secret).sign(String(headers["webhook-id"]), time, body)
      assert.deepStrictEqual([signatures === signed(next), signatures === signed(secret)], [true, false])
      assert.strictEqual(
        (yield* Effect.flip(staff.subscriptions.rotate({ params: { id: "WS-none" } })))._tag,
        "NotFound"
      )
    }))

  it.effect("tell nothing that the subscriber may not read at the time of the delivery", () =>
    Effect.gen(function*() {
      const { idle, repositories, staff, userOf } = yield* opened()
      let isDown = true
      const { received, url } = yield* receiver((response) => {
        response.writeHead(isDown ? 503 : 200).end()
      })
      const ann = yield* userOf("ann", ["buyer"])
      yield* ann.subscriptions.create({ payload: { url, types, secret } })
      const order = (total: number) => staff.orders.create({ payload: { buyer: "ann", total } })
      const { result: first } = yield* order(1)
      yield* idle
      assert.strictEqual((yield* ann.deliveries.list())._items[0]?.state, "retrying")
      const { result: second } = yield* order(2)
      yield* staff.orders.delete({ params: { id: first } })
      isDown = false
      yield* TestClock.adjust("1 minute")
      yield* idle
      // The first is gone, and its deletion is told.
      assert.sameDeepMembers(received.slice(1).map(told), [["order.created", second, 2], ["order.deleted", first, 1]])
      assert.sameMembers((yield* ann.deliveries.list())._items.map(({ event_type: type }) => type), [
        "order.created",
        "order.deleted"
      ])
      yield* repositories.users.patch("ann", { roles: [] })
      yield* order(3)
      yield* staff.orders.delete({ params: { id: second } })
      yield* idle
      yield* repositories.users.patch("ann", { roles: ["buyer"] })
      const { result: fourth } = yield* order(4)
      yield* idle
      assert.deepStrictEqual(received.slice(3).map(told), [["order.created", fourth, 4]])
      yield* staff.users.delete({ params: { id: "ann" } })
      yield* order(5)
      yield* idle
      assert.lengthOf(received, 4)
    }))

  it.effect("for a receiver that does not answer don't delay those for others", () =>
    Effect.gen(function*() {
      const { idle, repositories, staff } = yield* opened()
      const held: Array<() => void> = []
      const dead = yield* receiver((response) => {
        held.push(() => response.destroy())
      })
      let reached: () => void = () => {}
      const all = new Promise<void>((resolve) => {
        reached = resolve
      })
      const count = 1_000
      const healthy = yield* receiver((response) => {
        response.writeHead(204).end()
        if (healthy.received.length === count) reached()
      })
      for (const { url } of [dead, healthy]) yield* staff.subscriptions.create({ payload: { url, types, secret } })
      yield* Effect.forEach(Array.from({ length: 50 }), () =>
        Effect.forEach(Array.from({ length: count / 50 }), () =>
          Effect.flatMap(Model.finalise(Order, { buyer: "ann", total: 1 }), (order) =>
            repositories.orders.insert(order))), { concurrency: 50, discard: true })
      const ended = Effect.promise(() =>
        all
      )
      // What is put off comes again by the clock, which never lets the dead one's time end.
      yield* Effect.raceFirst(
        ended,
        Effect.forever(Effect.andThen(
          TestClock.adjust("100 millis"),
          Effect.promise(() =>
            new Promise(setImmediate)
          )
        ))
      ).pipe(Effect.ensuring(Effect.sync(() => held.forEach((end) => end()))))
      assert.strictEqual(new Set(healthy.received.map(({ headers }) => headers["webhook-id"])).size, count)
      yield* Effect.void.pipe(Effect.andThen(idle), Effect.asVoid)
    }), 120_000)

  it.effect("go on in the trace of the request that has caused them, and are counted", () =>
    Effect.gen(function*() {
      const { baseUrl, idle, staff, token } = yield* opened()
      const { received, url } = yield* receiver()
      yield* staff.subscriptions.create({ payload: { url, types, secret } })
      const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
      const authorization = `Bearer ${Redacted.value(yield* token({ subject: "staff", roles: ["staff"] }))}`
      yield* Effect.promise(() =>
        fetch(`${baseUrl}/api/orders`, {
          method: "POST",
          headers: { authorization, traceparent, "content-type": "application/json" },
          body: JSON.stringify({ buyer: "ann", total: 1 })
        })
      )
      yield* idle
      assert.match(String(received[0]?.headers["traceparent"]), /^00-0af7651916cd43dd8448eb211c80319c-/u)
      const metrics = yield* Metric.snapshot
      const counted = metrics.find(({ id }) => id === "appkernel.webhooks.attempts")
      assert.deepInclude(counted?.attributes, { type: "order.created", outcome: "delivered" })
    }).pipe(
      Effect.provideService(Tracer.Tracer, Tracer.make({ span: (options) => new Tracer.NativeSpan(options) })),
      Effect.provideService(Metric.MetricRegistry, new Map())
    ))

  it.effect("go to addresses of HTTP alone, which have no credentials and no port 0", () =>
    Effect.gen(function*() {
      const { baseUrl, token } = yield* opened()
      const authorization = `Bearer ${Redacted.value(yield* token({ subject: "staff", roles: ["staff"] }))}`
      const status = (url: string) =>
        Effect.promise(() =>
          fetch(`${baseUrl}/subscriptions`, {
            method: "POST",
            headers: { authorization, "content-type": "application/json" },
            body: JSON.stringify({ url, types })
          }).then((answer) => answer.status)
        )
      const urls = [
        "https://ann:secret@example.org/",
        "https://ann@example.org/",
        "https://example.org:0/",
        "ftp://example.org/",
        "javascript:alert(1)",
        "https://",
        "//example.org",
        `https://example.org/${"a".repeat(2_000)}`
      ]
      for (const url of urls) assert.strictEqual(yield* status(url), 400, url)
      assert.strictEqual(yield* status("https://bücher.example/hook?token=1"), 201)
    }))

  it.effect("need what they are told by", () =>
    Effect.gen(function*() {
      class Note extends Model.Class<Note>()("Note", { id: Model.id() }) {}
      const Notes = Resource.make(Note, { methods: ["POST"] })
      const dies = (engine: { readonly test: () => Effect.Effect<unknown, unknown, Scope.Scope> }) =>
        Effect.map(Effect.sandbox(engine.test()).pipe(Effect.flip), (cause) => Cause.pretty(cause))
      const notes = KernelEngine.make("notes")
      assert.include(yield* dies(notes.enableWebhooks({ "note.created": Notes })), "is not registered with GET")
      assert.include(
        yield* dies(notes.register(Note).enableWebhooks({ "note.created": Note })),
        "needs the option logged"
      )
      assert.include(yield* dies(shopOf()), "provide Accounts")
      const wrong = notes.register(Order).enableWebhooks({ "order.created": Order }, { networks: ["10.1.0.0"] })
      assert.include(yield* dies(wrong), "The network 10.1.0.0 is none")
    }))

  it.effect("show everything where there is no security", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.now())
      const { client, idle } = yield* KernelEngine.make("open")
        .register(Order, { methods: ["GET", "POST"] })
        .register(Webhooks.Subscription, { methods: ["GET", "POST"], segment: "subscriptions", name: "subscriptions" })
        .enableWebhooks({ "order.created": Order }, { ...local, source: "https://shop.example.org" })
        .test()
      const { received, url } = yield* receiver()
      yield* client.subscriptions.create({ payload: { url, types: ["order.created"], secret } })
      yield* client.orders.create({ payload: { buyer: "ann", total: 1 } })
      yield* idle
      const { data, source } = readBy(secret, received[0]!)
      assert.deepStrictEqual([source, data?.["margin"]], ["https://shop.example.org/orders", 7])
    }))

  it.effect("have failed while their subscription is disabled, and are sent again after that", () =>
    Effect.gen(function*() {
      const { idle, staff } = yield* opened()
      let status = 503
      const { received, url } = yield* receiver((response) => {
        response.writeHead(status).end()
      })
      const { result: id } = yield* staff.subscriptions.create({ payload: { url, types, secret } })
      yield* staff.orders.create({ payload: { buyer: "ann", total: 1 } })
      yield* idle
      yield* staff.subscriptions.patch({ params: { id }, payload: { enabled: false } })
      status = 204
      yield* TestClock.adjust("1 hour")
      yield* idle
      const { _items: [failed] } = yield* staff.deliveries.list()
      assert.deepInclude(failed, { state: "failed", failure: "the subscription is disabled" })
      yield* staff.subscriptions.patch({ params: { id }, payload: { enabled: true } })
      yield* staff.deliveries.send_again({ params: { id: failed!.id } })
      yield* idle
      assert.strictEqual((yield* staff.deliveries.list())._items[0]?.state, "delivered")
      assert.lengthOf(received, 2)
    }))

  it.effect("of several services with one store are each told by the service that has them", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.now())
      const store = yield* Layer.build(EmbeddedStore.layerMemory)
      class Note extends Model.Class<Note>()("Note", { id: Model.id(), text: Schema.String }, { logged: true }) {}
      const methods = ["GET", "POST"] as const
      const serve = { store: Layer.succeedContext(store) }
      const first = yield* KernelEngine.make("orders").register(Order, { methods })
        .register(Webhooks.Subscription, { methods, segment: "subscriptions", name: "subscriptions" })
        .enableWebhooks({ "order.created": Order }, local).test(serve)
      const second = yield* KernelEngine.make("notes").register(Note, { methods })
        .enableWebhooks({ "note.created": Note }, local).test(serve)
      const { received, url } = yield* receiver()
      const both = ["order.created", "note.created"]
      yield* first.client.subscriptions.create({ payload: { url, types: both, secret } })
      yield* first.client.orders.create({ payload: { buyer: "ann", total: 1 } })
      yield* second.client.notes.create({ payload: { text: "a" } })
      while (received.length < 2) {
        yield* TestClock.adjust("10 seconds")
        yield* Effect.promise(() => new Promise(setImmediate))
      }
      assert.sameMembers(received.map(({ body }) => JSON.parse(body).type), both)
    }))

  it.effect("go on after a change that can't be told", () =>
    Effect.gen(function*() {
      const { idle, staff, store } = yield* opened()
      const { received, url } = yield* receiver()
      yield* staff.subscriptions.create({ payload: { url, types, secret } })
      yield* store.insertOne("Order", { _id: 7, buyer: "ann" })
      yield* store.insertOne("Order", { _id: "O-wrong", buyer: 7 })
      yield* store.deleteMany("Order", {})
      const { result: id } = yield* staff.orders.create({ payload: { buyer: "ann", total: 1 } })
      yield* idle
      assert.deepInclude(received.map(told), ["order.created", id, 1])
      assert.isFalse(received.some(({ body }) => body.includes("O-wrong")))
    }))

  it.effect("tell no update of what the subscriber does not see", () =>
    Effect.gen(function*() {
      const { idle, staff, userOf } = yield* opened()
      const [of, ofStaff] = [yield* receiver(), yield* receiver()]
      const ann = yield* userOf("ann", ["buyer"])
      yield* ann.subscriptions.create({ payload: { url: of.url, types: ["order.updated"], secret } })
      yield* staff.subscriptions.create({ payload: { url: ofStaff.url, types: ["order.updated"], secret } })
      const { result: id } = yield* staff.orders.create({ payload: { buyer: "ann", total: 1 } })
      const params = { id }
      yield* staff.orders.patch({ params, payload: { margin: 1 } })
      yield* idle
      yield* staff.orders.patch({ params, payload: { total: 2, margin: 2 } })
      // Nobody sees a field that the model omits, and this is no change of others.
      yield* staff.orders.patch({ params, payload: { note: "mine" } })
      yield* staff.orders.patch({ params, payload: { total: 2 } })
      yield* idle
      assert.deepStrictEqual(of.received.map(told), [["order.updated", id, 2]])
      assert.deepStrictEqual(ofStaff.received.map(told), [["order.updated", id, 1], ["order.updated", id, 2]])
    }))
})
