import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Schema } from "effect"
import { connect, type Socket } from "node:net"
import { KernelEngine, Model } from "../../../src/index.ts"
import { type Message, messagesIn, nextData, openedStream } from "../../support/eventStream.ts"

class Note extends Model.Class<Note>()("Note", { id: Model.id(), n: Schema.Int, text: Schema.String }, {
  logged: true
}) {}

const total = 80

const maxPageBytes = 9_000_000

const textOf = (n: number) => "äö\"€xyz012"[n % 10]!.repeat(95_000)

const engine = KernelEngine.make("first").register(Note, { methods: ["GET", "POST"] })

/** A client that asks for a stream, and takes nothing after the status. */
const stalled = (port: number, query: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly socket: Socket; readonly status: string }>((resume) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.write(`GET /notes/changes?live=sse&${query} HTTP/1.1\r\nHost: here\r\n\r\n`)
      })
      socket.on("error", () => {})
      socket.once("data", (data) => {
        socket.pause()
        resume(Effect.succeed({ socket, status: data.toString("latin1").slice(9, 12) }))
      })
    }),
    ({ socket }) => Effect.sync(() => socket.destroy())
  )

/** What else comes until the end. */
const restOf = (socket: Socket) =>
  Effect.callback<string>((resume) => {
    let text = ""
    socket.on("data", (data) => {
      text += data.toString("latin1")
    })
    socket.on("close", () => resume(Effect.succeed(text)))
    socket.resume()
  })

describe("live / first lists", () => {
  it.live("share the budget of lists, and are cut where their clients take nothing", () =>
    Effect.gen(function*() {
      const { baseUrl, repositories } = yield* engine.test()
      yield* repositories.notes.bulkInsert(
        yield* Effect.forEach(Array.from({ length: total }), (_, n) => Model.finalise(Note, { n, text: textOf(n) }))
      )
      const port = Number(new URL(baseUrl).port)
      const clients = yield* Effect.forEach(
        Array.from({ length: 24 }, (_, i) => `n=>=${-i}`),
        (query) => stalled(port, query),
        { concurrency: 24 }
      )
      const begun = clients.filter(({ status }) => status === "200")
      assert.deepStrictEqual(new Set(clients.map(({ status }) => status)), new Set(["200", "503"]))
      yield* Effect.sleep("5 seconds")
      for (const { socket } of begun) assert.notInclude(yield* restOf(socket), "snapshot-end")

      // There is room again, for those who take what they ask for.
      const changes = `${baseUrl}/notes/changes`
      const numbersOf = (messages: ReadonlyArray<Message>) => messages.flatMap(({ value }) => value?.["n"] ?? [])
      const inOrder = (messages: ReadonlyArray<Message>) =>
        numbersOf(messages).toSorted((a, b) => Number(a) - Number(b))
      const numbers = Array.from({ length: total }, (_, n) => n)
      const stream = yield* openedStream(`${changes}?live=sse`)
      const told = messagesIn(yield* nextData(stream))
      assert.deepStrictEqual([told[0], told.at(-1)].map((message) => message?.headers.control), [
        "snapshot-start",
        "snapshot-end"
      ])
      assert.deepStrictEqual(inOrder(told), numbers)
      for (const { value } of told) if (value !== undefined) assert.isTrue(value["text"] === textOf(Number(value["n"])))
      assert.strictEqual(JSON.parse((yield* stream.next)!.data).upToDate, true)
      yield* repositories.notes.insert(yield* Model.finalise(Note, { n: total, text: "" }))
      assert.deepStrictEqual(numbersOf(messagesIn(yield* nextData(stream))), [total])
      for (const live of ["", "?live=long-poll"]) {
        const answer = yield* Effect.promise(() => fetch(`${changes}${live}`))
        const page: ReadonlyArray<Message> = yield* Effect.promise(() => answer.json())
        assert.deepStrictEqual(inOrder(page), [...numbers, total])
      }
    }).pipe(
      Effect.scoped,
      Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({
        appkernel: {
          live: { heartbeat: "2 seconds" },
          query: { max_page_bytes: maxPageBytes, timeout: "2 seconds" }
        }
      })))
    ))
})
