/** Writes that are asked for again by their `Idempotency-Key`, on any store. */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import {
  Index,
  KernelEngine,
  Model,
  OpenApi,
  Raw,
  Repository,
  Resource,
  Role,
  Service,
  ServiceError
} from "../../../src/index.ts"
import { resolvedDocument } from "../../support/resolvedDocument.ts"
import { type Headers, problemsIn, refused, send, sendTo, serving } from "../../support/rest.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"

class Order extends Model.Class<Order>()("Order", {
  id: Model.id({ prefix: "O" }),
  item: Schema.NonEmptyString,
  sent: Schema.Int.pipe(Model.withDefault(() => 0)),
  ...Model.versioned,
  ...Model.historied
}) {}

class Note extends Model.Class<Note>()("Note", { id: Model.id({ prefix: "N" }), text: Schema.String }) {}

class Scan extends Model.Class<Scan>()("Scan", {
  id: Model.id({ prefix: "S" }),
  name: Schema.String,
  image: Model.file()
}) {}

class OutOfStock extends ServiceError<OutOfStock>()("OutOfStock", { status: 409 }) {}

class Scrap extends Model.Class<Scrap>()("Scrap", { id: Schema.String, n: Schema.Int }) {}

class Code extends Model.Class<Code>()("Code", {
  id: Schema.String,
  code: Schema.String.pipe(Model.indexed(Index.unique))
}) {}

/** What follows from writes, and how often handlers have run. */
const told: Array<string> = []
let runs = 0

const Orders = Resource.make(Order, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })
  .afterPost((order) => Effect.sync(() => void told.push(order.item)))
  .action("send", { method: "POST", success: Schema.Int }, (order) =>
    Effect.gen(function*() {
      runs += 1
      const orders = yield* Repository.for(Order)
      return (yield* orders.save(new Order({ ...order, sent: order.sent + 1 }))).sent
    }))
  .action(
    "letter",
    { method: "POST", payload: Schema.Struct({ size: Schema.Int }), success: Schema.String },
    (order, { payload }) =>
      Effect.gen(function*() {
        yield* (yield* Repository.for(Order)).save(new Order({ ...order, sent: order.sent + 1 }))
        return "x".repeat(payload.size)
      })
  )
  .action("fail", {
    method: "POST",
    payload: Schema.Struct({ fails: Schema.Boolean }),
    success: Schema.Int,
    error: OutOfStock
  }, (
    order,
    { payload }
  ) =>
    Effect.gen(function*() {
      yield* (yield* Repository.for(Order)).save(new Order({ ...order, sent: 99 }))
      return payload.fails ? yield* new OutOfStock() : 99
    }))

const Counter = Service.make("CounterService")
  .operation(
    "count",
    { payload: Schema.Struct({ by: Schema.Int }), success: Schema.Int },
    ({ payload }) => Effect.sync(() => runs += payload.by)
  )
  .operation(
    "refused",
    { payload: Schema.Struct({}), success: Raw.response({ contentType: "text/plain" }) },
    () =>
      Effect.gen(function*() {
        yield* (yield* Repository.for(Order)).insert(new Order({ item: "refused" }))
        return HttpServerResponse.text("no", { status: 402 })
      })
  )
  .operation(
    "cookie",
    { payload: Schema.Struct({}), success: Raw.response({ contentType: "text/plain" }) },
    () =>
      Effect.sync(() => HttpServerResponse.setCookieUnsafe(HttpServerResponse.text(`${runs++}`), "session", "secret"))
  )
  .operation(
    "each",
    { payload: Schema.Struct({}), success: Schema.Int, idempotencyKeys: "none" },
    () => Effect.sync(() => runs++)
  )
  .operation(
    "bytes",
    { payload: Raw.request({ contentType: "text/plain" }), success: Schema.Int },
    () => Effect.succeed(1)
  )

const Notes = Resource.make(Note, { methods: ["GET", "POST", "DELETE"] })
  .action("touch", { method: "POST", success: Schema.Int }, () => Effect.sync(() => runs += 1))

const engine = KernelEngine.make("orders")
  .register(Orders, { idempotencyKeys: "accepted", many: ["PATCH"], tables: true })
  .register(Notes, { idempotencyKeys: "required" })
  .register(Scan, { methods: ["GET", "POST", "PUT", "PATCH"], idempotencyKeys: "required" })
  .register(Code, { methods: ["GET", "POST"], idempotencyKeys: "accepted" })
  .register(Scrap, { methods: ["GET", "PATCH"], many: ["PATCH"] })
  .register(Counter, { segment: "counter", idempotencyKeys: "accepted" })

