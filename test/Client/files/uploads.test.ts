/** Uploads, over real connections. */
import { assert, describe, it } from "@effect/vitest"
import { HttpClientFactory } from "appkernel"
import { Cause, Effect, Exit, Schema, Stream } from "effect"
import * as fs from "node:fs"
import { open } from "node:fs/promises"
import * as path from "node:path"
import { freshDirectory } from "../../support/folders.ts"
import { inSteps } from "../../support/turns.ts"
import { breaker, bytes, formOf, reasonOf, Stored, withClient } from "../support/files.ts"
import { listening, upstream } from "../support/upstream.ts"

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

  it.live("takes what Node has open or reads: a FileHandle, a ReadStream, any async iterable of bytes", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const file = path.join(folder, "file.txt")
      fs.writeFileSync(file, "hello")
      const service = yield* upstream(({ url }, response) =>
        url === "/moving/" ? void response.writeHead(307, { location: "/moved" }).end() : {}
      )
      const proxy = yield* HttpClientFactory.get(service.url)
      const handle = yield* Effect.acquireRelease(
        Effect.promise(() => open(file)),
        (handle) => Effect.promise(() => handle.close())
      )
      const iterable = async function*() {
        yield* [bytes("hel"), bytes("lo")]
      }
      const files = proxy.at("files")
      yield* files.upload(handle)
      yield* files.upload(handle)
      yield* files.upload(fs.createReadStream(file))
      yield* files.upload(fs.createReadStream(file, "utf8"))
      yield* files.upload(iterable())
      for (const request of service.requests) {
        assert.deepStrictEqual(yield* formOf(request), [["file", "upload", "application/octet-stream", "hello"]])
      }
      assert.deepStrictEqual(
        service.requests.map(({ headers }) => headers["content-length"] !== undefined),
        [true, true, false, false, false]
      )
      // A redirect asks for the file again.
      const moving = proxy.at("moving")
      yield* moving.upload(handle)
      assert.deepStrictEqual(yield* formOf(service.requests.at(-1)!), [[
        "file",
        "upload",
        "application/octet-stream",
        "hello"
      ]])
      assert.strictEqual(yield* reasonOf(moving.upload(fs.createReadStream(file))), "NotRepeatable")
      const broken = async function*() {
        yield bytes("hel")
        yield await Promise.reject(new Error("broken"))
      }
      assert.instanceOf(yield* Effect.flip(files.upload(broken())), Cause.UnknownError)
    }).pipe(withClient))

  it.live("knows the types of common extensions", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const service = yield* upstream(() => ({}))
      const files = (yield* HttpClientFactory.get(service.url)).at("files")
      const office = "application/vnd.openxmlformats-officedocument"
      const types = {
        docx: `${office}.wordprocessingml.document`,
        XLSX: `${office}.spreadsheetml.sheet`,
        pptx: `${office}.presentationml.presentation`,
        ods: "application/vnd.oasis.opendocument.spreadsheet",
        odt: "application/vnd.oasis.opendocument.text",
        tar: "application/x-tar",
        "7z": "application/x-7z-compressed",
        mkv: "video/x-matroska",
        ico: "image/vnd.microsoft.icon",
        rar: "application/vnd.rar",
        flac: "audio/x-flac",
        psd: "image/vnd.adobe.photoshop"
      }
      for (const extension of Object.keys(types)) {
        const file = path.join(folder, `a.${extension}`)
        fs.writeFileSync(file, "x")
        yield* files.uploadFrom(file)
      }
      const sent = yield* Effect.forEach(service.requests, formOf)
      assert.deepStrictEqual(sent.map(([part]) => part?.[2]), Object.values(types))
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
      assert.deepInclude(yield* Effect.flip(files.upload(new Blob(["hello"]).stream())), {
        reason: { _tag: "NotRepeatable" }
      })
    }).pipe(withClient))

  it.live("waits for a service that takes the file slowly, but not for one that stops", () =>
    inSteps((step) =>
      Effect.gen(function*() {
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
      })
    ).pipe(withClient))
})
