/** Tables of callers with grants, with slow and absent clients, and with failures, as others read them. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, ConfigProvider, Deferred, Effect, Layer, Redacted, Ref, Schema, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { type IncomingMessage, request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import {
  Authenticated,
  DocumentStore,
  EmbeddedStore,
  KernelClient,
  KernelEngine,
  Model,
  OpenApi,
  type Query,
  RepositoryError,
  Resource,
  Role
} from "../../../src/index.ts"
import { pip } from "../../support/clientTools.ts"
import { resolvedDocument } from "../../support/resolvedDocument.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"
import { shop } from "../../support/tokens.ts"
import { tablesContract } from "./tables.contract.ts"

storeMatrix(tablesContract)

class Inner extends Model.Class<Inner>()("Inner", {
  city: Schema.String,
  cost: Schema.Int.pipe(Model.optional)
}) {}

class Doc extends Model.Class<Doc>()("Doc", {
  id: Schema.String,
  title: Schema.String,
  state: Schema.Literals(["new", "sent"]),
  inner: Inner.pipe(Model.optional),
  lines: Schema.Array(Inner),
  size: Schema.Finite.pipe(Model.optional)
}) {}

const names = ["title", "state", "inner", "inner.cost", "lines", "lines.city", "size"] as const

const grant = Schema.Struct({
  rows: Schema.Literals(["all", "new", "sent", "none"]),
  hide: Schema.UniqueArray(Schema.Literals(names)).check(Schema.isMaxLength(3))
})

type Grant = typeof grant.Type

const optionsOf = ({ hide, rows }: Grant = { rows: "none", hide: [] }) =>
  ({
    methods: "GET",
    rows: rows === "all"
      ? undefined
      : () => ($: Query.Fields<typeof Doc>) => rows === "none" ? $.title.equals("none") : $.state.equals(rows),
    hide: [...hide]
  }) as const

const granting = ([first, second, third]: ReadonlyArray<Grant>) =>
  KernelEngine.make("granted")
    .register(
      Resource.make(Doc, { methods: ["GET"] })
        .require(Role("admin"))
        .grant(Role("r0"), optionsOf(first))
        .grant(Role("r1"), optionsOf(second))
        .grant(Role("r2"), optionsOf(third)),
      { tables: true }
    )
    .enableSecurity()

const text = Schema.Literals(["a", "b\r\nc", "\"", "ä,", "=1", ""])

const document = Schema.Struct({
  title: text,
  state: Schema.Literals(["new", "sent"]),
  inner: Schema.optionalKey(Schema.Struct({ city: text, cost: Schema.optionalKey(Schema.Literals([0, -3])) })),
  lines: Schema.Array(Schema.Struct({ city: text })).check(Schema.isMaxLength(2)),
  size: Schema.optionalKey(Schema.Literals([1.5, -2, 1e21]))
})

const asked = Schema.Struct({
  grants: Schema.Array(grant).check(Schema.isMinLength(1), Schema.isMaxLength(3)),
  documents: Schema.Array(document).check(Schema.isMaxLength(12)),
  fields: Schema.optionalKey(Schema.UniqueArray(Schema.Literals(names)).check(Schema.isMinLength(1))),
  by: Schema.Literals([
    "",
    "sort_by=title",
    "sort_by=-size",
    "title=~a",
    "state=new",
    "inner.cost=-3",
    "query={\"size\":{\"$gt\":0}}"
  ])
})

const runs = Number(process.env["DIFFERENTIAL_RUNS"] ?? 12)

// The tests look into documents of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

/** What a cell has of a document as JSON. */
const cellOf = (item: Json, column: string): string => {
  const value = column.split(".").reduce((inner: Json, key) => inner?.[key], item)
  return value === undefined || value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value)
}

/** RFC 4180, read in another way than it is written. */
const cellsIn = (table: string): ReadonlyArray<ReadonlyArray<string>> => {
  const records: Array<Array<string>> = []
  let rest = table
  let isNew = true
  while (rest !== "") {
    const [whole, quoted, plain = "", end] = /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/u.exec(rest) ??
      assert.fail(rest)
    if (isNew) records.push([])
    records.at(-1)!.push(quoted === undefined ? plain : quoted.replaceAll("\"\"", "\""))
    isNew = end === "\r\n"
    rest = rest.slice(whole.length)
  }
  return records
}

