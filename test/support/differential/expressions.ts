/** Generated expressions: of numbers, texts, dates, lists, documents and conditions, mostly with arguments that fit. */
import { Double, Long } from "bson"
import { Arbitrary } from "effect"
import { either, oneOf, type Some } from "../choices.ts"
import { common, dates, items, listOf, numbers, record, texts, weighted } from "./values.ts"

type Expressions = Some<unknown>

/** Expressions by what their values usually are. */
interface Kinds {
  readonly number: Expressions
  readonly text: Expressions
  readonly date: Expressions
  readonly list: Expressions
  readonly object: Expressions
  readonly condition: Expressions
  readonly any: Expressions
}

const literal = (value: Expressions): Expressions => Arbitrary.map(value, (value) => ({ $literal: value }))

/** Fields, constants and, within a loop, its variables. */
const leaves = (variables: ReadonlyArray<string>): Kinds => {
  const or = (names: ReadonlyArray<string>, constants: Expressions): Expressions =>
    weighted<unknown>([4, oneOf<unknown>(...names, ...variables)], [2, constants], [1, anyField])
  const anyField = oneOf<unknown>(
    "$n",
    "$s",
    "$t",
    "$l",
    "$o",
    "$c",
    "$v",
    "$o.x",
    "$c.x",
    "$v.x",
    "$none",
    "$_id",
    ...variables
  )
  return {
    number: or(["$n", "$_id", "$n"], numbers),
    text: or(["$s"], either(literal(texts), oneOf<unknown>("a", "abc"))),
    date: or(["$t"], dates),
    list: or(["$l", "$c", "$c.x", "$l"], listOf(either<unknown>(literal(common), anyField), 3)),
    object: or(["$o", "$$ROOT"], items),
    condition: or(["$n"], oneOf<unknown>(true, false, null)),
    any: weighted<unknown>([3, anyField], [1, literal(common)])
  }
}

const call = (operator: string, ...values: ReadonlyArray<Expressions>): Expressions =>
  Arbitrary.map(Arbitrary.all(values), (list) => ({ [operator]: list }))

const unary = (operator: string, value: Expressions): Expressions =>
  Arbitrary.map(value, (value) => ({ [operator]: Array.isArray(value) ? [value] : value }))

const named = (operator: string, fields: { readonly [key: string]: Expressions }): Expressions =>
  Arbitrary.map(record(fields), (operand) => ({ [operator]: operand }))

const zones = oneOf<unknown>("UTC", "Europe/Berlin", "+05:30", "America/New_York", "-03")
const units = oneOf<unknown>("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond")
const small = oneOf<unknown>(0, 1, 2, 3, -1, -2)
const formats = oneOf<unknown>("%Y-%m-%d", "%H:%M:%S.%L", "%j %U %u %V %G", "%d/%m/%Y %z", "%%")

const unaries = (names: ReadonlyArray<string>, value: Expressions): Expressions =>
  either(...names.map((name) => unary(name, value)))

const calls = (names: ReadonlyArray<string>, ...values: ReadonlyArray<Expressions>): Expressions =>
  either(...names.map((name) => call(name, ...values)))

const numberOf = (k: Kinds, folded: Kinds): Expressions =>
  weighted<unknown>(
    [6, calls(["$add", "$multiply", "$subtract", "$divide", "$mod"], k.number, k.number)],
    [1, call("$add", k.number, k.number, k.number)],
    [1, call("$subtract", k.date, either(k.date, k.number))],
    [3, unaries(["$abs", "$ceil", "$floor", "$trunc", "$round", "$sqrt", "$exp", "$ln", "$bitNot"], k.number)],
    [2, calls(["$round", "$trunc"], k.number, small)],
    [1, calls(["$pow", "$bitAnd", "$bitOr", "$bitXor"], k.number, k.number)],
    [2, unaries(["$size"], k.list)],
    [2, unaries(["$strLenCP", "$strLenBytes"], k.text)],
    [2, calls(["$indexOfCP", "$indexOfBytes"], k.text, k.text)],
    [1, call("$indexOfArray", k.list, k.any)],
    [2, unaries(["$sum", "$avg", "$max", "$min", "$stdDevPop"], k.list)],
    [1, calls(["$sum", "$avg", "$max", "$min"], k.number, k.number)],
    [3, unaries(["$toInt", "$toLong", "$toDouble", "$toDecimal"], either(k.any, k.number, k.text))],
    [
      2,
      unaries(
        [
          "$year",
          "$month",
          "$dayOfMonth",
          "$dayOfWeek",
          "$dayOfYear",
          "$hour",
          "$minute",
          "$second",
          "$millisecond",
          "$week",
          "$isoWeek",
          "$isoWeekYear",
          "$isoDayOfWeek"
        ],
        k.date
      )
    ],
    [1, named("$hour", { date: k.date, timezone: zones })],
    [1, named("$dateDiff", { startDate: k.date, endDate: k.date, unit: units, timezone: zones })],
    [1, calls(["$cmp", "$strcasecmp"], k.text, k.text)],
    [1, call("$cmp", k.any, k.any)],
    [1, named("$reduce", { input: k.list, initialValue: small, in: folded.number })],
    [1, named("$getField", { field: oneOf<unknown>("x", "y"), input: k.object })]
  )

