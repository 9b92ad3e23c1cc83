/** What is answered without a fiber: the same bytes, log and order as in one, and nothing that a stage has a part in. */
import { CountsOperations } from "@appkernel/document-store/shared"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, ConfigProvider, DateTime, Effect, Layer, Schema, Tracer } from "effect"
import { HttpRouter } from "effect/http"
import { Server } from "node:http"
import { vi } from "vitest"
import type { AccessEntry } from "../../../src/Http/server/accessLog.ts"
import { AccessLogger } from "../../../src/Http/server/kernelLogger.ts"
import { nodeServerOf } from "../../../src/Http/server/shedding.ts"
import { routeStages, serviceStages } from "../../../src/Http/startup/stages.ts"
import {
  Authentication,
  DocumentStore,
  EmbeddedStore,
  KernelEngine,
  Model,
  Repository,
  Resource,
  Role
} from "../../../src/index.ts"
import type { Stage } from "../../../src/internal/stages.ts"
import { kinds } from "../../support/everyKind.ts"
import { sendBytes, serving } from "../../support/rest.ts"

/** As `launch` runs a service that nobody measures. */
const asLaunched = <A, E, R>(layer: Layer.Layer<A, E, R>, env: { readonly [variable: string]: string } = {}) =>
  layer.pipe(
    Layer.provide([
      Layer.succeed(CountsOperations, false),
      Layer.succeed(AccessLogger, { write: (entry) => void entries.push(entry) }),
      ConfigProvider.layer(ConfigProvider.fromEnv({ env }))
    ])
  )

const entries: Array<AccessEntry> = []

/** Notes of each request whether it is answered at once, until the scope closes. */
const noting = Effect.gen(function*() {
  const node = yield* Effect.fromNullishOr(yield* nodeServerOf)
  const { answersAtOnce } = node
  const noted: Array<boolean> = []
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      node.answersAtOnce = (...values) => {
        const isAnswered = answersAtOnce?.(...values) === true
        noted.push(isAnswered)
        return isAnswered
      }
    }),
    () =>
      Effect.sync(() => {
        node.answersAtOnce = answersAtOnce
      })
  )
  return noted
})

/** The bytes of a request, whose header keeps it from being answered at once if it is not plain. */
const requestOf = (target: string, isPlain: boolean, { headers = "", method = "GET" } = {}) =>
  `${method} ${target} HTTP/1.1\r\nhost: shop.example\r\n${headers}${isPlain ? "" : "x-other: 1\r\n"}`

/** Sends requests one behind another, the last of which ends the connection, and returns all answers without their dates. */
const answersTo = (requests: ReadonlyArray<string>) =>
  Effect.map(
    sendBytes(
      requests.map((head, i) => `${head}${i < requests.length - 1 ? "" : "connection: close\r\n"}\r\n`).join("")
    ),
    (text) => text.replaceAll(/^Date: .*$/gmu, "Date")
  )

const answerTo = (...request: Parameters<typeof requestOf>) => answersTo([requestOf(...request)])

const fields = { note: Schema.String, ...Model.audited }

class Count extends Model.Class<Count>()("Count", { id: Schema.Int, ...fields, ...Model.versioned }) {}
class Crate extends Model.Class<Crate>()("Crate", { id: Model.ObjectId, ...fields }) {}
class Code
  extends Model.Class<Code>()("Code", { id: Schema.String.check(Schema.isPattern(/^[A-Z]{2,9}$/u)), ...fields })
{}
class Moment extends Model.Class<Moment>()("Moment", { id: Schema.DateTimeUtc, ...fields }) {}
class Day extends Model.Class<Day>()("Day", { id: Model.Date, ...fields }) {}
class Big extends Model.Class<Big>()("Big", { id: Schema.BigInt, ...fields }) {}
class Word extends Model.Class<Word>()("Word", { id: Schema.Literals(["a", "schema"]), ...fields }) {}
class Text extends Model.Class<Text>()("Text", { id: Schema.String, ...fields }) {}
class Note extends Model.Class<Note>()("Note", { id: Model.id(), note: Schema.String }) {}

