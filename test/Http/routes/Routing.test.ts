/** What every path and method answers, what is negotiated, and that every error is an `ErrorMessage`. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { DocumentStore, KernelEngine, Model, Validator } from "../../../src/index.ts"
import { fieldsIn, type Method, refused, send, serving } from "../../support/rest.ts"
import { routeStores } from "../../support/storeMatrix.ts"

class Category extends Model.Class<Category>()("Category", {
  id: Model.id(),
  name: Schema.String.pipe(Validator.notEmpty),
  count: Schema.Int.pipe(Model.optional),
  hidden: Schema.String.pipe(Model.omitted, Model.optional)
}) {}

class Box extends Model.Class<Box>()("Box", { id: Model.id(), name: Schema.String }) {}

class Lid extends Model.Class<Lid>()("Lid", { colour: Schema.String }) {}

class Crate extends Model.Class<Crate>()("Crate", {
  id: Model.id(),
  name: Schema.String,
  lid: Lid.pipe(Model.optional),
  spare: Schema.Array(Lid).pipe(Model.withDefault(() => []))
}) {}

class Day extends Model.Class<Day>()("Day", { id: Model.id(), name: Schema.String }) {}

class Note extends Model.Class<Note>()("Note", { id: Model.id(), name: Schema.String }) {}

class Paper extends Model.Class<Paper>()("Paper", { id: Model.id(), name: Schema.String }) {}

const engine = KernelEngine.make("routing")
  .register(Category, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"], urlBase: "/api/v1/" })
  .register(Box)
  .register(Crate, { methods: ["GET", "POST", "PUT", "PATCH"], onExcessProperty: "error" })
  .register(Day, { methods: ["POST", "DELETE"] })
  .register(Note, { methods: ["POST"] })
  .register(Paper, { methods: ["PUT"] })

const categories = "/api/v1/categories"

const writers = ["POST", "PUT", "PATCH", "DELETE"] as const

routeStores((name, store) =>
  it.layer(serving(engine, store), { excludeTestServices: true })(`routing / ${name}`, (it) => {
    it.effect("every path exists with and without a trailing slash, and for HEAD", () =>
      Effect.gen(function*() {
        const { insertOne } = yield* DocumentStore.DocumentStore
        yield* insertOne("Category", { _id: "c1", name: "one" })
        const paths = ["", "/c1", "/schema", "/meta", "/aggregate"].map((path) => `${categories}${path}`)
        for (const path of [...paths, "/boxes", "/boxes/schema"]) {
          const query = path.endsWith("aggregate") ? "?pipe=[]" : ""
          const plain = yield* send("GET", `${path}${query}`)
          assert.strictEqual(plain.status, 200, path)
          assert.strictEqual((yield* send("GET", `${path}/${query}`)).text, plain.text)
          for (const slash of ["", "/"]) {
            const head = yield* send("HEAD", `${path}${slash}${query}`)
            assert.deepStrictEqual([head.status, head.text], [200, ""])
            assert.strictEqual(head.headers["content-length"], plain.headers["content-length"])
            assert.strictEqual(head.headers["content-type"], plain.headers["content-type"])
          }
        }
      }))

    it.effect("schema and meta describe the model without omitted fields", () =>
      Effect.gen(function*() {
        const schema = yield* send("GET", `${categories}/schema`)
        assert.deepInclude(schema.body, { title: "Category", type: "object", required: ["name"] })
        assert.strictEqual(schema.body.$schema, "http://json-schema.org/draft-04/schema#")
        assert.strictEqual(schema.body.additionalProperties, true)
        assert.deepStrictEqual(Object.keys(schema.body.properties), ["_type", "id", "name", "count"])
        const closed = yield* send("GET", `${categories}/schema?additional_properties=false&mongo=true`)
        assert.strictEqual(closed.body.additionalProperties, false)
        assert.property(closed.body.properties, "_id")
        refused(400, yield* send("GET", `${categories}/schema?mongo=1`))
        refused(400, yield* send("GET", `${categories}/schema?nope=true`))
        const meta = yield* send("GET", `${categories}/meta`)
        assert.deepStrictEqual(Object.keys(meta.body), ["id", "name", "count"])
        assert.deepStrictEqual(meta.body.count, { label: "Category.count", required: false, type: "int" })
        // They describe what may be sent, where nothing can be read.
        assert.strictEqual((yield* send("GET", "/days/schema")).status, 200)
      }))

    it.effect("an unregistered method is a 405, and OPTIONS lists the registered ones", () =>
      Effect.gen(function*() {
        const allowed: ReadonlyArray<readonly [path: string, allow: string]> = [
          [categories, "GET, POST, HEAD, QUERY, OPTIONS"],
          [`${categories}/c1`, "GET, PUT, PATCH, DELETE, HEAD, QUERY, OPTIONS"],
          [`${categories}/schema`, "GET, HEAD, QUERY, OPTIONS"],
          [`${categories}/meta`, "GET, HEAD, QUERY, OPTIONS"],
          [`${categories}/aggregate`, "GET, HEAD, QUERY, OPTIONS"],
          ["/boxes", "GET, HEAD, QUERY, OPTIONS"],
          ["/boxes/b1", "GET, HEAD, QUERY, OPTIONS"],
          ["/days", "POST, OPTIONS"],
          ["/days/d1", "DELETE, OPTIONS"],
          ["/notes", "POST, OPTIONS"],
          ["/notes/n1", "OPTIONS"],
          ["/notes/aggregate", "OPTIONS"],
          ["/papers", "OPTIONS"],
          ["/papers/p1", "PUT, OPTIONS"]
        ]
        for (const [path, allow] of allowed) {
          for (const slash of ["", "/", "?x=1"]) {
            const options = yield* send("OPTIONS", `${path}${slash}`)
            assert.deepStrictEqual([options.status, options.text, options.headers["allow"]], [204, "", allow])
          }
          for (const method of ["GET", ...writers, "TRACE"] as const) {
            if (allow.includes(method)) continue
            const answer = refused(405, yield* send(method, path))
            assert.strictEqual(answer.headers["allow"], allow, `${method} ${path}`)
            assert.include(answer.body.message, method)
          }
          if (!allow.includes("HEAD")) assert.strictEqual((yield* send("HEAD", path)).status, 405)
        }
      }))

    it.effect("an unknown query parameter is a 400 on every path", () =>
      Effect.gen(function*() {
        const { insertOne } = yield* DocumentStore.DocumentStore
        yield* insertOne("Category", { _id: "c9", name: "nine" })
        for (const path of ["", "/c9", "/schema", "/meta", "/aggregate"]) {
          const query = path === "/aggregate" ? "?pipe=[]&nope=1" : "?nope=1"
          assert.deepStrictEqual(fieldsIn(yield* send("GET", `${categories}${path}${query}`)), ["nope"], path)
        }
        assert.deepStrictEqual(fieldsIn(yield* send("POST", `${categories}?nope=1`, { name: "x" })), ["nope"])
        for (const method of ["PUT", "PATCH", "DELETE"] as const) {
          const body = method === "DELETE" ? undefined : { name: "x" }
          assert.deepStrictEqual(fieldsIn(yield* send(method, `${categories}/c9?nope=1&x=2`, body)), ["nope", "x"])
        }
        assert.strictEqual((yield* send("GET", `${categories}/c9`)).body.name, "nine")
      }))

    it.effect("unknown keys are a 400 that names them if the registration rejects them", () =>
      Effect.gen(function*() {
        const refusedOf = (method: Method, path: string, body: unknown) =>
          Effect.map(send(method, path, body), (answer) => fieldsIn(answer))
        const lid = { colour: "red", _type: "Lid" }
        const body = { name: "n", lid: { ...lid, size: 1 }, spare: [lid, { ...lid, size: 2 }], nope: 1 }
        const named = ["lid.size", "spare.1.size", "nope"]
        assert.sameMembers(yield* refusedOf("POST", "/crates", body), named)
        assert.sameMembers(yield* refusedOf("POST", "/crates", [{ name: "n" }, { name: "n", nope: 1 }]), ["1.nope"])
        const { result } = (yield* send("POST", "/crates", { name: "n", lid })).body
        const path = `/crates/${result}`
        assert.sameMembers(yield* refusedOf("PUT", path, body), named)
        assert.sameMembers(yield* refusedOf("PATCH", path, { nope: null, lid: { size: 1 } }), ["nope", "lid.size"])
        const read = (yield* send("GET", path)).body
        for (const method of ["PUT", "PATCH"] as const) {
          assert.strictEqual((yield* send(method, path, read)).status, 200)
        }
        const form = `--XX\r\nContent-Disposition: form-data; name="name"\r\n\r\nn\r\n--XX\r\n` +
          `Content-Disposition: form-data; name="nope"\r\n\r\nn\r\n--XX--\r\n`
        const sent = yield* send("POST", "/crates", form, { "content-type": "multipart/form-data; boundary=XX" })
        assert.deepStrictEqual(fieldsIn(sent), ["nope"])
        assert.strictEqual((yield* send("POST", "/papers", body)).status, 405)
        assert.strictEqual((yield* send("POST", categories, { name: "x", nope: 1 })).status, 201)
      }))

    it.effect("other paths are a 404", () =>
      Effect.gen(function*() {
        const paths = [
          "/",
          "/api",
          "/api/v1",
          "/categories",
          "/api/v2/categories",
          `${categories}/c1/x`,
          "/Boxes",
          "/box"
        ]
        for (const path of [...paths, "/boxs", "/days/d1/x", "/openapi.json", "/docs", "/../etc/passwd", "//"]) {
          for (const method of ["GET", "POST", "OPTIONS", "DELETE"] as const) {
            refused(404, yield* send(method, path, method === "POST" ? {} : undefined))
          }
        }
        assert.strictEqual(
          refused(404, yield* send("GET", `${categories}/none`)).body.message,
          "Category none does not exist"
        )
      }))

    it.effect("a path that is not valid text is rejected", () =>
      Effect.gen(function*() {
        for (const id of ["%", "%zz", "%e0%a4%a", "%c3%28", "%ff"]) {
          for (const path of [`${categories}/${id}`, `${categories}/${id}/`]) {
            const { status, ...answer } = yield* send("GET", path)
            assert.include([400, 404], status, path)
            refused(status, { status, ...answer })
          }
        }
        refused(404, yield* send("GET", `${categories}/%00`))
        refused(404, yield* send("GET", `${categories}/${"x".repeat(10_000)}`))
      }))

    it.effect("an unsupported Accept is a 406, and any form of JSON is accepted", () =>
      Effect.gen(function*() {
        const requests: ReadonlyArray<readonly [Method, string, unknown?]> = [
          ["GET", categories],
          ["GET", `${categories}/c1`],
          ["GET", `${categories}/schema`],
          ["GET", `${categories}/meta`],
          ["GET", `${categories}/aggregate?pipe=[]`],
          ["POST", categories, { name: "never" }],
          ["PUT", `${categories}/c1`, { name: "never" }],
          ["PATCH", `${categories}/c1`, { name: "never" }],
          ["DELETE", `${categories}/c1`]
        ]
        for (const [method, path, body] of requests) {
          for (
            const accept of ["text/html", "application/xml, text/*", "application/json;q=0", "*/*;q=0", "nonsense"]
          ) {
            refused(406, yield* send(method, path, body, { accept }))
          }
        }
        const accepted = ["*/*", "application/*", "text/html, application/json;q=0.1", "APPLICATION/JSON", ""]
        for (const accept of accepted) {
          const { body, status } = yield* send("GET", `${categories}/c1`, undefined, { accept })
          assert.deepStrictEqual([status, body.name], [200, "one"])
        }
      }))

    it.effect("bodies of another type, or of none, are a 415", () =>
      Effect.gen(function*() {
        for (
          const [method, path] of [["POST", categories], ["PUT", `${categories}/c1`], [
            "PATCH",
            `${categories}/c1`
          ]] as const
        ) {
          refused(415, yield* send(method, path))
          for (
            const type of ["text/plain", "application/jsonp", "application/json/x", "application/json-seq", "json"]
          ) {
            refused(415, yield* send(method, path, "{\"name\":\"x\"}", { "content-type": type }))
          }
          const { status } = yield* send(method, path, "{\"name\":\"x\"}", { "content-type": "Application/JSON ; a=b" })
          assert.include([200, 201], status)
        }
        refused(415, yield* send("PUT", `${categories}/c1`, "[]", { "content-type": "application/json-patch+json" }))
        refused(415, yield* send("POST", categories, "[]", { "content-type": "application/json-patch+json" }))
      }))
  })
)
