/** Downloads into memory, over real connections. */
import { assert, describe, it } from "@effect/vitest"
import { Deadline, HttpClientFactory } from "appkernel"
import { Duration, Effect, Stream } from "effect"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { gzipSync } from "node:zlib"
import { freshDirectory } from "../../support/folders.ts"
import { inSteps } from "../../support/turns.ts"
import { breaker, bytes, halves, inParts, reasonOf, textOf, withClient } from "../support/files.ts"
import { listening, nobody, rawUpstream, upstream } from "../support/upstream.ts"

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
      assert.deepInclude(failure, {
        statusCode: 404,
        upstreamService: "none",
        reason: { _tag: "Status", statusCode: 404, retryAfter: Duration.seconds(3), body: { result: "nothing" } }
      })
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
    inSteps((step) =>
      Effect.gen(function*() {
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
      })
    ).pipe(withClient))

  it.live("fails with the reason of the call at its deadline", () =>
    inSteps((step) =>
      Effect.gen(function*() {
        const service = yield* listening((_, response) => void response.write("half"))
        const proxy = yield* HttpClientFactory.get(service.url)
        const received: Array<Uint8Array> = []
        const stream = Stream.tap(
          proxy.at("files").streamDownload({ chunkSize: 1 }),
          (chunk) => Effect.sync(() => received.push(chunk))
        )
        const ended = Deadline.within(Stream.runDrain(stream), 7 * step)
        assert.strictEqual(yield* reasonOf(ended), "Timeout")
        assert.strictEqual(textOf(received), "half")
        const folder = yield* freshDirectory
        const saved = Deadline.within(proxy.at("files").downloadTo(folder), 7 * step)
        assert.strictEqual(yield* reasonOf(saved), "Timeout")
        assert.deepStrictEqual(fs.readdirSync(folder), [])
      })
    ).pipe(withClient))
})