const textOf = (k: Kinds): Expressions =>
  weighted<unknown>(
    [2, call("$concat", k.text, k.text)],
    [2, unaries(["$toUpper", "$toLower"], k.text)],
    [3, unaries(["$toString", "$type"], k.any)],
    [2, calls(["$substrCP", "$substrBytes"], k.text, small, small)],
    [2, named("$trim", { input: k.text })],
    [1, either(...["$trim", "$ltrim", "$rtrim"].map((name) => named(name, { input: k.text, chars: k.text })))],
    [
      1,
      either(
        ...["$replaceOne", "$replaceAll"].map((name) =>
          named(name, { input: k.text, find: k.text, replacement: k.text })
        )
      )
    ],
    [2, named("$dateToString", { date: k.date, format: formats })],
    [1, named("$dateToString", { date: k.date, timezone: zones })],
    [
      1,
      named("$convert", {
        input: k.any,
        to: oneOf<unknown>("string", "int", "double", "long", "decimal", "bool", "date", "objectId"),
        onError: oneOf<unknown>("bad"),
        onNull: oneOf<unknown>("none")
      })
    ]
  )

const dateOf = (k: Kinds): Expressions =>
  weighted<unknown>(
    [2, named("$dateAdd", { startDate: k.date, unit: units, amount: small, timezone: zones })],
    [1, named("$dateSubtract", { startDate: k.date, unit: units, amount: small })],
    [2, named("$dateTrunc", { date: k.date, unit: units, timezone: zones })],
    [1, named("$dateTrunc", { date: k.date, unit: units, binSize: oneOf<unknown>(1, 2, 5) })],
    [1, named("$dateFromParts", { year: oneOf<unknown>(2024, 1970), month: small, day: small, timezone: zones })],
    [1, named("$dateFromParts", { isoWeekYear: oneOf<unknown>(2024, 2025), isoWeek: small, isoDayOfWeek: small })],
    [
      1,
      named("$dateFromString", {
        dateString: oneOf<unknown>(
          "2024-01-31",
          "2024-01-31T10:00:00Z",
          "2024-02-30",
          "x",
          "$s",
          "2024-01-31T10:00:00+0200"
        ),
        onError: oneOf<unknown>("bad"),
        onNull: oneOf<unknown>("none")
      })
    ],
    [
      1,
      unary(
        "$toDate",
        either<unknown>(k.any, k.date, oneOf<unknown>(0, "2024-01-31", new Double(5), Long.fromNumber(7)))
      )
    ],
    [1, calls(["$add", "$subtract"], k.date, k.number)],
    [1, named("$dateToParts", { date: k.date, timezone: zones })]
  )

const orders = oneOf<unknown>(1, -1, { x: 1 }, { y: -1, x: 1 })

const listsOf = (k: Kinds, inner: Kinds, folded: Kinds): Expressions =>
  weighted<unknown>(
    [2, call("$concatArrays", k.list, k.list)],
    [2, call("$slice", k.list, small)],
    [1, call("$slice", k.list, small, oneOf<unknown>(1, 2))],
    [2, unary("$reverseArray", k.list)],
    [3, named("$map", { input: k.list, in: inner.any })],
    [2, named("$map", { input: k.list, in: inner.number })],
    [3, named("$filter", { input: k.list, cond: inner.condition })],
    [1, named("$filter", { input: k.list, cond: inner.condition, limit: oneOf<unknown>(1, 2) })],
    [
      1,
      named("$reduce", {
        input: k.list,
        initialValue: oneOf<unknown>([]),
        in: Arbitrary.map(folded.any, (value) => ({ $concatArrays: ["$$value", [value]] }))
      })
    ],
    [1, call("$range", small, small)],
    [1, call("$range", small, small, oneOf<unknown>(1, -1, 2))],
    [2, named("$sortArray", { input: k.list, sortBy: orders })],
    [
      3,
      Arbitrary.map(
        calls(["$setUnion", "$setIntersection", "$setDifference"], k.list, k.list),
        (input) => ({ $sortArray: { input, sortBy: 1 } })
      )
    ],
    [1, call("$split", k.text, oneOf<unknown>("a", " ", "ab"))],
    [1, named("$zip", { inputs: listOf(k.list, 2, 1) })],
    [1, unary("$objectToArray", k.object)],
    [
      2,
      either(
        ...["$firstN", "$lastN", "$maxN", "$minN"].map((name) =>
          named(name, { input: k.list, n: oneOf<unknown>(1, 2) })
        )
      )
    ],
    [1, named("$regexFindAll", { input: k.text, regex: oneOf<unknown>("a", "b|é", "(a)(b)?", "^.") })]
  )

