/** Resumable uploads over real sockets: by the requests of the protocol, and by its own client through cuts. */
import { assert, describe, it, layer as testLayer } from "@effect/vitest"
import { DocumentStore, EmbeddedStore, FileStore, KernelEngine, Model, Repository, Resource } from "appkernel"
import { Deferred, Duration, Effect, Fiber, Layer, Redacted, Stream } from "effect"
import { TestClock } from "effect/testing"
import { createHash, randomBytes } from "node:crypto"
import * as net from "node:net"
import * as path from "node:path"
import * as tus from "tus-js-client"
import { afterAll } from "vitest"
import { freshDirectory, freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { withOwnFiles } from "../../support/ownFiles.ts"
import { freePort, printed, runProgram } from "../../support/processes.ts"
import { films } from "../../support/resumableModel.ts"
import { startS3 } from "../../support/s3Server.ts"

class Scan extends Model.Class<Scan>()("Scan", { id: Model.id(), pages: Model.files() }) {}

const own = { "tus-resumable": "1.0.0" }

const caller = (baseUrl: string) =>
(
  method: string,
  at: string,
  headers: Record<string, string> = {},
  body?: NonNullable<RequestInit["body"]>
) =>
  Effect.promise(async () => {
    const response = await fetch(at.startsWith("http") ? at : `${baseUrl}${at}`, {
      method,
      headers: { ...own, ...headers },
      ...body === undefined ? {} : { body }
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    return { status: response.status, headers: response.headers, bytes }
  })

const made = (call: ReturnType<typeof caller>, values = {}) =>
  Effect.map(
    call("POST", "/films", { "content-type": "application/json" }, JSON.stringify(values)),
    ({ bytes }) => String(JSON.parse(bytes.toString()).result)
  )

const metadata = (values: { readonly [name: string]: string }) => ({
  "upload-metadata": Object.entries(values).map(([name, value]) => `${name} ${Buffer.from(value).toString("base64")}`)
    .join(",")
})

const png = (length: number): Buffer<ArrayBuffer> => {
  const bytes = Buffer.alloc(length, 7)
  bytes.set(Buffer.from("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489", "hex"))
  return bytes
}

const offset = (value: number) => ({
  "upload-offset": String(value),
  "content-type": "application/offset+octet-stream"
})

const started = Effect.gen(function*() {
  const files = yield* FileStore.makeMemory
  const { baseUrl, store } = yield* films.test({
    store: Layer.merge(EmbeddedStore.layerMemory, Layer.succeed(FileStore.FileStore, files))
  })
  const call = caller(baseUrl)
  return { baseUrl, call, files, store, id: yield* made(call) }
})

describe("resumable uploads", () => {
  it.effect("are begun, continued where they are, and become the file with their last byte", () =>
    Effect.gen(function*() {
      const { call, files, id } = yield* started
      const at = `/films/${id}/cover/uploads`
      const told = yield* call("OPTIONS", at)
      assert.deepStrictEqual(
        [
          told.status,
          told.headers.get("tus-version"),
          told.headers.get("tus-extension"),
          told.headers.get("tus-max-size")
        ],
        [204, "1.0.0", "creation,expiration,termination", "1000000"]
      )
      const whole = png(50_000)
      const begun = yield* call("POST", at, {
        "upload-length": "50000",
        ...metadata({ filename: "Mönch.png", filetype: "image/png" })
      })
      const location = begun.headers.get("location") ?? ""
      assert.strictEqual(begun.status, 201)
      assert.isTrue(location.startsWith(`${at}/`))
      assert.isNotNull(begun.headers.get("upload-expires"))
      const withSlashes = yield* call("POST", `/${at}//`, { "upload-length": "50000" })
      assert.match(withSlashes.headers.get("location") ?? "", new RegExp(`^${at}/\\w+$`, "u"))
      assert.strictEqual((yield* call("DELETE", `/${withSlashes.headers.get("location")}`)).status, 204)
      const state = Effect.map(call("HEAD", location), ({ headers, status }) => [
        status,
        headers.get("upload-offset"),
        headers.get("upload-length"),
        headers.get("cache-control"),
        headers.get("tus-resumable")
      ])
      assert.deepStrictEqual(yield* state, [200, "0", "50000", "no-store", "1.0.0"])
      const first = yield* call("PATCH", location, offset(0), whole.subarray(0, 20_000))
      assert.deepStrictEqual([first.status, first.headers.get("upload-offset")], [204, "20000"])
      assert.deepStrictEqual((yield* state)[1], "20000")
      assert.strictEqual((yield* call("GET", `/films/${id}/cover`)).status, 404)
      // Who has another idea of it learns it, and who says nothing of the protocol that it is one.
      for (const wrong of [0, 19_999, 20_001]) {
        assert.strictEqual((yield* call("PATCH", location, offset(wrong), "a")).status, 409)
      }
      const refusals = [
        call("PATCH", location, { ...offset(20_000), "content-type": "image/png" }, "a"),
        call("PATCH", location, { ...offset(20_000), "content-encoding": "gzip" }, "a"),
        call("PATCH", location, { ...offset(20_000), "upload-offset": "x" }, "a"),
        call("PATCH", location, offset(20_000), Buffer.alloc(30_001)),
        call("HEAD", `${at}/${"0".repeat(32)}`),
        call("HEAD", location, { "tus-resumable": "0.2.2" })
      ]
      assert.deepStrictEqual((yield* Effect.all(refusals)).map(({ status }) => status), [415, 415, 400, 413, 404, 412])
      const last = yield* call(
        "POST",
        location,
        { ...offset(20_000), "x-http-method-override": "PATCH" },
        whole.subarray(20_000)
      )
      assert.deepStrictEqual([last.status, last.headers.get("upload-offset")], [204, "50000"])
      assert.deepStrictEqual((yield* state)[1], "50000")
      const { bytes, headers } = yield* call("GET", `/films/${id}/cover`)
      assert.isTrue(bytes.equals(whole))
      assert.strictEqual(headers.get("etag"), last.headers.get("etag"))
      assert.include(headers.get("content-disposition") ?? "", "M%C3%B6nch.png")
      // Its parts are gone.
      assert.strictEqual(yield* Stream.runCount(files.entries), 1)
    }))

  it.effect("append to lists, and replace one of their files", () =>
    Effect.gen(function*() {
      const { call, id } = yield* started
      const sent = Effect.fnUntraced(function*(at: string, text: string) {
        const { headers } = yield* call("POST", `${at}/uploads`, { "upload-length": String(text.length) })
        const location = headers.get("location") ?? ""
        return text === "" ? undefined : (yield* call("PATCH", location, offset(0), text)).headers.get("location")
      })
      const at = `/films/${id}/scenes`
      const first = yield* sent(at, "one")
      yield* sent(at, "two")
      yield* sent(at, "")
      yield* sent(first ?? "", "three")
      assert.strictEqual((yield* call("GET", first ?? "")).bytes.toString(), "three")
      const { scenes } = JSON.parse((yield* call("GET", `/films/${id}`)).bytes.toString())
      assert.deepStrictEqual(scenes.map(({ size }: { readonly size: number }) => size), [5, 3, 0])
    }))

  it.effect("are refused by what is said of them, and by their first bytes", () =>
    Effect.gen(function*() {
      const { call, files, id } = yield* started
      const at = `/films/${id}/cover/uploads`
      const begin = (headers: Record<string, string>) => call("POST", at, headers)
      const refused = [
        begin({ "upload-length": "1000001" }),
        begin({ "upload-length": "5", ...metadata({ filetype: "text/html" }) }),
        begin({}),
        begin({ "upload-length": "5", "upload-metadata": "a b c" }),
        call("POST", "/films/none/cover/uploads", { "upload-length": "5" })
      ]
      assert.deepStrictEqual((yield* Effect.all(refused)).map(({ status }) => status), [413, 415, 400, 400, 404])
      const { headers } = yield* begin({ "upload-length": "900000", ...metadata({ filetype: "image/png" }) })
      const location = headers.get("location") ?? ""
      const html = `<!doctype html><script>alert(1)</script>${"a".repeat(100_000)}`
      assert.strictEqual((yield* call("PATCH", location, offset(0), html)).status, 422)
      assert.strictEqual((yield* call("HEAD", location)).status, 404)
      assert.strictEqual(yield* Stream.runCount(files.entries), 0)
    }))

  it.effect("come in so many parts, and one that ends them", () =>
    Effect.gen(function*() {
      const { call, files, id, store } = yield* started
      const { headers } = yield* call("POST", `/films/${id}/film/uploads`, { "upload-length": "3" })
      const location = headers.get("location") ?? ""
      assert.strictEqual((yield* call("PATCH", location, offset(0), "a")).status, 204)
      const record = { _id: `upload/${location.split("/").at(-1)}` }
      const [made] = yield* store.find("appkernel_files", { filter: record })
      const [part] = Array.isArray(made?.["made"]) ? made["made"] : []
      const others = Array.from({ length: 9_999 }, () => ({ ...part, size: 0 }))
      yield* store.updateOne("appkernel_files", record, { $set: { made: [part, ...others] } })
      const refused = yield* call("PATCH", location, offset(1), "b")
      assert.strictEqual(refused.status, 413)
      assert.include(refused.bytes.toString(), "in 10000 parts")
      // What was refused is not kept.
      assert.strictEqual(yield* Stream.runCount(files.entries), 1)
      yield* store.updateOne("appkernel_files", record, { $set: { made: [part] } })
      assert.strictEqual((yield* call("PATCH", location, offset(1), "bc")).status, 204)
    }))

  it.effect("end when their client says so, or when nobody continues them", () =>
    Effect.gen(function*() {
      const { call, files, id, store } = yield* started
      const at = `/films/${id}/film/uploads`
      const begun = Effect.gen(function*() {
        const { headers } = yield* call("POST", at, { "upload-length": "100000" })
        const location = headers.get("location") ?? ""
        yield* call("PATCH", location, offset(0), Buffer.alloc(50_000))
        return location
      })
      const [one, other] = [yield* begun, yield* begun]
      assert.strictEqual((yield* call("DELETE", one)).status, 204)
      assert.deepStrictEqual([(yield* call("HEAD", one)).status, (yield* call("DELETE", one)).status], [404, 404])
      assert.strictEqual(yield* Stream.runCount(files.entries), 1)
      const sweep = Effect.provide(
        Repository.sweepFiles({ grace: Duration.hours(1) }),
        Layer.merge(Layer.succeed(DocumentStore.DocumentStore, store), Layer.succeed(FileStore.FileStore, files))
      )
      yield* TestClock.adjust("24 hours")
      yield* sweep
      // Within the grace after it, the bytes are still there.
      yield* call("PATCH", other, offset(50_000), Buffer.alloc(10_000))
      assert.strictEqual((yield* call("HEAD", other)).headers.get("upload-offset"), "60000")
      yield* TestClock.adjust("26 hours")
      yield* sweep
      assert.strictEqual((yield* call("HEAD", other)).status, 404)
      assert.strictEqual(yield* Stream.runCount(files.entries), 0)
    }))
})

describe("a resumable upload", () => {
  it.effect("that is ended brings nothing any more, also what is on its way", () =>
    Effect.gen(function*() {
      const { baseUrl, call, files, id } = yield* started
      const { headers } = yield* call("POST", `/films/${id}/film/uploads`, { "upload-length": "40" })
      const location = headers.get("location") ?? ""
      const fields = Object.entries({ ...own, ...offset(0), host: "a", expect: "100-continue", "content-length": "40" })
      const head = `PATCH ${location} HTTP/1.1\r\n${
        fields.map(([name, value]) => `${name}: ${value}\r\n`).join("")
      }\r\n`
      const socket = net.connect(Number(new URL(baseUrl).port), "127.0.0.1")
      const heard = () =>
        Effect.promise(() => new Promise<string>((resolve) => socket.once("data", (bytes) => resolve(String(bytes)))))
      socket.write(head)
      assert.include(yield* heard(), "100 Continue")
      socket.write("a".repeat(20))
      assert.strictEqual((yield* call("DELETE", location)).status, 204)
      socket.write("a".repeat(20))
      assert.match(yield* heard(), /^HTTP\/1.1 404 /u)
      socket.destroy()
      assert.strictEqual((yield* call("GET", `/films/${id}/film`)).status, 404)
      assert.strictEqual(yield* Stream.runCount(files.entries), 0)
    }))

  it.effect("goes on after a failure of the store, which is none of its bytes", () =>
    Effect.gen(function*() {
      const files = yield* FileStore.makeMemory
      let failures = 1
      const failing: typeof files = {
        ...files,
        read: (id, range) =>
          failures-- > 0
            ? Stream.fail(new FileStore.FileStoreFailed({ operation: "read", detail: "is away", retryable: true }))
            : files.read(id, range)
      }
      const { baseUrl } = yield* films.test({
        store: Layer.merge(EmbeddedStore.layerMemory, Layer.succeed(FileStore.FileStore, failing))
      })
      const call = caller(baseUrl)
      const { headers } = yield* call("POST", `/films/${yield* made(call)}/film/uploads`, { "upload-length": "50000" })
      const location = headers.get("location") ?? ""
      assert.strictEqual((yield* call("PATCH", location, offset(0), Buffer.alloc(20_000))).status, 503)
      assert.strictEqual((yield* call("HEAD", location)).headers.get("upload-offset"), "0")
      assert.strictEqual(yield* Stream.runCount(files.entries), 0)
      assert.strictEqual((yield* call("PATCH", location, offset(0), Buffer.alloc(50_000))).status, 204)
    }))

  it.effect("becomes one file of a list, though two processes finish it at once", () =>
    Effect.gen(function*() {
      const context = yield* Layer.build(EmbeddedStore.layerMemory)
      const files = yield* FileStore.makeMemory
      const store = Layer.merge(Layer.succeedContext(context), Layer.succeed(FileStore.FileStore, files))
      const [isReached, isDone] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const served = (before: Effect.Effect<void>) =>
        KernelEngine.make("scans")
          .register(Resource.make(Scan, { methods: ["GET", "POST", "PATCH"] }).beforePatch(() => before), {
            files: { resumable: true }
          })
          .test({ store })
      const slow = yield* served(Effect.andThen(Deferred.succeed(isReached, undefined), Deferred.await(isDone)))
      const other = yield* served(Effect.void)
      const [first, second] = [caller(slow.baseUrl), caller(other.baseUrl)]
      const { bytes } = yield* first("POST", "/scans", { "content-type": "application/json" }, "{}")
      const at = `/scans/${JSON.parse(bytes.toString()).result}`
      const { headers } = yield* first("POST", `${at}/pages/uploads`, { "upload-length": "5" })
      const sent = (call: typeof first) => call("PATCH", headers.get("location") ?? "", offset(0), "abcde")
      const writing = yield* Effect.forkChild(sent(first))
      yield* Deferred.await(isReached)
      assert.strictEqual((yield* sent(second)).status, 204)
      yield* Deferred.succeed(isDone, undefined)
      assert.strictEqual((yield* Fiber.join(writing)).status, 409)
      const { pages } = JSON.parse((yield* second("GET", at)).bytes.toString())
      assert.strictEqual(pages.length, 1)
    }))
})

/** Sends a content with the client of the protocol, by a proxy that cuts so many of its requests. */
const uploadedBy = (baseUrl: string, at: string, content: Buffer, cuts: number) =>
  Effect.gen(function*() {
    const { port } = new URL(baseUrl)
    let left = cuts
    const proxy = net.createServer((client) => {
      const service = net.connect(Number(port), "127.0.0.1")
      let sent = 0
      for (const socket of [client, service]) socket.on("error", () => {})
      client.on("data", (chunk: Buffer) => {
        sent += chunk.length
        service.write(chunk)
        // A part of the body has come, and the rest does not.
        if (left > 0 && sent > content.length / (cuts + 2)) {
          left--
          service.destroy()
          client.destroy()
        }
      }).on("end", () => service.end())
      service.pipe(client)
    })
    const listening = yield* Effect.acquireRelease(
      Effect.promise(() =>
        new Promise<number>((resolve) => {
          proxy.listen(0, "127.0.0.1", () => {
            const address = proxy.address()
            resolve(typeof address === "object" && address !== null ? address.port : 0)
          })
        })
      ),
      () => Effect.sync(() => proxy.close())
    )
    const offsets: Array<number> = []
    yield* sentTo(`http://127.0.0.1:${listening}${at}`, content, {
      onAfterResponse: (request, response) => {
        if (request.getMethod() === "HEAD") offsets.push(Number(response.getHeader("Upload-Offset")))
      }
    })
    return { left, offsets }
  })

const sentTo = (endpoint: string, content: Buffer, options: tus.UploadOptions = {}) =>
  Effect.callback<void, Error>((resume) => {
    const upload = new tus.Upload(content, {
      endpoint,
      retryDelays: Array.from({ length: 100 }, () => 100),
      metadata: { filename: "film.bin" },
      ...options,
      onSuccess: () => resume(Effect.void),
      onError: (error) => resume(Effect.fail(error))
    })
    upload.start()
    return Effect.promise(() => upload.abort())
  })

const content = randomBytes(20_000_000)

const sha256 = createHash("sha256").update(content).digest("hex")

const throughCuts = <E>(
  name: string,
  store: Layer.Layer<DocumentStore.DocumentStore | FileStore.FileStore, E>
): void =>
  testLayer(store)(`resumable uploads through cuts / ${name}`, (it) => {
    it.effect("go on where they were", () =>
      Effect.gen(function*() {
        const stores = Layer.merge(
          Layer.succeed(DocumentStore.DocumentStore, yield* DocumentStore.DocumentStore),
          Layer.succeed(FileStore.FileStore, yield* FileStore.FileStore)
        )
        const { baseUrl } = yield* films.test({ store: stores })
        const call = caller(baseUrl)
        const id = yield* made(call)
        const { left, offsets } = yield* uploadedBy(baseUrl, `/films/${id}/film/uploads`, content, 3)
        assert.strictEqual(left, 0)
        assert.isAtLeast(offsets.length, 3)
        assert.isAbove(offsets.at(-1) ?? 0, 0)
        const { headers } = yield* call("HEAD", `/films/${id}/film`)
        assert.strictEqual(headers.get("etag"), `"${sha256}"`)
      }), 120_000)
  })

throughCuts("memory", withOwnFiles(EmbeddedStore.layerMemory))
throughCuts("embedded", withOwnFiles(freshFolder(EmbeddedStore.layerWith)))
onMongo("resumable uploads in GridFS", (store) => throughCuts("mongodb", Layer.orDie(withOwnFiles(store))))

const s3 = await startS3()

afterAll(async () => {
  if ("url" in s3) await s3.stop()
})

if ("url" in s3) {
  const bucket = Effect.gen(function*() {
    const name = `b-${crypto.randomUUID()}`
    yield* Effect.promise(() => fetch(`${s3.url}/${name}`, { method: "PUT" }))
    return FileStore.layerS3({
      endpoint: s3.url,
      bucket: name,
      accessKeyId: Redacted.make("key"),
      secretAccessKey: Redacted.make("the-secret")
    })
  })
  throughCuts("memory, files in S3", Layer.merge(EmbeddedStore.layerMemory, Layer.unwrap(bucket)))
}

describe("resumable uploads of a process that is killed", () => {
  it.live("go on when there is another one, and become one file", () =>
    Effect.gen(function*() {
      const folder = path.join(yield* freshDirectory, "data")
      const port = String(yield* freePort)
      const start = Effect.gen(function*() {
        const program = yield* runProgram(programFile, { FOLDER: folder, APPKERNEL_SERVER_PORT: port })
        yield* printed(program, "it listens")
        return program
      })
      const baseUrl = `http://127.0.0.1:${port}`
      let program = yield* start
      const call = caller(baseUrl)
      const id = yield* made(call)
      const large = Buffer.concat(Array.from({ length: 5 }, () => content))
      let killed = 0
      let isDue = false
      const killing = Effect.gen(function*() {
        for (;;) {
          yield* Effect.sleep("10 millis")
          if (!isDue) continue
          isDue = false
          program.process.kill("SIGKILL")
          yield* program.ended
          killed++
          program = yield* start
        }
      })
      yield* Effect.raceFirst(
        killing,
        sentTo(`${baseUrl}/films/${id}/scenes/uploads`, large, {
          onProgress: (sent) => {
            if (killed < 3 && sent > (killed + 1) * 25_000_000) isDue = true
          }
        })
      )
      assert.strictEqual(killed, 3)
      const { scenes } = JSON.parse((yield* call("GET", `/films/${id}`)).bytes.toString())
      assert.deepStrictEqual(
        scenes.map(({ sha256, size }: { readonly sha256: string; readonly size: number }) => [size, sha256]),
        [[large.length, createHash("sha256").update(large).digest("hex")]]
      )
    }), 120_000)
})

const programFile = path.join(import.meta.dirname, "../../support/resumableProgram.ts")
