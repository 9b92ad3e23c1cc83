/** Lists of documents that are created from tables. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Redacted, Schema } from "effect"
import { request as httpRequest } from "node:http"
import { KernelEngine, Model, OpenApi, Resource, Role } from "../../../src/index.ts"
import { resolvedDocument } from "../../support/resolvedDocument.ts"
import { problemsIn, refused, sendTo } from "../../support/rest.ts"
import { shop } from "../../support/tokens.ts"

class Town extends Model.Class<Town>()("Town", { name: Schema.String, zip: Schema.Int.pipe(Model.optional) }) {}

class Place extends Model.Class<Place>()("Place", {
  id: Model.id(),
  name: Schema.String,
  zip: Schema.Int.pipe(Model.optional)
}) {}

class Part extends Model.Class<Part>()("Part", { product: Schema.String, count: Schema.Int }) {}

class Sale extends Model.Class<Sale>()("Sale", {
  id: Model.id({ prefix: "S" }),
  text: Schema.String,
  note: Schema.NonEmptyString.pipe(Model.optional),
  kind: Schema.Literals(["a", "b"]).pipe(Model.withDefault(() => "b" as const)),
  total: Schema.Finite,
  paid: Schema.NullOr(Schema.Boolean),
  town: Town.pipe(Model.optional),
  size: Schema.Struct({ width: Schema.Int, unit: Schema.Struct({ name: Schema.String }) }),
  parts: Schema.Array(Part),
  notes: Schema.Record(Schema.String, Schema.String),
  at: Model.DateTime.pipe(Model.optional),
  mixed: Schema.Union([Schema.Int, Schema.Literal("none")]),
  secret: Schema.String.pipe(Model.omitted, Model.optional),
  ...Model.versioned
}) {}

const Digit = { One: "1", Two: "two" } as const

/** A model of fields that may be texts or something else. */
class Choice extends Model.Class<Choice>()("Choice", {
  id: Model.id(),
  some: Schema.Union([Schema.Finite, Schema.String, Schema.Boolean]),
  optional: Schema.Union([Schema.Int, Schema.String]).pipe(Model.optional),
  nullable: Schema.NullOr(Schema.Union([Schema.String, Schema.Array(Schema.String)])),
  literal: Schema.Literals([1, "1", true, "true", "null"]),
  digit: Schema.Enum(Digit),
  any: Schema.Unknown.pipe(Model.optional),
  part: Schema.Struct({ inner: Schema.Union([Schema.Struct({ a: Schema.Int }), Schema.String]) }).pipe(Model.optional)
}) {}

/** A model of values that may be none in the program. */
class Perhaps extends Model.Class<Perhaps>()("Perhaps", {
  id: Model.id(),
  whole: Schema.OptionFromNullOr(Schema.Int),
  text: Schema.OptionFromNullOr(Schema.String),
  key: Schema.OptionFromOptionalKey(Schema.Int),
  filled: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(5))),
  part: Schema.Struct({ whole: Schema.OptionFromNullOr(Schema.Int), key: Schema.OptionFromOptionalKey(Schema.Int) })
}) {}

class Plain extends Model.Class<Plain>()("Plain", { id: Model.id(), n: Schema.Int }) {}

const engine = KernelEngine.make("tables")
  .register(Sale, { methods: ["GET", "POST", "DELETE"], tables: true, many: ["DELETE"] })
  .register(Choice, { methods: ["GET", "POST", "DELETE"], tables: true, many: ["DELETE"] })
  .register(Perhaps, { methods: ["GET", "POST", "DELETE"], tables: true, many: ["DELETE"] })
  .register(Plain, { methods: ["GET", "POST"] })
  .register(Plain, { methods: ["POST"], tables: true, lists: false, segment: "singles", name: "singles" })

const text = Schema.Literals(["a", "b\r\nc", "\"", "ä,", "=1", "", "12", "null", "true", " x ", "\uFEFFy", "[1]"])

const sale = Schema.Struct({
  text,
  note: Schema.optionalKey(Schema.Literals(["x", "0", "null", "\n"])),
  kind: Schema.Literals(["a", "b"]),
  total: Schema.Literals([0, -1.5, 1e21, 3]),
  paid: Schema.NullOr(Schema.Boolean),
  town: Schema.optionalKey(
    Schema.Struct({ name: Schema.Literals(["Bern", "7"]), zip: Schema.optionalKey(Schema.Literals([3000, 0])) })
  ),
  size: Schema.Struct({ width: Schema.Literals([0, 5]), unit: Schema.Struct({ name: text }) }),
  parts: Schema.Array(Schema.Struct({ product: text, count: Schema.Literals([1, 2]) })).check(Schema.isMaxLength(2)),
  notes: Schema.Struct({ a: Schema.optionalKey(text), "b.c": Schema.optionalKey(text) }),
  at: Schema.optionalKey(Schema.Literals(["1970-01-01T00:00:00.000000", "2026-11-28T21:00:00.123000"])),
  mixed: Schema.Literals([0, 7, "none"])
})

