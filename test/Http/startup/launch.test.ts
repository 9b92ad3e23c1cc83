import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { freshDirectory } from "../../support/folders.ts"
import { freePort, printed, runProgram } from "../../support/processes.ts"

const program = `${import.meta.dirname}/../../support/workersProgram.ts`

describe("a service with health that is stopped", () => {
  it.live(
    "is not ready and still answers for its delay, and completes the running request",
    () =>
      Effect.gen(function*() {
        const port = yield* freePort
        const running = yield* runProgram(program, {
          APPKERNEL_SERVER_PORT: String(port),
          APPKERNEL_SERVER_SHUTDOWN_DELAY: "3 seconds",
          APPKERNEL_HEALTH_ENABLED: "true",
          APPKERNEL_EMBEDDED_PATH: yield* freshDirectory,
          WORKERS_STORE: "embedded"
        })
        yield* printed(running, "Listening on")
        const get = (path: string) =>
          Effect.promise(async () => {
            const response = await fetch(`http://127.0.0.1:${port}${path}`)
            return [response.status, await response.text()] as const
          })
        assert.deepStrictEqual(yield* get("/health/ready"), [200, "{\"status\":\"ok\"}"])
        const slow = yield* Effect.forkChild(get("/works/slow"))
        // The one before it has arrived then.
        yield* get("/works/whoami")
        running.process.kill("SIGTERM")
        yield* printed(running, "Stopping in 3s: the service is not ready any more")
        assert.deepStrictEqual(yield* get("/health/ready"), [503, "{\"status\":\"stopping\"}"])
        assert.strictEqual((yield* get("/health/live"))[0], 200)
        assert.strictEqual((yield* get("/works/whoami"))[0], 200)
        assert.strictEqual((yield* Fiber.join(slow))[0], 200)
        assert.strictEqual(yield* running.ended, 0)
      })
  )
})
