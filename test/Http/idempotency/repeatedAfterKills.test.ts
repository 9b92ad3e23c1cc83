/** Clients that send their writes again, by `idempotency.ts`, to a service whose process is killed at random. */
import { assert, it } from "@effect/vitest"
import { Effect, Scope } from "effect"
import * as Exit from "effect/Exit"
import { freshDirectory } from "../../support/folders.ts"
import { freePort, printed, runProgram } from "../../support/processes.ts"
import { type Answer, sendTo } from "../../support/rest.ts"

/** How often the process is killed, and how many clients write meanwhile. */
const kills = Number(process.env["KILLS"] ?? 1)
const clients = Number(process.env["CLIENTS"] ?? 30)

it.live("make each write once", () =>
  Effect.gen(function*() {
    const folder = yield* freshDirectory
    const port = yield* freePort
    const baseUrl = `http://127.0.0.1:${port}`
    const started = Effect.gen(function*() {
      const scope = yield* Scope.make()
      const program = yield* Scope.provide(
        runProgram(`${import.meta.dirname}/../../support/repeatedProgram.ts`, {
          FOLDER: folder,
          APPKERNEL_SERVER_PORT: String(port)
        }),
        scope
      )
      yield* printed(program, "Listening on")
      // The program is killed when its scope closes.
      return { killed: Scope.close(scope, Exit.void) }
    })
    let asked = 0
    /** Asks until there is an answer that says more than "later". */
    const made = (
      path: string,
      body: object,
      key: string
    ): Effect.Effect<{ readonly status: number; readonly result: unknown }> =>
      Effect.suspend(() => {
        asked += 1
        return sendTo(baseUrl, "POST", path, body, { "idempotency-key": key })
      }).pipe(
        Effect.filterOrFail(
          ({ headers, status }) => status < 500 && headers["retry-after"] === undefined,
          () => "later"
        ),
        Effect.map(({ body, status }) => ({ status, result: body.result })),
        Effect.sandbox,
        Effect.catch(() => Effect.andThen(Effect.sleep("30 millis"), made(path, body, key)))
      )

    let { killed } = yield* started
    assert.strictEqual((yield* made("/accounts", { id: "a", balance: 0 }, "open")).status, 201)
    const over = { is: false }
    const keys: Array<string> = []
    const ids = new Set<unknown>()
    let paid = 0
    const client = (name: number) =>
      Effect.gen(function*() {
        for (let i = 0; !over.is; i++) {
          const key = `${name}/${i}`
          keys.push(key)
          const { result, status } = yield* made("/orders", { item: key }, key)
          assert.strictEqual(status, 201)
          ids.add(result)
          if (i % 3 === 0) {
            assert.strictEqual((yield* made("/accounts/a/pay", { amount: 1 }, key)).status, 200)
            paid += 1
          }
        }
      })
    const killing = Effect.gen(function*() {
      for (let round = 0; round < kills; round++) {
        yield* Effect.sleep(200 + Math.random() * 1_500)
        yield* killed
        killed = (yield* started).killed
      }
      yield* Effect.sleep("300 millis")
      over.is = true
    })
    yield* Effect.all([killing, ...Array.from({ length: clients }, (_, name) => client(name))], {
      concurrency: "unbounded",
      discard: true
    })
    const items: Array<string> = []
    let next: string | undefined = "/orders?page_size=1000&cursor="
    while (next !== undefined) {
      const page: Answer = yield* sendTo(baseUrl, "GET", next)
      const { body, status, text } = page
      assert.strictEqual(status, 200, text)
      items.push(...body._items.map(({ item }: { readonly item: string }) => item))
      next = body._links.next?.href
    }
    assert.deepStrictEqual(items.toSorted(), keys.toSorted())
    assert.strictEqual(ids.size, keys.length, "each answer has the order of its own request")
    assert.strictEqual((yield* sendTo(baseUrl, "GET", "/accounts/a")).body.balance, paid)
    assert.isAbove(asked, keys.length + paid)
    yield* killed
  }).pipe(Effect.scoped), 600_000)
