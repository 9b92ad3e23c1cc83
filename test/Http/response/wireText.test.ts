/** Kept texts equal those that are written anew, with writers beside the readers. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Context, Effect, Layer, Schema, SchemaGetter } from "effect"
import { HttpServer } from "effect/http"
import { bytesOf, KeptTexts, wireTextOf } from "../../../src/Http/response/wireText.ts"
import { DocumentStore, Index, Model, Resource } from "../../../src/index.ts"
import { formWithout } from "../../../src/Model/internal.ts"
import { sendTo } from "../../support/rest.ts"
import { embeddedStores } from "../../support/storeMatrix.ts"
import { type Grants, servingViewed } from "../../support/viewed.ts"

const runs = Number(process.env["DIFFERENTIAL_RUNS"] ?? 1)

const text = Schema.Union([Schema.String, Schema.Literals(["", "é", "\"", "日本", "𝄞", "plain"])])

describe("texts as they are sent", () => {
  it.effect("have the bytes of the text", () =>
    Effect.gen(function*() {
      const parts = yield* Arbitrary.sampleEffect(
        Arbitrary.schema(Schema.Struct({ part: text, times: Schema.Literals([1, 30_000]) })),
        {
          count: 50 * runs
        }
      )
      for (const { part, times } of parts) {
        const text = part.repeat(times).slice(0, 100_000)
        const wire = wireTextOf(text)
        assert.isTrue(bytesOf(wire).equals(Buffer.from(text)))
        assert.strictEqual(wire.isAscii, wire.text === text)
      }
    }))

  it("are kept for each form and set of links of a frozen document, from its second reading on and within their bytes", () => {
    const texts = new KeptTexts(10_000)
    const written: Array<string> = []
    const form = (name: string) => (document: DocumentStore.Document, links: string) => {
      written.push(name)
      return `${links}${name} ${JSON.stringify(document)}`
    }
    const [whole, part] = [form("whole"), form("part")]
    const links = (id: unknown) => `links of ${String(id)} `
    const id = ({ _id }: { readonly _id?: unknown }) => _id
    const count = (document: DocumentStore.Document, write = whole, to = links) => {
      const before = written.length
      const kept = texts.of(document, write, to, id)
      assert.strictEqual(kept?.text, write(document, to(id(document))))
      return written.length - before - 1
    }
    const record = Object.freeze({ _id: "a", name: "one" })
    assert.deepStrictEqual([count(record), count(record), count(record)], [1, 1, 0])
    assert.deepStrictEqual([count(record, part), count(record, part)], [1, 0])
    assert.deepStrictEqual([count(record, whole, () => ""), count(record), count({ ...record })], [1, 0, 1])
    const changing = { _id: "a", name: "one" }
    assert.deepStrictEqual([count(changing), count(changing)], [1, 1])
    changing.name = "two"
    assert.strictEqual(count(changing), 1)
    // A page of them has the same texts, and keeps those of its records that it reads twice.
    const page = [record, { _id: "c" }, Object.freeze({ _id: "d" })]
    const pageOf = () => {
      const before = written.length
      const textAt = texts.each(page, () => whole, links, id)
      const found = page.map((
        document,
        at
      ) => [textAt(at)?.text, `${links(id(document))}whole ${JSON.stringify(document)}`])
      for (const [text, expected] of found) assert.strictEqual(text, expected)
      return written.length - before
    }
    assert.deepStrictEqual([pageOf(), pageOf(), pageOf()], [2, 2, 1])
    const others = Array.from({ length: 200 }, (_, i) => Object.freeze({ _id: `b${i}` }))
    // One that is read between the others stays; of these as many as have room.
    for (const other of others) assert.deepStrictEqual([count(other), count(other), count(record)], [1, 1, 0])
    const again = others.toReversed().map((other) => count(other))
    assert.include(again, 0)
    assert.isAbove(again.filter((times) => times === 1).length, 100)
    // A default may be another value at the next read.
    let drawn = 0
    class Drawn extends Model.Class<Drawn>()("Drawn", {
      id: Model.id(),
      value: Schema.Int.pipe(Model.withDefault(() => ++drawn))
    }) {}
    const { serialise } = formWithout(Drawn, [])
    const drawing = [{ _id: "a" }, { _id: "a", value: 7 }].flatMap((document) => {
      const frozen = Object.freeze(document)
      return [frozen, frozen, frozen].map((one) => JSON.parse(texts.of(one, serialise, () => "", id)?.text ?? "").value)
    })
    assert.deepStrictEqual(drawing, [1, 2, 3, 7, 7, 7])
    assert.deepStrictEqual([record].map((one) => new KeptTexts(0).of(one, whole, links, id)?.text), [
      whole(record, links("a"))
    ])
  })
})

class Size extends Model.Class<Size>()("Size", {
  width: Schema.Finite,
  unit: Schema.String.pipe(Model.withDefault(() => "mm"))
}) {}

const cents = Schema.Finite.pipe(Schema.decodeTo(Schema.Finite, {
  decode: SchemaGetter.transform((value: number) => value / 100),
  encode: SchemaGetter.transform((value: number) => Math.round(value * 100))
}))

class Part extends Model.Class<Part>()("Part", {
  id: Model.id(),
  name: Schema.String,
  cost: cents,
  state: Schema.Literals(["draft", "sold"]).pipe(Model.withDefault(() => "draft" as const)),
  note: Schema.String.pipe(Model.optional),
  size: Size.pipe(Model.optional),
  tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => [])),
  ...Model.versioned
}, {
  indexes: [Index.compound({ state: 1, cost: 1 })],
  versions: [
    Model.was.replaced(["name"], { title: Schema.String }, {
      up: ({ title }) => ({ name: title }),
      down: ({ name }) => ({ title: name })
    })
  ]
}) {}

class Thing extends Model.Class<Thing>()("Thing", {
  id: Model.id(),
  name: Schema.String,
  cost: Schema.Finite,
  state: Schema.Literals(["draft", "sold"]).pipe(Model.withDefault(() => "draft" as const)),
  note: Schema.String.pipe(Model.optional),
  size: Size.pipe(Model.optional),
  tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => [])),
  ...Model.versioned
}, { indexes: [Index.compound({ state: 1, cost: 1 })] }) {}

/** All of all; without the cost; of drafts all, and of the others no note. */
const grants: Grants = (caller) => {
  const all = { fields: undefined, rows: undefined }
  const read: ReturnType<Grants>["read"] = caller === "clerk"
    ? [{ fields: { hide: ["cost"], readOnly: [] }, rows: undefined }]
    : caller === "seller"
    ? [{ fields: undefined, rows: { state: "draft" } }, { fields: { hide: ["note"], readOnly: [] }, rows: undefined }]
    : [all]
  return { read, write: [all] }
}