/** Texts that look like the JSON of something else. */
const choices = Schema.Union([
  Schema.String,
  Schema.Literals([
    "",
    "7",
    "\"7\"",
    "\"\"",
    " 7",
    "null",
    "true",
    "[1]",
    "[\"a\"]",
    "{\"a\":1}",
    "{",
    "x",
    "\"\\ud800\""
  ])
]).check(Schema.makeFilter((value: string) => value.isWellFormed() && !value.includes("\0")))

const choice = Schema.Struct({
  some: Schema.Union([Schema.Literals([0, 7, -1.5, 1e21, true, false]), choices]),
  optional: Schema.optionalKey(Schema.Union([Schema.Literals([0, 7]), choices])),
  nullable: Schema.NullOr(Schema.Union([choices, Schema.Literals(["a"]).pipe(Schema.Array)])),
  literal: Schema.Literals([1, "1", true, "true", "null"]),
  digit: Schema.Literals(["1", "two"]),
  any: Schema.optionalKey(Schema.Union([Schema.Literals([0, true]), choices, Schema.Struct({ a: choices })])),
  part: Schema.optionalKey(
    Schema.Struct({ inner: Schema.Union([Schema.Struct({ a: Schema.Literal(1) }), choices]) })
  )
})

const perhaps = Schema.Struct({
  whole: Schema.NullOr(Schema.Literals([0, 7])),
  text: Schema.NullOr(Schema.Literals(["x", "7", "null"])),
  key: Schema.optionalKey(Schema.Literals([0, 7])),
  filled: Schema.optionalKey(Schema.Literals([0, 7])),
  part: Schema.Struct({
    whole: Schema.NullOr(Schema.Literals([0, 7])),
    key: Schema.optionalKey(Schema.Literals([0, 7]))
  })
})

const runs = Number(process.env["DIFFERENTIAL_RUNS"] ?? 15)

const csv = { "content-type": "text/csv" }
const ndjson = { "content-type": "application/x-ndjson" }

/** Documents of random values are the same after their table was sent back. */
const sentBack = (path: string, document: Schema.ConstraintCodec<unknown, unknown>) =>
  Effect.gen(function*() {
    const { baseUrl } = yield* engine.test()
    const send = (method: string, query: string, body?: unknown, headers = {}) =>
      sendTo(baseUrl, method, path + query, body, headers)
    const checked = yield* Arbitrary.checkEffect(
      Arbitrary.schema(Schema.Array(document).check(Schema.isMinLength(1), Schema.isMaxLength(5))),
      Effect.fnUntraced(function*(documents) {
        yield* send("DELETE", "?all=true")
        const created = yield* send("POST", "", documents)
        assert.strictEqual(created.status, 201, created.text)
        const { body: before } = yield* send("GET", "?sort_by=id")
        for (const [accept, headers] of [["text/csv", csv], ["application/x-ndjson", ndjson]] as const) {
          const exported = yield* send("GET", "?sort_by=id", undefined, { accept })
          assert.strictEqual((yield* send("DELETE", "?all=true")).body.count, documents.length)
          const imported = yield* send("POST", "", exported.text, headers)
          assert.strictEqual(imported.status, 201, imported.text + exported.text)
          assert.deepStrictEqual(imported.body.result, before._items.map(({ id }: { id: string }) => id))
          assert.deepStrictEqual((yield* send("GET", "?sort_by=id")).body._items, before._items, exported.text)
        }
        return true
      }),
      { runs }
    )
    assert.strictEqual(checked._tag, "Passed", JSON.stringify(checked))
  }).pipe(Effect.scoped)

