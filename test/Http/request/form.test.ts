import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { decodeForm, readForm } from "../../../src/Http/request/form.ts"
import { isMultipart, makeReader, type ReceivedPart } from "../../../src/Http/request/multipart.ts"
import { Model, Validator } from "../../../src/index.ts"
import { bodyDecoder } from "../../../src/Model/codec/explainer.ts"

class Place extends Model.Class<Place>()("Place", {
  city: Schema.String.pipe(Validator.notEmpty),
  zip: Schema.Int.pipe(Model.optional)
}) {}

interface StoredChain {
  readonly title: string
  readonly parent?: StoredChain | null
}

class Chain extends Model.Class<Chain>()("Chain", {
  title: Schema.String,
  parent: Schema.suspend((): Schema.Codec<Chain, StoredChain> => Chain).pipe(Model.optional)
}) {}

class Entry extends Model.Class<Entry>()("Entry", {
  id: Model.id(),
  title: Schema.String.pipe(Validator.notEmpty),
  count: Schema.Int.pipe(Validator.min(0), Model.optional),
  ratio: Schema.Finite.pipe(Model.optional),
  open: Schema.Boolean.pipe(Model.withDefault(() => false)),
  state: Schema.Literals(["new", "old"]).pipe(Model.optional),
  grade: Schema.Literals([1, 2]).pipe(Model.optional),
  day: Model.Date.pipe(Model.optional),
  at: Model.DateTime.pipe(Model.optional),
  tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => [])),
  sizes: Schema.Array(Schema.Int).pipe(Model.withDefault(() => [])),
  place: Place.pipe(Model.optional),
  days: Schema.Array(Model.Date).pipe(Model.optional),
  states: Schema.Array(Schema.Literals(["new", "[new]"])).pipe(Model.optional),
  mixed: Schema.Array(Schema.Union([Schema.Int, Schema.String])).pipe(Model.optional),
  matrix: Schema.Array(Schema.Array(Schema.Int)).pipe(Model.optional),
  places: Schema.Array(Place).pipe(Model.withDefault(() => [])),
  labels: Schema.Record(Schema.String, Schema.Int).pipe(Model.optional),
  parent: Chain.pipe(Model.optional),
  secret: Schema.String.pipe(Model.optional, Model.omitted)
}) {}

const decode = bodyDecoder(Entry.create)

const text = (name: string, value: string, contentType = "text/plain"): ReceivedPart => ({
  _tag: "Text",
  name,
  contentType,
  bytes: Buffer.from(value)
})

const valuesOf = (...parts: ReadonlyArray<ReceivedPart>) =>
  readForm(Entry, parts, { maxDepth: 16, isStrict: false }).values

const problemsIn = (...parts: ReadonlyArray<ReceivedPart>) => {
  const decoded = decodeForm(decode, readForm(Entry, parts, { maxDepth: 16, isStrict: false }))
  return decoded._tag === "Invalid" ? decoded.problems.map(({ field, message }) => `${field} ${message}`) : []
}

