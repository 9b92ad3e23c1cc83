/** The operators that callers may use, with operands of every form: no result depends on a field that the caller must not see. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import { aggregate, randomOperators } from "@appkernel/mql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import { expressions } from "../../../src/Http/query/expressionGuard.ts"
import * as NativeQueries from "../../../src/Http/query/nativeQueries.ts"
import { Guest } from "../../support/guests.ts"

const readPipeline = NativeQueries.pipeline(Guest, { maxResults: 10_000 })

/** Guests that differ in their omitted fields alone, by which each list has another order. */
const guestsWith = (one: string, other: string) =>
  [one, other].map((pin, i) => ({
    _id: `G${i}`,
    name: i === 0 ? "Ann" : "Bob",
    age: 20 + i,
    active: true,
    state: "active",
    tags: ["red", "blue"],
    scores: [1, 9],
    seen: new Date(i),
    home: { city: "Bern", pin },
    visits: [{ place: "Bern", nights: 1, pin: one }, { place: "Rome", nights: 1, pin: other }],
    secret: pin
  }))

const answerOf = (guests: ReturnType<typeof guestsWith>, stages: ReadonlyArray<Document>) =>
  Effect.match(Stream.runCollect(aggregate(Stream.fromIterable(guests), stages)), {
    onFailure: () => "refused",
    onSuccess: (documents) => JSON.stringify(documents)
  })

describe("an operator in a pipeline of a client", () => {
  it.effect("gives the same for documents that differ in omitted fields alone", () =>
    Effect.gen(function*() {
      const computing = new Set<string>()
      const [guests, others] = [guestsWith("1", "2"), guestsWith("4", "33")]
      for (const operator of expressions) {
        // It gives another number each time.
        if (randomOperators.has(operator)) continue
        const own = Object.entries(named).flatMap(([names, own]) => names.split(" ").includes(operator) ? own : [])
        for (const operand of [...operands, ...own]) {
          const expression = { [operator]: operand }
          for (const stage of [{ $group: { _id: null, x: expression } }, { $replaceWith: { x: expression } }]) {
            const text = JSON.stringify([stage])
            const stages = Result.getOrElse(readPipeline(text), () => [])
            if (stages.length === 0) continue
            const answer = yield* answerOf(guests, stages)
            assert.strictEqual(yield* answerOf(others, stages), answer, text)
            if (answer !== "refused") computing.add(operator)
          }
        }
      }
      // An operator that is new needs a form of its operand below.
      const missing = Array.from(expressions).filter((operator) => !computing.has(operator))
      assert.deepStrictEqual(missing, ["$meta", "$rand"])
    }))
})

const documents = ["$$ROOT", "$$CURRENT", "$home"]

const lists = ["$visits", "$tags", ["$home"], ["$$ROOT"]]

const sources = [...documents, "$visits", "$secret", "$tags", "$age", "$name", "$seen", "secret"]

const operands: ReadonlyArray<unknown> = [
  {},
  0,
  { secret: 1 },
  [1, 5],
  ["$tags", 1],
  ["$name", 0, 1],
  ...sources.flatMap((source) => [source, [source, source]])
]

const orders = ["secret", "pin", "home.pin", "visits.pin", "visits", "age"].map((name) => ({ [name]: 1 }))

const fields = ["secret", "pin", "city"]

const bodies = ["$secret", "$$this", "$$this.pin", "$$CURRENT", "$pin", { $getField: "secret" }]

const loops = lists.flatMap((input) => bodies.flatMap((body) => ["this", "CURRENT"].map((as) => ({ input, as, body }))))

const ofTexts = ["$name", "$secret", "$home.pin"].map((input) => ({ input }))

const ofDates = ["$seen", "$secret", "$$ROOT.seen"]

/** Operands with named arguments, by the operators that have them. */
const named: { readonly [operators: string]: ReadonlyArray<unknown> } = {
  "$top $bottom": orders.flatMap((sortBy) => [
    { sortBy, output: "$id" },
    ...lists.map((input) => ({ sortBy, input }))
  ]),
  "$topN $bottomN": orders.flatMap((sortBy) => [
    { sortBy, output: "$id", n: 9 },
    ...lists.map((input) => ({ sortBy, input, n: 9 }))
  ]),
  "$sortArray": orders.flatMap((sortBy) => lists.map((input) => ({ sortBy, input }))),
  "$firstN $lastN $minN $maxN": lists.map((input) => ({ input, n: 1 })),
  "$getField": fields.flatMap((field) => [{ field }, ...documents.map((input) => ({ field, input }))]),
  "$setField": fields.flatMap((field) => documents.map((input) => ({ field, input, value: 1 }))),
  "$unsetField": fields.flatMap((field) => documents.map((input) => ({ field, input }))),
  // A document that has just the fields that the caller sees.
  "$setField $unsetField": [{ field: "a", input: { a: "$name" } }, { field: "a", input: { a: 1 }, value: "$age" }],
  "$map": loops.map(({ as, body, input }) => ({ as, in: body, input })),
  "$filter": loops.map(({ as, body, input }) => ({ as, cond: { $eq: [body, "1"] }, input })),
  "$reduce": loops.map(({ as, body, input }) => ({ as, in: body, initialValue: null, input })),
  "$let": loops.map(({ as, body, input }) => ({ vars: { [as]: input }, in: body })),
  "$arrayToObject": [[["$name", "$age"]], [[["$name", "$age"]]], [[{ k: "$name", v: "$age" }]]],
  "$switch": [...bodies, "$name"].map((source) => ({ branches: [{ case: source, then: 1 }], default: source })),
  "$zip": lists.map((list) => ({ inputs: [list, list] })),
  "$median": ["$age", "$secret"].map((input) => ({ input, method: "approximate" })),
  "$percentile": ["$age", "$secret"].map((input) => ({ input, method: "approximate", p: [0.5] })),
  "$convert": ofTexts.map((input) => ({ ...input, to: "string" })),
  "$trim $ltrim $rtrim": ofTexts.map((input) => ({ ...input, chars: "1" })),
  "$regexMatch $regexFind $regexFindAll": ofTexts.map((input) => ({ ...input, regex: "1" })),
  "$replaceOne $replaceAll": ofTexts.map((input) => ({ ...input, find: "1", replacement: "2" })),
  "$toObjectId": ["0123456789abcdef01234567"],
  "$toUUID": ["01234567-89ab-4def-8123-456789abcdef"],
  "$tsIncrement $tsSecond": [{ $timestamp: { t: 1, i: 1 } }],
  "$dateAdd $dateSubtract": ofDates.map((startDate) => ({ startDate, unit: "day", amount: 1 })),
  "$dateDiff": ofDates.map((startDate) => ({ startDate, endDate: startDate, unit: "day" })),
  "$dateTrunc": ofDates.map((date) => ({ date, unit: "day" })),
  "$dateToParts $dateToString": ofDates.map((date) => ({ date })),
  "$dateFromParts": ["$age", "$secret"].map((year) => ({ year })),
  "$dateFromString": ["2026-01-01", "$secret"].map((dateString) => ({ dateString }))
}
