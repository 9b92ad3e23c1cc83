import { assert } from "@effect/vitest"
import { Arbitrary, Effect, Stream } from "effect"
import { anyCollation, text } from "../../../../test/support/collations.ts"
import type { Differs } from "../../../../test/support/serverDifferences.ts"
import type { Collation, Document, Filter } from "../../src/DocumentStore.ts"
import { collectionOf, idsOf, type Tests } from "./collection.ts"

const ignoresCase: Collation = { locale: "en", strength: 2 }

const named = (...names: ReadonlyArray<unknown>) => collectionOf(names.map((name, _id) => ({ _id, name })))

const namesOf = (documents: ReadonlyArray<Document>) => documents.map(({ name }) => name)

/** How texts compare by the rules of a language. */
export const collationContract = (it: Tests, differs: Differs) => {
  it.effect.each<[string, Collation, Array<string>]>([
    ["code points", { locale: "simple" }, ["cafe"]],
    ["accents and case with strength 3", { locale: "fr" }, ["cafe"]],
    ["accents with strength 2", { locale: "fr", strength: 2 }, ["cafe", "Cafe"]],
    ["neither with strength 1", { locale: "fr", strength: 1 }, ["cafe", "café", "Cafe", "CAFÉ"]],
    ["case with strength 1 and a case level", { locale: "fr", strength: 1, caseLevel: true }, ["cafe", "café"]]
  ])("distinguishes %s", ([, collation, expected]) =>
    Effect.gen(function*() {
      const { find } = yield* named("cafe", "café", "Cafe", "CAFÉ", "caffe", 1)
      const found = yield* find({ filter: { name: "cafe" }, collation, sort: { _id: 1 } })
      assert.deepStrictEqual(namesOf(found), expected)
    }))

  it.effect.each<[string, Collation, Array<string>]>([
    ["of English", { locale: "en" }, ["a", "A", "ä", "b", "o", "ö", "z"]],
    ["of upper case first", { locale: "en", caseFirst: "upper" }, ["A", "a", "ä", "b", "o", "ö", "z"]],
    ...differs("collation") ? [] : languages
  ])("sorts in the order %s", ([, collation, expected]) =>
    Effect.gen(function*() {
      const { find } = yield* named("z", "ö", "b", "A", "ä", "o", "a")
      assert.deepStrictEqual(namesOf(yield* find({ sort: { name: 1 }, collation })), expected)
      assert.deepStrictEqual(namesOf(yield* find({ sort: { name: -1 }, collation })), expected.toReversed())
    }))

  it.effect.each(filters.filter(([, , , isHard]) => isHard !== true || !differs("collation")))(
    "compares texts by a collation: %s",
    ([, filter, expected]) =>
      Effect.gen(function*() {
        const { find, name, store } = yield* collectionOf(
          ["a", "b", "B", "c", { x: "YES" }, 5, ["a", "b"], undefined].map((v, _id) =>
            v === undefined ? { _id, w: [{ x: "Yes" }] } : { _id, v }
          )
        )
        const options = { filter, collation: ignoresCase }
        assert.deepStrictEqual(idsOf(yield* find({ ...options, sort: { _id: 1 } })), expected)
        assert.strictEqual(yield* store.count(name, filter, options), expected.length)
        // An index without the collation makes no difference, nor does one with it.
        yield* store.createIndexes(name, [{ name: "simple", key: { v: 1 } }])
        assert.deepStrictEqual(idsOf(yield* find({ ...options, sort: { _id: 1 } })), expected)
        yield* store.createIndexes(name, [{ name: "collated", key: { v: 1 }, collation: ignoresCase }])
        assert.deepStrictEqual(idsOf(yield* find({ ...options, sort: { _id: 1 } })), expected)
        assert.deepStrictEqual(
          idsOf(yield* Stream.runCollect(store.aggregate(name, [{ $match: filter }, { $sort: { _id: 1 } }], options))),
          expected
        )
      })
  )

  it.effect("is an option of every operation that compares texts", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* named("a", "A", "b", "B", "c", "C", "d", "D")
      const options = { collation: ignoresCase }
      const set = (n: number) => ({ $set: { n } })
      assert.deepStrictEqual((yield* store.findAndCount(name, { filter: { name: "A" }, ...options })).total, 2)
      const streamed = yield* Stream.runCollect(store.stream(name, { filter: { name: "A" }, ...options }))
      assert.strictEqual(streamed.length, 2)
      assert.deepStrictEqual([...(yield* store.distinct(name, "name", { name: { $lt: "C" } }, options))], ["a", "b"])
      assert.strictEqual((yield* store.updateMany(name, { name: "A" }, set(1), options)).matchedCount, 2)
      assert.strictEqual((yield* store.updateOne(name, { _id: 3, name: "b" }, set(2), options)).matchedCount, 1)
      assert.strictEqual((yield* store.replaceOne(name, { _id: 5, name: "c" }, { name: "X" }, options)).matchedCount, 1)
      assert.strictEqual(yield* store.deleteOne(name, { _id: 7, name: "d" }, options), 1)
      assert.strictEqual(yield* store.deleteMany(name, { name: "x" }, options), 1)
      const first = { ...options, sort: { name: -1, _id: 1 } } as const
      assert.strictEqual((yield* store.findOneAndUpdate(name, { name: { $lt: "C" } }, set(3), first))?.["_id"], 2)
      assert.strictEqual((yield* store.findOneAndReplace(name, { name: "C" }, { name: "e" }, options))?.["_id"], 4)
      assert.strictEqual((yield* store.findOneAndDelete(name, { name: "E" }, options))?.["_id"], 4)
      assert.deepStrictEqual(yield* all, [
        { _id: 0, name: "a", n: 1 },
        { _id: 1, name: "A", n: 1 },
        { _id: 2, name: "b", n: 3 },
        { _id: 3, name: "B", n: 2 },
        { _id: 6, name: "d" }
      ])
    }))

  // The substitute server compares the others by rules of its own, or not at all.
  if (differs("collation")) return

  it.effect("sorts digits as numbers, and punctuation as nothing", () =>
    Effect.gen(function*() {
      const { find } = yield* named("10", "9", "100", "1a")
      const numeric = { locale: "en", numericOrdering: true }
      assert.deepStrictEqual(namesOf(yield* find({ sort: { name: 1 }, collation: numeric })), ["1a", "9", "10", "100"])
      const words = yield* named("black bird", "blackbird", "black-bird", "black birds")
      const shifted = { locale: "en", alternate: "shifted" } as const
      const found = yield* words.find({ filter: { name: "blackbird" }, sort: { _id: 1 }, collation: shifted })
      assert.deepStrictEqual(idsOf(found), [0, 1, 2])
    }))

  it.effect("follows the rules of a kind of collation", () =>
    Effect.gen(function*() {
      const { find } = yield* named("Ad", "Ä", "Af")
      const sorted = (locale: string) => Effect.map(find({ sort: { name: 1 }, collation: { locale } }), namesOf)
      assert.deepStrictEqual(yield* sorted("de"), ["Ä", "Ad", "Af"])
      assert.deepStrictEqual(yield* sorted("de@collation=phonebook"), ["Ad", "Ä", "Af"])
    }))

  it.effect("finds several documents whose identifiers are equal by the collation, and writes the first", () =>
    Effect.gen(function*() {
      const { all, find, name, store } = yield* collectionOf([{ _id: "a" }, { _id: "A" }, { _id: "b" }])
      const collation = ignoresCase
      assert.strictEqual((yield* find({ filter: { _id: "A" }, collation })).length, 2)
      assert.strictEqual(yield* store.count(name, { _id: "B" }, { collation }), 1)
      assert.strictEqual(
        (yield* store.updateMany(name, { _id: "A" }, { $set: { n: 1 } }, { collation })).matchedCount,
        2
      )
      assert.strictEqual(yield* store.deleteOne(name, { _id: "B" }, { collation }), 1)
      assert.strictEqual((yield* all).length, 2)
      const upserted = yield* store.updateOne(name, { _id: "C" }, { $set: { n: 2 } }, { collation, upsert: true })
      assert.strictEqual(upserted.upsertedId, "C")
      yield* store.updateOne(name, { _id: "c" }, { $set: { n: 3 } }, { collation, upsert: true })
      assert.deepStrictEqual(yield* store.find(name, { filter: { n: 3 } }), [{ _id: "C", n: 3 }])
    }))

  it.effect("shows the item of a list that a condition matches by the collation", () =>
    Effect.gen(function*() {
      const { find } = yield* collectionOf([{ _id: 1, l: ["a", "b"], d: [{ x: "a", n: 1 }, { x: "b", n: 2 }] }])
      const projected = (filter: Filter, projection: Document) => find({ filter, projection, collation: ignoresCase })
      assert.deepStrictEqual(yield* projected({ l: "B" }, { "l.$": 1 }), [{ _id: 1, l: ["b"] }])
      assert.deepStrictEqual(yield* projected({}, { d: { $elemMatch: { x: "B" } } }), [{
        _id: 1,
        d: [{ x: "b", n: 2 }]
      }])
    }))

  it.effect.each<[string, Document]>([
    ["no locale", {}],
    ["a locale that there is not", { locale: "klingon" }],
    ["a locale in another form", { locale: "en-US-x-y z" }],
    ["a kind that there is not", { locale: "en@collation=klingon" }],
    ["a strength that there is not", { locale: "en", strength: 6 }],
    ["an option that there is not", { locale: "en", strong: true }],
    ["a wrong value", { locale: "en", alternate: "sometimes" }],
    ["options of the simple one", { locale: "simple", strength: 1 }],
    ["a locale that is not written as ICU does", { locale: "fr_ca" }],
    ["a country that makes no difference", { locale: "en_XX" }],
    ["the order of case of a locale, where case is ignored", { locale: "da", strength: 2 }],
    ["accents from the end, where accents are ignored", { locale: "fr_CA", strength: 1 }],
    ["an order of case where case is ignored", { locale: "en", strength: 2, caseFirst: "upper" }]
  ])("rejects a collation with %s", ([, collation]) =>
    Effect.gen(function*() {
      const { find, name, store } = yield* named("a")
      // A program without types may pass anything.
      const wrong = collation as unknown as Collation
      assert.strictEqual((yield* Effect.flip(find({ collation: wrong })))._tag, "QueryRejected")
      const error = yield* Effect.flip(store.createIndexes(name, [{ name: "n", key: { name: 1 }, collation: wrong }]))
      assert.strictEqual(error._tag, "QueryRejected")
    }))

  it.effect.prop(
    "sorts as Intl.Collator does",
    { texts: Arbitrary.array(text, { minLength: 2, maxLength: 12 }), collation: anyCollation },
    ({ collation, texts }) =>
      Effect.gen(function*() {
        const { find } = yield* named(...texts)
        const found = yield* find({ sort: { name: 1, _id: 1 }, collation: collation.mongo })
        const expected = texts.map((name, _id) => ({ _id, name })).toSorted((a, b) =>
          collation.intl.compare(a.name, b.name) || a._id - b._id
        )
        assert.deepStrictEqual(found, expected)
      }),
    { arbitrary: { runs: 60 } }
  )
}

