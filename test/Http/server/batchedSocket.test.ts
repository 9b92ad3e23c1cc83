import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as net from "node:net"
import { makeServer } from "../../../src/Http/server/nodeServer.ts"

type Handle = (request: IncomingMessage, response: ServerResponse) => void

/** A server with this handler, which is gone at the end; it gives connections to it. */
const serving = (handle: Handle) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const sockets: Array<net.Socket> = []
        const server = makeServer({ requestTimeout: Duration.seconds(10), shutdownTimeout: Duration.seconds(20) }).on(
          "request",
          handle
        ).listen(0, "127.0.0.1")
        await once(server, "listening")
        return { server, sockets }
      }),
      ({ server, sockets }) =>
        Effect.promise(async () => {
          for (const socket of sockets) socket.destroy()
          server.close()
          await once(server, "close")
        })
    ),
    ({ server, sockets }) =>
      Effect.promise(async () => {
        const address = server.address()
        const socket = net.connect(typeof address === "object" && address !== null ? address.port : 0, "127.0.0.1")
        sockets.push(socket)
        await once(socket, "connect")
        return socket.setEncoding("utf8")
      })
  )

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: here\r\n\r\n`

/** The bodies, written like `<this>`, that the socket receives, as soon as there are so many; all of them at its end. */
const received = (socket: net.Socket, answers: number) =>
  Effect.promise(() =>
    new Promise<ReadonlyArray<string>>((resolve) => {
      let text = ""
      const bodies = () => text.match(/<[^>]*>/g) ?? []
      socket.on("close", () => resolve(bodies()))
      socket.on("data", (chunk) => {
        text += String(chunk)
        if (bodies().length >= answers) resolve(bodies())
      })
    })
  )

/** Answers all of so many requests when the last one is there, and says after which of them each answer was written. */
const answeringAtOnce = (count: number, body: string) => {
  const given: Array<ServerResponse> = []
  const writtenAfter = new Map<number, number>()
  const handle: Handle = (_, response) => {
    if (given.push(response) < count) return
    for (const [i, one] of given.entries()) {
      one.end(body)
      for (const [j, { req }] of given.entries()) {
        if (j <= i && !writtenAfter.has(j) && req.socket.writableLength === 0) writtenAfter.set(j, i)
      }
    }
  }
  return { handle, writtenAfter }
}

describe("a response", () => {
  it.effect("waits for the end of the event loop's turn", () =>
    Effect.gen(function*() {
      const { handle, writtenAfter } = answeringAtOnce(3, "<here>")
      const connect = yield* serving(handle)
      const sockets = yield* Effect.replicateEffect(connect, 3)
      for (const socket of sockets) socket.write(get("/"))
      const answers = yield* Effect.forEach(sockets, (socket) => received(socket, 1), { concurrency: "unbounded" })
      assert.deepStrictEqual(answers, [["<here>"], ["<here>"], ["<here>"]])
      assert.deepStrictEqual([...writtenAfter], [])
    }))

  it.effect("does not wait for more than 63 others", () =>
    Effect.gen(function*() {
      const { handle, writtenAfter } = answeringAtOnce(80, "<here>")
      const connect = yield* serving(handle)
      const sockets = yield* Effect.replicateEffect(connect, 80)
      for (const socket of sockets) socket.write(get("/"))
      yield* Effect.forEach(sockets, (socket) => received(socket, 1), { concurrency: "unbounded" })
      assert.deepStrictEqual([...writtenAfter], Array.from({ length: 64 }, (_, i) => [i, 63]))
    }))

  it.effect("does not wait for others when they are large together", () =>
    Effect.gen(function*() {
      const { handle, writtenAfter } = answeringAtOnce(5, `<${"x".repeat(100_000)}>`)
      const connect = yield* serving(handle)
      const sockets = yield* Effect.replicateEffect(connect, 5)
      for (const socket of sockets) socket.write(get("/"))
      yield* Effect.forEach(sockets, (socket) => received(socket, 1), { concurrency: "unbounded" })
      assert.strictEqual(Math.min(...writtenAfter.values()), 2)
    }))

  it.effect("keeps its place among those of its connection", () =>
    Effect.gen(function*() {
      const connect = yield* serving((request, response) => {
        if (request.url === "/2") response.write("<part>")
        response.end(`<${request.url}>`)
      })
      const socket = yield* connect
      socket.write(get("/1") + get("/2") + get("/3"))
      assert.deepStrictEqual(yield* received(socket, 4), ["</1>", "<part>", "</2>", "</3>"])
    }))

  const hasBody = "POST /1 HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n\r\n"
  for (
    const [after, text] of [
      ["what is no request", `${get("/1")}no request\r\n\r\n`],
      ["a body that nobody announced", `${get("/1")}{}`],
      ["more of a body than was announced", `${hasBody}{}}`],
      [
        "a second request on a connection that is to be closed",
        get("/1").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n") + get("/2")
      ],
      ["the wish to be connected elsewhere", `${get("/1")}CONNECT there:80 HTTP/1.1\r\nHost: there\r\n\r\n`]
    ] as const
  ) {
    it.effect(`arrives if there is ${after} behind its request`, () =>
      Effect.gen(function*() {
        const connect = yield* serving((request, response) => response.end(`<${request.url}>`))
        const socket = yield* connect
        socket.write(text)
        assert.deepStrictEqual((yield* received(socket, 1))[0], "</1>")
      }))
  }

  it.effect("arrives if its connection is closed in the same turn", () =>
    Effect.gen(function*() {
      const connect = yield* serving((request, response) => {
        response.end("<here>")
        request.socket.destroy()
      })
      const socket = yield* connect
      socket.write(get("/"))
      assert.deepStrictEqual(yield* received(socket, 1), ["<here>"])
    }))

  it.effect("to a disconnected client does not delay the others", () =>
    Effect.gen(function*() {
      const first = Promise.withResolvers<ServerResponse>()
      let other: ServerResponse | undefined
      const connect = yield* serving((_, response) => {
        first.resolve(response)
        if (other === undefined) return
        other.end("<gone>")
        other.req.socket.destroy(new Error("gone"))
        response.end("<here>")
      })
      const [gone, socket] = [yield* connect, yield* connect]
      gone.on("error", () => {})
      gone.write(get("/"))
      other = yield* Effect.promise(() => first.promise)
      socket.write(get("/"))
      assert.deepStrictEqual(yield* received(socket, 1), ["<here>"])
    }))
})
