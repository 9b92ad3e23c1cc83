/** Answers whose bodies come in the smallest parts, are larger than is accepted, or never end. */
import { assert, describe, it } from "@effect/vitest"
import { HttpClientFactory } from "appkernel"
import { Effect, Fiber, References, Schema } from "effect"
import { Chunks } from "../../src/Client/calls/bytes.ts"
import { printed, runProgram } from "../support/processes.ts"
import { listening, rawUpstream } from "./support/upstream.ts"

const quietly = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.provide(HttpClientFactory.layerWith({ maxResponseSize: 1_000_000, readTimeout: "1 minute" })),
    Effect.provideService(References.MinimumLogLevel, "None")
  )

/** A service that sends a head at once, and a byte of its body every 20 ms for as long as somebody takes it. */
const dripping = (status: number, length?: number) =>
  listening((_, response) => {
    const headers = { "content-type": "text/plain", ...length === undefined ? {} : { "content-length": length } }
    response.writeHead(status, headers).flushHeaders()
    const timer = setInterval(() => response.write("x"), 20)
    response.on("close", () => clearInterval(timer))
  })

const counting = <E extends { readonly _tag: string }>(results: ReadonlyArray<E | "answered">) =>
  results.map((one) => one === "answered" ? one : one._tag)

describe("Bodies that come slowly", () => {
  it.live("in parts of a byte take the memory of their bytes", () =>
    Effect.gen(function*() {
      const total = 4_000_000
      const service = yield* rawUpstream((socket) => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n")
        const many = "1\r\nx\r\n".repeat(10_000)
        let sent = 0
        const send = (): void => {
          while (sent < total) {
            sent += 10_000
            if (!socket.write(many)) return void socket.once("drain", send)
          }
          socket.write("0\r\n\r\n")
        }
        send()
      })
      const program = yield* runProgram("test/support/receivingProgram.ts", {
        URL: service.url,
        NODE_OPTIONS: "--max-old-space-size=128"
      })
      yield* printed(program, `Received ${total}`)
    }), 60_000)

  it.effect.prop(
    "are joined to the same bytes",
    [Schema.Array(Schema.Union([Schema.Literals([0, 1, 100, 4_095, 4_096, 70_000]), Schema.Literal("taken")]))],
    ([steps]) =>
      Effect.sync(() => {
        const chunks = new Chunks()
        const [taken, expected]: [Array<Uint8Array>, Array<Uint8Array>] = [[], []]
        const all = steps.flatMap((step) => Array.from({ length: step === 1 ? 40 : 1 }, () => step))
        for (const [i, step] of all.entries()) {
          if (step === "taken") taken.push(...chunks.take())
          else {
            const chunk = new Uint8Array(step).fill(i % 256)
            expected.push(chunk)
            chunks.add(chunk)
          }
        }
        assert.isTrue(Buffer.concat([...taken, chunks.whole()]).equals(Buffer.concat(expected)))
        assert.strictEqual(chunks.length, Buffer.concat(expected).length)
      })
  )

  it.live("and say that they are too large end their call at once", () =>
    Effect.gen(function*() {
      const service = yield* dripping(200, 1_000_001)
      const proxy = yield* HttpClientFactory.get(service.url)
      const error = yield* Effect.flip(proxy.wrap("things").get())
      assert.deepInclude({ ...error }, { reason: "InvalidAnswer" })
      yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => service.open() === 0 })
    }).pipe(quietly), 10_000)

  it.live(
    "do not hold the place of a probe: the head of an answer closes or opens the circuit",
    () =>
      Effect.gen(function*() {
        let status = 500
        const service = yield* listening((request, response) => {
          response.writeHead(status, { "content-type": "text/plain" }).flushHeaders()
          if (request.url === "/now") return void response.end("y")
          const timer = setInterval(() => response.write("x"), 20)
          response.on("close", () => clearInterval(timer))
        })
        const proxy = yield* HttpClientFactory.get(service.url, {
          circuitBreaker: { failureThreshold: 1, recoveryTimeout: "50 millis", halfOpenMaxCalls: 1 }
        })
        const call = (path: string) =>
          Effect.match(proxy.wrap(path).get(), { onSuccess: () => "answered" as const, onFailure: (error) => error })
        const open = Effect.repeat(call("now"), {
          until: (result) => result !== "answered" && result._tag === "CircuitOpenError"
        })
        for (const next of [200, 503]) {
          status = 500
          yield* open
          yield* Effect.sleep("60 millis")
          status = next
          const probe = yield* Effect.forkChild(call("drip"), { startImmediately: true })
          // The probe has its answer, whose body goes on.
          const expected = next === 200 ? "answered" : "CircuitOpenError"
          yield* Effect.repeat(Effect.map(call("now"), (result) => counting([result])), {
            until: ([result]) => result === expected
          })
          yield* Fiber.interrupt(probe)
        }
      }).pipe(quietly),
    20_000
  )

  it.live("of an error end after a time, with the status that their head has", () =>
    Effect.gen(function*() {
      const service = yield* dripping(503)
      const proxy = yield* HttpClientFactory.get(service.url)
      const error = yield* Effect.flip(proxy.wrap("things").get())
      assert.deepInclude({ ...error }, { reason: "Status", statusCode: 503 })
      assert.notProperty(error, "body")
      yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => service.open() === 0 })
    }).pipe(quietly), 30_000)
})
