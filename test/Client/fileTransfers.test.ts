import { assert, describe, it } from "@effect/vitest"
import { Deadline, HttpClientFactory, Model } from "appkernel"
import { Cause, Effect, Exit, Fiber, Logger, Schema, Stream } from "effect"
import { createHash, randomBytes } from "node:crypto"
import * as fs from "node:fs"
import type * as http from "node:http"
import * as path from "node:path"
import { gzipSync } from "node:zlib"
import { freshDirectory } from "../support/folders.ts"
import { runProgram } from "../support/processes.ts"
import { withSmallDisk } from "../support/smallDisk.ts"
import { slowness } from "../support/turns.ts"
import { listening, nobody, rawUpstream, upstream } from "./support/upstream.ts"

class Stored extends Model.Class<Stored>()("Stored", {
  id: Model.id({ prefix: "F" }),
  size: Schema.Int
}) {}

/** The breaker's log lines are tested elsewhere. */
const withClient = Effect.provide([HttpClientFactory.layerWith({ models: [Stored] }), Logger.layer([])])
const breaker = { circuitBreaker: { failureThreshold: 1 } }

const bytes = (text: string) => new TextEncoder().encode(text)
const textOf = (chunks: ReadonlyArray<Uint8Array>) => Buffer.concat(chunks).toString()

/** How a call fails. */
const reasonOf = <A, E extends { readonly _tag: string }, R>(call: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(call), (error) => {
    if ("reason" in error) return typeof error.reason === "string" ? error.reason : (error.reason as Cause.Done)._tag
    return error._tag
  })

/** The form that arrived, as the Fetch API reads it. */
const formOf = (request: { readonly headers: http.IncomingHttpHeaders; readonly body: string }) =>
  Effect.promise(async () => {
    const type = request.headers["content-type"] ?? ""
    const form = await new Response(request.body, { headers: { "content-type": type } }).formData()
    return Promise.all(
      [...form].map(async ([key, file]) =>
        file instanceof File ? [key, file.name, file.type, await file.text()] : [key, file]
      )
    )
  })

/** Answers with parts, each after a wait in milliseconds. */
const inParts = (response: http.ServerResponse, parts: ReadonlyArray<string>, wait: number) => {
  const [first, ...others] = parts
  if (first === undefined) response.end()
  else {
    response.write(first)
    setTimeout(() => inParts(response, others, wait), wait)
  }
}

