import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Cause, DateTime, Effect, Exit, Option, Schema, SchemaGetter } from "effect"
import * as SchemaParser from "effect/SchemaParser"
import { isDeepStrictEqual } from "node:util"
import { problemsOf } from "../../../src/Model/codec/fieldProblems.ts"
import { Marshaller, Model, Validator } from "../../../src/Model/index.ts"
import { recordDecoder, recordEncoder } from "../../../src/Model/instance/recordCodec.ts"

class Part extends Model.Class<Part>()("Part", {
  id: Schema.String.pipe(Validator.notEmpty, Model.optional),
  width: Schema.Int.pipe(Validator.min(0)),
  made: Model.DateTime.pipe(Model.optional)
}) {}

type StoredNode = { readonly name: string; readonly nodes: ReadonlyArray<StoredNode> }

class Node extends Model.Class<Node>()("Node", {
  name: Schema.String.pipe(Validator.notEmpty),
  nodes: Schema.Array(Schema.suspend((): Schema.Codec<Node, StoredNode> => Node))
}) {}

const cents = Marshaller.make(Schema.Union([
  Schema.Int,
  Schema.FiniteFromString.pipe(Schema.decodeTo(Schema.Int, {
    decode: SchemaGetter.transform((francs) => Math.round(francs * 100)),
    encode: SchemaGetter.transform((cents) => cents / 100)
  }))
]))

const moment = DateTime.makeUnsafe("2026-01-31T09:30:00.123Z")

class Thing extends Model.Class<Thing>()("Thing", {
  id: Model.id({ prefix: "T" }),
  name: Schema.String.pipe(Validator.notEmpty),
  count: Schema.Int.pipe(Validator.min(1)),
  size: Schema.Finite,
  // @effect-diagnostics-next-line schemaNumber:off
  any: Schema.Number,
  on: Schema.Boolean,
  state: Schema.Literals(["open", "closed"]),
  either: Schema.Union([Schema.Int, Schema.Literal("huge"), Model.DateTime]),
  nullable: Schema.NullOr(Schema.String),
  perhapsNull: Schema.NullOr(Schema.String).pipe(Model.optional),
  tags: Schema.Array(Schema.String).pipe(Validator.max(2), Model.withDefault(() => ["new"])),
  title: Schema.NullOr(Schema.String).pipe(Model.withDefault(() => "none")),
  note: Schema.String.pipe(Model.optional, Model.withDefault(() => "first optional")),
  remark: Schema.String.pipe(Model.withDefault(() => "first a default"), Model.optional),
  twice: Schema.String.pipe(Model.withDefault(() => "inner"), Model.withDefault(() => "outer")),
  at: Model.DateTime.pipe(Validator.past),
  day: Model.Date,
  seen: Model.DateTime.pipe(Model.optional),
  since: Model.Date.pipe(Model.withDefault(() => DateTime.makeUnsafe(0))),
  days: Schema.Array(Model.Date).pipe(Model.optional),
  stamp: Model.DateTime.pipe(Model.marshalled(Marshaller.timestamp)),
  price: Schema.Int.pipe(Model.marshalled(cents)),
  secret: Schema.Record(Schema.String, Schema.Finite).pipe(Model.omitted),
  part: Part,
  spare: Part.pipe(Model.optional),
  noPart: Schema.NullOr(Part),
  parts: Schema.Array(Part),
  more: Schema.Array(Part).pipe(Model.withDefault(() => [new Part({ width: 7 })])),
  node: Node,
  struct: Schema.Struct({ a: Schema.String, b: Schema.optionalKey(Model.DateTime) }),
  pair: Schema.Tuple([Schema.String, Schema.Int]),
  own: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("own"))),
  converted: Model.DateTime.pipe(Model.converted((value) => Effect.succeed(value)), Model.optional),
  ...Model.versioned
}, { validators: [Validator.related("Size", "size", ({ count, size }) => size >= count, { message: "is small" })] }) {}

const date = DateTime.toDateUtc(moment)

const stored = {
  _id: "T1",
  name: "a",
  count: 1,
  size: 0.5,
  any: 1,
  on: true,
  state: "open",
  either: 3,
  nullable: "b",
  at: date,
  day: date,
  stamp: 1_769_851_800,
  price: 1250,
  secret: { CANARY: 1 },
  part: { width: 1 },
  noPart: null,
  parts: [{ id: "P1", width: 1, made: date }, { width: 2, extra: 1 }],
  node: { name: "root", nodes: [{ name: "leaf", nodes: [] }] },
  struct: { a: "c", b: date },
  pair: ["d", 1],
  version: 1
}

/** What everything was read with before there was a reader of its own: the schema, without validators. */
const readBySchema = <M extends Model.Any>(model: M) => {
  // Fields are plain codecs.
  const codec = model as unknown as Schema.Codec<M["Type"]>
  const decode = SchemaParser.decodeUnknownExit(codec, { disableChecks: true, errors: "all" })
  return ({ _id, ...fields }: { readonly [key: string]: unknown }) =>
    Exit.mapError(decode(_id === undefined ? fields : { id: _id, ...fields }), problemsOf)
}

/** The instance, or the problems; a codec of a field may die of a value that its own checks were to keep from it. */
const outcomeOf = (exit: Exit.Exit<unknown, unknown>): unknown =>
  Exit.isSuccess(exit) ? exit.value : Option.getOrElse(Cause.findErrorOption(exit.cause), () => "died")

