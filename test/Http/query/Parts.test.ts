/** `GET` of a collection by numbers that JSON's are too small for, and in the order of parts of a field. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { KernelEngine, Model } from "../../../src/index.ts"
import { problemsIn, refused, send, serving } from "../../support/rest.ts"
import { routeStores } from "../../support/storeMatrix.ts"

class Line extends Model.Class<Line>()("Line", { n: Schema.Int }) {}

class Parcel extends Model.Class<Parcel>()("Parcel", {
  id: Model.id(),
  big: Schema.BigInt,
  double: Schema.Finite,
  price: Schema.BigDecimal,
  text: Schema.String,
  nested: Schema.NullOr(Schema.Struct({ a: Schema.Finite, b: Schema.optionalKey(Schema.String) })),
  lines: Schema.Array(Line),
  pairs: Schema.Array(Schema.Struct({ m: Schema.Int })),
  marks: Schema.Record(Schema.String, Schema.String)
}) {}

const engine = KernelEngine.make("parcels").register(Parcel, { methods: ["GET", "POST"] })

const parcels = Array.from({ length: 9 }, (_, i) => ({
  id: `P${i}`,
  big: i === 8 ? "9007199254740993" : i === 7 ? "-177642391872326430" : String(i),
  double: i === 1 ? -177642391872326430 : i === 2 ? 12345678901234567000 : i / 8,
  price: `${i}.5`,
  text: "42",
  nested: i === 3 ? null : { a: i % 3, ...(i % 2 === 0 ? { b: `b${i % 4}` } : {}) },
  lines: Array.from({ length: i % 3 }, (_, j) => ({ n: (7 * i + j) % 5 })),
  pairs: [{ m: 9 - i }].slice(i % 2),
  marks: (i % 2 === 0 ? {} : { k: `k${i % 3}` }) as { readonly k?: string }
}))

const idsIn = (body: { readonly _items: ReadonlyArray<{ readonly id: string }> }) => body._items.map(({ id }) => id)

routeStores((name, store) =>
  it.layer(serving(engine, store), { excludeTestServices: true })(`parts / ${name}`, (it) => {
    it.effect("find integers and decimals of any size, as text, as numbers and as those of BSON", () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* send("POST", "/parcels", parcels)).status, 201)
        const found = (query: string) =>
          Effect.map(send("GET", `/parcels?query=${encodeURIComponent(query)}`), ({ body, status, text }) => {
            assert.strictEqual(status, 200, text)
            return idsIn(body).join("")
          })
        for (const four of ["\"4\"", "4", "{\"$numberLong\":\"4\"}", "{\"$numberInt\":\"4\"}"]) {
          assert.strictEqual(yield* found(`{"big":${four}}`), "P4")
          assert.strictEqual(yield* found(`{"big":{"$in":[${four},{"$numberLong":"5"}]}}`), "P4P5")
        }
        for (const exact of ["9007199254740993", "\"9007199254740993\"", "{\"$numberLong\":\"9007199254740993\"}"]) {
          assert.strictEqual(yield* found(`{"big":${exact}}`), "P8")
          assert.strictEqual(yield* found(`{"big":{"$gte":${exact}}}`), "P8")
        }
        assert.strictEqual(yield* found("{\"big\":9007199254740992}"), "")
        // These are the texts of numbers whose exact values end in 2 and in 9,000,000,000.
        for (
          const [field, text, id] of [["big", "-177642391872326430", "P7"], ["double", "-177642391872326430", "P1"], [
            "double",
            "12345678901234567000",
            "P2"
          ]]
        ) {
          assert.strictEqual(yield* found(`{"${field}":${text}}`), id)
          assert.strictEqual(yield* found(`{"${field}":{"$in":[${text},3]}}`), field === "big" ? "P3P7" : id)
          assert.strictEqual(yield* found(`{"${field}":{"$gte":${text},"$lte":${text}}}`), id)
        }
        for (const price of ["\"4.5\"", "4.5", "{\"$numberDecimal\":\"4.5\"}"]) {
          assert.strictEqual(yield* found(`{"price":${price}}`), "P4")
        }
        const rejected = yield* send("GET", `/parcels?query=${encodeURIComponent("{\"text\":42}")}`)
        assert.deepStrictEqual(problemsIn(refused(400, rejected)), ["query Parameter"])
        for (const invalid of ["{\"$numberLong\":\"9223372036854775808\"}", "{\"$numberLong\":\"x\"}"]) {
          refused(400, yield* send("GET", `/parcels?query=${encodeURIComponent(`{"big":${invalid}}`)}`))
        }
      }))

    it.effect("have the same order in pages by number and by cursor, or in neither", () =>
      Effect.gen(function*() {
        const sortable = ["nested.a", "nested.b", "lines.0.n", "lines.1.n", "pairs.0.m", "marks.k", "big", "price"]
        for (const path of sortable) {
          for (const order of [path, `-${path}`, `${path},-nested.a`]) {
            const whole = yield* send("GET", `/parcels?sort_by=${order}&page_size=20`)
            assert.strictEqual(whole.status, 200, `${order}: ${whole.text}`)
            const ids: Array<string> = []
            let next = `/parcels?sort_by=${order}&page_size=2&cursor=`
            while (next !== "" && ids.length < 20) {
              const { body, status, text } = yield* send("GET", next)
              assert.strictEqual(status, 200, `${next}: ${text}`)
              ids.push(...idsIn(body))
              next = body._links.next?.href ?? ""
            }
            assert.deepStrictEqual(ids, idsIn(whole.body), order)
          }
        }
        for (const path of ["nested", "lines", "lines.n", "pairs.m", "lines.0", "marks", "nested.none", "text.a"]) {
          for (const page of ["page=1", "cursor="]) {
            const { status, text } = yield* send("GET", `/parcels?sort_by=${path}&${page}`)
            assert.strictEqual(status, 400, `${path} ${page}: ${text}`)
          }
        }
      }))
  })
)