describe("a form", () => {
  it("has no list where the only part of one is null as JSON, and a null in one of several parts", () => {
    assert.deepStrictEqual(valuesOf(text("tags", "null", "application/json")), { tags: null })
    const several = [text("tags", "null", "application/json"), text("tags", "a")]
    assert.deepStrictEqual(valuesOf(...several), { tags: [null, "a"] })
  })

  it("is equivalent to a JSON body, with values parsed by their fields", () => {
    assert.deepStrictEqual(
      valuesOf(
        text("title", "12"),
        text("count", "12"),
        text("ratio", "-1.5e3"),
        text("open", "Yes"),
        text("state", "new"),
        text("grade", "2"),
        text("day", "2026-01-31"),
        text("at", "2026-01-31T10:00:00Z"),
        text("tags", "1"),
        text("tags", ""),
        text("sizes", "1"),
        text("sizes", "2"),
        text("place.city", "Bern"),
        text("place.zip", "3000"),
        text("places", `{"city":"Basel"}`),
        text("places", `{"city":"Genf"}`),
        text("labels", `{"a":1}`),
        text("parent.parent.title", "root"),
        text("secret", "s")
      ),
      {
        title: "12",
        count: 12,
        ratio: -1500,
        open: true,
        state: "new",
        grade: 2,
        day: "2026-01-31",
        at: "2026-01-31T10:00:00Z",
        tags: ["1", ""],
        sizes: [1, 2],
        place: { city: "Bern", zip: 3000 },
        places: [{ city: "Basel" }, { city: "Genf" }],
        labels: { a: 1 },
        parent: { parent: { title: "root" } },
        secret: "s"
      }
    )
  })

  it("may have JSON for any field, and a complete list in one part", () => {
    assert.deepStrictEqual(
      valuesOf(
        text("place", `{"city":"Bern"}`),
        text("places", `[{"city":"Basel"}]`),
        text("tags", `["a","b"]`, "application/json"),
        text("title", `"quoted"`, "application/json"),
        text("count", "null", "application/json")
      ),
      { place: { city: "Bern" }, places: [{ city: "Basel" }], tags: ["a", "b"], title: "quoted", count: null }
    )
    assert.deepStrictEqual(valuesOf(text("tags", `["a"]`)), { tags: [`["a"]`] })
  })

  it("may have a list as JSON in one part, unless it is one of texts", () => {
    assert.deepStrictEqual(
      valuesOf(
        text("sizes", " [1,2]"),
        text("days", `["2026-01-31"]`),
        text("states", "[new]"),
        text("mixed", "[1]"),
        text("matrix", "[[1],[2]]")
      ),
      { sizes: [1, 2], days: ["2026-01-31"], states: ["[new]"], mixed: ["[1]"], matrix: [[1], [2]] }
    )
    assert.deepStrictEqual(valuesOf(text("sizes", "[]")), { sizes: [] })
    assert.deepStrictEqual(valuesOf(text("sizes", "[1]"), text("sizes", "2")), { sizes: ["[1]", 2] })
    assert.deepStrictEqual(problemsIn(text("title", "x"), text("sizes", "[1,")), ["sizes is not valid JSON"])
  })

  it("ignores empty texts except in text fields, and file inputs without a file", () => {
    assert.deepStrictEqual(
      valuesOf(
        text("title", ""),
        text("count", ""),
        text("open", ""),
        text("state", ""),
        text("day", ""),
        text("place", ""),
        text("labels", ""),
        { _tag: "File", name: "secret", size: 0, isChosen: false }
      ),
      { title: "" }
    )
  })

  it("is validated by the model, with its own problems first", () => {
    assert.deepStrictEqual(
      problemsIn(
        text("count", "-1"),
        text("ratio", "0x10"),
        text("open", "perhaps"),
        text("state", "odd"),
        text("day", "2026-02-30"),
        text("title", "a"),
        text("title", "b"),
        text("place", `{"city":"Bern"`),
        text("place.zip", "1"),
        { _tag: "File", name: "secret", size: 3, isChosen: true }
      ),
      [
        "title is given more than once",
        "place is not valid JSON",
        "place.zip is part of a field that is given as a whole, too",
        "secret can't be a file",
        "count must be at least 0",
        "ratio must be a number",
        "open must be true or false",
        "state must be one of new, old",
        "day must be a date, such as 2026-01-31"
      ]
    )
    assert.deepStrictEqual(problemsIn(), ["title must be given"])
  })

  it("accepts only UTF-8", () => {
    const bytes = Uint8Array.of(0xe4)
    assert.deepStrictEqual(
      problemsIn({ _tag: "Text", name: "title", contentType: "text/plain", bytes }),
      ["title must be UTF-8 text"]
    )
    assert.deepStrictEqual(
      problemsIn(text("title", "a", "text/plain;charset=iso-8859-1")),
      ["title must be UTF-8 text"]
    )
    assert.deepStrictEqual(valuesOf(text("title", "ü", "text/plain;charset=utf-8")), { title: "ü" })
  })

  it("ignores unknown names, and sets fields only", () => {
    assert.deepStrictEqual(
      valuesOf(
        text("title", "a"),
        text("submit", "Save"),
        text("constructor", "x"),
        text("constructor.prototype.x", "x"),
        text("place.toString", "x"),
        text("title.length", "x"),
        text("", "x"),
        text(".", "x"),
        text("tags.0", "x")
      ),
      { title: "a" }
    )
    assert.deepStrictEqual(problemsIn(text("title", "a"), text("place.__proto__.x", "x"), text("__proto__", "x")), [
      "place.__proto__.x is not a field of the model",
      "__proto__ is not a field of the model"
    ])
    assert.isUndefined(Reflect.get({}, "x"))
  })

  it("is nested no deeper than a JSON body may be", () => {
    const deep = (levels: number) => `${"parent.".repeat(levels)}title`
    assert.property(valuesOf(text(deep(15), "a")), "parent")
    assert.deepStrictEqual(valuesOf(text(deep(16), "a"), text(deep(100_000), "a")), {})
    assert.deepStrictEqual(
      problemsIn(text("title", "a"), text("parent", `${`{"parent":`.repeat(17)}{}${"}".repeat(17)}`)),
      ["parent must not be nested more than 16 levels deep"]
    )
  })
})

const limits = { maxMultipartSize: 10_000, maxFieldSize: 1_000, maxParts: 5 }

const boundary = "----boundary"

const type = `multipart/form-data; boundary=${boundary}`

const partOf = (headers: string, content: string) => `--${boundary}\r\n${headers}\r\n\r\n${content}\r\n`

const field = (name: string, content: string) => partOf(`Content-Disposition: form-data; name="${name}"`, content)

const end = `--${boundary}--\r\n`

/** What is read of a body that comes in pieces of a size. */
const readOf = (body: string | Uint8Array, contentType = type, pieces = body.length) => {
  const bytes = typeof body === "string" ? Buffer.from(body) : body
  const results: Array<ReadonlyArray<ReceivedPart> | string> = []
  const reader = makeReader(contentType, limits, (result) => {
    results.push(Result.isSuccess(result) ? result.success : result.failure._tag)
  })
  for (let i = 0; i < bytes.length; i += pieces) reader.write(bytes.subarray(i, i + pieces))
  reader.end()
  return results
}

const textsOf = (results: ReadonlyArray<ReadonlyArray<ReceivedPart> | string>) =>
  results.map((result) =>
    typeof result === "string"
      ? result
      : result.map((part) =>
        part._tag === "Text"
          ? `${part.name}=${Buffer.from(part.bytes).toString()} (${part.contentType})`
          : `${part.name}: ${part._tag === "File" ? part.size : 0} bytes`
      )
  )

describe("multipart/form-data", () => {
  const body = field("title", "a\r\nb") + field("tags", "") +
    partOf(`content-disposition: form-data; name=place; filename="blob"\r\nContent-Type: application/json`, "{}") +
    partOf(`Content-Disposition: form-data; name="secret"; filename="x.bin"`, "12345") +
    partOf(
      `Content-Disposition: form-data; name="note"; filename="x.txt"\r\nContent-Type: text/plain; charset=UTF-8`,
      "ü"
    )
  const parts = [
    "title=a\r\nb (text/plain)",
    "tags= (text/plain)",
    "place={} (application/json)",
    "secret: 5 bytes",
    "note=ü (text/plain;charset=utf-8)"
  ]

  it("is read in chunks of any size, with or without a preamble and an epilogue", () => {
    for (const whole of [body + end, `preamble\r\n${body}${end}`, `${body}${end}epilogue`, `${body}--${boundary}--`]) {
      for (let pieces = 1; pieces <= whole.length; pieces += pieces < 80 ? 1 : 97) {
        assert.deepStrictEqual(textsOf(readOf(whole, type, pieces)), [parts], `${pieces} bytes at a time`)
      }
    }
    assert.deepStrictEqual(textsOf(readOf(end)), [[]])
  })

  it("is rejected if it is malformed, whatever follows", () => {
    const bad: ReadonlyArray<readonly [string, string?]> = [
      [""],
      ["no form at all"],
      [body],
      [`${body}--${boundary}`],
      [body + end, "multipart/form-data"],
      [body + end, "multipart/form-data; boundary=other"],
      [partOf(`Content-Disposition: form-data`, "x") + end],
      [partOf(`Content-Disposition: attachment; name="title"`, "x") + end],
      [partOf(`Content-Disposition: form-data; name="a"; name="b"`, "x") + end],
      [partOf(`Content-Type: text/plain`, "x") + end],
      [partOf(`no header`, "x") + field("title", "a") + end],
      [`--${boundary}\r\n${"x: y\r\n".repeat(200)}\r\n\r\nx\r\n${end}`]
    ]
    for (const [whole, contentType = type] of bad) {
      for (const pieces of [1, 7, 100_000]) {
        assert.deepStrictEqual(textsOf(readOf(whole, contentType, pieces)), ["BadRequest"], whole.slice(0, 80))
      }
    }
  })

  it("is rejected if it exceeds the limits", () => {
    const large = [
      field("title", "x".repeat(1_001)) + end,
      partOf(`Content-Disposition: form-data; name="f"; filename="f"`, "x".repeat(10_001)) + end,
      field("tags", "x").repeat(6) + end,
      "x".repeat(10_001)
    ]
    for (const whole of large) {
      for (const pieces of [7, 100_000]) {
        assert.deepStrictEqual(textsOf(readOf(whole, type, pieces)), ["PayloadTooLarge"])
      }
    }
    assert.strictEqual(readOf(field("title", "x".repeat(1_000)) + end)[0]?.length, 1)
    assert.strictEqual(readOf(field("tags", "x").repeat(5) + end)[0]?.length, 5)
  })

  it("is recognised by its content type", () => {
    for (const yes of ["multipart/form-data", "Multipart/Form-Data;boundary=x", "multipart/form-data ; boundary=x"]) {
      assert.isTrue(isMultipart(yes))
    }
    for (const no of [undefined, "", "application/json", "multipart/form-data-x", "multipart/mixed; boundary=x"]) {
      assert.isFalse(isMultipart(no))
    }
  })
})