let keys = 0
const fresh = () => `key-${keys++}`

const count = Effect.map(send("GET", "/orders?page_size=1000"), ({ body }) => body._items.length)

storeMatrix((name, store) =>
  it.layer(serving(engine, store), { excludeTestServices: true })(`idempotency / ${name}`, (it) => {
    const placed = Effect.map(send("POST", "/orders", { item: "tea" }), ({ body }) => String(body.result))

    it.effect("a repeated write is answered as the first one, and not made again", () =>
      Effect.gen(function*() {
        const key = { "idempotency-key": fresh(), prefer: "return=representation" }
        const before = told.length
        const first = yield* send("POST", "/orders", { item: "coffee" }, key)
        assert.strictEqual(first.status, 201, first.text)
        assert.isUndefined(first.headers["idempotency-replayed"])
        const again = yield* send("POST", "/orders", { item: "coffee" }, key)
        assert.deepStrictEqual([again.status, again.text], [201, first.text])
        assert.strictEqual(again.headers["idempotency-replayed"], "true")
        for (const header of ["location", "etag", "content-type", "preference-applied"]) {
          assert.strictEqual(again.headers[header], first.headers[header], header)
        }
        assert.strictEqual(told.length, before + 1, "hooks follow once")
        const path = String(first.headers["location"])
        const patch = { "idempotency-key": `"${fresh()}"` }
        const patched = [
          yield* send("PATCH", path, { item: "cake" }, patch),
          yield* send("PATCH", path, { item: "cake" }, patch)
        ]
        assert.deepStrictEqual(patched.map(({ status }) => status), [200, 200])
        assert.strictEqual((yield* send("GET", path)).body.version, 2)
        // A deletion that is repeated is no 404.
        const deletion = { "idempotency-key": fresh() }
        const gone = [
          yield* send("DELETE", path, undefined, deletion),
          yield* send("DELETE", path, undefined, deletion)
        ]
        assert.strictEqual(gone[0]?.status, gone[1]?.status)
      }))

    it.effect("of many at once with one key, one is made", () =>
      Effect.gen(function*() {
        const path = `/orders/${yield* placed}/send`
        const [before, key] = [runs, { "idempotency-key": fresh() }]
        const answers = yield* Effect.forEach(Array.from({ length: 40 }), () => send("POST", path, undefined, key), {
          concurrency: 40
        })
        assert.isTrue(answers.every(({ status }) => status === 200 || status === 409))
        for (const { headers, status } of answers) if (status === 409) assert.strictEqual(headers["retry-after"], "1")
        assert.strictEqual(runs, before + 1)
        const last = yield* send("POST", path, undefined, key)
        assert.deepStrictEqual([last.status, last.text], [200, answers.find(({ status }) => status === 200)?.text])
        assert.strictEqual((yield* send("GET", path.replace("/send", ""))).body.sent, 1)
      }))

    it.effect("with many keys at once, each is made once", () =>
      Effect.gen(function*() {
        const before = yield* count
        const made = Array.from({ length: 20 }, () => fresh())
        const answers = yield* Effect.forEach(
          [...made, ...made],
          (key) => send("POST", "/orders", { item: key }, { "idempotency-key": key }),
          { concurrency: 40 }
        )
        assert.isTrue(answers.every(({ status }) => status === 201 || status === 409))
        for (const key of made) {
          assert.strictEqual((yield* send("POST", "/orders", { item: key }, { "idempotency-key": key })).status, 201)
        }
        assert.strictEqual(yield* count, before + 20)
      }))

    it.effect("a key is for one request", () =>
      Effect.gen(function*() {
        const key = { "idempotency-key": fresh() }
        assert.strictEqual((yield* send("POST", "/orders", { item: "tea" }, key)).status, 201)
        refused(422, yield* send("POST", "/orders", { item: "milk" }, key))
        refused(422, yield* send("POST", "/orders?expand=", { item: "tea" }, key))
        assert.strictEqual((yield* send("POST", "/counter/count", { by: 0 }, key)).status, 200, "of one endpoint")
        for (const id of [yield* placed, yield* placed]) {
          const sent = yield* send("PATCH", `/orders/${id}`, { item: "mate" }, key)
          assert.deepStrictEqual([sent.status, sent.body.result], [200, id], "of one path")
          const again = yield* send("PATCH", `/orders/${id}/`, { item: "mate" }, key)
          assert.deepStrictEqual([again.status, again.headers["idempotency-replayed"]], [200, "true"])
          refused(422, yield* send("PATCH", `/orders/${id}/`, { item: "milk" }, key))
        }
      }))

    it.effect("what is refused has written nothing, and may be asked for again", () =>
      Effect.gen(function*() {
        const key = { "idempotency-key": fresh() }
        refused(400, yield* send("POST", "/orders", { item: "" }, key))
        assert.strictEqual((yield* send("POST", "/orders", { item: "tea" }, key)).status, 201)

        const path = `/orders/${yield* placed}`
        const other = { "idempotency-key": fresh() }
        refused(409, yield* send("POST", `${path}/fail`, { fails: true }, other))
        assert.strictEqual((yield* send("GET", path)).body.sent, 0, "the transaction is rolled back")
        const made = yield* send("POST", `${path}/fail`, { fails: false }, other)
        assert.strictEqual(made.status, 200, made.text)
        assert.strictEqual((yield* send("GET", path)).body.sent, 99)
      }))

    it.effect("a response that refuses has written nothing, and one that is for nobody to keep is made each time", () =>
      Effect.gen(function*() {
        const post = (path: string, key: { readonly [name: string]: string }) =>
          send("POST", `/counter/${path}`, {}, key)
        const key = { "idempotency-key": fresh() }
        const before = yield* count
        assert.deepStrictEqual([(yield* post("refused", key)).status, (yield* post("refused", key)).text], [402, "no"])
        assert.strictEqual(yield* count, before)
        for (const path of ["cookie", "each"]) {
          const again = { "idempotency-key": fresh() }
          const [first, second] = [yield* post(path, again), yield* post(path, again)]
          assert.deepStrictEqual([first.status, second.status], [200, 200])
          assert.notStrictEqual(first.text, second.text, path)
        }
      }))

    it.effect("a taken value is a 409 with a key as without", () =>
      Effect.gen(function*() {
        yield* send("POST", "/codes", { id: "a", code: "1" })
        for (const headers of [{}, { "idempotency-key": fresh() }]) {
          refused(409, yield* send("POST", "/codes", { id: "b", code: "1" }, headers))
        }
        const replaced = { "idempotency-key": fresh() }
        for (let i = 0; i < 2; i++) {
          assert.strictEqual((yield* send("POST", "/codes", { id: "a", code: "2" }, replaced)).status, 200)
        }
      }))

    it.effect("an answer that is too large is made once, and not given again", () =>
      Effect.gen(function*() {
        const path = `/orders/${yield* placed}`
        for (const [size, status] of [[30_000, 200], [70_000, 409]] as const) {
          const key = { "idempotency-key": fresh() }
          assert.strictEqual((yield* send("POST", `${path}/letter`, { size }, key)).status, 200)
          const again = yield* send("POST", `${path}/letter`, { size }, key)
          assert.strictEqual(again.status, status)
          assert.isUndefined(again.headers["retry-after"])
        }
        assert.strictEqual((yield* send("GET", path)).body.sent, 2)
      }))

    it.effect("a body in pieces or of any size is read once for the key, and once for the write", () =>
      Effect.gen(function*() {
        for (const size of [1, 10_000, 300_000]) {
          const key = { "idempotency-key": fresh() }
          const item = "x".repeat(size)
          const first = yield* send("POST", "/orders", { item }, key)
          assert.strictEqual(first.status, 201, first.text.slice(0, 200))
          assert.strictEqual((yield* send("POST", "/orders", { item }, key)).text, first.text)
        }
        refused(413, yield* send("POST", "/orders", { item: "x".repeat(2_000_000) }, { "idempotency-key": fresh() }))
      }))

    it.effect("a key has quotes or none, and signs that are escaped in quotes", () =>
      Effect.gen(function*() {
        const sent = (key: string) =>
          Effect.map(send("POST", "/orders", { item: "tea" }, { "idempotency-key": key }), ({ status, text }) => {
            assert.strictEqual(status, 201, text)
            return text
          })
        const key = fresh()
        assert.strictEqual(yield* sent(key), yield* sent(`"${key}"`))
        const escaped = String.raw`"${key} \"a\" \\"`
        assert.strictEqual(yield* sent(escaped), yield* sent(escaped))
        assert.notStrictEqual(yield* sent(escaped), yield* sent(`"${key} a "`))
        yield* sent(`"${String.raw`\"`.repeat(255)}"`)
      }))

    it.effect("a key that can't be one, or can't be kept, is a 400", () =>
      Effect.gen(function*() {
        const tooLong = `"${String.raw`\"`.repeat(256)}"`
        for (
          const key of [
            "",
            "\"",
            "\"a",
            "a\"b",
            String.raw`"a\b"`,
            String.raw`"a\"`,
            "a,b",
            "a;b",
            "x".repeat(256),
            tooLong,
            "é"
          ]
        ) {
          const answer = yield* send("POST", "/orders", { item: "tea" }, { "idempotency-key": key })
          assert.deepStrictEqual(problemsIn(refused(400, answer)), ["Idempotency-Key Header"], key)
        }
        refused(400, yield* send("POST", "/notes", { text: "a" }))
        assert.strictEqual((yield* send("POST", "/notes", { text: "a" }, { "idempotency-key": fresh() })).status, 201)
        const table = { "content-type": "text/csv", "idempotency-key": fresh() }
        refused(400, yield* send("POST", "/orders", Buffer.from("item\r\ntea\r\n"), table))
        refused(400, yield* send("PATCH", "/orders?item=none", { item: "a" }, { "idempotency-key": fresh() }))
        // Where keys are ignored, they are.
        const ignored = { "idempotency-key": fresh() }
        assert.strictEqual((yield* send("PATCH", "/scraps?n=1", { n: 2 }, ignored)).status, 200)
        // What takes no key needs none, where others need one.
        const scan = (key: Headers) =>
          Effect.gen(function*() {
            const form = new FormData()
            form.append("name", "a")
            form.append("image", new Blob(["bytes"]), "a.txt")
            const encoded = new Response(form)
            const type = { "content-type": String(encoded.headers.get("content-type")), ...key }
            return yield* send("POST", "/scans", Buffer.from(yield* Effect.promise(() => encoded.arrayBuffer())), type)
          })
        const scanned = yield* scan({})
        assert.strictEqual(scanned.status, 201, scanned.text)
        assert.deepStrictEqual(problemsIn(refused(400, yield* scan({ "idempotency-key": fresh() }))), [
          "Idempotency-Key Header"
        ])
        refused(400, yield* send("PATCH", String(scanned.headers["location"]), { name: "b" }))
        // What reads no body ignores the type of one.
        const noted = yield* send("POST", "/notes", { text: "b" }, { "idempotency-key": fresh() })
        const note = String(noted.headers["location"])
        for (const type of ["text/plain", "text/csv", "multipart/form-data; boundary=x"]) {
          refused(400, yield* send("POST", `${note}/touch`, Buffer.from("a"), { "content-type": type }))
          refused(400, yield* send("DELETE", note, Buffer.from("a"), { "content-type": type }))
        }
        assert.strictEqual((yield* send("GET", note)).status, 200)
        // Its handler reads the body itself.
        const raw = { "content-type": "text/plain", "idempotency-key": fresh() }
        assert.strictEqual((yield* send("POST", "/counter/bytes", Buffer.from("a"), raw)).status, 200)
      }))
  })
)

