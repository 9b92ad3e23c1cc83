/** The files of documents over real sockets: addresses, conditions, ranges, forms, rights and signed addresses. */
import { assert, describe, it } from "@effect/vitest"
import {
  Accounts,
  Anonymous,
  Authenticated,
  DocumentStore,
  EmbeddedStore,
  FileStore,
  History,
  Index,
  Jwt,
  KernelEngine,
  Model,
  OpenApi,
  Resource,
  Role,
  ServiceError,
  Tokens
} from "appkernel"
import { DateTime, Effect, Layer, Record, Redacted, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import * as net from "node:net"
import { nameInHeader } from "../../../src/internal/safeFileName.ts"
import { Account } from "../../support/models.ts"

const file = { types: ["image/png", "text/plain"], maxSize: "100 kB" } as const

class Photo extends Model.Class<Photo>()("Photo", {
  id: Model.id({ prefix: "P" }),
  owner: Schema.String,
  picture: Model.file(file).pipe(Model.optional),
  pages: Model.files(),
  ...Model.versioned
}) {}

class Letter extends Model.Class<Letter>()("Letter", {
  id: Model.id(),
  owner: Schema.String,
  day: Schema.Int,
  page: Model.file().pipe(Model.optional)
}, {
  versions: [
    Model.was.renamed("user", "owner"),
    Model.was.replaced(["day"], { date: Schema.String }, { up: () => ({ day: 1 }), down: () => ({ date: "a" }) })
  ]
}) {}

const photos = Resource.make(Photo, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })

const open = KernelEngine.make("photos").register(photos, { urlBase: "/api/v1" })

const png = (length = 1000): Buffer<ArrayBuffer> => {
  const bytes = Buffer.from(Uint8Array.from({ length }, (_, i) => i % 251))
  bytes.set(Buffer.from("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489", "hex"))
  return bytes
}

interface Sent {
  readonly body?: NonNullable<RequestInit["body"]>
  readonly headers?: Record<string, string>
}

const caller = (baseUrl: string, own: Record<string, string> = {}) => (method: string, path: string, sent: Sent = {}) =>
  Effect.promise(async () => {
    const url = path.startsWith("/api") ? `${baseUrl}${path}` : `${baseUrl}/api/v1/photos${path}`
    const response = await fetch(url, { method, ...sent, headers: { ...own, ...sent.headers } })
    const bytes = Buffer.from(await response.arrayBuffer())
    const headers: Record<string, string | undefined> = Object.fromEntries(response.headers)
    const isJson = bytes.length > 0 && headers["content-type"]?.includes("json") === true
    return { status: response.status, headers, bytes, body: isJson ? JSON.parse(bytes.toString()) : undefined }
  })

const store = Layer.merge(EmbeddedStore.layerMemory, FileStore.layerMemory)

const json = { "content-type": "application/json" }

const started = Effect.gen(function*() {
  const service = yield* open.test({ store })
  const call = caller(service.baseUrl)
  const { body } = yield* call("POST", "", { body: JSON.stringify({ owner: "ann" }), headers: json })
  return { ...service, call, id: String(body.result) }
})

const put = { body: png(), headers: { "content-type": "image/png" } }

