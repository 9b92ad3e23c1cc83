import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { connect } from "node:net"
import process from "node:process"
import { freePort, printed, type Program, runProgram, said, saidTimes } from "../../support/processes.ts"

const program = `${import.meta.dirname}/../../support/workersProgram.ts`

/** The processes that have begun and still run: the primary one and the workers. */
const pidsOf = (running: Program): ReadonlyArray<number> => said(running, "begins").map(({ pid }) => pid).filter(runs)

const runs = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const workersOf = (running: Program): ReadonlyArray<number> =>
  pidsOf(running).filter((pid) => pid !== running.process.pid)

/** Several workers, which need no server. */
const start = Effect.fnUntraced(function*(count: number, more: { readonly [name: string]: string } = {}) {
  const port = yield* freePort
  const running = yield* runProgram(program, {
    APPKERNEL_SERVER_WORKERS: String(count),
    APPKERNEL_SERVER_PORT: String(port),
    APPKERNEL_METRICS_ENABLED: "true",
    WORKERS_STORE: "own",
    ...more
  })
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const pid of pidsOf(running)) process.kill(pid, "SIGKILL")
    })
  )
  const get = (path: string) =>
    Effect.tryPromise(async () => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: "close" } })
      return { status: response.status, text: await response.text() }
    })
  return { running, port, get, whoami: Effect.map(get("/works/whoami"), ({ text }): number => JSON.parse(text).pid) }
})

/** Numbers below a limit, the same ones for a seed. */
const makeRandom = (seed: number) => {
  let state = seed
  return (limit: number): number => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9 | 0
    return (state >>> 8) % limit
  }
}

describe("workers", () => {
  it.live("stop while one of them starts", () =>
    Effect.gen(function*() {
      const { running } = yield* start(2)
      // The primary process, the first worker and the second one.
      yield* saidTimes(running, "begins", 3)
      running.process.kill("SIGTERM")
      assert.strictEqual(yield* running.ended, 0)
      assert.deepStrictEqual(pidsOf(running), [])
    }))

  it.live("have no process too many after one has died while its successor started", () =>
    Effect.gen(function*() {
      const { running, whoami } = yield* start(2)
      yield* printed(running, "2 workers serve")
      const first = said(running, "begins")[1].pid
      running.process.kill("SIGUSR2")
      yield* saidTimes(running, "begins", 4)
      process.kill(first, "SIGKILL")
      yield* printed(running, "All workers are restarted")
      const workers = workersOf(running)
      assert.strictEqual(workers.length, 2)
      const answering = new Set(yield* Effect.all(Array.from({ length: 8 }, () => whoami)))
      assert.sameMembers([...answering], [...workers])
      running.process.kill("SIGTERM")
      assert.strictEqual(yield* running.ended, 0)
    }))

  it.live("close a connection that was on its way to one that is killed", () =>
    Effect.gen(function*() {
      const { port, running } = yield* start(2)
      yield* printed(running, "2 workers serve")
      const workers = workersOf(running)
      for (const pid of workers) process.kill(pid, "SIGSTOP")
      const opened = Array.from({ length: 2 }, () => connect(port, "127.0.0.1"))
      const closed = yield* Effect.forkChild(Effect.all(
        opened.map((socket) =>
          Effect.callback<void>((resume) => {
            socket.on("error", () => {}).once("close", () => resume(Effect.void))
          })
        ),
        { concurrency: "unbounded" }
      ))
      yield* Effect.all(
        opened.map((socket) =>
          Effect.callback<void>((resume) => {
            socket.once("connect", () => resume(Effect.void))
          })
        ),
        { concurrency: "unbounded" }
      )
      for (const pid of workers) process.kill(pid, "SIGKILL")
      yield* Fiber.join(closed)
    }))

  it.live("are killed when they have not ended in time", () =>
    Effect.gen(function*() {
      const { get, running } = yield* start(2, {
        APPKERNEL_SERVER_SHUTDOWN_TIMEOUT: "0 seconds",
        APPKERNEL_SERVER_KILL_TIMEOUT: "100 millis"
      })
      yield* printed(running, "2 workers serve")
      yield* get("/works/stay")
      running.process.kill("SIGUSR2")
      yield* printed(running, "All workers are restarted")
      assert.isNotEmpty(said(running, "A worker has not ended in time and is killed"))
      assert.strictEqual(workersOf(running).length, 2)
      yield* get("/works/stay")
      running.process.kill("SIGTERM")
      assert.strictEqual(yield* running.ended, 0)
      assert.deepStrictEqual(pidsOf(running), [])
    }))

  for (const seed of [1, 2]) {
    it.live(`are as many as configured after signals and kills at any time, and stop at any time (${seed})`, () =>
      Effect.gen(function*() {
        const random = makeRandom(seed)
        const count = 2
        const { get, running, whoami } = yield* start(count)
        // What time is here: a number of requests, each of which is answered or ended.
        const moment = Effect.suspend(() =>
          Effect.forEach(Array.from({ length: random(12) }), () => Effect.exit(get("/works/whoami")))
        )
        yield* printed(running, "2 workers serve")
        for (let step = 0; step < 6; step++) {
          const workers = workersOf(running)
          const chosen = workers[random(Math.max(1, workers.length))]
          const signal = (["SIGUSR2", "SIGHUP", "SIGKILL", "SIGTERM"] as const)[random(4)] ?? "SIGKILL"
          if (signal === "SIGUSR2" || signal === "SIGHUP") running.process.kill(signal)
          else if (chosen !== undefined) process.kill(chosen, signal)
          yield* moment
        }
        // A restart that begins now ends with a new process for each of them.
        const before = workersOf(running)
        const restarts = said(running, "All workers are restarted").length
        running.process.kill("SIGUSR2")
        yield* saidTimes(running, "All workers are restarted", restarts + 1)
        const isOld = () => workersOf(running).some((pid) => before.includes(pid))
        if (isOld()) yield* saidTimes(running, "All workers are restarted", restarts + 2)
        const workers = workersOf(running)
        assert.strictEqual(workers.length, count)
        assert.isFalse(isOld())
        const answering = new Set(yield* Effect.all(Array.from({ length: 4 * count }, () => whoami)))
        assert.sameMembers([...answering], [...workers])
        const { text } = yield* get("/metrics")
        assert.sameMembers([...new Set([...text.matchAll(/worker="(\d+)"/gu)].map(([, worker]) => worker))], ["1", "2"])
        running.process.kill("SIGUSR2")
        yield* moment
        running.process.kill("SIGTERM")
        assert.strictEqual(yield* running.ended, 0)
        assert.deepStrictEqual(pidsOf(running), [])
      }))
  }
})
