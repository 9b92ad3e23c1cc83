import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { connect } from "node:net"
import { EmbeddedStore, KernelEngine } from "../../src/index.ts"
import { Note } from "../support/models.ts"

const engine = KernelEngine.make("bodies").register(Note, { methods: ["GET", "POST"] })
const layer = engine.layerServe.pipe(
  Layer.provide(EmbeddedStore.layerMemory),
  Layer.provideMerge(NodeHttpServer.layerTest)
)

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

describe("the body of a request / memory", () => {
  it.layer(layer)((it) => {
    it.effect("may wait for the server's word to continue", () =>
      Effect.gen(function*() {
        const body = JSON.stringify({ text: "patient" })
        const answer = yield* exchange(
          [head(["expect: 100-continue", `content-length: ${body.length}`]), body],
          /OperationResult/u
        )
        assert.match(answer, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 Created/u)
      }))

    it.effect("is cut off at the limit, however it comes", () =>
      Effect.gen(function*() {
        const chunk = "x".repeat(65_536)
        const chunks = Array.from({ length: 20 }, () => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
        for (const expect of [[], ["expect: 100-continue"]]) {
          const answer = yield* exchange([head([...expect, "transfer-encoding: chunked"]), ...chunks], /"code":413/u)
          assert.match(answer, /HTTP\/1\.1 413 /u)
        }
      }))

    it.effect("may come byte by byte", () =>
      Effect.gen(function*() {
        const body = JSON.stringify({ text: "slow ü" })
        const bytes = Array.from(Buffer.from(body), (byte) => Uint8Array.of(byte))
        const answer = yield* exchange([
          head([`content-length: ${Buffer.byteLength(body)}`]),
          ...bytes
        ], /HTTP\/1\.1 \d+ [\s\S]*\}/u)
        assert.match(answer, /^HTTP\/1\.1 201 Created/u)
      }))
  })
})
