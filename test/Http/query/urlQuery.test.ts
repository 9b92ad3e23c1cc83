import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, type Layer, Result, Schema } from "effect"
import * as NativeQueries from "../../../src/Http/query/nativeQueries.ts"
import * as QueryFields from "../../../src/Http/query/queryFields.ts"
import * as UrlQuery from "../../../src/Http/query/urlQuery.ts"
import * as Links from "../../../src/Http/response/links.ts"
import { DocumentStore, EmbeddedStore, Model, Query } from "../../../src/index.ts"
import { documentCodec } from "../../../src/Repository/collection/documentCodec.ts"
import { oneOf } from "../../support/choices.ts"
import { Awkward, Comment, Guest, insertGuests, Sample } from "../../support/guests.ts"
import { onMongo } from "../../support/mongo.ts"
import { quoted } from "../../support/quoted.ts"

const limits = { defaultPageSize: 50, maxPageSize: 1_000 }

const readGuest = UrlQuery.make(Guest, limits)

const readSample = UrlQuery.make(Sample, limits)

const parametersOf = (query: string): UrlQuery.Parameters => {
  const all = new URLSearchParams(query)
  const entries = [...new Set(all.keys())].map((name) => {
    const values = all.getAll(name)
    return [name, values.length === 1 ? values[0] : values] as const
  })
  return Object.fromEntries(entries)
}

/** The guests that a URL's query finds, in its order. */
const found = Effect.fnUntraced(function*(query: string) {
  const store = yield* DocumentStore.DocumentStore
  const read = readGuest(parametersOf(query))
  const { find } = Result.isSuccess(read) ? read.success : yield* Effect.die(JSON.stringify(read.failure))
  return (yield* store.find("guests", find)).map(({ _id }) => String(_id)).join("")
})

/** The parameters that a query is refused for. */
const refused = (query: string): ReadonlyArray<string> => {
  const read = readGuest(parametersOf(query))
  return Result.isFailure(read) ? read.failure.map(({ field }) => field) : []
}

/** A model of values that may be of several types, and of lists of what may lack them. */
class Answer extends Model.Class<Answer>()("Answer", {
  id: Model.id(),
  value: Schema.Union([Schema.Int, Schema.String, Schema.Boolean]).pipe(Model.optional),
  choice: Schema.Literals(["1", 1, "x"]),
  all: Schema.Array(Schema.Union([Schema.Finite, Schema.String])).pipe(Model.withDefault(() => [])),
  parts: Schema.Array(
    Schema.Struct({
      a: Schema.optionalKey(Schema.Int),
      b: Schema.optionalKey(Schema.Array(Schema.NullOr(Schema.Int))),
      c: Schema.optionalKey(Schema.Array(Schema.Int))
    })
  ).pipe(Model.withDefault(() => []))
}) {}

const answers = [
  { _id: "A", value: 7, choice: 1, all: [7, "x"], parts: [{ a: 1 }, {}] },
  { _id: "B", value: "7", choice: "1", all: ["7"], parts: [{}, { b: [null] }] },
  { _id: "C", value: true, choice: "x", all: [], parts: [{ c: [] }, {}] },
  { _id: "D", value: "true", choice: "x", all: [], parts: [] },
  { _id: "E", value: "x", choice: "x", all: ["x"], parts: [{}] },
  { _id: "F", value: 1, choice: "x", all: [], parts: [{ a: 2 }] }
]

const readAnswer = UrlQuery.make(Answer, limits)

class Place extends Model.Class<Place>()("Place", { id: Model.id(), moment: Schema.Date }) {}

const readPlace = UrlQuery.make(Place, limits)

/** Why places can't be asked for with these parameters. */
const placesRefused = (parameters: UrlQuery.Parameters): ReadonlyArray<string> => {
  const read = readPlace(parameters)
  return Result.isFailure(read) ? read.failure.map(({ field, message }) => `${field} ${message}`) : []
}

