/** The streams of typed clients, over sockets. */
import { assert, describe, it } from "@effect/vitest"
import {
  Cause,
  ConfigProvider,
  DateTime,
  Duration,
  Effect,
  Exit,
  Layer,
  Queue,
  Ref,
  Schedule,
  Schema,
  Scope,
  Stream
} from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import {
  Credentials,
  type DocumentStore,
  EmbeddedStore,
  HttpClientFactory,
  Jwt,
  KernelClient,
  KernelEngine,
  Model,
  Permission,
  type Query,
  Resource
} from "../../src/index.ts"
import * as SignIns from "../../src/Security/SignIns.ts"
import { doorTo } from "../support/door.ts"
import { shop } from "../support/tokens.ts"

class Order extends Model.Class<Order>()("Order", {
  id: Model.id({ prefix: "O" }),
  owner: Schema.String,
  total: Schema.Int,
  placed: Schema.DateTimeUtcFromString,
  cost: Schema.optionalKey(Schema.Int)
}, { logged: true }) {}

class Person extends Model.Class<Person>()("Person", {
  id: Model.id({ prefix: "P" }),
  name: Schema.String,
  born: Schema.DateTimeUtcFromString
}, { logged: true }) {}

class Plain extends Model.Class<Plain>()("Plain", { id: Model.id() }) {}

const methods = ["GET", "POST", "PATCH", "DELETE"] as const

const engine = KernelEngine.make("orders")
  .register(Resource.make(Order, { methods }))
  .register(Resource.make(Person, { methods }), { name: "people" })
  .register(Resource.make(Plain).action("live", { method: "GET", success: Schema.String }, () => Effect.succeed("own")))

const placed = DateTime.makeUnsafe("2026-01-02T03:04:05Z")

const order = (total: number, owner = "ann") => ({ owner, total, placed })

const reconnect = Schedule.spaced("20 millis")

/** What a stream tells, one after the other, and at its end its exit. */
const listened = <A, E>(stream: Stream.Stream<A, E>) =>
  Effect.gen(function*() {
    const events = yield* Queue.unbounded<A, E | Cause.Done>()
    const fiber = yield* Stream.runForEach(stream, (event) => Queue.offer(events, event)).pipe(
      Effect.onExit((exit) => Queue.failCause(events, Exit.isFailure(exit) ? exit.cause : Cause.fail(Cause.Done()))),
      Effect.forkScoped
    )
    return {
      fiber,
      isEmpty: Effect.map(Queue.size(events), (size) => size === 0),
      next: Queue.take(events).pipe(Effect.timeout("1 minute"))
    }
  })

const configured = ConfigProvider.layer(
  ConfigProvider.fromUnknown({
    appkernel: { live: { heartbeat: "1 minute", poll_timeout: "200 millis", max_streams_per_caller: 2 } }
  })
)

/** A server of the engine that can end before the test does. */
const served = (store: Layer.Layer<DocumentStore.DocumentStore>) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const test = yield* Scope.provide(engine.test({ store }), scope)
    return { ...test, close: Scope.close(scope, Exit.void) }
  })

