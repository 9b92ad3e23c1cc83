import { ObjectId } from "bson"
import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { date, rejected, runs, stagePagesOf } from "./stagesPage.ts"

const maya = { _id: 1, student: "Maya", homework: [10, 5, 10], quiz: [10, 8], extraCredit: 0 }
const ryan = { _id: 2, student: "Ryan", homework: [5, 6, 5], quiz: [8, 8], extraCredit: 8 }
const car = { _id: 1, type: "car", specs: { doors: 4, wheels: 4 } }
const motorcycle = { _id: 2, type: "motorcycle", specs: { doors: 0, wheels: 2 } }
const jetSki = { _id: 3, type: "jet ski" }
const fruits = ["tangerine", "lemon", "grapefruit"]
const october = date("2024-10-09")
const december = date("2024-12-09")

const abc123 = { _id: 1, title: "abc123", isbn: "0001122223334", author: { last: "zzz", first: "aaa" }, copies: 5 }
const modified = { ...abc123, lastModified: "2016-07-28" }
const baked = { last: "xyz", first: "abc", middle: "" }
const iced = { last: "xyz", first: "abc", middle: "mmm" }
const bookmarks = [
  { _id: 1, user: "1234", stop: { title: "book1", author: "xyz", page: 32 } },
  {
    _id: 2,
    user: "7890",
    stop: [{ title: "book2", author: "abc", page: 5 }, { title: "book3", author: "ijk", page: 100 }]
  }
]
const stops = [
  { _id: 1, stop: { title: "book1" } },
  { _id: 2, stop: [{ title: "book2" }, { title: "book3" }] }
]
const xy = ObjectId.createFromHexString("55ad167f320c6be244eb3b95")

const antics = { _id: 1, title: "Antelope Antics", isbn: "0001122223334", author: { last: "An", first: "Auntie" } }
const babble = { _id: 2, title: "Bees Babble", isbn: "999999999333", author: { last: "Bumble", first: "Bee" } }
const withoutIsbn = [
  { _id: 1, title: "Antelope Antics", author: { last: "An", first: "Auntie" } },
  { _id: 2, title: "Bees Babble", author: { last: "Bumble", first: "Bee" } }
]