it("rejects days that there are not in filters by a Schema.Date", () => {
  assert.lengthOf(placesRefused({ moment: ">2026-02-30T10:00:00Z" }), 1)
  assert.lengthOf(placesRefused({ query: `{"moment":{"$gt":"2026-02-30T10:00:00Z"}}` }), 1)
  assert.deepStrictEqual(placesRefused({ query: `{"moment":{"$gt":"2026-02-28T10:00:00Z"}}` }), [])
})

class Ruled extends Model.Class<Ruled>()("Ruled", {
  id: Model.id(),
  share: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 10 })),
  name: Schema.NonEmptyString,
  code: Schema.String.check(Schema.isMinLength(3)),
  key: Schema.String.check(Schema.isUUID()),
  list: Schema.Array(Schema.String.check(Schema.isMinLength(2)))
}) {}

const readRuled = UrlQuery.make(Ruled, limits)

it.each([
  "share=>-1",
  "share=11",
  "name=",
  "name=!",
  "code=x",
  "code=~x",
  "key=>a",
  "list=~b",
  "list=b",
  "query={\"code\":\"b\"}",
  "query={\"share\":{\"$gt\":-1}}"
])("runs no checks of values on %s", (query) => {
  const read = readRuled(parametersOf(query))
  assert.isTrue(Result.isSuccess(read), JSON.stringify(read))
})

/** The answers that a URL's query finds. */
const answersOf = Effect.fnUntraced(function*(query: string) {
  const store = yield* DocumentStore.DocumentStore
  yield* store.insertMany("answers", answers, { ordered: false }).pipe(Effect.ignore)
  const { find } = Result.getOrThrow(readAnswer(parametersOf(query)))
  return (yield* store.find("answers", find)).map(({ _id }) => String(_id)).join("")
})

const problemsOf = (query: string) => {
  const read = readGuest(parametersOf(query))
  return Result.isFailure(read) ? read.failure.map(({ field, message, validator }) => [field, validator, message]) : []
}

const queryOf = (query: string): UrlQuery.UrlQuery => Result.getOrThrow(readGuest(parametersOf(query)))

const sortTerms = Arbitrary.map(
  Arbitrary.all([oneOf("", "-"), oneOf("id", "name", "age", "state", "active", "home.city")]),
  ([direction, name]): Query.SortTerm<typeof Guest> => `${direction}${name}`
)

it.effect.prop(
  "sorts a collection's URL as a repository sorts by the same terms",
  { terms: Arbitrary.array(sortTerms, { minLength: 1, maxLength: 5 }) },
  ({ terms }) =>
    Effect.sync(() => {
      const { sort } = queryOf(`sort_by=${terms.join()}`)
      assert.deepStrictEqual(Object.entries(sort), Object.entries(Query.toSort(Guest, terms)))
    })
)

