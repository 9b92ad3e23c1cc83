/** `GET` of a collection: every form of filter, sorting, and pages. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { DocumentStore, KernelEngine, Model, Validator } from "../../../src/index.ts"
import { type Answer, fieldsIn, problemsIn, refused, send, serving } from "../../support/rest.ts"
import { routeStores } from "../../support/storeMatrix.ts"

class Home extends Model.Class<Home>()("Home", { city: Schema.String, zip: Schema.Int.pipe(Model.optional) }) {}

class Guest extends Model.Class<Guest>()("Guest", {
  id: Model.id(),
  name: Schema.String.pipe(Validator.notEmpty),
  age: Schema.Int.pipe(Model.optional),
  rate: Schema.Finite.pipe(Model.withDefault(() => 0)),
  active: Schema.Boolean.pipe(Model.withDefault(() => true)),
  state: Schema.Literals(["new", "paid", "gone"]).pipe(Model.withDefault(() => "new" as const)),
  tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => [])),
  born: Model.Date.pipe(Model.optional),
  seen: Model.DateTime.pipe(Model.optional),
  home: Home.pipe(Model.optional),
  secret: Schema.String.pipe(Model.omitted, Model.optional)
}) {}

const engine = KernelEngine.make("queries")
  .register(Guest, { methods: ["GET", "POST"], urlBase: "/api/v1" })
  .register(Guest, { segment: "plain", name: "plain", enableHateoas: false })

const guests = "/api/v1/guests"

const day = (text: string) => new Date(`${text}T00:00:00Z`)

const stored = [
  { _id: "a", name: "Abe", age: 18, rate: 1.5, active: true, state: "new", tags: ["x", "y"], born: day("1980-01-31") },
  {
    _id: "b",
    name: "Bob (the 1st)",
    age: 40,
    rate: -2,
    active: false,
    state: "paid",
    tags: ["x"],
    seen: new Date("2026-03-01T12:30:00.500Z"),
    home: { city: "Bern", zip: 3000 }
  },
  { _id: "c", name: "Cid", age: 65, rate: 0, active: true, state: "gone", tags: [], born: day("2000-12-01") },
  {
    _id: "d",
    name: "dan.*",
    rate: 1e3,
    active: true,
    state: "new",
    tags: ["y", "zz", ">5"],
    seen: new Date("2026-03-02T00:00:00Z"),
    home: { city: "Thun" },
    secret: "hush"
  },
  { _id: "e", name: "Eve, Éva & co+1", age: 40, rate: 2.25, active: false, state: "paid", tags: ["a,b"] }
]

/** The identifiers that come back for a query, in order. */
const found = (query: string, path = guests) =>
  Effect.map(send("GET", `${path}?${query}`), (answer): string => {
    assert.strictEqual(answer.status, 200, `${query}: ${answer.text}`)
    return answer.body._items.map(({ id }: { readonly id: string }) => id).join("")
  })

const on = (pairs: ReadonlyArray<readonly [query: string, ids: string]>) =>
  Effect.forEach(
    pairs,
    ([query, ids]) => Effect.map(found(query), (actual) => assert.strictEqual(actual, ids, query)),
    { discard: true }
  )

