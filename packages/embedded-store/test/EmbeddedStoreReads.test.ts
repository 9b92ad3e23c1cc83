import { DocumentStore } from "@appkernel/document-store/DocumentStore"
import { assert, describe, it } from "@effect/vitest"
import { Binary } from "bson"
import { Effect, Random, Stream } from "effect"
import * as path from "node:path"
import { freshDirectory, freshFolder } from "../../../test/support/folders.ts"
import { runProgram } from "../../../test/support/processes.ts"
import * as EmbeddedStore from "../src/EmbeddedStore.ts"

for (
  const [name, layer] of [
    ["memory", EmbeddedStore.layerMemory],
    ["embedded", freshFolder(EmbeddedStore.layerWith)]
  ] as const
) {
  it.layer(layer)(`EmbeddedStore reads / ${name}`, (it) => {
    it.effect("finds each of many unique values, also long ones with a common prefix", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        yield* store.createIndexes("long", [
          { name: "n", key: { n: 1 }, unique: true },
          { name: "two", key: { two: -1, n: 1 }, unique: true }
        ])
        const valueOf = (_id: number) => `${"a".repeat([0, 5, 850, 895, 900, 2_000][_id % 6] ?? 0)}${_id}`
        const documents = Array.from({ length: 60 }, (_, _id) => ({ _id, n: valueOf(_id), two: valueOf(_id % 7) }))
        yield* store.insertMany("long", [...documents, { _id: "none" }])
        for (const document of documents) {
          const { n, two } = document
          assert.deepStrictEqual(yield* store.find("long", { filter: { n } }), [document])
          assert.deepStrictEqual(yield* store.find("long", { filter: { n, two } }), [document])
          assert.deepStrictEqual(yield* store.find("long", { filter: { n, two: "other" } }), [])
          assert.deepStrictEqual(yield* store.find("long", { filter: { n: `${n}0000` } }), [])
        }
        assert.deepStrictEqual(yield* store.find("long", { filter: { n: null } }), [{ _id: "none" }])
        const some = [documents[5], documents[11], documents[3]]
        const found = yield* store.find("long", { filter: { n: { $in: some.map((document) => document?.n) } } })
        assert.sameDeepMembers([...found], some)
        assert.deepStrictEqual(yield* store.find("long", { filter: { n: { $in: [] } } }), [])
      }))

    it.effect("a lookup by a unique value sees the transaction's own inserts and removals", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        yield* store.createIndexes("moving", [{ name: "n", key: { n: 1 }, unique: true }])
        yield* store.insertMany("moving", [{ _id: 1, n: "a" }, { _id: 2, n: "b" }])
        const find = (n: string) => store.find("moving", { filter: { n } })
        yield* store.transaction(Effect.gen(function*() {
          yield* store.updateOne("moving", { n: "a" }, { $set: { n: "c" } })
          yield* store.deleteOne("moving", { n: "b" })
          yield* store.insertOne("moving", { _id: 3, n: "a" })
          assert.deepStrictEqual(yield* find("a"), [{ _id: 3, n: "a" }])
          assert.deepStrictEqual(yield* find("b"), [])
          assert.deepStrictEqual(yield* find("c"), [{ _id: 1, n: "c" }])
        }))
        assert.deepStrictEqual(yield* find("a"), [{ _id: 3, n: "a" }])
        assert.deepStrictEqual(yield* find("c"), [{ _id: 1, n: "c" }])
      }))

    it.effect("finds unique values in lists after their insertion", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        yield* store.createIndexes("lists", [{ name: "n", key: { n: 1 }, unique: true }])
        const find = (n: unknown) =>
          Effect.map(store.find("lists", { filter: { n } }), (all) => all.map(({ _id }) => _id))
        yield* store.insertOne("lists", { _id: 1, n: 1 })
        assert.deepStrictEqual(yield* find(1), [1])
        yield* store.insertMany("lists", [{ _id: 2, n: [2, 3] }, { _id: 3, n: [] }])
        assert.deepStrictEqual([yield* find(1), yield* find(3), yield* find([2, 3])], [[1], [2], [2]])
      }))

    it.effect("returns documents that later reads and writes do not change", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        const documentOf = (_id: number, length: number) => ({
          _id,
          bytes: new Binary(new Uint8Array(length).fill(_id)),
          text: `${_id} é`.repeat(length)
        })
        const lengths = [1, 100, 5_000, 70_000, 1_000_000]
        const documents = lengths.map((length, _id) => documentOf(_id, length))
        yield* store.insertMany("bytes", documents)
        const one = yield* Effect.forEach(documents, ({ _id }) => store.findById("bytes", _id))
        const all = yield* store.find("bytes", { sort: { _id: 1 } })
        const streamed = yield* Stream.runCollect(store.stream("bytes", { sort: { _id: -1 } }))
        yield* store.updateMany("bytes", {}, { $set: { bytes: 0, text: "other" } })
        yield* store.find("bytes", {})
        for (const read of [one, all, streamed.toReversed()]) {
          assert.strictEqual(read.length, documents.length)
          for (const [i, document] of documents.entries()) {
            const { bytes, text } = { ...read[i] }
            assert.isTrue(bytes instanceof Binary)
            assert.isTrue(
              Buffer.from(document.bytes.buffer).equals(bytes instanceof Binary ? bytes.buffer : new Uint8Array())
            )
            assert.isTrue(text === document.text)
          }
        }
      }))

    it.effect.each([400, 6_000])(
      "counts %s and turns to any page beside writers who change no number",
      (half) =>
        Effect.gen(function*() {
          const store = yield* DocumentStore
          const balanced = `balanced ${half}`
          yield* store.createIndexes(balanced, [{ name: "side", key: { side: 1, n: 1 } }])
          const sides = ["left", "right"] as const
          yield* store.insertMany(
            balanced,
            Array.from({ length: 2 * half }, (_, n) => ({ _id: n, n, side: sides[n % 2] }))
          )
          const move = (from: string, to: string) => store.updateOne(balanced, { side: from }, { $set: { side: to } })
          const writer = Effect.gen(function*() {
            // Of any place, not of the first one.
            const n = yield* Random.nextIntBetween(0, 2 * half - 1)
            yield* store.updateOne(balanced, { _id: n }, { $set: { n: -n } })
            yield* store.transaction(Effect.andThen(move("left", "right"), move("right", "left")))
          })
          const page = (skip: number, direction: 1 | -1) =>
            store.findAndCount(balanced, { filter: { side: "left" }, sort: { n: direction }, skip, limit: 10 })
          // From here on, the places are known.
          yield* page(half - 10, 1)
          yield* Effect.all([
            Effect.forEach(Array.from({ length: 120 }), () => writer, { concurrency: 8 }),
            ...[0, 10, Math.floor(half / 2.4), half - 10].map((skip) =>
              Effect.repeat(
                Effect.gen(function*() {
                  for (const direction of [1, -1] as const) {
                    const { documents, total } = yield* page(skip, direction)
                    assert.deepStrictEqual([documents.length, total], [10, half])
                  }
                  assert.strictEqual(yield* store.count(balanced, { side: "right" }), half)
                }),
                { times: 60 }
              )
            )
          ], { concurrency: "unbounded" })
        })
    )

    it.effect("stores a document of the maximum size", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        // All else takes 27 of 16 MiB.
        const text = "x".repeat(16 * 1024 * 1024 - 27)
        yield* store.insertMany("large", [{ _id: "a", text }, { _id: "b", text: "small" }])
        const document = yield* store.findById("large", "a")
        const all = yield* store.find("large", { sort: { _id: -1 } })
        assert.isTrue(document?.["text"] === text)
        assert.isTrue(all[1]?.["text"] === text)
        assert.strictEqual(all[0]?.["text"], "small")
      }))
  })
}

const total = 60_000

// In MB; the documents themselves have about 240.
const most = 120

describe("EmbeddedStore and memory / embedded", () => {
  // Only Linux tells what a process has for itself from the pages of files that it shares.
  it.effect.runIf(process.platform === "linux")(
    "streams far more data than it uses memory",
    () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        const memoryOf = (task: string) =>
          Effect.scoped(Effect.gen(function*() {
            const program = yield* runProgram(programFile, { TASK: task, FOLDER: folder, TOTAL: `${total}` })
            assert.strictEqual(yield* program.ended, 0, program.output())
            const said = new Map(
              program.output().trim().split("\n").map((line) => [line.split(" ")[0], line.split(" ")[1]])
            )
            return { seen: Number(said.get("seen")), own: Number(said.get("own")) }
          }))
        yield* memoryOf("fill")
        const { own, seen } = yield* memoryOf("stream")
        assert.strictEqual(seen, total)
        assert.isBelow(own, most)
        // Who keeps the documents has them in memory: what is measured is what is used.
        assert.isAbove((yield* memoryOf("keep")).own, 1.5 * most)
      })
  )
})

const programFile = path.join(import.meta.dirname, "../../../test/support/streamProgram.ts")
