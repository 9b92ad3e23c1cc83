import { Decimal128, Double, Int32, Long, ObjectId, Timestamp } from "bson"
import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { type Constant, constants, date, each, pagesOf, rejected, runs } from "./expressionsPage.ts"

const decimal = (text: string) => Decimal128.fromString(text)
const long = (text: string) => Long.fromString(text)
const moment = date("2018-03-26T04:38:28.044Z")
const id = new ObjectId("5ab9c3da31c2ab715d421285")

/** A conversion by `$convert`, and by the operator that is short for it. */
const converted = (type: string, operator: string, input: unknown, value: unknown): ReadonlyArray<Constant> => [
  [{ $convert: { input, to: type } }, value],
  [{ [operator]: input }, value]
]

/** Conversions to one type, as its table has them. */
const table = (type: string, operator: string, rows: ReadonlyArray<readonly [input: unknown, value: unknown]>) =>
  constants(rows.flatMap(([input, value]) => converted(type, operator, input, value)))

/** The manual's pages of conversions, types and sizes. */
export const conversionPages = (it: Tests, differs: Differs) => {
  const page = pagesOf(it, differs)

  page(
    "$convert to bool, and $toBool",
    table("bool", "$toBool", [
      [true, true],
      [false, false],
      [1.99999, true],
      [decimal("5"), true],
      [decimal("0"), false],
      [100, true],
      [moment, true],
      ["hello", true],
      ["false", true],
      ["", true],
      [null, null]
    ]),
    runs([
      { _id: 1, shipped: true },
      { _id: 2, shipped: 0 },
      { _id: 3, shipped: 1 },
      { _id: 4, shipped: "true" },
      { _id: 5, shipped: "false" },
      { _id: 6, shipped: "" }
    ], [[
      [
        {
          $project: {
            flag: {
              $switch: {
                branches: [
                  { case: { $eq: ["$shipped", "false"] }, then: false },
                  { case: { $eq: ["$shipped", ""] }, then: false }
                ],
                default: { $toBool: "$shipped" }
              }
            }
          }
        },
        { $match: { flag: false } }
      ],
      [{ _id: 2, flag: false }, { _id: 5, flag: false }, { _id: 6, flag: false }]
    ]])
  )

  page(
    "$convert to int, and $toInt",
    table("int", "$toInt", [
      [true, 1],
      [false, 0],
      [1.99999, 1],
      [decimal("5.5000"), 5],
      [decimal("9223372036000.000"), rejected],
      [long("5000"), 5000],
      [long("922337203600"), rejected],
      ["-2", -2],
      ["2.5", rejected],
      [null, null]
    ]),
    each([
      { _id: 1, qty: "5", price: 10 },
      { _id: 2, qty: "10", price: decimal("20.0") },
      { _id: 3, qty: "2", price: "4.99" },
      { _id: 4, qty: "5", price: 5 }
    ], [[
      { $multiply: [{ $toDecimal: "$price" }, { $toInt: "$qty" }] },
      [decimal("50"), decimal("200.0"), decimal("9.98"), decimal("25")]
    ]])
  )

  page(
    "$convert to long, and $toLong",
    table("long", "$toLong", [
      [true, 1],
      [false, 0],
      [2.5, 2],
      [1.99999, 1],
      [decimal("5.5000"), 5],
      [decimal("9223372036854775808.0"), rejected],
      [8, 8],
      [moment, 1522039108044],
      ["-2", -2],
      ["2.5", rejected],
      [null, null]
    ]),
    each([{ _id: 1, qty: 5 }, { _id: 2, qty: "100" }, { _id: 3, qty: long("500") }, { _id: 4, qty: "50" }], [
      [{ $toLong: "$qty" }, [5, 100, 500, 50]],
      [{ $type: { $toLong: "$qty" } }, ["long", "long", "long", "long"]]
    ])
  )

  page(
    "$convert to double, and $toDouble",
    table("double", "$toDouble", [
      [true, 1],
      [false, 0],
      [2.5, 2.5],
      [5, 5],
      [long("10000"), 10000],
      ["-5.5", -5.5],
      ["5e10", 50000000000],
      [moment, 1522039108044]
    ]),
    each([{ _id: 1, temp: "26.1C" }, { _id: 2, temp: "25.1C" }], [
      [{ $toDouble: { $substrBytes: ["$temp", 0, 4] } }, [26.1, 25.1]]
    ])
  )

  const orders = [
    { _id: 1, qty: 5, price: 10 },
    { _id: 2, qty: 10, price: decimal("20.0") },
    { _id: 3, qty: 2, price: "4.99" },
    { _id: 4 },
    { _id: 5, qty: 5000000000, price: decimal("1.25") }
  ]
  const notInt = { $concat: ["Could not convert ", { $toString: "$qty" }, " to type integer."] }
  const price = { $convert: { input: "$price", to: "decimal", onError: "Error", onNull: decimal("0") } }
  const quantity = { $convert: { input: "$qty", to: "int", onError: notInt, onNull: 0 } }

  page(
    "$convert to decimal, and $toDecimal",
    table("decimal", "$toDecimal", [
      [true, decimal("1")],
      [false, decimal("0")],
      [2.5, decimal("2.50000000000000")],
      [5, decimal("5")],
      [long("10000"), decimal("10000")],
      ["-5.5", decimal("-5.5")],
      [moment, decimal("1522039108044")]
    ]),
    each(orders, [[
      {
        $switch: {
          branches: [
            { case: { $eq: [{ $type: price }, "string"] }, then: "NaN" },
            { case: { $eq: [{ $type: quantity }, "string"] }, then: "NaN" }
          ],
          default: { $multiply: [price, quantity] }
        }
      },
      [decimal("50"), decimal("200.0"), decimal("9.98"), decimal("0"), "NaN"]
    ]])
  )

  page(
    "$convert to date, and $toDate",
    table("date", "$toDate", [
      [120000000000.5, date("1973-10-20T21:20:00Z")],
      [decimal("1253372036000.50"), date("2009-09-19T14:53:56Z")],
      [long("1100000000000"), date("2004-11-09T11:33:20Z")],
      [long("-1100000000000"), date("1935-02-22T12:26:40Z")],
      [id, date("2018-03-27T04:08:58Z")],
      ["2018-03-03", date("2018-03-03T00:00:00Z")],
      ["2018-03-20T12:00:00+0500", date("2018-03-20T07:00:00Z")],
      ["2018-03-20 11:00:06 +0500", date("2018-03-20T06:00:06Z")],
      ["2018-03-20", date("2018-03-20T00:00:00Z")],
      ["Friday", rejected],
      [120, rejected],
      [new Timestamp({ t: 1637688118, i: 1 }), date("2021-11-23T17:21:58Z")]
    ]),
    runs([
      { _id: 1, order: date("2018-03-20") },
      { _id: 2, order: date("2018-03-22") },
      { _id: 3, order: "2018-03-15" },
      { _id: 4, order: "2018-03-15 +10:00" }
    ], [[
      [{ $project: { converted: { $toDate: "$order" } } }, { $sort: { converted: 1 } }],
      [
        { _id: 4, converted: date("2018-03-14T14:00:00Z") },
        { _id: 3, converted: date("2018-03-15") },
        { _id: 1, converted: date("2018-03-20") },
        { _id: 2, converted: date("2018-03-22") }
      ]
    ]])
  )

  page(
    "$convert to objectId, and $toObjectId",
    table("objectId", "$toObjectId", [
      ["5ab9cbfa31c2ab715d42129e", new ObjectId("5ab9cbfa31c2ab715d42129e")],
      ["5ab9cbfa31c2ab715d42129", rejected]
    ]),
    runs([
      { _id: "5ab9cbe531c2ab715d42129a" },
      { _id: new ObjectId("5ab9d0b831c2ab715d4212a8") },
      { _id: new ObjectId("5ab9d2d331c2ab715d4212b3") },
      { _id: "5ab9e16431c2ab715d4212b4" }
    ], [[
      [{ $project: { _id: { $toObjectId: "$_id" } } }, { $sort: { _id: -1 } }],
      [
        { _id: new ObjectId("5ab9e16431c2ab715d4212b4") },
        { _id: new ObjectId("5ab9d2d331c2ab715d4212b3") },
        { _id: new ObjectId("5ab9d0b831c2ab715d4212a8") },
        { _id: new ObjectId("5ab9cbe531c2ab715d42129a") }
      ]
    ]])
  )

  page(
    "$convert to string, and $toString",
    table("string", "$toString", [
      [true, "true"],
      [false, "false"],
      [2.5, "2.5"],
      [2, "2"],
      [long("1000"), "1000"],
      [id, "5ab9c3da31c2ab715d421285"]
    ]),
    constants([
      [{ $toString: date("2018-03-27T16:58:51.538Z") }, "2018-03-27T16:58:51.538Z"],
      [
        { $convert: { input: date("2018-03-27T16:58:51.538Z"), to: "string" } },
        "2018-03-27T16:58:51.538Z",
        "datesAsTexts"
      ]
    ]),
    runs([{ _id: 1, zipcode: 93445 }, { _id: 2, zipcode: "12345-0030" }, { _id: 3, zipcode: 12345 }], [[
      [{ $project: { converted: { $toString: "$zipcode" } } }, { $sort: { converted: 1 } }],
      [{ _id: 3, converted: "12345" }, { _id: 2, converted: "12345-0030" }, { _id: 1, converted: "93445" }]
    ]])
  )

  const readings = [decimal("26.0"), long("25"), new Int32(24), new Double(24), "24", [decimal("26")]]

  page(
    "$type and $isNumber",
    constants([
      [{ $type: "a" }, "string"],
      [{ $type: /a/ }, "regex"],
      [{ $type: new Double(1) }, "double"],
      [{ $type: long("627") }, "long"],
      [{ $type: { x: 1 } }, "object"],
      [{ $type: [[1, 2, 3]] }, "array"]
    ]),
    each([
      { _id: 0, a: new Double(8) },
      { _id: 1, a: [41.63, 88.19] },
      { _id: 2, a: { a: "apple", b: "banana", c: "carrot" } },
      { _id: 3, a: "caribou" },
      { _id: 4, a: long("71") },
      { _id: 5 }
    ], [[{ $type: "$a" }, ["double", "array", "object", "string", "long", "missing"]]]),
    each(readings.map((reading, index) => ({ _id: index + 1, reading })), [
      [{ $isNumber: "$reading" }, [true, true, true, true, false, false]],
      [{ $type: "$reading" }, ["decimal", "long", "int", "double", "string", "array"]]
    ]),
    runs([
      { _id: 1, student: 457864153, grade: "A" },
      { _id: 2, student: 457864153, grade: 3 },
      { _id: 3, student: 978451637, grade: "C" },
      { _id: 4, student: 978451637, grade: 4 }
    ], [[
      [
        {
          $addFields: {
            points: {
              $cond: {
                if: { $isNumber: "$grade" },
                then: "$grade",
                else: {
                  $switch: {
                    branches: [
                      { case: { $eq: ["$grade", "A"] }, then: 4 },
                      { case: { $eq: ["$grade", "B"] }, then: 3 },
                      { case: { $eq: ["$grade", "C"] }, then: 2 },
                      { case: { $eq: ["$grade", "D"] }, then: 1 },
                      { case: { $eq: ["$grade", "F"] }, then: 0 }
                    ]
                  }
                }
              }
            }
          }
        },
        { $group: { _id: "$student", GPA: { $avg: "$points" } } }
      ],
      [{ _id: 457864153, GPA: 3.5 }, { _id: 978451637, GPA: 3 }]
    ]])
  )
}
