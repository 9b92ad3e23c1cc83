/** Keys that a body should not have: ignored, or refused where the registration says so, in whatever body they stand. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { KernelEngine, Model, Resource, Service } from "../../../src/index.ts"
import { refused, send, serving } from "../../support/rest.ts"
import { routeStores } from "../../support/storeMatrix.ts"

class Part extends Model.Class<Part>()("Part", {
  name: Schema.String,
  made: Schema.String.pipe(Model.withDefault(() => "here"), Model.readOnly)
}) {}

const Size = Schema.Struct({ width: Schema.Finite, unit: Schema.optionalKey(Schema.String) })

const Shape = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("round"), radius: Schema.Finite }),
  Schema.Struct({ kind: Schema.Literal("square"), side: Schema.Finite })
])

class Chest extends Model.Class<Chest>()("Chest", {
  id: Model.id(),
  note: Schema.String,
  part: Part.pipe(Model.optional),
  parts: Schema.Array(Part).pipe(Model.withDefault(() => [])),
  size: Size.pipe(Model.optional),
  labels: Schema.Record(Schema.String, Size).pipe(Model.optional),
  shape: Shape.pipe(Model.optional),
  row: Schema.TupleWithRest(Schema.Tuple([Schema.Int]), [
    Schema.Struct({ a: Schema.Int }),
    Schema.Struct({ b: Schema.Int })
  ]).pipe(Model.optional),
  free: Schema.Unknown.pipe(Model.optional),
  ...Model.audited
}) {}

const methods = ["GET", "POST", "PUT", "PATCH"] as const

const payload = { size: Size, sizes: Schema.Array(Size), shape: Schema.optionalKey(Shape) }

const Chests = Resource.make(Chest, { methods })
  .action("fit", { payload, success: Schema.Finite }, (_, { payload: { size } }) => Effect.succeed(size.width))
  .action("swap", { payload: Chest, success: Chest }, (_, { payload }) => Effect.succeed(payload))

const Tools = Service.make("ToolService")
  .operation("measure", { payload, success: Schema.Finite }, ({ payload: { size } }) => Effect.succeed(size.width))
  .operation("check", { payload: Chest, success: Chest }, ({ payload }) => Effect.succeed(payload))
  .operation("change", { method: "PUT", payload: { free: Schema.Unknown } }, () => Effect.void)

const strict = { urlBase: "/strict", onExcessProperty: "error" } as const

const lax = { urlBase: "/lax", name: "lax" } as const

const engine = KernelEngine.make("excess")
  .register(Chests, strict)
  .register(Chests, lax)
  .register(Tools, strict)
  .register(Tools, { ...lax, name: "laxTools" })

/** What stands in none of them, with the paths that a refusal names. */
const chest = {
  note: "a",
  more: 1,
  part: { name: "p", more: 1, made: "ignored", _type: "Part" },
  parts: [{ name: "q" }, { name: "r", more: 1 }],
  size: { width: 1, more: 1 },
  labels: { a: { width: 1 }, b: { width: 2, more: 1 } },
  shape: { kind: "square", side: 1, radius: 1 },
  row: [1, { a: 1 }, { a: 2, b: 2 }, { a: 1, b: 2 }],
  free: { anything: { goes: 1 } },
  inserted: "ignored",
  _links: {},
  _embedded: {},
  _type: "Chest"
}

const inChest = [
  "labels.b.more",
  "more",
  "part.more",
  "parts.1.more",
  "row.2.b",
  "row.3.a",
  "shape.radius",
  "size.more"
]

const measures = {
  size: { width: 3, more: 1 },
  sizes: [{ width: 1, more: 1 }],
  shape: { kind: "round", radius: 1, side: 1 },
  _type: "Anything"
}

const inMeasures = ["_type", "shape.side", "size.more", "sizes.0.more"]

const bodies = (base: string, id: string) =>
  [
    ["POST", `${base}/chests`, chest, inChest],
    ["PUT", `${base}/chests/${id}`, chest, inChest],
    // Of a union, a patch may name what any of its members has.
    ["PATCH", `${base}/chests/${id}`, chest, inChest.filter((name) => name !== "shape.radius")],
    ["POST", `${base}/chests/${id}/swap`, chest, inChest],
    ["POST", `${base}/tools/check`, chest, inChest],
    ["POST", `${base}/chests/${id}/fit`, measures, inMeasures],
    ["POST", `${base}/tools/measure`, measures, inMeasures],
    ["PUT", `${base}/tools/change`, { free: { any: 1 }, more: 1 }, ["more"]]
  ] as const

routeStores((name, store) =>
  it.layer(serving(engine, store), { excludeTestServices: true })(`keys that nobody declared / ${name}`, (it) => {
    const created = (base: string) =>
      Effect.map(send("POST", `${base}/chests`, { note: "a" }), ({ body }) => body.result)

    it.effect("are ignored in every body", () =>
      Effect.gen(function*() {
        for (const [method, path, body] of bodies("/lax", yield* created("/lax"))) {
          const answer = yield* send(method, path, body)
          assert.oneOf(answer.status, [200, 201], `${method} ${path} ${answer.text}`)
        }
      }))

    it.effect("are a 400 that names them all if the registration rejects them, in every body", () =>
      Effect.gen(function*() {
        for (const [method, path, body, named] of bodies("/strict", yield* created("/strict"))) {
          const answer = yield* send(method, path, body)
          refused(400, answer)
          const fields = answer.body.errors.map(({ field }: { readonly field: string }) => field)
          assert.deepStrictEqual(fields.toSorted(), named, `${method} ${path}`)
        }
      }))

    it.effect("are rejected in the values of a JSON Patch, too; other members of its operations are ignored", () =>
      Effect.gen(function*() {
        const patch = (base: string, id: string) =>
          send("PATCH", `${base}/chests/${id}`, [{ op: "add", path: "/size", value: { width: 1, more: 1 }, more: 1 }], {
            "content-type": "application/json-patch+json"
          })
        assert.strictEqual((yield* patch("/lax", yield* created("/lax"))).status, 200)
        const answer = yield* patch("/strict", yield* created("/strict"))
        refused(400, answer)
        assert.deepStrictEqual(answer.body.errors.map(({ field }: { readonly field: string }) => field), ["size.more"])
      }))

    it.effect("do not include fields that a client can read but not send: a document can be sent back", () =>
      Effect.gen(function*() {
        const path = `/strict/chests/${yield* created("/strict")}`
        const { more: _, ...known } = chest
        const own = {
          ...known,
          part: { name: "p", made: "ignored", _type: "Part" },
          parts: [{ name: "q" }],
          size: { width: 1 },
          labels: { a: { width: 1 } },
          shape: { kind: "square", side: 1 },
          row: [1, { a: 1 }, { b: 2 }]
        }
        assert.strictEqual((yield* send("PUT", path, own)).status, 200)
        const { body } = yield* send("GET", path)
        assert.strictEqual((yield* send("PUT", path, body)).status, 200)
        assert.strictEqual((yield* send("PATCH", path, body)).status, 200)
        assert.strictEqual((yield* send("POST", "/strict/tools/check", body)).status, 200)
      }))
  })
)
