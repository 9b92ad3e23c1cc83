/** What a connection carries: several requests, parts of them, and what RFC 9110 and RFC 9112 say of each. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { connect } from "node:net"
import { EmbeddedStore, KernelEngine, Model } from "../../../src/index.ts"
import { freshDirectory } from "../../support/folders.ts"
import { sendBytes, serving } from "../../support/rest.ts"

class Thing extends Model.Class<Thing>()("Thing", { id: Schema.String, size: Schema.Int }) {}

const begun = Deferred.makeUnsafe<void>()
const interrupted = Deferred.makeUnsafe<void>()

/** How many slow requests run, each time when one begins or ends. */
const slowAtOnce: Array<number> = []

const engine = KernelEngine.make("connections")
  .register(Thing, { methods: ["GET", "POST", "DELETE"] })
  .use(HttpRouter.add(
    "GET",
    "/slow",
    Effect.acquireUseRelease(
      Effect.sync(() => slowAtOnce.push((slowAtOnce.at(-1) ?? 0) + 1)),
      () => Effect.sleep("700 millis"),
      () => Effect.sync(() => slowAtOnce.push((slowAtOnce.at(-1) ?? 0) - 1))
    ).pipe(Effect.as(HttpServerResponse.text("<slow>")))
  ))
  .use(HttpRouter.add(
    "GET",
    "/endless",
    Effect.andThen(Deferred.succeed(begun, undefined), Effect.never).pipe(
      Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
    )
  ))

// On disk: what is written there is not written in the turn in which it was asked for.
const layer = Layer.unwrap(
  Effect.map(freshDirectory, (path) => serving(engine, EmbeddedStore.layerWith({ path })))
)

