import { assert, describe, it } from "@effect/vitest"
import { CloudEvent, HTTP } from "cloudevents"
import {
  Cause,
  Context,
  Effect,
  Fiber,
  Layer,
  Logger,
  Metric,
  Redacted,
  Schema,
  type Scope,
  Stream,
  Tracer
} from "effect"
import { TestClock } from "effect/testing"
import { Webhook } from "standardwebhooks"
import {
  Accounts,
  Anonymous,
  Authenticated,
  Converter,
  DocumentStore,
  EmbeddedStore,
  Index,
  KernelEngine,
  Model,
  MongoStore,
  Permission,
  Repository,
  type RepositoryError,
  Resource,
  Role,
  ServiceError,
  Validator,
  Webhooks
} from "../../src/index.ts"
import { freshDatabase, onMongo } from "../support/mongo.ts"
import { type Received, receiver } from "../support/receiver.ts"

class Address extends Model.Class<Address>()("Address", {
  city: Schema.String,
  zip: Schema.String,
  door: Schema.String.pipe(Model.optional, Model.omitted)
}) {}

class Order extends Model.Class<Order>()("Order", {
  id: Model.id({ prefix: "O" }),
  buyer: Schema.String,
  total: Schema.Int,
  margin: Schema.Int.pipe(Model.withDefault(() => 7)),
  address: Address.pipe(Model.optional),
  parcels: Schema.Array(Address).pipe(Model.optional),
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
  .grant(Role("buyer"), {
    rows: (me) => ($) => $.buyer.equals(me.subject),
    hide: ["margin", "address.zip", "parcels.zip"]
  })
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
      statuses[gone.id] = 200
      yield* staff.subscriptions.patch({ params: { id: gone.id }, payload: { enabled: true } })
      yield* staff.orders.create({ payload: { buyer: "ann", total: 4 } })
      yield* idle
      assert.deepStrictEqual(yield* gone.state, { enabled: true, failures: 0, reason: undefined })
    }))

  it.effect("don't end a subscription whose receiver of before answers that it is gone", () =>
    Effect.gen(function*() {
      const { idle, inStore, staff } = yield* opened()
      const next = yield* receiver()
      let move: Effect.Effect<unknown, unknown> = Effect.void
      const run = Effect.runPromiseWith(yield* Effect.context<never>())
      const { url } = yield* receiver((response) => {
        void run(move).then(() => response.writeHead(410).end())
      })
      const { result: id } = yield* staff.subscriptions.create({ payload: { url, types, secret } })
      const { modelName } = Webhooks.Subscription
      move = inStore(Effect.flatMap(DocumentStore.DocumentStore, (store) =>
        store.updateOne(modelName, { _id: id }, { $set: { url: next.url } })))
      yield* staff.orders.create({ payload: { buyer: "ann", total: 1 } })
      yield* idle
      const { enabled, reason } = yield* staff.subscriptions.get({ params: { id } })
      assert.deepStrictEqual([enabled, reason], [true, undefined])
      const { result: told } = yield* staff.orders.create({ payload: { buyer: "ann", total: 2 } })
      yield* idle
      assert.deepStrictEqual(
        next.received.map(({ body }) =>
          JSON.parse(body).subject
        ),
        [told]
      )
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
      isDown = false
      const { result: second } = yield* order(2)
      yield* staff.orders.delete({ params: { id: first } })
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
      const { idle, repositories, staff } = yield* opened({ timeout: "1 hour" })
      const held: Array<() => void> = []
      let cut = 0
      const dead = yield* receiver((response) => {
        held.push(() => response.destroy())
        response.on("close", () => cut++)
      })
      let reached: () => void = () => {}
      const all = new Promise<void>((resolve) => {
        reached = resolve
      })
      const count = 300
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
      // What is put off comes again by the clock. The dead one's time has not ended when all have come.
      yield* Effect.raceFirst(
        ended,
        Effect.forever(Effect.andThen(
          TestClock.adjust("100 millis"),
          Effect.promise(() =>
            new Promise(setImmediate)
          )
        ))
      ).pipe(
        Effect.andThen(Effect.sync(() => assert.deepStrictEqual([held.length, cut], [4, 0]))),
        Effect.ensuring(Effect.sync(() => held.forEach((end) => end())))
      )
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

  it.effect("of two versions of a service that run at once are told by those that have them", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.now())
      const store = yield* Layer.build(EmbeddedStore.layerMemory)
      const own = Context.get(store, DocumentStore.DocumentStore)
      const methods = ["GET", "POST"] as const
      const serve = { store: Layer.succeedContext(store) }
      const earlier = KernelEngine.make("shop").register(Order, { methods })
        .register(Webhooks.Subscription, { methods, segment: "subscriptions", name: "subscriptions" })
        .enableWebhooks({ "order.created": Order }, local)
      const { received, url } = yield* receiver()
      const types = ["order.created", "note.created", "order.deleted"]
      const written = { buyer: "ann", total: 1, margin: 1 }
      yield* Effect.scoped(Effect.gen(function*() {
        const { client } = yield* earlier.test(serve)
        yield* client.subscriptions.create({ payload: { url, types, secret } })
      }))
      // Not told yet when a version begins that logs one more model.
      yield* own.insertOne("Order", { _id: "O-between", ...written })
      class Note extends Model.Class<Note>()("Note", { id: Model.id(), text: Schema.String }, { logged: true }) {}
      const later = yield* KernelEngine.make("shop").register(Order, { methods }).register(Note, { methods })
        .enableWebhooks({ "order.created": Order, "order.deleted": Order, "note.created": Note }, local).test(serve)
      yield* earlier.test(serve)
      const expected = ["order.created O-between"]
      for (let i = 0; i < 20; i++) {
        yield* own.insertOne("Order", { _id: `O-${i}`, ...written })
        yield* own.insertOne("Note", { _id: `N-${i}`, text: "a" })
        yield* own.deleteOne("Order", { _id: `O-${i}` })
        expected.push(`order.deleted O-${i}`, `note.created N-${i}`)
      }
      yield* own.insertOne("Order", { _id: "O-last", ...written })
      expected.push("order.created O-last")
      const ofRead = () => received.map(({ body }) => `${JSON.parse(body).type} ${JSON.parse(body).subject}`).toSorted()
      while (received.length < expected.length) {
        yield* TestClock.adjust("10 seconds")
        yield* later.idle
        yield* Effect.promise(() => new Promise(setImmediate))
      }
      assert.deepStrictEqual(ofRead(), expected.toSorted())
    }))

  it.effect("go on from the one place that earlier versions had for all types", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.now())
      const store = yield* Layer.build(EmbeddedStore.layerMemory)
      const own = Context.get(store, DocumentStore.DocumentStore)
      const methods = ["GET", "POST"] as const
      const shop = KernelEngine.make("shop").register(Order, { methods })
        .register(Webhooks.Subscription, { methods, segment: "subscriptions", name: "subscriptions" })
        .enableWebhooks({ "order.created": Order, "order.deleted": Order }, local)
      const serve = { store: Layer.succeedContext(store) }
      const { received, url } = yield* receiver()
      yield* Effect.scoped(Effect.gen(function*() {
        const { client } = yield* shop.test(serve)
        yield* client.subscriptions.create({ payload: { url, types: ["order.created", "order.deleted"], secret } })
      }))
      const [place] = yield* own.find("appkernel_webhooks", {})
      yield* own.deleteMany("appkernel_webhooks", {})
      yield* own.insertOne("appkernel_webhooks", { ...place, _id: "told shop" })
      yield* own.insertOne("Order", { _id: "O-between", buyer: "ann", total: 1, margin: 1 })
      yield* own.deleteOne("Order", { _id: "O-between" })
      const { idle } = yield* shop.test(serve)
      yield* idle
      assert.deepStrictEqual(received.map(({ body }) => JSON.parse(body).type), ["order.deleted"])
      const ids = (yield* own.find("appkernel_webhooks", {})).map(({ _id }) => _id)
      assert.sameMembers(ids, ["told shop order.created", "told shop order.deleted"])
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

  it.effect("have no roles besides those of the credentials that the subscription was made with", () =>
    Effect.gen(function*() {
      const { as, idle, repositories, staff, userOf } = yield* opened()
      yield* userOf("bob", ["staff", "buyer"])
      const [none, buyer] = [yield* receiver(), yield* receiver()]
      for (const [of, roles] of [[none, []], [buyer, ["buyer"]]] as const) {
        const narrowed = yield* as({ subject: "bob", roles })
        yield* narrowed.subscriptions.create({ payload: { url: of.url, types, secret } })
        assert.notInclude(JSON.stringify(yield* narrowed.subscriptions.list()), "roles")
      }
      yield* staff.orders.create({ payload: { buyer: "zoe", total: 1 } })
      const { result: id } = yield* staff.orders.create({ payload: { buyer: "bob", total: 2 } })
      yield* idle
      assert.deepStrictEqual([none.received.length, buyer.received.map(told)], [0, [["order.created", id, 2]]])
      assert.notProperty(JSON.parse(buyer.received[0]!.body).data, "margin")
      // And none that the account has no more.
      yield* repositories.users.patch("bob", { roles: ["staff"] })
      yield* staff.orders.create({ payload: { buyer: "bob", total: 3 } })
      yield* idle
      assert.deepStrictEqual([none.received.length, buyer.received.length], [0, 1])
    }))

  it.effect("count the roles that those of the account and of the credentials include", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.now())
      const store = Accounts.fromModel(User, { login: "email", secret: "password" }).pipe(
        Layer.provideMerge(EmbeddedStore.layerMemory)
      )
      const { as, idle, repositories } = yield* KernelEngine.make("shop")
        .register(Orders, { urlBase: "/api" })
        .register(Resource.make(User, { methods: ["PATCH"] }).require(Role("staff")))
        .register(Subscriptions, { segment: "subscriptions", name: "subscriptions" })
        .enableSecurity({ roles: { admin: ["chief"], chief: ["staff", "buyer"] } })
        .enableWebhooks(events, local)
        .test({ store })
      /** The margin of an order that is told, by the roles of the account and of the credentials. */
      const marginOf = Effect.fnUntraced(function*(account: ReadonlyArray<string>, credentials: ReadonlyArray<string>) {
        const id = `U-${account.join()}-${credentials.join()}`
        yield* repositories.users.insert(
          yield* Model.finalise(User, { id, email: `${id}@example.org`, password: "12345678", roles: account })
        )
        const { received, url } = yield* receiver()
        const one = yield* as({ subject: id, roles: credentials })
        yield* one.subscriptions.create({ payload: { url, types, secret } })
        yield* repositories.orders.insert(yield* Model.finalise(Order, { buyer: id, total: 1 }))
        yield* idle
        return received.map(({ body }) => JSON.parse(body).data.margin ?? "hidden").join()
      })
      assert.strictEqual(yield* marginOf(["admin"], ["admin"]), "7")
      assert.strictEqual(yield* marginOf(["admin"], ["staff"]), "7")
      assert.strictEqual(yield* marginOf(["admin"], ["buyer"]), "hidden")
      assert.strictEqual(yield* marginOf(["buyer"], ["admin"]), "hidden")
      assert.strictEqual(yield* marginOf(["admin"], []), "")
      assert.strictEqual(yield* marginOf([], ["admin"]), "")
      assert.strictEqual(yield* marginOf(["staff"], ["buyer"]), "")
    }))

  it.effect("tell each subscriber what rules that read data allow that one, whoever was told before", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.now())
      class Doc extends Model.Class<Doc>()("Doc", { id: Model.id(), team: Schema.String }, { logged: true }) {}
      class Team extends Model.Class<Team>()("Team", { id: Model.id(), member: Schema.String, name: Schema.String }) {}
      const trusted = Permission.make(
        "trusted",
        {},
        ({ caller }) => Effect.map(Effect.yieldNow, () => caller.roles.includes("trusted"))
      )
      let isOpen = false
      const openNow = Permission.make("open now", { anonymous: true }, () => Effect.sync(() => isOpen))
      const teamsOf = Effect.fnUntraced(function*(subject: string) {
        const teams = yield* Repository.for(Team)
        return (yield* teams.find(($) => $.member.equals(subject))).map(({ name }) => name)
      })
      const Docs = Resource.make(Doc, { methods: ["GET", "POST"] })
        .grant(Role("member"), {
          rows: (me) => Effect.map(teamsOf(me.subject), (names) => ($) => $.team.in(names))
        })
        .grant(trusted, { methods: ["GET"] })
        .grant(openNow, { methods: ["GET"] })
        .require(Role("staff"), ["POST"])
      const Open = Resource.make(Webhooks.Subscription, { methods: ["POST"] }).require(Anonymous)
      const Trust = Resource.make(Team, { methods: ["GET"] }).require(Role("staff"))
      for (const order of [["ann", "bob", "tom", "eve"], ["eve", "tom", "bob", "ann"]]) {
        const store = Accounts.fromModel(User, { login: "email", secret: "password" }).pipe(
          Layer.provideMerge(EmbeddedStore.layerMemory)
        )
        const { as, client, idle, repositories } = yield* KernelEngine.make("docs")
          .register(Docs)
          .register(Trust)
          .register(Open, { segment: "subscriptions", name: "subscriptions" })
          .register(Resource.make(User, { methods: ["PATCH"] }).require(Role("staff")))
          .enableSecurity()
          .enableWebhooks({ "doc.created": Docs }, local)
          .test({ store })
        const people = { ann: "member", bob: "member", tom: "trusted", eve: "other" }
        for (const [id, role] of Object.entries(people)) {
          yield* repositories.users.insert(
            yield* Model.finalise(User, { id, email: `${id}@example.org`, password: "12345678", roles: [role] })
          )
        }
        yield* repositories.teams.insert(yield* Model.finalise(Team, { member: "ann", name: "red" }))
        yield* repositories.teams.insert(yield* Model.finalise(Team, { member: "bob", name: "blue" }))
        const received = new Map<string, ReadonlyArray<Received>>()
        for (const id of order) {
          const { received: own, url } = yield* receiver()
          received.set(id, own)
          const one = yield* as({ subject: id, roles: [people[id as keyof typeof people]] })
          yield* one.subscriptions.create({ payload: { url, types: ["doc.created"], secret } })
        }
        const boss = yield* as({ subject: "boss", roles: ["staff"] })
        const teamsTold = (of: ReadonlyArray<Received>): ReadonlyArray<string> =>
          of.map(({ body }) => JSON.parse(body).data.team)
        const toldOf = () =>
          Object.fromEntries(order.map((id) => [id, teamsTold(received.get(id)!).toSorted().join(" ")]))
        // One after the other, and then many at once.
        for (const team of ["red", "blue"]) {
          yield* boss.docs.create({ payload: { team } })
          yield* idle
        }
        assert.deepStrictEqual(toldOf(), { ann: "red", bob: "blue", tom: "blue red", eve: "" })
        yield* boss.docs.create({ payload: Array.from({ length: 20 }, (_, i) => ({ team: i < 10 ? "red" : "blue" })) })
        // What finds no place at first is put off.
        for (let i = 0; i < 10; i++) yield* Effect.andThen(idle, TestClock.adjust("1 second"))
        const many = (team: string) => Array(11).fill(team).join(" ")
        assert.deepStrictEqual(toldOf(), {
          ann: many("red"),
          bob: many("blue"),
          tom: `${many("blue")} ${many("red")}`,
          eve: ""
        })
        // What was true once is asked again.
        yield* repositories.teams.updateMany(($) => $.member.equals("ann"), ($) => [$.member.set("bob")])
        yield* boss.docs.create({ payload: { team: "red" } })
        yield* idle
        assert.deepStrictEqual([received.get("ann")!.length, received.get("bob")!.length], [11, 12])
        const nobody = yield* receiver()
        yield* client.subscriptions.create({ payload: { url: nobody.url, types: ["doc.created"], secret } })
        for (const open of [true, false, true]) {
          isOpen = open
          yield* boss.docs.create({ payload: { team: String(open) } })
          yield* idle
        }
        assert.deepStrictEqual(teamsTold(nobody.received), ["true", "true"])
        isOpen = false
      }
    }))

  it.effect("tell no deletion of a document outside of the owner's rows, also where all fields are shown", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.now())
      class Doc extends Model.Class<Doc>()("Doc", { id: Model.id(), team: Schema.String }, { logged: true }) {}
      const Docs = Resource.make(Doc, { methods: ["GET", "POST", "DELETE"] })
        .grant(Role("member"), { rows: () => ($) => $.team.equals("red") })
        .require(Role("staff"))
      const store = Accounts.fromModel(User, { login: "email", secret: "password" }).pipe(
        Layer.provideMerge(EmbeddedStore.layerMemory)
      )
      const { as, idle, repositories } = yield* KernelEngine.make("docs")
        .register(Docs)
        .register(Subscriptions, { segment: "subscriptions", name: "subscriptions" })
        .register(Resource.make(User, { methods: ["PATCH"] }).require(Role("staff")))
        .enableSecurity()
        .enableWebhooks({ "doc.created": Docs, "doc.deleted": Docs }, local)
        .test({ store })
      for (const [id, role] of [["ann", "member"], ["boss", "staff"]] as const) {
        yield* repositories.users.insert(
          yield* Model.finalise(User, { id, email: `${id}@example.org`, password: "12345678", roles: [role] })
        )
      }
      const { received, url } = yield* receiver()
      const ann = yield* as({ subject: "ann", roles: ["member"] })
      yield* ann.subscriptions.create({ payload: { url, types: ["doc.created", "doc.deleted"], secret } })
      const boss = yield* as({ subject: "boss", roles: ["staff"] })
      for (const team of ["red", "blue"]) {
        const { result: id } = yield* boss.docs.create({ payload: { team } })
        yield* idle
        yield* boss.docs.delete({ params: { id } })
        yield* idle
      }
      const toldOf = received.map(({ body }) => JSON.parse(body)).map(({ data, type }) => [type, data.team])
      assert.deepStrictEqual(toldOf, [["doc.created", "red"], ["doc.deleted", "red"]])
    }))

  it.effect("keep nothing of a deleted document that its model omits", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.now())
      class Card extends Model.Class<Card>()("Card", {
        id: Model.id(),
        owner: Schema.String,
        pin: Schema.String.pipe(Model.omitted),
        address: Address
      }, { logged: true }) {}
      const { client, idle, store } = yield* KernelEngine.make("cards")
        .register(Card, { methods: ["GET", "POST", "DELETE"] })
        .register(Webhooks.Subscription, { methods: ["GET", "POST"], segment: "subscriptions", name: "subscriptions" })
        .enableWebhooks({ "card.deleted": Card }, local)
        .test()
      const { received, url } = yield* receiver()
      yield* client.subscriptions.create({ payload: { url, types: ["card.deleted"], secret } })
      const address = { city: "Vienna", zip: "1010", door: "a-secret" }
      const { result: id } = yield* client.cards.create({ payload: { owner: "ann", pin: "a-secret", address } })
      yield* client.cards.delete({ params: { id } })
      yield* idle
      assert.deepInclude(JSON.parse(received[0]!.body).data, { id, owner: "ann" })
      const jobs = yield* store.find("QueuedJob", { filter: { queue: "webhook" } })
      const kept = jobs.map(({ element }) =>
        Buffer.from(JSON.parse(String(element)).payload.before, "base64").toString("latin1")
      )
      assert.lengthOf(kept, 1)
      assert.include(kept[0], "Vienna")
      assert.notInclude(kept[0], "a-secret")
    }))

  it.effect(
    "of a large deleted document are enqueued by few in a transaction, and once, however often that begins",
    () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(Date.now())
        class Scan extends Model.Class<Scan>()("Scan", { id: Model.id(), text: Schema.String }, { logged: true }) {}
        const warnings: Array<string> = []
        const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
          if (logLevel === "Warn") warnings.push(String(message))
        })
        const { client, idle, repositories, store } = yield* KernelEngine.make("scans")
          .register(Scan, { methods: ["GET", "DELETE"] })
          .register(Webhooks.Subscription, {
            methods: ["GET", "POST"],
            segment: "subscriptions",
            name: "subscriptions"
          })
          .enableWebhooks({ "scan.deleted": Scan }, local)
          .test().pipe(Effect.provide(Logger.layer([logger])))
        const { received, url } = yield* receiver()
        for (let i = 0; i < 4; i++) {
          yield* client.subscriptions.create({ payload: { url, types: ["scan.deleted"], secret } })
        }
        const deleted = (id: string, length: number) =>
          Effect.gen(function*() {
            yield* repositories.scans.insert(new Scan({ id, text: "x".repeat(length) }))
            yield* client.scans.delete({ params: { id } })
            yield* idle
          })
        const place = { _id: "told scans scan.deleted" }
        const before = yield* store.findById("appkernel_webhooks", place._id)
        yield* deleted("large", 5_000_000)
        // As after a kill before the place has moved on.
        yield* store.updateOne("appkernel_webhooks", place, { $set: { position: before!["position"] } })
        yield* deleted("small", 1)
        const subjects = received.map(({ body }) => String(JSON.parse(body).subject)).toSorted()
        const expected = ["large", "small"].flatMap((id) => [id, id, id, id])
        assert.deepStrictEqual(subjects, expected)
        yield* deleted("larger", 8_000_001)
        assert.lengthOf(received, 8)
        assert.deepStrictEqual(warnings, ["Events scan.deleted tell nobody of larger, which had more than 8 MB"])
      }),
    60_000
  )

  it.effect("are tried again as often as ever after a kill between the outcome and the end of the job", () =>
    Effect.gen(function*() {
      const { idle, staff, store } = yield* opened({ delays: ["10 minutes", "10 minutes"] })
      const { received, url } = yield* receiver((response) => {
        response.writeHead(500).end()
      })
      yield* staff.subscriptions.create({ payload: { url, types, secret } })
      yield* staff.orders.create({ payload: { buyer: "ann", total: 1 } })
      yield* idle
      yield* TestClock.adjust("31 seconds")
      // It is taken again after its lock.
      yield* store.updateMany("QueuedJob", { queue: "webhook", state: "done" }, {
        $set: { state: "waiting", due: new Date(0) },
        $unset: { ended: "" }
      })
      const { _items: [delivery] } = yield* staff.deliveries.list()
      // Something new lets the workers look.
      yield* staff.orders.patch({ params: { id: delivery!.subject }, payload: { total: 2 } })
      yield* idle
      for (let i = 0; i < 6; i++) {
        yield* TestClock.adjust("10 minutes")
        yield* idle
      }
      const first = received.filter(({ headers }) => headers["webhook-id"] === delivery!.event)
      assert.lengthOf(first, 4)
      // What is sent again has attempts of its own.
      yield* TestClock.adjust("2 hours")
      yield* staff.deliveries.send_again({ params: { id: delivery!.id } })
      for (let i = 0; i < 6; i++) {
        yield* TestClock.adjust("10 minutes")
        yield* idle
      }
      assert.lengthOf(received.filter(({ headers }) => headers["webhook-id"] === delivery!.event), 7)
    }))

  it.effect("of a document that this version of the service can't read wait for one that can", () =>
    Effect.gen(function*() {
      const { idle, staff, store } = yield* opened()
      const { received, url } = yield* receiver()
      yield* staff.subscriptions.create({ payload: { url, types: ["order.created"], secret } })
      yield* store.insertOne("Order", { _id: "O-new", buyer: "ann", total: "12.50", margin: 1 })
      yield* idle
      const deliveries = Effect.map(
        staff.deliveries.list(),
        ({ _items }) => _items.map(({ attempts, state, subject }) => [state, attempts, subject])
      )
      assert.deepStrictEqual(yield* deliveries, [["retrying", 1, ""]])
      yield* store.updateOne("Order", { _id: "O-new" }, { $set: { total: 12 } })
      yield* TestClock.adjust("5 seconds")
      yield* idle
      assert.deepStrictEqual(received.map(told), [["order.created", "O-new", 12]])
      assert.deepStrictEqual(yield* deliveries, [["delivered", 2, "O-new"]])
      assert.deepInclude((yield* staff.subscriptions.list())._items[0], { failures: 0 })
    }))

  it.effect("wait for accounts that fail for hours, which is no failure of the receiver", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.now())
      let isDown = false
      const accounts = Layer.succeed(Accounts.Accounts, {
        find: () => Effect.succeedNone,
        findBySubject: (subject) =>
          isDown
            ? Effect.die(new Error("The directory is down"))
            : Effect.succeedSome({ subject, roles: ["staff"], secret: Redacted.make("") })
      })
      const test = yield* shopOf().test({ store: Layer.merge(accounts, EmbeddedStore.layerMemory) })
      const staff = yield* test.as({ subject: "staff", roles: ["staff"] })
      const { received, url } = yield* receiver()
      yield* staff.subscriptions.create({ payload: { url, types: ["order.created"], secret } })
      isDown = true
      const { result: id } = yield* staff.orders.create({ payload: { buyer: "ann", total: 1 } })
      yield* test.idle
      for (let i = 0; i < 3; i++) {
        yield* TestClock.adjust("40 minutes")
        yield* test.idle
      }
      const [retried] = (yield* staff.deliveries.list())._items
      assert.deepInclude(retried, { state: "retrying", failure: "the service could not read the document" })
      assert.deepInclude((yield* staff.subscriptions.list())._items[0], { enabled: true, failures: 0 })
      isDown = false
      yield* TestClock.adjust("1 day")
      yield* test.idle
      assert.deepStrictEqual(received.map(told), [["order.created", id, 1]])
    }))

  it.effect("tell no update of a part that the subscriber does not see", () =>
    Effect.gen(function*() {
      const { idle, staff, userOf } = yield* opened()
      const { received, url } = yield* receiver()
      const ann = yield* userOf("ann", ["buyer"])
      yield* ann.subscriptions.create({ payload: { url, types: ["order.updated"], secret } })
      const vienna = { city: "Vienna", zip: "1010" }
      const { result: id } = yield* staff.orders.create({
        payload: { buyer: "ann", total: 1, address: vienna, parcels: [vienna] }
      })
      const params = { id }
      const hidden = { city: "Vienna", zip: "1020", door: "3" }
      yield* staff.orders.patch({ params, payload: { address: hidden, parcels: [hidden] } })
      yield* idle
      assert.lengthOf(received, 0)
      yield* staff.orders.patch({ params, payload: { address: { city: "Graz", zip: "1020" } } })
      yield* idle
      yield* staff.orders.patch({ params, payload: { parcels: [{ city: "Linz", zip: "1020" }] } })
      yield* idle
      const cities = received.map(({ body }) => JSON.parse(body).data).map((
        { address, parcels }
      ) => [address.city, parcels[0].city])
      assert.deepStrictEqual(cities, [["Graz", "Vienna"], ["Graz", "Linz"]])
    }))

  it.effect("are signed with each of several secrets of before, each for its day", () =>
    Effect.gen(function*() {
      const { idle, inStore, staff } = yield* opened()
      const { received, url } = yield* receiver()
      const { result: id } = yield* staff.subscriptions.create({ payload: { url, types, secret } })
      const signatures = Effect.gen(function*() {
        yield* staff.orders.create({ payload: { buyer: "ann", total: 1 } })
        yield* idle
        return String(received.at(-1)!.headers["webhook-signature"]).split(" ").length
      })
      for (let i = 0; i < 2; i++) yield* staff.subscriptions.rotate({ params: { id } })
      assert.strictEqual(yield* signatures, 3)
      readBy(secret, received[0]!)
      yield* TestClock.adjust("20 hours")
      yield* staff.subscriptions.rotate({ params: { id } })
      assert.strictEqual(yield* signatures, 4)
      yield* TestClock.adjust("5 hours")
      assert.strictEqual(yield* signatures, 2)
      for (let i = 0; i < 9; i++) yield* staff.subscriptions.rotate({ params: { id } })
      assert.strictEqual(yield* signatures, 5)
      // One that others know ends at once.
      yield* inStore(Webhooks.rotate(id, { overlap: 0 }))
      assert.strictEqual(yield* signatures, 1)
    }))

  it.effect("go on after something that the telling waits for was interrupted", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.now())
      let isFirst = true
      const layer = Layer.effect(
        DocumentStore.DocumentStore,
        Effect.map(DocumentStore.DocumentStore, (store) => ({
          ...store,
          changes: {
            ...store.changes,
            stream: (...all: Parameters<typeof store.changes.stream>) => {
              const isInterrupted = isFirst
              isFirst = false
              return isInterrupted ? Stream.fromEffect(Effect.interrupt) : store.changes.stream(...all)
            }
          }
        }))
      ).pipe(Layer.provide(EmbeddedStore.layerMemory))
      const { client } = yield* KernelEngine.make("open")
        .register(Order, { methods: ["GET", "POST"] })
        .register(Webhooks.Subscription, { methods: ["GET", "POST"], segment: "subscriptions", name: "subscriptions" })
        .enableWebhooks({ "order.created": Order }, local)
        .test({ store: layer })
      const { received, url } = yield* receiver()
      yield* client.subscriptions.create({ payload: { url, types: ["order.created"], secret } })
      yield* client.orders.create({ payload: { buyer: "ann", total: 1 } })
      while (received.length === 0) {
        yield* TestClock.adjust("1 second")
        yield* Effect.promise(() => new Promise(setImmediate))
      }
      assert.isFalse(isFirst)
    }))

  it.effect("for slow receivers of one owner leave places for those of others", () =>
    Effect.gen(function*() {
      const { idle, staff, userOf } = yield* opened()
      const held: Array<() => void> = []
      const hold = (response: { readonly destroy: () => void }) => {
        held.push(() => response.destroy())
      }
      const slow = [yield* receiver(hold), yield* receiver(hold), yield* receiver(hold)]
      const ann = yield* userOf("ann", ["buyer"])
      const healthy = yield* receiver()
      for (const { url } of slow) {
        yield* staff.subscriptions.create({ payload: { url, types: ["order.created"], secret } })
      }
      yield* ann.subscriptions.create({ payload: { url: healthy.url, types: ["order.updated"], secret } })
      const { result: id } = yield* staff.orders.create({ payload: { buyer: "ann", total: 1 } })
      yield* Effect.forEach(Array.from({ length: 19 }), () =>
        staff.orders.create({ payload: { buyer: "bob", total: 1 } }))
      const taken = () =>
        slow.map(({ received }) => received.length)
      const turn = Effect.promise(() => new Promise(setImmediate))
      while (taken().reduce((sum, count) => sum + count) < 8) yield* turn
      yield* staff.orders.patch({ params: { id }, payload: { total: 2 } })
      while (healthy.received.length === 0) yield* turn
      assert.strictEqual(taken().reduce((sum, count) => sum + count), 8)
      assert.isAtMost(Math.max(...taken()), 4)
      const ending = yield* Effect.forkChild(Effect.forever(Effect.andThen(
        turn,
        Effect.sync(() => held.splice(0).forEach((end) => end()))
      )))
      yield* idle
      yield* Fiber.interrupt(ending)
    }))

  it.effect("are for as many subscriptions of a user as a hook of the resource allows", () =>
    Effect.gen(function*() {
      class TooMany extends ServiceError<TooMany>()("TooMany", { status: 409 }) {}
      const bounded = Subscriptions.beforePost(({ owner = "" }) =>
        Effect.gen(function*() {
          const subscriptions = yield* Repository.for(Webhooks.Subscription)
          if ((yield* subscriptions.count(($) => $.owner.equals(owner))) >= 2) return yield* new TooMany()
        }), { error: [TooMany] })
      yield* TestClock.setTime(Date.now())
      const store = Accounts.fromModel(User, { login: "email", secret: "password" }).pipe(
        Layer.provideMerge(EmbeddedStore.layerMemory)
      )
      const { as } = yield* KernelEngine.make("shop")
        .register(Orders)
        .register(User)
        .register(bounded, { segment: "subscriptions", name: "subscriptions" })
        .enableSecurity()
        .enableWebhooks({ "order.created": Orders })
        .test({ store })
      const [ann, bob] = [yield* as({ subject: "ann" }), yield* as({ subject: "bob" })]
      const payload = { url: "https://partner.example.org", types: ["order.created"] }
      yield* ann.subscriptions.create({ payload })
      yield* ann.subscriptions.create({ payload })
      assert.strictEqual((yield* Effect.flip(ann.subscriptions.create({ payload })))._tag, "TooMany")
      yield* bob.subscriptions.create({ payload })
    }))

  it.effect("have failed when their subscription is deleted", () =>
    Effect.gen(function*() {
      const { idle, staff } = yield* opened()
      const { url } = yield* receiver((response) => {
        response.writeHead(500).end()
      })
      const { result: id } = yield* staff.subscriptions.create({ payload: { url, types, secret } })
      yield* staff.orders.create({ payload: { buyer: "ann", total: 1 } })
      yield* idle
      yield* staff.subscriptions.delete({ params: { id } })
      yield* TestClock.adjust("5 seconds")
      yield* idle
      const { _items: [delivery] } = yield* staff.deliveries.list()
      assert.deepInclude(delivery, { state: "failed", attempts: 1, failure: "the subscription is deleted" })
      assert.isUndefined(delivery?.next)
    }))

  it.effect("show nobody their address in spans", () => {
    const spans: Array<Tracer.Span> = []
    return Effect.gen(function*() {
      const { idle, staff } = yield* opened()
      const { received, url } = yield* receiver()
      yield* staff.subscriptions.create({ payload: { url: `${url}/a-secret?token=a-secret`, types, secret } })
      yield* staff.orders.create({ payload: { buyer: "ann", total: 1 } })
      yield* idle
      assert.lengthOf(received, 1)
      const sent = spans.find(({ name }) => name === "webhook POST")
      assert.strictEqual(sent?.attributes.get("http.response.status_code"), 204)
      assert.include(String(received[0]!.headers["traceparent"]), String(sent?.spanId))
      for (const { attributes, name } of spans) {
        assert.isFalse([...attributes.values()].some((value) => String(value).includes("a-secret")), name)
      }
    }).pipe(Effect.provideService(
      Tracer.Tracer,
      Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
    ))
  })
})
