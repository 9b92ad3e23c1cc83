import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { ServerResponse } from "node:http"
import { connect, type Socket } from "node:net"
import { makeServer } from "../../../src/Http/server/nodeServer.ts"
import { KernelServer } from "../../../src/index.ts"

// Reads the body as whatever else is on this server does: as a stream.
const echo = Layer.effectDiscard(HttpServer.serveEffect(
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const incoming = NodeHttpServerRequest.toIncomingMessage(request)
    if (request.url === "/late") yield* until(() => incoming.complete)
    if (request.url.startsWith("/unread")) {
      last = { socket: incoming.socket, events: [] }
      const { events } = last
      if (request.url === "/unread/heard") {
        for (const event of ["end", "close"]) {
          incoming.once(event, () => events.push(event))
        }
      }
      return HttpServerResponse.empty()
    }
    return HttpServerResponse.text(`${request.method} ${yield* request.text}`)
  })
))

/** The connection of a request whose body nobody reads, and what is heard of it. */
let last: { readonly socket: Socket; readonly events: Array<string> } | undefined

const until = (isTrue: () => boolean): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const look = (): void => {
      if (isTrue()) resume(Effect.void)
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

    for (const [title, init] of [["without a body", {}], ["with one", { method: "POST", body: "x" }]] as const) {
      it.effect(`holds no request ${title} once it is answered, and ends it for who listens`, () =>
        Effect.gen(function*() {
          yield* send(init, "unread")
          yield* until(() => Reflect.get(Object(Reflect.get(last!.socket, "parser")), "incoming") === null)
          yield* send(init, "unread/heard")
          yield* until(() => last!.events.length === 2)
          assert.deepStrictEqual(last?.events, ["end", "close"])
        }))
    }

    it.effect("accepts a request without a body", () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* send({ method: "GET" }), "GET ")
        assert.strictEqual(yield* send({ method: "GET" }, "late"), "GET ")
        // What was sent in chunks, without any.
        const body = new Blob([]).stream()
        assert.strictEqual(yield* send({ method: "POST", body, duplex: "half" }, "late"), "POST ")
      }))
  })

  it.effect("lets no read overtake a pipelined write that a gate holds back", () =>
    Effect.gen(function*() {
      const second = Duration.seconds(1)
      const server = makeServer({ requestTimeout: second, shutdownTimeout: second })
      yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
      yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
      const begun: Array<string> = []
      const answers: Array<ServerResponse> = []
      server.on("request", ({ method, url }, response) => {
        begun.push(`${method} ${url}`)
        answers.push(response)
      })
      const held: Array<() => void> = []
      const passed: Array<string | undefined> = []
      server.gate = {
        connected: () => {},
        enter: ({ method, url }, _, handle) => {
          passed.push(url)
          if (method === "POST") held.push(handle)
          else handle()
        }
      }
      yield* Effect.callback<void>((resume) =>
        void server.listen({ port: 0, host: "127.0.0.1" }, () => resume(Effect.void))
      )
      const address = server.address()
      const socket = connect(typeof address === "object" && address !== null ? address.port : 0, "127.0.0.1")
      yield* Effect.addFinalizer(() => Effect.sync(() => socket.destroy()))
      const host = "Host: a\r\n"
      socket.resume().write(
        `GET /1 HTTP/1.1\r\n${host}\r\nPOST /2 HTTP/1.1\r\n${host}Content-Length: 1\r\n\r\na`
          + `GET /3 HTTP/1.1\r\n${host}\r\nGET /4 HTTP/1.1\r\n${host}\r\n`
      )
      yield* until(() => passed.length >= 3)
      assert.deepStrictEqual(begun, ["GET /1"])
      held.forEach((handle) => handle())
      for (const count of [2, 3, 4]) {
        answers.at(-1)?.end()
        yield* until(() => begun.length === count)
      }
      assert.deepStrictEqual(begun, ["GET /1", "POST /2", "GET /3", "GET /4"])
    }).pipe(Effect.scoped))
})
