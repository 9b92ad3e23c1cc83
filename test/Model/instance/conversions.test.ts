import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Cause, DateTime, Effect, Exit, Inspectable, pipe, Schema } from "effect"
import { TestClock } from "effect/testing"
import { compileSerialiser } from "../../../src/Model/codec/serialiser.ts"
import { Marshaller, Model, Validator } from "../../../src/Model/index.ts"
import { everyTextOf } from "../../support/everyText.ts"

const canary = "CANARY-6f1d"

class Part extends Model.Class<Part>()("Part", {
  name: Schema.String.pipe(Validator.notEmpty),
  key: Schema.String.pipe(Model.optional, Model.omitted)
}) {}

class Thing extends Model.Class<Thing>()("Thing", {
  id: Model.id({ prefix: "T" }),
  name: Schema.String.pipe(Validator.notEmpty),
  secret: Schema.String.pipe(Validator.min(3), Model.omitted),
  size: Schema.Finite,
  state: Schema.Literals(["on", "off"]),
  tags: Schema.Array(Schema.String).pipe(Validator.max(3), Model.withDefault(() => [])),
  aliases: Schema.Array(Schema.String).pipe(Model.optional),
  part: Part.pipe(Model.optional),
  parts: Schema.Array(Part),
  at: Model.DateTime,
  on: Model.Date.pipe(Model.optional),
  seen: Model.DateTime.pipe(Model.marshalled(Marshaller.timestamp)),
  labels: Schema.Record(Schema.String, Schema.Boolean)
}) {}

const at = DateTime.makeUnsafe("2026-01-31T09:30:00Z")

const thing = new Thing({
  id: "T1",
  name: "Büro",
  secret: canary,
  size: 1.5,
  state: "on",
  tags: ["a", "b"],
  parts: [new Part({ name: "lid", key: canary })],
  at,
  seen: at,
  labels: { x: true }
})

const wire = {
  _type: "Thing",
  id: "T1",
  name: "Büro",
  size: 1.5,
  state: "on",
  tags: ["a", "b"],
  parts: [{ _type: "Part", name: "lid" }],
  at: "2026-01-31T09:30:00.000000",
  seen: 1_769_851_800,
  labels: { x: true }
}

const stored = {
  id: "T1",
  name: "Büro",
  secret: canary,
  size: 1.5,
  state: "on",
  tags: ["a", "b"],
  parts: [{ name: "lid", key: canary }],
  at: DateTime.toDateUtc(at),
  seen: 1_769_851_800,
  labels: { x: true }
}

const invalid = new Thing({ ...thing, name: "" }, { disableChecks: true })

/** Instances as they are after they were stored: a date has no time. */
const things = Arbitrary.map(
  Arbitrary.schema(Thing),
  (any) => any.on === undefined ? any : new Thing({ ...any, on: DateTime.startOf(any.on, "day") })
)

describe("Model.dumps", () => {
  it.effect("returns the JSON text with the type and without omitted fields", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(JSON.parse(yield* Model.dumps(thing)), wire)
      assert.isTrue((yield* Model.dumps(thing)).startsWith(`{"_type":"Thing"`))
    }))

  it.effect("pretty-prints on request", () =>
    Effect.gen(function*() {
      const text = yield* pipe(thing, Model.dumps({ prettyPrint: true }))
      assert.deepStrictEqual(JSON.parse(text), wire)
      assert.include(text, `\n  "name": "Büro",\n`)
    }))

  it.effect("validates, unless validate is false", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Model.dumps(invalid))
      assert.strictEqual(error._tag, "ValidationException")
      assert.strictEqual(JSON.parse(yield* Model.dumps(invalid, { validate: false })).name, "")
    }))

  it.effect("reports problems of nested models too", () =>
    Effect.gen(function*() {
      const wrong = new Thing(
        { ...thing, parts: [new Part({ name: "" }, { disableChecks: true })] },
        { disableChecks: true }
      )
      const { problems } = yield* Effect.flip(Model.dumps(wrong))
      assert.deepStrictEqual(problems.map(({ field, validator }) => [field, validator]), [["parts.0.name", "NotEmpty"]])
    }))
})