describe("The streams of a typed client", () => {
  it.live("stay true when servers end, and begin anew where the changes are gone", () =>
    Effect.gen(function*() {
      const store = yield* Layer.build(Layer.fresh(EmbeddedStore.layerMemory))
      const first = yield* served(Layer.succeedContext(store))
      let url = first.baseUrl
      const client = yield* KernelClient.make(engine, {
        baseUrl: "",
        transformClient: HttpClient.mapRequest((request) => HttpClientRequest.prependUrl(request, url))
      })
      yield* client.orders.create({ payload: order(1) })
      yield* client.orders.create({ payload: order(2, "bob") })
      const list = yield* listened(client.orders.live({ query: { owner: "ann" }, reconnect }))
      const state = yield* list.next
      assert(state.event === "state")
      assert.deepStrictEqual(state.items.map(({ total }) => total), [1])
      assert.deepStrictEqual(state.items[0]?.placed, placed)

      const [created, answer] = yield* client.orders.create({
        payload: order(3),
        responseMode: "decoded-and-response"
      })
      const entered = yield* list.next
      assert(entered.event === "enter")
      assert.deepStrictEqual([entered.id, entered.item.total], [created.result, 3])
      assert.strictEqual(entered.transaction, answer.headers["stream-txid"])
      assert.isTrue(DateTime.isDateTime(entered.time))
      yield* client.orders.patch({ params: { id: created.result }, payload: { total: 4 } })
      const changed = yield* list.next
      assert(changed.event === "change")
      assert.strictEqual(changed.item.total, 4)
      yield* client.orders.patch({ params: { id: created.result }, payload: { owner: "bob" } })
      const left = yield* list.next
      assert.deepStrictEqual([left.event, "id" in left && left.id], ["leave", created.result])

      // Another server of the same store: what was missed is told, and nothing else.
      const second = yield* served(Layer.succeedContext(store))
      const direct = yield* KernelClient.make(engine, { baseUrl: second.baseUrl })
      yield* first.close
      yield* direct.orders.patch({ params: { id: created.result }, payload: { owner: "ann" } })
      url = second.baseUrl
      const back = yield* list.next
      assert.deepStrictEqual([back.event, "item" in back && back.item.total], ["enter", 4])
      yield* direct.orders.delete({ params: { id: created.result } })
      assert.strictEqual((yield* list.next).event, "leave")

      // A server of another store: its log does not have the place.
      const third = yield* served(Layer.fresh(EmbeddedStore.layerMemory))
      const other = yield* KernelClient.make(engine, { baseUrl: third.baseUrl })
      yield* other.orders.create({ payload: order(7) })
      const changes = yield* listened(client.orders.changes({ reconnect }))
      yield* Effect.repeat(
        Effect.andThen(direct.orders.create({ payload: order(9, "eve") }), Effect.sleep("20 millis")),
        { while: () => changes.isEmpty }
      )
      url = third.baseUrl
      yield* second.close
      const anew = yield* list.next
      assert.deepStrictEqual(anew.event === "state" && anew.items.map(({ total }) => total), [7])
      assert.strictEqual((yield* Effect.flip(Effect.forever(changes.next)))._tag, "Gone")
      yield* third.close
    }).pipe(Effect.scoped, Effect.provide([FetchHttpClient.layer, configured])))

  it.live(
    "tell the changes of several collections, across servers, until their place is gone",
    () =>
      Effect.gen(function*() {
        const store = yield* Layer.build(Layer.fresh(EmbeddedStore.layerMemory))
        const first = yield* served(Layer.succeedContext(store))
        const door = yield* doorTo(first.baseUrl)
        yield* door.open
        const baseUrl = `http://127.0.0.1:${door.port}`
        const clients = {
          events: yield* KernelClient.make(engine, { baseUrl }),
          polls: yield* HttpClientFactory.typed(engine, baseUrl)
        }
        yield* first.client.orders.create({ payload: order(1) })
        yield* first.client.orders.create({ payload: order(2, "bob") })
        yield* first.client.people.create({ payload: { name: "Ann", born: placed } })
        const request = {
          watch: ["orders", "people"],
          query: { orders: { owner: "ann", total: ["<100", ">0"] } },
          after: "-1",
          reconnect
        } as const
        const all = {
          events: yield* listened(clients.events.changes(request)),
          polls: yield* listened(clients.polls.changes(request))
        }
        let server = first
        for (const changes of [all.events, all.polls]) {
          const state = yield* changes.next
          assert(state.operation === "reset")
          assert.deepStrictEqual(state.items.orders.map(({ owner, total }) => [owner, total]), [["ann", 1]])
          assert.deepStrictEqual(state.items.people.map(({ born, name }) => [name, born]), [["Ann", placed]])
        }
        const next = Effect.map(Effect.all([all.events.next, all.polls.next]), ([event, poll]) => {
          assert.deepStrictEqual({ ...event, position: "" }, { ...poll, position: "" })
          return event
        })
        const { result: person } = yield* server.client.people.create({ payload: { name: "Bob", born: placed } })
        const born = yield* next
        assert(born.operation === "insert" && born.collection === "people")
        assert.deepStrictEqual([born.id, born.after.name, born.after.born], [person, "Bob", placed])
        const { result: id } = yield* server.client.orders.create({ payload: order(3) })
        const placedOrder = yield* next
        assert(placedOrder.operation === "insert" && placedOrder.collection === "orders")
        assert.deepStrictEqual([placedOrder.id, placedOrder.after.total], [id, 3])

        // Another server of the same store: what was missed is told, in its order, and nothing else.
        server = yield* served(Layer.succeedContext(store))
        yield* first.close
        yield* server.client.orders.create({ payload: order(100) })
        yield* server.client.orders.patch({ params: { id }, payload: { owner: "bob" } })
        yield* server.client.people.delete({ params: { id: person } })
        yield* door.turnTo(server.baseUrl)
        const [left, gone] = [yield* next, yield* next]
        assert(left.operation === "delete" && gone.operation === "delete")
        assert.deepStrictEqual([left.collection, left.id, gone.collection, gone.id], ["orders", id, "people", person])

        // A server of another store: its log does not have the place.
        const third = yield* served(Layer.fresh(EmbeddedStore.layerMemory))
        yield* door.turnTo(third.baseUrl)
        yield* server.close
        assert.strictEqual((yield* Effect.flip(all.events.next))._tag, "Gone")
        assert.strictEqual((yield* Effect.flip(all.polls.next))._tag, "Gone")

        const wrong = clients.events.changes({ watch: ["orders"], query: { orders: { query: "{" } } })
        assert.strictEqual((yield* Effect.flip(Stream.runDrain(wrong)))._tag, "BadRequest")
        // @ts-expect-error it has no such field
        const unknown = clients.events.changes({ watch: ["orders"], query: { orders: { name: "ann" } } })
        assert.strictEqual((yield* Effect.flip(Stream.runDrain(unknown)))._tag, "SchemaError")
        const unlogged = yield* Effect.exit(Stream.runDrain(clients.events.changes({ watch: ["orders", "plains"] })))
        assert.isTrue(
          Exit.isFailure(unlogged) && Cause.pretty(unlogged.cause).includes("its model needs the option logged")
        )
        yield* third.close
      }).pipe(Effect.scoped, Effect.provide([FetchHttpClient.layer, HttpClientFactory.layerWith({}), configured])),
    60_000
  )

  it.live(
    "begin at a place, select fields, are counted no longer than they are read, and die without a log",
    () =>
      Effect.gen(function*() {
        const { client } = yield* engine.test({ store: Layer.fresh(EmbeddedStore.layerMemory) })
        const { result: id } = yield* client.orders.create({ payload: order(1) })
        // More than a caller may have at once, one after the other.
        for (let i = 0; i < 5; i++) {
          const told = yield* client.orders.changes({ after: "-1", query: { fields: "total" }, reconnect }).pipe(
            Stream.take(1),
            Stream.runCollect
          )
          const [item] = told[0]?.operation === "reset" ? told[0].items : []
          assert.deepStrictEqual([item?.id, item?.total, item?.owner], [id, 1, undefined])
        }
        const changes = yield* listened(client.orders.changes({ query: { total: ">0" } }))
        // It has begun when it tells a change.
        yield* Effect.repeat(
          Effect.andThen(client.orders.create({ payload: order(2) }), Effect.sleep("20 millis")),
          { while: () => changes.isEmpty }
        )
        const begun = yield* changes.next
        yield* client.orders.create({ payload: [order(3), order(4)] })
        yield* client.orders.delete({ params: { id } })
        const after = yield* client.orders.changes({ after: begun.position }).pipe(
          Stream.filter((change) => change.operation !== "insert" || change.after.total > 2),
          Stream.take(3),
          Stream.runCollect
        )
        assert.deepStrictEqual(
          after.map((change) => [change.operation, change.operation === "insert" ? change.after.total : undefined]),
          [["insert", 3], ["insert", 4], ["delete", undefined]]
        )
        const further = yield* listened(client.orders.changes({ after: after[2]!.position }))
        yield* client.orders.create({ payload: order(5) })
        const told = yield* further.next
        assert.strictEqual(told.operation === "insert" && told.after.total, 5)
        const wrong = yield* Effect.flip(Stream.runDrain(client.orders.live({ query: { query: "{" } })))
        assert.strictEqual(wrong._tag, "BadRequest")
        const unlogged = yield* Effect.exit(Stream.runDrain(client.plains.changes()))
        assert.isTrue(
          Exit.isFailure(unlogged) && Cause.pretty(unlogged.cause).includes("Plain needs the option logged")
        )
        assert.strictEqual((yield* Effect.flip(client.plains.live({ params: { id: "none" } })))._tag, "NotFound")
      }).pipe(Effect.scoped, Effect.provide([FetchHttpClient.layer, configured]))
  )

  it.live("tell what the caller may see now, and end with what the service refuses", () =>
    Effect.gen(function*() {
      const isAdmitted = yield* Ref.make(true)
      const shared = yield* Ref.make("nobody")
      const Orders = Resource.make(Order, { methods })
        .require(Permission.Role("admin"))
        .grant(Permission.make("admitted", {}, () => Ref.get(isAdmitted)), {
          methods: ["GET"],
          rows: ({ subject }) =>
            Effect.map(Ref.get(shared), (owner): Query.Where<typeof Order> => ($) => $.owner.in([subject, owner])),
          hide: ["cost"]
        })
      const secured = KernelEngine.make("secured").register(Orders).enableSecurity()
      const { baseUrl } = yield* secured.test({ store: Layer.fresh(EmbeddedStore.layerMemory) })
      const jwt = yield* Jwt.Jwt
      const clientOf = (subject: string, roles: ReadonlyArray<string>) =>
        Effect.gen(function*() {
          const token = yield* jwt.sign({ subject, roles })
          return yield* KernelClient.make(secured, { baseUrl, credentials: Credentials.bearer(token) })
        })
      const admin = yield* clientOf("root", ["admin"])
      yield* admin.orders.create({ payload: { ...order(1), cost: 5 } })
      yield* admin.orders.create({ payload: order(2, "crew") })
      const ann = yield* clientOf("ann", [])
      const list = yield* listened(ann.orders.live({ reconnect }))
      const totals = Effect.map(
        list.next,
        (event) => event.event === "state" && event.items.map(({ total }) => total).toSorted((a, b) => a - b)
      )
      assert.deepStrictEqual(yield* totals, [1])
      yield* Ref.set(shared, "crew")
      assert.deepStrictEqual(yield* totals, [1, 2])
      yield* Ref.set(isAdmitted, false)
      assert.strictEqual((yield* Effect.flip(list.next))._tag, "Forbidden")
      const watched = { watch: ["orders"] } as const
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(ann.changes(watched))))._tag, "Forbidden")
      const nobody = yield* KernelClient.make(secured, { baseUrl })
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(nobody.changes(watched))))._tag, "Unauthorized")
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(nobody.orders.live())))._tag, "Unauthorized")
    }).pipe(
      Effect.scoped,
      Effect.provide([
        FetchHttpClient.layer,
        configured,
        Layer.orDie(shop("ES256")),
        Layer.succeed(SignIns.Lifetimes, {
          accessToken: Duration.minutes(15),
          refreshToken: Duration.days(30),
          revocationDelay: Duration.millis(200)
        })
      ])
    ))

  it.live("are those of another service, too", () =>
    Effect.gen(function*() {
      const { baseUrl, client } = yield* engine.test({ store: Layer.fresh(EmbeddedStore.layerMemory) })
      const door = yield* doorTo(baseUrl)
      yield* door.open
      const away = yield* HttpClientFactory.typed(engine, `http://127.0.0.1:${door.port}`)
      const { result: id } = yield* client.orders.create({ payload: order(1) })
      const list = yield* listened(away.orders.live({ query: { owner: "ann" }, reconnect }))
      const state = yield* list.next
      assert.deepStrictEqual(state.event === "state" && state.items.map(({ total }) => total), [1])
      yield* client.orders.patch({ params: { id }, payload: { total: 2 } })
      const changed = yield* list.next
      assert.deepStrictEqual(changed.event === "change" && [changed.id, changed.item.total], [id, 2])
      yield* door.close
      yield* client.orders.patch({ params: { id }, payload: { total: 3 } })
      yield* door.open
      const missed = yield* list.next
      assert.deepStrictEqual(missed.event === "change" && missed.item.total, 3)
      const gone = yield* Effect.flip(
        Stream.runDrain(away.orders.changes({ after: "0000000000000000_0.", reconnect }))
      )
      assert.strictEqual(gone._tag, "Gone")
      yield* door.close
      const refused = yield* Effect.flip(
        Stream.runDrain(away.orders.live({ reconnect: Schedule.recurs(2) }))
      )
      assert(refused._tag === "RequestHandlingException")
      assert.strictEqual(refused.reason._tag, "Refused")
    }).pipe(Effect.scoped, Effect.provide([HttpClientFactory.layerWith({}), configured])))
})