it.effect(
  "a table has what the pages of the list have, whatever its caller may see and asks for",
  () =>
    Effect.gen(function*() {
      const checked = yield* Arbitrary.checkEffect(
        Arbitrary.schema(asked),
        Effect.fnUntraced(function*({ by, documents, fields, grants }) {
          const { baseUrl, store, token } = yield* granting(grants).test()
          yield* store.insertMany("Doc", documents.map((document, i) => ({ _id: `D${i}`, ...document })))
          const roles = grants.map((_, i) => `r${i}`)
          const authorization = `Bearer ${Redacted.value(yield* token({ subject: "me", roles }))}`
          const get = (path: string, accept: string) =>
            Effect.promise(async () => {
              const answer = await fetch(path, { headers: { accept, authorization } })
              return { status: answer.status, text: await answer.text() }
            })
          const search = [by, fields === undefined ? "" : `fields=${fields.join()}`].filter((part) => part !== "").join(
            "&"
          )
          const url = `${baseUrl}/docs?${encodeURI(search)}`
          const items: Array<Json> = []
          let refusal: string | undefined
          let next: string | undefined = `${url}&page_size=3&count=exact`
          while (next !== undefined) {
            const { status, text } = yield* get(next, "application/json")
            const body: Json = JSON.parse(text)
            if (status !== 200) refusal = text
            items.push(...body._items ?? [])
            next = body._links?.next === undefined ? undefined : `${baseUrl}${body._links.next.href}`
          }
          const [lines, table] = [yield* get(url, "application/x-ndjson"), yield* get(url, "text/csv")]
          if (refusal !== undefined) {
            assert.deepStrictEqual([lines.text, table.text], [refusal, refusal])
            return true
          }
          assert.strictEqual(lines.text, items.map((item) => `${JSON.stringify(item)}\n`).join(""))
          const [columns = [], ...rows] = cellsIn(table.text)
          assert.deepStrictEqual(rows, items.map((item) => columns.map((column) => cellOf(item, column))))
          const known = new Set(columns.map((column) => column.split(".")[0]))
          const shown = new Set(items.flatMap((item) => Object.keys(item)).filter((key) => !key.startsWith("_")))
          assert.deepStrictEqual([...shown].filter((key) => !known.has(key)), [])
          return true
        }, Effect.scoped),
        { runs }
      )
      assert.strictEqual(checked._tag, "Passed", JSON.stringify(checked))
    }).pipe(Effect.provide(shop("EdDSA"))),
  600_000
)

class Row extends Model.Class<Row>()("Row", { id: Schema.String, n: Schema.Int, text: Schema.String }) {}

const rows = 4_000

const rowsOf = Array.from({ length: rows }, (_, n) => ({ _id: `R${10_000 + n}`, n, text: "x".repeat(5_000) }))

const plain = KernelEngine.make("plain").register(Row, { tables: true, enableHateoas: false }).enableOpenApi({
  title: "Tables",
  version: "1"
})

/** A store whose stream is watched, and may fail after some documents. */
const watchedStore = Effect.gen(function*() {
  const store = yield* DocumentStore.DocumentStore
  const read = yield* Ref.make(0)
  const ended = yield* Deferred.make<void>()
  const failAt = yield* Ref.make(Infinity)
  const stream: typeof store.stream = (collection, options) =>
    store.stream(collection, options).pipe(
      Stream.tap(() =>
        Effect.flatMap(Ref.updateAndGet(read, (n) => n + 1), (n) =>
          Effect.flatMap(Ref.get(failAt), (limit) =>
            n > limit ? Effect.fail(new RepositoryError.QueryTimeout({ operation: "stream" })) : Effect.void))
      ),
      Stream.ensuring(Deferred.succeed(ended, undefined))
    )
  return { failAt, read, ended, store: { ...store, stream } }
}).pipe(Effect.provide(EmbeddedStore.layerMemory))

const begin = (url: string, headers: { readonly [name: string]: string }) =>
  Effect.callback<IncomingMessage>((resume) => {
    request(url, { headers, agent: false }, (response) => resume(Effect.succeed(response)))
      .on("error", (error) => resume(Effect.die(error))).end()
  })

/** Reads a body. It is not whole if the connection ends before it. */
const readOn = (response: IncomingMessage) =>
  Effect.callback<{ readonly isWhole: boolean; readonly bytes: number }>((resume) => {
    let bytes = 0
    response.on("data", (part: Buffer) => {
      bytes += part.length
    })
    response.on("error", () => resume(Effect.succeed({ isWhole: false, bytes })))
    response.on("end", () => resume(Effect.succeed({ isWhole: response.complete, bytes })))
  })

const types = ["text/csv", "application/x-ndjson"]