describe("Model.toRecord", () => {
  it.effect("is the stored form of the instance, including omitted fields", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Model.toRecord(thing), stored)
      assert.deepStrictEqual(yield* pipe(thing, Model.toRecord()), stored)
    }))

  it.effect("convertId renames id to _id", () =>
    Effect.gen(function*() {
      const { _id, id } = yield* Model.toRecord(thing, { convertId: true })
      assert.deepStrictEqual([_id, id], ["T1", undefined])
    }))

  it.effect("skipOmittedFields removes omitted fields, in nested models too", () =>
    Effect.gen(function*() {
      const { secret: _, ...rest } = stored
      const record = yield* pipe(thing, Model.toRecord({ skipOmittedFields: true }))
      assert.deepStrictEqual(record, { ...rest, parts: [{ name: "lid" }] })
    }))

  it.effect("validates, unless validate is false", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* Effect.flip(Model.toRecord(invalid))).problems[0]?.field, "name")
      assert.strictEqual((yield* Model.toRecord(invalid, { validate: false }))["name"], "")
    }))
})

describe("Model.fromRecord", () => {
  it.effect("reads the output of toRecord under either name of the identifier", () =>
    Effect.gen(function*() {
      const { id, ...rest } = stored
      assert.deepStrictEqual(yield* Model.fromRecord(Thing, stored), thing)
      assert.deepStrictEqual(yield* pipe({ ...rest, _id: id }, Model.fromRecord(Thing)), thing)
    }))

  it.effect("ignores keys that do not belong to the model, unless setUnmanagedParameters is true", () =>
    Effect.gen(function*() {
      const more = { ...stored, colour: "red", _type: "Thing" }
      assert.deepStrictEqual(yield* Model.fromRecord(Thing, more), thing)
      const set = { setUnmanagedParameters: true }
      for (const read of [Model.fromRecord(Thing, more, set), Model.fromRecord(Thing, set)(more)]) {
        const instance = yield* read
        assert.instanceOf(instance, Thing)
        assert.strictEqual(Reflect.get(instance, "colour"), "red")
        assert.isFalse(Object.hasOwn(instance, "_type"))
        assert.deepStrictEqual(yield* Model.toRecord(instance), stored)
      }
    }))

  it.effect("sets no property that the class defines", () =>
    Effect.gen(function*() {
      const odd = JSON.parse(`{ "__proto__": { "isAdmin": true }, "constructor": 1, "toJSON": 2, "colour": "red" }`)
      const instance = yield* Model.fromRecord(Thing, { ...stored, ...odd, ["__proto__"]: odd }, {
        setUnmanagedParameters: true
      })
      assert.instanceOf(instance, Thing)
      assert.isFalse("isAdmin" in instance)
      assert.notInclude(JSON.stringify(instance), canary)
      assert.strictEqual(Reflect.get(instance, "colour"), "red")
    }))

  it.effect("reads a missing field with a default as the default", () =>
    Effect.gen(function*() {
      const { tags: _, ...old } = stored
      assert.deepStrictEqual((yield* Model.fromRecord(Thing, old)).tags, [])
    }))

  it.effect("fails with all problems of the record", () =>
    Effect.gen(function*() {
      const { name: _, ...rest } = stored
      const error = yield* Effect.flip(Model.fromRecord(Thing, { ...rest, size: "big" }))
      assert.strictEqual(error._tag, "PropertyRequiredException")
      assert.deepStrictEqual(error.problems.map(({ field, validator }) => [field, validator]), [
        ["name", "Required"],
        ["size", "Type"]
      ])
      assert.strictEqual(
        (yield* Effect.flip(Model.fromRecord(Thing, { ...stored, size: "big" })))._tag,
        "ValidationException"
      )
    }))
})

