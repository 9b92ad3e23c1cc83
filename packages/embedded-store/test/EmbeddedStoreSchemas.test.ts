import { type Document, DocumentStore } from "@appkernel/document-store/DocumentStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Result } from "effect"
import { freshDirectory, freshFolder } from "../../../test/support/folders.ts"
import * as EmbeddedStore from "../src/EmbeddedStore.ts"

const nested = (levels: number, innermost: Document): Document => {
  let schema = innermost
  for (let i = 0; i < levels; i++) schema = { properties: { a: schema } }
  return schema
}

describe("A collection's schema / embedded", () => {
  it.effect("is kept in the folder", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const inFolder = <A, E>(use: (store: DocumentStore["Service"]) => Effect.Effect<A, E>) =>
        Effect.scoped(Effect.flatMap(EmbeddedStore.make({ path: folder }), use))
      const schema = { required: ["n"], properties: { n: { bsonType: "int" }, 2: {}, 1: { enum: [new Date(0), /a/] } } }
      yield* inFolder((store) =>
        Effect.gen(function*() {
          yield* store.setValidator("strict", schema)
          yield* store.setValidator("lax", schema, { action: "warn" })
          yield* store.setValidator("deep", nested(90, { bsonType: "int" }))
          yield* store.createIndexes("strict", [{ name: "n", key: { n: 1 } }])
        })
      )
      yield* inFolder((store) =>
        Effect.gen(function*() {
          const error = yield* Effect.flip(store.insertOne("strict", { _id: 1, n: "1" }))
          assert.match(error.message, /n \(bsonType\)$/)
          yield* store.insertOne("strict", { _id: 1, n: 1, 1: new Date(0) })
          assert.isTrue(Result.isFailure(yield* Effect.result(store.updateOne("strict", {}, { $set: { 1: 5 } }))))
          yield* store.insertOne("lax", { _id: 1 })
          yield* store.insertOne("deep", { _id: 1, a: 1 })
          yield* store.setValidator("strict", undefined)
        })
      )
      yield* inFolder((store) => store.insertOne("strict", { _id: 2, n: "2" }))
    }))
})

for (
  const [name, layer] of [
    ["memory", EmbeddedStore.layerMemory],
    ["embedded", freshFolder(EmbeddedStore.layerWith)]
  ] as const
) {
  describe(`A collection's schema / ${name}`, () => {
    it.effect("logs what it only warns of, without values", () => {
      const logged: Array<string> = []
      const logger = Logger.make(({ message }) => logged.push(String(message)))
      return Effect.gen(function*() {
        const store = yield* DocumentStore
        yield* store.setValidator("things", { properties: { n: { maximum: 5 } } }, { action: "warn" })
        yield* store.insertMany("things", [{ _id: 1, n: 5 }, { _id: 2, n: 77 }])
        yield* Effect.yieldNow
        assert.deepStrictEqual(logged, [
          "A document was written to \"things\" with a warning: the document does not fulfil the rules of its collection: "
          + "n (maximum)"
        ])
      }).pipe(Effect.provide(Layer.provideMerge(layer, Logger.layer([logger]))))
    })
  })

  it.layer(layer)(`A collection's schema / ${name}`, (it) => {
    it.effect("holds in transactions, also in those that have begun before it was set", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        const insert = (document: Document) => store.transaction(store.insertOne("orders", document))
        yield* insert({ _id: 1 })
        yield* store.setValidator("orders", { required: ["n"] })
        assert.strictEqual((yield* Effect.flip(insert({ _id: 2 })))._tag, "QueryRejected")
        yield* insert({ _id: 2, n: 1 })
        let attempts = 0
        const late = store.transaction(Effect.gen(function*() {
          attempts += 1
          yield* store.insertOne("orders", { _id: 3, n: 1 })
          if (attempts === 1) {
            yield* outside(store.setValidator("orders", { required: ["other"] }))
          }
        }))
        assert.strictEqual((yield* Effect.flip(late))._tag, "QueryRejected")
        assert.strictEqual(attempts, 2)
        assert.strictEqual(yield* store.count("orders", {}), 2)
      }))

    it.effect("is bounded in depth, and in its work for one document", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        const refused = (schema: Document) =>
          Effect.gen(function*() {
            yield* store.insertOne("things", { _id: Math.random() })
            assert.strictEqual((yield* Effect.flip(store.setValidator("others", schema)))._tag, "QueryRejected")
            assert.strictEqual(
              (yield* Effect.flip(store.count("things", { $jsonSchema: schema })))._tag,
              "QueryRejected"
            )
          })
        yield* refused(nested(10_000, {}))
        yield* refused({ properties: { a: { pattern: "(a{1000}){1000}" } } })
        yield* refused({ patternProperties: { "(?=a)b": {} } })
        const long = "a".repeat(50_000)
        const several = Array.from({ length: 400 }, () => ({ pattern: "^(a+)+$" }))
        const items = Array.from({ length: 20_000 }, (_, x) => ({ x, y: x }))
        yield* store.insertMany("large", [{ _id: 1, text: `${long}!` }, { _id: 2, items }])
        // A pattern does not backtrack.
        const backtracking = { $jsonSchema: { properties: { text: { pattern: "^(a+)+$" } } } }
        assert.strictEqual(yield* store.count("large", backtracking), 1)
        assert.strictEqual(
          yield* store.count("large", { $jsonSchema: { properties: { items: { uniqueItems: true } } } }),
          2
        )
        for (
          const schema of [
            { properties: { text: { anyOf: several } } },
            { properties: { items: { allOf: Array.from({ length: 100 }, () => ({ uniqueItems: true })) } } }
          ]
        ) {
          const error = yield* Effect.flip(store.count("large", { $jsonSchema: schema }))
          assert.match(error.message, /too much to compute/)
          yield* store.setValidator("large", schema)
          assert.match(
            (yield* Effect.flip(store.updateMany("large", {}, { $set: { seen: true } }))).message,
            /too much to compute/
          )
          yield* store.setValidator("large", undefined)
          // What was refused takes nothing from the budget of the next one, which evaluates nothing but goes through a list.
          const found = yield* store.find("large", { filter: { _id: 2 }, projection: { "items.x": 1 } })
          assert.deepStrictEqual(found, [{ _id: 2, items: items.map(({ x }) => ({ x })) }])
        }
      }))
  })
}

/** Does something on behalf of somebody who is not in the transaction. */
const outside = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.callback<A, E>((resume) => {
    Effect.runCallback(effect, { onExit: (exit) => resume(exit) })
  })
