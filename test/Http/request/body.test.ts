import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { connect } from "node:net"
import { EmbeddedStore, KernelEngine, KernelServer } from "../../../src/index.ts"
import { Note } from "../../support/models.ts"

const engine = KernelEngine.make("bodies").register(Note, { methods: ["GET", "POST"] })
const over = (server: Layer.Layer<HttpServer.HttpServer>) =>
  engine.layerServe.pipe(Layer.provide(EmbeddedStore.layerMemory), Layer.provideMerge(server))

/** Sends bytes over a socket of its own, waits for `until`, and gives everything that came back. */
const exchange = (parts: ReadonlyArray<string | Uint8Array>, until: RegExp) =>
  Effect.gen(function*() {
    const { address } = yield* HttpServer.HttpServer
    const port = "port" in address ? address.port : 0
    return yield* Effect.callback<string>((resume) => {
      let received = ""
      const socket = connect(port, "127.0.0.1", () => parts.forEach((part) => socket.write(part)))
      const look = () => {
        if (until.test(received)) {
          socket.destroy()
          resume(Effect.succeed(received))
        }
      }
      socket.setEncoding("utf8").on("data", (text: string) => {
        received += text
        look()
      })
      socket.on("error", () => {})
      return Effect.sync(() => socket.destroy())
    })
  })

const head = (lines: ReadonlyArray<string>) =>
  `POST /notes HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${lines.join("\r\n")}\r\n\r\n`

const servers: ReadonlyArray<readonly [name: string, layer: Layer.Layer<HttpServer.HttpServer>]> = [
  ["of the engine", Layer.orDie(KernelServer.layerWith({ address: "127.0.0.1", port: 0 }))],
  ["of others", Layer.orDie(NodeHttpServer.layerTest)]
]

describe.each(servers)("the body of a request / memory, the server %s", (_, server) => {
  it.layer(over(server))((it) => {
    it.effect("may wait for 100 Continue", () =>
      Effect.gen(function*() {
        const body = JSON.stringify({ text: "patient" })
        const answer = yield* exchange(
          [head(["expect: 100-continue", `content-length: ${body.length}`]), body],
          /OperationResult/u
        )
        assert.match(answer, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 Created/u)
      }))

    it.effect("is cut off at the limit, however it is sent", () =>
      Effect.gen(function*() {
        const chunk = "x".repeat(65_536)
        const chunks = Array.from({ length: 20 }, () => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
        for (const expect of [[], ["expect: 100-continue"]]) {
          const answer = yield* exchange([head([...expect, "transfer-encoding: chunked"]), ...chunks], /"code":413/u)
          assert.match(answer, /HTTP\/1\.1 413 /u)
        }
      }))

    it.effect("is refused with a content coding, which is not decoded", () =>
      Effect.gen(function*() {
        const body = JSON.stringify({ text: "small" })
        for (const [coding, status] of [["gzip", 415], ["br, gzip", 415], ["identity", 201], ["Identity", 201]]) {
          const answer = yield* exchange(
            [head([`content-encoding: ${coding}`, `content-length: ${body.length}`]), body],
            /\}/u
          )
          assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `, "u"))
          assert.strictEqual(answer.includes("Content-Encoding, and none is decoded"), status === 415)
        }
      }))

    it.effect("may arrive byte by byte", () =>
      Effect.gen(function*() {
        const body = JSON.stringify({ text: "slow ü" })
        const bytes = Array.from(Buffer.from(body), (byte) => Uint8Array.of(byte))
        const answer = yield* exchange([
          head([`content-length: ${Buffer.byteLength(body)}`]),
          ...bytes
        ], /HTTP\/1\.1 \d+ [\s\S]*\}/u)
        assert.match(answer, /^HTTP\/1\.1 201 Created/u)
      }))

    it.effect("does not affect the next request on the connection", () =>
      Effect.gen(function*() {
        const body = JSON.stringify({ text: "one of two" })
        const one = `${head([`content-length: ${body.length}`])}${body}`
        const answers = yield* exchange([`${one}${one}`], /OperationResult[\s\S]*OperationResult/u)
        assert.strictEqual(answers.match(/HTTP\/1\.1 201 /gu)?.length, 2)
      }))

    it.effect("rejects texts with half a character", () =>
      Effect.gen(function*() {
        const send = (body: string) => exchange([head([`content-length: ${body.length}`]), body], /"_type":.*\}/u)
        for (const text of [`"\\ud800"`, `"a\\uDC00"`, `["\\udfff\\ud800"]`, `{"\\ud83d": 1}`]) {
          const answer = yield* send(`{"text": "milk", "other": ${text}}`)
          assert.match(answer, /^HTTP\/1\.1 400 /u, text)
          assert.include(answer, "not valid Unicode")
        }
        assert.match(yield* send(`{"text": "\\ud83d\\ude00 \\\\ud800"}`), /^HTTP\/1\.1 201 /u)
      }))

    it.effect("may have an ignored type", () =>
      Effect.gen(function*() {
        const unread = `POST /nowhere HTTP/1.1\r\nhost: localhost\r\ncontent-length: 7\r\n\r\n{"a":1}`
        const answers = yield* exchange([`${unread}${unread}`], /"code":404[\s\S]*"code":404/u)
        assert.strictEqual(answers.match(/HTTP\/1\.1 404 /gu)?.length, 2)
      }))

    it.effect("may end too early without effect on other requests", () =>
      Effect.gen(function*() {
        const body = JSON.stringify({ text: "whole" })
        const { address } = yield* HttpServer.HttpServer
        yield* Effect.callback<void>((resume) => {
          const socket = connect("port" in address ? address.port : 0, "127.0.0.1", () =>
            socket.write(`${head(["content-length: 90"])}{"text":`, () => {
              socket.destroy()
              resume(Effect.void)
            }))
        })
        const answer = yield* exchange([head([`content-length: ${body.length}`]), body], /OperationResult/u)
        assert.match(answer, /^HTTP\/1\.1 201 Created/u)
      }))
  })
})