describe("a table", () => {
  it.live("is read as its client takes it, and no further when the client is gone", () =>
    Effect.gen(function*() {
      for (const accept of types) {
        const { ended, read, store } = yield* watchedStore
        const { baseUrl } = yield* plain.test({ store: Layer.succeed(DocumentStore.DocumentStore, store) })
        yield* store.insertMany("Row", rowsOf)
        const response = yield* begin(`${baseUrl}/rows`, { accept })
        response.pause()
        // What is read without the client is what buffers have room for: it comes to rest.
        let [before, now] = [-1, 0]
        while (before !== now) {
          before = now
          yield* Effect.sleep("100 millis")
          now = yield* Ref.get(read)
        }
        assert.isBelow(now, rows - 500, "the rest waits for the client")
        response.destroy()
        yield* Deferred.await(ended)
        assert.isBelow(yield* Ref.get(read), rows)
      }
    }).pipe(Effect.scoped))

  it.live("that fails in the middle does not look whole, compressed or not, and one that fails first has a status", () =>
    Effect.gen(function*() {
      const { failAt, read, store } = yield* watchedStore
      const { baseUrl } = yield* plain.test({ store: Layer.succeed(DocumentStore.DocumentStore, store) })
      yield* store.insertMany("Row", rowsOf)
      for (const accept of types) {
        for (const coding of ["identity", "gzip", "br"]) {
          const headers = { accept, "accept-encoding": coding }
          yield* Ref.set(read, 0)
          yield* Ref.set(failAt, 1_400)
          const broken = yield* readOn(yield* begin(`${baseUrl}/rows?n=<1500`, headers))
          assert.isFalse(broken.isWhole, `${accept} ${coding}`)
          yield* Ref.set(failAt, Infinity)
          const whole = yield* begin(`${baseUrl}/rows?n=<300`, headers)
          assert.isTrue((yield* readOn(whole)).isWhole)
          yield* Ref.set(read, 0)
          yield* Ref.set(failAt, 0)
          const first = yield* begin(`${baseUrl}/rows`, headers)
          yield* readOn(first)
          assert.strictEqual(first.statusCode, 503)
        }
      }
    }).pipe(Effect.scoped))

  it.live("is a stream of a typed client, which fails if the table breaks off", () =>
    Effect.gen(function*() {
      const { failAt, read, store } = yield* watchedStore
      const { baseUrl } = yield* plain.test({ store: Layer.succeed(DocumentStore.DocumentStore, store) })
      yield* store.insertMany("Row", rowsOf)
      const numbers = yield* Stream.runCollect(
        KernelClient.rows(plain, "rows", { n: "<3", sort_by: "-n" }, { baseUrl })
      )
      assert.deepStrictEqual(numbers.map(({ n, text }) => [n, text.length]), [[2, 5_000], [1, 5_000], [0, 5_000]])
      const some = yield* Stream.runCollect(KernelClient.rows(plain, "rows", { n: "1", fields: "n" }, { baseUrl }))
      assert.deepStrictEqual(some, [{ _type: "Row", id: "R10001", n: 1 }])
      const refused = yield* Effect.flip(Stream.runDrain(KernelClient.rows(plain, "rows", { n: "x" }, { baseUrl })))
      assert.strictEqual(refused._tag, "BadRequest")
      yield* Ref.set(read, 0)
      yield* Ref.set(failAt, rows - 1)
      const broken = yield* Effect.flip(Stream.runDrain(KernelClient.rows(plain, "rows", {}, { baseUrl })))
      assert.strictEqual(broken._tag, "HttpClientError")
    }).pipe(Effect.provide(FetchHttpClient.layer), Effect.scoped))

  it.live("is in the audit log with the number of the documents that it has sent", () =>
    Effect.gen(function*() {
      const audited = KernelEngine.make("audited")
        .register(Resource.make(Row, { methods: ["GET"] }).require(Authenticated), {
          tables: true,
          auditLog: "reads and writes"
        })
        .enableSecurity()
      const { baseUrl, store, token } = yield* audited.test().pipe(
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { APPKERNEL_AUDIT_TO: "collection" } })))
      )
      yield* store.insertMany("Row", rowsOf.slice(0, 300))
      const authorization = `Bearer ${Redacted.value(yield* token({ subject: "me", roles: [] }))}`
      for (const accept of types) {
        yield* store.deleteMany("AuditEntry", {})
        const response = yield* begin(`${baseUrl}/rows?n=>0`, { accept, authorization })
        assert.isTrue((yield* readOn(response)).isWhole)
        const read = Effect.map(
          store.find("AuditEntry", { filter: { operation: "read", outcome: "allowed" } }),
          (entries) => entries.reduce((sum, { count }) => sum + Number(count), 0)
        )
        // What is read with the rest of the body is written when the request has ended.
        let total = yield* read
        for (let i = 0; i < 200 && total < 299; i++) total = yield* Effect.delay(read, "20 millis")
        assert.strictEqual(total, 299)
      }
    }).pipe(Effect.provide(shop("EdDSA")), Effect.scoped))

  it.live("breaks off at a document that does not fit the model, or leaves it out as the pages do", () =>
    Effect.gen(function*() {
      for (const skips of ["false", "true"]) {
        const { baseUrl, store } = yield* plain.test().pipe(
          Effect.provide(
            ConfigProvider.layer(ConfigProvider.fromEnv({ env: { APPKERNEL_QUERY_SKIP_UNREADABLE: skips } }))
          )
        )
        yield* store.insertMany("Row", [...rowsOf.slice(0, 1_000), { _id: "R9", n: "none" }])
        for (const accept of types) {
          const last = yield* begin(`${baseUrl}/rows`, { accept })
          assert.deepStrictEqual([last.statusCode, (yield* readOn(last)).isWhole], [200, skips === "true"])
          const only = yield* begin(`${baseUrl}/rows?id=R9`, { accept })
          yield* readOn(only)
          assert.strictEqual(only.statusCode, skips === "true" ? 200 : 500)
        }
      }
    }).pipe(Effect.scoped))

  it("is a type of the list in the OpenAPI document, where the registration has it", () => {
    const content = (engine: OpenApi.Source, path: string): ReadonlyArray<string> => {
      const document: Json = resolvedDocument(OpenApi.make(engine, { title: "Tables", version: "1" }))
      return Object.keys(document.paths[path][path.endsWith("query") ? "post" : "get"].responses["200"].content)
    }
    const all = ["application/json", "text/csv", "application/x-ndjson"]
    assert.deepStrictEqual(content(plain, "/rows"), all)
    assert.deepStrictEqual(content(plain, "/rows/query"), all)
    assert.deepStrictEqual(content(KernelEngine.make("none").register(Row), "/rows"), ["application/json"])
  })
})

