import { Long } from "bson"
import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { constants, each, missing, pagesOf, rejected } from "./expressionsPage.ts"

const warehouses = [
  { _id: 1, instock: ["chocolate"], ordered: ["butter", "apples"] },
  { _id: 2, instock: ["apples", "pudding", "pie"] },
  { _id: 3, instock: ["pears", "pecans"], ordered: ["cherries"] },
  { _id: 4, instock: ["ice cream"], ordered: [] }
]

const users = [
  { _id: 1, name: "dave123", favorites: ["chocolate", "cake", "butter", "apples"] },
  { _id: 2, name: "li", favorites: ["apples", "pudding", "pie"] },
  { _id: 3, name: "ahn", favorites: ["pears", "pecans", "chocolate", "cherries"] },
  { _id: 4, name: "ty", favorites: ["ice cream"] }
]

const pen = (item_id: number, quantity: number, price: number) => ({ item_id, quantity, price, name: "pen" })
const briefcase = { item_id: 2, quantity: 1, price: 240, name: "briefcase" }
const notebook = { item_id: 23, quantity: 3, price: 110, name: "notebook" }
const printer = { item_id: 38, quantity: 1, price: 300, name: "printer" }
const paper = { item_id: 4, quantity: 1, price: 23, name: "paper" }
const sales = [
  { _id: 0, items: [pen(43, 2, 10), briefcase] },
  { _id: 1, items: [notebook, pen(103, 4, 5), printer] },
  { _id: 2, items: [paper] }
]

const run = (run: number, distance: number) => ({ run, distance })
const runninglog = [
  { _id: 1, log: [run(1, 8), { run2: 2, distance: 7.5 }, run(3, 9.2)] },
  { _id: 2, log: [run(1, 18), { run2: 2, distance: 17 }, run(3, 16)] },
  { _id: 3, log: [run(1, 2)] }
]

const people = [
  { _id: 1, hobbies: ["softball", "drawing", "reading"] },
  { _id: 2, hobbies: ["gaming", "skateboarding"] },
  { _id: 3, hobbies: ["basketball", "music", "fishing"] },
  { _id: 4, hobbies: ["acting", "yoga"] },
  { _id: 5, hobbies: ["programming"] },
  { _id: 6 }
]

