/** JSON merge patches (RFC 7396) of fields that are no models, over HTTP and by a repository. */
import { assert, it } from "@effect/vitest"
import { Arbitrary, DateTime, Effect, Schema } from "effect"
import { KernelEngine, Model, Repository } from "../../../src/index.ts"
import { atOnce, fieldsIn, refused, send, serving, statusesOf } from "../../support/rest.ts"
import { routeStores } from "../../support/storeMatrix.ts"

class Inner extends Model.Class<Inner>()("Inner", {
  name: Schema.String.pipe(Model.optional),
  labels: Schema.Record(Schema.String, Schema.String).pipe(Model.optional)
}) {}

const fields = {
  id: Model.id({ prefix: "S" }),
  free: Schema.Unknown.pipe(Model.optional),
  json: Schema.Json.pipe(Model.optional),
  labels: Schema.Record(Schema.String, Schema.String).pipe(Model.optional),
  counts: Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Int)).pipe(Model.withDefault(() => ({}))),
  place: Schema.Struct({
    city: Schema.String,
    zip: Schema.optionalKey(Schema.Int),
    at: Schema.optionalKey(Schema.DateTimeUtcFromString),
    geo: Schema.optionalKey(
      Schema.Struct({ lat: Schema.Finite, lon: Schema.Finite, tags: Schema.Array(Schema.String) })
    )
  }).pipe(Model.optional),
  shape: Schema.Union([
    Schema.Struct({ kind: Schema.Literal("circle"), r: Schema.Int }),
    Schema.Struct({ kind: Schema.Literal("box"), w: Schema.Int, h: Schema.Int })
  ]).pipe(Model.optional),
  inner: Inner.pipe(Model.optional)
}

class Sheet extends Model.Class<Sheet>()("Sheet", fields) {}

class Versioned extends Model.Class<Versioned>()("Versioned", { ...fields, ...Model.versioned }) {}

const methods = ["GET", "POST", "PATCH"] as const

const engine = KernelEngine.make("merging").register(Sheet, { methods }).register(Versioned, { methods })

const paths = ["/sheets", "/versioneds"] as const

const jsonPatch = { "content-type": "application/json-patch+json" }
const mergePatch = { "content-type": "application/merge-patch+json" }

/** RFC 7396, appendix A: the target, the patch, the result. `undefined` is where `null` leaves nothing of the field. */
const appendix: ReadonlyArray<readonly [target: Schema.Json, patch: Schema.Json, result: Schema.Json | undefined]> = [
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [["a", "b"], ["c", "d"], ["c", "d"]],
  [{ a: "b" }, ["c"], ["c"]],
  [{ a: "foo" }, null, undefined],
  [{ a: "foo" }, "bar", "bar"],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: "b", c: null }, { a: "b" }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }]
]

/** The function of RFC 7396, section 2. */
const merged = (target: Schema.Json | undefined, patch: Schema.Json): Schema.Json => {
  if (!isObject(patch)) return patch
  const result = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key)
    else result.set(key, merged(result.get(key), value))
  }
  return Object.fromEntries(result)
}

const isObject = (value: Schema.Json | undefined): value is Schema.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const leaf: Schema.Codec<Schema.Json> = Schema.Union([Schema.Null, Schema.Literals([true, 0, -1.5, "", "x"])])

const around = (inner: Schema.Codec<Schema.Json>): Schema.Codec<Schema.Json> => {
  const part = Schema.optionalKey(inner)
  return Schema.Union([
    leaf,
    Schema.Array(inner).check(Schema.isMaxLength(2)),
    Schema.Struct({ a: part, b: part, c: part, ["__proto__"]: part, "a.b": part, "1": part })
  ])
}

const anyJson = Arbitrary.schema(around(around(around(leaf))))

