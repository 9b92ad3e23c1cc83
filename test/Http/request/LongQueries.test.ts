/** Queries that look at every document of a large collection, while others want to be answered. */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { DocumentStore, KernelEngine, Model } from "../../../src/index.ts"
import { send, serving } from "../../support/rest.ts"
import { embeddedStores } from "../../support/storeMatrix.ts"
import { slowness, threadTime, turnsOf } from "../../support/turns.ts"

class Row extends Model.Class<Row>()("Row", { id: Model.id(), text: Schema.String, n: Schema.Int }) {}

class Note extends Model.Class<Note>()("Note", { id: Model.id(), text: Schema.String }) {}

const engine = KernelEngine.make("long").register(Row).register(Note, { methods: ["GET", "POST"] })

const total = Number(process.env["LONG_QUERY_DOCUMENTS"] ?? 100_000)

// Milliseconds that a request may have to wait for another one's search.
const most = 100

const queries: ReadonlyArray<readonly [name: string, path: string]> = [
  ["a filter that nothing fulfils", "/rows?text=~zzz"],
  ["a filter that a page fulfils", "/rows?n=500&page_size=100"],
  ["a page in an order without an index", "/rows?sort_by=n,text&page_size=1000"],
  ["a catastrophic regular expression", `/rows?query=${encodeURIComponent("{\"text\":{\"$regex\":\"(x+x+)+y\"}}")}`],
  ["an expression", `/rows?query=${encodeURIComponent("{\"$expr\":{\"$eq\":[{\"$mod\":[\"$n\",7]},9]}}")}`],
  [
    "a group of each",
    `/rows/aggregate?pipe=${
      encodeURIComponent("[{\"$group\":{\"_id\":\"$text\",\"n\":{\"$sum\":1}}},{\"$sort\":{\"n\":1}},{\"$limit\":5}]")
    }`
  ]
]

// A database server searches in its own process. These stores search in the process that answers.
embeddedStores((name, store) =>
  it.layer(serving(engine, store), { excludeTestServices: true })(
    `long queries / ${name}`,
    (it) => {
      it.effect("do not delay other requests", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          for (let from = 0; from < total; from += 10_000) {
            yield* store.insertMany(
              "Row",
              Array.from({ length: 10_000 }, (_, i) => ({
                _id: `R${from + i}`,
                n: (from + i) % 1_000,
                text: `${"x".repeat(30)} ${from + i}`
              }))
            )
          }
          yield* store.insertOne("Note", { _id: "N1", text: "short" })
          let spent = 0
          for (const [what, path] of queries) {
            const waits: Array<number> = []
            const others = yield* Effect.forkChild(Effect.forever(Effect.gen(function*() {
              const before = threadTime()
              const { status } = yield* waits.length % 10 === 0
                ? send("POST", "/notes", { text: "new" })
                : send("GET", "/notes/N1")
              assert.include([200, 201], status)
              waits.push(threadTime() - before)
              yield* Effect.sleep("1 millis")
            })))
            const { longest, whole } = yield* turnsOf(Effect.gen(function*() {
              const { status, text } = yield* send("GET", path)
              // What takes too long is stopped, and says so.
              assert.include([200, 503], status, `${what}: ${text.slice(0, 200)}`)
            }))
            yield* Fiber.interrupt(others)
            assert.isBelow(longest, most, `${what}: nobody else had a turn`)
            // A collection of garbage is nobody's turn, so that the few longest waits are left out.
            const [wait = Infinity] = waits.toSorted((a, b) => b - a).slice(Math.ceil(waits.length / 20))
            assert.isBelow(wait / slowness(), most, `${what}: others waited`)
            spent += whole
          }
          // Otherwise they were too short to tell.
          assert.isAbove(spent, 3 * most)
        }))
    }
  )
)
