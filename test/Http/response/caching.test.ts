/** What caches may keep (RFC 9111), over a socket. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted, Schema } from "effect"
import { Anonymous, Authenticated, EmbeddedStore, Jwt, KernelEngine, Model, Resource } from "../../../src/index.ts"
import { Application } from "../../../src/internal/application.ts"
import { send, serving } from "../../support/rest.ts"

class Article extends Model.Class<Article>()("Article", {
  id: Model.id({ prefix: "A" }),
  text: Schema.String,
  ...Model.audited
}) {}

class Page extends Model.Class<Page>()("Page", { id: Model.id({ prefix: "P" }), text: Schema.String }) {}

const engine = KernelEngine.make("papers")
  .register(Article, {
    methods: ["GET", "POST", "PATCH"],
    cacheControl: "public, max-age=60, s-maxage=600",
    pageTags: true
  })

describe("caching", () => {
  it.live("has the headers of the registration, dates of audited documents, and tags of pages", () =>
    Effect.gen(function*() {
      const { body: { result: id } } = yield* send("POST", "/articles", { text: "one" })
      const young = yield* send("GET", `/articles/${id}`)
      assert.strictEqual(young.headers["cache-control"], "public, max-age=60, s-maxage=600")
      assert.isUndefined(young.headers["last-modified"])
      const page = yield* send("GET", "/articles")
      const tag = String(page.headers["etag"])
      assert.match(tag, /^W\/"[\da-f]{27}"$/u)
      const same = yield* send("GET", "/articles", undefined, { "if-none-match": `"x", ${tag}` })
      assert.deepStrictEqual([same.status, same.text, same.headers["etag"]], [304, "", tag])
      assert.strictEqual(same.headers["cache-control"], "public, max-age=60, s-maxage=600")
      // A change within the second of a date could not be told.
      yield* Effect.sleep("2100 millis")
      const old = yield* send("GET", `/articles/${id}`)
      const date = String(old.headers["last-modified"])
      assert.isAtMost(Math.abs(Date.parse(date) - Date.parse(old.body.updated)), 999)
      const since = (headers: { readonly [name: string]: string }) =>
        Effect.map(send("GET", `/articles/${id}`, undefined, headers), ({ status }) => status)
      assert.strictEqual(yield* since({ "if-modified-since": date }), 304)
      assert.strictEqual(yield* since({ "if-modified-since": date, "if-none-match": "\"other\"" }), 200)
      assert.strictEqual(yield* since({ "if-modified-since": "Thu, 01 Jan 1970 00:00:00 GMT" }), 200)
      // What is no date of HTTP says nothing, and neither does a time to come.
      const time = new Date(date)
      for (const text of ["some time", time.toISOString(), "2999", "Fri, 31 Dec 2999 23:59:59 GMT"]) {
        assert.strictEqual(yield* since({ "if-modified-since": text }), 200, text)
      }
      yield* send("PATCH", `/articles/${id}`, { text: "two" })
      assert.strictEqual(yield* since({ "if-modified-since": date }), 200)
      assert.strictEqual((yield* send("GET", "/articles", undefined, { "if-none-match": tag })).status, 200)
      assert.isUndefined((yield* send("GET", "/articles/none")).headers["cache-control"])
    }).pipe(Effect.provide(serving(engine, EmbeddedStore.layerMemory))))

  it.effect("are private where a caller is needed, and for everybody where none is", () =>
    Effect.gen(function*() {
      const { sign } = yield* Jwt.Jwt
      const authorization = `Bearer ${Redacted.value(yield* sign({ subject: "U1" }))}`
      const own = yield* send("GET", "/articles", undefined, { authorization })
      assert.strictEqual(own.headers["cache-control"], "private, max-age=60")
      assert.strictEqual(own.headers["vary"], "Authorization")
      const open = yield* send("GET", "/pages")
      assert.strictEqual(open.headers["cache-control"], "max-age=60, s-maxage=600")
      assert.strictEqual(open.headers["vary"], "Authorization")
    }).pipe(
      Effect.provide(
        serving(
          KernelEngine.make("papers")
            .register(Resource.make(Article, { methods: ["GET"] }).require(Authenticated), {
              cacheControl: "max-age=60, s-maxage=600"
            })
            .register(Resource.make(Page, { methods: ["GET"] }).require(Anonymous), {
              cacheControl: "max-age=60, s-maxage=600"
            })
            .enableSecurity(),
          EmbeddedStore.layerMemory
        ).pipe(Layer.provideMerge(
          Layer.provide(
            Layer.fresh(Jwt.layer),
            Layer.succeed(Application, { id: "papers", cfgDir: ".", development: true, isTest: true })
          )
        ))
      )
    ))
})

class Long extends Model.Class<Long>()("Long", { id: Model.id(), text: Schema.String, ...Model.versioned }) {}

describe("a compressed document", () => {
  const compressing = KernelEngine.make("compressing")
    .register(Long, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"], pageTags: true })
  const configured = ConfigProvider.layer(
    ConfigProvider.fromUnknown({ appkernel: { compression: { enabled: true, min_size: 100 } } })
  )
  it.effect("has a strong tag of its own in each coding, which preconditions know", () =>
    Effect.gen(function*() {
      const text = "a long text ".repeat(50)
      for (const coding of ["gzip", "br", "zstd"]) {
        const accepting = { "accept-encoding": coding }
        const { body: { result: id } } = yield* send("POST", "/longs", { text })
        const path = `/longs/${id}`
        const plain = String((yield* send("GET", path)).headers["etag"])
        for (const method of ["GET", "HEAD"] as const) {
          const coded = yield* send(method, path, undefined, accepting)
          assert.deepStrictEqual(
            [coded.headers["content-encoding"], coded.headers["etag"], coded.headers["vary"]],
            [coding, plain.replace(/"$/u, `-${coding}"`), "Accept-Encoding"]
          )
        }
        const tag = plain.replace(/"$/u, `-${coding}"`)
        for (const known of [tag, plain, `W/${tag}`]) {
          const same = yield* send("GET", path, undefined, { ...accepting, "if-none-match": known })
          assert.deepStrictEqual([same.status, same.headers["etag"]], [304, known === plain ? plain : tag])
        }
        const statuses = [
          yield* send("PATCH", path, { text: `${text}1` }, { "if-match": `W/${tag}` }),
          yield* send("PATCH", path, { text: `${text}1` }, { "if-match": tag }),
          yield* send("PUT", path, { text: `${text}2` }, { "if-match": tag })
        ].map(({ status }) => status)
        assert.deepStrictEqual(statuses, [412, 200, 412])
        const shown = yield* send("PATCH", path, { text }, { ...accepting, prefer: "return=representation" })
        assert.strictEqual(
          (yield* send("DELETE", path, undefined, { "if-match": String(shown.headers["etag"]) })).status,
          200
        )
      }
      // A tag of a page is weak in any coding.
      yield* send("POST", "/longs", { text })
      const page = yield* send("GET", "/longs", undefined, { "accept-encoding": "gzip" })
      assert.match(String(page.headers["etag"]), /^W\/"[\da-f]{27}"$/u)
      const same = yield* send("GET", "/longs", undefined, {
        "accept-encoding": "gzip",
        "if-none-match": String(page.headers["etag"])
      })
      assert.strictEqual(same.status, 304)
    }).pipe(Effect.provide(Layer.provide(serving(compressing, EmbeddedStore.layerMemory), configured))))

  it.effect("is in the coding with the best weight, and never in one that its client refuses", () =>
    Effect.gen(function*() {
      const { body: { result: id } } = yield* send("POST", "/longs", { text: "a long text ".repeat(50) })
      // The message that there is none is short.
      const short = "none"
      const expected: ReadonlyArray<readonly [accepted: string, coding: string | undefined, ofShort?: string]> = [
        ["gzip, br, zstd", "zstd"],
        ["zstd;q=0.1, gzip", "gzip"],
        ["gzip;q=0.5, br;q=0.8, zstd;q=0.2", "br"],
        ["*", "zstd"],
        ["*;q=0.5, gzip", "gzip"],
        ["gzip;q=0, *", "zstd"],
        ["zstd;q=0, br;q=0.000, gzip", "gzip"],
        ["GZIP ; Q=0.5", "gzip"],
        ["gzip;q=0", undefined],
        ["gzip;q=0.5, identity", undefined],
        ["identity;q=0.5, gzip;q=0.2", undefined],
        ["identity;q=0, gzip", "gzip", "gzip"],
        ["identity;q=0, gzip;q=0.1", "gzip", "gzip"],
        ["*;q=0", undefined],
        ["", undefined]
      ]
      for (const [accepted, coding, ofShort] of expected) {
        const codingAt = (id: string) =>
          Effect.map(send("GET", `/longs/${id}`, undefined, { "accept-encoding": accepted }), ({ headers }) => {
            assert.strictEqual(headers["vary"], id === short ? "Accept, Accept-Encoding" : "Accept-Encoding", accepted)
            return headers["content-encoding"]
          })
        assert.deepStrictEqual([yield* codingAt(id), yield* codingAt(short)], [coding, ofShort], accepted)
      }
    }).pipe(Effect.provide(Layer.provide(serving(compressing, EmbeddedStore.layerMemory), configured))))

  it.effect("has, as a list, a schema and the metadata do, a 304 with the Vary and the tag of its 200", () =>
    Effect.gen(function*() {
      const { body: { result: id } } = yield* send("POST", "/longs", { text: "a long text ".repeat(50) })
      const { body: { result: short } } = yield* send("POST", "/longs", { text: "s" })
      for (const path of [`/longs/${id}`, `/longs/${short}`, "/longs", "/longs/schema", "/longs/meta"]) {
        for (const accepted of [undefined, "gzip", "br, gzip;q=0.1", "identity", "gzip;q=0"]) {
          const headers: { readonly [name: string]: string } = accepted === undefined
            ? {}
            : { "accept-encoding": accepted }
          const whole = yield* send("GET", path, undefined, headers)
          const same = yield* send("GET", path, undefined, {
            ...headers,
            "if-none-match": `"other", ${String(whole.headers["etag"])}`
          })
          assert.deepStrictEqual(
            [same.status, same.headers["etag"], same.headers["vary"], same.headers["cache-control"]],
            [304, whole.headers["etag"], whole.headers["vary"], whole.headers["cache-control"]],
            `${path} ${accepted}`
          )
        }
      }
    }).pipe(Effect.provide(Layer.provide(serving(compressing, EmbeddedStore.layerMemory), configured))))
})