const languages: ReadonlyArray<[string, Collation, Array<string>]> = [
  ["of Swedish", { locale: "sv" }, ["a", "A", "b", "o", "z", "ä", "ö"]],
  ["of code points", { locale: "simple" }, ["A", "a", "b", "o", "z", "ä", "ö"]]
]

// A condition and the places of what meets it, and whether the substitute server can't.
const filters: ReadonlyArray<readonly [string, Filter, Array<number>, true?]> = [
  ["$eq", { v: { $eq: "B" } }, [1, 2, 6]],
  ["$ne", { v: { $ne: "B" } }, [0, 3, 4, 5, 7]],
  ["$gt", { v: { $gt: "B" } }, [3]],
  ["$gte", { v: { $gte: "B" } }, [1, 2, 3, 6]],
  ["$lt", { v: { $lt: "b" } }, [0, 6]],
  ["$lte", { v: { $lte: "b" } }, [0, 1, 2, 6]],
  ["$in", { v: { $in: ["A", "b", 5] } }, [0, 1, 2, 5, 6]],
  ["$nin", { v: { $nin: ["A", "b", 5] } }, [3, 4, 7]],
  ["$not", { v: { $not: { $lt: "B" } } }, [1, 2, 3, 4, 5, 7]],
  ["$all", { v: { $all: ["A", "B"] } }, [6], true],
  ["$elemMatch of values", { v: { $elemMatch: { $gte: "B", $lt: "C" } } }, [6], true],
  ["$elemMatch of documents", { w: { $elemMatch: { x: "yes" } } }, [7], true],
  ["a document", { v: { x: "yes" } }, [4]],
  ["a list", { v: ["A", "B"] }, [6]],
  ["$or", { $or: [{ v: "A" }, { v: "C" }] }, [0, 3, 6]],
  ["$nor", { $nor: [{ v: "A" }, { v: "C" }] }, [1, 2, 4, 5, 7]],
  ["$expr", { $expr: { $eq: ["$v", "B"] } }, [1, 2], true],
  ["but not by $regex", { v: { $regex: "^B" } }, [2]],
  ["but not by a pattern among values", { v: { $in: [/^B/, "C"] } }, [2, 3], true],
  ["but not the names of fields", { V: "b" }, []],
  ["but not numbers", { v: 5 }, [5]]
]
