import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Schema, Stream } from "effect"
import { withTransactionId } from "../../packages/document-store/src/shared/writeReceipt.ts"
import { DocumentStore, Model, Repository } from "../../src/index.ts"
import { AccessDecision, type Matcher, type ModelDecision } from "../../src/Repository/internal.ts"
import { withFilters } from "../support/decisions.ts"
import { asMongo, differencesOf } from "../support/serverDifferences.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

class Order extends Model.Class<Order>()("Order", {
  id: Model.id(),
  owner: Schema.String,
  total: Schema.Int,
  cost: Schema.Int,
  ...Model.softDeleted
}, { logged: { keep: "1 hour" } }) {}

class Plain extends Model.Class<Plain>()("Plain", { id: Model.id() }) {}

/** As it was, and as it is: what was `name` is `fullName`. */
class PersonBefore extends Model.Class<PersonBefore>()("Person", { id: Model.id(), name: Schema.String }) {}
class Person extends Model.Class<Person>()("Person", { id: Model.id(), fullName: Schema.String }, {
  versions: [Model.was.renamed("name", "fullName")],
  logged: true
}) {}

class CardBefore extends Model.Class<CardBefore>()("Card", { id: Model.id(), title: Schema.String }) {}

class Card extends Model.Class<Card>()("Card", { id: Model.id(), title: Schema.String, note: Schema.String }, {
  versions: [Model.was.added("note", { up: () => "" })],
  logged: true
}) {}

const CardV1 = Model.form(Card, 1, CardBefore)

const repositories = Layer.mergeAll(Repository.layer(Order), Repository.layer(Plain))

const end = Effect.flatMap(DocumentStore.DocumentStore, (store) => store.changes.end)

let owners = 0

/** An owner whom no other test has, and the place from which on there are changes of theirs. */
const fresh = Effect.gen(function*() {
  owners += 1
  return { owner: `owner ${owners}`, orders: yield* Repository.for(Order), after: yield* end }
})

const orderOf = (owner: string, id: string, total: number, cost = 0) => new Order({ id, owner, total, cost })

const shown = (change: Repository.ChangeEvent<typeof Order>) =>
  change.operation === "insert"
    ? ["insert", change.id, change.after.total]
    : change.operation === "update"
    ? ["update", change.id, change.before.total, change.after.total]
    : ["delete", change.id, change.before?.total]

const eventOf = (event: Repository.ListEvent<typeof Order>) =>
  event.event === "state"
    ? ["state", ...event.items.map(({ total }) => total)]
    : event.event === "leave"
    ? ["leave", event.id]
    : [event.event, event.id, event.item.total]

const collect = <A, E, R>(stream: Stream.Stream<A, E, R>, count: number) =>
  Stream.runCollect(Stream.take(stream, count))

