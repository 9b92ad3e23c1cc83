/** The commands that reach the server: with the options of repositories, and with the values of shard keys. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { DocumentStore } from "../../packages/document-store/src/DocumentStore.ts"
import { conjunctionOf, fallibleLast, withTransactionId } from "../../packages/document-store/src/shared.ts"
import * as KernelEngine from "../../src/Http/KernelEngine.ts"
import * as Index from "../../src/Model/FieldIndex.ts"
import * as Model from "../../src/Model/Model.ts"
import * as EmbeddedStore from "../../src/Repository/EmbeddedStore.ts"
import * as Repository from "../../src/Repository/Repository.ts"
import { documentOperationsOf } from "../../src/Repository/repository/documentOperations.ts"
import { onMongo } from "../support/mongo.ts"
import { observed, type Sent } from "../support/observedStore.ts"
import { send, serving } from "../support/rest.ts"

class Order extends Model.Class<Order>()("Order", {
  id: Model.id(),
  customer: Schema.String.pipe(Model.indexed(Index.plain)),
  total: Schema.Int
}) {}

class Shard extends Model.Class<Shard>()("Shard", {
  id: Model.id(),
  customer: Schema.String,
  total: Schema.Int
}, { shardKey: { customer: 1 } }) {}

class Versioned extends Model.Class<Versioned>()("Versioned", {
  id: Model.id(),
  ...Model.versioned,
  ...Model.audited,
  customer: Schema.String,
  total: Schema.Int
}, { shardKey: { customer: 1, id: 1 } }) {}

onMongo("storeOptions / mongodb", (_, server) => {
  it.effect("sends the options of a repository, of an effect, and of neither", () =>
    Effect.gen(function*() {
      const { commands, store } = yield* observed(server)
      yield* Effect.gen(function*() {
        const orders = yield* Repository.make(Order, {
          readPreference: "secondaryPreferred",
          readConcern: "majority",
          writeConcern: { w: 1, journal: true },
          hint: "customer_1",
          batchSize: 2
        })
        const plain = yield* Repository.make(Order)
        yield* commands
        yield* orders.bulkInsert([1, 2, 3].map((total) => new Order({ id: `${total}`, customer: "C", total })))
        yield* orders.find(($) => $.customer.equals("C"))
        yield* orders.count(($) => $.customer.equals("C"))
        yield* Stream.runDrain(orders.stream())
        yield* Stream.runDrain(orders.aggregate([{ $match: { customer: "C" } }]))
        const of = (command: Sent) => ({
          name: command.name,
          // With a single server, the driver itself asks for the primary or any other.
          mode: [command.sent["$readPreference"]?.mode].find((mode) => mode !== "primaryPreferred"),
          readConcern: command.sent["readConcern"]?.level,
          writeConcern: command.sent["writeConcern"],
          hint: command.sent["hint"],
          batchSize: command.sent["batchSize"] ?? command.sent["cursor"]?.batchSize
        })
        const read = {
          mode: "secondaryPreferred",
          readConcern: "majority",
          writeConcern: undefined,
          hint: "customer_1",
          batchSize: 2
        }
        assert.deepStrictEqual((yield* commands).filter(({ name }) => name !== "getMore").map(of), [
          {
            name: "insert",
            mode: undefined,
            readConcern: undefined,
            writeConcern: { w: 1, j: true },
            hint: undefined,
            batchSize: undefined
          },
          { name: "find", ...read },
          { name: "aggregate", ...read, batchSize: undefined },
          { name: "find", ...read },
          { name: "aggregate", ...read }
        ])

        // A document by its identifier, and a read that a write depends on.
        yield* orders.findById("1")
        yield* orders.patch("1", { total: 7 })
        const [byId, before] = (yield* commands).map(of)
        assert.deepStrictEqual(byId, { name: "find", ...read, hint: undefined, batchSize: undefined })
        assert.deepStrictEqual([before?.mode, before?.readConcern], [undefined, undefined])

        // The surrounding effect decides; what it leaves open, the repository does.
        yield* Repository.withStoreOptions(Order, { readPreference: "nearest" })(
          Effect.all([orders.find(), plain.find()])
        )
        const [own, other] = (yield* commands).map(of)
        assert.deepStrictEqual(own, { name: "find", ...read, mode: "nearest" })
        assert.deepStrictEqual([other?.mode, other?.readConcern, other?.hint], ["nearest", undefined, undefined])

        // Those of another model don't apply.
        yield* Repository.withStoreOptions(Shard, { readPreference: "nearest", hint: "none" })(plain.find())
        assert.deepStrictEqual((yield* commands).map(of).map(({ hint, mode }) => [mode, hint]), [[
          undefined,
          undefined
        ]])
        const unknown = yield* plain.find().pipe(Repository.withStoreOptions(Order, { hint: "none" }), Effect.flip)
        assert.strictEqual(unknown._tag, "QueryRejected")
      }).pipe(Effect.provide(store))
    }))

  it.effect("sends them with a write that tells its transaction, and reads for it from the primary", () =>
    Effect.gen(function*() {
      const { commands, store } = yield* observed(server, "readPreference=secondaryPreferred")
      yield* Effect.gen(function*() {
        const { deleteMany } = yield* DocumentStore
        const orders = yield* Repository.make(Order, { writeConcern: { w: 1, journal: true } })
        yield* commands
        yield* withTransactionId(orders.insert(new Order({ id: "1", customer: "C", total: 1 })))
        // The expression may fail, so that the documents are found first.
        const condition = fallibleLast({ $expr: { $gt: [{ $divide: [1, "$total"] }, 0] } })
        yield* withTransactionId(deleteMany("Order", conjunctionOf({ customer: "C" }, condition)))
        const sent = yield* commands
        assert.deepStrictEqual(
          sent.map(({ name, sent }) => [
            name,
            sent["writeConcern"],
            sent["$readPreference"]?.mode === "secondaryPreferred"
          ]),
          [["insert", { w: 1, j: true }, false], ["aggregate", undefined, false], ["delete", undefined, false]]
        )
      }).pipe(Effect.provide(store))
    }))

  it.live("reads as the registration says", () =>
    Effect.gen(function*() {
      const { commands, store } = yield* observed(server)
      const engine = KernelEngine.make("shop")
        .register(Order, { methods: ["GET"], storeOptions: { readPreference: "secondary", hint: "customer_1" } })
        .register(Shard, { methods: ["GET", "PUT"] })
      yield* Effect.gen(function*() {
        const shards = yield* Repository.make(Shard)
        yield* shards.insert(new Shard({ id: "1", customer: "C", total: 1 }))
        yield* commands
        const statuses = [
          (yield* send("GET", "/orders?customer=C")).status,
          (yield* send("GET", "/shards")).status,
          (yield* send("PUT", "/shards/1", { customer: "C", total: 2 })).status,
          (yield* send("PUT", "/shards/1", { customer: "D", total: 2 })).status
        ]
        // A single server is asked whatever the preference.
        assert.deepStrictEqual(statuses, [200, 200, 200, 400])
        const sent = yield* commands
        const finds = sent.filter(({ name }) => name === "find").slice(0, 2)
        assert.deepStrictEqual(finds.map(({ sent }) => sent["hint"]), ["customer_1", undefined])
        const update = sent.find(({ name }) => name === "update" || name === "findAndModify")
        assert.include(JSON.stringify(update?.sent["updates"] ?? update?.sent["query"]), `"customer":`)
      }).pipe(Effect.provide(serving(engine, store)))
    }))

  it.effect("names the shard key in every write whose document is known", () =>
    Effect.gen(function*() {
      const { commands, store } = yield* observed(server)
      yield* Effect.gen(function*() {
        // The fields that it has beside these are the framework's.
        for (const model of [Shard, Versioned as unknown as typeof Shard]) {
          const shards = yield* Repository.make(model)
          const documents = documentOperationsOf(shards)
          yield* commands
          const inserted = yield* shards.insert(model.make({ id: "1", customer: "C", total: 1 }))
          const saved = yield* shards.save(model.make({ ...inserted, total: 2 }))
          const replaced = yield* shards.replace(model.make({ ...saved, total: 3 }))
          // Of a patch, the first read can't know it.
          const { _id, ...stored } = (yield* documents.findById("1")) ?? {}
          yield* commands
          yield* documents.replace(model.make({ ...replaced, total: 4 }), {
            document: { _id, ...stored },
            fields: [],
            filters: undefined
          })
          const gone = yield* Effect.flip(shards.replace(model.make({ ...replaced, id: "2" })))
          assert.strictEqual(gone._tag, "DocumentNotFound")
          yield* shards.save(model.make({ id: "3", customer: "C", total: 2 }))
          yield* shards.patch("1", { total: 5 })
          yield* shards.modify("1", (current) => Effect.succeed(model.make({ ...current, total: 6 })))
          yield* shards.updateOne(($) => $.customer.equals("C"), ($) => [$.total.increment(1)])
          const sent = yield* commands
          const filters = sent.flatMap(({ sent }) =>
            [sent["filter"], sent["query"], ...(sent["updates"] ?? []).map(({ q }: { readonly q: object }) => q)]
              .filter((filter) => filter !== undefined)
          )
          const unknown = filters.filter((filter) => !Object.hasOwn(filter, "customer"))
          // The reads of `patch` and `modify`.
          assert.deepStrictEqual(unknown, [{ _id: "1" }, { _id: "1" }])
          assert.isAbove(filters.length, 6)
        }
      }).pipe(Effect.provide(store))
    }))
})

it.effect("keeps a document in its shard", () =>
  Effect.gen(function*() {
    const shards = yield* Repository.make(Shard)
    const one = yield* shards.insert(new Shard({ id: "1", customer: "C", total: 1 }))
    const errors = yield* Effect.all([
      Effect.flip(shards.patch("1", { customer: "D" })),
      Effect.flip(shards.modify("1", (current) => Effect.succeed(new Shard({ ...current, customer: "D" })))),
      Effect.flip(shards.updateMany(undefined, ($) => [$.customer.set("D")])),
      Effect.flip(shards.updateOne(undefined, ($) => [$.customer.set("D")]))
    ])
    for (const error of errors) {
      assert.strictEqual(error._tag, "QueryRejected")
      assert.include(error.message, "Shard.customer is part of the shard key, and never changes")
    }
    const moved = yield* Effect.flip(
      documentOperationsOf(shards).replace(new Shard({ ...one, customer: "D" }), {
        document: { _id: "1", customer: "C", total: 1 },
        fields: [],
        filters: undefined
      })
    )
    assert.strictEqual(moved._tag, "QueryRejected")
    assert.strictEqual(
      (yield* Effect.flip(shards.replace(new Shard({ ...one, customer: "D" }))))._tag,
      "DocumentNotFound"
    )
    assert.strictEqual((yield* Effect.flip(shards.save(new Shard({ ...one, customer: "D" }))))._tag, "DuplicateKey")
    assert.deepStrictEqual(yield* shards.find(), [one])
    yield* shards.patch("1", { total: 2 })
    yield* shards.deleteById("1")
    assert.strictEqual(yield* shards.count(), 0)
  }).pipe(Effect.provide(EmbeddedStore.layerMemory)))

it("refuses writes without an acknowledgement", () => {
  assert.throws(
    () => Repository.withStoreOptions(Order, { writeConcern: { w: 0 } }),
    "Order can't be written with w: 0: at least one member has to acknowledge a write"
  )
})
