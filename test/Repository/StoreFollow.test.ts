import { StoreCopy, StoreFollow } from "@appkernel/embedded-store/internal"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Latch, Layer, Random, Stream } from "effect"
import { DocumentStore, EmbeddedStore } from "../../src/index.ts"
import { freshFolder } from "../support/folders.ts"
import { onMongo } from "../support/mongo.ts"

type Service = DocumentStore.DocumentStore["Service"]

const made = <E>(layer: Layer.Layer<DocumentStore.DocumentStore, E>) =>
  Effect.map(Layer.build(Layer.fresh(layer)), (context) => Context.get(context, DocumentStore.DocumentStore))

const all = (store: Service, name: string) => Stream.runCollect(store.stream(name, { sort: { _id: 1 } }))

/** Writes in any order, with keys of a unique index that go from one document to another. */
const write = Effect.fnUntraced(function*(store: Service, times: number) {
  for (let i = 0; i < times; i++) {
    const [_id, kind] = [yield* Random.nextIntBetween(0, 40), yield* Random.nextIntBetween(0, 5)]
    if (kind === 0) yield* store.deleteOne("orders", { _id })
    else {
      const swap = Effect.gen(function*() {
        const key = yield* Random.nextIntBetween(0, 40)
        const holder = (yield* store.find("orders", { filter: { key } }))[0]
        const own = yield* store.findById("orders", _id)
        if (holder !== undefined) {
          yield* store.updateOne("orders", { _id: holder["_id"] }, { $set: { key: `of ${String(holder["_id"])}` } })
        }
        yield* store.replaceOne("orders", { _id }, { _id, key, i }, { upsert: true })
        if (holder !== undefined && holder["_id"] !== _id && typeof own?.["key"] === "number") {
          yield* store.updateOne("orders", { _id: holder["_id"] }, { $set: { key: own["key"] } })
        }
      })
      yield* kind === 1 ? store.transaction(swap) : swap
    }
  }
})

/** Follows until it has nothing to do, or until it has applied some changes and dies. */
const following = Effect.fnUntraced(function*(
  from: StoreFollow.Source,
  to: Service,
  { dieAfter = Infinity, onPage = Effect.void }: {
    readonly dieAfter?: number
    readonly onPage?: Effect.Effect<unknown>
  } = {}
) {
  const seen = yield* Deferred.make<StoreFollow.Following>()
  const fiber = yield* Effect.forkChild(StoreFollow.follow({
    from,
    to,
    onFollowing: (now) =>
      now.changes >= dieAfter
        ? Effect.die("killed")
        : now.behind === 0 && dieAfter === Infinity
        ? Deferred.succeed(seen, now)
        : onPage
  }))
  const result = yield* Effect.raceFirst(Deferred.await(seen), Effect.exit(Fiber.join(fiber)))
  yield* Fiber.interrupt(fiber)
  return result
})

const contract = <E>(
  from: Layer.Layer<DocumentStore.DocumentStore, E>,
  to: Layer.Layer<DocumentStore.DocumentStore, E>
) =>
  it.live("has what the source has, however often it ends, and is completed by a copy", () =>
    Effect.scoped(Effect.gen(function*() {
      const [source, target] = [yield* made(from), yield* made(to)]
      const used = StoreFollow.openStore(source)
      yield* source.insertOne("notes", { _id: "n", text: "old" })
      assert.include((yield* Effect.flip(StoreFollow.follow({ from: used, to: target }))).message, "no model is logged")
      yield* source.changes.record("orders", {})
      yield* source.createIndexes("orders", [
        { name: "key_1", key: { key: 1 }, unique: true },
        { name: "i_1", key: { i: 1 } }
      ])
      yield* write(source, 200)
      for (const dieAfter of [1, 100, 300, 50]) {
        // It writes while a page is copied, and no further ahead: what is left to copy does not grow on a slow machine.
        const page = yield* Latch.make(true)
        const writing = page.await.pipe(Effect.andThen(page.close), Effect.andThen(write(source, 30)), Effect.forever)
        yield* Effect.raceFirst(writing, following(used, target, { dieAfter, onPage: page.open }))
      }
      yield* source.updateOne("notes", { _id: "n" }, { $set: { text: "new" } })
      const last = yield* following(used, target)
      assert.deepInclude(last, { followed: ["orders"], others: ["notes"], behind: 0 })
      assert.deepStrictEqual(yield* all(target, "orders"), yield* all(source, "orders"))
      // Those that refuse or remove documents come last.
      assert.deepStrictEqual((yield* target.listIndexes("orders")).map(({ name }) => name), ["i_1"])
      assert.deepStrictEqual(yield* all(target, "notes"), [{ _id: "n", text: "old" }])

      // What was not kept is copied again.
      yield* source.changes.record("orders", undefined)
      yield* source.deleteOne("orders", { _id: (yield* all(source, "orders"))[0]?.["_id"] })
      yield* source.changes.record("orders", {})
      yield* following(used, target)
      assert.deepStrictEqual(yield* all(target, "orders"), yield* all(source, "orders"))

      const copied = yield* StoreCopy.copy({ from: source, to: target })
      assert.deepStrictEqual(copied.map(({ indexes, name }) => [name, indexes]), [
        ["notes", []],
        ["orders", ["i_1", "key_1"]]
      ])
      assert.deepStrictEqual(yield* all(target, "notes"), [{ _id: "n", text: "new" }])
      assert.include((yield* Effect.flip(StoreFollow.follow({ from: used, to: target }))).message, "complete copy")
    })))

describe("A copy in a folder that follows", () => {
  contract(EmbeddedStore.layerMemory, freshFolder(EmbeddedStore.layerWith))
})

onMongo("A copy in MongoDB that follows / mongodb", (mongo) => {
  contract(freshFolder(EmbeddedStore.layerWith), mongo)
})