const methods = ["GET", "POST", "PATCH"] as const

let pagesAtOnce = 0

describe("A plain request for one document or a page", () => {
  const engine = KernelEngine.make("identified")
    .register(Count, { methods })
    .register(Crate, { methods })
    .register(Code, { methods })
    .register(Moment, { methods })
    .register(Day, { methods })
    .register(Big, { methods })
    .register(Word, { methods })
    .register(Text, { methods })
    .register(Note, { methods })

  it.layer(asLaunched(serving(engine, EmbeddedStore.layerMemory)))((it) => {
    const ids = (
      "1 -7 1e3 01 9007199254740993 123456789012345678901 507f1f77bcf86cd799439011 507F1F77BCF86CD799439011 AB " +
      "ABCDEFGHIJ ab a schema meta aggregate changes query 2026-01-31 2026-01-31T09 0 - _ ~ a.b a..b .. . %41 a%2Fb % a;b " +
      "a:b a%20b ä a? a?expand=x a?fields=id a#b a/ /a a/b a// "
    ).split(" ").concat("x".repeat(200))
    const segments = ["counts", "crates", "codes", "moments", "days", "bigs", "words", "texts", "notes"]

    it.effect("is answered at once with the bytes of an answer in a fiber, whatever the identifier", () =>
      Effect.gen(function*() {
        const stored = [
          new Count({ id: 1, note: "ä€𝄞" }),
          new Count({ id: -7, note: "" }),
          new Crate({ id: "507f1f77bcf86cd799439011", note: "crate" }),
          new Code({ id: "AB", note: "code" }),
          new Moment({ id: DateTime.makeUnsafe("2026-01-31T00:00:00Z"), note: "moment" }),
          new Day({ id: DateTime.makeUnsafe("2026-01-31T00:00:00Z"), note: "day" }),
          new Big({ id: 123456789012345678901n % 2n ** 63n, note: "big" }),
          new Big({ id: 1n, note: "big" }),
          new Word({ id: "schema", note: "word" }),
          ...ids.filter((id) => !["", ".", ".."].includes(id)).map((id) =>
            new Text({ id, note: "é".repeat(id.length) })
          )
        ]
        for (const one of stored) {
          const repository = yield* Repository.for(one.constructor as typeof Text)
          yield* repository.insert(one as Text)
        }
        const noted = yield* noting
        let atOnce = 0
        for (const segment of segments) {
          for (const id of ids) {
            const target = `/${segment}/${id}`
            // Twice, so that the second one has the text that is kept.
            for (let i = 0; i < 2; i++) {
              noted.length = 0
              const plain = yield* answerTo(target, true)
              assert.isFalse(noted.length > 1)
              if (noted[0] === true) {
                atOnce += 1
                assert.match(plain, /^HTTP\/1\.1 200 OK\r\n/u)
              }
              assert.strictEqual(plain, yield* answerTo(target, false))
              assert.notInclude(noted.slice(1), true)
            }
          }
        }
        assert.isAbove(atOnce, 2 * segments.length)
      }).pipe(Effect.scoped))

    const targets = [
      ["/texts/a", "GET", "", true],
      ["/texts/a", "HEAD", "", false],
      ["/texts/a", "DELETE", "", false],
      ["/texts/a", "OPTIONS", "", false],
      ["http://shop.example/texts/a", "GET", "", false],
      ["//texts/a", "GET", "", false],
      ["/texts//a", "GET", "", false],
      ["/texts/./a", "GET", "", false],
      ["/other/../texts/a", "GET", "", false],
      ["/Texts/a", "GET", "", false],
      ["/texts", "GET", "", true],
      ["/texts/", "GET", "", false],
      ["/texts?", "GET", "", true],
      ["/texts?page=2&page_size=3&sort_by=-note&fields=id", "GET", "", true],
      ["/texts?id:[a,b]&note=<b&count=none", "GET", "", true],
      ["/texts?cursor=", "GET", "", true],
      ["/texts?id=%61+b&note=~%2B", "GET", "", true],
      ["/texts?id=%C3%A4", "GET", "", false],
      ["/texts?id=%zz", "GET", "", false],
      ["/texts?id=%", "GET", "", false],
      ["/texts?id=a;b", "GET", "", false],
      ["/texts?id=a#b", "GET", "", false],
      ["/texts?none=1", "GET", "", false],
      ["/texts?page=0", "GET", "", false],
      ["/texts?count=estimated", "GET", "", false],
      ["/texts?query={}", "GET", "", false],
      ["/texts?query=%7B%7D", "GET", "", false],
      [`/texts?${"id=a&".repeat(2_000)}`, "GET", "", false],
      ["/texts?page_size=2", "QUERY", "", false],
      ["/texts?page_size=2", "HEAD", "", false],
      ["/texts?page_size=2", "GET", "accept: text/csv\r\n", false],
      ["/texts/a?", "GET", "", true],
      ["/texts/a?fields=id", "GET", "", false],
      ["/texts/schema", "GET", "", false],
      ["/texts/none", "GET", "", false],
      ["*", "OPTIONS", "", false],
      ["/texts/a", "GET", "accept: application/json\r\n", true],
      ["/texts/a", "GET", "accept: text/html, */*;q=0.8\r\n", true],
      ["/texts/a", "GET", "accept: text/html\r\n", false],
      ["/texts/a", "GET", "accept-language: de\r\naccept-encoding: gzip\r\nuser-agent: x\r\n", true],
      ["/texts/a", "GET", "x-request-id: R1\r\nx-forwarded-for: 192.0.2.1\r\n", true],
      ...[
        "authorization: Bearer x",
        "content-length: 0",
        "cookie: a=b",
        "expect: 100-continue",
        "if-match: \"x\"",
        "if-modified-since: Mon, 30 Nov 2026 16:39:59 GMT",
        "if-none-match: *",
        "origin: https://page.example",
        "prefer: return=minimal",
        "range: bytes=0-1",
        "transfer-encoding: gzip",
        "x-http-method-override: DELETE"
      ].map((header) => ["/texts/a", "GET", `${header}\r\n`, false] as const)
    ] as const

    for (const [target, method, headers, isAtOnce] of targets) {
      it.effect(`${isAtOnce ? "is" : "or another one is not"} answered at once: ${method} ${target} ${headers.trim()}`, () =>
        Effect.gen(function*() {
          yield* (yield* Repository.for(Text)).save(new Text({ id: "a", note: "a" }))
          const noted = yield* noting
          const plain = yield* answerTo(target, true, { headers, method })
          assert.strictEqual(noted.includes(true), isAtOnce)
          assert.strictEqual(plain, yield* answerTo(target, false, { headers, method }))
        }).pipe(Effect.scoped))
    }

    it.effect("has the line in the log that it has in a fiber", () =>
      Effect.gen(function*() {
        yield* (yield* Repository.for(Text)).save(new Text({ id: "a", note: "a" }))
        const noted = yield* noting
        entries.length = 0
        for (const headers of ["", "x-request-id: R1\r\n", "x-request-id: not safe\r\n"]) {
          yield* answerTo("/texts/a", true, { headers })
          yield* answerTo("/texts/a", false, { headers })
        }
        for (const isPlain of [true, false]) yield* answerTo("/texts?page_size=1", isPlain)
        assert.deepStrictEqual(noted, [true, false, true, false, true, false, true, false])
        assert.lengthOf(entries, 8)
        for (let i = 0; i < 8; i += 2) {
          const [plain, other] = entries.slice(i, i + 2)
          for (const { duration, time } of [plain!, other!]) {
            assert.isAtLeast(duration, 0)
            assert.isAtLeast(time, 0)
          }
          if (i === 2) assert.deepStrictEqual([plain?.requestId, other?.requestId], ["R1", "R1"])
          else assert.notStrictEqual(plain?.requestId, other?.requestId)
          const same = { duration: 0, time: 0, requestId: "" }
          assert.deepStrictEqual({ ...plain, ...same }, { ...other, ...same })
          const route = i < 6 ? "/texts/:id" : "/texts"
          assert.deepInclude(plain, { method: "GET", route, status: 200, subject: undefined })
        }
      }).pipe(Effect.scoped))

    const words = ["a", "b", "é", "x y", ""]
    const some = (...values: ReadonlyArray<string>) => Arbitrary.schema(Schema.Literals(values))
    const parameter = some(...(
      "page=1 page=2 page=99 page_size=1 page_size=3 page_size=0 count=none count=exact cursor= sort_by=note sort_by=-note,id " +
      "sort_order=DESC fields=note fields=id,note fields=none fields= note=a note=>a note=a..b note:[a,b] note=~a note=! id=p1 " +
      "id:[p1,p3] logic=OR note & none=1 created=>2020-01-01 created=%3E2020-01-01T00:00:00 note=x+y note=x%20y note=%C3%A9"
    ).split(" "))

    it.effect.prop(
      "has the bytes of an answer in a fiber, as a page of any parameters after any writes",
      [Arbitrary.array(parameter, { maxLength: 4 }), Arbitrary.array(some(...words), { maxLength: 5 })],
      ([parameters, notes]) =>
        Effect.gen(function*() {
          const repository = yield* Repository.for(Text)
          yield* repository.deleteMany(($) => $.id.notEquals(""))
          for (const [i, note] of notes.entries()) yield* repository.insert(new Text({ id: `p${i}`, note }))
          if (notes.length > 2) yield* repository.updateOne(($) => $.id.equals("p1"), ($) => [$.note.set("c")])
          const target = `/texts${parameters.length === 0 ? "" : `?${parameters.join("&")}`}`
          const noted = yield* noting
          for (let i = 0; i < 3; i++) {
            const plain = yield* answerTo(target, true)
            if (noted.includes(true)) pagesAtOnce += 1
            assert.strictEqual(plain, yield* answerTo(target, false))
            // The same again, next to a page behind it on the connection.
            const both = yield* answersTo([requestOf(target, true), requestOf(target, false)])
            assert.strictEqual(both.split("HTTP/1.1 ").length, 3)
          }
        }).pipe(Effect.scoped),
      { arbitrary: { runs: 60 } }
    )

    it.effect("is answered at once for many of such pages", () => Effect.sync(() => assert.isAbove(pagesAtOnce, 20)))

    it.effect("begins again in a fiber as a page that is long, or that takes long, and then so do some others", () =>
      Effect.gen(function*() {
        const repository = yield* Repository.for(Code)
        const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        const ids = [...letters].flatMap((a) => [...letters].flatMap((b) => [...letters].map((c) => a + b + c)))
        yield* repository.bulkInsert(ids.map((id) => new Code({ id, note: "x".repeat(20) })))
        const noted = yield* noting
        const isAtOnce = (target: string) =>
          Effect.gen(function*() {
            noted.length = 0
            const plain = yield* answerTo(target, true)
            const [isAtOnce] = noted
            assert.strictEqual(plain, yield* answerTo(target, false))
            return isAtOnce
          })
        const others = Effect.gen(function*() {
          for (let i = 0;; i++) if (yield* isAtOnce("/codes?page_size=2")) return i
        })
        assert.strictEqual(yield* others, 0)
        assert.isFalse(yield* isAtOnce("/codes?note=~y"))
        assert.strictEqual(yield* others, 32)
        yield* repository.deleteMany(($) => $.id.notEquals(""))
        yield* repository.bulkInsert(ids.slice(0, 100).map((id) => new Code({ id, note: "x".repeat(4_000) })))
        assert.isTrue(yield* isAtOnce("/codes?page_size=50"))
        assert.isFalse(yield* isAtOnce("/codes?page_size=100"))
        assert.strictEqual(yield* others, 32)
        yield* repository.deleteMany(($) => $.id.notEquals(""))
      }).pipe(Effect.scoped))

    const Step = Schema.Struct({
      id: Schema.Literals(["p1", "p2", "p3"]),
      write: Schema.UndefinedOr(Schema.Int),
      isPlain: Schema.Boolean
    })

    it.effect.prop(
      "shows every write before it, on one connection, and keeps the order of answers",
      [Schema.Array(Step).check(Schema.isMaxLength(12))],
      ([steps]) =>
        Effect.gen(function*() {
          const repository = yield* Repository.for(Text)
          const states = new Map<string, string>()
          for (const id of ["p1", "p2"]) {
            yield* repository.save(new Text({ id, note: "begin" }))
            states.set(id, "begin")
          }
          yield* repository.deleteMany(($) => $.id.equals("p3"))
          const expected: Array<string> = []
          const requests = steps.map(({ id, isPlain, write }) => {
            const isThere = states.has(id)
            if (write !== undefined && isThere) states.set(id, `n${write}`)
            expected.push(write === undefined || !isThere ? states.get(id) ?? "404" : "written")
            const body = `{"note":"n${write}"}`
            return write === undefined
              ? requestOf(`/texts/${id}`, isPlain)
              : `PATCH /texts/${id} HTTP/1.1\r\nhost: a\r\ncontent-type: application/merge-patch+json\r\n` +
                `content-length: ${body.length}\r\n\r\n${body}`
          })
          const last = requestOf("/texts/p1", true)
          const sent = requests.map((request) => request.endsWith("}") ? request : `${request}\r\n`).join("")
          const text = yield* sendBytes(`${sent}${last}connection: close\r\n\r\n`)
          const got = text.split("HTTP/1.1 ").slice(1).map((answer, i) =>
            answer.startsWith("404") ? "404" : expected[i] === "written"
              ? answer.startsWith("200") ? "written" : answer
              : /"note":"([^"]+)"/u.exec(answer)?.[1]
          )
          assert.deepStrictEqual(got, [...expected, states.get("p1")])
        }),
      { arbitrary: { runs: 30 } }
    )
  })

  it.effect("is answered at once until the service ends, and in a fiber where operations are counted or traced, or have a caller", () =>
    Effect.gen(function*() {
      const answered = Effect.map(nodeServerOf, (node) => node?.answersAtOnce !== undefined)
      const served = serving(KernelEngine.make("notes").register(Note, { methods }), EmbeddedStore.layerMemory)
      const secured = serving(
        KernelEngine.make("notes").register(Resource.make(Note, { methods }).require(Role("reader"))).enableSecurity(),
        EmbeddedStore.layerMemory
      ).pipe(Layer.provide(Authentication.layer(Authentication.make({
        id: "any",
        header: "authorization",
        challenge: { scheme: "Any" },
        verify: () => Effect.die(new Error("Nobody calls"))
      }))))
      const traced = Layer.succeed(Tracer.Tracer, { ...Tracer.nativeTracer })
      assert.deepStrictEqual(
        yield* Effect.forEach(
          [asLaunched(served), served, asLaunched(served.pipe(Layer.provide(traced))), asLaunched(secured)],
          (layer) => Effect.provide(answered, layer)
        ),
        [true, false, false, false]
      )
    }))

  let isFrail = false

  class Frail extends Model.Class<Frail>()("Frail", {
    id: Model.id(),
    note: Schema.String.pipe(Model.withDefault(() => {
      if (isFrail) throw new Error("no default")
      return ""
    }))
  }) {}

  it.effect("is answered 500 in a fiber if what the model computes throws", () =>
    Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      yield* store.insertOne("Frail", { _id: "a" })
      yield* store.insertOne("Frail", { _id: "b", note: "b" })
      const noted = yield* noting
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          isFrail = true
        }),
        () =>
          Effect.sync(() => {
            isFrail = false
          })
      )
      const [frail, whole] = [yield* answerTo("/frails/a", true), yield* answerTo("/frails/b", true)]
      assert.match(frail, /^HTTP\/1\.1 500 /u)
      assert.match(whole, /^HTTP\/1\.1 200 /u)
      assert.deepStrictEqual(noted, [false, true])
    }).pipe(
      Effect.scoped,
      Effect.provide(
        asLaunched(serving(KernelEngine.make("frails").register(Frail, { methods }), EmbeddedStore.layerMemory))
      )
    ))

  it.effect("is an event of Node's server, which lets its listeners go when the service ends", () =>
    Effect.gen(function*() {
      const served = serving(KernelEngine.make("notes").register(Note, { methods }), EmbeddedStore.layerMemory)
      const node = yield* Effect.gen(function*() {
        const node = yield* Effect.fromNullishOr(yield* nodeServerOf)
        yield* (yield* Repository.for(Note)).save(new Note({ id: "a", note: "a" }))
        // As instrumentations do that make a span of each request.
        const emitted = vi.spyOn(Server.prototype, "emit")
        const noted = yield* noting
        yield* answerTo("/notes/a", true)
        assert.deepStrictEqual(noted, [true])
        const events = emitted.mock.calls.map(([event]): string => event)
        assert.lengthOf(events.filter((event) => event === "request"), 1)
        return node
      }).pipe(
        Effect.ensuring(Effect.sync(() => vi.restoreAllMocks())),
        Effect.scoped,
        Effect.provide(asLaunched(served))
      )
      assert.isUndefined(node.answersAtOnce)
      assert.isTrue(node instanceof Server && node.listenerCount("request") === 0)
    }))

  const models = Object.entries(kinds).map(([name, { schema }]) => ({
    name,
    model: class extends Model.Class<{ readonly id: string; readonly value: unknown }>()(`AtOnce${name}`, {
      id: Model.id(),
      value: schema,
      more: Schema.String.pipe(Model.withDefault(() => "ü"))
    }) {}
  }))
  const everyKind = models.slice(1).reduce(
    (engine, { model, name }) => engine.register(model, { methods, name, segment: name }),
    KernelEngine.make("kinds").register(models[0]!.model, { methods, name: models[0]!.name, segment: models[0]!.name })
  )

  it.layer(asLaunched(serving(everyKind, EmbeddedStore.layerMemory)))((it) => {
    for (const { model, name } of models) {
      const values = Arbitrary.schema(Schema.toType(model.store.fields.value as unknown as Schema.Codec<unknown>))
      it.effect.prop(`has the bytes of an answer in a fiber: ${name}`, [values], ([value]) =>
        Effect.gen(function*() {
          const repository = yield* Repository.for(model)
          const inserted = yield* Effect.option(repository.insert({ id: "one", value }))
          if (inserted._tag === "None") return
          const noted = yield* noting
          for (const target of [`/${name}/one`, `/${name}`, `/${name}?fields=value`]) {
            assert.strictEqual(yield* answerTo(target, true), yield* answerTo(target, false))
          }
          assert.deepStrictEqual(noted, [true, false, true, false, true, false])
        }).pipe(
          Effect.scoped,
          Effect.ensuring(Effect.ignore(Effect.flatMap(Repository.for(model), (all) => all.deleteById("one"))))
        ), { arbitrary: { runs: 5 } })
    }
  })
})

