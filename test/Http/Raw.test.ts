/** Bodies that are no JSON, as parts of operations and actions. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse, Multipart } from "effect/http"
import { connect } from "node:net"
import {
  Anonymous,
  Authenticated,
  HttpError,
  KernelEngine,
  Model,
  Raw,
  Repository,
  Resource,
  Role,
  Service
} from "../../src/index.ts"

class Note extends Model.Class<Note>()("Note", {
  id: Model.id({ prefix: "N" }),
  owner: Schema.String,
  text: Schema.String
}) {}

const texts = Effect.map(
  Repository.for(Note),
  (notes) => Stream.map(notes.stream(undefined, { sort: "text" }), ({ text }) => `${text}\n`)
)

const Notes = Resource.make(Note, { methods: ["GET", "POST"] })
  .action(
    "file",
    { method: "GET", success: Raw.response({ contentType: "text/plain" }), require: Authenticated },
    (note) => Effect.succeed(HttpServerResponse.text(note.text))
  )
  .grant(Role("writer"), { rows: (me) => ($) => $.owner.equals(me.subject) })
  .require(Role("admin"))

const size = <E>(payload: Stream.Stream<Uint8Array, E>) =>
  Stream.runFold(payload, () => 0, (sum, { length }) => sum + length)

const ends: Array<string> = []

const anyBytes = { payload: Raw.request({ contentType: "a/b" }), success: Raw.response({ contentType: "a/b" }) }

const Files = Service.make("files")
  .operation(
    "echo",
    { method: "POST", ...anyBytes, require: Anonymous },
    ({ payload }) => Effect.succeed(HttpServerResponse.stream(payload, { contentType: "a/b" }))
  )
  .operation(
    "table",
    {
      path: "./notes.txt",
      success: Raw.response({ contentType: "text/plain" }),
      summary: "All notes as a text",
      require: [Role("writer"), Role("admin")]
    },
    () =>
      Effect.map(texts, (lines) => HttpServerResponse.stream(Stream.encodeText(lines), { contentType: "text/plain" }))
  )
  .operation(
    "size",
    { payload: Raw.request({ contentType: "text/plain", maxSize: "2 MB" }), success: Schema.Int, require: Anonymous },
    ({ payload }) => size(payload)
  )
  .operation(
    "kept",
    { payload: Raw.request(), success: Schema.Int, require: Role("writer") },
    ({ payload }) => size(payload)
  )
  .operation(
    "parts",
    {
      payload: Raw.request({ contentType: "multipart/form-data", maxSize: "2 MB" }),
      success: Schema.Int,
      require: Anonymous
    },
    ({ payload }) =>
      Effect.gen(function*() {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const files = Stream.filter(
          Stream.pipeThroughChannel(payload, Multipart.makeChannel(headers)),
          Multipart.isFile
        )
        const sizes = yield* Stream.runCollect(Stream.mapEffect(files, ({ content }) => size(content)))
        return sizes.reduce((sum, one) => sum + one, 0)
      })
  )
  .operation(
    "conflict",
    { success: Raw.response(), require: Anonymous },
    () => new HttpError.Conflict({ message: "It is taken" })
  )
  .operation(
    "broken",
    { success: Raw.response(), require: Anonymous },
    () => Effect.die(new Error("a secret"))
  )
  .operation(
    "named",
    { query: { name: Schema.String }, success: Raw.response(), require: Anonymous },
    ({ query }) =>
      Effect.succeed(HttpServerResponse.text("x", { headers: { "content-disposition": `filename="${query.name}"` } }))
  )
  .operation("endless", { success: Raw.response(), require: Anonymous }, () =>
    Effect.sync(() => {
      const bytes = Stream.forever(Stream.succeed(new Uint8Array(65_536)))
      const watched = Stream.ensuring(bytes, Effect.sync(() => void ends.push("ended")))
      return HttpServerResponse.stream(watched)
    }))
  .operation("missing", { success: Raw.response(), require: Anonymous }, () =>
    Effect.gen(function*() {
      const notes = yield* Repository.unrestricted(Note)
      return HttpServerResponse.text((yield* notes.findById("N0")).text)
    }))

const engine = KernelEngine.make("files")
  .register(Notes)
  .register(Files)
  .enableSecurity()
  .enableOpenApi({ title: "Files", version: "1" })

const fetched = (url: string, init?: RequestInit) =>
  Effect.promise(async () => {
    const response = await fetch(url, init)
    return { status: response.status, headers: response.headers, text: await response.text() }
  })

const post = (url: string, body: BodyInit, type: string) =>
  fetched(url, { method: "POST", body, headers: { "content-type": type } })

/** As many bytes, in chunks, without a length. */
const chunks = (count: number): RequestInit & { duplex: "half" } => ({
  method: "POST",
  headers: { "content-type": "text/plain" },
  duplex: "half",
  body: new ReadableStream<Uint8Array>({
    pull(controller) {
      if (count-- > 0) controller.enqueue(new Uint8Array(65_536))
      else controller.close()
    }
  })
})