/** The manual's pages of array operators: those that read items, filter and map. */
export const arrayPages = (it: Tests, differs: Differs) => {
  const page = pagesOf(it, differs)

  page(
    "$arrayElemAt",
    constants([
      [{ $arrayElemAt: [[1, 2, 3], 0] }, 1],
      [{ $arrayElemAt: [[1, 2, 3], -2] }, 2],
      [{ $arrayElemAt: [[1, 2, 3], 15] }, missing],
      [{ $arrayElemAt: ["$undefinedField", 0] }, null]
    ]),
    each(users, [
      [{ $arrayElemAt: ["$favorites", 0] }, ["chocolate", "apples", "pears", "ice cream"]],
      [{ $arrayElemAt: ["$favorites", -1] }, ["apples", "pie", "cherries", "ice cream"]]
    ])
  )

  const lists = [{ _id: 1, x: [1, 2, 3] }, { _id: 2, x: [[]] }, { _id: 3, x: [null] }, { _id: 4, x: [] }]
  const progress = {
    $cond: {
      if: { $gt: [{ $size: "$log" }, 1] },
      then: {
        $let: {
          vars: { first: { $first: "$log" }, last: { $last: "$log" } },
          in: { $subtract: ["$$last.distance", "$$first.distance"] }
        }
      },
      else: "Not enough data."
    }
  }

  page(
    "$first and $last of lists",
    each([...lists, { _id: 5, x: null }, { _id: 6 }], [
      [{ $first: "$x" }, [1, [], null, missing, null, null], "firstOfNothing"],
      [{ $last: "$x" }, [3, [], null, missing, null, null], "firstOfNothing"]
    ]),
    each([{ _id: 1, x: [1, 2, 3] }, { _id: 2, x: 2 }], [[{ $first: "$x" }, rejected], [{ $last: "$x" }, rejected]]),
    each(runninglog, [
      [{ $first: "$log" }, [run(1, 8), run(1, 18), run(1, 2)]],
      [{ $last: "$log" }, [run(3, 9.2), run(3, 16), run(1, 2)]],
      [progress, [1.1999999999999993, -2, "Not enough data."]]
    ])
  )

  page(
    "$concatArrays",
    constants([
      [{ $concatArrays: [["hello", " "], ["world"]] }, ["hello", " ", "world"]],
      [{ $concatArrays: [["hello", " "], [["world"], "again"]] }, ["hello", " ", ["world"], "again"]]
    ]),
    each(warehouses, [[{ $concatArrays: ["$instock", "$ordered"] }, [
      ["chocolate", "butter", "apples"],
      null,
      ["pears", "pecans", "cherries"],
      ["ice cream"]
    ]]])
  )

  page(
    "$isArray",
    constants([[{ $isArray: "hello" }, false], [{ $isArray: ["hello"] }, false], [{ $isArray: [["hello"]] }, true]]),
    each(warehouses, [[
      {
        $cond: {
          if: { $and: [{ $isArray: "$instock" }, { $isArray: "$ordered" }] },
          then: { $concatArrays: ["$instock", "$ordered"] },
          else: "One or more fields is not an array."
        }
      },
      [
        ["chocolate", "butter", "apples"],
        "One or more fields is not an array.",
        ["pears", "pecans", "cherries"],
        ["ice cream"]
      ]
    ]])
  )

  const mixed = { input: [1, "a", 2, null, 3.1, Long.fromNumber(4), "5"], as: "num", cond: { $isNumber: "$$num" } }
  const dear = { input: "$items", as: "item", cond: { $gte: ["$$item.price", 100] } }
  const named = (cond: unknown) => ({ $filter: { input: "$items", as: "item", cond } })
  const dears = [[briefcase], [notebook, printer], []]

  page(
    "$filter",
    constants([
      [{ $filter: mixed }, [1, 2, 3.1, 4]],
      [{ $filter: { ...mixed, limit: 2 } }, [1, 2]],
      [{ $filter: { ...mixed, limit: { $add: [0, 1] } } }, [1]]
    ]),
    each(sales, [
      [{ $filter: dear }, dears],
      [{ $filter: { ...dear, limit: 1 } }, [[briefcase], [notebook], []]],
      [{ $filter: { ...dear, limit: 5 } }, dears],
      [named({ $eq: ["$$item.name", "pen"] }), [[pen(43, 2, 10)], [pen(103, 4, 5)], []]],
      [named({ $regexMatch: { input: "$$item.name", regex: /^p/ } }), [
        [pen(43, 2, 10)],
        [pen(103, 4, 5), printer],
        [paper]
      ]]
    ]),
    each(people, [
      [
        { $filter: { input: "$hobbies", arrayIndexAs: "place", cond: { $eq: [{ $mod: ["$$place", 2] }, 0] } } },
        [["softball", "reading"], ["gaming"], ["basketball", "fishing"], ["acting"], ["programming"], null],
        "newOperators"
      ],
      [
        { $filter: { input: "$hobbies", cond: { $eq: [{ $mod: ["$$IDX", 2] }, 0] } } },
        [["softball", "reading"], ["gaming"], ["basketball", "fishing"], ["acting"], ["programming"], null],
        "newOperators"
      ]
    ])
  )

  page(
    "$in",
    constants([
      [{ $in: [2, [1, 2, 3]] }, true],
      [{ $in: ["abc", ["xyz", "abc"]] }, true],
      [{ $in: ["xy", ["xyz", "abc"]] }, false],
      [{ $in: [["a"], ["a"]] }, false],
      [{ $in: [["a"], [["a"]]] }, true],
      [{ $in: [/^a/, ["a"]] }, false],
      [{ $in: [/^a/, [/^a/]] }, true],
      [{ $in: [1, 2] }, rejected]
    ]),
    each([
      { _id: 1, "in_stock": ["apples", "oranges", "bananas"] },
      { _id: 2, "in_stock": ["bananas", "pears", "grapes"] },
      { _id: 3, "in_stock": ["cantaloupes", "watermelons", "apples"] }
    ], [[{ $in: ["bananas", "$in_stock"] }, [true, true, false]]])
  )

  page(
    "$indexOfArray",
    constants([
      [{ $indexOfArray: [["a", "abc"], "a"] }, 0],
      [{ $indexOfArray: [["a", "abc", "de", ["de"]], ["de"]] }, 3],
      [{ $indexOfArray: [[1, 2], 5] }, -1],
      [{ $indexOfArray: [[1, 2, 3], [1, 2]] }, -1],
      [{ $indexOfArray: [[10, 9, 9, 8, 9], 9, 3] }, 4],
      [{ $indexOfArray: [["a", "abc", "b"], "b", 0, 1] }, -1],
      [{ $indexOfArray: [["a", "abc", "b"], "b", 1, 0] }, -1],
      [{ $indexOfArray: [["a", "abc", "b"], "b", 20] }, -1],
      [{ $indexOfArray: [[null, null, null], null] }, 0],
      [{ $indexOfArray: [null, "foo"] }, null],
      [{ $indexOfArray: ["foo", "foo"] }, rejected]
    ]),
    each([
      { _id: 0, items: ["one", "two", "three"] },
      { _id: 1, items: [1, 2, 3] },
      { _id: 2, items: [1, 2, 3, 2] },
      { _id: 3, items: [null, null, 2] },
      { _id: 4, items: [2, null, null, 2] },
      { _id: 5, items: null },
      { _id: 6, amount: 3 }
    ], [[{ $indexOfArray: ["$items", 2] }, [-1, 1, 1, 2, 0, null, null]]])
  )

  page(
    "$map",
    each([
      { _id: 1, quizzes: [5, 6, 7], distances: [34.57, 81.96, 44.24], tempsC: [4, 12, 17] },
      { _id: 2, quizzes: [], distances: [73.28, 9.67, 124.36], tempsC: [14, 24, 11] },
      { _id: 3, quizzes: [3, 8, 9], distances: [16.04, 3.25, 6.82], tempsC: [18, 6, 8] }
    ], [
      [{ $map: { input: "$quizzes", as: "grade", in: { $add: ["$$grade", 2] } } }, [[7, 8, 9], [], [5, 10, 11]]],
      [{ $map: { input: "$distances", as: "decimalValue", in: { $trunc: "$$decimalValue" } } }, [
        [34, 81, 44],
        [73, 9, 124],
        [16, 3, 6]
      ]],
      [{ $map: { input: "$tempsC", as: "c", in: { $add: [{ $multiply: ["$$c", 9 / 5] }, 32] } } }, [
        [39.2, 53.6, 62.6],
        [57.2, 75.2, 51.8],
        [64.4, 42.8, 46.4]
      ]],
      [{ $map: { input: "$quizzes", arrayIndexAs: "i", in: ["$$i", "$$this"] } }, [
        [[0, 5], [1, 6], [2, 7]],
        [],
        [[0, 3], [1, 8], [2, 9]]
      ], "newOperators"]
    ])
  )

  const long = 2090845886852
  const scores = [[1, 2, 3], [12, 90, 7, 89, 8], [null], []]
  const withScores = (...more: ReadonlyArray<ReadonlyArray<unknown>>) =>
    [...scores, ...more].map((score, index) => ({ _id: index + 1, score }))

  page(
    "$maxN and $minN of lists",
    each(withScores([1293, "2", 3489, 9]), [
      [{ $maxN: { n: 2, input: "$score" } }, [[3, 2], [90, 89], [], [], ["2", 3489]]],
      [{ $minN: { n: 2, input: "$score" } }, [[1, 2], [7, 8], [], [], [9, 1293]]]
    ])
  )

  page(
    "$firstN and $lastN of lists",
    each(withScores([1293, null, 3489, 9], ["12.1", 2, Long.fromNumber(long), 23]), [
      [
        { $firstN: { n: 3, input: "$score" } },
        [[1, 2, 3], [12, 90, 7], [null], [], [1293, null, 3489], ["12.1", 2, long]]
      ],
      [{ $lastN: { n: 3, input: "$score" } }, [[1, 2, 3], [7, 89, 8], [null], [], [null, 3489, 9], [2, long, 23]]]
    ]),
    each([{ _id: 1, array: [10, 20, 30, 40] }], [
      [{ $firstN: { n: 3, input: "$array" } }, [[10, 20, 30]]],
      [{ $lastN: { n: 3, input: "$array" } }, [[20, 30, 40]]]
    ])
  )

  page(
    "$range",
    constants([
      [{ $range: [0, 10, 2] }, [0, 2, 4, 6, 8]],
      [{ $range: [10, 0, -2] }, [10, 8, 6, 4, 2]],
      [{ $range: [0, 10, -2] }, []],
      [{ $range: [0, 5] }, [0, 1, 2, 3, 4]]
    ]),
    each([{ _id: 0, distance: 42 }, { _id: 1, distance: 88 }, { _id: 2, distance: 218 }, { _id: 3, distance: 383 }], [
      [{ $range: [0, "$distance", 25] }, [
        [0, 25],
        [0, 25, 50, 75],
        [0, 25, 50, 75, 100, 125, 150, 175, 200],
        Array.from({ length: 16 }, (_, n) => 25 * n)
      ]]
    ])
  )
}