describe("Model.appendTo and Model.removeFrom", () => {
  it.effect("appendTo returns a copy with the elements appended, and does not change the instance", () =>
    Effect.gen(function*() {
      const more = yield* Model.appendTo(thing, { tags: ["c"], parts: [new Part({ name: "box" })] })
      assert.instanceOf(more, Thing)
      assert.deepStrictEqual(more.tags, ["a", "b", "c"])
      assert.deepStrictEqual(more.parts.map(({ name }) => name), ["lid", "box"])
      assert.deepStrictEqual(thing.tags, ["a", "b"])
    }))

  it.effect("appendTo creates a missing list", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* pipe(thing, Model.appendTo({ aliases: ["x"] }))).aliases, ["x"])
    }))

  it.effect("removeFrom returns a copy without the element, compared by value", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* Model.removeFrom(thing, { tags: "a" })).tags, ["b"])
      const without = yield* pipe(thing, Model.removeFrom({ parts: new Part({ name: "lid", key: canary }) }))
      assert.deepStrictEqual(without.parts, [])
      assert.deepStrictEqual((yield* Model.removeFrom(thing, { aliases: "x", tags: "z" })).tags, ["a", "b"])
    }))

  it.effect("both fail if the result is not valid", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Model.appendTo(thing, { tags: ["c", "d"] }))
      assert.deepStrictEqual(error.problems.map(({ field, validator }) => [field, validator]), [["tags", "Max"]])
    }))
})

describe("every instance", () => {
  it.effect.prop("survives the way to a record and back", [things], ([any]) =>
    Effect.gen(function*() {
      const record = yield* Model.toRecord(any)
      assert.deepStrictEqual(yield* Model.fromRecord(Thing, record), any)
      const document = yield* Model.toRecord(any, { convertId: true, validate: false })
      assert.deepStrictEqual(yield* Model.fromRecord(Thing, document), any)
    }))

  it.prop("survives the way to the store and back", [things], ([any]) => {
    const document = Schema.encodeUnknownSync(Thing)(any)
    assert.deepStrictEqual(Schema.decodeUnknownSync(Thing)(document), any)
  })

  it.effect.prop(
    "comes back from the wire, but for what is omitted there",
    [things],
    ([any]) =>
      Effect.gen(function*() {
        const { id, ...stored } = yield* Model.toRecord(any)
        const text = compileSerialiser(Thing)({ _id: id, ...stored }, "") ?? ""
        assert.deepStrictEqual(JSON.parse(yield* Model.dumps(any)), JSON.parse(text))
        const seen = yield* Schema.decodeUnknownEffect(Schema.toCodecJson(Thing.wire))(JSON.parse(text))
        const { secret: _, part, parts, ...rest } = any
        const seenPart = ({ name }: Part) => ({ _type: "Part" as const, name })
        assert.deepStrictEqual(seen, {
          _type: "Thing",
          ...rest,
          // JSON has one zero only.
          size: any.size + 0,
          ...(part === undefined ? {} : { part: seenPart(part) }),
          parts: parts.map(seenPart)
        })
      })
  )

  const secretOf = (any: Thing, size: unknown) => ({
    ...any,
    secret: canary,
    part: { name: any.name, key: canary },
    parts: [{ name: "", key: canary }],
    size
  })

  it.effect.prop(
    "keeps what it omits to itself: in outputs, errors, and texts of it",
    [things, Arbitrary.schema(Schema.Json)],
    ([any, odd]) =>
      Effect.gen(function*() {
        yield* TestClock.setTime(0)
        const instance = new Thing({
          ...any,
          secret: canary,
          part: new Part({ name: "p", key: canary }),
          parts: [new Part({ name: "q", key: canary })]
        })
        const input = secretOf(any, odd)
        const exits = yield* Effect.all([
          Model.dumps(instance),
          Model.dumps(new Thing({ ...instance, name: "" }, { disableChecks: true })),
          Model.toRecord(instance, { skipOmittedFields: true }),
          // What a caller sends may be anything.
          Model.finalise(Thing, input as never),
          Model.finalise(Thing, { ...input, secret: [canary] } as never),
          Model.fromRecord(Thing, { ...input, secret: { canary } }),
          Model.appendTo(instance, { tags: ["1", "2", "3", "4"] }),
          Effect.try({
            try: () => new Thing({ ...instance, secret: canary.slice(0, 0) }),
            catch: (cause) => Inspectable.toStringUnknown(cause)
          })
        ].map((effect) => Effect.exit(effect as Effect.Effect<unknown, unknown>)))
        const outputs = exits.flatMap((exit) =>
          Exit.isFailure(exit) ? [Cause.pretty(exit.cause), exit.cause] : [exit.value]
        )
        for (const output of [...outputs, instance, Model.jsonSchema(Thing), Model.metadata(Thing)]) {
          for (const text of everyTextOf(output)) assert.notInclude(text, canary)
        }
      })
  )
})
