import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import process from "node:process"
import { ofWorkers } from "../../../src/Http/monitoring/prometheus.ts"
import { freshDirectory } from "../../support/folders.ts"
import { freshDatabase, onMongo } from "../../support/mongo.ts"
import { freePort, linesOf, printed, runProgram, said, saidTimes } from "../../support/processes.ts"
import { sendTo } from "../../support/rest.ts"

const program = `${import.meta.dirname}/../../support/workersProgram.ts`

describe("ofWorkers", () => {
  it("gives each series its worker, and keeps a metric together", () => {
    const text = (value: number) =>
      `# HELP a_total of a\n# TYPE a_total counter\na_total{x="{ }"} ${value}\na_total ${value}\n# TYPE b gauge\nb 1.5\n`
    assert.deepStrictEqual(ofWorkers([[1, text(1)], [2, text(2)]]).split("\n").filter((line) => line !== ""), [
      "# HELP a_total of a",
      "# TYPE a_total counter",
      `a_total{worker="1",x="{ }"} 1`,
      `a_total{worker="1"} 1`,
      `a_total{worker="2",x="{ }"} 2`,
      `a_total{worker="2"} 2`,
      "# TYPE b gauge",
      `b{worker="1"} 1.5`,
      `b{worker="2"} 1.5`
    ])
  })
})

describe("server.workers", () => {
  it.live("is refused for the embedded store, in one line", () =>
    Effect.gen(function*() {
      const running = yield* runProgram(program, {
        APPKERNEL_SERVER_WORKERS: "2",
        APPKERNEL_SERVER_PORT: "0",
        APPKERNEL_EMBEDDED_PATH: yield* freshDirectory,
        WORKERS_STORE: "embedded"
      })
      assert.strictEqual(yield* running.ended, 1)
      assert.deepStrictEqual(
        linesOf(running).filter(({ level }) => level === "FATAL").map(({ message, worker }) => [worker, message]),
        [
          [
            1,
            "server.workers needs a store that several processes share, such as MongoDB: one process has the embedded store"
          ],
          [undefined, "The first worker could not start; its lines say why"]
        ]
      )
    }))
})

onMongo("server.workers on a server", (_, server) => {
  it.live(
    "share a port, limits and metrics; are replaced when they end, restarted one by one, and stopped",
    () =>
      Effect.gen(function*() {
        const port = yield* freePort
        const running = yield* runProgram(program, {
          APPKERNEL_SERVER_WORKERS: "2",
          APPKERNEL_SERVER_PORT: String(port),
          APPKERNEL_METRICS_ENABLED: "true",
          APPKERNEL_RATE_LIMITS_PER_ADDRESS: "50000 per day",
          APPKERNEL_MONGO_HOST: server.url,
          APPKERNEL_MONGO_DB: yield* freshDatabase(server)
        }, ["setsid"])
        yield* printed(running, "2 workers serve")
        yield* saidTimes(running, "what is done at a start", 2)
        // The first worker has done it before the second one began.
        assert.deepStrictEqual(said(running, "what is done at a start").map(({ worker }) => worker), [1, 2])
        const [listening] = said(running, "Listening on")
        assert.strictEqual(listening.worker, 1)
        assert.isTrue(listening.timestamp <= said(running, "what is done at a start")[1].timestamp)
        const get = (path: string) => sendTo(`http://127.0.0.1:${port}`, "GET", path)
        const pid = Effect.map(get("/works/whoami"), ({ text }): number => JSON.parse(text).pid)
        const pids = Effect.map(
          Effect.all(Array.from({ length: 8 }, () => pid)),
          (found) => [...new Set(found)].toSorted((a, b) => a - b)
        )
        const first = yield* pids
        assert.strictEqual(first.length, 2)

        // All of them count together.
        const limit = yield* get("/works/whoami")
        assert.match(String(limit.headers["ratelimit"]), /r=4999[12];/u)
        const metrics = yield* get("/metrics")
        const served = [...metrics.text.matchAll(
          /^http_server_request_duration_seconds_count\{worker="(\d)".*route="\/works\/whoami".*\} (\d+)$/gmu
        )].map(([, worker, count]) => [worker, Number(count)] as const)
        assert.deepStrictEqual(served.map(([worker]) => worker), ["1", "2"])
        assert.strictEqual(served.reduce((sum, [, count]) => sum + count, 0), 9)

        // One that ends is started again, and the other one answers meanwhile.
        yield* Effect.exit(Effect.tryPromise(() => fetch(`http://127.0.0.1:${port}/works/crash`)))
        yield* printed(running, "A worker has ended (code 7) and is started again in 1s")
        assert.strictEqual((yield* get("/works/whoami")).status, 200)
        yield* saidTimes(running, "Listening on", 3)
        assert.strictEqual((yield* pids).length, 2)

        // Each has another process after a restart, and no request is lost.
        const before = yield* pids
        const slow = yield* Effect.forkChild(Effect.all([get("/works/slow"), get("/works/slow")], { concurrency: 2 }))
        running.process.kill("SIGUSR2")
        const answers: Array<number> = []
        const asking = yield* Effect.forkChild(Effect.forever(Effect.map(get("/works/whoami"), ({ status }) => {
          answers.push(status)
        })))
        yield* printed(running, "All workers are restarted")
        yield* Fiber.interrupt(asking)
        assert.isAbove(answers.length, 0)
        assert.deepStrictEqual([...new Set(answers)], [200])
        assert.deepStrictEqual((yield* Fiber.join(slow)).map(({ status }) => status), [200, 200])
        const after = yield* pids
        assert.strictEqual(after.length, 2)
        assert.deepStrictEqual(after.filter((one) => before.includes(one)), [])

        running.process.kill("SIGHUP")
        yield* saidTimes(running, "The configuration was read again", 2)

        const last = yield* Effect.forkChild(get("/works/slow"))
        // The one before it has arrived then.
        yield* get("/works/whoami")
        // As a terminal does, or a supervisor: all of them get the signal at once.
        const group = running.process.pid ?? assert.fail("it has not begun")
        process.kill(-group, "SIGTERM")
        assert.strictEqual((yield* Fiber.join(last)).status, 200)
        assert.strictEqual(yield* running.ended, 0)
        assert.deepStrictEqual(linesOf(running).filter(({ level }) => level === "FATAL"), [])
        assert.throws(() => process.kill(-group, 0), /ESRCH/u)
      })
  )
})
