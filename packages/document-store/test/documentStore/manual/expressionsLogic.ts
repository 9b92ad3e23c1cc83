import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { constants, each, pagesOf, rejected, runs } from "./expressionsPage.ts"

const inventory = [300, 200, 250, 300, 180].map((qty, index) => ({ _id: index + 1, qty }))

/** The manual's pages of boolean, comparison and conditional operators, and of $literal. */
export const logicPages = (it: Tests, differs: Differs) => {
  const page = pagesOf(it, differs)
  const compared = (operator: string, values: ReadonlyArray<unknown>) =>
    page(operator, each(inventory, [[{ [operator]: ["$qty", 250] }, values]]))

  page(
    "$and",
    constants([
      [{ $and: [1, "green"] }, true],
      [{ $and: [] }, true],
      [{ $and: [[null], [false], [0]] }, true],
      [{ $and: [null, true] }, false],
      [{ $and: [0, true] }, false]
    ]),
    each(inventory, [
      [{ $and: [{ $gt: ["$qty", 100] }, { $lt: ["$qty", 250] }] }, [false, true, false, false, true]]
    ])
  )

  page(
    "$or",
    constants([
      [{ $or: [true, false] }, true],
      [{ $or: [[false], false] }, true],
      [{ $or: [null, 0, "$undefined"] }, false],
      [{ $or: [] }, false]
    ]),
    each(inventory, [[{ $or: [{ $gt: ["$qty", 250] }, { $lt: ["$qty", 200] }] }, [true, false, false, true, true]]])
  )

  page(
    "$not",
    constants([
      [{ $not: [true] }, false],
      [{ $not: [[false]] }, false, "notOfLists"],
      [{ $not: [false] }, true],
      [{ $not: [null] }, true],
      [{ $not: [0] }, true]
    ]),
    each(inventory, [[{ $not: [{ $gt: ["$qty", 250] }] }, [false, true, true, false, true]]])
  )

  compared("$cmp", [1, -1, 0, 1, -1])
  compared("$eq", [false, false, true, false, false])
  compared("$ne", [true, true, false, true, true])
  compared("$gt", [true, false, false, true, false])
  compared("$gte", [true, false, true, true, false])
  compared("$lt", [false, true, false, false, true])
  compared("$lte", [false, true, true, false, true])

  page(
    "$cond",
    each([{ _id: 1, qty: 300 }, { _id: 2, qty: 200 }, { _id: 3, qty: 250 }], [
      [{ $cond: { if: { $gte: ["$qty", 250] }, then: 30, else: 20 } }, [30, 20, 30]],
      [{ $cond: [{ $gte: ["$qty", 250] }, 30, 20] }, [30, 20, 30]]
    ])
  )

  page(
    "$ifNull",
    each([
      { _id: 1, item: "buggy", description: "toy car", quantity: 300 },
      { _id: 2, item: "bicycle", description: null, quantity: 200 },
      { _id: 3, item: "flag" }
    ], [
      [{ $ifNull: ["$description", "Unspecified"] }, ["toy car", "Unspecified", "Unspecified"]],
      [{ $ifNull: ["$description", "$quantity", "Unspecified"] }, ["toy car", 200, "Unspecified"]]
    ]),
    runs([{ _id: 1, location: "a" }, { _id: 2, location: null }, { _id: 3 }], [[
      [{ $group: { _id: { $ifNull: ["$location", "Unspecified"] }, count: { $sum: 1 } } }],
      [{ _id: "a", count: 1 }, { _id: "Unspecified", count: 2 }]
    ]])
  )

  const equals = { case: { $eq: [0, 5] }, then: "equals" }
  const greater = { case: { $gt: [0, 5] }, then: "greater than" }
  const summary = {
    branches: [
      { case: { $gte: [{ $avg: "$scores" }, 90] }, then: "Doing great!" },
      {
        case: { $and: [{ $gte: [{ $avg: "$scores" }, 80] }, { $lt: [{ $avg: "$scores" }, 90] }] },
        then: "Doing pretty well."
      },
      { case: { $lt: [{ $avg: "$scores" }, 80] }, then: "Needs improvement." }
    ],
    default: "No scores found."
  }

  page(
    "$switch",
    constants([
      [{ $switch: { branches: [equals, greater, { case: { $lt: [0, 5] }, then: "less than" }] } }, "less than"],
      [{ $switch: { branches: [equals, greater], default: "Did not match" } }, "Did not match"],
      [
        {
          $switch: {
            branches: [{ case: "this is true", then: "first case" }, { case: false, then: "second case" }],
            default: "Did not match"
          }
        },
        "first case"
      ],
      [{ $switch: { branches: [equals] } }, rejected],
      [{ $switch: { branches: [] } }, rejected],
      [{ $switch: { branches: [{ case: true }] } }, rejected],
      [{ $switch: { branches: [{ then: true }] } }, rejected],
      [{ $switch: { branches: [{ case: true, then: 1, other: 2 }] } }, rejected, "laxBranches"]
    ]),
    each([{ _id: 1, scores: [87, 86, 78] }, { _id: 2, scores: [71, 64, 81] }, { _id: 3, scores: [91, 84, 97] }], [
      [{ $switch: summary }, ["Doing pretty well.", "Needs improvement.", "Doing great!"]]
    ])
  )

  page(
    "$literal",
    constants([
      [{ $literal: { $add: [2, 3] } }, { $add: [2, 3] }],
      [{ $literal: { $literal: 1 } }, { $literal: 1 }]
    ]),
    each([{ _id: 1, price: "$2.50" }, { _id: 2, price: "1" }, { _id: 3, price: "$1" }], [
      [{ $eq: ["$price", { $literal: "$1" }] }, [false, false, true]],
      [{ $eq: ["$price", "$1"] }, [false, false, false]]
    ]),
    each([{ _id: 1, title: "Dracula" }, { _id: 2, title: "The Little Prince" }], [[{ $literal: 1 }, [1, 1]]])
  )
}
