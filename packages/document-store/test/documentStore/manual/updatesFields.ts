import { Decimal128, Int32, Long } from "bson"
import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { changes, eachOf, made, rejected, updatePagesOf } from "./updatesPage.ts"

const date = (text: string) => new Date(text)
const decimal = (text: string) => Decimal128.fromString(text)

const products = {
  _id: 100,
  quantity: 250,
  instock: true,
  reorder: false,
  details: { model: "14QQ", make: "Clothes Corp" },
  tags: ["apparel", "clothing"],
  ratings: [{ by: "Customer007", rating: 4 }]
}

const george = { alias: ["The American Cincinnatus", "The American Fabius"], mobile: "555-555-5555" }
const abigail = { alias: ["My dearest friend"], mobile: "222-222-2222" }

const tests = [
  { _id: 1, test1: 95, test2: 92, test3: 90 },
  { _id: 2, test1: 98, test2: 100, test3: 102 },
  { _id: 3, test1: 95, test2: 110 }
]

/** The manual's pages of update operators of fields, and of updates by pipelines. */
export const fieldUpdatePages = (it: Tests, differs: Differs) => {
  const page = updatePagesOf(it, differs)

  page(
    "$set",
    changes(
      [products],
      [{ _id: 100 }, {
        $set: {
          quantity: 500,
          details: { model: "2600", make: "Fashionaires" },
          tags: ["coats", "outerwear", "clothing"]
        }
      }, [{
        ...products,
        quantity: 500,
        details: { model: "2600", make: "Fashionaires" },
        tags: ["coats", "outerwear", "clothing"]
      }]],
      [{ _id: 100 }, { $set: { "details.make": "Kustom Kidz" } }, [{
        ...products,
        quantity: 500,
        details: { model: "2600", make: "Kustom Kidz" },
        tags: ["coats", "outerwear", "clothing"]
      }]],
      [{ _id: 100 }, { $set: { "tags.1": "rain gear", "ratings.0.rating": 2 } }, [{
        ...products,
        quantity: 500,
        details: { model: "2600", make: "Kustom Kidz" },
        tags: ["coats", "rain gear", "clothing"],
        ratings: [{ by: "Customer007", rating: 2 }]
      }]]
    )
  )

  page(
    "$setOnInsert",
    changes([], [
      { _id: 1 },
      { $set: { item: "apple" }, $setOnInsert: { defaultQty: 100 } },
      [{ _id: 1, item: "apple", defaultQty: 100 }],
      { upsert: true }
    ], [
      { _id: 1 },
      { $set: { item: "pear" }, $setOnInsert: { defaultQty: 5 } },
      [{ _id: 1, item: "pear", defaultQty: 100 }],
      { upsert: true }
    ])
  )

  page(
    "$inc",
    ...eachOf(
      [
        { sku: "abc123", quantity: 10, metrics: { orders: 2, ratings: 3.5 } },
        { $inc: { quantity: -2, "metrics.orders": 1 } },
        { sku: "abc123", quantity: 8, metrics: { orders: 3, ratings: 3.5 } }
      ],
      [{ sku: "abc123" }, { $inc: { quantity: 3 } }, { sku: "abc123", quantity: 3 }],
      [{ quantity: null }, { $inc: { quantity: 3 } }, rejected],
      [{ quantity: 1 }, { $inc: {} }, { quantity: 1 }]
    )
  )

  page(
    "$mul",
    ...eachOf(
      [
        { item: "Hats", price: decimal("10.99"), quantity: 25 },
        { $mul: { price: decimal("1.25"), quantity: 2 } },
        { item: "Hats", price: decimal("13.7375"), quantity: 50 }
      ],
      [{ price: 2_000_000_000 }, { $mul: { price: 2 } }, { price: 4_000_000_000 }],
      [{ price: Long.MAX_VALUE }, { $mul: { price: 2 } }, rejected]
    ),
    // Small longs are read as numbers: $type tells them from ints.
    changes(
      [{ _id: 2, item: "Unknown" }, { _id: 3, item: "XYZ", price: Long.fromNumber(10) }],
      [{ _id: 2 }, { $mul: { price: Long.fromNumber(100) } }, [{ _id: 2, item: "Unknown", price: 0 }]],
      [{ _id: 3 }, { $mul: { price: new Int32(5) } }, [{ _id: 3, item: "XYZ", price: 50 }]],
      [{ price: { $type: "long" } }, { $set: { long: true } }, [
        { _id: 2, item: "Unknown", price: 0, long: true },
        { _id: 3, item: "XYZ", price: 50, long: true }
      ]]
    )
  )

  page(
    "$min",
    ...eachOf(
      [{ highScore: 800, lowScore: 200 }, { $min: { lowScore: 150 } }, { highScore: 800, lowScore: 150 }],
      [{ highScore: 800, lowScore: 150 }, { $min: { lowScore: 250 } }, { highScore: 800, lowScore: 150 }],
      [
        { desc: "crafts", dateEntered: date("2013-10-01T05:00:00Z"), dateExpired: date("2013-10-01T16:38:16Z") },
        { $min: { dateEntered: date("2013-09-25T00:00:00Z") } },
        { desc: "crafts", dateEntered: date("2013-09-25T00:00:00Z"), dateExpired: date("2013-10-01T16:38:16Z") }
      ]
    )
  )

  page(
    "$max",
    ...eachOf(
      [{ highScore: 800, lowScore: 200 }, { $max: { highScore: 950 } }, { highScore: 950, lowScore: 200 }],
      [{ highScore: 950, lowScore: 200 }, { $max: { highScore: 870 } }, { highScore: 950, lowScore: 200 }],
      [
        { desc: "decorative arts", dateExpired: date("2013-10-01T16:38:16.163Z") },
        { $max: { dateExpired: date("2013-09-30T00:00:00Z") } },
        { desc: "decorative arts", dateExpired: date("2013-10-01T16:38:16.163Z") }
      ],
      [
        { desc: "decorative arts", dateExpired: date("2013-10-01T16:38:16.163Z") },
        { $max: { dateExpired: date("2014-01-07T00:00:00Z") } },
        { desc: "decorative arts", dateExpired: date("2014-01-07T00:00:00Z") }
      ]
    )
  )

  page(
    "$rename",
    ...eachOf([{ nickname: "Sam", cell: "123" }, { $rename: { nickname: "alias", cell: "mobile" } }, {
      alias: "Sam",
      mobile: "123"
    }]),
    changes(
      [
        { _id: 1, ...george, nmae: { first: "george", last: "washington" } },
        { _id: 2, ...abigail, nmae: { first: "abigail", last: "adams" } }
      ],
      [{ nmae: { $ne: null } }, { $rename: { nmae: "name" } }, [
        { _id: 1, ...george, name: { first: "george", last: "washington" } },
        { _id: 2, ...abigail, name: { first: "abigail", last: "adams" } }
      ]],
      [{ _id: 1 }, { $rename: { "name.first": "name.fname" } }, [
        { _id: 1, ...george, name: { fname: "george", last: "washington" } }
      ]],
      [{ _id: 1 }, { $rename: { wife: "spouse" } }, []],
      [{ _id: 1 }, { $rename: { mobile: "alias" } }, [
        { _id: 1, alias: "555-555-5555", name: { fname: "george", last: "washington" } }
      ]]
    )
  )

  page(
    "$unset",
    changes(
      [
        { _id: 1, item: "chisel", sku: "C001", quantity: 4, instock: true },
        { _id: 2, item: "hammer", sku: "unknown", quantity: 3, instock: true },
        { _id: 3, item: "nails", sku: "unknown", quantity: 100, instock: true }
      ],
      [{ _id: 2 }, { $unset: { quantity: "", instock: "" } }, [{ _id: 2, item: "hammer", sku: "unknown" }]],
      [
        { _id: 1 },
        { $unset: { none: "" } },
        []
      ]
    )
  )

  page(
    "$bit",
    changes(
      [{ _id: 1, expdata: new Int32(13) }, { _id: 2, expdata: Long.fromNumber(3) }, {
        _id: 3,
        expdata: Long.fromNumber(1)
      }],
      [{ _id: 1 }, { $bit: { expdata: { and: new Int32(10) } } }, [{ _id: 1, expdata: 8 }]],
      [{ _id: 2 }, { $bit: { expdata: { or: new Int32(5) } } }, [{ _id: 2, expdata: 7 }]],
      [{ _id: 3 }, { $bit: { expdata: { xor: new Int32(5) } } }, [{ _id: 3, expdata: 4 }]],
      [
        { expdata: { $type: "long" } },
        { $set: { long: true } },
        [{ _id: 2, expdata: 7, long: true }, { _id: 3, expdata: 4, long: true }],
        { difference: "bitsOfLongs" }
      ]
    )
  )

  page(
    "updates by a pipeline",
    changes([tests[0]!], [{ _id: 1 }, [{ $set: { test3: 98 } }], [{ ...tests[0], test3: 98 }]]),
    changes([
      { _id: 1, quiz1: 8, test2: 100, quiz2: 9 },
      { _id: 2, quiz2: 5, test1: 80, test2: 89 }
    ], [{}, [
      { $replaceRoot: { newRoot: { $mergeObjects: [{ quiz1: 0, quiz2: 0, test1: 0, test2: 0 }, "$$ROOT"] } } },
      { $set: { modified: date("2020-01-22T00:00:00Z") } }
    ], [
      { _id: 1, quiz1: 8, quiz2: 9, test1: 0, test2: 100, modified: date("2020-01-22T00:00:00Z") },
      { _id: 2, quiz1: 0, quiz2: 5, test1: 80, test2: 89, modified: date("2020-01-22T00:00:00Z") }
    ]]),
    changes(
      [
        { _id: 1, tests: [95, 92, 90] },
        { _id: 2, tests: [94, 88, 90] },
        { _id: 3, tests: [70, 75, 82] }
      ],
      [{}, [
        { $set: { average: { $trunc: [{ $avg: "$tests" }, 0] } } },
        {
          $set: {
            grade: {
              $switch: {
                branches: [
                  { case: { $gte: ["$average", 90] }, then: "A" },
                  { case: { $gte: ["$average", 80] }, then: "B" },
                  { case: { $gte: ["$average", 70] }, then: "C" },
                  { case: { $gte: ["$average", 60] }, then: "D" }
                ],
                default: "F"
              }
            }
          }
        }
      ], [
        { _id: 1, tests: [95, 92, 90], average: 92, grade: "A" },
        { _id: 2, tests: [94, 88, 90], average: 90, grade: "A" },
        { _id: 3, tests: [70, 75, 82], average: 75, grade: "C" }
      ]]
    ),
    ...eachOf(
      [{ quizzes: [4, 6, 7] }, [{ $set: { quizzes: { $concatArrays: ["$quizzes", [8, 6]] } } }], {
        quizzes: [4, 6, 7, 8, 6]
      }],
      [
        { date: date("2019-06-23T00:00:00Z"), tempsC: [4, 12, 17] },
        [{
          $addFields: {
            tempsF: {
              $map: { input: "$tempsC", as: "celsius", in: { $add: [{ $multiply: ["$$celsius", 9 / 5] }, 32] } }
            }
          }
        }],
        { date: date("2019-06-23T00:00:00Z"), tempsC: [4, 12, 17], tempsF: [39.2, 53.6, 62.6] }
      ],
      [{ a: 1 }, [{ $match: { a: 1 } }], rejected]
    )
  )

  page(
    "empty operands",
    ...eachOf(
      [{ a: 1 }, { $set: {} }, { a: 1 }],
      [{ a: 1 }, { $unset: {} }, { a: 1 }],
      [{ a: 1 }, { $min: {}, $max: {}, $mul: {}, $rename: {}, $setOnInsert: {}, $bit: {} }, { a: 1 }],
      [{ a: 1 }, { $push: {}, $pull: {}, $pop: {}, $addToSet: {}, $pullAll: {} }, { a: 1 }]
    ),
    changes([], [{ a: { $eq: 5 } }, { $set: { b: 1 } }, [{ _id: made, a: 5, b: 1 }], { upsert: true }])
  )
}
