import { assert, describe, it } from "@effect/vitest"
import { Cause, ConfigProvider, Console, Effect, Fiber, Layer, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as KernelLogger from "../../../src/Http/server/kernelLogger.ts"
import { freshDirectory } from "../../support/folders.ts"
import { freePort, printed, runProgram } from "../../support/processes.ts"
import { withSmallDisk } from "../../support/smallDisk.ts"

const entry: KernelLogger.AccessEntry = {
  time: Date.UTC(2026, 0, 31, 9, 30),
  requestId: "r-1",
  address: "203.0.113.9",
  method: "GET",
  route: "/users/:id",
  status: 200,
  duration: 1.23456,
  subject: undefined
}

/** What arrives at the console, one batch each. */
const capturing = () => {
  const batches: Array<string> = []
  const console_: Console.Console = Object.assign(Object.create(globalThis.console), {
    log: (batch: string) => {
      batches.push(batch)
    }
  })
  const lines = () => batches.join("\n").split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))
  return { batches, lines, layer: Layer.succeed(Console.Console, console_) }
}

const logged = <A, E>(
  console_: ReturnType<typeof capturing>,
  env: { readonly [name: string]: string },
  effect: Effect.Effect<A, E>
) =>
  effect.pipe(
    Effect.provide(KernelLogger.layer()),
    Effect.provide([console_.layer, ConfigProvider.layer(ConfigProvider.fromEnv({ env }))])
  )

const write = (access: Partial<KernelLogger.AccessEntry> = {}) =>
  Effect.map(KernelLogger.Offered, (log) => log?.write({ ...entry, ...access }))

describe("KernelLogger / the console", () => {
  it.effect("writes an entry as a line of JSON with its annotations and cause", () =>
    Effect.gen(function*() {
      const captured = capturing()
      yield* logged(
        captured,
        {},
        Effect.logWarning("two\nlines", { password: Redacted.make("canary") }).pipe(
          Effect.annotateLogs({ tenant: "a", level: "forged" }),
          Effect.andThen(Effect.logError("failed", Cause.fail(new Error("because"))))
        )
      )
      const [warning, failure] = captured.lines()
      assert.deepStrictEqual(warning, {
        timestamp: "1970-01-01T00:00:00.000Z",
        level: "WARN",
        message: ["two\nlines", { password: "<redacted>" }],
        tenant: "a"
      })
      assert.deepInclude(failure, { level: "ERROR", message: "failed" })
      assert.include(failure.cause, "because")
    }))

  it.effect("writes a request as a line of JSON, and a failed one as an error", () =>
    Effect.gen(function*() {
      const captured = capturing()
      const failed = write({ address: undefined, route: undefined, status: 503, subject: "U1\"" })
      yield* logged(captured, {}, Effect.andThen(write(), failed))
      assert.deepStrictEqual(captured.lines(), [
        {
          timestamp: "2026-01-31T09:30:00.000Z",
          level: "INFO",
          message: "request",
          request_id: "r-1",
          address: "203.0.113.9",
          method: "GET",
          route: "/users/:id",
          status: 200,
          duration_ms: 1.235
        },
        {
          timestamp: "2026-01-31T09:30:00.000Z",
          level: "ERROR",
          message: "request",
          request_id: "r-1",
          method: "GET",
          route: null,
          status: 503,
          duration_ms: 1.235,
          subject: "U1\""
        }
      ])
    }))

  it.effect("buffers lines for 50 milliseconds, and writes them at once with a warning", () =>
    Effect.gen(function*() {
      const captured = capturing()
      yield* logged(
        captured,
        {},
        Effect.gen(function*() {
          yield* write()
          yield* write()
          yield* Effect.yieldNow
          assert.strictEqual(captured.batches.length, 0)
          yield* TestClock.adjust("50 millis")
          assert.strictEqual(captured.batches.length, 1)
          assert.strictEqual(captured.lines().length, 2)
          yield* write()
          yield* Effect.logWarning("now")
          assert.strictEqual(captured.batches.length, 2)
          assert.strictEqual(captured.lines().length, 4)
          yield* write()
          yield* TestClock.adjust("1 minute")
          assert.strictEqual(captured.batches.length, 3)
          yield* write()
        })
      )
      assert.strictEqual(captured.lines().length, 6)
    }))

  it.effect("is human-readable in development", () =>
    Effect.gen(function*() {
      const captured = capturing()
      yield* write().pipe(
        Effect.provide(KernelLogger.layer({ development: true })),
        Effect.provide([captured.layer, ConfigProvider.layer(ConfigProvider.fromEnv({ env: {} }))])
      )
      assert.deepStrictEqual(captured.batches, ["[09:30:00.000] GET /users/:id 200 1.2ms (r-1)"])
    }))

  it.effect("adds the request identifier to entries logged during a request, the client's if it is safe", () =>
    Effect.gen(function*() {
      const captured = capturing()
      const idOf = Effect.fnUntraced(function*(headers: { readonly [name: string]: string }) {
        const request = HttpServerRequest.fromWeb(new Request("http://localhost/?secret=canary", { headers }))
        const log = Effect.provideService(Effect.log("x"), HttpServerRequest.HttpServerRequest, request)
        yield* logged(captured, {}, Effect.andThen(log, log))
        const [first, second] = captured.lines().slice(-2)
        assert.strictEqual(first.request_id, second.request_id)
        return first.request_id
      })
      const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/u
      assert.strictEqual(yield* idOf({ "x-request-id": "abc-123" }), "abc-123")
      for (const unsafe of ["a b", "a\"b", "x".repeat(129), "ü"]) {
        assert.match(yield* idOf({ "x-request-id": unsafe }), uuid)
      }
      assert.match(yield* idOf({}), uuid)
      assert.notInclude(captured.batches.join(), "canary")
    }))
})