const objectOf = (k: Kinds): Expressions =>
  weighted<unknown>(
    [2, call("$mergeObjects", k.object, k.object)],
    [2, record({ x: k.any, y: k.number })],
    [1, named("$setField", { field: oneOf<unknown>("x", "z"), input: k.object, value: k.any })],
    [1, named("$unsetField", { field: oneOf<unknown>("x"), input: k.object })],
    [1, unary("$arrayToObject", oneOf<unknown>([["k", 1]], [{ k: "a", v: 2 }], "$l", "$c"))],
    [1, named("$regexFind", { input: k.text, regex: oneOf<unknown>("a", "b|é", "(a)(b)?", "^.") })]
  )

const conditionOf = (k: Kinds): Expressions =>
  weighted<unknown>(
    [4, calls(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"], k.any, k.any)],
    [3, calls(["$eq", "$gt", "$lt"], k.number, k.number)],
    [2, calls(["$and", "$or"], k.condition, k.condition)],
    [1, unary("$not", k.condition)],
    [2, call("$in", k.any, k.list)],
    [1, unaries(["$isArray", "$isNumber", "$toBool"], k.any)],
    [1, calls(["$setEquals", "$setIsSubset"], k.list, k.list)],
    [1, unaries(["$anyElementTrue", "$allElementsTrue"], Arbitrary.map(k.list, (list) => [list]))],
    [
      1,
      named("$regexMatch", { input: k.text, regex: oneOf<unknown>("a", "^B", "b$"), options: oneOf<unknown>("i", "") })
    ]
  )

const anyOf = (k: Kinds): Expressions =>
  weighted<unknown>(
    [3, either(k.number, k.text, k.date, k.list, k.object, k.condition)],
    [2, named("$cond", { if: k.condition, then: k.any, else: k.any })],
    [2, call("$ifNull", k.any, k.any)],
    [
      1,
      named("$switch", {
        branches: listOf(record({ case: k.condition, then: k.any }), 2, 1),
        default: k.any
      })
    ],
    [2, call("$arrayElemAt", k.list, small)],
    [2, unaries(["$first", "$last"], k.list)],
    [1, unaries(["$max", "$min"], k.list)],
    [1, named("$let", { vars: record({ x: k.any }), in: oneOf<unknown>("$$x", ["$$x"], { y: "$$x" }, "$$x.y") })],
    [1, named("$getField", { field: oneOf<unknown>("x", "a.b", "$a"), input: k.object })]
  )

/** Expressions with operators whose arguments are of `k`. */
const withOperators = (k: Kinds, inner: Kinds, folded: Kinds): Kinds => ({
  number: numberOf(k, folded),
  text: textOf(k),
  date: dateOf(k),
  list: listsOf(k, inner, folded),
  object: objectOf(k),
  condition: conditionOf(k),
  any: anyOf(k)
})

const orOf = (a: Kinds, b: Kinds): Kinds => ({
  number: either(a.number, b.number),
  text: either(a.text, b.text),
  date: either(a.date, b.date),
  list: either(a.list, b.list),
  object: either(a.object, b.object),
  condition: either(a.condition, b.condition),
  any: either(a.any, b.any)
})

const outer = leaves([])
const item = leaves(["$$this"])
const fold = leaves(["$$this", "$$value"])
const shallow = withOperators(outer, item, fold)
const loops = [orOf(item, withOperators(item, item, fold)), orOf(fold, withOperators(fold, item, fold))] as const

/** Fields, variables, and operators over them. */
export const kindsWith = (variables: ReadonlyArray<string>): Kinds => {
  const known = leaves(variables)
  return orOf(known, withOperators(known, item, fold))
}

export const kinds: Kinds = orOf(shallow, withOperators(orOf(outer, shallow), ...loops))

/** Any expression with at least one operator. */
export const expressions: Expressions = either(
  ...[kinds, shallow].flatMap((k) => [k.number, k.text, k.date, k.list, k.object, k.condition, k.any])
)

/** An expression that reads fields only. */
export const references: Expressions = outer.any
