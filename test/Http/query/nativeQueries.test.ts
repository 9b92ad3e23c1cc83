import { assert, describe, it } from "@effect/vitest"
import { Decimal128, Long, ObjectId } from "bson"
import { Effect, type Layer, Result, Schema, Stream } from "effect"
import * as NativeQueries from "../../../src/Http/query/nativeQueries.ts"
import { writeDocument } from "../../../src/Http/response/aggregationJson.ts"
import { DocumentStore, EmbeddedStore, Index, Model, type ModelError } from "../../../src/index.ts"
import { formWithout } from "../../../src/Model/codec/restrictedForm.ts"
import { compileSerialiser } from "../../../src/Model/codec/serialiser.ts"
import { documentCodec } from "../../../src/Repository/collection/documentCodec.ts"
import { Comment, Guest, insertGuests } from "../../support/guests.ts"
import { onMongo } from "../../support/mongo.ts"
import { Order } from "../../support/orders.ts"

class Article extends Model.Class<Article>()("Article", {
  id: Model.id(),
  title: Schema.String.pipe(Model.indexed(Index.text())),
  draft: Schema.String.pipe(Model.indexed(Index.text()), Model.omitted)
}) {}

class Page extends Model.Class<Page>()("Page", {
  id: Model.id(),
  title: Schema.String.pipe(Model.indexed(Index.text())),
  owner: Model.ObjectId.pipe(Model.optional)
}) {}

const textOf = (value: unknown): string => typeof value === "string" ? value : JSON.stringify(value)

const readFilter = NativeQueries.filter(Guest)

const readPipeline = NativeQueries.pipeline(Guest, { maxResults: 10_000 })

/** The guests that a query finds. */
const found = Effect.fnUntraced(function*(query: unknown) {
  const store = yield* insertGuests
  const filter = Result.getOrThrow(readFilter(textOf(query)))
  return (yield* store.find("guests", { filter, sort: { _id: 1 } })).map(({ _id }) => String(_id)).join("")
})

/** What leaves a pipeline over the guests. */
const given = Effect.fnUntraced(function*(pipe: unknown) {
  const store = yield* insertGuests
  const pipeline = Result.getOrThrow(readPipeline(textOf(pipe)))
  return Array.from(yield* Stream.runCollect(store.aggregate("guests", pipeline)))
})

interface Refusal {
  readonly status: 400 | 403
  readonly messages: ReadonlyArray<string>
}

const refusalOf = (read: Result.Result<unknown, ReadonlyArray<ModelError.Problem>>): Refusal | undefined => {
  if (Result.isSuccess(read)) return undefined
  const forbidden = NativeQueries.forbiddenOf(read.failure)
  return forbidden === undefined
    ? { status: 400, messages: read.failure.map(({ message }) => message) }
    : { status: 403, messages: [forbidden.message] }
}

const refusedFilter = (query: unknown) => refusalOf(readFilter(textOf(query)))

const refusedPipeline = (pipe: unknown) => refusalOf(readPipeline(textOf(pipe)))

const assertForbidden = (refusal: Refusal | undefined, operator: string): void => {
  assert.deepStrictEqual(refusal, { status: 403, messages: [`${operator} can't be used from outside`] })
}

const assertBad = (refusal: Refusal | undefined, message: RegExp): void => {
  assert.strictEqual(refusal?.status, 400)
  assert.match(refusal?.messages.join() ?? "", message)
}