/** What a repository tells of changes, whichever store is under it. */
storeMatrix((name, store, server) => {
  const differs = server === undefined ? asMongo : differencesOf(server)
  it.layer(repositories.pipe(Layer.provideMerge(store)))(`Changes / ${name}`, (it) => {
    it.effect("has typed changes of every kind, each with its place and its transaction", () =>
      Effect.gen(function*() {
        const { after, orders, owner } = yield* fresh
        const { transaction } = yield* withTransactionId(orders.insert(orderOf(owner, `${owner} 1`, 1)))
        yield* orders.patch(`${owner} 1`, { total: 2 })
        yield* orders.deleteById(`${owner} 1`)
        yield* orders.restoreById(`${owner} 1`)
        yield* orders.purgeById(`${owner} 1`)
        const changes = yield* collect(Repository.changes(Order, { after }), 5)
        assert.deepStrictEqual(changes.map(shown), [
          ["insert", `${owner} 1`, 1],
          ["update", `${owner} 1`, 1, 2],
          ["delete", `${owner} 1`, undefined],
          ["insert", `${owner} 1`, 2],
          ["delete", `${owner} 1`, 2]
        ])
        if (!differs("operationTimes")) assert.strictEqual(changes[0]?.transaction, transaction)
        const [first] = changes
        assert.isTrue(first?.operation === "insert" && first.after instanceof Order)
        const [next] = yield* collect(Repository.changes(Order, { after: changes[2]!.position }), 1)
        assert.deepStrictEqual(next, changes[3])
        const all = yield* collect(Repository.changes(Order, { after, deleted: "include" }), 5)
        assert.deepStrictEqual(all.map(({ operation }) => operation), [
          "insert",
          "update",
          "update",
          "update",
          "delete"
        ])
      }))

    it.effect("tells what begins and ceases to match", () =>
      Effect.gen(function*() {
        const { after, orders, owner } = yield* fresh
        const id = `${owner} 1`
        yield* orders.insert(orderOf(owner, id, 1))
        yield* Effect.forEach([20, 30, 2, 40], (total) => orders.patch(id, { total }))
        yield* orders.purgeById(id)
        const changes = yield* collect(
          Repository.changes(Order, { after, where: ($) => $.owner.equals(owner).and($.total.greaterThan(10)) }),
          5
        )
        assert.deepStrictEqual(changes.map(shown), [
          ["insert", id, 20],
          ["update", id, 20, 30],
          ["delete", id, undefined],
          ["insert", id, 40],
          ["delete", id, 40]
        ])
      }))

    it.effect("shows a caller only the rows of the caller, and nothing of what leaves them", () =>
      Effect.gen(function*() {
        const { after, orders, owner } = yield* fresh
        const [mine, other] = [`${owner} 1`, `${owner} 2`]
        yield* orders.insert(orderOf(owner, mine, 1))
        yield* orders.insert(orderOf("another", other, 9))
        yield* orders.patch(other, { total: 10 })
        yield* orders.patch(mine, { owner: "another" })
        yield* orders.patch(mine, { total: 11 })
        yield* orders.patch(mine, { owner })
        yield* orders.purgeById(other)
        yield* orders.purgeById(mine)
        const changes = yield* collect(Repository.changes(Order, { after }), 4).pipe(
          withFilters({ rows: () => ({ owner }), check: () => ({ owner }) })
        )
        assert.deepStrictEqual(changes.map(shown), [
          ["insert", mine, 1],
          ["delete", mine, undefined],
          ["insert", mine, 11],
          ["delete", mine, 11]
        ])
      }))

    it.effect("has nothing of changes of fields that the caller does not see", () =>
      Effect.gen(function*() {
        const { after, orders, owner } = yield* fresh
        const id = `${owner} 1`
        yield* orders.insert(orderOf(owner, id, 1, 5))
        yield* orders.patch(id, { cost: 6 })
        yield* orders.patch(id, { cost: 7, total: 2 })
        const matcher: Matcher = () => () => true
        const rows = { rows: () => ({ owner }), check: () => undefined }
        const decision: ModelDecision = {
          read: [{ id: 0, rows: undefined, check: undefined, fields: { hide: ["cost"], readOnly: [] } }],
          write: [],
          rows,
          rowsBy: () => rows,
          links: undefined,
          matcher,
          reason: ""
        }
        const changes = yield* collect(Repository.changes(Order, { after }), 2).pipe(
          Effect.provideService(AccessDecision, {
            endpoint: undefined,
            addressed: undefined,
            of: () => Effect.succeed(decision),
            linksAt: () => Effect.succeed({ endpoints: [], matcher }),
            origin: {},
            grants: () => []
          })
        )
        assert.deepStrictEqual(changes.map(shown), [["insert", id, 1], ["update", id, 1, 2]])
      }))

    it.effect("has documents of earlier forms in the newest one", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        const before = yield* Repository.make(PersonBefore)
        yield* before.insert(new PersonBefore({ id: "P1", name: "Ada" }))
        const people = yield* Repository.make(Person)
        const after = yield* store.changes.end
        yield* store.updateOne("Person", { _id: "P1" }, { $set: { name: "Ada Lovelace" } })
        yield* people.patch("P1", { fullName: "Countess" })
        yield* people.deleteById("P1")
        const changes = yield* collect(Repository.changes(Person, { after }), 3).pipe(
          Effect.provideService(Repository.key(Person), people)
        )
        assert.deepStrictEqual(
          changes.map((change) =>
            change.operation === "update"
              ? [change.before.fullName, change.after.fullName]
              : change.operation === "delete"
              ? change.before?.fullName
              : change.after.fullName
          ),
          [["Ada", "Ada Lovelace"], ["Ada Lovelace", "Countess"], "Countess"]
        )
      }))

    it.effect("tells of no change of what only another form has", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        const [cards, earlier] = [yield* Repository.make(Card), yield* Repository.make(CardV1)]
        yield* store.insertOne("Card", { _id: "C1", title: "a" })
        const after = yield* store.changes.end
        yield* cards.patch("C1", { note: "new" })
        // A later release keeps what this one does not know.
        yield* store.updateOne("Card", { _id: "C1" }, { $set: { "_ahead.2": { rank: 1 } } })
        yield* cards.patch("C1", { title: "b" })
        const shown = (change: Repository.ChangeEvent<typeof Card> | Repository.ChangeEvent<typeof CardV1>) =>
          change.operation === "update" ? [change.before.title, change.after.title] : change.operation
        const changes = yield* collect(Repository.changes(Card, { after }), 2).pipe(
          Effect.provideService(Repository.key(Card), cards)
        )
        assert.deepStrictEqual(changes.map(shown), [["a", "a"], ["a", "b"]])
        const seen = yield* collect(Repository.changes(CardV1, { after }), 1).pipe(
          Effect.provideService(Repository.key(CardV1), earlier)
        )
        assert.deepStrictEqual(seen.map(shown), [["a", "b"]])
      }))

    it.effect("leaves out what the model does not accept, and goes on", () =>
      Effect.gen(function*() {
        const { after, orders, owner } = yield* fresh
        const store = yield* DocumentStore.DocumentStore
        const id = `${owner} 1`
        yield* orders.insert(orderOf(owner, id, 1))
        yield* store.updateOne("Order", { _id: id }, { $set: { total: "many" } })
        yield* store.updateOne("Order", { _id: id }, { $set: { total: 3 } })
        const changes = yield* collect(Repository.changes(Order, { after }), 3)
        assert.deepStrictEqual(changes.map(shown), [["insert", id, 1], ["delete", id, undefined], ["insert", id, 3]])
      }))

    it.effect("has a list first as it is, and then what enters, changes and leaves", () =>
      Effect.gen(function*() {
        const { orders, owner } = yield* fresh
        yield* orders.insert(orderOf(owner, `${owner} 1`, 11))
        yield* orders.insert(orderOf(owner, `${owner} 2`, 12))
        yield* orders.insert(orderOf(owner, `${owner} 3`, 1))
        const listed: Array<Repository.ListEvent<typeof Order>> = []
        const live = Repository.live(Order, ($) => $.owner.equals(owner).and($.total.greaterThan(10)), {
          sort: "-total"
        })
        const events = yield* Effect.forkChild(
          Stream.runForEach(Stream.take(live, 5), (event) =>
            Effect.gen(function*() {
              listed.push(event)
              // The state is there, so that these writes are events.
              if (event.event !== "state") return
              yield* orders.patch(`${owner} 3`, { total: 13 })
              yield* orders.patch(`${owner} 3`, { total: 14 })
              yield* orders.patch(`${owner} 2`, { total: 2 })
              yield* orders.deleteById(`${owner} 1`)
            })),
          { startImmediately: true }
        )
        yield* Fiber.join(events)
        assert.deepStrictEqual(listed.map(eventOf), [
          ["state", 12, 11],
          ["enter", `${owner} 3`, 13],
          ["change", `${owner} 3`, 14],
          ["leave", `${owner} 2`],
          ["leave", `${owner} 1`]
        ])
      }))

    it.effect("has lists that are true while several write", () =>
      Effect.gen(function*() {
        const { orders, owner } = yield* fresh
        const ids = Array.from({ length: 8 }, (_, i) => `${owner} ${i}`)
        const write = (round: number, writer: number) =>
          Effect.forEach(
            ids,
            (id, i) => {
              const write: Effect.Effect<unknown, unknown> = (round + i + writer) % 5 === 0
                ? orders.updateMany(($) => $.id.equals(id), ($) => [$.total.increment(7)])
                : (round * i + writer) % 7 === 3
                ? orders.deleteMany(($) => $.id.equals(id))
                : orders.save(orderOf(owner, id, (round * 3 + i * writer) % 20))
              return Effect.ignore(write)
            },
            { discard: true }
          )
        const rounds = (writer: number) =>
          Effect.forEach(Array.from({ length: 12 }, (_, round) => round), (round) => write(round, writer), {
            discard: true
          })
        const follow = Effect.fnUntraced(function*(until: string) {
          const items = new Map<string, number>()
          yield* Stream.runForEach(
            Stream.takeUntil(
              Repository.live(Order, ($) => $.owner.equals(owner).and($.total.greaterThan(5))),
              (event) => event.event === "state" ? event.items.some(({ id }) => id === until) : event.id === until
            ),
            (event) =>
              Effect.sync(() => {
                if (event.event === "state") { for (const { id, total } of event.items) items.set(id, total) }
                else if (event.event === "leave") items.delete(event.id)
                else {
                  assert.strictEqual(items.has(event.id), event.event === "change")
                  items.set(event.id, event.item.total)
                }
              })
          )
          return items
        })
        const writers = yield* Effect.forEach([1, 2, 3], (writer) => Effect.forkChild(rounds(writer)))
        const readers = yield* Effect.forEach([1, 2, 3, 4], (i) =>
          Effect.andThen(
            Effect.forEach(Array.from({ length: i * 5 }), () => Effect.yieldNow, { discard: true }),
            Effect.forkChild(follow(`${owner} last`), { startImmediately: true })
          ))
        yield* Effect.forEach(writers, Fiber.join)
        yield* orders.insert(orderOf(owner, `${owner} last`, 100))
        const found = yield* orders.find(($) => $.owner.equals(owner).and($.total.greaterThan(5)))
        const expected = Object.fromEntries(found.map(({ id, total }) => [id, total]))
        for (const reader of readers) {
          assert.deepStrictEqual(Object.fromEntries(yield* Fiber.join(reader)), expected)
        }
      }))

    it.effect("rejects conditions that one document does not answer, and models without the option", () =>
      Effect.gen(function*() {
        const rejected = yield* Effect.flip(collect(
          Repository.changes(Order, { where: () => ({ $text: { $search: "x" } }) as never }),
          1
        ))
        assert.strictEqual(rejected._tag, "QueryRejected")
        const exit = yield* Effect.exit(collect(Repository.changes(Plain), 1))
        assert.include(String(exit), "Plain needs the option logged")
      }))
  })
})
