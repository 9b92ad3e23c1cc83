/** Lists that are not empty, and structs with further keys: what is sent is checked, kept, shown and found. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { KernelEngine, Model, Repository } from "../../../src/index.ts"
import { refused, send, serving } from "../../support/rest.ts"
import { routeStores } from "../../support/storeMatrix.ts"

class Line extends Model.Class<Line>()("Line", {
  size: Schema.Int,
  made: Schema.String.pipe(Model.withDefault(() => "here")),
  secret: Schema.String.pipe(Model.optional, Model.omitted)
}) {}

class Order extends Model.Class<Order>()("Order", {
  id: Model.id(),
  lines: Schema.NonEmptyArray(Line),
  more: Schema.NonEmptyArray(Line).pipe(Model.optional)
}) {}

class Sheet extends Model.Class<Sheet>()("Sheet", {
  id: Model.id(),
  open: Schema.StructWithRest(Schema.Struct({ at: Schema.DateTimeUtc }), [
    Schema.Record(Schema.TemplateLiteral(["x-", Schema.String]), Schema.Int)
  ]),
  // Its values are texts, and its JSON numbers.
  flipped: Schema.flip(Schema.FiniteFromString).pipe(Model.optional)
}) {}

const methods = ["GET", "POST", "PUT", "PATCH"] as const

const engine = KernelEngine.make("shapes").register(Order, { methods }).register(Sheet, { methods, tables: true })

const at = "2026-01-31T09:30:00Z"

routeStores((name, store) =>
  it.layer(serving(engine, store), { excludeTestServices: true })(`shapes / ${name}`, (it) => {
    it.effect("a list of models that is not empty is never stored empty", () =>
      Effect.gen(function*() {
        const { body: { result } } = yield* send("POST", "/orders", { lines: [{ size: 1, secret: "hush" }] })
        for (const field of ["lines", "more"]) {
          const body = { lines: [{ size: 1 }], [field]: [] }
          refused(400, yield* send("POST", "/orders", body))
          refused(400, yield* send("PUT", `/orders/${result}`, body))
          refused(400, yield* send("PATCH", `/orders/${result}`, { [field]: [] }))
        }
        const { body } = yield* send("GET", `/orders/${result}`)
        assert.deepStrictEqual(body.lines, [{ _type: "Line", size: 1, made: "here" }])
        const orders = yield* Repository.for(Order)
        assert.strictEqual((yield* orders.findById(result)).lines[0].secret, "hush")
        assert.lengthOf((yield* send("GET", "/orders?lines.size=1")).body._items, 1)
        assert.lengthOf((yield* send("GET", "/orders?lines.size=2")).body._items, 0)
        const { properties } = (yield* send("GET", "/orders/schema")).body
        assert.strictEqual(properties.lines.minItems, 1)
        assert.strictEqual(properties.more.minItems, 1)
      }))

    it.effect("further keys of a struct are shown, found, exported, and kept by each change", () =>
      Effect.gen(function*() {
        const open = { at, "x-a": 5, "x-b": 6 }
        const path = `/sheets/${(yield* send("POST", "/sheets", { open })).body.result}`
        const shown = Effect.map(send("GET", path), ({ body }) => body.open)
        assert.deepStrictEqual(yield* shown, { ...open, at: "2026-01-31T09:30:00.000Z" })
        yield* send("PUT", path, (yield* send("GET", path)).body)
        yield* send("PATCH", path, [{ op: "add", path: "/open/x-c", value: 7 }], {
          "content-type": "application/json-patch+json"
        })
        assert.deepStrictEqual(yield* shown, { ...open, at: "2026-01-31T09:30:00.000Z", "x-c": 7 })
        assert.lengthOf((yield* send("GET", "/sheets?open.x-b=6")).body._items, 1)
        assert.lengthOf((yield* send("GET", "/sheets?open.x-b=7")).body._items, 0)
        const table = yield* send("GET", "/sheets", undefined, { accept: "text/csv" })
        assert.include(table.text, "\"\"x-b\"\":6")
        yield* send("PATCH", path, { flipped: 5 })
        assert.strictEqual((yield* send("GET", path)).body.flipped, 5)
      }))
  })
)