describe("files of documents", () => {
  it.effect("are written, read and removed at the document's address, and their identifiers are nowhere", () =>
    Effect.gen(function*() {
      const { call, id } = yield* started
      assert.strictEqual((yield* call("GET", `/${id}/picture`)).status, 404)
      const written = yield* call("PUT", `/${id}/picture`, {
        ...put,
        headers: { ...put.headers, "content-disposition": "attachment; filename*=UTF-8''M%C3%B6nch.png" }
      })
      const sha256 = createHash("sha256").update(put.body).digest("hex")
      assert.deepStrictEqual([written.status, written.headers["etag"]], [200, `"${sha256}"`])

      const { body: { _links, picture } } = yield* call("GET", `/${id}`)
      assert.deepInclude(picture, { name: "Mönch.png", size: 1000, type: "image/png", sha256 })
      assert.notProperty(picture, "id")
      assert.deepStrictEqual(_links.picture, {
        href: `/api/v1/photos/${id}/picture`,
        methods: ["GET", "PUT", "DELETE"]
      })
      assert.deepStrictEqual(_links.pages, { href: `/api/v1/photos/${id}/pages`, methods: ["POST"] })
      for (const query of ["picture.id=a", "fields=picture.id", "sort=picture.id", "sort_by=picture.id"]) {
        assert.strictEqual((yield* call("GET", `?${query}`)).status, 400, query)
      }

      const read = yield* call("GET", `/${id}/picture`)
      assert.deepStrictEqual(read.bytes, put.body)
      assert.deepInclude(read.headers, {
        "content-type": "image/png",
        "content-disposition": "inline; filename=\"M?nch.png\"; filename*=UTF-8''M%C3%B6nch.png",
        "x-content-type-options": "nosniff",
        "content-security-policy": "sandbox; default-src 'none'",
        "accept-ranges": "bytes",
        "content-length": "1000"
      })
      const head = yield* call("HEAD", `/${id}/picture`)
      assert.deepStrictEqual(
        [head.status, head.headers["etag"], head.headers["content-length"], head.bytes.length],
        [200, read.headers["etag"], "1000", 0]
      )
      assert.strictEqual((yield* call("DELETE", `/${id}/picture`)).status, 200)
      for (const method of ["GET", "DELETE"]) assert.strictEqual((yield* call(method, `/${id}/picture`)).status, 404)
      assert.strictEqual((yield* call("POST", `/${id}/picture`)).status, 405)
    }))

  it.effect("hold preconditions on the file at the time of the write", () =>
    Effect.gen(function*() {
      const { call, id } = yield* started
      const at = `/${id}/picture`
      const withHeader = (name: string, value: string) => ({ ...put, headers: { ...put.headers, [name]: value } })
      assert.strictEqual((yield* call("PUT", at, withHeader("if-match", "*"))).status, 412)
      const { headers: { etag = "" } } = yield* call("PUT", at, withHeader("if-none-match", "*"))
      assert.strictEqual((yield* call("PUT", at, withHeader("if-none-match", "*"))).status, 412)
      assert.strictEqual((yield* call("PUT", at, withHeader("if-match", "\"other\""))).status, 412)
      assert.strictEqual((yield* call("DELETE", at, { headers: { "if-match": "\"other\"" } })).status, 412)
      assert.strictEqual((yield* call("GET", at, { headers: { "if-none-match": etag } })).status, 304)
      assert.strictEqual((yield* call("GET", at, { headers: { "if-match": "\"other\"" } })).status, 412)
      // In the same second another one may come.
      assert.notProperty((yield* call("GET", at)).headers, "last-modified")
      yield* TestClock.adjust("2 seconds")
      const { headers } = yield* call("GET", at)
      assert.strictEqual(headers["cache-control"], "no-cache")
      const modified = headers["last-modified"] ?? "none"
      assert.notProperty(headers, "content-encoding")
      const since = (name: string, value: string) =>
        Effect.map(call("GET", at, { headers: { [name]: value } }), ({ status }) => status)
      assert.strictEqual(yield* since("if-modified-since", modified), 304)
      assert.strictEqual(yield* since("if-modified-since", "Fri, 31 Dec 2999 23:59:59 GMT"), 200)
      assert.strictEqual(yield* since("if-unmodified-since", modified), 200)
      assert.strictEqual(yield* since("if-unmodified-since", "Wed, 31 Dec 1969 23:59:59 GMT"), 412)
      assert.strictEqual(yield* since("if-unmodified-since", "1969"), 200)
      for (const method of ["PUT", "DELETE"]) {
        const old = { ...put.headers, "if-unmodified-since": "Wed, 31 Dec 1969 23:59:59 GMT" }
        const write = (headers: Record<string, string>) =>
          call(method, at, method === "PUT" ? { body: png(500), headers } : { headers })
        assert.strictEqual((yield* write(old)).status, 412)
        assert.strictEqual((yield* write({ ...old, "if-match": "\"other\"" })).status, 412)
        assert.strictEqual((yield* write({ ...old, "content-range": "bytes 4-7/14" })).status, 412)
        assert.strictEqual((yield* call("GET", at)).headers["etag"], etag)
      }
      const current = { "if-unmodified-since": modified, "if-match": etag }
      assert.strictEqual((yield* call("PUT", at, { ...put, headers: { ...put.headers, ...current } })).status, 200)
      // Of many at once that replace the file that they saw, one does.
      const all = yield* Effect.forEach(
        Array.from({ length: 8 }, (_, i) => png(600 + i)),
        (body) => call("PUT", at, { body, headers: { ...put.headers, "if-match": etag } }),
        { concurrency: 8 }
      )
      assert.deepStrictEqual(all.map(({ status }) => status).toSorted((a, b) => a - b), [
        200,
        ...Array.from({ length: 7 }, () => 412)
      ])
    }))

  it.effect("are written as a whole, and no part of one is taken for all of it", () =>
    Effect.gen(function*() {
      const { call, id } = yield* started
      const { headers: { etag } } = yield* call("PUT", `/${id}/picture`, put)
      const part = { body: png(50), headers: { ...put.headers, "content-range": "bytes 50-99/1000" } }
      for (const [method, path] of [["PUT", "picture"], ["POST", "pages"]] as const) {
        const refused = yield* call(method, `/${id}/${path}`, part)
        assert.strictEqual(refused.status, 400)
        assert.include(refused.bytes.toString(), "Content-Range")
      }
      assert.strictEqual((yield* call("GET", `/${id}/picture`)).headers["etag"], etag)
      assert.deepStrictEqual((yield* call("GET", `/${id}`)).body.pages, [])
    }))

  it.effect("are sent in ranges", () =>
    Effect.gen(function*() {
      const { call, id } = yield* started
      const { headers: { etag = "" } } = yield* call("PUT", `/${id}/picture`, put)
      const ask = (range: string, more = {}) => call("GET", `/${id}/picture`, { headers: { range, ...more } })
      const one = yield* ask("bytes=10-19")
      assert.deepStrictEqual([one.status, one.headers["content-range"], one.bytes], [
        206,
        "bytes 10-19/1000",
        put.body.subarray(10, 20)
      ])
      assert.deepStrictEqual((yield* ask("bytes=-3")).bytes, put.body.subarray(-3))
      assert.deepStrictEqual((yield* ask("bytes=990-")).bytes, put.body.subarray(990))
      const several = yield* ask("bytes=500-509,0-1")
      const boundary = several.headers["content-type"]?.split("boundary=")[1] ?? ""
      assert.strictEqual(several.status, 206)
      const part = (start: number, end: number) =>
        `\r\n--${boundary}\r\ncontent-type: image/png\r\ncontent-range: bytes ${start}-${end}/1000\r\n\r\n${
          put.body.subarray(start, end + 1).toString("latin1")
        }`
      assert.strictEqual(several.bytes.toString("latin1"), `${part(500, 509)}${part(0, 1)}\r\n--${boundary}--\r\n`)
      const unsatisfiable = yield* ask("bytes=1000-")
      assert.deepStrictEqual([unsatisfiable.status, unsatisfiable.headers["content-range"]], [416, "bytes */1000"])
      const whole = [
        "bytes=5-1",
        "bytes=a-b",
        "items=0-1",
        "bytes",
        "bytes=",
        "bytes=0-1;x",
        `bytes=${Array.from({ length: 200 }, (_, i) => `${i * 2}-${i * 2}`).join(",")}`
      ]
      for (const range of whole) assert.strictEqual((yield* ask(range)).status, 200, range)
      assert.strictEqual((yield* ask("bytes=0-1", { "if-range": etag })).status, 206)
      assert.strictEqual((yield* ask("bytes=0-1", { "if-range": `W/${etag}` })).status, 200)
      assert.strictEqual((yield* ask("bytes=0-1", { "if-range": "\"other\"" })).status, 200)
      assert.strictEqual((yield* ask("bytes=0-1", { "if-range": "Sun, 01 Jan 2006 00:00:00 GMT" })).status, 200)
    }))

  it.effect("are refused by what they say, and by what they are", () =>
    Effect.gen(function*() {
      const { call, id } = yield* started
      const write = (body: NonNullable<RequestInit["body"]>, type: string, more = {}) =>
        call("PUT", `/${id}/picture`, { body, headers: { "content-type": type, ...more } })
      assert.strictEqual((yield* write(png(), "image/jpeg")).status, 415)
      assert.strictEqual(
        (yield* write("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "image/png")).status,
        422
      )
      assert.strictEqual((yield* write("<!doctype html><script>alert(1)</script>", "text/plain")).status, 422)
      assert.strictEqual((yield* write("hello", "image/png")).status, 422)
      // Of what is not said, the bytes tell that the field does not take it.
      assert.strictEqual((yield* write("%PDF-1.7", "application/octet-stream")).status, 415)
      assert.strictEqual((yield* write(png(), "image/png", { "content-encoding": "gzip" })).status, 415)
      assert.strictEqual((yield* write(png(100_001), "image/png")).status, 413)
      assert.strictEqual((yield* write("hello", "text/plain")).status, 200)
      const form = new FormData()
      form.set("a", "no file")
      assert.strictEqual((yield* call("PUT", `/${id}/picture`, { body: form })).status, 400)
      const { body } = yield* call("GET", `/${id}`)
      assert.deepInclude(body.picture, { type: "text/plain", size: 5 })
    }))

  it.effect("are lists to which files are appended, each at an address of its own", () =>
    Effect.gen(function*() {
      const { call, id } = yield* started
      const append = (text: string) =>
        call("POST", `/${id}/pages`, { body: text, headers: { "content-type": "text/plain" } })
      const made = yield* Effect.forEach(["a", "b", "c", "d"], append, { concurrency: 4 })
      assert.deepStrictEqual(made.map(({ status }) => status), [201, 201, 201, 201])
      const [first = "", second = ""] = made.map(({ headers }) => headers["location"] ?? "")
      const { body } = yield* call("GET", first)
      assert.isUndefined(body)
      assert.strictEqual((yield* call("GET", first)).bytes.toString(), "a")
      assert.strictEqual((yield* call("PUT", first, { body: "e" })).status, 200)
      assert.strictEqual((yield* call("GET", first)).bytes.toString(), "e")
      assert.strictEqual((yield* call("DELETE", second)).status, 200)
      assert.strictEqual((yield* call("GET", second)).status, 404)
      const { body: { pages } } = yield* call("GET", `/${id}`)
      assert.deepStrictEqual(pages.map(({ size }: { readonly size: number }) => size), [1, 1, 1])
    }))

  it.effect("come with a form of the document, and stay in a document that is sent back", () =>
    Effect.gen(function*() {
      const { call, store: { find } } = yield* started
      assert.isDefined(find)
      const form = new FormData()
      form.set("owner", "bob")
      form.set("picture", new Blob([png()], { type: "image/png" }), "../../m.png")
      form.append("pages", new Blob(["a"], { type: "text/plain" }), "1.txt")
      form.append("pages", new Blob(["b"], { type: "text/plain" }), "2.txt")
      const { body: { result: id }, status } = yield* call("POST", "", { body: form })
      assert.strictEqual(status, 201)
      const { body: document } = yield* call("GET", `/${id}`)
      assert.deepInclude(document.picture, { name: "m.png", size: 1000 })
      assert.deepStrictEqual(document.pages.map(({ name }: { readonly name: string }) => name), ["1.txt", "2.txt"])

      const back = { ...document, owner: "eve", picture: { ...document.picture, id: "x", sha256: "0" }, pages: [] }
      assert.strictEqual((yield* call("PUT", `/${id}`, { body: JSON.stringify(back), headers: json })).status, 200)
      const patch = JSON.stringify({ picture: { id: "x" }, pages: [] })
      assert.strictEqual((yield* call("PATCH", `/${id}`, { body: patch, headers: json })).status, 200)
      const kept = (yield* call("GET", `/${id}`)).body
      assert.deepStrictEqual([kept.owner, kept.picture, kept.pages], ["eve", document.picture, document.pages])
      assert.deepStrictEqual((yield* call("GET", `/${id}/picture`)).bytes, png())

      const changes = new FormData()
      changes.set("owner", "kim")
      changes.append("pages", new Blob(["c"], { type: "text/plain" }), "3.txt")
      assert.strictEqual((yield* call("PATCH", `/${id}`, { body: changes })).status, 200)
      const changed = (yield* call("GET", `/${id}`)).body
      assert.deepStrictEqual([changed.owner, changed.picture, changed.pages.length], ["kim", document.picture, 1])

      const wrong = new FormData()
      wrong.set("owner", "bob")
      wrong.set("picture", new Blob(["<html>"], { type: "image/png" }), "m.png")
      assert.strictEqual((yield* call("POST", "", { body: wrong })).status, 422)
      const twice = new FormData()
      twice.set("owner", "bob")
      twice.append("picture", new Blob([png()]), "1.png")
      twice.append("picture", new Blob([png()]), "2.png")
      assert.strictEqual((yield* call("POST", "", { body: twice })).status, 400)
      const nameless = yield* call("POST", "", {
        body: `--b\r\ncontent-disposition: form-data; name="picture"; filename=""\r\n` +
          "content-type: image/png\r\n\r\nbytes\r\n--b--\r\n",
        headers: { "content-type": "multipart/form-data; boundary=b" }
      })
      assert.strictEqual(nameless.status, 400)
      assert.match(nameless.bytes.toString(), /Picture must be a file with a name/u)
      const lacking = new FormData()
      lacking.append("picture", new Blob([png()]), "1.png")
      assert.strictEqual((yield* call("POST", "", { body: lacking })).status, 400)
    }))

  it.effect("leave no bytes where a request fails before it writes", () =>
    Effect.gen(function*() {
      const files = yield* FileStore.makeMemory
      const { baseUrl } = yield* open.test({
        store: Layer.merge(EmbeddedStore.layerMemory, Layer.succeed(FileStore.FileStore, files))
      })
      const call = caller(baseUrl)
      const form = new FormData()
      form.append("picture", new Blob([png()]), "1.png")
      form.append("pages", new Blob(["a"]), "1.txt")
      assert.strictEqual((yield* call("POST", "", { body: form })).status, 400)
      assert.strictEqual((yield* call("PUT", "/P1/picture", put)).status, 404)
      assert.deepStrictEqual(yield* Stream.runCollect(files.entries), [])
    }))

  it.effect("hold the quotas of their registration and of their owners, before the whole of a body came", () =>
    Effect.gen(function*() {
      const engine = KernelEngine.make("photos").register(photos, {
        urlBase: "/api/v1",
        files: { quota: "3 kB", quotaBy: { owner: "2 kB" } }
      })
      const { baseUrl } = yield* engine.test({ store })
      const call = caller(baseUrl)
      const made = (owner: string) =>
        Effect.map(
          call("POST", "", { body: JSON.stringify({ owner }), headers: json }),
          ({ body }) => String(body.result)
        )
      const [ann, bob] = [yield* made("ann"), yield* made("bob")]
      const write = (id: string, length: number) => call("PUT", `/${id}/picture`, { ...put, body: png(length) })
      /** With a body that is announced, the answer comes before it. */
      const announced = (method: string, at: string, length: number) =>
        Effect.promise(() =>
          new Promise<string>((resolve, reject) => {
            const socket = net.connect(Number(new URL(baseUrl).port), "127.0.0.1", () => {
              socket.write(
                `${method} /api/v1/photos/${at} HTTP/1.1\r\nhost: a\r\ncontent-type: image/png\r\ncontent-length: ${length}\r\n\r\n`
              )
            })
            socket.once("data", (head) => {
              socket.destroy()
              resolve(head.toString().split("\r\n", 1)[0] ?? "")
            }).once("error", reject)
          })
        )
      assert.strictEqual((yield* write(ann, 2000)).status, 200)
      const refused = yield* write(ann, 2001)
      assert.strictEqual(refused.status, 413)
      assert.strictEqual(
        refused.body.message,
        "The files of Photo with this Owner may have 2000 bytes together, and would have more"
      )
      // Of all owners together, there are 1000 left.
      const { body } = yield* write(bob, 1001)
      assert.strictEqual(body.message, "The files of Photo may have 3000 bytes together, and would have more")
      const form = (length: number, field: string) => {
        const form = new FormData()
        form.set("owner", "bob")
        form.append(field, new Blob([png(length)]), "m.png")
        form.append(field, new Blob(["a"]), "n.txt")
        return form
      }
      assert.strictEqual((yield* call("POST", "", { body: form(1000, "pages") })).status, 413)
      assert.strictEqual((yield* call("PATCH", `/${bob}`, { body: form(1000, "pages") })).status, 413)
      assert.strictEqual((yield* call("PATCH", `/${bob}`, { body: form(999, "pages") })).status, 200)
      // One who replaces a list needs the room of what is more.
      assert.strictEqual((yield* call("PATCH", `/${bob}`, { body: form(900, "pages") })).status, 200)
      assert.strictEqual((yield* write(ann, 2000)).status, 200)
      const added = yield* call("POST", `/${bob}/pages`, {
        body: "a".repeat(100),
        headers: { "content-type": "text/plain" }
      })
      assert.strictEqual(added.status, 413)
      // What a list has already makes no room for more.
      assert.strictEqual(yield* announced("POST", `${bob}/pages`, 100), "HTTP/1.1 413 Payload Too Large")
      // What ann had is free.
      assert.strictEqual((yield* call("DELETE", `/${ann}`)).status, 200)
      assert.strictEqual((yield* write(bob, 1000)).status, 200)
      assert.strictEqual(yield* announced("PUT", `${bob}/picture`, 90_000), "HTTP/1.1 413 Payload Too Large")
    }))

  it.effect("hold the quotas of all registrations of their model, of two the smaller one", () =>
    Effect.gen(function*() {
      const engine = KernelEngine.make("photos")
        .register(photos, { name: "all", urlBase: "/api/all", files: { resumable: true } })
        .register(photos, {
          name: "large",
          urlBase: "/api/large",
          files: { quota: "3 kB", quotaBy: { owner: "1 MB" } }
        })
        .register(photos, {
          name: "small",
          urlBase: "/api/small",
          files: { quota: "1 MB", quotaBy: { owner: "2 kB" } }
        })
      const { baseUrl } = yield* engine.test({ store })
      for (const base of ["all", "large", "small"]) {
        const call = (method: string, path: string, sent?: Sent) =>
          caller(baseUrl)(method, `/api/${base}/photos${path}`, sent)
        const made = Effect.map(
          call("POST", "", { body: JSON.stringify({ owner: "ann" }), headers: json }),
          ({ body }) => String(body.result)
        )
        const [first, second] = [yield* made, yield* made]
        assert.strictEqual((yield* call("PUT", `/${first}/picture`, { ...put, body: png(1_500) })).status, 200)
        assert.strictEqual((yield* call("PUT", `/${second}/picture`, { ...put, body: png(1_000) })).status, 413)
        assert.strictEqual((yield* call("DELETE", `/${first}`)).status, 200)
      }
    }))

  it.effect("hold the quotas that a registration of an earlier form names", () =>
    Effect.gen(function*() {
      const lettersBy = (field: string) =>
        KernelEngine.make("letters")
          .register(Letter, { form: 1, methods: ["GET", "POST", "PATCH"], files: { quotaBy: { [field]: "2 kB" } } })
      const { baseUrl } = yield* lettersBy("user").test({ store })
      const made = yield* Effect.promise(() =>
        fetch(`${baseUrl}/letters`, { method: "POST", headers: json, body: JSON.stringify({ user: "ann", date: "a" }) })
          .then((response) => response.json())
      )
      const put = (length: number) =>
        Effect.promise(() =>
          fetch(`${baseUrl}/letters/${made.result}/page`, {
            method: "PUT",
            headers: { "content-type": "image/png" },
            body: png(length)
          })
            .then(({ status }) => status)
        )
      assert.deepStrictEqual([yield* put(1_500), yield* put(2_500)], [200, 413])
      const error = yield* Effect.flip(lettersBy("date").test({ store }))
      assert.include(String(error), "files.quotaBy names date, which the newest form of Letter does not have")
    }))

  it.effect("have no quota where a registration names a field that is not there", () =>
    Effect.gen(function*() {
      const engine = KernelEngine.make("photos").register(photos, { files: { quotaBy: { team: "2 kB" } } })
      const error = yield* Effect.flip(engine.test({ store }))
      assert.include(String(error), "files.quotaBy names team, which is no field of Photo")
    }))

  it.effect("are described in the OpenAPI document", () =>
    Effect.sync(() => {
      const { paths } = OpenApi.make(open, { title: "Photos", version: "1" })
      const at = paths["/api/v1/photos/{id}/picture"] ?? {}
      assert.deepStrictEqual(Object.keys(at), ["get", "put", "delete"])
      assert.deepStrictEqual(Object.keys(Object(at["get"]?.["responses"])), [
        "200",
        "206",
        "304",
        "400",
        "404",
        "406",
        "412",
        "416",
        "500",
        "501",
        "503"
      ])
      assert.deepStrictEqual(Object(at["get"]?.["responses"])["200"].content["image/png"].schema, {
        type: "string",
        contentMediaType: "image/png"
      })
      assert.containsAllKeys(Object(at["put"]?.["responses"]), ["200", "412", "413", "415", "422"])
      assert.containsAllKeys(paths, ["/api/v1/photos/{id}/pages", "/api/v1/photos/{id}/pages/{key}"])
      const formOf = (operation: unknown) => Object(operation).requestBody.content["multipart/form-data"]
      const binary = { type: "string", format: "binary" }
      const [post, patch] = [paths["/api/v1/photos"]?.["post"], paths["/api/v1/photos/{id}"]?.["patch"]]
      for (const form of [formOf(post), formOf(patch)]) {
        const { owner, pages, picture } = form.schema.properties
        assert.deepStrictEqual([owner, picture, pages], [{ type: "string" }, binary, { type: "array", items: binary }])
        assert.deepStrictEqual(form.encoding, { picture: { contentType: "image/png, text/plain" } })
      }
      assert.deepStrictEqual([formOf(post).schema.required, formOf(patch).schema.required], [["owner"], undefined])
      assert.containsAllKeys(Object(patch?.["responses"]), ["413", "415", "422"])
      assert.notProperty(paths, "/api/v1/photos/{id}/picture/uploads")
      const resumable = KernelEngine.make("photos").register(photos, { files: { resumable: true } })
      const { paths: more } = OpenApi.make(resumable, { title: "Photos", version: "1" })
      const uploads = (at: string) => [
        Object.keys(more[`/photos/{id}/${at}/uploads`] ?? {}),
        Object.keys(more[`/photos/{id}/${at}/uploads/{upload}`] ?? {})
      ]
      for (const at of ["picture", "pages", "pages/{key}"]) {
        assert.deepStrictEqual(uploads(at), [["post"], ["head", "patch", "delete"]], at)
      }
    }))
})

/** What no file system, header or form expects in a name. */
const hostileNames = (() => {
  const starts = ["", "../", "..\\", "/etc/", "C:\\", "....//", "%2e%2e%2f", "\u202e", "a\r\nX-Injected: 1\r\n", "a\0"]
  const names = [
    "passwd",
    "con",
    "nul.txt",
    "a\"b",
    "a;b=c",
    "é",
    "日本.png",
    "💥",
    "a".repeat(500),
    ".htaccess",
    "a*b?c",
    "a%22b"
  ]
  const ends = ["", ". \u2028"]
  return starts.flatMap((start) => names.flatMap((name) => ends.map((end) => `${start}${name}${end}`)))
})()

describe("hostile requests for files", () => {
  it.effect("leave names that are those of a file in a folder, and headers that have only them", () =>
    Effect.gen(function*() {
      assert.isAbove(hostileNames.length, 200)
      const { baseUrl, call, id } = yield* started
      for (const [i, name] of hostileNames.entries()) {
        const form = new FormData()
        form.set("file", new Blob(["a"], { type: "text/plain" }), name)
        const raw = { "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(name)}` }
        const sent = i % 2 === 0 ? { body: form } : { body: "a", headers: { "content-type": "text/plain", ...raw } }
        const { status } = yield* call("PUT", `/${id}/picture`, sent)
        // No header of a form has such a character.
        if (status === 400 && i % 2 === 0 && name.includes("\0")) continue
        assert.strictEqual(status, 200, name)
        const { headers } = yield* call("GET", `/${id}/picture`)
        const { body: { picture } } = yield* call("GET", `/${id}`)
        assert.notMatch(picture.name, /[/\\\p{Cc}\u2028\u202e"]|^\.|\.$|^(?:con|nul)(?:\.|$)/iu, name)
        assert.isAtMost(Buffer.byteLength(picture.name), 255)
        assert.strictEqual(nameInHeader(headers["content-disposition"] ?? ""), picture.name)
        assert.notProperty(headers, "x-injected")
      }
      assert.isString(baseUrl)
    }))

  it.effect("are refused with more text, or bytes of other parts, than a form may have", () =>
    Effect.gen(function*() {
      const { call, id } = yield* started
      const form = (part: string | Blob, count: number) => {
        const body = new FormData()
        for (let i = 0; i < count; i++) body.append(`part${i}`, part)
        return body
      }
      const [text, other] = ["x".repeat(1_000_000), new Blob([new Uint8Array(1_000_000)])]
      const statusOf = (method: string, path: string, part: string | Blob) =>
        Effect.map(call(method, path, { body: form(part, 12) }), ({ status }) => status)
      for (const part of [text, other]) {
        assert.strictEqual(yield* statusOf("POST", "", part), 413)
        assert.strictEqual(yield* statusOf("PATCH", `/${id}`, part), 413)
      }
      assert.strictEqual(yield* statusOf("PUT", `/${id}/picture`, text), 413)
    }))

  it.effect("get an answer for any range, boundary and body", () =>
    Effect.gen(function*() {
      const { call, id } = yield* started
      yield* call("PUT", `/${id}/picture`, put)
      const numbers = ["", "0", "1", "999", "1000", "-1", "99999999999999999999", "1e3", "0x1", " 5", "a"]
      const ranges = numbers.flatMap((a) =>
        numbers.flatMap((b) => [`bytes=${a}-${b}`, `bytes=0-0,${a}-${b}`, `${a}=${b}-`])
      )
      for (const range of ranges) {
        const { bytes, headers, status } = yield* call("GET", `/${id}/picture`, { headers: { range } })
        assert.include([200, 206, 416], status, range)
        assert.strictEqual(String(bytes.length), headers["content-length"] ?? "0", range)
        if (status === 200) assert.strictEqual(bytes.length, 1000)
      }
      const type = "multipart/form-data"
      const part = (head: string) => `--b\r\n${head}\r\n\r\nhello\r\n`
      const file = "content-disposition: form-data; name=\"picture\"; filename=\"a.txt\"\r\ncontent-type: text/plain"
      const forms: ReadonlyArray<readonly [type: string, body: string, status: number]> = [
        [type, "", 400],
        [`${type}; boundary=`, part(file), 400],
        [`${type}; boundary=${"b".repeat(5000)}`, part(file), 400],
        [`${type}; boundary=b`, part(file), 400],
        [`${type}; boundary=b`, `${part(file)}${part(file)}--b--\r\n`, 400],
        [`${type}; boundary=b`, `${part("content-disposition: attachment; filename=a")}--b--\r\n`, 400],
        [`${type}; boundary=b`, `${part(`${file}\r\n${"x: y\r\n".repeat(5000)}`)}--b--\r\n`, 400],
        [`${type}; boundary=b`, "--b--\r\n", 400],
        [`${type}; boundary=b`, `${part(file)}--b--\r\n`, 200],
        [`${type}; boundary="b"`, `preamble\r\n${part(file)}--b--\r\nepilogue`, 200]
      ]
      for (const [type, body, status] of forms) {
        const answer = yield* call("PUT", `/${id}/picture`, { body, headers: { "content-type": type } })
        assert.strictEqual(answer.status, status, `${type} ${body.slice(0, 200)}`)
      }
    }))
})

class Scan extends Model.Class<Scan>()("Scan", {
  id: Model.id({ prefix: "S" }),
  title: Schema.String,
  paper: Model.file({ types: ["text/plain"] }),
  ...Model.historied,
  ...Model.softDeleted
}, { logged: true }) {}

const scans = KernelEngine.make("scans").register(
  Resource.make(Scan, { methods: ["GET", "POST", "PATCH", "DELETE"] })
    .action(History.revisions(Scan))
    .action(History.revision(Scan))
    .action(History.changes(Scan))
    .action(History.restore(Scan)),
  { tables: true, many: ["PATCH"] }
)

describe("what is told of files", () => {
  it.effect("has no identifier of bytes, in tables, streams and former states", () =>
    Effect.gen(function*() {
      const { baseUrl, repositories } = yield* scans.test({ store })
      const ask = (method: string, path: string, sent: Sent = {}) =>
        Effect.promise(async () => {
          const response = await fetch(`${baseUrl}/scans${path}`, { method, ...sent })
          return { status: response.status, text: await response.text() }
        })
      const lacking = yield* ask("POST", "", { body: JSON.stringify({ title: "a" }), headers: json })
      assert.strictEqual(lacking.status, 400, lacking.text)
      const form = new FormData()
      form.set("title", "a")
      form.set("paper", new Blob(["hello"], { type: "text/plain" }), "a.txt")
      const made = yield* ask("POST", "", { body: form })
      assert.strictEqual(made.status, 201, made.text)
      const { result: id } = JSON.parse(made.text)
      yield* ask("PUT", `/${id}/paper`, { body: "world!", headers: { "content-type": "text/plain" } })
      assert.strictEqual((yield* ask("DELETE", `/${id}/paper`)).status, 400)
      const { paper } = yield* repositories.scans.findById(id)
      const texts = yield* Effect.forEach(
        [
          ["GET", `/${id}`, {}],
          ["GET", "", {}],
          ["GET", "", { accept: "text/csv" }],
          ["GET", "", { accept: "application/x-ndjson" }],
          ["GET", "?fields=paper", {}],
          ["GET", `/aggregate?pipe=${encodeURIComponent("[{\"$match\":{}}]")}`, {}],
          ["GET", `/${id}/revisions/1`, {}],
          ["GET", `/${id}/revisions/2/changes`, {}],
          ["GET", `/${id}?as_of=2100-01-01T00:00:00Z`, {}],
          ["GET", "/changes", {}],
          ["GET", "/schema", {}],
          ["GET", "/schema?mongo=true", {}],
          ["GET", "/meta", {}]
        ] as const,
        ([method, path, headers]) => ask(method, path, { headers })
      )
      for (const { status, text } of texts) {
        assert.strictEqual(status, 200, text)
        assert.notInclude(text, paper.id)
      }
      assert.include(texts[2]?.text ?? "", "paper.name")
      assert.strictEqual((yield* ask("GET", `/${id}/paper`)).text, "world!")
      assert.strictEqual((yield* ask("PATCH", "?all=true", { body: `{"title":"b"}`, headers: json })).status, 200)
      assert.strictEqual((yield* ask("GET", `/${id}/paper`)).text, "world!")
    }))
})

class Refused extends ServiceError<Refused>()("Refused", { status: 422 }) {}

class Card extends Model.Class<Card>()("Card", {
  id: Model.id({ prefix: "C" }),
  code: Schema.String.pipe(Model.indexed(Index.unique)),
  picture: Model.file(file).pipe(Model.optional),
  ...Model.versioned
}) {}

class Deed extends Model.Class<Deed>()("Deed", {
  id: Model.id({ prefix: "D" }),
  paper: Model.file(),
  pages: Model.files()
}) {}

const refusing = (code: string) => (card: Card) => card.code === code ? Effect.fail(new Refused()) : Effect.void

const cards = KernelEngine.make("cards")
  .register(
    Resource.make(Card, { methods: ["GET", "POST", "PATCH", "DELETE"] })
      .beforePatch(refusing("refuse"), { error: [Refused] })
      .afterPatch(refusing("fail after"), { error: [Refused] }),
    { urlBase: "/api/v1" }
  )
  .register(Deed, { urlBase: "/api/v1", methods: ["GET", "POST"] })

describe("the bytes of a write that is refused", () => {
  const setUp = Effect.gen(function*() {
    const files = yield* FileStore.makeMemory
    let puts = 0
    const counted: FileStore.Service["put"] = (content, options) =>
      Effect.suspend(() => {
        puts++
        return files.put(content, options)
      })
    const { baseUrl } = yield* cards.test({
      store: Layer.merge(EmbeddedStore.layerMemory, Layer.succeed(FileStore.FileStore, { ...files, put: counted }))
    })
    const call = caller(baseUrl)
    const made = (code: string) =>
      Effect.map(
        call("POST", "/api/v1/cards", { body: JSON.stringify({ code }), headers: json }),
        ({ body }) => `/api/v1/cards/${body.result}`
      )
    return { call, made, puts: () => puts, entries: Stream.runCollect(files.entries) }
  })

  const formOf = (values: Record<string, string>, field = "picture") => {
    const form = new FormData()
    for (const [name, value] of Object.entries(values)) form.set(name, value)
    form.append(field, new Blob([png()], { type: "image/png" }), "1.png")
    return form
  }

  it.effect("are not taken where the document tells it before", () =>
    Effect.gen(function*() {
      const { call, made, puts } = yield* setUp
      const [gone, card] = [yield* made("a"), yield* made("b")]
      yield* call("DELETE", gone)
      const body = formOf({})
      assert.strictEqual((yield* call("PATCH", gone, { body })).status, 404)
      assert.strictEqual((yield* call("PATCH", card, { body, headers: { "if-match": "\"other\"" } })).status, 412)
      assert.strictEqual((yield* call("PATCH", card, { body, headers: { "if-match": "other" } })).status, 400)
      assert.strictEqual(puts(), 0)
    }))

  it.effect("are removed at once, and stay if it is a hook after the write that fails", () =>
    Effect.gen(function*() {
      const { call, entries, made } = yield* setUp
      const [first, second] = [yield* made("a"), yield* made("b")]
      const answers = [
        yield* call("POST", "/api/v1/cards", { body: formOf({ code: "a" }) }),
        yield* call("PATCH", first, { body: formOf({ code: "b" }) }),
        yield* call("PATCH", first, { body: formOf({ code: "refuse" }) }),
        yield* call("PATCH", first, { body: formOf({ version: "99" }) }),
        yield* call("POST", "/api/v1/deeds", { body: formOf({}, "pages") })
      ]
      assert.deepStrictEqual(answers.map(({ status }) => status), [409, 409, 422, 409, 400])
      assert.deepStrictEqual(yield* entries, [])

      const headers = { ...put.headers, "if-none-match": "*" }
      const all = yield* Effect.forEach(
        Array.from({ length: 8 }, (_, i) => png(600 + i)),
        (body) => call("PUT", `${first}/picture`, { body, headers }),
        { concurrency: 8 }
      )
      assert.strictEqual(all.filter(({ status }) => status === 200).length, 1)
      assert.strictEqual((yield* entries).length, 1)

      assert.strictEqual((yield* call("PATCH", second, { body: formOf({ code: "fail after" }) })).status, 422)
      assert.deepStrictEqual((yield* call("GET", `${second}/picture`)).bytes, png())
    }))
})

const guarded = KernelEngine.make("photos")
  .register(
    photos
      .grant(Role("owner"), { rows: (me) => ($) => $.owner.equals(me.subject) })
      .grant(Role("guest"), { methods: ["GET", "PATCH"], hide: ["picture"] })
      .grant(Role("reader"), { methods: ["GET", "POST", "PATCH"], readOnly: ["picture"] })
      .grant(Role("blind"), { methods: ["PATCH"] })
      .grant(Role("partly"), { methods: ["GET"], hide: ["picture"] })
      .grant(Role("partly"), { methods: ["PATCH"] })
      .grant(Role("nameless"), { methods: ["GET"], hide: ["picture.name", "pages.name"] })
      .grant(Role("timeless"), { methods: ["GET"], hide: ["picture.at"] })
      .grant(Role("typeless"), { methods: ["GET"], hide: ["picture.type"] })
      .grant(Role("sizeless"), { methods: ["GET"], hide: ["picture.size"] })
      .grant(Role("sumless"), { methods: ["GET"], hide: ["picture.sha256"] })
      .grant(Role("narrow"), { methods: ["GET"], rows: (me) => ($) => $.owner.equals(me.subject) })
      .grant(Role("narrow"), { methods: ["PATCH"] })
      .require(Role("admin"), ["GET", "POST", "PATCH"]),
    { urlBase: "/api/v1", files: { resumable: true } }
  )
  .enableSecurity()

describe("rights to files", () => {
  const setUp = Effect.gen(function*() {
    const service = yield* guarded.test({ store })
    const as = (subject: string, ...roles: ReadonlyArray<string>) =>
      Effect.map(
        service.token({ subject, roles: [...roles] }),
        (token) => caller(service.baseUrl, { authorization: `Bearer ${Redacted.value(token)}` })
      )
    const admin = yield* as("root", "admin")
    const { body } = yield* admin("POST", "", { body: JSON.stringify({ owner: "ann" }), headers: json })
    const id = String(body.result)
    yield* admin("PUT", `/${id}/picture`, put)
    return { ...service, admin, as, id, anonymous: caller(service.baseUrl) }
  })

  it.effect("hold for each request of a resumable upload, which only who has begun it finds", () =>
    Effect.gen(function*() {
      const { admin, anonymous, as, id } = yield* setUp
      const [ann, bob, reader] = [yield* as("ann", "owner"), yield* as("bob", "owner"), yield* as("ron", "reader")]
      const headers = { "tus-resumable": "1.0.0", "upload-length": "5" }
      const begin = (by: typeof ann) => by("POST", `/${id}/picture/uploads`, { headers })
      assert.deepStrictEqual(
        (yield* Effect.all([begin(anonymous), begin(bob), begin(reader)])).map(({ status }) => status),
        [401, 404, 403]
      )
      const { headers: { location = "" }, status } = yield* begin(ann)
      assert.strictEqual(status, 201)
      for (const other of [bob, admin, anonymous]) {
        for (const method of ["HEAD", "PATCH", "DELETE"]) {
          const { status } = yield* other(method, location, { headers })
          assert.include([401, 404], status)
        }
      }
      const sent = yield* ann("PATCH", location, {
        headers: { ...headers, "upload-offset": "0", "content-type": "application/offset+octet-stream" },
        body: "hello"
      })
      assert.strictEqual(sent.status, 204)
      assert.strictEqual((yield* ann("GET", `/${id}/picture`)).bytes.toString(), "hello")
    }))

  it.effect("are those to the document and to the field, and what is hidden is as what is not there", () =>
    Effect.gen(function*() {
      const { anonymous, as, id } = yield* setUp
      const [ann, bob] = [yield* as("ann", "owner"), yield* as("bob", "owner")]
      const [guest, reader] = [yield* as("gus", "guest"), yield* as("ron", "reader")]
      const at = `/${id}/picture`
      assert.strictEqual((yield* ann("GET", at)).status, 200)
      assert.strictEqual((yield* reader("GET", at)).status, 200)
      assert.strictEqual((yield* anonymous("GET", at)).status, 401)

      const missing = yield* bob("GET", `/${id}x/picture`)
      const outside = yield* bob("GET", at)
      const hidden = yield* guest("GET", at)
      assert.deepStrictEqual([missing.status, outside.status, hidden.status], [404, 404, 404])
      assert.strictEqual(outside.bytes.toString(), hidden.bytes.toString())
      assert.strictEqual(outside.bytes.toString(), missing.bytes.toString().replace(`${id}x`, id))
      assert.notProperty((yield* guest("GET", `/${id}`)).body._links, "picture")
      assert.deepStrictEqual((yield* reader("GET", `/${id}`)).body._links.picture.methods, ["GET"])

      assert.strictEqual((yield* bob("PUT", at, put)).status, 404)
      assert.strictEqual((yield* guest("PUT", at, put)).status, 403)
      assert.strictEqual((yield* reader("PUT", at, put)).status, 403)
      assert.strictEqual((yield* reader("DELETE", at)).status, 403)
      const none = { body: JSON.stringify({ picture: null }), headers: json }
      for (const one of [guest, reader]) assert.strictEqual((yield* one("PATCH", `/${id}`, none)).status, 403)
      assert.strictEqual((yield* ann("GET", at)).status, 200)
      const form = new FormData()
      form.set("picture", new Blob([png()]), "1.png")
      assert.strictEqual((yield* reader("PATCH", `/${id}`, { body: form })).status, 403)
      assert.strictEqual((yield* anonymous("PUT", at, put)).status, 401)
      assert.strictEqual((yield* ann("PUT", at, put)).status, 200)
      assert.strictEqual((yield* ann("PATCH", `/${id}`, none)).status, 200)
      assert.strictEqual((yield* ann("GET", at)).status, 404)
      assert.notProperty((yield* ann("GET", `/${id}`)).body, "picture")
    }))

  it.effect("are those of one grant for both the field and the document, by any way of writing", () =>
    Effect.gen(function*() {
      const { admin, as, id } = yield* setUp
      // What the one grant writes are the caller's own documents, and the other one writes all without their pictures.
      const bob = yield* as("bob", "owner", "reader")
      const formOf = (values: Record<string, string>) => {
        const form = new FormData()
        for (const [name, value] of Object.entries(values)) form.set(name, value)
        form.set("picture", new Blob([png(700)]), "1.png")
        return { body: form }
      }
      const named = (values: object) => ({ body: JSON.stringify(values), headers: json })
      const own = String((yield* bob("POST", "", named({ owner: "bob" }))).body.result)
      const before = (yield* admin("GET", `/${id}`)).body
      const writes = (id: string) =>
        Effect.map(
          Effect.all([
            bob("PUT", `/${id}/picture`, put),
            bob("PATCH", `/${id}`, formOf({})),
            bob("DELETE", `/${id}/picture`)
          ]),
          (answers) => answers.map(({ status }) => status)
        )
      assert.deepStrictEqual(yield* writes(id), [403, 403, 403])
      assert.deepStrictEqual((yield* admin("GET", `/${id}`)).body, before)
      assert.deepStrictEqual(yield* writes(own), [200, 200, 200])
      // Fields that both grants write are written together by each.
      assert.strictEqual((yield* bob("PATCH", `/${id}`, named({ owner: "eve", picture: null }))).status, 403)
      assert.strictEqual((yield* bob("PATCH", `/${id}`, named({ owner: "eve" }))).status, 200)
      assert.deepStrictEqual((yield* admin("GET", `/${id}`)).body.picture, before.picture)

      assert.strictEqual((yield* bob("POST", "", named({ owner: "ann" }))).status, 201)
      assert.strictEqual((yield* bob("POST", "", formOf({ owner: "ann" }))).status, 403)
      assert.strictEqual((yield* bob("POST", "", formOf({ owner: "bob" }))).status, 201)
    }))

  it.effect("hide in headers what is hidden of a file in its document", () =>
    Effect.gen(function*() {
      const { admin, anonymous, as, id } = yield* setUp
      const named = { ...put.headers, "content-disposition": "attachment; filename=secret.png" }
      assert.strictEqual((yield* admin("PUT", `/${id}/picture`, { ...put, headers: named })).status, 200)
      const { headers: { location = "" } } = yield* admin("POST", `/${id}/pages`, { ...put, headers: named })
      const nameless = yield* as("nat", "nameless")
      const { body: { href } } = yield* nameless("POST", `/${id}/picture/address`)
      for (const [call, path] of [[nameless, `/${id}/picture`], [nameless, location], [anonymous, href]] as const) {
        const { bytes, headers } = yield* call("GET", path)
        assert.deepStrictEqual([bytes, headers["content-disposition"]], [put.body, "inline; filename=file"])
      }
      assert.notProperty((yield* nameless("GET", `/${id}`)).body.picture, "name")
      for (const role of ["timeless", "typeless", "sizeless", "sumless"]) {
        const call = yield* as("nat", role)
        assert.strictEqual((yield* call("GET", `/${id}`)).status, 200)
        for (const method of ["GET", "HEAD"]) {
          const { headers, status } = yield* call(method, `/${id}/picture`)
          assert.deepStrictEqual([status, headers["last-modified"]], [404, undefined], role)
        }
        assert.strictEqual((yield* call("GET", location)).status, 200)
      }
    }))

  it.effect("tell those who may write a file that they don't see nothing of it", () =>
    Effect.gen(function*() {
      const { admin, as, id } = yield* setUp
      const { body: { result: bare } } = yield* admin("POST", "", {
        body: JSON.stringify({ owner: "ann" }),
        headers: json
      })
      const { headers: { etag = "" } } = yield* admin("GET", `/${id}/picture`)
      for (const role of ["blind", "partly", "narrow"]) {
        const call = yield* as("nat", role)
        const answers = Effect.fnUntraced(function*(id: string) {
          const at = `/${id}/picture`
          const conditional = yield* Effect.forEach(
            [["if-none-match", "*"], ["if-none-match", etag], ["if-match", "*"], ["if-match", etag]] as const,
            ([name, value]) =>
              Effect.all([
                call("PUT", at, { ...put, headers: { ...put.headers, [name]: value } }),
                call("DELETE", at, { headers: { [name]: value } })
              ])
          )
          const removed = yield* call("DELETE", at)
          const left = yield* admin("GET", at)
          const written = yield* call("PUT", at, put)
          return [...conditional.flat(), removed, left, written].map(({ status }) => status)
        })
        const expected = [412, 412, 412, 412, 412, 412, 412, 412, 200, 404, 200]
        assert.deepStrictEqual(yield* answers(id), expected, role)
        assert.deepStrictEqual(yield* answers(bare), expected, role)
        yield* admin("DELETE", `/${bare}/picture`)
      }
    }))

  it.effect("are in a signed address those of who asked for it, for one file and a while", () =>
    Effect.gen(function*() {
      const { admin, anonymous, as, id } = yield* setUp
      const ann = yield* as("ann", "owner")
      const guest = yield* as("gus", "guest")
      assert.strictEqual((yield* guest("POST", `/${id}/picture/address`)).status, 404)
      assert.strictEqual((yield* anonymous("POST", `/${id}/picture/address`)).status, 401)
      assert.strictEqual((yield* ann("POST", `/${id}/picture/address?expires_in=0`)).status, 400)
      const { body: { href }, headers, status } = yield* ann("POST", `/${id}/picture/address?expires_in=60`)
      assert.deepStrictEqual([status, headers["cache-control"]], [200, "no-store"])
      assert.notInclude(href, "ann")
      const read = yield* anonymous("GET", href)
      assert.deepStrictEqual([read.status, read.bytes], [200, put.body])
      assert.strictEqual(read.headers["cache-control"], "private, no-cache")
      assert.strictEqual((yield* anonymous("GET", href, { headers: { range: "bytes=0-1" } })).status, 206)

      const { body: { result: other } } = yield* admin("POST", "", {
        body: JSON.stringify({ owner: "ann" }),
        headers: json
      })
      yield* admin("PUT", `/${other}/picture`, put)
      const forged = [
        href.replace(id, other),
        `${href.slice(0, -3)}AAA`,
        href.slice(0, -1),
        `${href.split("signed/")[0]}signed/a`
      ]
      for (const address of forged) assert.strictEqual((yield* anonymous("GET", address)).status, 403, address)
      for (const method of ["PUT", "DELETE", "POST"]) {
        assert.strictEqual((yield* anonymous(method, href)).status, 405, method)
      }
      // Caches and clients of pictures get no less than at the document's own address.
      assert.strictEqual((yield* anonymous("GET", href, { headers: { accept: "image/png" } })).status, 200)
      // A token that no sign-in stands behind can't be looked up later.
      const { body: long } = yield* ann("POST", `/${id}/picture/address?expires_in=86400`)
      assert.strictEqual(DateTime.toEpochMillis(DateTime.makeUnsafe(long.expires)), 900_000)
      // The rows of the one who asked are those of today.
      yield* admin("PATCH", `/${id}`, { body: JSON.stringify({ owner: "bob" }), headers: json })
      assert.strictEqual((yield* anonymous("GET", href)).status, 404)
    }))

  it.effect("have signed addresses whatever the identifier of the document is, and how many slashes they are asked for with", () =>
    Effect.gen(function*() {
      const { baseUrl, call } = yield* started
      const withSlash = caller(`${baseUrl}/`)
      for (const id of ["signed", "address"]) {
        const body = JSON.stringify({ id, owner: "ann" })
        assert.strictEqual((yield* call("POST", "", { body, headers: json })).status, 201)
        assert.strictEqual((yield* call("PUT", `/${id}/picture`, put)).status, 200)
        for (const address of ["address", "address/", "/address//"]) {
          const { body: { href } } = yield* call("POST", `/${id}/picture/${address}`)
          assert.deepStrictEqual((yield* call("GET", href)).bytes, put.body, address)
          assert.deepStrictEqual((yield* withSlash("GET", href)).bytes, put.body, address)
          // `//api` would be a host.
          const { body } = yield* withSlash("POST", `/api/v1/photos/${id}/picture/${address}`)
          assert.match(body.href, /^\/api\/v1\/photos\/\w+\/picture\/signed\/[\w-]+$/u)
          assert.deepStrictEqual((yield* call("GET", body.href)).bytes, put.body, address)
        }
      }
    }))

  it.effect("are at a signed address that is bound those of its caller alone", () =>
    Effect.gen(function*() {
      const { admin, anonymous, as, id } = yield* setUp
      const ann = yield* as("ann", "owner")
      const bound = yield* ann("POST", `/${id}/picture/address?bound=true`)
      assert.strictEqual(bound.status, 200)
      const { href } = bound.body
      const signed = yield* ann("POST", `/${id}/picture/address?bound=false`)
      const callers = {
        ann,
        // The rights are those of the request, whoever asked for the address.
        guest: yield* as("ann", "guest"),
        admin,
        bob: yield* as("bob", "owner"),
        anonymous
      }
      const answers = (href: string) =>
        Effect.map(Effect.all(Record.map(callers, (call) => call("GET", href))), Record.map(({ status }) => status))
      assert.deepStrictEqual(yield* answers(href), {
        ann: 200,
        guest: 404,
        admin: 403,
        bob: 403,
        anonymous: 401
      })
      const everybody = Record.map(callers, () => 200)
      assert.deepStrictEqual(yield* answers(signed.body.href), everybody)
      const { headers } = yield* anonymous("GET", href)
      assert.match(headers["www-authenticate"] ?? "", /^Bearer /u)
      assert.deepStrictEqual((yield* ann("GET", href)).bytes, put.body)
      assert.strictEqual((yield* ann("POST", `/${id}/picture/address?bound=me`)).status, 400)
      // Where nobody is known, an address can be bound to nobody.
      const unguarded = yield* started
      yield* unguarded.call("PUT", `/${unguarded.id}/picture`, put)
      const { body, status } = yield* unguarded.call("POST", `/${unguarded.id}/picture/address?bound=true`)
      assert.deepStrictEqual([status, body.errors[0].message], [400, "bound is not a parameter of an address"])
    }))

  it.effect("are at a signed address those of a sign-in that lives, and what is not stored stays so", () =>
    Effect.gen(function*() {
      const engine = KernelEngine.make("photos")
        .register(Resource.make(Account, { methods: ["POST"] }).require(Anonymous), { urlBase: "/api/v1" })
        .register(
          Resource.make(Photo, { methods: ["GET", "POST", "PATCH"] }).require(Authenticated),
          { urlBase: "/api/v1", cacheControl: "no-store" }
        )
        .register(Tokens.service, { urlBase: "/api/v1" })
        .enableSecurity()
      const services = Layer.mergeAll(
        store,
        Jwt.layer,
        Accounts.fromModel(Account, { login: "email", secret: "password" })
      )
      const test = yield* engine.test({ store: Layer.fresh(services) })
      const payload = { email: "jane@example.com", password: "correct horse" }
      const { result: jane } = yield* test.anonymous.users.create({ payload })
      const plain = caller(test.baseUrl)
      const body = new URLSearchParams({ grant_type: "password", username: payload.email, password: payload.password })
      const { body: { access_token } } = yield* plain("POST", "/api/v1/token", { body })
      const as = caller(test.baseUrl, { authorization: `Bearer ${access_token}` })
      const { body: { result: id } } = yield* as("POST", "", { body: JSON.stringify({ owner: "ann" }), headers: json })
      yield* as("PUT", `/${id}/picture`, put)
      assert.strictEqual((yield* as("GET", `/${id}/picture`)).headers["cache-control"], "private, no-store")
      const { body: { expires, href } } = yield* as("POST", `/${id}/picture/address?expires_in=86400`)
      assert.strictEqual(DateTime.toEpochMillis(DateTime.makeUnsafe(expires)), 86_400_000)
      const { headers, status } = yield* plain("GET", href)
      assert.deepStrictEqual([status, headers["cache-control"]], [200, "no-store"])
      // Credentials of another kind are of the same account.
      const { body: bound } = yield* as("POST", `/${id}/picture/address?bound=true`)
      const basic = caller(test.baseUrl, { authorization: `Basic ${btoa(`${payload.email}:${payload.password}`)}` })
      const answers = yield* Effect.all([basic("GET", bound.href), plain("GET", bound.href)])
      assert.deepStrictEqual(answers.map(({ status }) => status), [200, 401])
      yield* Effect.provideService(Tokens.signOut(jane), DocumentStore.DocumentStore, test.store)
      assert.deepStrictEqual([(yield* plain("GET", href)).status, (yield* as("GET", `/${id}`)).status], [403, 401])
    }))
})
