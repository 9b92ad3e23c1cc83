/** Limits that several processes count together, on a Redis server; skipped where none is installed. */
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { RateLimiter } from "effect/persistence"
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { EmbeddedStore, KernelEngine, Resource, SecurityError, SignInAttempts } from "../../../src/index.ts"
import { Note } from "../../support/models.ts"
import { atOnce, send, serving } from "../../support/rest.ts"

const installed = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "redis-server"))
  .find((file) => existsSync(file))

/** The socket of a server of its own. */
const redisServer = Effect.acquireRelease(
  Effect.promise(async () => {
    const folder = mkdtempSync(join(tmpdir(), "appkernel-redis-"))
    const path = join(folder, "socket")
    const server = spawn(installed ?? "redis-server", ["--port", "0", "--unixsocket", path, "--save", ""], {
      stdio: "ignore"
    })
    const ended = new Promise<void>((resolve) => server.once("exit", () => resolve()))
    while (!existsSync(path) && server.exitCode === null) await new Promise((resolve) => setImmediate(resolve))
    const stop = async () => {
      server.kill("SIGKILL")
      await ended
      rmSync(folder, { recursive: true, force: true })
    }
    return { path, stop: Effect.promise(stop) }
  }),
  ({ stop }) => stop
).pipe(Effect.map(({ path }) => path))

/** As another process has it: with a connection of its own. */
const limiter = (path: string) =>
  RateLimiter.layer.pipe(
    Layer.provide(RateLimiter.layerStoreRedis({ prefix: "test" })),
    Layer.provide(Layer.orDie(NodeRedis.layer({ socket: { path, tls: false } }))),
    Layer.fresh
  )

const engine = KernelEngine.make("limited")
  .register(Resource.make(Note, { methods: ["GET"] }))
  .enableRateLimits({ perAddress: { limit: 5, window: "1 day" } })

const process_ = (path: string) =>
  Layer.build(Layer.fresh(Layer.provide(serving(engine, EmbeddedStore.layerMemory), limiter(path))))

describe.skipIf(installed === undefined)("Limits on Redis", () => {
  it.live("are those of all processes together", () =>
    Effect.gen(function*() {
      const path = yield* redisServer
      const services = [yield* process_(path), yield* process_(path)]
      const statuses = yield* atOnce(24, (i) =>
        Effect.map(Effect.provideContext(send("GET", "/notes"), services[i % 2]!), ({ status }) => status))
      assert.deepStrictEqual(
        statuses.filter((one) =>
          one !== 429
        ),
        Array.from({ length: 5 }, () => 200)
      )
    }).pipe(Effect.scoped))

  it.live("slow wrong passwords in all processes, and right ones count in none", () =>
    Effect.gen(function*() {
      const path = yield* redisServer
      const attempts = Effect.map(
        Layer.build(Layer.fresh(
          Layer.provide(SignInAttempts.layerWith({ perAccount: { limit: 3, window: "1 day" } }), limiter(path))
        )),
        (context) => Context.get(context, SignInAttempts.SignInAttempts)
      )
      const [one, other] = [yield* attempts, yield* attempts]
      const wrong = new SecurityError.CredentialsInvalid({ reason: "secret" })
      const from = { login: "jane", address: "203.0.113.9" }
      for (const process of [one, other, one, other, one, other]) {
        assert.strictEqual(yield* process.attempt(from, Effect.succeed("right")), "right")
      }
      const outcomes = yield* Effect.forEach([one, other, one, other, one], (process) =>
        Effect.map(Effect.flip(process.attempt(from, Effect.fail(wrong))), ({ _tag }) => _tag))
      assert.deepStrictEqual(outcomes, [
        ...Array.from({ length: 3 }, () =>
          "CredentialsInvalid"),
        ...Array.from({ length: 2 }, () => "TooManyAttempts")
      ])
    }).pipe(Effect.scoped))
})