describe("KernelLogger / the file", () => {
  it.live("gets the same lines, and all of them when the scope closes", () =>
    Effect.gen(function*() {
      const captured = capturing()
      const file = join(yield* freshDirectory, "logs", "shop.log")
      yield* logged(captured, { APPKERNEL_LOGGING_FILE_NAME: file }, Effect.andThen(Effect.log("first"), write()))
      const lines = readFileSync(file, "utf8")
      assert.strictEqual(lines, `${captured.batches.join("\n")}\n`)
      assert.strictEqual(lines.split("\n").length, 3)
    }))

  it.live("is rotated at its maximum size, and keeps the configured number of backups", () =>
    Effect.gen(function*() {
      for (const count of [2, 0]) {
        const file = join(yield* freshDirectory, "shop.log")
        const env = {
          APPKERNEL_LOGGING_FILE_NAME: file,
          APPKERNEL_LOGGING_MAX_SIZE: "1 KiB",
          APPKERNEL_LOGGING_BACKUP_COUNT: String(count)
        }
        const many = Effect.forEach(
          Array.from({ length: 20 }, (_, i) => i),
          (i) => Effect.andThen(Effect.logWarning(`${i} ${"x".repeat(400)}`), Effect.sleep("10 millis"))
        )
        yield* logged(capturing(), env, many)
        const kept = [1, 2, 3].filter((i) => existsSync(`${file}.${i}`))
        assert.deepStrictEqual(kept, [1, 2].slice(0, count))
        const last = [file, `${file}.1`].filter((name) => existsSync(name))
          .map((name) => readFileSync(name, "utf8")).join("")
        if (count > 0) assert.include(last, "19 xxx")
      }
    }))

  it.live("fails the start with the file and the reason if it can't be opened", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      const file = join(directory, "file")
      writeFileSync(file, "")
      for (const name of [directory, join(file, "shop.log")]) {
        const env = { APPKERNEL_LOGGING_FILE_NAME: name }
        const failure = yield* Effect.flip(logged(capturing(), env, Effect.void))
        assert.include(failure.message, `Can't write the log to ${name}: `)
      }
    }))

  it.live("that becomes unwritable is reported on the console once, and does not end the service", () =>
    Effect.gen(function*() {
      const captured = capturing()
      const directory = join(yield* freshDirectory, "logs")
      mkdirSync(directory)
      const file = join(directory, "shop.log")
      const env = { APPKERNEL_LOGGING_FILE_NAME: file, APPKERNEL_LOGGING_MAX_SIZE: "100" }
      yield* logged(
        captured,
        env,
        Effect.gen(function*() {
          // The next size makes it rotate into a name that is a folder with something in it.
          mkdirSync(join(directory, "shop.log.1", "full"), { recursive: true })
          for (let i = 0; i < 5; i++) {
            yield* Effect.logWarning(`${i} ${"x".repeat(100)}`)
            yield* Effect.sleep("20 millis")
          }
        })
      )
      const messages = captured.lines().map(({ message }) => message)
      assert.strictEqual(messages.filter((message: string) => message.includes("The log can't be written")).length, 1)
      assert.strictEqual(messages.filter((message: string) => message.includes("xxx")).length, 5)
      chmodSync(directory, 0o700)
      rmSync(directory, { recursive: true })
    }))

  it.live.skipIf(withSmallDisk === undefined)(
    "has complete lines after one that a full disk has cut",
    () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        const program = yield* runProgram(
          "test/support/logProgram.ts",
          { FOLDER: folder },
          withSmallDisk?.(folder, 2, 1)
        )
        assert.strictEqual(yield* program.ended, 0, program.output())
        assert.deepStrictEqual(JSON.parse(program.output()), { failures: 1, cut: 1, after: 10 })
      })
  )
})

describe("KernelLogger / a service", () => {
  it.live(
    "has a line for each request with its route, without the URL, the headers and the query",
    () =>
      Effect.gen(function*() {
        const port = yield* freePort
        const file = join(yield* freshDirectory, "shop.log")
        const program = yield* runProgram("test/support/serviceProgram.ts", {
          APPKERNEL_SERVER_PORT: String(port),
          APPKERNEL_LOGGING_FILE_NAME: file
        })
        yield* printed(program, "Listening on")
        const headers = { authorization: "Bearer canary", cookie: "session=canary", "x-request-id": "caller-7" }
        const base = `http://127.0.0.1:${port}`
        yield* Effect.promise(async () => (await fetch(`${base}/things/canary?token=canary`, { headers })).text())
        const leaving = yield* Effect.forkChild(
          Effect.promise((signal) => fetch(`${base}/stuck`, { signal }).catch(() => {}))
        )
        yield* printed(program, "began /stuck")
        yield* Fiber.interrupt(leaving)
        yield* printed(program, "\"status\":499")
        program.process.kill("SIGTERM")
        assert.strictEqual(yield* program.ended, 0)
        const text = readFileSync(file, "utf8")
        const requests = text.trim().split("\n").map((line) => JSON.parse(line)).filter(({ message }) =>
          message === "request"
        )
        assert.deepStrictEqual(
          requests.map(({ method, request_id, route, status }) => [method, route, status, request_id === "caller-7"]),
          [["GET", "/things/:id", 200, true], ["GET", "/stuck", 499, false]]
        )
        assert.include(text, "Stopping")
        assert.notInclude(text + program.output(), "canary")
      })
  )
})