describe("upload", () => {
  it.live("posts the file as the part `file`, and reads the answer as post does", () =>
    Effect.gen(function*() {
      const service = yield* upstream(({ text }) => ({ _type: "Stored", id: "F1", size: text.length }))
      const files = (yield* HttpClientFactory.get(service.url)).at("files")
      const [status, stored] = yield* files.upload(bytes("hello"), { pathExtension: "/a/b" })
      assert.strictEqual(status, 200)
      assert.instanceOf(stored, Stored)
      yield* files.upload(new Blob(["hello"]), { filename: "grüße \"1\".txt", contentType: "text/plain" })
      yield* files.upload(Stream.make(bytes("hel"), bytes("lo")), { headers: { "x-tenant": "t" } })
      const typed = yield* files.upload(new Blob(["hello"]).stream(), { as: Schema.Struct({ size: Schema.Int }) })
      assert.isAbove(typed[1].size, 100)
      const forms = yield* Effect.forEach(service.requests, formOf)
      assert.deepStrictEqual(forms, [
        [["file", "upload", "application/octet-stream", "hello"]],
        [["file", "grüße \"1\".txt", "text/plain", "hello"]],
        [["file", "upload", "application/octet-stream", "hello"]],
        [["file", "upload", "application/octet-stream", "hello"]]
      ])
      const [first, second, third] = service.requests
      assert.deepStrictEqual([first?.method, first?.url], ["POST", "/files/a/b"])
      for (const request of [first, second]) {
        assert.strictEqual(request?.headers["content-length"], String(Buffer.byteLength(request?.body ?? "")))
      }
      assert.strictEqual(third?.headers["transfer-encoding"], "chunked")
      assert.strictEqual(third?.headers["x-tenant"], "t")
    }).pipe(withClient))

  it.live("takes a path, and from a local path the name and the type of its extension", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const service = yield* upstream(() => ({}))
      const files = (yield* HttpClientFactory.get(service.url)).at("files")
      const names = ["report.pdf", "data.CSV", "page.html", "noExtension", "json", ".json", "a.unknown"]
      for (const name of names) fs.writeFileSync(path.join(folder, name), name)
      yield* files.upload(path.join(folder, "report.pdf"))
      for (const name of names) yield* files.uploadFrom(path.join(folder, name))
      yield* files.uploadFrom(path.join(folder, "page.html"), { filename: "other", contentType: "text/x-other" })
      yield* files.uploadFrom(path.relative(process.cwd(), path.join(folder, "report.pdf")))
      const octets = "application/octet-stream"
      assert.deepStrictEqual((yield* Effect.forEach(service.requests, formOf)).flat(), [
        ["file", "upload", octets, "report.pdf"],
        ["file", "report.pdf", "application/pdf", "report.pdf"],
        ["file", "data.CSV", "text/csv", "data.CSV"],
        ["file", "page.html", "text/html", "page.html"],
        ["file", "noExtension", octets, "noExtension"],
        ["file", "json", octets, "json"],
        ["file", ".json", octets, ".json"],
        ["file", "a.unknown", octets, "a.unknown"],
        ["file", "other", "text/x-other", "page.html"],
        ["file", "report.pdf", "application/pdf", "report.pdf"]
      ])
    }).pipe(withClient))

  it.live("fails as the system does where the file can't be opened, and sends nothing", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const service = yield* upstream(() => ({}))
      const files = (yield* HttpClientFactory.get(service.url, breaker)).at("files")
      const failure = yield* Effect.flip(files.uploadFrom(path.join(folder, "none")))
      assert.strictEqual(failure._tag, "PlatformError")
      assert.strictEqual(yield* reasonOf(files.uploadFrom(path.join(folder, "none"))), "NotFound")
      assert.strictEqual(yield* reasonOf(files.uploadFrom(folder)), "BadResource")
      assert.strictEqual(yield* reasonOf(files.upload(path.join(folder, "none"))), "NotFound")
      assert.strictEqual(service.connections(), 0)
    }).pipe(withClient))

  it.live("fails as the stream does, ends the request, and leaves the breaker closed", () =>
    Effect.gen(function*() {
      const ended: Array<string> = []
      const service = yield* listening((request, response) => {
        request.resume()
        request.on("close", () => ended.push(request.complete ? "complete" : "aborted"))
        request.on("end", () => response.end("{}"))
      })
      const files = (yield* HttpClientFactory.get(service.url, breaker)).at("files")
      const file = Stream.concat(Stream.make(bytes("half")), Stream.fail({ _tag: "Lost" as const }))
      yield* Effect.forEach(Array.from({ length: 20 }), () =>
        Effect.map(reasonOf(files.upload(file)), (reason) => assert.strictEqual(reason, "Lost")), { concurrency: 20 })
      const broken = new ReadableStream<Uint8Array>({
        pull: (controller) =>
          controller.error(new Error("broken"))
      })
      assert.instanceOf(yield* Effect.flip(files.upload(broken)), Cause.UnknownError)
      assert.isTrue(Exit.hasDies(yield* Effect.exit(files.upload(Stream.die("bug")))))
      assert.deepStrictEqual(yield* files.upload(bytes("whole")), [200, {}])
      assert.notInclude(ended.slice(0, -1), "complete")
    }).pipe(withClient))

  it.live("fails with the status of an answer that comes before the file is sent, and works the next time", () =>
    Effect.gen(function*() {
      const service = yield* listening((request, response) => {
        if (request.headers["content-length"] === undefined) response.writeHead(413).end("too large")
        else request.resume().on("end", () => response.end("{}"))
      })
      const files = (yield* HttpClientFactory.get(service.url, breaker)).at("files")
      const endless = Stream.fromEffectRepeat(Effect.sync(() => new Uint8Array(65_536)))
      const failure = yield* Effect.flip(files.upload(endless))
      assert.strictEqual(failure.statusCode, 413)
      assert.deepStrictEqual(yield* files.upload(bytes("whole")), [200, {}])
    }).pipe(withClient))

  it.live("is sent again where a redirect says so, which a ReadableStream can't be", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const file = path.join(folder, "file.txt")
      fs.writeFileSync(file, "hello")
      const service = yield* upstream(({ url }, response) =>
        url === "/files/" ? void response.writeHead(307, { location: "/moved" }).end() : {}
      )
      const files = (yield* HttpClientFactory.get(service.url)).at("files")
      yield* files.uploadFrom(file)
      yield* files.upload(bytes("hello"))
      assert.deepStrictEqual(
        yield* Effect.forEach(service.requests.filter(({ url }) => url === "/moved"), formOf),
        [[["file", "file.txt", "text/plain", "hello"]], [["file", "upload", "application/octet-stream", "hello"]]]
      )
      assert.match(
        String(yield* Effect.flip(files.upload(new Blob(["hello"]).stream()))),
        /The ReadableStream was read already/u
      )
    }).pipe(withClient))

  it.live("waits for a service that takes the file slowly, but not for one that stops", () =>
    Effect.gen(function*() {
      const step = 30 * slowness()
      const service = yield* listening((request, response) => {
        if (request.url === "/stops/") return
        if (request.url === "/calm/") {
          // A twentieth at a time.
          let received = 0
          request.on("data", (chunk: Buffer) => {
            received += chunk.length
            if (received < 1_500_000) return
            received = 0
            request.pause()
            setTimeout(() => request.resume(), step)
          })
          request.on("end", () => response.end("{}"))
          return
        }
        // Reads on only after a while each time.
        request.on("data", () => {
          request.pause()
          setTimeout(() => request.resume(), step)
        })
        request.on("end", () => response.end("{}"))
      })
      const proxy = yield* HttpClientFactory.get(service.url)
      const file = Stream.fromIterable(Array.from({ length: 12 }, () => new Uint8Array(10))).pipe(
        Stream.rechunk(1),
        Stream.tap(() => Effect.sleep(step))
      )
      assert.deepStrictEqual(yield* proxy.at("slow").upload(file, { timeout: step * 6 }), [200, {}])
      // More than the buffers of both sockets, in one piece.
      const large = new Uint8Array(30_000_000)
      assert.strictEqual(yield* reasonOf(proxy.at("stops").upload(large, { timeout: step * 3 })), "Timeout")
      const start = performance.now()
      assert.deepStrictEqual(yield* proxy.at("calm").upload(large, { timeout: step * 10 }), [200, {}])
      assert.isAbove(performance.now() - start, step * 12)
    }).pipe(withClient))
})

