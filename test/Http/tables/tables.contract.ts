/** Lists as CSV and as lines of JSON, which have all documents of the filter, from one state of the collection. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { HttpServer } from "effect/http"
import { request as httpRequest } from "node:http"
import { DocumentStore, KernelConfig, KernelEngine, Model, Resource, ServiceError } from "../../../src/index.ts"
import { type Answer, problemsIn, send, serving } from "../../support/rest.ts"

class Town extends Model.Class<Town>()("Town", { name: Schema.String, zip: Schema.Int.pipe(Model.optional) }) {}

class Part extends Model.Class<Part>()("Part", { product: Schema.String, count: Schema.Int }) {}

class Sale extends Model.Class<Sale>()("Sale", {
  id: Schema.String,
  text: Schema.String,
  total: Schema.Finite,
  paid: Schema.NullOr(Schema.Boolean).pipe(Model.withDefault(() => null)),
  town: Town.pipe(Model.optional),
  size: Schema.Struct({ width: Schema.Int, unit: Schema.Struct({ name: Schema.String }) }),
  parts: Schema.Array(Part),
  notes: Schema.Record(Schema.String, Schema.String),
  at: Model.DateTime.pipe(Model.optional),
  secret: Schema.String.pipe(Model.omitted, Model.optional)
}) {}

class Row extends Model.Class<Row>()("Row", { id: Schema.String, n: Schema.Int, text: Schema.String }) {}

class Plain extends Model.Class<Plain>()("Plain", { id: Schema.String }) {}

class Hooked extends Model.Class<Hooked>()("Hooked", { id: Schema.String, n: Schema.Int }) {}

class Gone extends ServiceError<Gone>()("Gone", { status: 410, message: "It is gone" }) {}

const engine = KernelEngine.make("tables")
  .register(Sale, { tables: true })
  .register(Row, { tables: { byteOrderMark: true, escapeFormulas: true }, pageTags: true, enableHateoas: false })
  .register(Plain)
  .register(
    Resource.make(Hooked).afterGet(({ n }) => n === 13 ? Effect.fail(new Gone()) : Effect.void, { error: Gone }),
    { tables: true }
  )

// More than the buffers of a connection have room for.
const rows = 1_500

const sales: ReadonlyArray<DocumentStore.Document> = [
  {
    _id: "S1",
    text: "a, \"quoted\"\r\nlüne",
    total: -1.5,
    paid: true,
    town: { name: "Bern", zip: 3000 },
    size: { width: 1, unit: { name: "m" } },
    parts: [{ product: "x,\"y\"", count: 2 }],
    notes: { a: "1" },
    at: new Date(0),
    secret: "hidden"
  },
  { _id: "S2", text: "=1+1", total: 2, paid: null, size: { width: 2, unit: { name: "" } }, parts: [], notes: {} }
]

const filled = Layer.effectDiscard(Effect.gen(function*() {
  const store = yield* DocumentStore.DocumentStore
  yield* store.insertMany("Sale", sales)
  yield* store.insertMany(
    "Row",
    Array.from(
      { length: rows },
      (_, n) => ({ _id: `R${10_000 + n}`, n, text: n === 0 ? "=1+1" : "x".repeat(n % 5_000) })
    )
  )
}))

const csv = { accept: "text/csv" }
const ndjson = { accept: "application/x-ndjson" }

const lines = ({ text }: Answer): ReadonlyArray<unknown> =>
  text.split("\n").slice(0, -1).map((line): unknown => JSON.parse(line))

/** Every page of a list, one after the other. */
const paged = Effect.fnUntraced(function*(path: string) {
  const items: Array<unknown> = []
  let next: string | undefined = `${path}${path.includes("?") ? "&" : "?"}cursor=&page_size=100`
  while (next !== undefined) {
    const page: Answer = yield* send("GET", next)
    assert.strictEqual(page.status, 200, page.text)
    items.push(...page.body._items)
    next = page.body._links.next?.href
  }
  return items
})