/** `hasText` says whether the store finds words. */
const querying = <E>(layer: Layer.Layer<DocumentStore.DocumentStore, E>, hasText: boolean): void =>
  it.layer(layer)((it) => {
    it.effect("filters documents in the store's own language", () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* found({}), "ABCDE")
        assert.strictEqual(yield* found({ $or: [{ name: "Ann" }, { age: { $gte: 40 } }] }), "ACD")
        assert.strictEqual(yield* found({ $nor: [{ tags: "red" }, { state: { $in: ["new"] } }] }), "C")
        assert.strictEqual(yield* found({ visits: { $elemMatch: { place: "Bern", nights: { $gt: 1 } } } }), "B")
        assert.strictEqual(yield* found({ tags: { $all: ["red", "blue"] }, scores: { $elemMatch: { $gt: 8 } } }), "A")
        assert.strictEqual(yield* found({ tags: ["red", "blue"] }), "A")
        assert.strictEqual(yield* found({ age: { $not: { $gt: 20 } } }), "AE")
        assert.strictEqual(yield* found({ name: { $regex: "^a", $options: "i" }, $comment: "why" }), "A")
        assert.strictEqual(yield* found({ tags: { $size: 1 }, age: { $exists: true, $mod: [20, 10] } }), "B")
        assert.strictEqual(yield* found({ age: null }), "E")
        assert.strictEqual(yield* found({ labels: { colour: "red" }, "labels.colour": "red" }), "A")
        assert.strictEqual(yield* found({ home: { $exists: true }, visits: { $size: 2 } }), "A")
        assert.strictEqual(
          yield* found({ $expr: { $gt: ["$age", { $multiply: [2, { $size: "$visits" }, 10] }] } }),
          "CD"
        )
      }))

    it.effect("uses wire names, and accepts the store's name of the identifier", () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* found({ id: { $in: ["A", "B"] } }), "AB")
        assert.strictEqual(yield* found({ _id: "B" }), "B")
        assert.strictEqual(yield* found({ $expr: { $eq: ["$id", "A"] } }), "A")
      }))

    it.effect("compares with values as the fields store them", () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* found({ seen: { $gte: "2026-01-31T09:00:00", $lt: "2026-02-01T00:00:00Z" } }), "A")
        assert.strictEqual(yield* found({ seen: { $gt: "2026-01-31" } }), "AC")
        assert.strictEqual(yield* found({ born: { $in: ["1990-02-01"] } }), "A")
        assert.strictEqual(yield* found({ seen: { $date: "2026-01-31T09:30:00.123Z" } }), "A")
        assert.strictEqual(yield* found({ age: { $gt: { $numberLong: "40" } } }), "D")
        assert.strictEqual(yield* found({ age: { $in: [{ $numberDecimal: "30" }, { $numberInt: "20" }] } }), "AB")
        assert.strictEqual(yield* found({ paid: 1_700_000_000 }), "A")
        assert.strictEqual(yield* found({ $expr: { $lt: ["$seen", { $date: "2026-01-31T00:00:00Z" }] } }), "DE")
        assertBad(refusedFilter({ seen: { $gt: "yesterday" } }), /"seen" can't take "yesterday"/)
        assertBad(refusedFilter({ age: "30", tags: { $in: [1] } }), /"age" can't take "30",.*"tags" can't take 1/)
        assertBad(refusedFilter({ seen: { $date: "never" } }), /\$date/)
      }))

    it.effect("allows a text search only if no omitted text is searched", () =>
      Effect.gen(function*() {
        const search = JSON.stringify({ $text: { $search: "tea", $caseSensitive: false } })
        assert.isTrue(Result.isSuccess(NativeQueries.filter(Page)(search)))
        assertForbidden(refusalOf(NativeQueries.filter(Article)(search)), "$text")
        assertBad(refusalOf(NativeQueries.filter(Page)(JSON.stringify({ $text: { $search: 1 } }))), /\$text/)
        assertBad(
          refusalOf(NativeQueries.filter(Page)(JSON.stringify({ $text: { $search: "", $where: "" } }))),
          /\$text/
        )
        if (!hasText) return
        const store = yield* DocumentStore.DocumentStore
        yield* store.createIndexes("pages", [{ name: "text", key: { title: "text" } }])
        yield* store.insertOne("pages", { _id: "P", title: "green tea" })
        const filter = Result.getOrThrow(NativeQueries.filter(Page)(search))
        assert.strictEqual(yield* store.count("pages", filter), 1)
      }))
  })

describe("a query of a client / memory", () => {
  querying(EmbeddedStore.layerMemory, true)
})
onMongo("a query from outside / mongodb", (layer, { name }) => querying(layer, !name.startsWith("SecantusDB")))

