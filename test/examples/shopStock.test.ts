import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import * as path from "node:path"
import { inBrowser } from "../support/browser.ts"
import { freshDirectory } from "../support/folders.ts"
import { freePort, patient, printed, programOf } from "../support/processes.ts"
import { builtFrom, compileCache } from "../support/programs.ts"
import { request } from "../support/shop.ts"

const main = path.join(import.meta.dirname, "../../examples/shop/main.ts")

/** The shop, as a group of processes. */
const startShop = (env: NodeJS.ProcessEnv) =>
  Effect.acquireRelease(
    Effect.gen(function*() {
      const built = yield* Effect.promise(() => builtFrom(main))
      const program = programOf(
        spawn(process.execPath, [built], {
          env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: compileCache(), ...patient, ...env },
          detached: true,
          stdio: ["ignore", "pipe", "pipe"]
        })
      )
      yield* printed(program, "Try next:")
      return program
    }),
    (program) => killed(program.process.pid)
  )

const killed = (pid: number | undefined) => Effect.ignore(Effect.try(() => process.kill(-(pid ?? 0), "SIGKILL")))

inBrowser("The stock of the shop in a browser", (open) => {
  it.live(
    "is right again without a reload after the server was killed and has come back",
    () =>
      Effect.gen(function*() {
        const port = yield* freePort
        const base = `http://127.0.0.1:${port}`
        const env = {
          APPKERNEL_EMBEDDED_PATH: path.join(yield* freshDirectory, "data"),
          APPKERNEL_SERVER_PORT: String(port)
        }
        const first = yield* startShop(env)
        const [, password = ""] = /with the password (\S+)\. /u.exec(first.output()) ?? []
        const admin = Effect.map(
          request(base, "POST /api/v1/token", {
            grant_type: "password",
            username: "admin@shop.example",
            password
          }),
          ({ body }) => ({ authorization: `Bearer ${body.access_token}` })
        )
        /** A `POST` with the identifier of a product replaces it. */
        const put = (id: string, code: string, stock: number) =>
          Effect.flatMap(admin, (headers) => {
            const product = { id, code, name: `A ${id}`, price: 1, currency: "CHF", stock }
            return request(base, "POST /api/v1/products", product, headers)
          })
        assert.strictEqual((yield* put("Plamp", "ZZZ-0001", 3)).status, 201)

        const browser = yield* open
        const page = yield* Effect.promise(() => browser.newPage())
        const problems: Array<string> = []
        page.on("pageerror", ({ message }) => problems.push(message))
        const shows = (...rows: ReadonlyArray<string>) =>
          Effect.promise(async () => {
            for (const row of rows) {
              const cells = page.locator("#stock tr").filter({ hasText: row.split(" ")[0] ?? "" })
              await cells.filter({ hasText: new RegExp(`${row.split(" ")[1]}$`, "u") }).waitFor()
            }
          })
        yield* Effect.promise(() => page.goto(`${base}/stock`))
        yield* Effect.promise(() => page.evaluate("globalThis.isSamePage = true"))
        yield* shows("ZZZ-0001 3")
        assert.strictEqual((yield* put("Plamp", "ZZZ-0001", 2)).status, 200)
        assert.strictEqual((yield* put("Pbulb", "ZZZ-0002", 40)).status, 201)
        yield* shows("ZZZ-0001 2", "ZZZ-0002 40")

        // What changes while the page has no connection is there when it has one.
        yield* killed(first.process.pid)
        yield* first.ended
        yield* Effect.promise(() => page.locator("#connection", { hasText: "connecting" }).waitFor())
        yield* startShop(env)
        yield* put("Plamp", "ZZZ-0001", 1)
        yield* shows("ZZZ-0001 1", "ZZZ-0002 40")
        yield* put("Pbulb", "ZZZ-0002", 39)
        yield* shows("ZZZ-0002 39")
        yield* Effect.promise(() => page.locator("#connection", { hasText: "live" }).waitFor())
        assert.strictEqual(yield* Effect.promise(() => page.evaluate("globalThis.isSamePage")), true)
        const listed = yield* request(base, "GET /api/v1/products?sort_by=code&page_size=100&fields=code,stock")
        const rows = yield* Effect.promise(() => page.locator("#stock tr").allInnerTexts())
        assert.strictEqual(String(rows.length), listed.headers["x-total-count"])
        const ofPage = listed.body._items.map((
          { code, stock }: { code: string; stock: number }
        ) => [code, String(stock)])
        assert.deepStrictEqual(
          rows.slice(0, ofPage.length).map((row) => row.split("\t").filter((_, i) => i !== 1)),
          ofPage
        )
        assert.deepStrictEqual(problems, [])
      })
  )
})