describe("download", () => {
  it.live("gives the status and all bytes, as they were before compression", () =>
    Effect.gen(function*() {
      const content = new Uint8Array(randomBytes(200_000))
      const service = yield* listening(({ url }, response) => {
        if (url === "/gzip") response.writeHead(203, { "content-encoding": "gzip" }).end(gzipSync(content))
        else response.end(content)
      })
      const proxy = yield* HttpClientFactory.get(service.url)
      assert.deepStrictEqual(yield* proxy.wrap("plain").download(), [200, content])
      assert.deepStrictEqual(yield* proxy.wrap("gzip").download(), [203, content])
      for (const name of ["plain", "gzip"]) {
        const chunks = yield* Stream.runCollect(proxy.wrap(name).streamDownload({ chunkSize: 30_000 }))
        assert.deepStrictEqual(chunks.map(({ length }) => length), [...Array.from({ length: 6 }, () => 30_000), 20_000])
        assert.deepStrictEqual(new Uint8Array(Buffer.concat(chunks)), content)
        const saved = yield* proxy.wrap(name).downloadTo(yield* freshDirectory)
        assert.deepStrictEqual(new Uint8Array(fs.readFileSync(saved)), content)
      }
    }).pipe(withClient))
})

describe("a body that is larger than allowed", () => {
  it.live("is read by streamDownload and downloadTo only", () =>
    Effect.gen(function*() {
      const service = yield* listening((_, response) => void response.end(new Uint8Array(2_000)))
      const files = (yield* HttpClientFactory.get(service.url)).at("files")
      assert.strictEqual(yield* reasonOf(files.download()), "InvalidAnswer")
      assert.strictEqual(textOf(yield* Stream.runCollect(files.streamDownload())).length, 2_000)
      assert.strictEqual(fs.statSync(yield* files.downloadTo(yield* freshDirectory)).size, 2_000)
    }).pipe(Effect.provide(HttpClientFactory.layerWith({ maxResponseSize: "1 kB" }))))
})