describe("Documents of a table", () => {
  it.effect("are those that it was exported from", () => sentBack("/sales", sale), 600_000)

  it.effect("are the same where fields may be texts or something else", () => sentBack("/choices", choice), 600_000)

  it.effect("are the same where fields may be none", () => sentBack("/perhapses", perhaps), 600_000)

  it.effect("have a plain text as it stands, and as JSON where it would be read as something else", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* engine.test()
      const somes = [7, "7", "x", "\"7\"", true, "true", "a\"b", ""]
      yield* sendTo(
        baseUrl,
        "POST",
        "/choices",
        somes.map((some, i) => ({ id: String(i), some, nullable: null, literal: 1, digit: Digit.One }))
      )
      const { text } = yield* sendTo(baseUrl, "GET", "/choices?fields=some", undefined, { accept: "text/csv" })
      const cells = ["7", `"""7"""`, "x", `"""\\""7\\"""""`, "true", `"""true"""`, `"a""b"`, `""""""`]
      assert.deepStrictEqual(text.split("\r\n").slice(1, -1), cells.map((cell, i) => `${i},${cell}`))
    }).pipe(Effect.scoped))

  it.effect("get identifiers and defaults, and may have fields that are only written", () =>
    Effect.gen(function*() {
      const { baseUrl, repositories: { sales } } = yield* engine.test()
      const table = "\uFEFFsecret,text,total,paid,size.width,size.unit.name,parts,notes,mixed,id\n" +
        "s1,\"one, two\",1,true,2,m,[],{},none,\n\n" +
        "s2,,2,,3,,\"[{\"\"product\"\":\"\"x\"\",\"\"count\"\":1}]\",{},4,S9\n"
      const { body, status } = yield* sendTo(baseUrl, "POST", "/sales", table, {
        "content-type": "text/csv; charset=utf-8; header=present"
      })
      assert.strictEqual(status, 201, JSON.stringify(body))
      const [first, second] = body.result
      assert.strictEqual(second, "S9")
      const one = yield* sales.findById(first)
      assert.deepInclude(one, { text: "one, two", secret: "s1", kind: "b", paid: true, mixed: "none" })
      const other = yield* sales.findById(second)
      assert.deepInclude(other, { text: "", secret: "s2", paid: null, mixed: 4 })
      assert.strictEqual(other.parts[0]?.product, "x")
    }).pipe(Effect.scoped))

  it.effect("are all created or none, and their problems have the numbers of their rows", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* engine.test()
      const send = (body: unknown, headers: { readonly [name: string]: string } = csv, path = "/sales") =>
        sendTo(baseUrl, "POST", path, body, headers)
      const header = "text,total,paid,size.width,size.unit.name,parts,notes,mixed"
      const row = "a,1,true,2,m,[],{},none"
      const wrong = yield* send(`${header}\n${row}\n${row.replace("1", "x")}\n`)
      assert.match(problemsIn(wrong).join(), /^1\.total /u)
      assert.deepStrictEqual(problemsIn(yield* send(`${header},nothing,text\n${row},1,2\n`)), [
        "nothing Column",
        "text Column"
      ])
      assert.deepStrictEqual(problemsIn(yield* send(`${header}\n${row},1\n`)), ["0 Column"])
      assert.deepStrictEqual(problemsIn(yield* send(`${header}\n`)), [" NotEmpty"])
      assert.deepStrictEqual(problemsIn(yield* send("", ndjson)), [" NotEmpty"])
      assert.include(refused(400, yield* send(`${header}\n"a`)).body.message, "line 2")
      assert.include(refused(400, yield* send("{}\n\n{\"a\":\n", ndjson)).body.message, "line 3")
      refused(400, yield* send(Buffer.from([0x74, 0xff]), csv))
      refused(415, yield* send("n\n1\n", csv, "/plains"))
      refused(415, yield* send("{\"n\":1}\n", ndjson, "/singles"))
      refused(415, yield* send(`${header}\n${row}\n`, { ...csv, "content-encoding": "gzip" }))
      const known = `id,${header}\nS1,${row}\nS2,${row}\nS1,${row}\n`
      refused(409, yield* send(known))
      assert.deepStrictEqual((yield* sendTo(baseUrl, "GET", "/sales")).body._items, [])
    }).pipe(Effect.scoped))

  it.effect("are read no further than a list may have", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* engine.test()
      const line = "{\"text\":1}\n"
      assert.deepStrictEqual(problemsIn(yield* sendTo(baseUrl, "POST", "/sales", line.repeat(1_001), ndjson)), [" Max"])
      assert.deepStrictEqual(
        problemsIn(yield* sendTo(baseUrl, "POST", "/sales", `text\n${"a\n".repeat(1_001)}`, csv)),
        [
          " Max"
        ]
      )
      refused(413, yield* sendTo(baseUrl, "POST", "/sales", `text\n${"a".repeat(1_048_577)}`, csv))
      // A body without an end is answered once it has too many documents.
      const status = yield* Effect.callback<number | undefined>((resume) => {
        const sent = httpRequest(`${baseUrl}/sales`, { method: "POST", headers: ndjson, agent: false }, (response) => {
          resume(Effect.succeed(response.statusCode))
          sent.destroy()
        })
        sent.on("error", () => {})
        sent.write(line.repeat(1_002))
      })
      assert.strictEqual(status, 400)
    }).pipe(Effect.scoped))

  it.effect("have the fields that their caller may write", () =>
    Effect.gen(function*() {
      const { baseUrl, token } = yield* KernelEngine.make("granted")
        .register(
          Resource.make(Place, { methods: ["GET", "POST"] })
            .grant(Role("clerk"), { hide: ["zip"] }),
          { tables: true }
        )
        .enableSecurity()
        .test()
      const authorization = `Bearer ${Redacted.value(yield* token({ subject: "me", roles: ["clerk"] }))}`
      const send = (body: string) => sendTo(baseUrl, "POST", "/places", body, { ...csv, authorization })
      refused(403, yield* send("name,zip\nBern,3000\n"))
      assert.strictEqual((yield* send("name\nBern\n")).status, 201)
    }).pipe(Effect.provide(shop("EdDSA")), Effect.scoped))

  it("are described with lists, where there are tables", () => {
    const { paths } = resolvedDocument(OpenApi.make(engine, { title: "Tables", version: "1" }))
    const typesOf = (path: string) => Object.keys(paths[path].post.requestBody.content)
    assert.includeMembers(typesOf("/sales"), ["application/json", "text/csv", "application/x-ndjson"])
    assert.notInclude(typesOf("/plains"), "text/csv")
    assert.notInclude(typesOf("/singles"), "text/csv")
  })
})