const finding = <E>(layer: Layer.Layer<DocumentStore.DocumentStore, E>): void =>
  it.layer(layer)((it) => {
    it.effect("compares fields by =, >, <, >=, <= and !", () =>
      Effect.gen(function*() {
        yield* insertGuests
        assert.strictEqual(yield* found("name=Ann"), "A")
        assert.strictEqual(yield* found("id=B"), "B")
        assert.strictEqual(yield* found("age=>30"), "CD")
        assert.strictEqual(yield* found("age=>=30"), "BCD")
        assert.strictEqual(yield* found("age=<30"), "A")
        assert.strictEqual(yield* found("age=<=30"), "AB")
        assert.strictEqual(yield* found("name=>B&name=<D"), "BC")
        assert.strictEqual(yield* found("age=!30"), "ACDE")
      }))

    it.effect("finds text within text, ignoring case, without special characters", () =>
      Effect.gen(function*() {
        yield* insertGuests
        assert.strictEqual(yield* found("name=~AN"), "AD")
        assert.strictEqual(yield* found("name=~."), "")
        assert.strictEqual(yield* found(`name=~${encodeURIComponent("(")}`), "")
        assert.strictEqual(yield* found("state=~ACT"), "AC")
        assert.strictEqual(yield* found("visits.place=~ber"), "AB")
      }))

    it.effect("finds lists by element and by size", () =>
      Effect.gen(function*() {
        yield* insertGuests
        assert.strictEqual(yield* found("tags=~red"), "AB")
        assert.strictEqual(yield* found("tags=red"), "AB")
        assert.strictEqual(yield* found("tags=~re"), "")
        assert.strictEqual(yield* found("tags=!red"), "CDE")
        assert.strictEqual(yield* found("tags=[blue,green]"), "AC")
        assert.strictEqual(yield* found(`tags=${encodeURIComponent("#2")}`), "A")
        assert.strictEqual(yield* found("tags=%230"), "DE")
        assert.strictEqual(yield* found("scores=>8"), "A")
        assert.strictEqual(yield* found("scores=>2&scores=<8"), "B")
        assert.strictEqual(yield* found(`name=${encodeURIComponent("#2")}`), "")
      }))

    it.effect("finds any of several values in brackets after = or :", () =>
      Effect.gen(function*() {
        yield* insertGuests
        assert.strictEqual(yield* found("state=[active,gone]"), "ABC")
        assert.strictEqual(yield* found("state:[active,gone]"), "ABC")
        assert.strictEqual(yield* found("state:[gone, active]&age=<40"), "AB")
        assert.strictEqual(yield* found("state=![active,gone]"), "DE")
        assert.strictEqual(yield* found("age:[30,40]"), "BC")
        assert.strictEqual(yield* found(`name:["Cid, the third","D\\"an=\\\\"]`), "CD")
        assert.strictEqual(yield* found("age=[30,null]"), "BE")
        assert.deepStrictEqual(refused("state=[]"), ["state"])
        assert.deepStrictEqual(refused("state:[active,nope]"), ["state"])
        assert.deepStrictEqual(refused("state:[active"), ["state"])
      }))

    it.effect("treats a quoted value literally", () =>
      Effect.gen(function*() {
        yield* insertGuests
        assert.strictEqual(yield* found(`note=${encodeURIComponent("\">5\"")}`), "A")
        assert.strictEqual(yield* found(`note=!${encodeURIComponent("\">5\"")}`), "BCDE")
        assert.strictEqual(yield* found(`note=${encodeURIComponent("\"null\"")}`), "B")
        assert.strictEqual(yield* found(`note=${encodeURIComponent(quoted("[a,b]"))}`), "C")
      }))

    it.effect("takes a quoted value for a text where a field may be a text or something else", () =>
      Effect.gen(function*() {
        const asked: ReadonlyArray<readonly [query: string, found: string]> = [
          ["value=7", "A"],
          [`value="7"`, "B"],
          [`value=!"7"`, "ACDEF"],
          [`value=["7",7]`, "AB"],
          [`value=>="7"`, "BDE"],
          ["value=true", "C"],
          [`value="true"`, "D"],
          ["value=x", "E"],
          [`value="x"`, "E"],
          ["choice=1", "A"],
          [`choice="1"`, "B"],
          ["all=7", "A"],
          [`all="7"`, "B"],
          [`all=~"7"`, "B"],
          [`parts.a="1"`, "A"]
        ]
        for (const [query, ids] of asked) {
          const [name, value] = query.split(/=(.*)/su)
          assert.strictEqual(yield* answersOf(`${name}=${encodeURIComponent(value!)}`), ids, query)
        }
      }))

    it.effect("finds a value in any element of a list of models", () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* answersOf("parts.a=!null"), "AF")
        assert.strictEqual(yield* answersOf("parts.a=1"), "A")
        assert.strictEqual(yield* answersOf("parts.a=null"), "ABCE")
        assert.strictEqual(yield* answersOf("parts.b=!null"), "B")
        assert.strictEqual(yield* answersOf("parts.c=!null"), "C")
        assert.strictEqual(yield* answersOf("parts.a=!%5Bnull%5D"), "F")
      }))

    it.effect("finds missing and present values", () =>
      Effect.gen(function*() {
        yield* insertGuests
        assert.strictEqual(yield* found("age=null"), "E")
        assert.strictEqual(yield* found("age=!null"), "ABCD")
        assert.strictEqual(yield* found("note=null"), "DE")
        assert.strictEqual(yield* found("home=null"), "BCDE")
        assert.strictEqual(yield* found("home.city=!null"), "A")
        assert.deepStrictEqual(refused("born=null&active=null"), ["active"])
        assert.strictEqual(yield* found("name=null"), "")
      }))

    it.effect("reads dates in every form, and a date on a date-time as that day", () =>
      Effect.gen(function*() {
        yield* insertGuests
        for (const date of ["1990-02-01", "01-02-1990", "01.02.1990", "1/2/1990"]) {
          assert.strictEqual(yield* found(`born=${date}`), "A", date)
        }
        assert.strictEqual(yield* found("born=>1990-02-01"), "B")
        for (const day of ["2026-01-31", "31-01-2026", "31.01.2026", "31/01/2026"]) {
          assert.strictEqual(yield* found(`seen=${day}`), "AB", day)
          assert.strictEqual(yield* found(`seen=!${day}`), "CDE", day)
          assert.strictEqual(yield* found(`seen=>${day}`), "C", day)
          assert.strictEqual(yield* found(`seen=>=${day}`), "ABC", day)
          assert.strictEqual(yield* found(`seen=<${day}`), "D", day)
          assert.strictEqual(yield* found(`seen=<=${day}`), "ABD", day)
        }
        assert.strictEqual(yield* found("seen=2026-01-31T09:30:00.123000"), "A")
        assert.strictEqual(yield* found("seen=2026-01-31T10:30:00.123+01:00"), "A")
        assert.strictEqual(yield* found("seen=[2026-01-31,2026-02-01T00:00:00]"), "ABC")
        assert.strictEqual(yield* found("seen=![2026-01-31,2026-02-01T00:00:00]"), "DE")
        assert.strictEqual(yield* found("paid=1700000000"), "A")
        assert.strictEqual(yield* found("paid=2023-11-14"), "A")
        assert.deepStrictEqual(refused("born=1990-02-30&seen=31.02.2026"), ["born", "seen"])
      }))

    it.effect("reads booleans in words, and numbers as numbers only", () =>
      Effect.gen(function*() {
        yield* insertGuests
        for (const yes of ["true", "yes", "y", "TRUE", "Yes"]) assert.strictEqual(yield* found(`active=${yes}`), "AC")
        for (const no of ["false", "no", "n"]) assert.strictEqual(yield* found(`active=${no}`), "BDE")
        assert.deepStrictEqual(refused("active=1"), ["active"])
        for (const number of ["", "1.5", "0x1e", "thirty", " 30", "Infinity", "9007199254740993"]) {
          assert.deepStrictEqual(refused(`age=${number}`), ["age"], number)
        }
        assert.strictEqual(yield* found("age=3e1"), "B")
      }))

    it.effect("runs no validators, so that invalid values can be searched", () =>
      Effect.gen(function*() {
        yield* insertGuests
        assert.strictEqual(yield* found("age=>-5"), "ABCD")
        assert.strictEqual(yield* found("due=<2020-01-01"), "A")
      }))

    it.effect("reaches nested fields by dots: of a model, of a list of models, of one of its elements, of a record", () =>
      Effect.gen(function*() {
        yield* insertGuests
        assert.strictEqual(yield* found("home.city=Bern"), "A")
        assert.strictEqual(yield* found("visits.place=Bern"), "AB")
        assert.strictEqual(yield* found("visits.0.place=Bern"), "A")
        assert.strictEqual(yield* found("visits.nights=>1&visits.nights=<4"), "B")
        assert.strictEqual(yield* found("labels.colour=red"), "A")
        assert.strictEqual(yield* found("labels.colour=!null"), "A")
        assert.deepStrictEqual(refused("home=Bern&home.zip=1&home.city.x=1&labels.constructor=1&labels.$x=1"), [
          "home.zip",
          "home.city.x",
          "labels.constructor",
          "labels.$x",
          "home"
        ])
      }))

    it.effect("combines two bounds into a range, and conditions by logic, AND by default", () =>
      Effect.gen(function*() {
        yield* insertGuests
        assert.strictEqual(yield* found("age=>=20&age=<40"), "AB")
        assert.strictEqual(yield* found("age=>=20&age=<40&logic=OR"), "AB")
        assert.strictEqual(yield* found("age=<30&age=>40&logic=OR"), "AD")
        assert.strictEqual(yield* found("age=<30&age=>40"), "")
        assert.strictEqual(yield* found("name=Ann&name=Bob"), "")
        assert.strictEqual(yield* found("name=Ann&name=Bob&logic=or"), "AB")
        assert.strictEqual(yield* found("name=Ann&age=30&logic=OR"), "AB")
        assert.strictEqual(yield* found("tags=red&tags=blue"), "A")
        assert.strictEqual(yield* found("tags=red&tags=green&logic=OR"), "ABC")
        assert.deepStrictEqual(refused("logic=XOR"), ["logic"])
      }))

    it.effect("adds a query in the store's own language to the filters", () =>
      Effect.gen(function*() {
        yield* insertGuests
        const query = encodeURIComponent(`{"$or":[{"name":"Ann"},{"age":{"$gte":40}}]}`)
        assert.strictEqual(yield* found(`query=${query}`), "ACD")
        assert.strictEqual(yield* found(`query=${query}&tags=green`), "C")
        assert.strictEqual(yield* found(`query=${query}&name=Dan&tags=green&logic=OR`), "C")
        assert.deepStrictEqual(refused("query=[&query=]"), ["query"])
        assert.deepStrictEqual(refused("query=["), ["query"])
        const read = readGuest({ query: `{"$where":"1"}` })
        const error = Result.isFailure(read) ? NativeQueries.forbiddenOf(read.failure) : undefined
        assert.deepStrictEqual([error?._tag, error?.message], ["Forbidden", "$where can't be used from outside"])
      }))

    it.effect("sorts by several fields, each in its direction, and ends in the identifier", () =>
      Effect.gen(function*() {
        yield* insertGuests
        assert.strictEqual(yield* found("sort_by=state,-age"), "CABDE")
        assert.strictEqual(yield* found("sort_by=active&sort_order=desc"), "CAEDB")
        assert.strictEqual(yield* found("sort_order=DESC"), "EDCBA")
        assert.deepStrictEqual(queryOf("sort_by=home.city,-age&sort_by=name").sort, {
          "home.city": 1,
          age: -1,
          name: 1,
          _id: 1
        })
        assert.deepStrictEqual(queryOf("sort_by=id,name").sort, { _id: 1 })
        assert.deepStrictEqual(refused("sort_by=name,secret"), ["sort_by"])
        assert.deepStrictEqual(refused("sort_by=id,nope"), ["sort_by"])
        for (const name of ["tags", "visits.place", "home", "", "nope", "home.pin", "labels"]) {
          assert.deepStrictEqual(refused(`sort_by=${name}`), ["sort_by"], name)
        }
        assert.deepStrictEqual(refused("sort_order=up"), ["sort_order"])
        assert.deepStrictEqual(refused(`sort_by=${"name,".repeat(500)}`), ["sort_by"])
      }))

    it.effect("returns every document once, page by page and cursor by cursor", () =>
      Effect.gen(function*() {
        yield* insertGuests
        const store = yield* DocumentStore.DocumentStore
        const pages: Array<string> = []
        for (const page of [1, 2, 3]) pages.push(yield* found(`page_size=2&sort_by=active&page=${page}`))
        assert.deepStrictEqual(pages, ["BD", "EA", "C"])
        const reached: Array<string> = []
        let cursor: string | undefined = ""
        while (cursor !== undefined) {
          const query = queryOf(`page_size=2&sort_by=active,-age&fields=name&cursor=${cursor}`)
          const documents = yield* store.find("guests", query.find)
          const page = documents.slice(0, query.pageSize)
          reached.push(page.map(({ _id }) => String(_id)).join(""))
          cursor = documents.length > page.length ? query.keyset?.cursor(page.at(-1)!) : undefined
        }
        assert.deepStrictEqual(reached, ["DB", "EC", "A"])
      }))
  })