describe("streamDownload", () => {
  it.live("calls each time that it is run, at its URL, and fails for other answers than 2xx and without an upstream", () =>
    Effect.gen(function*() {
      const service = yield* upstream(({ url }, response) =>
        url === "/files/a" ? { url } : void response.writeHead(404, { "retry-after": "3" }).end("nothing")
      )
      const proxy = yield* HttpClientFactory.get(service.url)
      const stream = proxy.at("files").streamDownload({ pathExtension: "/a" })
      assert.strictEqual(service.connections(), 0)
      for (const _ of [1, 2]) assert.strictEqual(textOf(yield* Stream.runCollect(stream)), "{\"url\":\"/files/a\"}")
      assert.lengthOf(service.requests, 2)
      const failure = yield* Effect.flip(Stream.runDrain(proxy.wrap("none").streamDownload()))
      assert.strictEqual(failure._tag, "RequestHandlingException")
      assert.deepInclude(failure, { statusCode: 404, upstreamService: "none", body: { result: "nothing" } })
      const away = yield* HttpClientFactory.get(yield* nobody)
      assert.strictEqual(yield* reasonOf(Stream.runDrain(away.at("files").streamDownload())), "Refused")
    }).pipe(withClient))

  it.live("fails in the middle where the body ends too early, and the breaker counts it", () =>
    Effect.gen(function*() {
      for (const [name, [head, reason]] of Object.entries(halves)) {
        const service = yield* rawUpstream((socket) => socket.end(head))
        const proxy = yield* HttpClientFactory.get(service.url, breaker)
        const received: Array<Uint8Array> = []
        const stream = Stream.tap(proxy.at("files").streamDownload({ chunkSize: 2 }), (chunk) =>
          Effect.sync(() => received.push(chunk)))
        assert.strictEqual(yield* reasonOf(Stream.runDrain(stream)), reason, name)
        if (!name.includes("gzip")) {
          assert.strictEqual(textOf(received), "half", name)
        }
        assert.strictEqual(yield* reasonOf(Stream.runDrain(stream)), "CircuitOpenError", name)
        assert.strictEqual(service.connections(), 1, name)
      }
    }).pipe(withClient))

  it.live("lets nobody pass while the breaker is open, before anything is sent", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      fs.writeFileSync(path.join(folder, "file"), "hello")
      const service = yield* upstream((_, response) => void response.writeHead(500).end())
      const proxy = yield* HttpClientFactory.get(service.url, breaker)
      const files = proxy.at("files")
      assert.strictEqual(yield* reasonOf(Stream.runDrain(files.streamDownload())), "Status")
      for (
        const call of [
          Stream.runDrain(files.streamDownload()),
          files.download(),
          files.downloadTo(folder),
          files.upload(bytes("hello")),
          files.uploadFrom(path.join(folder, "file"))
        ]
      ) {
        const failure = yield* Effect.flip(Effect.asVoid(call))
        assert.deepInclude(failure, { _tag: "CircuitOpenError", statusCode: 503 })
      }
      assert.lengthOf(service.requests, 1)
      assert.deepStrictEqual(fs.readdirSync(folder), ["file"])
    }).pipe(withClient))

  it.live("reads no faster than its consumer, and ends the connection when it stops, which is no failure", () =>
    Effect.gen(function*() {
      let sent = 0
      const service = yield* listening((_, response) => {
        const send = () => {
          while (response.write(new Uint8Array(65_536))) sent += 65_536
          sent += 65_536
        }
        response.on("drain", send)
        send()
      })
      const proxy = yield* HttpClientFactory.get(service.url, breaker)
      for (const _ of [1, 2]) {
        sent = 0
        let open = 0
        const taken = yield* proxy.at("files").streamDownload().pipe(
          Stream.take(20),
          Stream.tap(() => Effect.sleep(10)),
          Stream.tap(() => Effect.sync(() => open = service.open())),
          Stream.runCount
        )
        assert.deepStrictEqual([taken, open], [20, 1])
        // The buffers of both sockets are several megabytes on some systems.
        assert.isBelow(sent, 30_000_000)
        yield* Effect.repeat(Effect.sleep(5), { while: () => service.open() > 0 })
      }
    }).pipe(withClient))

  it.live("waits for a service that answers slowly, but not for one that stops; a slow consumer takes its time", () =>
    Effect.gen(function*() {
      const step = 30 * slowness()
      const service = yield* listening(({ url }, response) => {
        if (url === "/stops/") response.write("half")
        else inParts(response, Array.from({ length: 10 }, (_, i) => `${i}`), url === "/slow/" ? step : 0)
      })
      const proxy = yield* HttpClientFactory.get(service.url)
      const options = { timeout: step * 5, chunkSize: 1 }
      const slow = yield* Stream.runCollect(proxy.at("slow").streamDownload(options))
      assert.strictEqual(textOf(slow), "0123456789")
      const calm = Stream.tap(proxy.at("fast").streamDownload(options), () => Effect.sleep(step))
      assert.strictEqual(textOf(yield* Stream.runCollect(calm)), "0123456789")
      assert.strictEqual(yield* reasonOf(Stream.runDrain(proxy.at("stops").streamDownload(options))), "Timeout")
    }).pipe(withClient))

  it.live("fails with the reason of the call at its deadline", () =>
    Effect.gen(function*() {
      const service = yield* listening((_, response) => void response.write("half"))
      const proxy = yield* HttpClientFactory.get(service.url)
      const received: Array<Uint8Array> = []
      const stream = Stream.tap(proxy.at("files").streamDownload({ chunkSize: 1 }), (chunk) =>
        Effect.sync(() => received.push(chunk)))
      const ended = Deadline.within(Stream.runDrain(stream), 200 * slowness())
      assert.strictEqual(yield* reasonOf(ended), "Timeout")
      assert.strictEqual(textOf(received), "half")
      const folder = yield* freshDirectory
      const saved = Deadline.within(proxy.at("files").downloadTo(folder), 200 * slowness())
      assert.strictEqual(yield* reasonOf(saved), "Timeout")
      assert.deepStrictEqual(fs.readdirSync(folder), [])
    }).pipe(withClient))
})