const form = (text: string) => {
  const data = new FormData()
  data.set("name", "x")
  data.set("scan", new Blob([text]), "a.bin")
  return data
}

describe("Raw bodies", () => {
  it.effect("show callers the rows that are theirs, also in what is streamed", () =>
    Effect.gen(function*() {
      const { anonymous, as, repositories: { notes } } = yield* engine.test()
      const many = Array.from({ length: 500 }, (_, i) => new Note({ owner: `U${i % 2}`, text: `${1000 + i}` }))
      yield* notes.bulkInsert(many)
      const textOf = (bytes: Stream.Stream<Uint8Array, unknown>) => Stream.mkString(Stream.decodeText(bytes))
      const user = yield* as({ subject: "U1", roles: ["writer"] })
      const own = many.filter(({ owner }) => owner === "U1")
      assert.strictEqual(
        yield* textOf(yield* user.files.table()),
        own.map(({ text }) => `${text}\n`).join("")
      )
      const admin = yield* as({ subject: "root", roles: ["admin"] })
      assert.strictEqual((yield* textOf(yield* admin.files.table())).length, 2_500)
      const [first, second] = many
      assert.strictEqual(yield* textOf(yield* user.notes.file({ params: { id: second!.id } })), second!.text)
      assert.strictEqual((yield* Effect.flip(user.notes.file({ params: { id: first!.id } })))._tag, "NotFound")
      assert.strictEqual((yield* Effect.flip(anonymous.files.table()))._tag, "Unauthorized")
      const other = yield* as({ subject: "U1" })
      assert.strictEqual((yield* Effect.flip(other.files.table()))._tag, "Forbidden")
      const kept = yield* user.files.kept({ payload: Stream.make(new Uint8Array(7), new Uint8Array(3)) })
      assert.strictEqual(kept.result, 10)
    }))

  it.effect("are taken within the limit and of the types that are declared", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* engine.test()
      const url = `${baseUrl}/files`
      const ok = yield* post(`${url}/size`, "ü".repeat(1_000_000), "text/plain; charset=utf-8")
      assert.deepStrictEqual([ok.status, ok.text], [200, "{\"_type\":\"OperationResult\",\"result\":2000000}"])
      const declared = yield* post(`${url}/size`, "x".repeat(2_000_001), "text/plain")
      assert.strictEqual(declared.status, 413)
      assert.include(declared.text, "2000000 bytes")
      assert.strictEqual((yield* fetched(`${url}/size`, chunks(30))).status, 200)
      assert.strictEqual((yield* fetched(`${url}/size`, chunks(31))).status, 413)
      const { text } = yield* post(`${url}/size`, "x", "text/html")
      assert.include(text, "415")
      assert.strictEqual((yield* post(`${url}/parts`, "x", "multipart/form-data; boundary=x")).status, 400)
      const parts = (text: string) => fetched(`${url}/parts`, { method: "POST", body: form(text) })
      assert.include((yield* parts("x".repeat(1_900_000))).text, "1900000")
      assert.strictEqual((yield* parts("x".repeat(2_000_000))).status, 413)
    }))

  it.effect("are answered with errors, methods and types as endpoints are", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* engine.test()
      const url = `${baseUrl}/files`
      const conflict = yield* fetched(`${url}/conflict`)
      assert.deepStrictEqual(JSON.parse(conflict.text), { _type: "ErrorMessage", code: 409, message: "It is taken" })
      assert.strictEqual((yield* fetched(`${url}/missing`)).status, 404)
      const png = yield* fetched(`${url}/conflict`, { headers: { accept: "image/png" } })
      assert.strictEqual(png.status, 406)
      assert.include(png.text, "The answer is application/octet-stream, which")
      assert.strictEqual((yield* fetched(`${url}/notes.txt`, { headers: { accept: "text/*" } })).status, 401)
      const head = yield* fetched(`${url}/size`, { method: "HEAD" })
      assert.deepStrictEqual([head.status, head.headers.get("allow")], [405, "POST, OPTIONS"])
      const broken = yield* fetched(`${url}/broken`)
      assert.strictEqual(broken.status, 500)
      assert.notInclude(broken.text, "secret")
      const put = yield* fetched(`${url}/notes.txt`, { method: "PUT" })
      assert.deepStrictEqual([put.status, put.headers.get("allow")], [405, "GET, HEAD, QUERY, OPTIONS"])
      const { paths } = JSON.parse((yield* fetched(`${baseUrl}/openapi.json`)).text)
      const { get } = paths["/files/notes.txt"]
      assert.strictEqual(get.summary, "All notes as a text")
      assert.hasAllKeys(get.responses["200"].content, ["text/plain"])
      assert.containsAllKeys(get.responses, ["401", "403", "500"])
      const body = paths["/files/size"].post.requestBody
      assert.hasAllKeys(body.content, ["text/plain"])
      assert.deepStrictEqual(body.content["text/plain"].schema, { type: "string" })
      assert.containsAllKeys(paths["/files/size"].post.responses, ["413", "415"])
    }))

  it.effect("with a header that can't be sent are an error with its identifier, also of routes of one's own", () =>
    Effect.gen(function*() {
      const own = HttpRouter.add("GET", "/own", HttpServerResponse.text("x", { headers: { "x-name": "\u0142" } }))
      const { baseUrl } = yield* engine.use(own).test()
      const named = (name: string) => fetched(`${baseUrl}/files/named?name=${encodeURIComponent(name)}`)
      for (const name of ["a.txt", "\u00fc.txt", "a\tb"]) assert.strictEqual((yield* named(name)).status, 200)
      const refused = [yield* named("\u0142.txt"), yield* named("a\r\nx-more: 1"), yield* fetched(`${baseUrl}/own`)]
      for (const { headers, status, text } of refused) {
        assert.strictEqual(status, 500)
        const id = headers.get("x-request-id")
        assert.isString(id)
        assert.deepInclude(JSON.parse(text), { _type: "ErrorMessage", code: 500 })
        assert.include(text, String(id))
      }
    }))

  it.live("that are streamed end when their client goes", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* engine.test()
      const controller = new AbortController()
      const response = yield* Effect.promise(() => fetch(`${baseUrl}/files/endless`, { signal: controller.signal }))
      yield* Effect.promise(async () => response.body?.getReader().read())
      controller.abort()
      yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => ends.length === 1 })
    }))

  it.effect("are asked for once if their client waits, also where they are read while the answer is sent", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* engine.test()
      const { hostname, port } = new URL(baseUrl)
      for (const [path, type, answer] of [["echo", "a/b", "hello"], ["size", "text/plain", "\"result\":5"]]) {
        const text = yield* Effect.callback<string>((resume) => {
          let heard = ""
          const socket = connect(Number(port), hostname, () =>
            socket.write(
              `POST /files/${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nexpect: 100-continue\r\n`
                + `content-type: ${type}\r\ncontent-length: 5\r\n\r\n`
            ))
          socket.setEncoding("utf8").once("data", () => socket.write("hello")).on("data", (piece: string) => {
            heard += piece
          })
          socket.on("close", () => resume(Effect.succeed(heard)))
        })
        assert.deepStrictEqual(text.match(/HTTP\/1\.1 \d+/gu), ["HTTP/1.1 100", "HTTP/1.1 200"])
        assert.include(text, String(answer))
      }
    }))

  it.effect("are not awaited before a caller is refused", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* engine.test()
      const { hostname, port } = new URL(baseUrl)
      const answer = yield* Effect.callback<string>((resume) => {
        const socket = connect(Number(port), hostname, () =>
          socket.write("POST /files/kept HTTP/1.1\r\nhost: x\r\ncontent-type: a/b\r\ncontent-length: 5\r\n\r\n"))
        socket.setEncoding("utf8").once("data", (text: string) => {
          socket.destroy()
          resume(Effect.succeed(text))
        })
      })
      assert.match(answer, /^HTTP\/1\.1 401 /u)
    }))
})