describe("the query language of a URL / memory", () => {
  finding(EmbeddedStore.layerMemory)
  it.layer(EmbeddedStore.layerMemory)((it) => {
    it.effect.prop(
      "finds the document that holds a value, whatever the value",
      [Arbitrary.schema(Sample)],
      ([sample]) =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          yield* store.replaceOne("samples", { _id: "S" }, { ...documentCodec(Sample).toDocument(sample), _id: "S" }, {
            upsert: true
          })
          const wire = JSON.parse(yield* Model.dumps(sample, { validate: false }))
          const { day, flag, float, int, kind, moment, nested, text, texts } = wire
          const asked: ReadonlyArray<readonly [string, unknown]> = [
            ...Object.entries({ day, flag, float, int, kind, moment, text, "nested.inner": nested.inner }),
            ...(texts.length === 0 ? [] : [["texts", texts[0]] as const, ["texts.0", texts[0]] as const])
          ]
          for (const [field, value] of asked) {
            const written = typeof value === "string" ? quoted(value.toWellFormed()) : String(value)
            for (
              const query of [
                `${field}=${encodeURIComponent(written)}`,
                `${field}=%5B${encodeURIComponent(written)}%5D`
              ]
            ) {
              const { filter } = Result.getOrThrow(readSample(parametersOf(query)))
              assert.strictEqual(yield* store.count("samples", filter), 1, query)
            }
          }
        }),
      { arbitrary: { runs: 100 } }
    )
  })
})
onMongo("the query language of a URL / mongodb", finding)

