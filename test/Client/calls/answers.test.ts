/** How answers are read: their text, their compressions, and what they say of a failure. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, References, Schedule, Schema, Stream } from "effect"
import * as zlib from "node:zlib"
import { type ClientError, Deadline, HttpClientFactory, KernelApi, Service } from "../../../src/index.ts"
import { upstream } from "../support/upstream.ts"

const client = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.provide(HttpClientFactory.layerWith({ maxResponseSize: 100_000 })),
    Effect.provideService(References.MinimumLogLevel, "None"),
    Effect.scoped
  )

const failureOf = (call: Effect.Effect<unknown, ClientError.RequestHandlingException | ClientError.CircuitOpenError>) =>
  Effect.map(
    Effect.flip(call),
    (error) => error._tag === "RequestHandlingException" ? error : assert.fail(error.message)
  )

const texts = KernelApi.make("texts").register(
  Service.describe("Texts").operation("tell", { path: "./tell", success: Schema.Unknown })
)

describe("The text of an answer", () => {
  it.live("has the charset that its type says", () =>
    Effect.gen(function*() {
      const bodies: ReadonlyArray<readonly [type: string, bytes: Uint8Array, text: string]> = [
        ["text/plain; charset=iso-8859-1", Buffer.from("Grüezi", "latin1"), "Grüezi"],
        ["text/plain;charset=\"ISO-8859-1\"; format=flowed", Buffer.from("Grüezi", "latin1"), "Grüezi"],
        ["text/plain; charset=utf-16le", Buffer.from("Grüezi", "utf16le"), "Grüezi"],
        ["text/plain; charset=windows-1252", Buffer.from([0x80, 0x31]), "€1"],
        ["text/plain; charset=utf-8", Buffer.from("Grüezi"), "Grüezi"],
        ["text/plain", Buffer.from("Grüezi"), "Grüezi"],
        ["text/plain; charset=unheard-of", Buffer.from("Grüezi"), "Grüezi"]
      ]
      const { url } = yield* upstream(({ url }, response) => {
        const [type = "", bytes] = bodies[Number(url?.slice(1))] ?? []
        response.writeHead(200, { "content-type": type }).end(bytes)
      })
      const proxy = yield* HttpClientFactory.get(url)
      for (const [index, [type, , result]] of bodies.entries()) {
        assert.deepStrictEqual(yield* proxy.wrap(String(index)).get(), [200, { result }], type)
      }
    }).pipe(client))

  it.live("has it for typed clients, too, and for the messages of failures", () =>
    Effect.gen(function*() {
      const { url } = yield* upstream((request, response) => {
        const isFine = request.url?.endsWith("tell") === true
        const text = JSON.stringify(
          isFine
            ? { _type: "OperationResult", result: "Grüezi" }
            : { _type: "ErrorMessage", code: 418, message: "Schön" }
        )
        response.writeHead(isFine ? 200 : 418, { "content-type": "application/json; charset=iso-8859-1" })
          .end(Buffer.from(text, "latin1"))
      })
      const typed = yield* HttpClientFactory.typed(texts, url)
      assert.strictEqual((yield* typed.texts.tell()).result, "Grüezi")
      const proxy = yield* HttpClientFactory.get(url)
      assert.strictEqual((yield* failureOf(proxy.wrap("x").get())).message, "Schön")
    }).pipe(client))
})

const hasZstd = "createZstdDecompress" in zlib

const text = "compressed ".repeat(1_000)

/** Ways to compress that are advertised, and what they make of the text. */
const compressed: { readonly [name: string]: readonly [encoding: string, body: Buffer] } = {
  gzip: ["gzip", zlib.gzipSync(text)],
  "gzip of several members": ["gzip", Buffer.concat([zlib.gzipSync(text.slice(0, 50)), zlib.gzipSync(text.slice(50))])],
  "gzip with nulls behind it": ["gzip", Buffer.concat([zlib.gzipSync(text), Buffer.alloc(7)])],
  deflate: ["deflate", zlib.deflateSync(text)],
  "deflate without a header": ["deflate", zlib.deflateRawSync(text)],
  br: ["br", zlib.brotliCompressSync(text)],
  "br of gzip": ["gzip, br", zlib.brotliCompressSync(zlib.gzipSync(text))],
  ...(hasZstd
    ? {
      zstd: ["zstd", zlib.zstdCompressSync(text)] as const,
      "zstd of several frames": [
        "zstd",
        Buffer.concat([zlib.zstdCompressSync(text.slice(0, 50)), zlib.zstdCompressSync(text.slice(50))])
      ] as const
    }
    : {})
}

