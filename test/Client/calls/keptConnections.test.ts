/** Requests over connections that the service closes at the moment of their use (RFC 9112, section 9.3.1). */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type * as net from "node:net"
import { HttpClientFactory } from "../../../src/index.ts"
import { rawUpstream } from "../support/upstream.ts"

const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

/** A service that answers the first request of a connection, and closes it at the second; `isWorking` is false for one that does so at once. */
const closing = (isWorking: (connection: number) => boolean = () => true) => {
  const seen = new Map<net.Socket, number>()
  const methods: Array<string> = []
  return Effect.map(
    rawUpstream((socket, head) => {
      if (!/^[A-Z]+ \//u.test(head)) return
      methods.push(head.split(" ", 1)[0] ?? "")
      const count = seen.get(socket) ?? 0
      seen.set(socket, count + 1)
      if (count === 0 && isWorking(seen.size)) socket.write(answer)
      else socket.destroy()
    }),
    (service) => ({ ...service, methods })
  )
}

describe("A call over a connection that the service closes at that moment", () => {
  it.live("is sent once more if it is idempotent, over a new connection", () =>
    Effect.gen(function*() {
      const { connections, methods, url } = yield* closing()
      const proxy = yield* HttpClientFactory.get(url, { circuitBreaker: { failureThreshold: 1 } })
      const things = proxy.wrap("things")
      yield* things.get()
      assert.deepStrictEqual(yield* things.get(), [200, {}])
      assert.deepStrictEqual(yield* things.delete(), [200, {}])
      assert.deepStrictEqual(yield* things.put({ payload: { a: 1 } }), [200, {}])
      assert.deepStrictEqual(methods, ["GET", "GET", "GET", "DELETE", "DELETE", "PUT", "PUT"])
      assert.strictEqual(connections(), 4)
    }).pipe(Effect.provide(HttpClientFactory.layerWith({ maxConnections: 1 }))))

  it.live("is not, if it is not idempotent, has a stream, or the connection is new", () =>
    Effect.gen(function*() {
      const { methods, url } = yield* closing((connection) => connection !== 3)
      const things = (yield* HttpClientFactory.get(url)).wrap("things")
      yield* things.get()
      assert.strictEqual((yield* Effect.flip(things.post({ payload: { a: 1 } })))._tag, "RequestHandlingException")
      yield* things.get()
      yield* Effect.flip(things.put({ payload: new Blob(["a"]).stream() }))
      yield* Effect.flip(things.get())
      assert.deepStrictEqual(methods, ["GET", "POST", "GET", "PUT", "GET"])
    }).pipe(Effect.provide(HttpClientFactory.layerWith({ maxConnections: 1 }))))

  it.live("is sent twice, and no more", () =>
    Effect.gen(function*() {
      const { methods, url } = yield* closing((connection) => connection === 1)
      const things = (yield* HttpClientFactory.get(url)).wrap("things")
      yield* things.get()
      const failure = yield* Effect.flip(things.get())
      assert.deepInclude({ ...failure }, { reason: { _tag: "Reset" } })
      assert.deepStrictEqual(methods, ["GET", "GET", "GET"])
    }).pipe(Effect.provide(HttpClientFactory.layerWith({ maxConnections: 1 }))))
})
