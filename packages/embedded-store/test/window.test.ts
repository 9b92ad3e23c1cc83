import { type Document, DocumentStore, type Sort } from "@appkernel/document-store/DocumentStore"
import { assert, it } from "@effect/vitest"
import { Decimal128, Double, Long } from "bson"
import { Arbitrary, Effect, Stream } from "effect"
import { either, oneOf, upTo } from "../../../test/support/choices.ts"
import { textOf } from "../../../test/support/differential/answers.ts"
import { anything, listOf, record } from "../../../test/support/differential/values.ts"
import {
  averageOf,
  type Bound,
  covarianceOf,
  derivativeOf,
  filledAt,
  integralOf,
  numberIn,
  partitionOf,
  placeOf,
  type Point,
  rounded,
  scaled,
  type Window,
  windowsIn
} from "../../../test/support/naiveWindows.ts"
import * as EmbeddedStore from "../src/EmbeddedStore.ts"

it.layer(EmbeddedStore.layerMemory)("windows", (it) => {
  it.effect.prop(
    "hold what $group makes of the same documents",
    [collections, windows],
    ([documents, window]) =>
      Effect.gen(function*() {
        const run = yield* inNewCollection(documents)
        const found = yield* run(
          { $sort: { _id: 1 } },
          { $setWindowFields: { partitionBy: "$g", sortBy: window.sortBy, output: inWindow(accumulators, window) } },
          { $sort: { _id: 1 } }
        )
        for (const [index, { within }] of (yield* windowsIn(run, documents, window)).entries()) {
          const ids = within.map(({ _id }) => _id)
          const [group = ofNothing] = yield* run(
            { $match: { _id: { $in: ids } } },
            { $sort: { ...window.sortBy, _id: 1 } },
            { $group: { _id: null, ...accumulators } },
            ...window.lower === "unbounded" ? [] : [{ $set: latest }]
          )
          for (const field of Object.keys(accumulators)) {
            assert.deepStrictEqual(settled(field, found[index]?.[field]), settled(field, group[field]), field)
          }
        }
      }),
    { arbitrary: { runs } }
  )

  it.effect.prop(
    "hold the rates, areas, covariances and scales of their documents",
    [collections, windows],
    ([documents, window]) =>
      Effect.gen(function*() {
        const run = yield* inNewCollection(documents)
        const unit = window.unit === undefined ? {} : { unit: "hour" }
        const output = inWindow({
          derivative: { $derivative: { input: "$d", ...unit } },
          integral: { $integral: { input: "$d", ...unit } },
          population: { $covariancePop: ["$y", "$d"] },
          sample: { $covarianceSamp: ["$y", "$d"] },
          ...hasCurrent(window) ? { scaled: { $minMaxScaler: { input: "$d", min: -1, max: 3 } } } : {}
        }, window)
        // A rate is over one field.
        const sortBy: Sort = window.unit === undefined ? { x: 1 } : { t: 1 }
        const found = yield* run(
          { $sort: { _id: 1 } },
          { $setWindowFields: { partitionBy: "$g", sortBy, output } },
          { $sort: { _id: 1 } }
        )
        const all = yield* windowsIn(run, documents, { ...window, sortBy })
        for (const [index, { current, within }] of all.entries()) {
          const points = within.map(({ d, t, x }): Point => [
            window.unit === undefined ? Number(x) : Number(t) / hour,
            Number(d)
          ])
          const pairs = within.flatMap(({ d, y }): ReadonlyArray<Point> => {
            const number = numberIn(y)
            return number === undefined ? [] : [[number, Number(d)]]
          })
          const expected: Document = {
            derivative: derivativeOf(points),
            integral: integralOf(points),
            population: covarianceOf(pairs, pairs.length),
            sample: covarianceOf(pairs, pairs.length - 1),
            scaled: hasCurrent(window) ? scaled(Number(current["d"]), points.map(([, d]) => d)) : undefined
          }
          for (const field of Object.keys(expected)) near(found[index]?.[field], expected[field], field)
        }
      }),
    { arbitrary: { runs } }
  )

  it.effect.prop(
    "follow the order of their documents",
    [collections, oneOf<1 | -1>(1, -1), upTo(6), upTo(4)],
    ([given, sign, places, n]) =>
      Effect.gen(function*() {
        const run = yield* inNewCollection(given)
        const documents = yield* run({ $sort: { _id: 1 } })
        const by = places - 3
        const N = n + 1
        const found = yield* run(
          { $sort: { _id: 1 } },
          {
            $setWindowFields: {
              partitionBy: "$g",
              sortBy: { x: sign },
              output: { rank: { $rank: {} }, dense: { $denseRank: {} }, number: { $documentNumber: {} } }
            }
          },
          {
            $setWindowFields: {
              partitionBy: "$g",
              sortBy: { u: sign },
              output: {
                shifted: { $shift: { output: "$n", by, default: "none" } },
                carried: { $locf: "$n" },
                filled: { $linearFill: "$f" },
                average: { $expMovingAvg: { input: "$f", N } },
                decaying: { $expMovingAvg: { input: "$f", alpha: 0.25 } }
              }
            }
          },
          { $sort: { _id: 1 } }
        )
        for (const [at, current] of documents.entries()) {
          const answer = found[at] ?? {}
          const places = partitionOf(documents, current, { x: sign, _id: 1 })
          const before = places.filter(({ x }) => (Number(x) - Number(current["x"])) * sign < 0)
          const index = places.indexOf(current)
          assert.deepStrictEqual(answer["rank"], before.length + 1, "rank")
          assert.deepStrictEqual(answer["dense"], new Set(before.map(({ x }) => x)).size + 1, "dense")
          assert.deepStrictEqual(answer["number"], index + 1, "number")
          const order = partitionOf(documents, current, { u: sign })
          const place = order.indexOf(current)
          const other = order[place + by]
          same(answer["shifted"], other === undefined ? "none" : other["n"], "shifted")
          const known = order.slice(0, place + 1).map(({ n }) => n).filter((n) => n !== undefined && n !== null)
          same(answer["carried"], known.at(-1), "carried")
          near(answer["filled"], filledAt(order, place), "filled")
          const numbers = order.slice(0, place + 1).map(({ f }) => f).filter((f) => typeof f === "number")
          near(answer["average"], averageOf(numbers, 2 / (N + 1)), "average")
          near(answer["decaying"], averageOf(numbers, 0.25), "decaying")
        }
      }),
    { arbitrary: { runs } }
  )
})