describe("A compressed answer", () => {
  it.live("is read in each way that is advertised, in one piece or byte by byte", () =>
    Effect.gen(function*() {
      const service = yield* upstream(({ url }, response) => {
        const [, name = "", part] = decodeURIComponent(url ?? "").split("/")
        const [encoding = "", body = Buffer.alloc(0)] = compressed[name] ?? []
        response.writeHead(200, { "content-encoding": encoding, "content-type": "text/plain" })
        if (part === "half") return void response.end(body.subarray(0, body.length >> 1))
        if (part === "whole") return void response.end(body)
        if (part === "more") return void response.end(Buffer.concat([body, Buffer.from("and more")]))
        for (const byte of body) response.write(Buffer.from([byte]))
        response.end()
      })
      const proxy = yield* HttpClientFactory.get(service.url)
      for (const [name, [encoding]] of Object.entries(compressed)) {
        for (const part of ["whole", "bytes"]) {
          const wrapper = proxy.wrap(encodeURIComponent(name))
          assert.deepStrictEqual(
            yield* wrapper.get({ pathExtension: part }),
            [200, { result: text }],
            `${name} ${part}`
          )
          const streamed = wrapper.streamDownload({ pathExtension: part }).pipe(Stream.decodeText(), Stream.mkString)
          assert.strictEqual(yield* streamed, text, `${name} ${part}`)
        }
        // Node leaves what is behind the members of gzip, as the tool does.
        for (const part of encoding.includes("gzip") ? ["half"] : ["half", "more"]) {
          const broken = yield* failureOf(proxy.wrap(encodeURIComponent(name)).get({ pathExtension: part }))
          assert.strictEqual(broken.reason._tag, "InvalidAnswer", `${name} ${part}`)
        }
      }
      assert.strictEqual(
        service.requests[0]?.headers["accept-encoding"],
        `gzip, deflate, br${hasZstd ? ", zstd" : ""}`
      )
    }).pipe(client))

  it.live("is too large where it grows beyond the maximum", () =>
    Effect.gen(function*() {
      const large = Buffer.alloc(50_000_000)
      const bombs: { readonly [encoding: string]: Buffer } = {
        gzip: zlib.gzipSync(large),
        br: zlib.brotliCompressSync(large, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }),
        ...(hasZstd ? { zstd: zlib.zstdCompressSync(large) } : {})
      }
      const { url } = yield* upstream((request, response) => {
        const encoding = request.url?.slice(1) ?? ""
        response.writeHead(200, { "content-encoding": encoding }).end(bombs[encoding])
      })
      const proxy = yield* HttpClientFactory.get(url)
      for (const encoding of Object.keys(bombs)) {
        assert.include((yield* failureOf(proxy.wrap(encoding).download())).message, "more than 100000 bytes")
      }
    }).pipe(client))
})

describe("A failure", () => {
  it.live("has the beginning of a message, and a time to wait of at most a day", () =>
    Effect.gen(function*() {
      const { url } = yield* upstream((request, response) => {
        response.writeHead(503, {
          "content-type": "application/json",
          "retry-after": request.url === "/date" ? "Fri, 31 Dec 9999 23:59:59 GMT" : "999999999"
        })
        response.end(JSON.stringify({
          _type: "ErrorMessage",
          message: "💥".repeat(10_000),
          upstream_service: "s".repeat(30_000)
        }))
      })
      const proxy = yield* HttpClientFactory.get(url)
      for (const path of ["date", "seconds"]) {
        const { message, reason, upstreamService } = yield* failureOf(proxy.wrap(path).get())
        assert.isAtMost(message.length, 1_001)
        assert.isTrue(message.startsWith("💥💥") && message.endsWith("💥…"))
        assert.isAtMost(upstreamService.length, 101)
        assert.strictEqual(reason._tag === "Status" && reason.retryAfter && Duration.toHours(reason.retryAfter), 24)
      }
    }).pipe(client))

  it.live("that asks many callers to wait is tried again by one after the other", () =>
    Effect.gen(function*() {
      const arrivals: Array<number> = []
      const asked = new Set<string | undefined>()
      const { url } = yield* upstream(({ url }, response) => {
        // Some may be there again before others have been there.
        if (!asked.has(url)) {
          asked.add(url)
          return void response.writeHead(429, { "retry-after": "1" }).end()
        }
        arrivals.push(performance.now())
        return {}
      })
      const proxy = yield* HttpClientFactory.get(url)
      const begun = performance.now()
      // A busy machine may not let each of them connect at the first try.
      const call = (i: number) => proxy.wrap(`${i}`).get({ retry: Schedule.recurs(3), timeout: "2 minutes" })
      yield* Effect.all(Array.from({ length: 50 }, (_, i) => call(i)), { concurrency: 50 })
      assert.strictEqual(arrivals.length, 50)
      assert.isAtLeast(Math.min(...arrivals) - begun, 999)
      assert.isAtLeast(Math.max(...arrivals) - Math.min(...arrivals), 100)
    }).pipe(Deadline.within("2 minutes"), client))
})