/** The manual's pages of stages that add and remove fields. */
export const fieldPages = (it: Tests, differs: Differs) => {
  const page = stagePagesOf(it, differs)

  for (const stage of ["$addFields", "$set"]) {
    page(
      stage,
      runs(
        [maya, ryan],
        [[
          { [stage]: { totalHomework: { $sum: "$homework" }, totalQuiz: { $sum: "$quiz" } } },
          { [stage]: { totalScore: { $add: ["$totalHomework", "$totalQuiz", "$extraCredit"] } } }
        ], [
          { ...maya, totalHomework: 25, totalQuiz: 18, totalScore: 43 },
          { ...ryan, totalHomework: 16, totalQuiz: 16, totalScore: 40 }
        ]],
        [[{ $match: { _id: 1 } }, { [stage]: { homework: { $concatArrays: ["$homework", [7]] } } }], [
          { ...maya, homework: [10, 5, 10, 7] }
        ]],
        [[{ [stage]: { quizAverage: { $avg: "$quiz" } } }], [
          { ...maya, quizAverage: 9 },
          { ...ryan, quizAverage: 8 }
        ]],
        [[{ $match: { _id: 1 } }, { [stage]: { a: { b: {} } } }], [{ ...maya, a: { b: {} } }]]
      ),
      runs([car, motorcycle, jetSki], [[{ [stage]: { "specs.fuel_type": "unleaded" } }], [
        { ...car, specs: { doors: 4, wheels: 4, fuel_type: "unleaded" } },
        { ...motorcycle, specs: { doors: 0, wheels: 2, fuel_type: "unleaded" } },
        { ...jetSki, specs: { fuel_type: "unleaded" } }
      ]]),
      runs([{ _id: 1, dogs: 10, cats: 15 }], [[{ [stage]: { cats: 20 } }], [{ _id: 1, dogs: 10, cats: 20 }]]),
      runs(fruits.map((item, _id) => ({ _id, item, type: "citrus" })), [
        [{ [stage]: { _id: "$item", item: "fruit" } }],
        fruits.map((_id) => ({ _id, item: "fruit", type: "citrus" }))
      ]),
      runs(
        [
          { _id: 1, date: october, temperature: 80 },
          { _id: 2, date: null, temperature: 83 },
          { _id: 3, date: december, temperature: 85 }
        ],
        [[{ [stage]: { date: "$$REMOVE" } }], [
          { _id: 1, temperature: 80 },
          { _id: 2, temperature: 83 },
          { _id: 3, temperature: 85 }
        ]],
        [[{ [stage]: { date: { $ifNull: ["$date", "$$REMOVE"] } } }], [
          { _id: 1, date: october, temperature: 80 },
          { _id: 2, temperature: 83 },
          { _id: 3, date: december, temperature: 85 }
        ]]
      )
    )
  }

  page(
    "$project",
    runs(
      [abc123],
      [[{ $project: { title: 1, author: 1 } }], [{ _id: 1, title: "abc123", author: { last: "zzz", first: "aaa" } }]],
      [[{ $project: { _id: 0, title: 1, author: 1 } }], [{ title: "abc123", author: { last: "zzz", first: "aaa" } }]],
      [[{
        $project: {
          title: 1,
          isbn: {
            prefix: { $substr: ["$isbn", 0, 3] },
            group: { $substr: ["$isbn", 3, 2] },
            publisher: { $substr: ["$isbn", 5, 4] },
            title: { $substr: ["$isbn", 9, 3] },
            checkDigit: { $substr: ["$isbn", 12, 1] }
          },
          lastName: "$author.last",
          copiesSold: "$copies"
        }
      }], [{
        _id: 1,
        title: "abc123",
        isbn: { prefix: "000", group: "11", publisher: "2222", title: "333", checkDigit: "4" },
        lastName: "zzz",
        copiesSold: 5
      }]],
      [[{ $project: {} }], rejected],
      [[{ $project: { contact: 1, "contact.address.country": 1 } }], rejected, "collidingPaths"],
      [[{ $project: { "contact.address.country": 1, contact: 1 } }], rejected, "collidingPaths"],
      // The page calls this invalid, but MongoDB accepts it since version 4.4.
      [[{ $project: { contact: { "address.country": 1 } } }], [{ _id: 1 }], "nestedProjections"],
      [[{ $project: { title: 0, copies: 1 } }], rejected]
    ),
    runs(
      [modified],
      [[{ $project: { lastModified: 0 } }], [abc123]],
      [[{ $project: { "author.first": 0, lastModified: 0 } }], [{ ...abc123, author: { last: "zzz" } }]],
      [
        [{ $project: { author: { first: 0 }, lastModified: 0 } }],
        [{ ...abc123, author: { last: "zzz" } }],
        "nestedProjections"
      ]
    ),
    runs(
      [
        modified,
        { _id: 2, title: "Baked Goods", isbn: "9999999999999", author: baked, copies: 2, lastModified: "2017-07-21" },
        { _id: 3, title: "Ice Cream Cakes", isbn: "8888888888888", author: iced, copies: 5, lastModified: "2017-07-22" }
      ],
      [[{
        $project: {
          title: 1,
          "author.first": 1,
          "author.last": 1,
          "author.middle": {
            $cond: { if: { $eq: ["", "$author.middle"] }, then: "$$REMOVE", else: "$author.middle" }
          }
        }
      }], [
        { _id: 1, title: "abc123", author: { last: "zzz", first: "aaa" } },
        { _id: 2, title: "Baked Goods", author: { last: "xyz", first: "abc" } },
        { _id: 3, title: "Ice Cream Cakes", author: iced }
      ]]
    ),
    runs(bookmarks, [[{ $project: { "stop.title": 1 } }], stops], [
      [{ $project: { stop: { title: 1 } } }],
      stops,
      "nestedProjections"
    ]),
    runs(
      [{ _id: xy, x: 1, y: 1 }],
      [[{ $project: { myArray: ["$x", "$y"] } }], [{ _id: xy, myArray: [1, 1] }]],
      [[{ $project: { myArray: ["$x", "$y", "$someField"] } }], [{ _id: xy, myArray: [1, 1, null] }]]
    ),
    runs(
      [{ _id: 0, name: ["Pepperoni"] }],
      [[{ $project: { x: "$name", _id: 0 } }], [{ x: ["Pepperoni"] }]],
      [[{ $project: { x: "$name.0", _id: 0 } }], [{ x: [] }], "numberedItems"]
    )
  )

  page(
    "$unset",
    runs(
      [
        { ...antics, copies: [{ warehouse: "A", qty: 5 }, { warehouse: "B", qty: 15 }] },
        { ...babble, copies: [{ warehouse: "A", qty: 2 }, { warehouse: "B", qty: 5 }] }
      ],
      [[{ $unset: "copies" }], [antics, babble]],
      [[{ $unset: ["copies"] }], [antics, babble]],
      [[{ $unset: ["isbn", "copies"] }], withoutIsbn],
      [[{ $unset: ["isbn", "author.first", "copies.warehouse"] }], [
        { _id: 1, title: "Antelope Antics", author: { last: "An" }, copies: [{ qty: 5 }, { qty: 15 }] },
        { _id: 2, title: "Bees Babble", author: { last: "Bumble" }, copies: [{ qty: 2 }, { qty: 5 }] }
      ], "pathsThroughLists"]
    )
  )
}
