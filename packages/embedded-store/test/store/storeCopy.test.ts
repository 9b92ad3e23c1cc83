import { DocumentStore as Store } from "@appkernel/document-store/DocumentStore"
import { StoreCopy } from "@appkernel/embedded-store/internal"
import { assert, describe, it } from "@effect/vitest"
import { Decimal128, Long, ObjectId } from "bson"
import { Context, Effect, Layer, Stream } from "effect"
import { type DocumentStore, EmbeddedStore } from "../../../../src/index.ts"
import { freshFolder } from "../../../../test/support/folders.ts"
import { onMongo } from "../../../../test/support/mongo.ts"

type Service = DocumentStore.DocumentStore["Service"]

const made = <E>(layer: Layer.Layer<Store, E>) =>
  Effect.map(Layer.build(Layer.fresh(layer)), (context) => Context.get(context, Store))

const values = [
  { _id: "a", text: "x", list: [1, "2", null], at: new Date(5), id: new ObjectId("65f000000000000000000001") },
  { _id: 2, long: Long.fromString("9007199254740993"), price: Decimal128.fromString("1.50"), n: { b: 1, a: 2 } },
  { _id: { b: 1, a: [] }, half: 0.5, minus: -0 }
]

const indexes: ReadonlyArray<DocumentStore.IndexDescription> = [
  { name: "text_1", key: { text: 1 }, unique: true, sparse: true },
  { name: "at_1", key: { at: 1 }, partialFilterExpression: { at: { $exists: true } } }
]

const filled = Effect.fnUntraced(function*(store: Service) {
  yield* store.insertMany("things", values)
  yield* store.insertMany("things.history", values.map((document, _id) => ({ _id, document })))
  yield* store.createIndexes("things", indexes)
  yield* store.setValidator("things", { bsonType: "object" }, { action: "warn" })
})

const contract = <E>(from: Layer.Layer<Store, E>, to: Layer.Layer<Store, E>) =>
  it.effect("has the documents, indexes and validators of the source, and goes on after it was interrupted", () =>
    Effect.scoped(Effect.gen(function*() {
      const [source, target] = [yield* made(from), yield* made(to)]
      yield* filled(source)
      const many = Array.from({ length: 1500 }, (_, _id) => ({ _id, n: _id % 7 }))
      yield* source.insertMany("numbers", many)
      // Ends in the middle.
      const interrupted = yield* StoreCopy.copy({
        from: source,
        to: target,
        onProgress: ({ collection, done }) =>
          collection === "numbers" && done >= 1000 ? Effect.die("ended") : Effect.void
      }).pipe(Effect.catchDefect(() => Effect.succeed("ended")))
      assert.strictEqual(interrupted, "ended")
      // The source is in use meanwhile.
      yield* source.deleteOne("numbers", { _id: 5 })
      yield* source.updateOne("numbers", { _id: 6 }, { $set: { n: "new" } })
      const copied = yield* StoreCopy.copy({ from: source, to: target })
      assert.deepStrictEqual(copied.map(({ documents, name }) => [name, documents]), [
        ["numbers", 1499],
        ["things", 3],
        ["things.history", 3]
      ])
      for (const { indexes, name } of copied) {
        const all = (store: Service) => Stream.runCollect(store.stream(name, { sort: { _id: 1 } }))
        assert.deepStrictEqual(yield* all(target), yield* all(source))
        const installed = yield* target.listIndexes(name)
        assert.sameDeepMembers([...installed], [...yield* source.listIndexes(name)])
        assert.deepStrictEqual(indexes, installed.map(({ name }) => name).toSorted())
      }
      const described = (yield* source.listCollections).find(({ name }) => name === "things")
      assert.deepStrictEqual((yield* target.listCollections).find(({ name }) => name === "things"), described)
      // Again it only compares.
      assert.deepStrictEqual(yield* StoreCopy.copy({ from: source, to: target }), copied)
      yield* target.insertOne("others", { _id: "own" })
      assert.include((yield* Effect.flip(StoreCopy.copy({ from: source, to: target }))).message, "others has documents")
      yield* target.insertOne("numbers", { _id: "own" })
      const differs = yield* Effect.flip(StoreCopy.copy({ from: source, to: target }))
      assert.match(differs.message, /^numbers differs: 1499 documents .* 1500 with/u)
      assert.strictEqual(yield* target.count("numbers", {}), 1500)
      // Another source is refused, and so is a target with documents of its own.
      const other = yield* made(freshFolder(EmbeddedStore.layerWith))
      assert.include((yield* Effect.flip(StoreCopy.copy({ from: other, to: target }))).message, "has a copy of")
      assert.include((yield* Effect.flip(StoreCopy.copy({ from: other, to: source }))).message, "documents of its own")
    })))

describe("A copy in a folder", () => {
  contract(EmbeddedStore.layerMemory, freshFolder(EmbeddedStore.layerWith))
})

onMongo("A copy in MongoDB / mongodb", (mongo) => {
  contract(freshFolder(EmbeddedStore.layerWith), mongo)
  contract(mongo, freshFolder(EmbeddedStore.layerWith))
})