/** Reads the beginning of a table, does something, and reads the rest. `undefined` is for one that breaks off. */
const during = (path: string, headers: { readonly [name: string]: string }, first: Effect.Effect<unknown, unknown>) =>
  Effect.flatMap(HttpServer.HttpServer, ({ address }) =>
    Effect.callback<string | undefined>((resume) => {
      const sent = httpRequest({ port: "port" in address ? address.port : 0, host: "127.0.0.1", path, headers })
      sent.on("response", (response) => {
        let text = ""
        response.setEncoding("utf8").once("readable", () => {
          Effect.runFork(Effect.ensuring(
            first,
            Effect.sync(() => {
              response.on("data", (part: string) => {
                text += part
              })
            })
          ))
        })
        response.on("end", () => resume(Effect.succeed(text)))
        response.on("error", () => resume(Effect.succeed(undefined)))
      })
      sent.on("error", (error) => resume(Effect.die(error)))
      sent.end()
    }))

export const tablesContract = <E>(
  name: "memory" | "embedded" | "mongodb",
  store: Layer.Layer<DocumentStore.DocumentStore, E>
) => {
  const limits = Layer.succeed(KernelConfig.Limits, { ...KernelConfig.Limits.defaultValue(), defaultPageSize: 2 })
  const service = Layer.provideMerge(filled, Layer.provide(serving(engine, store), limits))
  it.layer(service, { excludeTestServices: true })(`tables / ${name}`, (it) => {
    it.effect("are CSV with a header, a column for each value by its path, and lists as JSON", () =>
      Effect.gen(function*() {
        const answer = yield* send("GET", "/sales", undefined, csv)
        assert.strictEqual(answer.status, 200, answer.text)
        assert.strictEqual(answer.headers["content-type"], "text/csv; charset=utf-8; header=present")
        assert.strictEqual(
          answer.text,
          [
            "id,text,total,paid,town.name,town.zip,size.width,size.unit.name,parts,notes,at",
            "S1,\"a, \"\"quoted\"\"\r\nlüne\",-1.5,true,Bern,3000,1,m," +
            "\"[{\"\"_type\"\":\"\"Part\"\",\"\"product\"\":\"\"x,\\\"\"y\\\"\"\"\",\"\"count\"\":2}]\"," +
            "\"{\"\"a\"\":\"\"1\"\"}\",1970-01-01T00:00:00.000000",
            "S2,=1+1,2,,,,2,,[],{},",
            ""
          ].join("\r\n")
        )
        const some = yield* send("GET", "/sales?fields=town.name,size,parts.product&sort_by=-text", undefined, csv)
        assert.strictEqual(
          some.text,
          "id,town.name,size.width,size.unit.name,parts\r\n" +
            "S1,Bern,1,m,\"[{\"\"_type\"\":\"\"Part\"\",\"\"product\"\":\"\"x,\\\"\"y\\\"\"\"\"}]\"\r\nS2,,2,,[]\r\n"
        )
        const [header] = (yield* send("GET", "/sales?fields=size,text,%20id,town.zip", undefined, csv)).text.split(
          "\r\n"
        )
        assert.strictEqual(header, "size.width,size.unit.name,text,id,town.zip")
        const none = yield* send("GET", "/sales?text=none", undefined, csv)
        assert.strictEqual(none.text, `${answer.text.split("\r\n")[0]}\r\n`)
      }))

    it.effect("begin with a byte order mark and escape what a spreadsheet evaluates, where the registration says so", () =>
      Effect.gen(function*() {
        const answer = yield* send("GET", "/rows?n=0", undefined, csv)
        assert.strictEqual(answer.text, "\uFEFFid,n,text\r\nR10000,0,'=1+1\r\n")
      }))

    it.effect("have all documents of the filter, as the pages of the list have them", () =>
      Effect.gen(function*() {
        for (const path of ["/rows", "/rows?n=>1000&sort_by=-n", "/rows?fields=n&n=<10", "/sales", "/rows?n=-1"]) {
          const answer = yield* send("GET", path, undefined, ndjson)
          assert.strictEqual(answer.headers["content-type"], "application/x-ndjson")
          assert.deepStrictEqual(lines(answer), yield* paged(path), path)
          assert.strictEqual(
            (yield* send("GET", path, undefined, csv)).text.split(/\r\n(?=[RS]\d|$)/u).length - 2,
            lines(answer).length,
            path
          )
        }
        const asked = yield* send("QUERY", "/rows", { n: "<3", fields: "n" }, ndjson)
        assert.strictEqual(lines(asked).length, 3)
        assert.strictEqual(lines(yield* send("POST", "/rows/query", { n: "<3" }, ndjson)).length, 3)
      }))

    it.effect("are chosen by Accept, on which every answer of the list depends", () =>
      Effect.gen(function*() {
        const typeOf = (accept: string, path = "/rows?n=0") =>
          Effect.map(send("GET", path, undefined, { accept }), ({ headers, status }) => {
            if (path.startsWith("/rows") && status === 200) assert.include(String(headers["vary"]), "Accept")
            return status === 200 ? String(headers["content-type"]).split(";")[0] : status
          })
        assert.strictEqual(yield* typeOf("*/*"), "application/json")
        assert.strictEqual(yield* typeOf("text/html, */*;q=0.1"), "application/json")
        assert.strictEqual(yield* typeOf("text/csv;charset=utf-8"), "text/csv")
        assert.strictEqual(yield* typeOf("text/*"), "text/csv")
        assert.strictEqual(yield* typeOf("application/json;q=0.5, application/x-ndjson"), "application/x-ndjson")
        assert.strictEqual(yield* typeOf("text/html"), 406)
        assert.strictEqual(yield* typeOf("text/csv", "/plains"), 406)
        assert.strictEqual(yield* typeOf("text/csv", "/rows/R10000"), 406)
        assert.notInclude(String((yield* send("GET", "/plains")).headers["vary"]), "Accept,")
        const refused = yield* send("GET", "/rows", undefined, { accept: "image/png" })
        assert.include(refused.text, "application/json, text/csv, application/x-ndjson")
      }))

    it.effect("have no pages, no tag, and the same headers for HEAD", () =>
      Effect.gen(function*() {
        for (const headers of [csv, ndjson]) {
          const refused = yield* send("GET", "/rows?page=1&page_size=3&cursor=&count=none", undefined, headers)
          assert.deepStrictEqual(
            problemsIn(refused),
            ["page Parameter", "page_size Parameter", "cursor Parameter", "count Parameter"]
          )
          assert.deepStrictEqual(problemsIn(yield* send("GET", "/rows?m=1", undefined, headers)), ["m Parameter"])
          const query = encodeURIComponent("{\"text\":{\"$regex\":\"(\"}}")
          assert.deepStrictEqual(problemsIn(yield* send("GET", `/rows?query=${query}`, undefined, headers)), [
            "query Parameter"
          ])
          const [whole, head] = [
            yield* send("GET", "/rows", undefined, headers),
            yield* send("HEAD", "/rows", undefined, headers)
          ]
          assert.deepStrictEqual([head.status, head.text], [200, ""])
          assert.isUndefined(whole.headers["etag"])
          const own = ({ headers }: Answer) =>
            Object.entries(headers).filter(([name]) => name !== "date" && name !== "transfer-encoding")
          assert.deepStrictEqual(own(head), own(whole))
          assert.strictEqual((yield* send("HEAD", "/rows?m=1", undefined, headers)).status, 400)
        }
      }))

    it.effect("end before their end where a hook refuses a document, and are an error if it is among the first", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        yield* store.insertOne("Hooked", { _id: "H13", n: 13 })
        assert.strictEqual(
          (yield* send("GET", "/hookeds", undefined, csv)).status,
          (yield* send("GET", "/hookeds")).status
        )
        yield* store.deleteMany("Hooked", {})
        yield* store.insertMany(
          "Hooked",
          Array.from({ length: rows }, (_, n) => ({ _id: `H${10_000 + n}`, n: n === rows - 1 ? 13 : 1 }))
        )
        for (const headers of [csv, ndjson]) {
          assert.isUndefined(yield* during("/hookeds", headers, Effect.void))
        }
        assert.strictEqual(lines(yield* send("GET", "/hookeds?n=1", undefined, ndjson)).length, rows - 1)
      }))

    it.effect("show one state while others write", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        const before = yield* paged("/rows")
        const text = yield* during(
          "/rows",
          ndjson,
          Effect.gen(function*() {
            yield* store.updateMany("Row", { n: { $gt: 0 } }, { $set: { n: -1 } })
            yield* store.insertOne("Row", { _id: "R9", n: -1, text: "late" })
            yield* store.deleteMany("Row", { _id: { $gt: "R11500" } })
          })
        )
        const seen = String(text).split("\n").slice(0, -1).map((line): unknown => JSON.parse(line))
        assert.deepStrictEqual(seen, before)
        assert.isBelow((yield* paged("/rows?n=>0")).length, 1)
      }), 120_000)
  })
}