const request = (method: string, path: string, body?: unknown, headers = ""): string => {
  const text = body === undefined ? "" : JSON.stringify(body)
  const about = body === undefined
    ? ""
    : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`
  return `${method} ${path} HTTP/1.1\r\nHost: a\r\n${about}${headers}\r\n${text}`
}

const last = "Connection: close\r\n"

/** The statuses of all answers on the connection, in their order. */
const statusesOn = (bytes: string) =>
  Effect.map(sendBytes(bytes), (text) => [...text.matchAll(/HTTP\/1\.1 (\d+)/gu)].map(([, status]) => Number(status)))

const errorOn = (bytes: string) =>
  Effect.map(sendBytes(bytes), (text) => {
    const body = text.slice(text.indexOf("\r\n\r\n") + 4)
    const { _type, code, message } = JSON.parse(body)
    assert.strictEqual(_type, "ErrorMessage")
    assert.include(text, `HTTP/1.1 ${code} `)
    return [code, message]
  })

describe("the engine's server / connections", () => {
  it.layer(layer, { excludeTestServices: true })((it) => {
    it.effect("runs pipelined requests sequentially when one of them is not safe", () =>
      Effect.gen(function*() {
        for (let i = 0; i < 20; i++) {
          const path = `/things/p${i}`
          const statuses = yield* statusesOn(
            request("POST", "/things", { id: `p${i}`, size: 1 }) + request("GET", path)
              + request("DELETE", path) + request("GET", path) + request("GET", "/things", undefined, last)
          )
          assert.deepStrictEqual(statuses, [201, 200, 200, 404, 200])
        }
      }))

    it.effect("keeps the order of hundreds of pipelined requests behind a slow one, on many connections", () =>
      Effect.gen(function*() {
        const count = 200
        const all = yield* Effect.forEach(Array.from({ length: 8 }, (_, i) => i), (i) => {
          const pairs = Array.from(
            { length: count },
            (_, n) => request("POST", "/things", { id: `m${i}-${n}`, size: n }) + request("GET", `/things/m${i}-${n}`)
          )
          return statusesOn(request("GET", "/slow") + pairs.join("") + request("GET", "/things", undefined, last))
        }, { concurrency: 8 })
        const expected = [200, ...Array.from({ length: count }, () => [201, 200]).flat(), 200]
        for (const statuses of all) assert.deepStrictEqual(statuses, expected)
      }))

    it.effect("runs safe pipelined requests concurrently", () =>
      Effect.gen(function*() {
        slowAtOnce.length = 0
        const slow = Array.from({ length: 9 }, () => request("GET", "/slow")).join("")
        const statuses = yield* statusesOn(slow + request("GET", "/slow", undefined, last))
        assert.deepStrictEqual(statuses, Array.from({ length: 10 }, () => 200))
        assert.strictEqual(Math.max(...slowAtOnce), 10)
      }))

    it.effect("responds to the requests before invalid bytes, then rejects those", () =>
      Effect.gen(function*() {
        const statuses = yield* statusesOn(
          request("GET", "/slow") + request("POST", "/things", { id: "before", size: 1 }) + "nonsense\r\n\r\n"
        )
        assert.deepStrictEqual(statuses, [200, 201, 400])
      }))

    it.effect("rejects two Host headers with any values", () =>
      Effect.gen(function*() {
        for (const second of ["Host: a", "hOST: b"]) {
          assert.deepStrictEqual(
            yield* errorOn(request("GET", "/things", undefined, `${second}\r\n`)),
            [400, "The request has more than one Host header"]
          )
        }
      }))

    it.effect("rejects a Host header that names no host", () =>
      Effect.gen(function*() {
        const of = (host: string) => `GET /things HTTP/1.1\r\nHost: ${host}\r\n${last}\r\n`
        for (const host of ["a b", "a/b", "a@b", "a:b", "http://a", "a?b", "[::1", "a:80:80", "%zz", "é"]) {
          assert.deepStrictEqual(
            yield* errorOn(of(host)),
            [400, "The Host header is no name or address of a host"],
            host
          )
        }
        for (const host of ["", "a", "a_b.example.org:8080", "[::1]:80", "127.0.0.1:", "%61"]) {
          assert.deepStrictEqual(yield* statusesOn(of(host)), [200], host)
        }
      }))

    it.effect("closes after a request of HTTP/1.0 with a transfer coding", () =>
      Effect.gen(function*() {
        const answer = yield* sendBytes(
          "POST /things HTTP/1.0\r\nConnection: keep-alive\r\nContent-Type: application/json\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n15\r\n{\"id\":\"1.0\",\"size\":1}\r\n0\r\n\r\n"
        )
        assert.match(answer, /^HTTP\/1\.1 201 /u)
      }))

    it.effect("accepts no transfer coding except chunked", () =>
      Effect.gen(function*() {
        const of = (coding: string) =>
          `POST /things HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\n`
          + `Transfer-Encoding: ${coding}\r\n\r\n16\r\n{"id":"${coding}","size":1}\r\n0\r\n\r\n`
        for (
          const coding of ["gzip", "identity", "gzip, chunked", "chunked, gzip", "chunked\r\nTransfer-Encoding: gzip"]
        ) {
          assert.deepStrictEqual(
            yield* errorOn(of(coding)),
            [501, "The only Transfer-Encoding that the server knows is chunked"],
            coding
          )
        }
        const chunked = yield* sendBytes(
          of("Chunked").replace("16\r\n", "1a\r\n").replace("\"Chunked\"", "\"Chunked\" ")
        )
        assert.match(chunked, /HTTP\/1\.1 201/u)
      }))

    it.effect("responds to CONNECT", () =>
      Effect.gen(function*() {
        const [code] = yield* errorOn("CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n")
        assert.strictEqual(code, 501)
      }))

    it.effect("ignores an expectation of HTTP/1.0", () =>
      Effect.gen(function*() {
        for (const expectation of ["wonders", "100-continue"]) {
          const body = JSON.stringify({ id: expectation, size: 1 })
          const answer = yield* sendBytes(
            `POST /things HTTP/1.0\r\nExpect: ${expectation}\r\nContent-Type: application/json\r\n`
              + `Content-Length: ${body.length}\r\n\r\n${body}`
          )
          assert.match(answer, /^HTTP\/1\.1 201 /u)
        }
      }))

    it.effect("rejects paths that are not percent-encoded UTF-8", () =>
      Effect.gen(function*() {
        for (const value of ["%FF", "%zz", "%", "%E0%A4", "a%C3", "%ED%A0%80", "%C0%AF"]) {
          assert.deepStrictEqual(
            yield* errorOn(request("GET", `/things?size=1&id=${value}`, undefined, last)),
            [400, "The value of the parameter id is not percent-encoded UTF-8"]
          )
          assert.deepStrictEqual(
            yield* errorOn(request("GET", `/things/${value}`, undefined, last)),
            [400, "The path is not percent-encoded UTF-8"]
          )
        }
        assert.deepStrictEqual(
          yield* errorOn(request("GET", "/things?%FF=1", undefined, last)),
          [400, "The name of a parameter is not percent-encoded UTF-8"]
        )
        assert.deepStrictEqual(yield* statusesOn(request("GET", "/things?id=%E2%82%AC+%25", undefined, last)), [200])
      }))

    it.effect("responds to a client that has closed its sending side", () =>
      Effect.gen(function*() {
        const quick = yield* halfClosed(request("GET", "/things/none"))
        assert.match(quick, /^HTTP\/1\.1 404 /u)
        const slow = yield* halfClosed(request("GET", "/slow"))
        assert.include(slow, "HTTP/1.1 200 OK")
        assert.include(slow, "<slow>")
        const several = yield* halfClosed(
          request("POST", "/things", { id: "half", size: 1 }) + request("GET", "/slow") + request("GET", "/things/half")
        )
        assert.deepStrictEqual(several.match(/HTTP\/1\.1 [2-5]\d\d/gu), [
          "HTTP/1.1 201",
          "HTTP/1.1 200",
          "HTTP/1.1 200"
        ])
      }))

    it.effect("interrupts the request of a disconnected client", () =>
      Effect.gen(function*() {
        const { address } = yield* HttpServer.HttpServer
        const socket = connect("port" in address ? address.port : 0, "127.0.0.1")
        socket.write(request("GET", "/endless"))
        yield* Deferred.await(begun)
        socket.destroy()
        yield* Deferred.await(interrupted)
      }))
  })
})

const halfClosed = (bytes: string) =>
  Effect.flatMap(HttpServer.HttpServer, ({ address }) =>
    Effect.callback<string>((resume) => {
      let text = ""
      const socket = connect({ port: "port" in address ? address.port : 0, host: "127.0.0.1" })
      socket.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk
      })
      socket.on("close", () => resume(Effect.succeed(text)))
      socket.end(bytes)
    }))