const execute = promisify(execFile)

const readers = {
  "Python's csv": `
import csv, json, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.reader(file, strict=True):
        print(json.dumps(row))
`,
  DuckDB: `
import duckdb, json, sys
table = duckdb.read_csv(sys.argv[1], header=True, all_varchar=True)
print(json.dumps(table.columns))
for row in table.fetchall():
    print(json.dumps(["" if cell is None else cell for cell in row]))
`
}

describe("a table is read equal to the documents", () => {
  it.live.each(["Python's csv", "DuckDB"] as const)("by %s", (reader) =>
    Effect.gen(function*() {
      const found = yield* Effect.promise(pip("duckdb-2.0.1", "duckdb==2.0.1"))
      if ("reason" in found) return
      const { baseUrl, store } = yield* nasty.test()
      const texts = ["plain", "a,b", "\"", "\"\"", "line\r\nbreak", "\n", " space ", "ä€😀", "=1", "'", ";", "\t"]
      yield* store.insertMany(
        "Doc",
        Array.from({ length: 2_000 }, (_, i) => ({
          _id: `D${10_000 + i}`,
          title: texts[i % texts.length]! + texts[i % 7]!,
          state: "new",
          inner: { city: texts[i % 5]!, ...(i % 2 === 0 ? { cost: -i } : {}) },
          lines: Array.from({ length: i % 3 }, () => ({ city: texts[i % texts.length]! })),
          ...(i % 3 === 0 ? { size: i / 7 } : {})
        }))
      )
      const [table, lines] = yield* Effect.promise(() =>
        Promise.all(
          types.map((accept) => fetch(`${baseUrl}/docs`, { headers: { accept } }).then((answer) => answer.text()))
        )
      )
      const folder = mkdtempSync(join(tmpdir(), "appkernel-test-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true })))
      writeFileSync(join(folder, "table.csv"), table!)
      const { stdout } = yield* Effect.promise(() =>
        execute(join(found.folder, "bin", "python"), ["-c", readers[reader], join(folder, "table.csv")], {
          maxBuffer: 50_000_000
        })
      )
      const [columns = [], ...read]: ReadonlyArray<ReadonlyArray<string>> = stdout.trimEnd().split("\n").map((
        line
      ): Json => JSON.parse(line))
      assert.deepStrictEqual(columns, ["id", "title", "state", "inner.city", "inner.cost", "lines", "size"])
      const items = lines!.trimEnd().split("\n").map((line): Json => JSON.parse(line))
      assert.deepStrictEqual(read, items.map((item) => columns.map((column) => cellOf(item, column))))
    }).pipe(Effect.scoped), 600_000)
})

const nasty = KernelEngine.make("nasty").register(Doc, { tables: true })