describe("A stage", () => {
  const withAtOnce = <About, Part, AtOnce>(stages: ReadonlyArray<Stage<About, Part, AtOnce>>) =>
    stages.flatMap(({ atOnce, name }) => atOnce === undefined ? [] : [name])

  it("has a form that needs no fiber if it changes nothing of a plain read, or does so at once", () => {
    assert.deepStrictEqual(withAtOnce(serviceStages), ["queue", "probes", "access log", "time limit", "routing"])
    assert.deepStrictEqual(withAtOnce(routeStages), [
      "time limit",
      "error responses",
      "accept",
      "parameters of the body"
    ])
  })

  const notes = Resource.make(Note, { methods })
  const plain = KernelEngine.make("notes").register(notes)
  const given = (options: object) => KernelEngine.make("notes").register(notes, options)

  class Kept extends Model.Class<Kept>()("Note", { id: Model.id(), note: Schema.String, ...Model.softDeleted }) {}
  class Told extends Model.Class<Told>()("Note", { id: Model.id(), note: Schema.String, ...Model.historied }) {}
  class Newer extends Model.Class<Newer>()("Note", {
    id: Model.id(),
    note: Schema.String,
    more: Schema.String.pipe(Model.withDefault(() => ""))
  }, {
    versions: [Model.was.added("more")]
  }) {}

  const cases: ReadonlyArray<
    readonly [string, object, { readonly [variable: string]: string }, isAtOnce: boolean]
  > = [
    ["nothing else", plain, {}, true],
    ["a queue", plain, { OVERLOAD_MAX_DELAY: "5 seconds" }, true],
    ["probes", plain, { HEALTH_ENABLED: "true" }, true],
    ["time limits", given({ timeout: "60 seconds" }), { SERVER_RESPONSE_TIMEOUT: "60 seconds" }, true],
    ["idempotency keys", given({ idempotencyKeys: "accepted" }), {}, true],
    ["a history", KernelEngine.make("notes").register(Told, { methods, segment: "notes" }), {}, true],
    ["soft deletion", KernelEngine.make("notes").register(Kept, { methods, segment: "notes" }), {}, false],
    ["versions", KernelEngine.make("notes").register(Newer, { methods, segment: "notes" }), {}, false],
    ["a hook before", KernelEngine.make("notes").register(notes.beforeGet(() => Effect.void)), {}, false],
    ["a hook after", KernelEngine.make("notes").register(notes.afterGet(() => Effect.void)), {}, false],
    ["compression", plain, { COMPRESSION_ENABLED: "true" }, false],
    ["CORS", plain, { CORS_ORIGINS: "https://page.example" }, false],
    ["caching", given({ cacheControl: "no-cache" }), {}, false],
    ["a header", given({ deprecated: "2026-01-01" }), {}, false],
    ["options of the store", given({ storeOptions: { readPreference: "primary" } }), {}, false],
    ["metrics", plain, { METRICS_ENABLED: "true" }, false],
    ["a limit of requests", plain, { OVERLOAD_MAX_REQUESTS: "9" }, false],
    ["a limit of requests of a route", plain, { OVERLOAD_MAX_REQUESTS_PER_ROUTE: "9" }, false],
    ["rates", plain, { RATE_LIMITS_PER_ADDRESS: "9 per minute" }, false],
    ["middleware", plain.use(HttpRouter.middleware((handler) => handler, { global: true })), {}, false]
  ]
  for (const [title, engine, variables, isAtOnce] of cases) {
    it.effect(`lets a read ${isAtOnce ? "do without a" : "have its"} fiber: ${title}`, () => {
      const env = Object.fromEntries(Object.entries(variables).map(([name, value]) => [`APPKERNEL_${name}`, value]))
      return Effect.gen(function*() {
        const noted = yield* noting
        const created = yield* Effect.map(
          sendBytes(
            "POST /notes HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 12\r\nconnection: close\r\n\r\n{\"note\":\"a\"}"
          ),
          (text) => /"result":"([^"]+)"/u.exec(text)?.[1]
        )
        noted.length = 0
        for (const target of [`/notes/${created}`, "/notes?page_size=2"]) {
          noted.length = 0
          const [plain, other] = [yield* answerTo(target, true), yield* answerTo(target, false)]
          assert.match(plain, /^HTTP\/1\.1 200 OK\r\n[^]*"note":"a"/u)
          assert.deepStrictEqual(noted, [isAtOnce, false])
          const withoutRate = (text: string) => text.replaceAll(/^ratelimit.*$/gimu, "")
          assert.strictEqual(withoutRate(plain), withoutRate(other))
        }
      }).pipe(
        Effect.scoped,
        Effect.provide(asLaunched(
          // All of them have the same routes.
          serving(engine as typeof plain, EmbeddedStore.layerMemory),
          env
        ))
      )
    })
  }
})
