/** Requests with an `Upgrade` header: the handshakes of WebSockets, which Node hands over, and all others, which it reads. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { connect } from "node:net"
import { Anonymous, EmbeddedStore, KernelEngine, Model, Raw, Service } from "../../../src/index.ts"
import { sendBytes, serving } from "../../support/rest.ts"

class Thing extends Model.Class<Thing>()("Thing", { id: Schema.String, size: Schema.Int }) {}

const Bodies = Service.make("bodies").operation(
  "size",
  { payload: Raw.request({ contentType: "text/plain" }), success: Schema.Int, require: Anonymous },
  ({ payload }) => Stream.runFold(payload, () => 0, (sum, { length }) => sum + length)
)

const engine = KernelEngine.make("upgrades")
  .register(Thing, { methods: ["GET", "POST"] })
  .register(Bodies)
  .use(HttpRouter.add("GET", "/slow", Effect.as(Effect.sleep("300 millis"), HttpServerResponse.text("<slow>"))))
  .use(HttpRouter.add(
    "GET",
    "/socket",
    Effect.gen(function*() {
      const socket = yield* (yield* HttpServerRequest.HttpServerRequest).upgrade
      const { pull } = yield* socket.reader
      const { write } = yield* socket.writer
      yield* write(`heard ${String((yield* pull)[0])}`)
      return HttpServerResponse.empty()
    })
  ))

const layer = serving(engine, EmbeddedStore.layerMemory)

const request = (line: string, protocol: string, rest = "\r\n") =>
  `${line} HTTP/1.1\r\nHost: a\r\nConnection: close, Upgrade\r\nUpgrade: ${protocol}\r\n${rest}`

const json = JSON.stringify({ id: "made", size: 1 })

const chunked = (type: string, body: string) =>
  `Content-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

const sized = (type: string, body: string) => `Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`

const statusesIn = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/gu)].map(([, status]) => status)

/** Sends the second request once the first one is answered. */
const sendInTurn = (first: string, second: string) =>
  Effect.flatMap(HttpServer.HttpServer, ({ address }) =>
    Effect.callback<string>((resume) => {
      let text = ""
      const socket = connect("port" in address ? address.port : 0, "127.0.0.1", () => socket.write(first))
      socket.once("data", () => socket.write(second))
      socket.on("data", (chunk) => {
        text += String(chunk)
      })
      socket.on("close", () => resume(Effect.succeed(text)))
    }))

describe("the engine's server / upgrades", () => {
  it.layer(layer, { excludeTestServices: true })((it) => {
    for (const protocol of ["h2c", "websocket", "TLS/1.0"]) {
      for (const framed of [sized, chunked]) {
        it.effect(`reads ${framed.name} bodies of requests with Upgrade: ${protocol}`, () =>
          Effect.gen(function*() {
            const id = `${protocol.slice(0, 3)}-${framed.name}`
            const created = yield* sendBytes(
              request("POST /things", protocol, framed("application/json", json.replace("made", id)))
            )
            assert.match(created, /^HTTP\/1\.1 201 /u)
            assert.match(created, /\r\nX-Content-Type-Options: nosniff\r\n/iu)
            const counted = yield* sendBytes(request("POST /bodies/size", protocol, framed("text/plain", "hello")))
            assert.match(counted, /^HTTP\/1\.1 200 /u)
            assert.match(counted, /"result":5\}$/u)
          }))
      }
    }

    it.effect("reads the request that follows one with an Upgrade header, or closes where Node's parser loses it", () =>
      Effect.gen(function*() {
        const first = "GET /things HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
        const next = request("POST /things", "h2c", sized("application/json", json))
        assert.deepStrictEqual(statusesIn(yield* sendBytes(`${first}${next}`)), ["200"])
        assert.deepStrictEqual(statusesIn(yield* sendInTurn(first, next)), ["200", "201"])
      }))

    it.effect("speaks WebSockets where a route does", () =>
      Effect.gen(function*() {
        const { address } = yield* HttpServer.HttpServer
        const heard = yield* Effect.callback<string>((resume) => {
          const socket = new WebSocket(`ws://127.0.0.1:${"port" in address ? address.port : 0}/socket`)
          socket.addEventListener("open", () => socket.send("hello"))
          socket.addEventListener("message", ({ data }) => resume(Effect.succeed(String(data))))
          socket.addEventListener("error", () => resume(Effect.die("no connection")))
        })
        assert.strictEqual(heard, "heard hello")
      }))

    it.effect("answers handshakes after the requests before them", () =>
      Effect.gen(function*() {
        const text = yield* sendBytes(
          `GET /slow HTTP/1.1\r\nHost: a\r\n\r\n${request("GET /things/none", "websocket")}`
        )
        assert.deepStrictEqual(text.match(/HTTP\/1\.1 \d+|<slow>/gu), ["HTTP/1.1 200", "<slow>", "HTTP/1.1 404"])
      }))

    it.effect("limits the headers of handshakes, and asks for one Host", () =>
      Effect.gen(function*() {
        const many = yield* sendBytes(request("GET /socket", "websocket", `${"A: b\r\n".repeat(1_200)}\r\n`))
        assert.match(many, /^HTTP\/1\.1 431 /u)
        const hosts = yield* sendBytes(request("GET /socket", "websocket", "Host: b\r\n\r\n"))
        assert.match(hosts, /^HTTP\/1\.1 400 /u)
      }))

    it.effect("closes the connection of a handshake that it answers otherwise, although the client does not", () =>
      Effect.gen(function*() {
        const { address } = yield* HttpServer.HttpServer
        yield* Effect.callback<void>((resume) => {
          const socket = connect({
            port: "port" in address ? address.port : 0,
            host: "127.0.0.1",
            allowHalfOpen: true
          }, () => socket.write(request("GET /things", "websocket")))
          // A write to a connection that the server has given up is answered with a reset.
          const probe = setInterval(() => socket.write("a"), 100)
          socket.resume().on("error", () => {}).on("close", () => {
            clearInterval(probe)
            resume(Effect.void)
          })
        })
      }))
  })
})
