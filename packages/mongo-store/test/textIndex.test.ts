import { assert, it } from "@effect/vitest"
import { Effect, type Layer, Stream } from "effect"
import { type CommandStartedEvent, GridFSBucket, MongoClient } from "mongodb"
import { freshDatabase, onMongo } from "../../../test/support/mongo.ts"
import { embeddedStores } from "../../../test/support/storeMatrix.ts"
import { type Document, DocumentStore, type FindOptions } from "../../document-store/src/DocumentStore.ts"
import { makeDriverDeadlines } from "../src/driver/deadlines.ts"
import * as mongo from "../src/driver/driverCall.ts"
import { toDriverIndex } from "../src/store/indexCodec.ts"
import { makeMongoOperations } from "../src/store/operations.ts"

const index = {
  name: "text",
  key: { title: "text", "parts.text": "text" },
  weights: { title: 10 },
  defaultLanguage: "none"
} as const

const byScore = { score: { $meta: "textScore" } } as const

const textIndexContract = <E>(name: string, layer: Layer.Layer<DocumentStore, E>) =>
  it.layer(layer)(`Text index / ${name}`, (it) => {
    const documents: ReadonlyArray<Document> = [
      { _id: 1, title: "Green tea", kind: "drink", parts: [{ text: "water" }, { text: "tea leaves" }] },
      { _id: 2, title: "Thé noir", kind: "drink" },
      { _id: 3, title: "Tea cups", kind: "thing", parts: { text: ["porcelain", "green"] } },
      { _id: 4, title: "Coffee", kind: "drink", parts: [{ text: "no tea in it" }] },
      { _id: 5, kind: "thing" }
    ]
    let collections = 0

    const withTexts = Effect.gen(function*() {
      const store = yield* DocumentStore
      const name = `texts ${collections += 1}`
      yield* store.insertMany(name, documents.slice(0, 3))
      yield* store.createIndexes(name, [index])
      yield* store.insertMany(name, documents.slice(3))
      const find = (options: FindOptions) => store.find(name, options)
      return {
        store,
        name,
        find,
        ids: (text: string, more: Document = {}) =>
          Effect.map(
            find({ filter: { $text: { $search: text }, ...more }, sort: { _id: 1 } }),
            (documents) => documents.map(({ _id }) => _id)
          )
      }
    })

    it.effect("finds documents by words of any of its fields, before and after it was made", () =>
      Effect.gen(function*() {
        const { ids } = yield* withTexts
        assert.deepStrictEqual(yield* ids("tea"), [1, 3, 4])
        assert.deepStrictEqual(yield* ids("THE coffee"), [2, 4])
        assert.deepStrictEqual(yield* ids("green -cups"), [1])
        assert.deepStrictEqual(yield* ids("\"green tea\""), [1])
        assert.deepStrictEqual(yield* ids("none"), [])
        assert.deepStrictEqual(yield* ids("-tea"), [])
        assert.deepStrictEqual(yield* ids("tea", { kind: "drink" }), [1, 4])
        assert.deepStrictEqual(yield* ids("tea", { _id: { $in: [2, 3] } }), [3])
        assert.deepStrictEqual(yield* ids("tea", { $or: [{ _id: 3 }, { kind: "drink" }] }), [1, 3, 4])
      }))

    it.effect("counts, streams and aggregates what it finds", () =>
      Effect.gen(function*() {
        const { name, store } = yield* withTexts
        const filter = { $and: [{ $text: { $search: "tea green" } }, { kind: "drink" }] }
        assert.strictEqual(yield* store.count(name, filter), 2)
        assert.strictEqual((yield* Stream.runCollect(store.stream(name, { filter }))).length, 2)
        assert.deepStrictEqual(yield* store.distinct(name, "kind", filter), ["drink"])
        const pipeline = [{ $match: filter }, { $sort: byScore }, { $project: { kind: 1 } }]
        assert.deepStrictEqual(yield* Stream.runCollect(store.aggregate(name, pipeline)), [
          { _id: 1, kind: "drink" },
          { _id: 4, kind: "drink" }
        ])
      }))

    it.effect("sorts by text score, and projects it", () =>
      Effect.gen(function*() {
        const { find } = yield* withTexts
        const filter = { $text: { $search: "tea" } }
        const best = yield* find({ filter, sort: byScore, projection: { title: 1, ...byScore } })
        assert.deepStrictEqual(best, [
          { _id: 1, title: "Green tea", score: 10 * 0.75 + 0.75 },
          { _id: 3, title: "Tea cups", score: 10 * 0.75 },
          { _id: 4, title: "Coffee", score: 0.5 / 4 + 0.5 }
        ])
        const second = yield* find({ filter, sort: byScore, skip: 1, limit: 1 })
        assert.deepStrictEqual(second, documents.slice(2, 3))
        const whole = yield* find({ filter: { ...filter, _id: 3 }, projection: byScore })
        assert.deepStrictEqual(whole, [{ ...documents[2], score: 7.5 }])
        const kinds = yield* find({ filter, sort: { kind: 1, ...byScore }, projection: { _id: 1 } })
        assert.deepStrictEqual(kinds, [{ _id: 1 }, { _id: 4 }, { _id: 3 }])
      }))

    it.effect("is kept up to date by writes", () =>
      Effect.gen(function*() {
        const { ids, name, store } = yield* withTexts
        yield* store.updateOne(name, { _id: 4 }, { $set: { parts: [], title: "Kaffee" } })
        yield* store.replaceOne(name, { _id: 5 }, { title: "tea" })
        yield* store.deleteOne(name, { _id: 1 })
        assert.deepStrictEqual(yield* ids("tea coffee"), [3, 5])
        assert.deepStrictEqual(yield* ids("kaffee"), [4])
        const { modifiedCount } = yield* store.updateMany(name, { $text: { $search: "tea" } }, { $set: { hot: true } })
        assert.strictEqual(modifiedCount, 2)
        assert.strictEqual(yield* store.deleteMany(name, { $text: { $search: "tea -cups" } }), 1)
        assert.deepStrictEqual(yield* ids("tea"), [3])
      }))

    it.effect("rejects a search without a text index, at an invalid place, or with invalid options", () =>
      Effect.gen(function*() {
        const { find, name, store } = yield* withTexts
        const $text = { $search: "tea" }
        const refused: ReadonlyArray<readonly [string, Effect.Effect<unknown, { readonly _tag: string }>]> = [
          ["QueryRejected", store.find("none", { filter: { $text } })],
          ["QueryRejected", find({ filter: { $or: [{ $text }, { _id: 1 }] } })],
          ["QueryRejected", find({ filter: { $nor: [{ $text }] } })],
          ["QueryRejected", find({ filter: { parts: { $elemMatch: { $text } } } })],
          ["QueryRejected", find({ filter: { $and: [{ $text }, { $text }] } })],
          ["QueryRejected", find({ filter: { $text: { $search: "tea", $foo: 1 } } })],
          ["QueryRejected", find({ sort: byScore })],
          ["Unsupported", find({ projection: byScore })],
          ["QueryRejected", Stream.runDrain(store.aggregate(name, [{ $skip: 0 }, { $match: { $text } }]))],
          ["QueryRejected", store.createIndexes(name, [{ name: "other", key: { kind: "text" } }])],
          ["Unsupported", store.createIndexes("none", [{ name: "hash", key: { place: "geoHaystack" } }])],
          ["Unsupported", store.createIndexes("none", [{ name: "all", key: { "$**": "text" } }])],
          ["Unsupported", store.createIndexes("none", [{ name: "more", key: { kind: 1, title: "text" } }])],
          ["Unsupported", store.syncIndexes(name, [{ name: "hash", key: { place: "geoHaystack" } }])]
        ]
        for (const [tag, effect] of refused) assert.strictEqual((yield* Effect.flip(effect))._tag, tag)
        assert.deepStrictEqual(yield* store.listIndexes(name), [index])
      }))

    it.effect("has new words and weights after it is rebuilt", () =>
      Effect.gen(function*() {
        const { find, ids, name, store } = yield* withTexts
        const other = { name: "text", key: { kind: "text" } } as const
        assert.strictEqual((yield* Effect.flip(store.createIndexes(name, [other])))._tag, "QueryRejected")
        assert.deepStrictEqual((yield* store.syncIndexes(name, [other])).rebuilt, ["text"])
        assert.deepStrictEqual(yield* ids("tea"), [])
        assert.deepStrictEqual(yield* ids("thing"), [3, 5])
        assert.deepStrictEqual(yield* find({ filter: { $text: { $search: "thing" }, _id: 3 }, projection: byScore }), [
          { ...documents[2], score: 1.1 }
        ])
      }))
  })