/** Answers that end before they are complete, or are malformed, and why they fail. */
const halves: { readonly [name: string]: readonly [answer: string | Buffer, reason: string] } = {
  "a length that is too long": ["HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf", "Reset"],
  "chunks without an end": ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n", "Reset"],
  "a chunk without a size": [
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nx\r\n",
    "InvalidAnswer"
  ],
  "half a gzip": [
    Buffer.concat([
      Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 15\r\ncontent-encoding: gzip\r\n\r\n"),
      gzipSync("half of a text").subarray(0, 15)
    ]),
    "InvalidAnswer"
  ],
  "a broken gzip": [
    "HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-encoding: gzip\r\n\r\nhalf",
    "InvalidAnswer"
  ]
}

describe("downloadTo", () => {
  it.live("saves under the name of the caller, of the header, or of the URL", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const service = yield* upstream(({ url }, response) => {
        if (url?.startsWith("/named/")) {
          response.setHeader("content-disposition", decodeURIComponent(url.slice("/named/".length)))
        }
        return { url }
      })
      const proxy = yield* HttpClientFactory.get(service.url)
      const saved = (pathExtension: string, dest = folder) =>
        Effect.map(proxy.wrap("").downloadTo(dest, { pathExtension }), (file) => {
          assert.deepStrictEqual(JSON.parse(fs.readFileSync(file, "utf8")), { url: `/${pathExtension}` })
          assert.isTrue(path.isAbsolute(file))
          return path.relative(folder, file)
        })
      const named = (header: string) => saved(`named/${encodeURIComponent(header)}`)
      assert.strictEqual(yield* saved("files/a.txt", path.join(folder, "chosen.txt")), "chosen.txt")
      assert.strictEqual(yield* saved("files/a%20b.txt?v=1"), "a b.txt")
      assert.strictEqual(yield* saved("files/a.txt", `${folder}/`), "a.txt")
      assert.strictEqual(yield* saved("files/a.txt", path.relative(process.cwd(), folder)), "a.txt")
      assert.strictEqual(yield* named("attachment; filename=report.pdf"), "report.pdf")
      assert.strictEqual(yield* named("attachment; filename=x; filename*=UTF-8''%e2%82%ac.pdf"), "€.pdf")
      assert.strictEqual(yield* named("attachment; filename=\"../../outside\""), "outside")
      assert.strictEqual(yield* named("attachment; filename=\"..\\\\..\\\\outside.exe\""), "outside.exe")
      assert.strictEqual(yield* named(`attachment; filename="${path.join(folder, "..", "absolute")}"`), "absolute")
      assert.strictEqual(yield* named("attachment; filename=CON"), "_CON")
      const names = fs.readdirSync(folder).toSorted()
      assert.deepStrictEqual(names, [
        "_CON",
        "a b.txt",
        "a.txt",
        "absolute",
        "chosen.txt",
        "outside",
        "outside.exe",
        "report.pdf",
        "€.pdf"
      ])
    }).pipe(withClient))

  it.live("leaves nothing behind and an earlier file as it was, where the answer is not whole", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      fs.writeFileSync(path.join(folder, "file"), "earlier")
      const answers = { ...halves, "an error": ["HTTP/1.1 500 No\r\ncontent-length: 2\r\n\r\nno", "Status"] as const }
      for (const [name, [answer, reason]] of Object.entries(answers)) {
        const service = yield* rawUpstream((socket) => socket.end(answer))
        const proxy = yield* HttpClientFactory.get(service.url, breaker)
        assert.strictEqual(yield* reasonOf(proxy.wrap("file").downloadTo(folder)), reason, name)
        assert.deepStrictEqual(fs.readdirSync(folder), ["file"], name)
        assert.strictEqual(fs.readFileSync(path.join(folder, "file"), "utf8"), "earlier", name)
        assert.strictEqual(yield* reasonOf(proxy.wrap("file").downloadTo(folder)), "CircuitOpenError", name)
      }
    }).pipe(withClient))

  it.live("saves no more than the length that the answer says", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const service = yield* rawUpstream((socket) =>
        socket.end("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nhalf more")
      )
      const proxy = yield* HttpClientFactory.get(service.url)
      const saved = yield* proxy.wrap("file").downloadTo(folder)
      assert.strictEqual(fs.readFileSync(saved, "utf8"), "half")
    }).pipe(withClient))

  it.live("calls nobody where the folder does not exist, and fails as the system does where it can't write", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      fs.mkdirSync(path.join(folder, "taken"))
      const service = yield* upstream(() => ({}))
      const proxy = yield* HttpClientFactory.get(service.url, breaker)
      assert.strictEqual(yield* reasonOf(proxy.wrap("file").downloadTo(path.join(folder, "none", "file"))), "NotFound")
      assert.strictEqual(yield* reasonOf(proxy.wrap("file").downloadTo(`${folder}/none/`)), "NotFound")
      assert.strictEqual(service.connections(), 0)
      const failure = yield* Effect.flip(proxy.wrap("taken").downloadTo(folder))
      assert.strictEqual(failure._tag, "PlatformError")
      assert.deepStrictEqual(fs.readdirSync(folder), ["taken"])
      // That says nothing about the service.
      assert.deepStrictEqual(yield* proxy.wrap("file").get(), [200, {}])
    }).pipe(withClient))

  it.live("leaves no file when it is interrupted, and ends the connection", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const service = yield* listening((_, response) => void response.write("half"))
      const proxy = yield* HttpClientFactory.get(service.url, breaker)
      const fibers = yield* Effect.forEach(
        Array.from({ length: 50 }, (_, i) => i),
        (i) => Effect.forkChild(proxy.wrap(`file${i}`).downloadTo(folder))
      )
      yield* Effect.repeat(Effect.sleep(5), { while: () => fs.readdirSync(folder).length < 50 })
      yield* Fiber.interruptAll(fibers)
      assert.deepStrictEqual(fs.readdirSync(folder), [])
      yield* Effect.repeat(Effect.sleep(5), { while: () => service.open() > 0 })
    }).pipe(withClient))

  it.live("brings back what upload sent, for many at once", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const stored = new Map<string, Buffer>()
      const service = yield* listening((request, response) => {
        const name = request.url ?? ""
        if (request.method === "GET") return void response.end(stored.get(name))
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          const body = Buffer.concat(chunks)
          stored.set(name, body.subarray(body.indexOf("\r\n\r\n") + 4, body.lastIndexOf("\r\n--")))
          response.end("{}")
        })
      })
      const proxy = yield* HttpClientFactory.get(service.url)
      yield* Effect.forEach(Array.from({ length: 60 }, (_, i) => i), (i) =>
        Effect.gen(function*() {
          const content = Buffer.from(createHash("sha512").update(`${i}`).digest("hex").repeat(1 + i * 10))
          yield* proxy.wrap(`file${i}`).upload(content)
          const saved = yield* proxy.wrap(`file${i}`).downloadTo(folder, { chunkSize: 1_000 })
          assert.isTrue(content.equals(fs.readFileSync(saved)))
        }), { concurrency: 30 })
      assert.lengthOf(fs.readdirSync(folder), 60)
    }).pipe(withClient))

  it.live.skipIf(withSmallDisk === undefined)(
    "leaves nothing behind on a full disk, and saves what has room",
    () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        const service = yield* listening(({ url }, response) => {
          response.end(new Uint8Array(url === "/large" ? 8_000_000 : 1_000))
        })
        const file = path.join(import.meta.dirname, "../support/downloadProgram.ts")
        const program = yield* runProgram(file, { FOLDER: folder, URL: service.url }, withSmallDisk?.(folder, 8, 3))
        yield* program.ended
        const [failure = "", ...others] = program.output().trim().split("\n")
        assert.match(failure, /^PlatformError: .*writeAll.*no space left on device/iu)
        assert.deepStrictEqual(others, ["filler", path.join(folder, "small"), "filler,small"])
      }),
    60_000
  )
})

describe("large files", () => {
  it.live.each(["uploadFrom", "downloadTo"])("need little memory for %s", (row) =>
    Effect.gen(function*() {
      const file = path.join(import.meta.dirname, "../../bench/run.ts")
      const program = yield* runProgram(file, {}, [], ["--part", "transfers", "--size", "256", "--rows", row])
      assert.strictEqual(yield* program.ended, 0, program.output())
      const [megabytes = Number.NaN] = program.output().trim().split(/\s+/u).map(Number).toReversed()
      assert.isBelow(megabytes, 100, program.output())
    }), 120_000)
})