describe("the query language of a URL", () => {
  it("reports every invalid parameter", () => {
    assert.deepStrictEqual(
      problemsOf(
        "nope=1&age=old&active=>true&name=#&page=0&page_size=1001&count=all&fields=pin&tags=~&home=~x&secret=1"
      ),
      [
        ["nope", "Parameter", "is neither a field nor a parameter of the collection"],
        ["secret", "Parameter", "is neither a field nor a parameter of the collection"],
        ["age", "Parameter", "must be a whole number"],
        ["active", "Operator", "can't be compared by >"],
        ["home", "Operator", "is neither text nor a list of values to look for something in"],
        ["page", "Parameter", "must be a whole number from 1 upwards"],
        ["page_size", "Parameter", "must be a whole number from 1 to 1000"],
        ["fields", "Parameter", "\"pin\" is not a field to select"],
        ["count", "Parameter", "must be exact, estimated or none"]
      ]
    )
    assert.deepStrictEqual(refused("page=9007199254740991&page_size=2"), ["page"])
    assert.deepStrictEqual(refused("page=1&page=2&cursor=&cursor=a"), ["page", "cursor"])
  })

  it("selects visible fields, with the identifier", () => {
    assert.deepStrictEqual(queryOf("fields=name,home.city").fields, ["home.city", "id", "name"])
    assert.deepStrictEqual(queryOf("fields=name, visits.place&sort_by=age").find.projection, {
      _id: 1,
      name: 1,
      visits: 1,
      age: 1
    })
    assert.isUndefined(queryOf("").find.projection)
    for (
      const name of [
        "secret",
        "home.pin",
        "nope",
        "labels.colour",
        "visits.0",
        "visits.0.place",
        "",
        "_id",
        "__proto__"
      ]
    ) {
      assert.deepStrictEqual(refused(`fields=name,${name}`), ["fields"], name)
    }
  })

  it("counts exactly, by estimate, or not at all, and then reads one more document", () => {
    const told = (query: string) => {
      const { count, find } = queryOf(query)
      return [count, find.limit]
    }
    assert.deepStrictEqual(told("page_size=2"), ["exact", 2])
    assert.deepStrictEqual(told("page_size=2&count=none"), ["none", 3])
    assert.deepStrictEqual(told("page_size=2&count=estimated"), ["estimated", 3])
    assert.deepStrictEqual(told("page_size=2&count=estimated&name=x"), ["exact", 2])
    assert.deepStrictEqual(told("page_size=2&count=exact&cursor="), ["none", 3])
  })

  it("rejects a cursor with a page, of another order, or of an order without cursors", () => {
    const cursor = queryOf("cursor=&sort_by=name").keyset?.cursor({ _id: "A", name: "Ann" })
    assert.deepStrictEqual(queryOf(`cursor=${cursor}&sort_by=name&age=1`).find.filter, {
      $and: [{ age: { $eq: 1 } }, {
        name: { $gte: "Ann" },
        $or: [{ name: { $gt: "Ann" } }, { name: { $eq: "Ann" }, _id: { $gt: "A" } }]
      }]
    })
    assert.deepStrictEqual(queryOf(`cursor=${cursor}&sort_by=name`).filter, {})
    assert.deepStrictEqual(refused(`cursor=${cursor}`), ["cursor"])
    assert.deepStrictEqual(refused(`cursor=${cursor}&sort_by=-name`), ["cursor"])
    assert.deepStrictEqual(refused(`cursor=x${cursor}&sort_by=name`), ["cursor"])
    assert.deepStrictEqual(refused("cursor=&page=1"), ["cursor"])
    assert.deepStrictEqual(refused("cursor=&sort_by=labels.colour"), ["cursor"])
  })

  it("prefers a field to a framework parameter, and filters others by a colon", () => {
    const read = UrlQuery.make(Awkward, limits)
    assert.deepStrictEqual(Result.getOrThrow(read({ count: "5", fields: "x", cursor: "y" })).filter, {
      count: { $eq: 5 },
      fields: { $eq: "x" },
      cursor: { $eq: "y" }
    })
    assert.deepStrictEqual(Result.getOrThrow(read({ page: "2", "page:[7]": "" })).filter, { page: { $eq: 7 } })
  })

  it("rejects lists of more than a thousand values", () => {
    const list = (length: number) => `[${Array.from({ length }, (_, i) => i).join()}]`
    assert.isTrue(Result.isSuccess(readGuest({ age: list(1_000) })))
    assert.deepStrictEqual(problemsOf(`age=${list(1_001)}`), [["age", "Limit", "can't take more than 1000 values"]])
  })

  it("treats hostile names and values literally", () => {
    for (
      const name of ["__proto__", "constructor", "toString", "home.__proto__", "", ".", "a".repeat(10_000), "$where"]
    ) {
      assert.deepStrictEqual(refused(`${encodeURIComponent(name)}=1`), [name])
    }
    const deep = Array.from({ length: 100 }, () => "replies").join(".")
    const read = UrlQuery.make(Comment, limits)
    assert.isTrue(Result.isFailure(read({ [`${deep}.text`]: "x" })))
    assert.isTrue(Result.isSuccess(read({ "replies.replies.replies.text": "x" })))
    assert.isTrue(Result.isFailure(readGuest({ name: "\ud800" })))
    assert.isTrue(Result.isFailure(readGuest({ query: `"${"x".repeat(1_000_000)}"` })))
    assert.isTrue(Result.isSuccess(readGuest({ name: `"${"\\".repeat(100_000)}` })))
    assert.isTrue(Result.isFailure(readGuest({ state: `[${"\"".repeat(10_000)}]` })))
  })
})

