/** Identifiers that are no text: what the description says of them, and what the typed client takes and gives. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Equal, Option, Schema } from "effect"
import * as OpenApi from "../../../src/Http/OpenApi.ts"
import { Generator, KernelEngine, Model, Resource, Service } from "../../../src/index.ts"
import { resolvedDocument } from "../../support/resolvedDocument.ts"

const fields = { note: Schema.String }

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

class Count extends Model.Class<Count>()("Count", { id: Schema.Int, ...fields, ...Model.versioned }) {}

class Crate extends Model.Class<Crate>()("Crate", {
  id: Model.ObjectId.pipe(Model.generated(Generator.objectId)),
  ...fields
}) {}

class Code extends Model.Class<Code>()("Code", {
  id: Schema.String.check(Schema.isPattern(/^[A-Z]{2,9}$/u)).pipe(Schema.brand("Code")),
  ...fields
}) {}

class Moment extends Model.Class<Moment>()("Moment", { id: Schema.DateTimeUtc, ...fields }) {}

class Day extends Model.Class<Day>()("Day", { id: Model.Date, ...fields }) {}

class Big extends Model.Class<Big>()("Big", { id: Schema.BigInt, ...fields }) {}

class Word extends Model.Class<Word>()("Word", { id: Schema.Literals(["a", "b"]), ...fields }) {}

class Text extends Model.Class<Text>()("Text", { id: Model.id(), ...fields }) {}

const seen: Array<unknown> = []

const engine = KernelEngine.make("identifiers")
  .register(
    Resource.make(Count, { methods })
      .action(
        "add",
        { path: "add/{by}", params: { by: Schema.Int }, success: Schema.Int },
        ({ id }, { params }) => Effect.succeed(id + params.by)
      )
      .beforeGet(({ id }) => Effect.sync(() => void seen.push(Option.getOrUndefined(id))))
  )
  .register(Crate, { methods })
  .register(Code, { methods })
  .register(Moment, { methods })
  .register(Day, { methods })
  .register(Big, { methods })
  .register(Word, { methods })
  .register(Text, { methods })
  .register(Service.make("OtherService").operation("of", { path: "./{id}" }, () => Effect.void))

// The tests look into objects of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

const { components: { schemas }, paths }: Json = resolvedDocument(
  OpenApi.make(engine, { title: "Identifiers", version: "1.0.0" })
)

const resolved = (schema: Json): Json => schema.$ref === undefined ? schema : schemas[schema.$ref.split("/").at(-1)]

const integer = { type: "integer", format: "int64", minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }

const kinds: { readonly [segment: string]: Json } = {
  counts: integer,
  crates: { type: "string", pattern: String.raw`^[\da-fA-F]{24}$` },
  codes: { type: "string", pattern: "^[A-Z]{2,9}$" },
  moments: {
    type: "string",
    format: "date-time",
    pattern: schemas.Moment?.properties.id.pattern,
    examples: ["2026-01-31T09:30:00.123Z"]
  },
  days: { type: "string", format: "date" },
  bigs: { type: "string", description: "A whole number", pattern: String.raw`^-?\d+$`, examples: ["42"] },
  words: { type: "string", enum: ["a", "b"] },
  texts: { type: "string" }
}

describe("the description of identifiers", () => {
  it.each(Object.entries(kinds))("of %s has their own schema in paths and results", (segment, expected) => {
    const all = paths[`/${segment}`]
    const one = paths[`/${segment}/{id}`]
    const idIn = ({ parameters }: Json) =>
      resolved(parameters.find((parameter: Json) => parameter.in === "path" && parameter.name === "id").schema)
    for (const method of ["get", "put", "patch", "delete"]) {
      assert.deepStrictEqual(idIn(one[method]), expected, method)
    }
    const resultsOf = ({ responses }: Json, status: number) =>
      responses[status].content["application/json"].schema.oneOf.map(resolved).flatMap(({ properties }: Json) =>
        properties.result === undefined ? [] : [properties.result]
      )
    for (const method of ["put", "patch"]) assert.deepStrictEqual(resultsOf(one[method], 200), [expected], method)
    assert.deepStrictEqual(resultsOf(all.post, 201), [expected, { type: "array", items: expected }])
    assert.deepStrictEqual(resultsOf(all.post, 200), [expected])
  })

  it("is that of the document in the path of an action, and text in that of a service", () => {
    const { parameters } = paths["/counts/{id}/add/{by}"].get
    assert.deepStrictEqual(parameters.map(({ name, schema }: Json) => [name, schema]), [
      ["id", integer],
      ["by", integer]
    ])
    assert.deepStrictEqual(paths["/others/{id}"].get.parameters[0].schema, { type: "string" })
  })
})

describe("the typed client", () => {
  const client = Effect.map(engine.test(), (service) => service.client)

  it.effect("accepts and returns identifiers in their decoded form", () =>
    Effect.gen(function*() {
      const { bigs, codes, counts, crates, moments, words } = yield* client
      const created = yield* counts.create({ payload: { id: 7, note: "a" } })
      assert.strictEqual(created.result, 7)
      const several = yield* counts.create({ payload: [{ id: 8, note: "b" }, { id: -9, note: "c" }] })
      assert.deepStrictEqual(several.result, [8, -9])
      assert.strictEqual((yield* counts.get({ params: { id: -9 } })).note, "c")
      assert.deepStrictEqual(seen, [-9])
      assert.strictEqual((yield* counts.patch({ params: { id: 7 }, payload: { note: "d" } })).result, 7)
      assert.strictEqual((yield* counts.replace({ params: { id: 7 }, payload: { id: 7, note: "e" } })).result, 7)
      assert.strictEqual((yield* counts.add({ params: { id: 7, by: 2 } })).result, 9)
      assert.strictEqual((yield* counts.delete({ params: { id: 7 } })).result, 1)

      const { result } = yield* crates.create({ payload: { note: "a" } })
      assert.strictEqual((yield* crates.get({ params: { id: result } })).id, result)
      const code = Code.fields.id.make("ABC")
      assert.strictEqual((yield* codes.create({ payload: { id: code, note: "a" } })).result, code)
      assert.strictEqual((yield* codes.get({ params: { id: code } })).id, code)
      const big = 2n ** 62n
      assert.strictEqual((yield* bigs.create({ payload: { id: big, note: "a" } })).result, big)
      assert.strictEqual((yield* bigs.get({ params: { id: big } })).id, big)
      const at = DateTime.makeUnsafe("2026-01-31T09:30:00Z")
      assert.isTrue(Equal.equals((yield* moments.create({ payload: { id: at, note: "a" } })).result, at))
      assert.isTrue(Equal.equals((yield* moments.get({ params: { id: at } })).id, at))
      assert.strictEqual((yield* words.create({ payload: { id: "b", note: "a" } })).result, "b")
      assert.strictEqual((yield* words.get({ params: { id: "b" } })).id, "b")
    }))
})