class Paper extends Model.Class<Paper>()("Paper", {
  id: Model.id({ prefix: "P" }),
  owner: Schema.String,
  text: Schema.String,
  cost: Schema.Int.pipe(Model.optional)
}) {}

const papers = KernelEngine.make("papers")
  .register(
    Resource.make(Paper, { methods: ["GET", "POST", "PATCH"] })
      .require(Role("chief"))
      .grant(Role("writer"), { rows: (me) => ($) => $.owner.equals(me.subject), hide: ["cost"] }),
    { idempotencyKeys: "accepted" }
  )
  .register(
    Service.make("PeekService").operation("peek", {
      payload: Schema.Struct({ paper: Schema.String }),
      success: Paper,
      require: Role("writer")
    }, ({ payload }) => Repository.for(Paper).pipe(Effect.flatMap(({ findById }) => findById(payload.paper)))),
    { segment: "peek", idempotencyKeys: "accepted" }
  )
  .enableSecurity()

it.effect("an answer is given again to who made it, while they may still see it", () =>
  Effect.gen(function*() {
    const { baseUrl, token } = yield* papers.test()
    const asking = (subject: string, roles: ReadonlyArray<string>) =>
      Effect.map(
        token({ subject, roles }),
        (signed) => (method: string, path: string, body?: unknown, key = "k") =>
          sendTo(baseUrl, method, path, body, {
            authorization: `Bearer ${Redacted.value(signed)}`,
            "idempotency-key": key,
            prefer: "return=representation"
          })
      )
    const chief = yield* asking("ann", ["chief"])
    const writer = yield* asking("ann", ["writer"])
    const other = yield* asking("bob", ["writer"])

    const first = yield* chief("POST", "/papers", { owner: "ann", text: "a", cost: 9 })
    assert.strictEqual(first.status, 201, first.text)
    assert.strictEqual((yield* chief("POST", "/papers", { owner: "ann", text: "a", cost: 9 })).text, first.text)
    // The same person with fewer rights may not see what the chief saw.
    refused(403, yield* writer("POST", "/papers", { owner: "ann", text: "a", cost: 9 }))
    // The key of somebody else is another key.
    const own = yield* other("POST", "/papers", { owner: "bob", text: "a" })
    assert.strictEqual(own.status, 201, own.text)

    const mine = yield* writer("POST", "/papers", { owner: "ann", text: "b" }, "w")
    assert.strictEqual(mine.status, 201, mine.text)
    const path = String(mine.headers["location"])
    assert.strictEqual((yield* writer("POST", "/papers", { owner: "ann", text: "b" }, "w")).text, mine.text)
    // The paper is given to somebody else.
    assert.strictEqual((yield* chief("PATCH", path, { owner: "bob" }, "give")).status, 200)
    refused(404, yield* writer("POST", "/papers", { owner: "ann", text: "b" }, "w"))
    refused(404, yield* writer("PATCH", path, { text: "c" }, "c"))

    // An operation answers with documents of other models, by rights that its own grants do not tell.
    const both = yield* asking("ann", ["chief", "writer"])
    const paper = first.body.id
    const peeked = yield* both("POST", "/peek/peek", { paper }, "peek")
    assert.deepStrictEqual([peeked.status, peeked.body.cost], [200, 9], peeked.text)
    assert.strictEqual((yield* both("POST", "/peek/peek", { paper }, "peek")).text, peeked.text)
    refused(403, yield* writer("POST", "/peek/peek", { paper }, "peek"))
    assert.notProperty((yield* writer("POST", "/peek/peek", { paper }, "another")).body, "cost")
  }))