routeStores((name, store) =>
  it.layer(serving(engine, store), { excludeTestServices: true })(`queries / ${name}`, (it) => {
    it.effect("start with the existing documents", () =>
      Effect.gen(function*() {
        const empty = yield* send("GET", `${guests}/`)
        assert.deepStrictEqual([empty.status, empty.body._type, empty.body._items], [200, "list", []])
        const { insertMany } = yield* DocumentStore.DocumentStore
        assert.strictEqual((yield* insertMany("Guest", stored)).insertedCount, 5)
      }))

    it.effect("a page with a count has the total in a header", () =>
      Effect.gen(function*() {
        const totalOf = (query: string) =>
          Effect.map(send("GET", `${guests}?${query}`), ({ headers }) => headers["x-total-count"])
        assert.strictEqual(yield* totalOf("page_size=2"), "5")
        assert.strictEqual(yield* totalOf("name=Abe"), "1")
        assert.strictEqual(yield* totalOf("name=nobody"), "0")
        assert.isUndefined(yield* totalOf("count=none"))
        assert.strictEqual(yield* totalOf("count=estimated&page_size=2"), "5")
        assert.strictEqual(yield* totalOf("count=estimated&name=Abe"), "1")
        assert.isUndefined(yield* totalOf("cursor=&count=exact"))
      }))

    it.effect("a single document has the requested fields, and takes no other parameter", () =>
      Effect.gen(function*() {
        const { _links, ...whole } = (yield* send("GET", `${guests}/a`)).body
        const { _links: links, ...part } = (yield* send("GET", `${guests}/a?fields=name,tags`)).body
        assert.deepStrictEqual(part, { _type: "Guest", id: "a", name: whole.name, tags: whole.tags })
        assert.deepStrictEqual(links, _links)
        assert.deepStrictEqual(fieldsIn(yield* send("GET", `${guests}/a?fields=secret`)), ["fields"])
        assert.deepStrictEqual(problemsIn(yield* send("GET", `${guests}/a?page=1&nmae=x`)), [
          "page Parameter",
          "nmae Parameter"
        ])
      }))

    const cases: ReadonlyArray<readonly [name: string, pairs: ReadonlyArray<readonly [query: string, ids: string]>]> = [
      ["take equality by the field's own schema", [
        ["", "abcde"],
        ["name=Abe", "a"],
        ["name=abe", ""],
        ["name=Bob%20(the%201st)", "b"],
        ["name=Bob+(the+1st)", "b"],
        ["name=Eve%2C%20%C3%89va%20%26%20co%2B1", "e"],
        ["age=40", "be"],
        ["rate=-2", "b"],
        ["rate=1e3", "d"],
        ["active=true", "acd"],
        ["active=yes", "acd"],
        ["active=n", "be"],
        ["state=paid", "be"],
        ["id=c", "c"],
        ["home.city=Bern", "b"],
        ["home.zip=3000", "b"],
        ["born=1980-01-31", "a"],
        ["born=31-01-1980", "a"],
        ["born=31.01.1980", "a"],
        ["born=31/01/1980", "a"],
        ["seen=2026-03-01T12:30:00.500", "b"],
        ["seen=2026-03-01T13:30:00.5%2B01:00", "b"],
        ["seen=2026-03-01", "b"],
        ["tags=x", "ab"],
        ["tags=%22%3E5%22", "d"]
      ]],
      ["are strict with > and <, and take >= and <=", [
        ["age=>40", "c"],
        ["age=>=40", "bce"],
        ["age=<40", "a"],
        ["age=<=40", "abe"],
        ["rate=>-2", "acde"],
        ["rate=<0", "b"],
        ["born=>1980-01-31", "c"],
        ["seen=>2026-03-01", "d"],
        ["seen=<=2026-03-01", "b"],
        ["name=>D", "de"]
      ]],
      ["contain text in any case, escaped, and elements of a list", [
        ["name=~B", "ab"],
        ["name=~.*", "d"],
        ["name=~(THE", "b"],
        ["name=~%C3%A9va", "e"],
        ["tags=~x", "ab"],
        ["tags=~z", ""],
        ["tags=~zz", "d"]
      ]],
      ["exclude values, ask for one of several, and for a size", [
        ["state=!new", "bce"],
        ["age=!40", "acd"],
        ["tags=!x", "cde"],
        ["state=[new,gone]", "acd"],
        ["state:[new,gone]", "acd"],
        ["age=[18,65]", "ac"],
        ["state=![new,gone]", "be"],
        ["name=[%22Eve, %C3%89va %26 co%2B1%22,Abe]".replaceAll(" ", "%20"), "ae"],
        ["tags=%230", "c"],
        ["tags=%232", "a"]
      ]],
      ["combine by logic: AND unless it is OR, and two bounds on one field are a range", [
        ["age=40&active=no&state=paid", "be"],
        ["age=>18&age=<65", "be"],
        ["logic=AND&age=>=18&age=<=40&state=new", "a"],
        ["logic=OR&name=Abe&name=Cid", "ac"],
        ["name=Abe&name=Cid", ""],
        ["logic=or&age=65&state=paid", "bce"],
        ["logic=OR&age=<20&age=>60", "ac"],
        ["logic=OR&age=>20&age=<60&name=Abe", "abe"]
      ]],
      ["sort by several fields, break ties by the identifier, and page", [
        ["sort_by=age&sort_order=ASC", "dabec"],
        ["sort_by=age&sort_order=DESC", "cebad"],
        ["sort_by=age&sort_order=desc", "cebad"],
        ["sort_by=state,rate&sort_order=DESC", "ebdac"],
        ["sort_by=active,-rate", "ebdac"],
        ["page=2&page_size=2", "cd"],
        ["page=3&page_size=2", "e"],
        ["page=9&page_size=2", ""],
        ["sort_by=home.city&sort_order=DESC&page_size=2", "db"]
      ]],
      ["take a native query beside the others", [
        [`query=${encodeURIComponent("{\"age\":{\"$gte\":40}}")}`, "bce"],
        [`query=${encodeURIComponent("{\"age\":{\"$gte\":40}}")}&state=paid&sort_by=name&sort_order=DESC`, "eb"],
        [`query=${encodeURIComponent("{\"$or\":[{\"_id\":\"a\"},{\"tags\":{\"$size\":0}}]}")}`, "ac"],
        [`query=${encodeURIComponent("{\"seen\":{\"$gt\":\"2026-03-01T23:00:00\"}}")}`, "d"],
        [`query=${encodeURIComponent("{\"name\":{\"$regex\":\"^a\",\"$options\":\"i\"}}")}`, "a"],
        [`query=${encodeURIComponent("{\"$expr\":{\"$gt\":[\"$rate\",\"$age\"]}}")}`, "d"]
      ]]
    ]
    for (const [sentence, pairs] of cases) it.effect(sentence, () => on(pairs))

    it.effect("return an envelope whose pages are linked and never overlap", () =>
      Effect.gen(function*() {
        const seen: Array<string> = []
        let path: string | undefined = `${guests}?state=[new,paid]&sort_by=state&page_size=3`
        const kinds: Array<string> = []
        while (path !== undefined) {
          const { body }: Answer = yield* send("GET", path)
          seen.push(...body._items.map(({ id }: { readonly id: string }) => id))
          kinds.push(Object.keys(body._links).join(" "))
          path = body._links.next?.href
        }
        assert.strictEqual(seen.join(""), "adbe")
        assert.deepStrictEqual(kinds, ["self first next last", "self first prev last"])
        const { body } = yield* send("GET", guests)
        assert.deepStrictEqual(body._items[1], {
          _type: "Guest",
          _links: {
            self: { href: `${guests}/b`, methods: ["GET", "POST"] },
            collection: { href: guests, methods: "GET" }
          },
          id: "b",
          name: "Bob (the 1st)",
          age: 40,
          rate: -2,
          active: false,
          state: "paid",
          tags: ["x"],
          seen: "2026-03-01T12:30:00.500000",
          home: { _type: "Home", city: "Bern", zip: 3000 }
        })
        const plain = yield* send("GET", "/plain?page_size=1")
        assert.deepStrictEqual(Object.keys(plain.body._links), ["self", "first", "next", "last"])
        assert.notProperty(plain.body._items[0], "_links")
        const none = yield* send("GET", `${guests}?name=Zoe`)
        assert.deepStrictEqual([none.status, none.body._items, Object.keys(none.body._links)], [200, [], ["self"]])
      }))

    it.effect("continue after a cursor, with the requested fields, and without counting", () =>
      Effect.gen(function*() {
        const seen: Array<string> = []
        let path: string | undefined = `${guests}?cursor=&sort_by=age&page_size=2&fields=name,home.city`
        while (path !== undefined) {
          const { body }: Answer = yield* send("GET", path)
          for (const item of body._items) {
            seen.push(item.id)
            assert.sameMembers(
              Object.keys(item).filter((key) => key !== "home"),
              ["_type", "_links", "id", "name"]
            )
          }
          path = body._links.next?.href
        }
        assert.strictEqual(seen.join(""), "dabec")
        for (const count of ["none", "estimated", "exact"]) {
          const { body } = yield* send("GET", `${guests}?count=${count}&page_size=4`)
          assert.deepStrictEqual(
            Object.keys(body._links),
            count === "none" ? ["self", "first", "next"] : ["self", "first", "next", "last"]
          )
        }
      }))

    it.effect("report every invalid parameter", () =>
      Effect.gen(function*() {
        const bad: ReadonlyArray<readonly [query: string, problem: string]> = [
          ["nope=1", "nope Parameter"],
          ["home=x", "home"],
          ["home.nope=x", "home.nope Parameter"],
          ["secret=hush", "secret Parameter"],
          ["sort_by=secret", "sort_by Parameter"],
          ["fields=secret", "fields Parameter"],
          ["age=old", "age Parameter"],
          ["age=1.5", "age Parameter"],
          ["age=", "age Parameter"],
          ["age=>", "age Parameter"],
          ["active=maybe", "active Parameter"],
          ["state=unknown", "state Parameter"],
          ["born=2026-02-30", "born Parameter"],
          ["seen=yesterday", "seen Parameter"],
          ["active=>true", "active Operator"],
          ["logic=XOR", "logic Parameter"],
          ["page=0", "page Parameter"],
          ["page=-1", "page Parameter"],
          ["page=1.0", "page Parameter"],
          ["page=x", "page Parameter"],
          ["page=99999999999999999999", "page Parameter"],
          ["page_size=0", "page_size Parameter"],
          ["page_size=1001", "page_size Parameter"],
          ["sort_order=up", "sort_order Parameter"],
          ["sort_by=tags", "sort_by Parameter"],
          ["sort_by=", "sort_by Parameter"],
          ["query={}&query={}", "query Parameter"],
          ["query={", "query Json"],
          ["query=[]", "query Parameter"],
          ["cursor=nonsense", "cursor Cursor"],
          ["cursor=&page=2", "cursor Cursor"],
          ["count=many", "count Parameter"],
          ["__proto__=x", "__proto__ Parameter"],
          ["constructor=x", "constructor Parameter"],
          ["name.__proto__=x", "name.__proto__ Parameter"],
          ["toString=x", "toString Parameter"]
        ]
        for (const [query, problem] of bad) {
          const problems = problemsIn(yield* send("GET", `${guests}?${query}`))
          assert.strictEqual(problems.length, 1, query)
          assert.isTrue(problems[0]!.startsWith(problem), `${query}: ${problems.join()}`)
        }
        assert.deepStrictEqual(fieldsIn(yield* send("GET", `${guests}?page=0&nope=1&age=x&page_size=9999`)), [
          "nope",
          "age",
          "page",
          "page_size"
        ])
      }))

    it.effect("find what lacks a field with a default as what has it", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        yield* store.insertMany("Guest", [{ _id: "y", name: "Old" }, { _id: "z", name: "Old", state: "gone", rate: 3 }])
        const native = (query: unknown) => `query=${encodeURIComponent(JSON.stringify(query))}`
        yield* on([
          ["name=Old&state=new", "y"],
          ["name=Old&state=!new", "z"],
          ["name=Old&state=[new,gone]&sort_by=state", "yz"],
          ["name=Old&rate=<1", "y"],
          ["name=Old&rate=>1", "z"],
          ["name=Old&active=true&sort_by=-rate", "zy"],
          ["name=Old&state=~E", "yz"],
          [native({ name: "Old", state: "new" }), "y"],
          [native({ name: "Old", $or: [{ rate: { $gte: 0, $lte: 1 } }, { state: { $nin: ["new", "gone"] } }] }), "y"]
        ])
        const page = yield* send("GET", `${guests}?name=Old&state=new`)
        assert.strictEqual(page.body._items[0].state, "new")
        yield* store.deleteMany("Guest", { name: "Old" })
      }))

    it.effect("reject operators outside of the allowlist, at any depth, with a 403 that names them", () =>
      Effect.gen(function*() {
        const queries: ReadonlyArray<readonly [query: unknown, operator: string]> = [
          [{ $where: "sleep(1000)" }, "$where"],
          [{ $and: [{ $or: [{ name: "x" }, { $nor: [{ $where: "1" }] }] }] }, "$where"],
          [{ $expr: { $function: { body: "1", args: [], lang: "js" } } }, "$function"],
          [{ $expr: { $gt: [{ $add: [1, { $accumulator: {} }] }, 1] } }, "$accumulator"],
          [{ age: { $not: { $jsonSchema: {} } } }, "$jsonSchema"],
          [{ age: { $nope: 1 } }, "$nope"]
        ]
        for (const [query, operator] of queries) {
          const answer = yield* send("GET", `${guests}?query=${encodeURIComponent(JSON.stringify(query))}`)
          assert.include(refused(403, answer).body.message, operator)
        }
        for (const query of [{ secret: "hush" }, { "home.nope": 1 }, { $expr: { $eq: ["$secret", "hush"] } }]) {
          const answer = yield* send("GET", `${guests}?query=${encodeURIComponent(JSON.stringify(query))}`)
          assert.deepStrictEqual(problemsIn(answer), ["query Parameter"])
        }
      }))

    it.effect("name the parameter that the store rejects", () =>
      Effect.gen(function*() {
        for (const query of [{ name: { $regex: "(" } }, { $or: [] }, { age: { $mod: [0, 0] } }]) {
          for (const count of ["exact", "none"]) {
            const answer = yield* send(
              "GET",
              `${guests}?count=${count}&query=${encodeURIComponent(JSON.stringify(query))}`
            )
            assert.deepStrictEqual(problemsIn(answer), ["query Parameter"], JSON.stringify(query))
          }
        }
      }))
  })
)