routeStores((name, store) =>
  it.layer(serving(engine, store), { excludeTestServices: true })(`merge patches / ${name}`, (it) => {
    const created = (path: string, body: unknown) =>
      Effect.map(send("POST", path, body), ({ body, status, text }) => {
        assert.strictEqual(status, 201, text)
        return `${path}/${body.result}`
      })
    const read = (path: string, field: string) => Effect.map(send("GET", path), ({ body }) => body[field])
    const patched = (path: string, body: unknown, headers = {}) =>
      Effect.map(send("PATCH", path, body, headers), ({ status, text }) => assert.strictEqual(status, 200, text))

    it.effect("all of RFC 7396's appendix A holds on a free-form field", () =>
      Effect.gen(function*() {
        for (const path of paths) {
          for (const field of ["free", "json"]) {
            for (const [target, patch, result] of appendix) {
              const one = yield* created(path, { [field]: target })
              yield* patched(one, { [field]: patch }, mergePatch)
              assert.deepStrictEqual(yield* read(one, field), result, JSON.stringify([target, patch]))
            }
          }
        }
      }))

    it.effect.prop(
      "any merge patch applied to any JSON has the result of RFC 7396",
      [anyJson, anyJson],
      ([target, patch]) =>
        Effect.gen(function*() {
          const one = yield* created("/sheets", { free: target })
          yield* patched(one, { free: patch })
          const expected = merged(target, patch)
          assert.deepStrictEqual(yield* read(one, "free"), expected === null ? undefined : expected)
        }),
      { arbitrary: { runs: 60 } }
    )

    it.effect("records, structs and unions of objects are merged at every depth, within models too", () =>
      Effect.gen(function*() {
        for (const path of paths) {
          const one = yield* created(path, {
            labels: { m: "a", n: "b" },
            counts: { x: { a: 1, b: 2 }, y: { c: 3 } },
            place: {
              city: "Bern",
              zip: 3000,
              at: "2026-01-31T09:30:00.000Z",
              geo: { lat: 1, lon: 2, tags: ["t", "u"] }
            },
            shape: { kind: "box", w: 1, h: 2 },
            inner: { name: "i", labels: { m: "a", n: "b" } }
          })
          yield* patched(one, {
            labels: { m: "z" },
            counts: { x: { a: null, d: 4 }, y: null },
            place: { zip: null, geo: { lat: 5, tags: ["v"] } },
            shape: { h: 7 },
            inner: { labels: { n: null, o: "c" } }
          })
          const { body } = yield* send("GET", one)
          assert.deepStrictEqual(body.labels, { m: "z", n: "b" })
          assert.deepStrictEqual(body.counts, { x: { b: 2, d: 4 } })
          assert.deepStrictEqual(body.place, {
            city: "Bern",
            at: "2026-01-31T09:30:00.000Z",
            geo: { lat: 5, lon: 2, tags: ["v"] }
          })
          assert.deepStrictEqual(body.shape, { kind: "box", w: 1, h: 7 })
          assert.deepStrictEqual(body.inner, { _type: "Inner", name: "i", labels: { m: "a", o: "c" } })
          yield* patched(one, { place: { geo: null } })
          assert.deepStrictEqual(yield* read(one, "place"), { city: "Bern", at: "2026-01-31T09:30:00.000Z" })
        }
      }))

    it.effect("the merged document is validated, and rejected by field", () =>
      Effect.gen(function*() {
        const one = yield* created("/sheets", { place: { city: "Bern" }, shape: { kind: "circle", r: 1 } })
        assert.deepStrictEqual(fieldsIn(yield* send("PATCH", one, { place: { city: null } })), ["place.city"])
        assert.deepStrictEqual(fieldsIn(yield* send("PATCH", one, { place: { zip: "x" } })), ["place.zip"])
        assert.deepStrictEqual(fieldsIn(yield* send("PATCH", one, { counts: { x: { a: 1.5 } } })), ["counts.x.a"])
        assert.deepStrictEqual(fieldsIn(yield* send("PATCH", one, { place: { geo: { lat: 1 } } })).toSorted(), [
          "place.geo.lon",
          "place.geo.tags"
        ])
        refused(400, yield* send("PATCH", one, { shape: { kind: "box" } }))
        assert.deepStrictEqual(yield* read(one, "place"), { city: "Bern" })
      }))

    it.effect("a JSON Patch sets values within records and free-form fields, null among them", () =>
      Effect.gen(function*() {
        const one = yield* created("/sheets", {
          free: { a: { b: 1 } },
          labels: { m: "a", n: "b" },
          place: { city: "B" }
        })
        yield* patched(one, [
          { op: "add", path: "/free/a/c", value: null },
          { op: "replace", path: "/labels", value: { o: "c" } },
          { op: "add", path: "/place/zip", value: 1 }
        ], jsonPatch)
        assert.deepStrictEqual(yield* read(one, "free"), { a: { b: 1, c: null } })
        assert.deepStrictEqual(yield* read(one, "labels"), { o: "c" })
        assert.deepStrictEqual(yield* read(one, "place"), { city: "B", zip: 1 })
      }))

    it.effect("a repository's patch merges like the one over HTTP", () =>
      Effect.gen(function*() {
        const sheets = yield* Repository.for(Sheet)
        const at = DateTime.makeUnsafe("2026-01-31T09:30:00Z")
        const { id } = yield* sheets.insert(
          new Sheet({
            free: { a: 1, deep: { b: 2, c: 3 } },
            labels: { m: "a" },
            place: { city: "Bern", zip: 1 },
            inner: new Inner({ name: "i", labels: { m: "a" } })
          })
        )
        const changed = yield* sheets.patch(id, {
          free: { deep: { b: null } },
          labels: { n: "b" },
          place: { at, zip: null },
          inner: { labels: { n: "b" } }
        })
        assert.deepStrictEqual(changed.free, { a: 1, deep: { c: 3 } })
        assert.deepStrictEqual(changed.labels, { m: "a", n: "b" })
        assert.deepStrictEqual(changed.place, { city: "Bern", at })
        assert.deepStrictEqual(changed.inner?.labels, { m: "a", n: "b" })
        assert.deepStrictEqual((yield* sheets.findById(id)).place, changed.place)
      }))

    it.effect("loses no update of concurrent patches to different keys of one record", () =>
      Effect.gen(function*() {
        for (const path of paths) {
          const one = yield* created(path, { labels: { first: "0" }, free: { first: 0 } })
          const answers = yield* atOnce(24, (i) =>
            i % 3 === 0
              ? send("PATCH", one, { free: { [`k${i}`]: i } })
              : i % 3 === 1
              ? send("PATCH", one, { labels: { [`k${i}`]: String(i) } })
              : send("PATCH", one, [{ op: "add", path: `/labels/k${i}`, value: String(i) }], jsonPatch))
          assert.deepStrictEqual(statusesOf(answers), { 200: 24 })
          const labels = yield* read(one, "labels")
          const free = yield* read(one, "free")
          assert.strictEqual(Object.keys(labels).length, 17)
          assert.strictEqual(Object.keys(free).length, 9)
        }
      }))
  })
)
