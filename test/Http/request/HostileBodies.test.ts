/** The worst bodies of a megabyte for every kind of field: none takes much longer than reading it as JSON. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Model } from "../../../src/index.ts"
import { recordEncoder } from "../../../src/Model/instance/recordCodec.ts"
import { bodyDecoder, sentFinaliser } from "../../../src/Model/internal.ts"
import { kinds } from "../../support/everyKind.ts"
import { slowness, threadTime } from "../../support/turns.ts"

const megabyte = 1_048_576

/** A list or an object of as many parts as a megabyte has room for. */
const filled = (open: string, part: (i: number) => string, close: string): string => {
  const parts: Array<string> = []
  for (let i = 0, size = 100; size < megabyte; i++) {
    const next = part(i)
    parts.push(next)
    size += next.length + 1
  }
  return `${open}${parts.join(",")}${close}`
}

const text = (unit: string, first = "", last = "") =>
  `"${first}${unit.repeat((megabyte - 200) / JSON.stringify(unit).length)}${last}"`

/** Names of five letters. */
const name = (i: number): string =>
  Array.from({ length: 5 }, (_, place) => String.fromCharCode(97 + Math.floor(i / 26 ** place) % 26)).join("")

const moment = "\"2020-01-01T00:00:00Z\""

const tree = (branches: string) => `{"at":${moment},"branches":${branches}}`

/** What takes its time in some kind of field, as the JSON of its value. */
const worst: { readonly [body: string]: string } = {
  digits: text("1"),
  "a one and zeros": text("0", "1"),
  "a fraction of zeros": text("0", "0.", "1"),
  "an exponent": "\"1e999999999\"",
  "plus signs": text("+"),
  spaces: text(" ", "a", "a"),
  percents: text("%"),
  parameters: text("a=1&"),
  labels: text("a.", "http://"),
  parents: text("../", "http://a/"),
  zone: text("a", "2020-01-01T00:00:00Z[", "]"),
  "a list of numbers": filled("[", () => "1", "]"),
  "a list of texts": filled("[", () => "\"1\"", "]"),
  "a list of lists": filled("[", () => "[]", "]"),
  "a list of pairs": filled("[", (i) => `["${name(i)}","1"]`, "]"),
  "a list of moments": filled("[", () => moment, "]"),
  "a list of long numbers": filled("[", () => `"${"9".repeat(1_990)}"`, "]"),
  "names and texts": filled("{", (i) => `"${name(i)}":"a"`, "}"),
  "names and moments": filled("{", (i) => `"${name(i)}":${moment}`, "}"),
  "a tree": tree(filled("[", () => tree("[]"), "]")),
  "an amount": `{"amount":${text("1")},"currency":"CHF"}`,
  "a size": `{"kind":"b","at":${moment},"size":${text("1")},"link":null}`,
  "a tagged number": `{"_tag":"Nanos","value":${text("1")}}`,
  "degrees": `{"degrees":${"1".repeat(300)}}`
}

/** In milliseconds of a processor, the least of a few. What is short at first needs no second time. */
const timeOf = (run: () => void, enough: number): number => {
  let least = Infinity
  for (let i = 0; i < 4 && least > enough; i++) {
    const before = threadTime()
    run()
    least = Math.min(least, threadTime() - before)
  }
  return least
}

describe("a body of a megabyte", () => {
  const parsed = Object.entries(worst).map(([body, json]) => ({
    body,
    value: JSON.parse(json),
    reading: timeOf(() => JSON.parse(json), 1)
  }))

  it("is read, validated, converted and encoded for a store within 100 ms of a slow machine, whatever the field", () => {
    const slow: Array<string> = []
    // What each body may take beside the time to parse it as JSON; the machine may get slower meanwhile.
    let limit = 100 * slowness()
    for (const [kind, { schema }] of Object.entries(kinds)) {
      class Holder
        extends Model.Class<Holder>()("Holder", { id: Model.id(), value: schema as Schema.Codec<unknown> })
      {}
      const create = bodyDecoder(Holder.create)
      const finalise = sentFinaliser(Holder)
      const encode = recordEncoder(Holder, "_id")
      for (const { body, reading, value } of parsed) {
        const write = () => {
          const decoded = create({ value })
          if (decoded._tag === "Valid") encode(Effect.runSync(finalise(decoded.value)))
        }
        // Decoders, validators and encoders visit each part, as the parser of JSON does.
        let most = limit + 5 * reading
        let time = timeOf(write, most)
        for (let again = 0; again < 2 && time > most; again++) {
          limit = Math.max(limit, 100 * slowness())
          most = limit + 5 * reading
          time = timeOf(write, most)
        }
        if (time > most) slow.push(`${kind}, ${body}: ${Math.round(time)} of ${Math.round(most)} ms`)
      }
    }
    assert.deepStrictEqual(slow, [])
  })

  it("has at most 2,000 digits in a number of any size, and 5,000 values that only a schema can convert", () => {
    class Ledger extends Model.Class<Ledger>()("Ledger", {
      id: Model.id(),
      total: Schema.BigInt.pipe(Model.optional),
      sums: Schema.Array(Schema.BigDecimal).pipe(Model.optional),
      names: Schema.Record(Schema.String, Schema.String).pipe(Model.optional),
      rest: Schema.Json.pipe(Model.optional)
    }) {}
    const decode = bodyDecoder(Ledger.create)
    const problemsOf = (body: unknown, isNext?: boolean) => {
      const decoded = decode(body, isNext)
      return decoded._tag === "Valid" ? [] : decoded.problems.map(({ field, message }) => `${field} ${message}`)
    }
    const sums = (count: number) => ({ sums: Array.from({ length: count }, () => "1.5") })
    const names = (count: number) => ({
      names: Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, ""]))
    })
    const limit =
      " must not have more than 5000 names of records and values that have to be converted or read in several ways"
    assert.deepStrictEqual(problemsOf({ total: `${"0".repeat(1_999)}7` }), [])
    assert.deepStrictEqual(problemsOf({ total: `${"0".repeat(2_000)}7` }), [
      "total must be a whole number, written as text"
    ])
    assert.deepStrictEqual(problemsOf({ sums: [`1.${"0".repeat(1_998)}`] }), [])
    assert.deepStrictEqual(problemsOf({ sums: [`1.${"0".repeat(1_999)}`] }), [
      "sums.0 must be a number, written as text"
    ])
    assert.deepStrictEqual(problemsOf(sums(5_000)), [])
    assert.deepStrictEqual(problemsOf(sums(5_001)), [limit])
    assert.deepStrictEqual(problemsOf(names(5_000)), [])
    assert.deepStrictEqual(problemsOf(names(5_001)), [limit])
    assert.deepStrictEqual(problemsOf({ rest: [...sums(50_000).sums, names(50_000)] }), [])
    // What is wrong among many is named.
    assert.deepStrictEqual(problemsOf({ sums: [...sums(4_000).sums, "x"] }), [
      "sums.4000 must be a number, written as text"
    ])
    // The documents of a list have them together.
    assert.deepStrictEqual(problemsOf(sums(3_000)), [])
    assert.deepStrictEqual(problemsOf(sums(3_000), true), [limit])
  })
})
