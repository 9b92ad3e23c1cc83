/** Downloads into files, over real connections. */
import { assert, describe, it } from "@effect/vitest"
import { HttpClientFactory } from "appkernel"
import { Effect, Fiber } from "effect"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { freshDirectory } from "../../support/folders.ts"
import { runProgram } from "../../support/processes.ts"
import { withSmallDisk } from "../../support/smallDisk.ts"
import { breaker, halves, reasonOf, withClient } from "../support/files.ts"
import { listening, rawUpstream, upstream } from "../support/upstream.ts"

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

  it.live("keeps the mode of a file that it replaces", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const service = yield* upstream(() => ({}))
      const files = (yield* HttpClientFactory.get(service.url)).at("files")
      for (const mode of [0o600, 0o640, 0o755]) {
        const file = path.join(folder, `file-${mode}`)
        fs.writeFileSync(file, "earlier")
        fs.chmodSync(file, mode)
        yield* files.downloadTo(file)
        assert.strictEqual(fs.readFileSync(file, "utf8"), "{}")
        assert.strictEqual(fs.statSync(file).mode & 0o7777, mode)
      }
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
        const file = path.join(import.meta.dirname, "../../support/downloadProgram.ts")
        const program = yield* runProgram(file, { FOLDER: folder, URL: service.url }, withSmallDisk?.(folder, 8, 3))
        yield* program.ended
        const [failure = "", ...others] = program.output().trim().split("\n")
        assert.match(failure, /^PlatformError: .*writeAll.*the disk is full.*no space left on device/iu)
        assert.deepStrictEqual(others, ["filler", path.join(folder, "small"), "filler,small"])
      })
  )
})
