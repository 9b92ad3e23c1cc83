import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { KernelServer } from "../../../src/index.ts"

// Reads the body as whatever else is on this server does: as a stream.
const echo = Layer.effectDiscard(HttpServer.serveEffect(
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (request.url === "/late") yield* isComplete(NodeHttpServerRequest.toIncomingMessage(request))
    return HttpServerResponse.text(`${request.method} ${yield* request.text}`)
  })
))

const isComplete = (request: { readonly complete: boolean }): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const look = (): void => {
      if (request.complete) resume(Effect.void)
      else setImmediate(look)
    }
    look()
  })

const layer = Layer.provideMerge(echo, KernelServer.layerWith({ address: "127.0.0.1", port: 0 }))

const send = (init: RequestInit & { readonly duplex?: "half" }, path = "") =>
  Effect.gen(function*() {
    const { address } = yield* HttpServer.HttpServer
    const url = `http://127.0.0.1:${"port" in address ? address.port : 0}/${path}`
    return yield* Effect.promise(() => fetch(url, init).then((response) => response.text()))
  })

describe("the engine's server", () => {
  it.layer(layer)((it) => {
    for (const size of [0, 1, 65_536, 65_537, 1_000_000]) {
      it.effect(`streams a body of ${size} bytes`, () =>
        Effect.gen(function*() {
          const body = "x".repeat(size)
          assert.strictEqual(yield* send({ method: "POST", body }), `POST ${body}`)
        }))
    }

    it.effect("streams a body of unknown length", () =>
      Effect.gen(function*() {
        const body = new Blob(["one, ", "two"]).stream()
        assert.strictEqual(yield* send({ method: "PUT", body, duplex: "half" }), "PUT one, two")
      }))

    it.effect("accepts a request without a body", () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* send({ method: "GET" }), "GET ")
        assert.strictEqual(yield* send({ method: "GET" }, "late"), "GET ")
        // What was sent in chunks, without any.
        const body = new Blob([]).stream()
        assert.strictEqual(yield* send({ method: "POST", body, duplex: "half" }, "late"), "POST ")
      }))
  })
})