describe("a query of a client", () => {
  it("is rejected by name for an operator outside of the allowlist, at any depth", () => {
    assert.isUndefined(refusedFilter({ $and: [{ name: { $not: { $eq: "1" } } }] }))
    for (const operator of ["$where", "$jsonSchema", "$sampleRate", "$nonsense", "$function", "$out"]) {
      assertForbidden(refusedFilter({ [operator]: "1" }), operator)
      assertForbidden(refusedFilter({ $and: [{ $or: [{ $nor: [{ [operator]: "1" }] }] }] }), operator)
      assertForbidden(refusedFilter({ name: { [operator]: "1" } }), operator)
      assertForbidden(refusedFilter({ name: { $not: { [operator]: "1" } } }), operator)
      assertForbidden(refusedFilter({ visits: { $elemMatch: { place: { [operator]: "1" } } } }), operator)
      assertForbidden(refusedFilter({ $expr: { $and: [{ $cond: [true, { [operator]: 1 }, 2] }] } }), operator)
    }
    const code = { $function: { body: "function() {}", args: [], lang: "js" } }
    assertForbidden(refusedFilter({ $expr: code }), "$function")
    assertForbidden(refusedFilter({ $expr: { $let: { vars: { x: code }, in: "$$x" } } }), "$function")
    assertForbidden(refusedFilter({ $expr: { $toHashedIndexKey: "$name" } }), "$toHashedIndexKey")
    assertForbidden(refusedFilter({ $expr: { $eq: ["$$USER_ROLES", 1] } }), "$$USER_ROLES")
    assertForbidden(refusedFilter({ $expr: { $meta: "indexKey" } }), `$meta "indexKey"`)
    assertForbidden(
      refusedFilter({ name: { $regularExpression: { pattern: "a", options: "" } } }),
      "$regularExpression"
    )
    assertForbidden(refusedFilter({ name: { $code: "1" } }), "$code")
  })

  it("can't access omitted fields, at any depth and in any way", () => {
    assert.isUndefined(refusedFilter({ "home.city": "Bern", $expr: { $eq: ["$home.city", "Bern"] } }))
    for (const path of ["secret", "home.pin", "visits.pin", "visits.0.pin", "nope", "home.nope", "_links", "name.x"]) {
      assertBad(refusedFilter({ [path]: "1" }), /is not a field/)
      assertBad(refusedFilter({ $or: [{ [path]: { $exists: true } }] }), /is not a field/)
      assertBad(refusedFilter({ $expr: { $eq: [`$${path}`, "1"] } }), /is not a field/)
      assertBad(refusedFilter({ $expr: { $let: { vars: { x: `$${path}` }, in: "$$x" } } }), /is not a field/)
    }
    assertBad(refusedFilter({ visits: { $elemMatch: { pin: "2222" } } }), /"visits.pin" is not a field/)
    assertBad(refusedFilter({ visits: { $all: [{ $elemMatch: { pin: "2222" } }] } }), /"visits.pin" is not a field/)
    const ofElement = { $expr: { $eq: ["$name", "2222"] } }
    for (const element of [ofElement, { place: "Bern", ...ofElement }, { $nor: [{ $and: [{ $or: [ofElement] }] }] }]) {
      assertBad(refusedFilter({ visits: { $elemMatch: element } }), /\$expr can't be used within \$elemMatch/)
      assertBad(refusedFilter({ visits: { $all: [{ $elemMatch: element }] } }), /\$expr can't be used within/)
      assertBad(refusedFilter({ visits: { $not: { $elemMatch: element } } }), /\$expr can't be used within/)
      const stages = [{ $project: { x: "$visits" } }, { $match: { x: { $elemMatch: element } } }]
      assertBad(refusedPipeline(stages), /\$expr can't be used within/)
    }
    // Who could compare the whole could guess what is in it.
    for (const value of [{ city: "Bern", pin: "1111" }, { city: "Bern" }, { $gt: { city: "Bern", pin: "1" } }]) {
      assertBad(refusedFilter({ home: value }), /as a whole|can't take/)
    }
    assertBad(refusedFilter({ visits: { $in: [[{ place: "Bern" }]] } }), /as a whole/)
    assertBad(refusedFilter({ $expr: { $gt: ["$home", { city: "Bern", pin: "1" }] } }), /as a whole/)
    assertBad(refusedFilter({ $expr: { $map: { input: "$visits", in: "$$this.pin" } } }), /as a whole/)
    assertForbidden(refusedFilter({ $expr: { $eq: ["$$ROOT.secret", "abc"] } }), "$$ROOT")
    assertForbidden(refusedFilter({ $expr: { $eq: ["$$CURRENT", 1] } }), "$$CURRENT")
    assertForbidden(refusedFilter({ $expr: { $eq: [{ $getField: "secret" }, "abc"] } }), "$getField")
    assertForbidden(refusedFilter({ $expr: { $getField: { field: "secret", input: "$$ROOT" } } }), "$$ROOT")
    assertForbidden(refusedFilter({ $expr: { $objectToArray: "$$ROOT" } }), "$$ROOT")
    assertBad(refusedFilter({ $expr: { $let: { vars: { CURRENT: "$name" }, in: "$secret" } } }), /CURRENT/)
  })

  it("is bounded in its length, its depth, its lists and its regular expressions", () => {
    assertBad(refusedFilter(`{"name":"${"x".repeat(1_000_000)}"}`), /at most 32768 characters/)
    assertBad(refusedFilter("[".repeat(100_000) + "]".repeat(100_000)), /at most 32768 characters/)
    assertBad(refusedFilter("[".repeat(16_000) + "]".repeat(16_000)), /32 levels deep/)
    assertBad(refusedFilter(`${"{\"$and\":[".repeat(40)}{}${"]}".repeat(40)}`), /32 levels deep/)
    assertBad(refusedFilter({ age: { $in: Array.from({ length: 1_001 }, (_, i) => i) } }), /1000 values/)
    assertBad(refusedFilter({ name: { $regex: "x".repeat(257) } }), /256 characters/)
    assert.isUndefined(refusedFilter({ name: { $regex: "x".repeat(256), $options: "imsx" } }))
    assertBad(refusedFilter({ name: { $regex: "x", $options: "g" } }), /other than i, m, s and x/)
    assertBad(refusedFilter({ name: { $options: "i" } }), /\$options/)
    assertBad(refusedFilter({ $expr: { $regexMatch: { input: "$name", regex: "x".repeat(257) } } }), /256 characters/)
    assertBad(refusedFilter({ $expr: { $regexMatch: { input: "$name", regex: { $concat: ["a", "b"] } } } }), /as text/)
    assertBad(refusedFilter({ $expr: { $regexMatch: { input: "$name", regex: "$note" } } }), /compute/)
    assertBad(refusedFilter({ $expr: { $size: { $range: [0, 1e9] } } }), /\$range/)
    assertBad(refusedFilter({ $expr: { $size: { $range: [0, "$age"] } } }), /\$range/)
  })

  it("is rejected if it is no JSON or has names of inherited properties", () => {
    for (const text of ["", "{", "{name:1}", "undefined", "NaN"]) assertBad(refusedFilter(text), /must be JSON/)
    for (const text of ["1", "null", "\"x\"", "[]", "true"]) assertBad(refusedFilter(text), /object of conditions/)
    for (const name of ["__proto__", "constructor", "home.constructor.prototype", "toString", "visits.__proto__.x"]) {
      assertBad(refusedFilter(`{${JSON.stringify(name)}: 1}`), /can't have the name/)
      assertBad(refusedFilter(`{"labels":{${JSON.stringify(name)}:"x"}}`), /can't have the name/)
      assertBad(refusedFilter({ $expr: { $eq: [`$${name}`, 1] } }), /is not a path/)
    }
    assertBad(refusedFilter("{\"name\":\"\\ud800\"}"), /well-formed/)
    assertBad(
      refusedFilter({ $and: {}, $or: 1, age: { $in: 1, $not: 1, $elemMatch: 1, $exists: "x", $size: -1 } }),
      /array/
    )
    const many = refusedFilter(`{${Array.from({ length: 1_000 }, (_, i) => `"x${i}":1`).join()}}`)
    assert.strictEqual(many?.messages.length, 100)
  })
})

const aggregating = <E>(layer: Layer.Layer<DocumentStore.DocumentStore, E>): void =>
  it.layer(layer)((it) => {
    it.effect("computes its stages, and returns at most 10,000 documents", () =>
      Effect.gen(function*() {
        const groups = yield* given([
          { $match: { age: { $gte: 20 } } },
          { $group: { _id: "$state", count: { $sum: 1 }, oldest: { $max: "$age" } } },
          { $sort: { _id: 1 } }
        ])
        assert.deepStrictEqual(groups, [
          { _id: "active", count: 2, oldest: 40 },
          { _id: "gone", count: 1, oldest: 30 },
          { _id: "new", count: 1, oldest: 50 }
        ])
        assert.deepStrictEqual(
          yield* given([{ $unwind: "$visits" }, { $sortByCount: "$visits.place" }, { $limit: 1 }]),
          [
            { _id: "Bern", count: 2 }
          ]
        )
        assert.deepStrictEqual(yield* given([{ $match: { seen: { $gt: "2026-01-31T12:00:00" } } }, { $count: "n" }]), [{
          n: 1
        }])
        assert.deepStrictEqual(
          yield* given([{
            $facet: { all: [{ $count: "n" }], red: [{ $match: { tags: "red" } }, { $project: { id: 1 } }] }
          }]),
          [{ all: [{ n: 5 }], red: [{ _id: "A" }, { _id: "B" }] }]
        )
        assert.sameDeepMembers(
          yield* given([{
            $bucket: { groupBy: "$seen", boundaries: ["2026-01-31", "2026-02-01", "2027-01-01"], default: "other" }
          }]),
          [
            { _id: "other", count: 2 },
            { _id: new Date("2026-01-31T00:00:00.000Z"), count: 2 },
            { _id: new Date("2026-02-01T00:00:00.000Z"), count: 1 }
          ]
        )
        assert.deepStrictEqual(Result.getOrThrow(readPipeline("[]")).at(-1), { $limit: 10_000 })
      }))

    it.effect("never accesses omitted fields in any way", () =>
      Effect.gen(function*() {
        const secrets = /abc|bcd|1111|2222|secret|pin/
        const pipelines: ReadonlyArray<ReadonlyArray<unknown>> = [
          [],
          [{ $match: {} }],
          [{ $match: { name: "Ann" } }, { $sort: { age: 1 } }, { $limit: 5 }, { $skip: 0 }],
          [{ $sort: { home: 1, visits: -1 } }],
          [{ $project: { all: "$$ROOT", current: "$$CURRENT" } }],
          [{ $project: { home: 1, visits: 1 } }],
          [{ $project: { name: 0 } }],
          [{ $addFields: { copy: "$$ROOT", home2: "$home", list: { $objectToArray: "$$ROOT" } } }],
          [{ $addFields: { x: { $getField: "secret" }, y: { $getField: { field: "pin", input: "$home" } } } }],
          [{ $replaceRoot: { newRoot: { all: "$$ROOT" } } }],
          [{ $replaceWith: { $mergeObjects: ["$$ROOT", { x: 1 }] } }],
          [{ $group: { _id: "$home", all: { $push: "$$ROOT" }, visits: { $addToSet: "$visits" } } }],
          [{ $group: { _id: null, top: { $top: { output: "$$ROOT", sortBy: { age: -1 } } } } }],
          [{ $unwind: "$visits" }, { $replaceRoot: { newRoot: "$visits" } }],
          [{ $unwind: { path: "$visits", includeArrayIndex: "i" } }, { $addFields: { "x.y": "$visits" } }],
          [{ $sortByCount: "$home" }],
          [{ $bucketAuto: { groupBy: "$age", buckets: 2, output: { all: { $push: "$$ROOT" } } } }],
          [{ $facet: { a: [], b: [{ $match: {} }], c: [{ $project: { x: "$$ROOT" } }] } }],
          [{ $redact: "$$DESCEND" }],
          [{ $unset: ["name", "home.city"] }],
          [{ $sample: { size: 10 } }],
          [{ $addFields: { x: 1 } }, { $project: { secret: 1, x: 1, p: "$home.pin", v: "$visits.pin" } }],
          [{ $addFields: { x: 1 } }, { $match: { secret: "abc" } }],
          [{ $addFields: { x: 1 } }, { $group: { _id: { $ifNull: ["$secret", "none"] } } }]
        ]
        for (const pipe of pipelines) {
          const documents = JSON.stringify(yield* given(pipe))
          // What the caller named itself is not what a document holds.
          assert.notMatch(documents.replaceAll(/"(?:secret|pin)":(?:null|\[\])/gu, ""), secrets, JSON.stringify(pipe))
        }
        const [documents = {}] = yield* given([{ $match: { name: "Ann" } }])
        assert.deepStrictEqual([documents["home"], documents["visits"]], [{ city: "Bern" }, [
          { place: "Bern", nights: 1 },
          { place: "Rome", nights: 5 }
        ]])
      }))

    it.effect("sorts what it groups by fields that the caller sees, without what they omit", () =>
      Effect.gen(function*() {
        const bestBy = (sortBy: object) =>
          given([{ $group: { _id: null, best: { $topN: { n: 9, sortBy, output: "$id" } } } }])
        const idsBy = (sortBy: object) => Effect.map(bestBy(sortBy), ([group = {}]) => String(group["best"]))
        assert.strictEqual(yield* idsBy({ id: -1 }), "E,D,C,B,A")
        assert.strictEqual(yield* idsBy({ state: 1, _id: -1 }), yield* idsBy({ state: 1, id: -1 }))
        const stages = Result.getOrThrow(
          readPipeline(textOf([{ $group: { _id: null, x: { $top: { sortBy: { home: 1 }, output: "$id" } } } }]))
        )
        assert.deepStrictEqual(stages.map((stage) => Object.keys(stage).join()), ["$project", "$group", "$limit"])
      }))

    it.effect("sees recursive models with omitted fields three levels deep", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        const comment = (depth: number): object => ({
          [depth === 0 ? "_id" : "id"]: `C${depth}`,
          text: `t${depth}`,
          hidden: "secret",
          replies: depth === 6 ? [] : [comment(depth + 1)]
        })
        yield* store.insertOne("comments", comment(0) as DocumentStore.Document)
        const pipeline = Result.getOrThrow(NativeQueries.pipeline(Comment, { maxResults: 10_000 })("[]"))
        const text = JSON.stringify(Array.from(yield* Stream.runCollect(store.aggregate("comments", pipeline))))
        assert.notInclude(text, "secret")
        assert.include(text, "t3")
        assert.notInclude(text, "t4")
      }))

    it.effect("uses an index for its first stages, while they see unchanged documents", () =>
      Effect.sync(() => {
        const stages = (pipe: unknown) =>
          Result.getOrThrow(readPipeline(textOf(pipe))).map((stage) => Object.keys(stage).join())
        assert.deepStrictEqual(stages([{ $match: {} }, { $sort: { age: 1 } }, { $group: { _id: "$state" } }]), [
          "$match",
          "$sort",
          "$group",
          "$limit"
        ])
        assert.deepStrictEqual(stages([{ $match: {} }, { $group: { _id: "$home" } }]), [
          "$match",
          "$project",
          "$group",
          "$limit"
        ])
        assert.deepStrictEqual(stages([{ $sort: { home: 1 } }, { $limit: 1 }]), [
          "$project",
          "$sort",
          "$limit",
          "$limit"
        ])
      }))
  })

describe("a pipeline of a client / memory", () => {
  aggregating(EmbeddedStore.layerMemory)
})
onMongo("a pipeline from outside / mongodb", aggregating)

describe("a pipeline of a client", () => {
  it("is rejected by name for a stage or an operator outside of the allowlist, at any depth", () => {
    assert.isUndefined(refusedPipeline([{ $match: {} }, { $facet: { a: [{ $count: "n" }] } }]))
    const stages = [
      "$out",
      "$merge",
      "$lookup",
      "$graphLookup",
      "$unionWith",
      "$collStats",
      "$indexStats",
      "$documents"
    ]
    for (
      const stage of [...stages, "$currentOp", "$changeStream", "$densify", "$setWindowFields", "$nonsense", "name"]
    ) {
      assertForbidden(refusedPipeline([{ [stage]: {} }]), stage)
      assertForbidden(
        refusedPipeline([{ $match: {} }, { $facet: { a: [{ $facet: { b: [{ [stage]: {} }] } }] } }]),
        stage
      )
    }
    for (const operator of ["$function", "$accumulator", "$where", "$nonsense"]) {
      assertForbidden(refusedPipeline([{ $project: { x: { [operator]: {} } } }]), operator)
      assertForbidden(refusedPipeline([{ $group: { _id: 1, x: { [operator]: {} } } }]), operator)
      assertForbidden(refusedPipeline([{ $match: { $expr: { [operator]: {} } } }]), operator)
      assertForbidden(refusedPipeline([{ $addFields: { a: { b: [{ $cond: [1, { [operator]: 1 }, 2] }] } } }]), operator)
      assertForbidden(refusedPipeline([{ $sort: { a: { [operator]: 1 } } }]), operator)
    }
    assertForbidden(refusedPipeline([{ $project: { x: 1 } }, { $match: { $where: "1" } }]), "$where")
    assertForbidden(refusedPipeline([{ $project: { x: "$$SEARCH_META" } }]), "$$SEARCH_META")
  })

  it("is rejected if it names unknown fields, while documents are still the model's", () => {
    for (const path of ["secret", "home.pin", "visits.pin", "nope"]) {
      assertBad(refusedPipeline([{ $match: { [path]: 1 } }]), /is not a field/)
      assertBad(refusedPipeline([{ $group: { _id: `$${path}` } }]), /is not a field/)
      assertBad(refusedPipeline([{ $sort: { [path]: 1 } }]), /is not a field/)
      assertBad(refusedPipeline([{ $project: { [path]: 1 } }]), /is not a field/)
      assertBad(refusedPipeline([{ $project: { x: `$$ROOT.${path}` } }]), /is not a field/)
      assertBad(refusedPipeline([{ $unset: path }]), /is not a field/)
      assertBad(refusedPipeline([{ $unwind: `$${path}` }]), /is not a field/)
    }
    assertBad(refusedPipeline([{ $project: { home: { pin: 1 } } }]), /is not a field/)
    for (const path of ["secret", "home.pin", "visits.pin", "nope"]) {
      for (const operator of ["$top", "$topN", "$bottom", "$bottomN"]) {
        for (const direction of [1, { _bsontype: "Int32", value: 1 }]) {
          const best = { [operator]: { n: 9, sortBy: { age: 1, [path]: direction }, output: "$id" } }
          assertBad(refusedPipeline([{ $group: { _id: null, best } }]), /is not a field/)
          assertBad(
            refusedPipeline([{ $bucket: { groupBy: "$age", boundaries: [0, 99], output: { best } } }]),
            /not a field/
          )
          assertBad(
            refusedPipeline([{ $bucketAuto: { groupBy: "$age", buckets: 1, output: { best } } }]),
            /not a field/
          )
        }
      }
      assertBad(refusedPipeline([{ $sort: { [path]: { _bsontype: "Int32", value: 1 } } }]), /is not a field/)
    }
    for (const sortBy of [undefined, 1, "secret", ["secret"]]) {
      assertBad(refusedPipeline([{ $group: { _id: null, x: { $top: { sortBy, output: "$id" } } } }]), /needs fields/)
    }
    assert.isUndefined(
      refusedPipeline([{ $project: { x: "$name" } }, { $match: { x: { $date: "2026-01-01T00:00:00Z" } } }])
    )
  })

  it("is rejected if it is malformed or too long, and if it would set inherited properties", () => {
    for (
      const pipe of ["{}", "1", "null", "[1]", "[[]]", "[{}]", "[{\"$match\":{},\"$limit\":1}]", "[{\"$sort\":1}]"]
    ) {
      assert.strictEqual(refusedPipeline(pipe)?.status, 400, pipe)
    }
    assertBad(refusedPipeline("["), /must be JSON/)
    assertBad(refusedPipeline(Array.from({ length: 101 }, () => ({ $limit: 1 }))), /100 stages/)
    const facets = Array.from(
      { length: 11 },
      () => ({ $facet: { a: Array.from({ length: 10 }, () => ({ $limit: 1 })) } })
    )
    assertBad(refusedPipeline(facets), /100 stages/)
    assertBad(refusedPipeline([{ $addFields: { "constructor.prototype.x": 1 } }]), /can't have the name/)
    assertBad(refusedPipeline("[{\"$addFields\":{\"__proto__\":{\"x\":1}}}]"), /can't have the name/)
    assertBad(refusedPipeline([{ $unwind: { path: "$tags", includeArrayIndex: "__proto__.x" } }]), /can't make a field/)
    assertBad(refusedPipeline([{ $project: { x: 1 } }, { $unset: "constructor.prototype" }]), /is not a path/)
    assert.isUndefined(Reflect.get({}, "x"))
  })
})

describe("the result of a pipeline", () => {
  it("is the JSON of documents without a model, with dates in their wire form", () => {
    assert.strictEqual(
      writeDocument({
        _id: null,
        at: new Date("2026-01-31T09:30:00.123Z"),
        list: [1.5, true, "\"", Number.NaN],
        id: new ObjectId("507f1f77bcf86cd799439011"),
        price: Decimal128.fromString("1.50"),
        small: Long.fromNumber(5),
        large: Long.MAX_VALUE,
        nothing: undefined
      }),
      `{"_id":null,"at":"2026-01-31T09:30:00.123000","list":[1.5,true,"\\"","NaN"],"id":"507f1f77bcf86cd799439011",` +
        `"price":"1.50","small":5,"large":"9223372036854775807"}`
    )
  })

  it.effect("has the selected fields, in the model's order and as in a complete document", () =>
    Effect.gen(function*() {
      const order = yield* Model.finalise(Order, {
        customer: "Jane",
        billing: null,
        address: { street: "Main", city: "Bern" },
        lines: [{ product: "tea", quantity: 2 }]
      })
      const document = documentCodec(Order).toDocument({ ...order, id: "O1" })
      const whole = JSON.parse(compileSerialiser(Order)(document, "") ?? "")
      const serialiserOf = formWithout(Order, []).selected
      assert.strictEqual(
        serialiserOf(["lines.product", "id", "address.city", "billing.city"])(document, `"_links":{},`),
        `{"_type":"Order","_links":{},"id":"O1","address":{"_type":"Address","city":"Bern"},"billing":null,` +
          `"lines":[{"_type":"Line","product":"tea"}]}`
      )
      for (const field of Object.keys(whole)) {
        if (field === "_type") continue
        assert.deepStrictEqual(JSON.parse(serialiserOf([field])(document, "") ?? ""), {
          _type: "Order",
          [field]: whole[field]
        })
      }
      assert.deepStrictEqual(JSON.parse(serialiserOf(Object.keys(whole).toSorted())(document, "") ?? ""), whole)
      assert.strictEqual(serialiserOf(["address", "address.city"]), serialiserOf(["address", "address.city"]))
      assert.isUndefined(serialiserOf(["customer"])({ _id: "O1", customer: 1 }, ""))
      assert.strictEqual(
        serialiserOf(["customer"])({ customer: "x", total: "broken" }, ""),
        `{"_type":"Order","customer":"x"}`
      )
    }))
})