const runs = Number(process.env["WINDOW_RUNS"] ?? 60)

const hour = 3_600_000

// Sums of these are exact in any order.
const summed = either<unknown>(
  Arbitrary.map(upTo(12), (n) => n - 4),
  Arbitrary.map(upTo(40), (n) => new Double(n / 4 - 3)),
  oneOf<unknown>(Long.fromNumber(5), Decimal128.fromString("1.5"), NaN, null, undefined, "x")
)

// Equal numbers that are told apart by their types.
const alike = oneOf<unknown>(1, Long.fromNumber(1), Decimal128.fromString("1"), Decimal128.fromString("1.0"), 2)

/**
 * `n` is anything, `y` is what sums are made of, `d` numbers, `f` numbers with gaps; `x` has equal values, `u` and `t` are in
 * its order.
 */
const collections = Arbitrary.map(
  listOf(
    record({
      g: upTo(2),
      x: upTo(9),
      n: either<unknown>(anything, alike),
      y: summed,
      d: Arbitrary.map(upTo(20), (n) => n / 4 - 2),
      f: either<unknown>(Arbitrary.map(upTo(20), (n) => n / 4 - 2), oneOf<unknown>(null, undefined))
    }),
    10
  ),
  (list) =>
    list.map((given, _id): Document => {
      const x = Number(given["x"])
      const fields = { ...given, u: x * 10 + _id, t: new Date(Date.UTC(2024, 0, 31 + 10 * x)) }
      return { _id, ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) }
    })
)

const bounds = either<Bound>(Arbitrary.map(upTo(8), (n) => n - 4), oneOf<Bound>("unbounded", "current"))

const windows = Arbitrary.map(
  Arbitrary.all([
    bounds,
    bounds,
    either(
      oneOf<Pick<Window, "isRange" | "sortBy" | "unit">>(
        { isRange: false, unit: undefined, sortBy: { x: 1, _id: 1 } },
        { isRange: false, unit: undefined, sortBy: { x: -1, _id: 1 } }
      ),
      oneOf({ isRange: true, unit: undefined, sortBy: { x: 1 } }),
      Arbitrary.map(
        oneOf("hour", "day", "week", "month"),
        (unit) => ({ isRange: true, unit, sortBy: { t: 1 as const } })
      )
    )
  ]),
  ([a, b, kind]): Window =>
    placeOf(a, -Infinity) <= placeOf(b, Infinity)
      ? { lower: a, upper: b, ...kind }
      : { lower: b, upper: a, ...kind }
)

