import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Fiber, Layer, Schema } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as KernelEngine from "../../../src/Http/KernelEngine.ts"
import { freshDirectory } from "../../support/folders.ts"
import { freePort, printed, runProgram } from "../../support/processes.ts"
import { sendTo } from "../../support/rest.ts"

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
          Effect.map(
            sendTo(`http://127.0.0.1:${port}`, "GET", path),
            ({ status, text }) => [status, text] as const
          )
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

/** What ends the start of a service that reads keys of its own. */
const endOf = Effect.fnUntraced(function*(
  own: Config.Config<unknown>,
  { env = {}, file = "" }: { readonly env?: { readonly [name: string]: string }; readonly file?: string } = {}
) {
  const cfgDir = yield* freshDirectory
  writeFileSync(join(cfgDir, "cfg.yml"), file)
  const launched = KernelEngine.make("shop", { cfgDir }).launch(Layer.effectDiscard(own))
  const { detail } = yield* Effect.flip(
    Effect.provideService(launched, ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
  )
  return detail.replace("The configuration is wrong: ", "")
})

describe("a service with keys of its own", () => {
  it.effect("ends with the key that is missing, as the file and the environment write it", () =>
    Effect.gen(function*() {
      const kinds: ReadonlyArray<Config.Config<unknown>> = [
        Config.String("payments"),
        Config.Int("limit"),
        Config.Redacted("payments"),
        Config.Boolean("open"),
        Config.URL("url"),
        Config.Literals(["a", "b"], "kind"),
        Config.Duration("time"),
        Config.Array(Schema.Int, "list"),
        Config.schema(Schema.Struct({ host: Schema.String }), "db")
      ]
      const ends = yield* Effect.forEach(kinds, (own) => endOf(Config.nested(own, "orders")))
      for (const [i, key] of ["payments", "limit", "payments", "open", "url", "kind", "time", "list", "db"].entries()) {
        const beginning = `orders.${key} (ORDERS_${key.toUpperCase()}) is missing: it must `
        assert.include(ends[i], beginning)
      }
      assert.strictEqual(ends[0], "orders.payments (ORDERS_PAYMENTS) is missing: it must be a text")
      // As the program writes it; there is one spelling for both.
      assert.strictEqual(yield* endOf(Config.String("SHOP_KEY")), "SHOP_KEY is missing: it must be a text")
      assert.strictEqual(
        yield* endOf(Config.String("stripeKey").pipe(Config.nested("shop"))),
        "shop.stripeKey (SHOP_STRIPEKEY) is missing: it must be a text"
      )
      // An empty variable and a key without a value count as missing.
      const payments = Config.String("payments").pipe(Config.nested("orders"))
      for (const source of [{ env: { ORDERS_PAYMENTS: "" } }, { file: "orders:\n  payments:\n" }]) {
        assert.strictEqual(yield* endOf(payments, source), ends[0])
      }
      // A part of what is there.
      assert.strictEqual(
        yield* endOf(Config.schema(Schema.Struct({ host: Schema.String, port: Schema.Int }), "db"), {
          file: "db: { port: 1 }"
        }),
        "db.host (DB_HOST) is missing"
      )
    }))

  it.effect("ends with the key that is wrong, without its value", () =>
    Effect.gen(function*() {
      const limit = Config.Int("limit").pipe(Config.nested("orders"))
      for (const source of [{ env: { ORDERS_LIMIT: "canary" } }, { file: "orders: { limit: canary }" }]) {
        assert.strictEqual(yield* endOf(limit, source), "orders.limit (ORDERS_LIMIT) must be a whole number")
      }
      const payments = Config.String("payments").pipe(Config.nested("orders"))
      assert.strictEqual(
        yield* endOf(payments, { file: "orders: { payments: { canary: 1 } }" }),
        "orders.payments (ORDERS_PAYMENTS) must be a text"
      )
      const kind = Config.Literals(["a", "b"], "kind")
      assert.notInclude(yield* endOf(kind, { env: { KIND: "canary" } }), "missing")
    }))
})