it.effect("nobody can guess a body by what is kept of it without its key", () =>
  Effect.gen(function*() {
    const { baseUrl, store, token } = yield* papers.test()
    const url = "/papers"
    for (const key of ["8f0c1d", "8f0c1e"]) {
      const headers = {
        authorization: `Bearer ${Redacted.value(yield* token({ subject: "ann", roles: ["writer"] }))}`,
        "idempotency-key": key
      }
      const sent = yield* sendTo(baseUrl, "POST", url, { owner: "ann", text: "hunter2" }, headers)
      assert.strictEqual(sent.status, 201, sent.text)
    }
    const records = yield* store.find("appkernel_idempotency", {})
    const digests = records.map(({ request }) => request)
    assert.lengthOf(new Set(digests), 2)
    // Whoever knows what was asked by whom, as logs tell, tries passwords.
    const guess = createHash("sha256").update(JSON.stringify([url, "application/json"])).update("\n")
      .update(JSON.stringify({ owner: "ann", text: "hunter2" })).digest("base64url")
    assert.notInclude(digests, guess)
  }))

it("is described where it is taken", () => {
  const document = OpenApi.make(papers, { title: "Papers", version: "1" })
  const operation = (method: string, path: string) => Object(document.paths[path]?.[method])
  const text = JSON.stringify(operation("post", "/papers"))
  assert.include(text, "Idempotency")
  assert.property(operation("patch", "/papers/{id}").responses, "422")
  assert.notInclude(JSON.stringify(operation("get", "/papers")), "Idempotency")
  assert.notProperty(operation("post", "/papers/query").responses, "422")
})

it("is needed by no operation with a body that takes none", () => {
  const { paths } = resolvedDocument(OpenApi.make(engine, { title: "orders", version: "1" }))
  const keyOf = (path: string, method: string) =>
    paths[path][method].parameters.find(({ name }: { readonly name: string }) => name === "Idempotency-Key")
  assert.isFalse(keyOf("/notes", "post").required)
  assert.isFalse(keyOf("/scans", "post").required)
  assert.isFalse(keyOf("/scans/{id}", "patch").required)
  assert.isTrue(keyOf("/scans/{id}", "put").required)
})