const hasCurrent = ({ lower, upper }: Window): boolean =>
  placeOf(lower, -Infinity) <= 0 && placeOf(upper, Infinity) >= 0

const inWindow = (functions: Document, { isRange, lower, unit, upper }: Window): Document => {
  const bounds = [lower, upper]
  const window = isRange ? { range: bounds, ...(unit === undefined ? {} : { unit }) } : { documents: bounds }
  return Object.fromEntries(Object.entries(functions).map(([field, made]) => [field, { ...Object(made), window }]))
}

const accumulators: { readonly [field: string]: Document } = {
  sum: { $sum: "$y" },
  avg: { $avg: "$y" },
  min: { $min: "$n" },
  max: { $max: "$n" },
  count: { $count: {} },
  push: { $push: "$n" },
  set: { $addToSet: "$n" },
  first: { $first: "$n" },
  last: { $last: "$n" },
  firstN: { $firstN: { input: "$n", n: 2 } },
  lastN: { $lastN: { input: "$n", n: 2 } },
  minN: { $minN: { input: "$n", n: 2 } },
  maxN: { $maxN: { input: "$n", n: 2 } },
  top: { $top: { output: "$_id", sortBy: { y: 1 } } },
  bottom: { $bottom: { output: "$_id", sortBy: { y: 1 } } },
  topN: { $topN: { output: "$_id", sortBy: { y: -1 }, n: 2 } },
  bottomN: { $bottomN: { output: "$_id", sortBy: { y: -1 }, n: 2 } },
  deviation: { $stdDevPop: "$y" },
  sampled: { $stdDevSamp: "$y" },
  median: { $median: { input: "$y", method: "approximate" } },
  parts: { $percentile: { input: "$y", p: [0.2, 0.9], method: "approximate" } },
  values: { $push: { $ifNull: ["$n", null] } },
  keys: { $push: { _id: "$_id", y: "$y" } }
}

const sortedUp = (input: unknown, sortBy: unknown): Document => ({ $sortArray: { input, sortBy } })

const greatest: Document = {
  $reverseArray: sortedUp({ $filter: { input: "$values", cond: { $ne: ["$$this", null] } } }, 1)
}

/**
 * Where documents leave a window, MongoDB holds all values of it in order, equal ones in the order of their documents. The last
 * of them count, and not those that `$group` has retained.
 */
const latest: Document = {
  max: { $ifNull: [{ $first: greatest }, null] },
  maxN: { $slice: [greatest, 2] },
  bottom: { $last: { $map: { input: sortedUp("$keys", { y: 1 }), in: "$$this._id" } } },
  bottomN: { $slice: [{ $map: { input: sortedUp("$keys", { y: -1 }), in: "$$this._id" } }, -2] }
}

/** What accumulators make of no documents. */
const ofNothing: Document = {
  sum: 0,
  count: 0,
  parts: [null, null],
  ...Object.fromEntries(
    ["push", "set", "firstN", "lastN", "minN", "maxN", "topN", "bottomN", "values", "keys"].map((field) => [field, []])
  )
}

/** A value as it compares: a set in any order, and a deviation without its last digits. */
const settled = (field: string, value: unknown): unknown =>
  field === "set" && Array.isArray(value)
    ? value.map(textOf).toSorted()
    : field === "deviation" || field === "sampled"
    ? rounded(value)
    : textOf({ value: value ?? null })

const same = (actual: unknown, expected: unknown, field: string): void =>
  assert.deepStrictEqual(textOf({ value: actual ?? null }), textOf({ value: expected ?? null }), field)

const near = (actual: unknown, expected: unknown, field: string): void =>
  assert.deepStrictEqual(rounded(actual), rounded(expected), field)

let made = 0

const inNewCollection = Effect.fnUntraced(function*(documents: ReadonlyArray<Document>) {
  const store = yield* DocumentStore
  const name = `things ${made += 1}`
  yield* store.insertMany(name, documents)
  return (...stages: ReadonlyArray<Document>) => Stream.runCollect(store.aggregate(name, stages))
})