describe("links of pages", () => {
  const hrefs = (links: string): { readonly [rel: string]: string } =>
    Object.fromEntries(
      Object.entries<{ readonly href: string }>(JSON.parse(`{${links}}`)._links).map(([rel, { href }]) => [rel, href])
    )

  it("keep the other parameters in their order", () => {
    const parameters = { name: ["~a", "!b c"], page: "2", "state:[x,y]": "", fields: "name" }
    const link = (page: number) =>
      `/guests?name=~a&name=!b%20c&page=${page}&state%3A%5Bx%2Cy%5D=&fields=name`
        .replace("!", encodeURIComponent("!"))
    assert.deepStrictEqual(hrefs(Links.ofPage("/guests", parameters, { page: 2, pageSize: 2, total: 6 })), {
      self: link(2),
      first: link(1),
      prev: link(1),
      next: link(3),
      last: link(3)
    })
  })

  it("have no last link without a count, and a next link if there is another document", () => {
    const keys = (page: Links.NumberedPage) => Object.keys(hrefs(Links.ofPage("/guests", { count: "none" }, page)))
    assert.deepStrictEqual(keys({ page: 2, pageSize: 2, hasNext: true }), ["self", "first", "prev", "next"])
    assert.deepStrictEqual(keys({ page: 1, pageSize: 2, hasNext: false }), ["self", "first"])
    const estimated = hrefs(Links.ofPage("/guests", {}, { page: 3, pageSize: 2, total: 2, hasNext: true }))
    assert.deepStrictEqual([estimated["next"], estimated["last"]], ["/guests?page=4", "/guests?page=4"])
  })

  it("continue at a cursor", () => {
    const parameters = { sort_by: "name", cursor: "abc", page_size: "2" }
    assert.deepStrictEqual(hrefs(Links.ofCursor("/guests", parameters, "def")), {
      self: "/guests?sort_by=name&cursor=abc&page_size=2",
      first: "/guests?sort_by=name&cursor=&page_size=2",
      next: "/guests?sort_by=name&cursor=def&page_size=2"
    })
    assert.deepStrictEqual(Object.keys(hrefs(Links.ofCursor("/guests", parameters, undefined))), ["self", "first"])
  })
})

