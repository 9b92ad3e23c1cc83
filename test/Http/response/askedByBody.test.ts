/** Reads whose parameters are in the body, over a real socket. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, BigDecimal, Effect, Redacted, Schema, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { KernelClient, KernelEngine, Model, Resource, Role, Service } from "../../../src/index.ts"

class Note extends Model.Class<Note>()("Note", {
  id: Model.id({ prefix: "N" }),
  text: Schema.String,
  size: Schema.Int
}, { logged: true }) {}

class Secret extends Model.Class<Secret>()("Secret", { id: Model.id({ prefix: "S" }), text: Schema.String }) {}

class Account extends Model.Class<Account>()("Account", {
  id: Model.id(),
  count: Schema.BigInt,
  price: Schema.BigDecimal,
  text: Schema.String
}) {}

const Words = Service.make("WordService").operation("count", {
  path: "./count",
  query: { words: Schema.Array(Schema.String) },
  success: Schema.Int
}, ({ query }) => Effect.succeed(query.words.length))

const engine = KernelEngine.make("asked")
  .register(Note, { methods: ["GET", "POST"], pageTags: true, cacheControl: "max-age=60" })
  .register(Account, { methods: ["GET", "POST"] })
  .register(Words)

const secured = KernelEngine.make("secured")
  .register(
    Resource.make(Secret, { methods: ["GET", "POST"] }).require(Role("reader"), "GET").require(Role("writer"), "POST")
  )
  .enableSecurity()
  .enableRateLimits({ routes: { "GET /secrets": { limit: 4, window: "1 day" } } })
  .enableOpenApi({ title: "Asked", version: "1" })

const some = <const L extends ReadonlyArray<string>>(...values: L) => Schema.optionalKey(Schema.Literals(values))

const asked = Schema.Struct({
  text: some("", "a", "b&c", "\">5\"", "~a", "[a,b&c]", "ä +", "null"),
  size: some("1", ">1", "[0,3]", "x"),
  page: some("1", "2", "0"),
  page_size: some("1", "3", "100000"),
  sort_by: some("text", "-size", "none"),
  cursor: some("", "x"),
  fields: some("text", "text,size"),
  query: some("{\"size\":{\"$gt\":1}}", "{"),
  none: some("1"),
  sizes: Schema.Array(Schema.Literals([">0", "<4"])).check(Schema.isMaxLength(2))
})

const runs = Number(process.env["DIFFERENTIAL_RUNS"] ?? 60)

const form = "application/x-www-form-urlencoded"

const ask = (url: string, method: string, body?: string, type = "application/json", headers = {}) =>
  Effect.promise(async () => {
    const answer = await fetch(url, {
      method,
      headers: { ...headers, ...(type === "" ? {} : { "content-type": type }) },
      ...(body === undefined ? {} : { body: Buffer.from(body) })
    })
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, text }
  })

const manyIds = (first: string) =>
  `[${
    [first, ...Array.from({ length: 450 }, (_, i) => `N${String(i).padStart(8, "0")}-aaaa-4bbb-8ccc-dddddddddddd`)]
      .join(",")
  }]`

describe("a read whose parameters are in the body", () => {
  it.effect("is what the typed client makes of one that is too long for a URL, whatever it reads", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* engine.test()
      const { notes, words } = yield* KernelClient.make(engine, { baseUrl })
      const { result: id } = yield* notes.create({ payload: { text: "long", size: 1 } })
      yield* notes.create({ payload: { text: "other", size: 2 } })
      assert.deepStrictEqual((yield* notes.list({ query: { id: manyIds(id) } }))._items.map((note) => note.id), [id])
      const query = JSON.stringify({ text: { $in: ["long", "x".repeat(17_000)] } })
      assert.deepStrictEqual((yield* notes.list({ query: { query } }))._items.map((note) => note.id), [id])
      const pipe = JSON.stringify([{ $match: { text: { $in: ["long", "x".repeat(32_000)] } } }, { $count: "found" }])
      assert.deepStrictEqual((yield* notes.aggregate({ query: { pipe } }))._items, [{ found: 1 }])
      assert.strictEqual(
        (yield* words.count({ query: { words: Array.from({ length: 900 }, () => "a".repeat(20)) } })).result,
        900
      )
      assert.strictEqual((yield* words.count({ query: { words: [] } })).result, 0)
      const [begun] = yield* Stream.runCollect(Stream.take(notes.live({ query: { id: manyIds(id) } }), 1))
      assert.strictEqual(JSON.stringify(begun).includes(id), true)
      const { status } = yield* ask(`${baseUrl}/notes?${new URLSearchParams({ id: manyIds(id) })}`, "GET")
      assert.strictEqual(status, 431)
    }).pipe(Effect.provide(FetchHttpClient.layer), Effect.scoped))

  it.effect("answers as the GET with these parameters, and counts them alike", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* engine.test()
      const { notes } = yield* KernelClient.make(engine, { baseUrl })
      yield* Effect.forEach(["", "a", "b&c", ">5", "ä +"], (text, size) => notes.create({ payload: { text, size } }))
      const natively = yield* ask(
        `${baseUrl}/notes?page_size=1&sort_by=size`,
        "QUERY",
        "{\"query\":{\"size\":{\"$gt\":1}},\"page\":2}"
      )
      assert.deepStrictEqual(JSON.parse(natively.text)._items.map(({ size }: { readonly size: number }) => size), [3])
      for (const { sizes, ...parameters } of yield* Arbitrary.sampleEffect(Arbitrary.schema(asked), { count: runs })) {
        const pairs = [...Object.entries(parameters), ...sizes.map((size) => ["size", size] as [string, string])]
        const search = String(new URLSearchParams(pairs))
        const size = [parameters.size ?? [], sizes].flat()
        const json = JSON.stringify({ ...parameters, ...(size.length === 0 ? {} : { size }) })
        const expected = yield* ask(`${baseUrl}/notes?${search}`, "GET", undefined, "")
        const answers = [
          yield* ask(`${baseUrl}/notes`, "QUERY", search, form),
          yield* ask(`${baseUrl}/notes`, "QUERY", json),
          yield* ask(`${baseUrl}/notes/query`, "POST", search, form),
          yield* ask(`${baseUrl}/notes/query`, "POST", json)
        ]
        assert.deepStrictEqual(
          answers.map(({ headers }) => headers.get("etag")),
          [expected.headers.get("etag"), expected.headers.get("etag"), null, null]
        )
        for (const { headers, status, text } of answers) {
          assert.strictEqual(status, expected.status, `${search} ${text}`)
          assert.strictEqual(text, expected.text)
          for (const name of ["x-total-count", "cache-control", "content-type"]) {
            assert.strictEqual(headers.get(name), expected.headers.get(name), name)
          }
        }
      }
    }).pipe(Effect.provide(FetchHttpClient.layer), Effect.scoped))

  it.effect("takes a number as it is written, also one that JavaScript's numbers don't have", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* engine.test()
      const { accounts } = yield* KernelClient.make(engine, { baseUrl })
      const numbers = [
        "9007199254740992",
        "9007199254740993",
        "-9007199254740993",
        "1",
        "1.0",
        "0.12345678901234567891"
      ]
      const ids: Array<string> = []
      for (const text of numbers) {
        const { result } = yield* accounts.create({
          payload: {
            count: BigInt(text.replace(/\..*/u, "")),
            price: BigDecimal.fromStringUnsafe(text),
            text
          }
        })
        ids.push(result)
      }
      const url = `${baseUrl}/accounts`
      const answered = ({ status, text }: { readonly status: number; readonly text: string }) =>
        status === 200 ? JSON.parse(text)._items : status
      for (const number of [...numbers, "1e400", "-1e400", "1e0", "true", "null"]) {
        for (const field of ["count", "price", "text"]) {
          const filters = { query: `{"${field}":${number}}`, [field]: number }
          for (const [name, value] of Object.entries(filters)) {
            const expected = answered(
              yield* ask(`${url}?${new URLSearchParams({ [name]: value })}`, "GET", undefined, "")
            )
            for (const body of [`{"${name}":${value}}`, `{"${name}":[${value}]}`].slice(0, name === "query" ? 1 : 2)) {
              assert.deepStrictEqual(answered(yield* ask(url, "QUERY", body)), expected, body)
              assert.deepStrictEqual(answered(yield* ask(`${url}/query`, "POST", body)), expected, body)
            }
          }
        }
        const pipe = `[{"$match":{"count":${number}}}]`
        assert.deepStrictEqual(
          answered(yield* ask(`${url}/aggregate`, "QUERY", `{"pipe":${pipe}}`)),
          answered(yield* ask(`${url}/aggregate?${new URLSearchParams({ pipe })}`, "GET", undefined, "")),
          pipe
        )
      }
      const [exact] = answered(yield* ask(url, "QUERY", `{"query":{"count":9007199254740993}}`))
      assert.strictEqual(exact.id, ids[1])
    }).pipe(Effect.provide(FetchHttpClient.layer), Effect.scoped))

  it.effect("is a read for rules and limits, and says which body it takes", () =>
    Effect.gen(function*() {
      const { baseUrl, token } = yield* secured.test()
      const reader = Redacted.value(yield* token({ subject: "jane", roles: ["reader"] }))
      const writer = Redacted.value(yield* token({ subject: "tom", roles: ["writer"] }))
      const as = (token: string) => ({ authorization: `Bearer ${token}` })
      const asked = (method: string, path: string, token?: string) =>
        Effect.map(
          ask(`${baseUrl}${path}`, method, "{}", "application/json", token === undefined ? {} : as(token)),
          ({ status }) => status
        )
      const ways = [["QUERY", "/secrets"], ["POST", "/secrets/query"]] as const
      for (const [method, path] of ways) {
        assert.strictEqual(yield* asked(method, path), 401)
        assert.strictEqual(yield* asked(method, path, writer), 403)
      }
      // Four requests of a caller, whichever way they ask.
      for (const expected of [200, 200, 429]) {
        for (const [method, path] of ways) assert.strictEqual(yield* asked(method, path, reader), expected)
      }
      const { paths } = JSON.parse((yield* ask(`${baseUrl}/openapi.json`, "GET", undefined, "", as(reader))).text)
      const [get, post] = [paths["/secrets"].get, paths["/secrets/query"].post]
      assert.include(post.description, "Who may do this: reader.")
      assert.deepStrictEqual(Object.keys(post.responses), ["413", "415"].concat(Object.keys(get.responses)).toSorted())
      assert.include(Object.keys(post.requestBody.content["application/json"].schema.properties), "page_size")
    }).pipe(Effect.scoped))

  it.effect("needs a body of parameters, within the limits of bodies", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* engine.test()
      const asked = (body: string | undefined, type?: string, path = "/notes") =>
        Effect.map(ask(`${baseUrl}${path}`, "QUERY", body, type), ({ status }) => status)
      assert.strictEqual(yield* asked(undefined, ""), 415)
      assert.strictEqual(yield* asked("{}", "text/plain"), 415)
      assert.strictEqual(yield* asked("{"), 400)
      assert.strictEqual(yield* asked("[]"), 400)
      assert.strictEqual(yield* asked("{\"size\":{\"a\":1}}"), 400)
      assert.strictEqual(yield* asked("{\"none\":1}"), 400)
      assert.strictEqual(yield* asked("{\"__proto__\":1}"), 400)
      assert.strictEqual(yield* asked(`size=${"1".repeat(1_048_576)}`, form), 413)
      assert.strictEqual(yield* asked("size=1&".repeat(1_001), form), 413)
      const many = (count: number) => JSON.stringify({ size: Array.from({ length: count - 1 }, () => ">0"), page: 1 })
      assert.strictEqual(yield* asked(many(1_000)), 200)
      assert.strictEqual(yield* asked(many(1_001)), 413)
      assert.strictEqual(
        yield* asked(JSON.stringify(Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [i, 1])))),
        413
      )
      assert.strictEqual(yield* asked("{}", undefined, "/none"), 404)
      const options = yield* ask(`${baseUrl}/notes`, "OPTIONS", undefined, "")
      assert.strictEqual(options.headers.get("allow"), "GET, POST, HEAD, QUERY, OPTIONS")
      assert.strictEqual(options.headers.get("accept-query"), "application/json, application/x-www-form-urlencoded")
      const denied = yield* ask(`${baseUrl}/notes/query`, "GET", undefined, "")
      assert.deepStrictEqual([denied.status, denied.headers.get("allow")], [405, "POST, OPTIONS"])
    }).pipe(Effect.scoped))

  it.effect("does not compare each parameter with each name of a collection that it makes up", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* engine.test()
      const names = Array.from({ length: 180_000 }, (_, i) => i.toString(36)).join(",")
      const parameters = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`none${i}`, "x"]))
      const begin = performance.now()
      const { status, text } = yield* ask(
        `${baseUrl}/changes`,
        "QUERY",
        JSON.stringify({ watch: names, ...parameters })
      )
      assert.strictEqual(status, 400)
      assert.include(text, "must be some of notes")
      assert.isBelow(performance.now() - begin, 6_000)
    }).pipe(Effect.scoped))
})