const known = [
  ...Object.values(stored),
  undefined,
  null,
  "",
  "huge",
  "12.50",
  0,
  -1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  false,
  [],
  ["x", null],
  [date, new Date(0)],
  [new Date(Number.NaN)],
  new Date(Number.NaN),
  new Date(253_402_300_800_000),
  moment,
  new Part({ width: 1 }),
  [new Part({ width: 1 })],
  [{ width: "1" }],
  { width: Number.NaN, id: null, made: null },
  { width: 1, _id: "P2" },
  { width: 1, made: undefined },
  { a: "c", b: null },
  { CANARY: "CANARY" },
  JSON.parse(`{"__proto__":{"width":1}}`),
  Object.create({ width: 1 })
]

const keys = [...Object.keys(Thing.store.fields), "_id", "extra", "__proto__"]

const removed = Symbol("removed")

/** Some fields that are not there, and some with values that are right for them, or for others. */
const changes = Arbitrary.array(
  Arbitrary.all([
    Arbitrary.schema(Schema.Literals(keys)),
    Arbitrary.schema(Schema.Literals([-1, ...known.keys()]))
  ]),
  { maxLength: 4 }
).pipe(
  Arbitrary.map((entries) => entries.map(([key, at]) => [key, at === -1 ? removed : known[at]] as const))
)

const changed = (record: object, entries: ReadonlyArray<readonly [string, unknown]>) => {
  const copy: { [key: string]: unknown } = { ...record }
  for (const [key, value] of entries) {
    if (value === removed) delete copy[key]
    else Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true })
  }
  return copy
}

const things = Arbitrary.schema(Thing)

describe("the decoder of stored documents", () => {
  const read = recordDecoder(Thing)
  const expected = readBySchema(Thing)
  const toStored = recordEncoder(Thing, "_id")

  /** What the reader gives has the same classes, values and keys, or the same problems. */
  const assertSame = (record: { readonly [key: string]: unknown }) =>
    Effect.gen(function*() {
      const actual = outcomeOf(yield* Effect.exit(read(record)))
      const wanted = outcomeOf(expected(record))
      if (isDeepStrictEqual(actual, wanted)) return
      assert.deepStrictEqual(actual, wanted)
      assert.fail("classes differ")
    })

  it.effect.prop(
    "gives what the schema gives, whatever a document holds",
    [changes],
    ([entries]) => assertSame(changed(stored, entries)),
    { arbitrary: { runs: 1500 } }
  )

  it.effect.prop(
    "gives what the schema gives of any instance, changed or not",
    [things, changes],
    ([thing, entries]) =>
      Effect.gen(function*() {
        const record = toStored(thing)
        yield* assertSame({ ...record })
        yield* assertSame(changed(record, entries))
      }),
    { arbitrary: { runs: 100 } }
  )

  it.effect("reads every field of a document", () =>
    Effect.gen(function*() {
      const thing = yield* read(stored)
      assert.instanceOf(thing, Thing)
      assert.instanceOf(thing.part, Part)
      assert.instanceOf(thing.parts[1], Part)
      assert.instanceOf(thing.node.nodes[0], Node)
      assert.strictEqual(thing.id, "T1")
      assert.strictEqual(DateTime.formatIso(thing.at), "2026-01-31T09:30:00.123Z")
      assert.strictEqual(DateTime.formatIso(thing.day), "2026-01-31T00:00:00.000Z")
      assert.deepStrictEqual(thing.tags, ["new"])
      assert.deepStrictEqual([thing.title, thing.note, thing.remark, thing.twice, thing.own], [
        "none",
        "first optional",
        undefined,
        "inner",
        "own"
      ])
      assert.isFalse("spare" in thing)
      assert.isFalse(Object.hasOwn(thing.parts[1], "extra"))
    }))

  it.effect("does not run validators", () =>
    Effect.gen(function*() {
      const far = new Date("2999-01-01T00:00:00Z")
      const thing = yield* read({ ...stored, name: "", count: -1.5, tags: ["a", "b", "c"], at: far })
      assert.deepStrictEqual([thing.name, thing.count, thing.tags.length], ["", -1.5, 3])
      assert.strictEqual(thing.at.epochMilliseconds, far.getTime())
    }))

  it.effect("treats null as missing in an optional field, and reads older forms", () =>
    Effect.gen(function*() {
      const thing = yield* read({ ...stored, spare: null, seen: null, price: "12.50" })
      assert.isFalse("spare" in thing)
      assert.isFalse("seen" in thing)
      assert.strictEqual(thing.price, 1250)
    }))

  it.effect("copies the lists of the document", () =>
    Effect.gen(function*() {
      const tags = ["a"]
      const thing = yield* read({ ...stored, tags })
      assert.deepStrictEqual(thing.tags, tags)
      assert.notStrictEqual(thing.tags, tags)
    }))

  it.effect("reads a record under either name of the identifier, and prefers id", () =>
    Effect.gen(function*() {
      const { _id, ...rest } = stored
      assert.strictEqual((yield* read({ ...rest, id: "T2" })).id, "T2")
      assert.strictEqual((yield* read({ ...stored, id: "T2" })).id, "T2")
      const problems = yield* Effect.flip(read({ ...stored, id: null }))
      assert.deepStrictEqual(problems.map(({ field }) => field), ["id"])
    }))

  it.effect("ignores inherited properties", () =>
    Effect.gen(function*() {
      const problems = yield* Effect.flip(read(Object.create(stored)))
      assert.include(problems.map(({ field }) => field), "name")
    }))
})