describe("the access to fields", () => {
  it("is restricted to the visible fields, at any depth", () => {
    const { field } = QueryFields.of(Guest)
    for (
      const name of [
        "secret",
        "home.pin",
        "visits.pin",
        "visits.0.pin",
        "_type",
        "_id",
        "home._type",
        "name.x",
        "tags.x"
      ]
    ) {
      assert.isUndefined(field(name), name)
    }
    assert.strictEqual(field("id")?.path, "_id")
    assert.strictEqual(QueryFields.of(Comment).field("replies.id")?.path, "replies.id")
    assert.deepStrictEqual(
      ["home", "visits", "labels", "visits.place"].map((name) => field(name)?.holdsOmitted),
      [true, true, false, false]
    )
  })

  it("describes the visible form of a document, also of a recursive model", () => {
    assert.deepStrictEqual(
      Object.keys(QueryFields.of(Guest).projection).filter((path) => /home|visits|secret/.test(path)),
      [
        "home.city",
        "visits.place",
        "visits.nights"
      ]
    )
    assert.deepStrictEqual(QueryFields.of(Comment).projection, {
      _id: 1,
      text: 1,
      "replies.id": 1,
      "replies.text": 1,
      "replies.replies.id": 1,
      "replies.replies.text": 1,
      "replies.replies.replies.id": 1,
      "replies.replies.replies.text": 1
    })
  })

  it("reads JSON values as the field stores them", () => {
    const { field } = QueryFields.of(Guest)
    const day = new Date("1990-02-01T00:00:00.000Z")
    assert.deepStrictEqual(field("born")?.readJson("1990-02-01"), day)
    assert.strictEqual(field("born")?.readJson(day), day)
    assert.deepStrictEqual(field("seen")?.readJson("1990-02-01"), day)
    assert.deepStrictEqual(field("tags")?.readJson(["a", "b"]), ["a", "b"])
    assert.isUndefined(field("tags")?.readJson(["a", 1]))
    assert.deepStrictEqual(field("labels")?.readJson({ colour: "red" }), { colour: "red" })
    assert.isUndefined(field("home")?.readJson({ city: "Bern", pin: "1" }))
    assert.isUndefined(field("age")?.readJson("30"))
    assert.isNull(field("age")?.readJson(null))
  })
})