const ids = ["a", "b", "ü", "d"] as const

const change = Schema.Struct({
  name: Schema.optionalKey(text),
  cost: Schema.optionalKey(Schema.Literals([0, 0.1, 12.34, 99])),
  state: Schema.optionalKey(Schema.Literals(["draft", "sold"])),
  note: Schema.optionalKey(Schema.NullOr(text)),
  size: Schema.optionalKey(Schema.NullOr(Schema.Struct({ width: Schema.Literals([1, 2.5]) }))),
  tags: Schema.optionalKey(Schema.Array(text))
})

const write = Schema.Struct({
  id: Schema.Literals(ids),
  caller: Schema.Literals(["admin", "clerk", "seller"]),
  method: Schema.Literals(["PATCH", "PATCH", "PUT", "DELETE"]),
  body: change
})

const resources = {
  thing: Resource.make(Thing, { methods: ["GET", "PUT", "PATCH", "DELETE"] }),
  part: Resource.make(Part, { methods: ["GET", "PUT", "PATCH", "DELETE"] })
}

embeddedStores((name, layer) => {
  for (const [kind, resource] of Object.entries(resources)) {
    const { modelName } = resource.description.model
    const path = `/${kind}s`
    it.live(
      `kept texts of a ${kind} equal those that are written anew, with two writers beside readers / ${name}`,
      () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          const served = (bytes: number) =>
            Effect.map(
              Layer.build(servingViewed(
                resource,
                Layer.succeed(DocumentStore.DocumentStore, store),
                grants,
                {},
                new KeptTexts(bytes)
              )),
              (context) => {
                const { address } = Context.get(context, HttpServer.HttpServer)
                return `http://127.0.0.1:${"port" in address ? address.port : 0}`
              }
            )
          // The middle one holds a few texts only.
          const [plain, few, kept] = [yield* served(0), yield* served(1_500), yield* served(1_000_000)] as const
          const asked = ["admin", "clerk", "seller"].flatMap((caller) =>
            [
              "?page_size=3",
              "?page_size=2&page=2",
              "?state=draft&sort_by=-name",
              "?fields=name,state",
              "/a?fields=state,size.width",
              ...ids.map((id) => `/${encodeURIComponent(id)}`)
            ].map((place) => [caller, place] as const)
          )
          const see = (url: string) => ([caller, place]: readonly [string, string]) =>
            Effect.map(
              sendTo(url, "GET", path + place, undefined, { "x-caller": caller }),
              ({ headers, status, text }) => {
                const { date: _, "x-request-id": __, ...others } = headers
                return [caller, place, status, others, text.replace(/logged as [\da-f-]{36}/u, "")]
              }
            )
          const all = (url: string) => Effect.forEach(asked, see(url), { concurrency: 8 })
          const tests = yield* Arbitrary.sampleEffect(
            Arbitrary.schema(
              Schema.Array(Schema.Tuple([write, write])).check(Schema.isMinLength(2), Schema.isMaxLength(3))
            ),
            { count: runs }
          )
          for (const rounds of tests) {
            yield* store.deleteMany(modelName, {})
            // Some as an earlier version has them, and some without what has a default.
            yield* store.insertMany(
              modelName,
              ids.map((id, i) => ({
                _id: id,
                ...kind === "part" && i % 2 === 0
                  ? { title: `n${i}` }
                  : { name: `n${i}`, ...kind === "part" ? { _form: 2 } : {} },
                cost: i * 100,
                ...i === 1 ? {} : { state: "sold", tags: ["x"] },
                version: 1
              }))
            )
            for (const round of rounds) {
              yield* Effect.all([
                ...round.map(({ body, caller, id, method }) =>
                  sendTo(
                    kept,
                    method,
                    `${path}/${encodeURIComponent(id)}`,
                    method === "DELETE" ? undefined : method === "PUT" ? { name: "put", cost: 1, ...body } : body,
                    { "x-caller": caller }
                  )
                ),
                all(kept),
                all(few)
              ], { concurrency: "unbounded" })
              const expected = yield* all(plain)
              assert.deepStrictEqual(yield* all(kept), expected)
              assert.deepStrictEqual(yield* all(kept), expected)
              assert.deepStrictEqual(yield* all(few), expected)
            }
          }
        }).pipe(Effect.scoped, Effect.provide(layer)),
      600_000
    )
  }
})