embeddedStores(textIndexContract)

onMongo("Text index / mongodb", (_, server) => {
  it.effect("sends the commands for a text index and a search (the test server has none)", () =>
    Effect.gen(function*() {
      const db = yield* freshDatabase(server)
      const client = yield* Effect.acquireRelease(
        Effect.sync(() => new MongoClient(server.url, { monitorCommands: true })),
        (client) => Effect.promise(() => client.close())
      )
      const commands: Array<Document> = []
      client.on("commandStarted", ({ command }: CommandStartedEvent) => commands.push(command))
      const session: mongo.MongoSession = {
        collection: (name) => client.db(db).collection(name),
        files: (bucketName) => new GridFSBucket(client.db(db), { bucketName }),
        startSession: () => client.startSession(),
        redact: (text) => text,
        limit: 30_000,
        lookUpLimit: 30_000,
        deadlines: yield* makeDriverDeadlines,
        attributes: {}
      }
      const call = { session, operation: "createIndexes", collection: "texts" }
      const refused = yield* Effect.flip(mongo.runCall(call, (_) => _.createIndexes([toDriverIndex(index)])))
      assert.strictEqual(refused._tag, "QueryRejected")
      const { find } = makeMongoOperations(session, () => Effect.succeed([]))
      const filter = { $text: { $search: "tea -cups \"green tea\"", $caseSensitive: true } }
      yield* Effect.exit(find("texts", { filter, sort: byScore, projection: { title: 1, ...byScore }, limit: 2 }))
      const [create, search] = commands
      assert.deepStrictEqual(create?.["indexes"], [{
        name: "text",
        key: new Map([["title", "text"], ["parts.text", "text"]]),
        weights: { title: 10 },
        default_language: "none"
      }])
      assert.deepInclude(search, {
        find: "texts",
        filter,
        sort: new Map([["score", { $meta: "textScore" }]]),
        projection: { title: 1, ...byScore },
        limit: 2
      })
    }))
})
