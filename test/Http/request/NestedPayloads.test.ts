/** Models within the payloads of actions and operations: plain objects in a client, instances in a handler. */
import { assert, describe, it } from "@effect/vitest"
import { Converter, Generator, KernelClient, KernelEngine, Model, Resource, Service, Validator } from "appkernel"
import { Effect, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import { EmbeddedStore } from "../../../src/index.ts"
import { send, serving } from "../../support/rest.ts"

class Tax extends Model.Class<Tax>()("Tax", {
  rate: Schema.Finite.pipe(Validator.max(1)),
  code: Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds: 1_000 })), Model.omitted, Model.optional)
}) {}

class Line extends Model.Class<Line>()("Line", {
  sku: Schema.String.pipe(Validator.notEmpty),
  count: Schema.Int.pipe(Validator.min(1), Model.withDefault(() => 1)),
  mark: Schema.String.pipe(Model.generated(Generator.uuid()), Model.readOnly),
  tax: Tax.pipe(Model.optional)
}) {}

class Cart extends Model.Class<Cart>()("Cart", { id: Model.id({ prefix: "C" }), owner: Schema.String }) {}

const wrong: Array<unknown> = []

/** What a handler tells of the lines that it got: they are instances, complete and converted. */
const told = (lines: ReadonlyArray<Line>): string => {
  wrong.push(...lines.filter((line) => !(line instanceof Line) || line.tax !== undefined && !(line.tax instanceof Tax)))
  return lines.map(({ count, mark, sku, tax }) =>
    `${count} ${sku}${mark.length === 36 ? "" : ` ${mark}`}${tax?.code === "secret" ? " plain" : ""}`
  ).join()
}

const Carts = Resource.make(Cart, { methods: ["GET", "POST"] })
  .action(
    "add",
    { payload: { lines: Schema.Array(Line) }, success: Schema.String },
    (_, { payload }) => Effect.succeed(told(payload.lines))
  )

const Orders = Service.make("OrderService")
  .operation(
    "place",
    {
      payload: {
        first: Line,
        gift: Schema.NullOr(Line),
        note: Schema.optional(Line),
        parts: Schema.Struct({ lines: Schema.optionalKey(Schema.NonEmptyArray(Line)) }),
        grid: Schema.Array(Schema.Array(Line)),
        named: Schema.optional(Schema.Record(Schema.String, Schema.Tuple([Schema.String, Line])))
      },
      success: Schema.String
    },
    ({ payload: { first, gift, grid, named = {}, note, parts } }) =>
      Effect.succeed(
        [
          [first],
          gift === null ? [] : [gift],
          note === undefined ? [] : [note],
          parts.lines ?? [],
          Object.values(named).map(([, line]) => line),
          ...grid
        ].map((
          lines
        ) => told(lines)).join("|")
      )
  )
  .operation(
    "list",
    { payload: Schema.Array(Line), success: Schema.String },
    ({ payload }) => Effect.succeed(told(payload))
  )

const engine = KernelEngine.make("carts").register(Carts).register(Orders)

describe("models in payloads", () => {
  it.effect("are plain objects in the typed client, as they are in create, and instances in handlers", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* engine.test()
      const { carts, orders } = yield* KernelClient.make(engine, { baseUrl })
      const { result: id } = yield* carts.create({ payload: { owner: "ann" } })
      const lines = [{ sku: "tea", count: 2 }, { sku: "cup", tax: { rate: 0.2, code: "secret" } }]
      assert.strictEqual((yield* carts.add({ params: { id }, payload: { lines } })).result, "2 tea,1 cup")
      const whole = {
        first: { sku: "tea" },
        gift: { sku: "cup" },
        note: { sku: "jug" },
        parts: {},
        grid: [lines, []],
        named: {}
      }
      assert.strictEqual((yield* orders.place({ payload: whole })).result, "1 tea|1 cup|1 jug|||2 tea,1 cup|")
      assert.strictEqual(
        (yield* orders.place({
          payload: {
            first: { sku: "tea" },
            gift: null,
            parts: { lines: [{ sku: "pot" }] },
            grid: [],
            named: { x: ["x", { sku: "lid" }] }
          }
        })).result,
        "1 tea|||1 pot|1 lid"
      )
      assert.strictEqual((yield* orders.list({ payload: lines })).result, "2 tea,1 cup")
      assert.deepStrictEqual(wrong, [])
    }).pipe(Effect.provide(FetchHttpClient.layer)))

  it.effect("are checked as in create, and take nothing that callers can't send", () =>
    Effect.gen(function*() {
      const post = (path: string, body: unknown) => Effect.map(send("POST", path, body), ({ body }) => body)
      const { errors } = yield* post("/orders/place", {
        first: { sku: "" },
        gift: { sku: "cup", tax: { rate: 2 } },
        parts: { lines: [{ sku: "tea", count: 0 }] },
        grid: [[], [{}]]
      })
      assert.deepStrictEqual(
        errors.map(({ field, validator }: { field: string; validator: string }) => [field, validator]),
        [["first.sku", "NotEmpty"], ["gift.tax.rate", "Max"], ["parts.lines.0.count", "Min"], [
          "grid.1.0.sku",
          "Required"
        ]]
      )
      const { result } = yield* post("/orders/list", [{ sku: "tea", mark: "forged" }])
      assert.strictEqual(result, "1 tea")
    }).pipe(Effect.provide(serving(engine, EmbeddedStore.layerMemory))))
})
