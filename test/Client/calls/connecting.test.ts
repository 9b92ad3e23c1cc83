/** Connections that are not complete: services that accept TCP and never answer TLS, or do not accept at all. */
import { assert, describe, it } from "@effect/vitest"
import { HttpClientFactory } from "appkernel"
import { Effect, Fiber, References, Schedule } from "effect"
import * as fs from "node:fs"
import { printed, runProgram } from "../../support/processes.ts"
import { certificate } from "../support/certificate.ts"
import { busy, rawUpstream, secureUpstream } from "../support/upstream.ts"

const client = (options: HttpClientFactory.Options) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.provide(HttpClientFactory.layerWith({ connect: { ca: certificate }, ...options })),
    Effect.provideService(References.MinimumLogLevel, "None")
  )

const calling = (url: string, options: Parameters<typeof HttpClientFactory.get>[1] = { circuitBreaker: null }) =>
  Effect.flatMap(HttpClientFactory.get(url, options), (proxy) => Effect.result(proxy.wrap("things").get()))

const times = <A, E, R>(count: number, effect: Effect.Effect<A, E, R>) =>
  Effect.all(Array.from({ length: count }, () => effect), { concurrency: "unbounded" })

const silent = Effect.map(
  rawUpstream(() => {}),
  (service) => ({ ...service, url: service.url.replace("http:", "https:") })
)

const until = (holds: () => boolean) =>
  Effect.repeat(Effect.sync(holds), { until: (held) => held, schedule: Schedule.spaced("10 millis") })

/** The sockets that are connected to a port, or try to, as Linux lists them. */
const connectedTo = (url: string): number => {
  const port = Number(new URL(url).port)
  const remote = `:${port.toString(16).toUpperCase().padStart(4, "0")}`
  return fs.readFileSync("/proc/self/net/tcp", "latin1").split("\n").map((line) => line.trim().split(/\s+/u))
    .filter(([, , other, state]) => other?.endsWith(remote) === true && (state === "01" || state === "02")).length
}

describe.runIf(process.platform === "linux")("Connections that are not complete", () => {
  it.live("count for the limit, and are closed when their calls time out or are interrupted", () =>
    Effect.gen(function*() {
      const service = yield* silent
      let most = 0
      const watch = yield* Effect.forkChild(
        Effect.forever(Effect.gen(function*() {
          // The system closes a socket a little later, when the next one may have begun; each is there for a second.
          let least = Infinity
          for (let i = 0; i < 6; i++) {
            least = Math.min(least, connectedTo(service.url))
            yield* Effect.sleep("50 millis")
          }
          most = Math.max(most, least)
        }))
      )
      yield* Effect.gen(function*() {
        const results = yield* times(30, calling(service.url))
        assert.deepStrictEqual(
          [
            ...new Set(
              results.map((result) =>
                result._tag === "Failure" && "reason" in result.failure && result.failure.reason._tag
              )
            )
          ],
          ["Timeout"]
        )
        yield* until(() => service.open() === 0)
        const fibers = yield* Effect.forkChild(times(10, calling(service.url)))
        yield* until(() => service.open() === 10)
        yield* Fiber.interrupt(fibers)
        yield* until(() => service.open() === 0)
        // The pool is as good as new.
        const other = yield* secureUpstream(() => ({ fine: true }))
        // On a busy machine, a first handshake may take longer than its time.
        yield* Effect.repeat(times(30, calling(other.url)), {
          until: (answers) => answers.every(({ _tag }) => _tag === "Success")
        })
      }).pipe(client({ maxConnections: 10, connectTimeout: "1 second", poolTimeout: "20 seconds" }))
      yield* Fiber.interrupt(watch)
      assert.strictEqual(most, 10)
      assert.strictEqual(service.connections(), 40)
    }))

  it.live("to a service that accepts none are given up, too", () =>
    Effect.gen(function*() {
      const url = yield* busy
      const before = connectedTo(url)
      yield* Effect.gen(function*() {
        const fibers = yield* Effect.forkChild(times(10, calling(url)))
        yield* until(() => connectedTo(url) === before + 5)
        yield* Fiber.join(fibers)
        yield* until(() => connectedTo(url) === before)
      }).pipe(client({ maxConnections: 5, connectTimeout: "1 second", poolTimeout: "20 seconds" }))
    }))

  it.live("are closed with the client, whose process ends", () =>
    Effect.gen(function*() {
      const service = yield* silent
      yield* client({ connectTimeout: "1 minute", shutdownTimeout: "100 millis" })(
        Effect.gen(function*() {
          yield* Effect.forkDetach(calling(service.url), { startImmediately: true })
          yield* until(() => service.open() === 1)
        })
      )
      yield* until(() => service.open() === 0)
      const program = yield* runProgram("test/support/connectingProgram.ts", { URL: service.url, CALLS: "20" })
      yield* printed(program, "Timeout")
      assert.strictEqual(yield* program.ended, 0)
    }))
})
