import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { constants, each, pagesOf, rejected, runs } from "./expressionsPage.ts"

const inventory = [
  { _id: 1, item: "ABC1", instock: { warehouse1: 2500, warehouse2: 500 } },
  { _id: 2, item: "ABC2", instock: { warehouse2: 500, warehouse3: 200 } }
]

const withTotals = [
  { $addFields: { instock: { $objectToArray: "$instock" } } },
  { $addFields: { instock: { $concatArrays: ["$instock", [{ k: "total", v: { $sum: "$instock.v" } }]] } } },
  { $addFields: { instock: { $arrayToObject: "$instock" } } }
]

const totals = [
  { _id: 1, item: "ABC1", instock: { warehouse1: 2500, warehouse2: 500, total: 3000 } },
  { _id: 2, item: "ABC2", instock: { warehouse2: 500, warehouse3: 200, total: 700 } }
]

const event = (_id: number, experimentId: string, probability: number) => ({ _id, experimentId, probability })
const sixth = 0.16666666666667
const events = [
  event(1, "r5", sixth),
  event(2, "d3rc", 0.5),
  event(3, "d3rc", 0.49019607843137),
  event(4, "d3rc", 0.48),
  event(5, "r16", sixth),
  event(6, "r16", sixth),
  event(7, "dak", 0.07692307692308),
  event(8, "dak", 0.07843137254902)
]

const matrices = [
  { _id: 1, arr: [[24, 55, 79], [14, 78, 35], [84, 90, 3], [50, 89, 70]] },
  { _id: 2, arr: [[39, 32, 43, 7], [62, 17, 80, 64], [17, 88, 11, 73]] },
  { _id: 3, arr: [[42], [26, 59], [17], [72, 19, 35]] },
  { _id: 4 }
]
const collapsed = matrices.map(({ arr }) => arr?.flat())
const firsts = matrices.map(({ arr }) => arr?.map(([first]) => first))

/** The manual's pages of array operators: those that reduce and convert lists. */
export const arrayReshapingPages = (it: Tests, differs: Differs) => {
  const page = pagesOf(it, differs)

  page(
    "$arrayToObject",
    each([{ _id: 1, qty: 25 }], [
      [{ $arrayToObject: [[{ k: "item", v: "abc123" }, { k: "qty", v: "$qty" }]] }, [{ item: "abc123", qty: 25 }]]
    ]),
    constants([
      [{ $arrayToObject: [[]] }, {}],
      [{ $arrayToObject: { $literal: [["item", "abc123"], ["qty", 25]] } }, { item: "abc123", qty: 25 }],
      [{ $arrayToObject: { $literal: [{ k: "item", v: "123abc" }, { k: "item", v: "abc123" }] } }, { item: "abc123" }]
    ]),
    each([
      { _id: 1, dimensions: [{ k: "l", v: 25 }, { k: "w", v: 10 }, { k: "uom", v: "cm" }] },
      { _id: 2, dimensions: [["l", 50], ["w", 25], ["uom", "cm"]] },
      { _id: 3, dimensions: [["l", 25], ["l", "cm"], ["l", 50]] }
    ], [[{ $arrayToObject: "$dimensions" }, [{ l: 25, w: 10, uom: "cm" }, { l: 50, w: 25, uom: "cm" }, { l: 50 }]]]),
    runs(inventory, [[withTotals, totals, "pathsOfSums"]])
  )

  page(
    "$objectToArray",
    constants([
      [{ $objectToArray: { item: "foo", qty: 25 } }, [{ k: "item", v: "foo" }, { k: "qty", v: 25 }]],
      [{ $objectToArray: { item: "foo", qty: 25, size: { len: 25, w: 10, uom: "cm" } } }, [
        { k: "item", v: "foo" },
        { k: "qty", v: 25 },
        { k: "size", v: { len: 25, w: 10, uom: "cm" } }
      ]]
    ]),
    each([
      { _id: 1, dimensions: { l: 25, w: 10, uom: "cm" } },
      { _id: 2, dimensions: { l: 50, w: 25, uom: "cm" } },
      { _id: 3, dimensions: { l: 70, w: 75, uom: "cm" } }
    ], [
      [{ $objectToArray: "$dimensions" }, [
        [{ k: "l", v: 25 }, { k: "w", v: 10 }, { k: "uom", v: "cm" }],
        [{ k: "l", v: 50 }, { k: "w", v: 25 }, { k: "uom", v: "cm" }],
        [{ k: "l", v: 70 }, { k: "w", v: 75 }, { k: "uom", v: "cm" }]
      ]]
    ]),
    runs(inventory, [[withTotals, totals, "pathsOfSums"]]),
    runs(inventory, [[
      [
        { $project: { warehouses: { $objectToArray: "$instock" } } },
        { $unwind: "$warehouses" },
        { $group: { _id: "$warehouses.k", total: { $sum: "$warehouses.v" } } }
      ],
      [{ _id: "warehouse3", total: 200 }, { _id: "warehouse2", total: 1000 }, { _id: "warehouse1", total: 2500 }]
    ]])
  )

  const product = { input: "$all", initialValue: 1, in: { $multiply: ["$$value", "$$this"] } }

  page(
    "$reduce",
    constants([
      [{ $reduce: { input: ["a", "b", "c"], initialValue: "", in: { $concat: ["$$value", "$$this"] } } }, "abc"],
      [
        {
          $reduce: {
            input: [1, 2, 3, 4],
            initialValue: { sum: 5, product: 2 },
            in: {
              sum: { $add: ["$$value.sum", "$$this"] },
              product: { $multiply: ["$$value.product", "$$this"] }
            }
          }
        },
        { sum: 15, product: 48 }
      ],
      [
        {
          $reduce: {
            input: ["a", "b"],
            initialValue: "",
            as: "letter",
            valueAs: "all",
            arrayIndexAs: "place",
            in: { $concat: ["$$all", { $toString: "$$place" }, "$$letter"] }
          }
        },
        "0a1b",
        "newOperators"
      ],
      [{ $reduce: { input: ["a"], initialValue: "", as: "letter", in: "$$this" } }, rejected],
      [
        { $reduce: { input: [[3, 4], [5, 6]], initialValue: [1, 2], in: { $concatArrays: ["$$value", "$$this"] } } },
        [1, 2, 3, 4, 5, 6]
      ]
    ]),
    runs(events, [[
      [
        { $sort: { _id: 1 } },
        { $group: { _id: "$experimentId", all: { $push: "$probability" } } },
        { $project: { results: { $reduce: product } } },
        { $sort: { _id: 1 } }
      ],
      [
        { _id: "d3rc", results: 0.11764705882352879 },
        { _id: "dak", results: 0.00603318250377101 },
        { _id: "r16", results: 0.027777777777778886 },
        { _id: "r5", results: sixth }
      ]
    ]]),
    each([
      { _id: 1, price: 20, discounts: [0.5, 0.1] },
      { _id: 2, price: 40, discounts: [0.25, 0.15, 0.05] },
      { _id: 3, price: 30, discounts: [0.15, 0.05] },
      { _id: 4, price: 25, discounts: [0.3] },
      { _id: 5, price: 80, discounts: [0.1, 0.25] }
    ], [[
      {
        $reduce: {
          input: "$discounts",
          initialValue: "$price",
          in: { $multiply: ["$$value", { $subtract: [1, "$$this"] }] }
        }
      },
      [9, 24.224999999999998, 24.224999999999998, 17.5, 54]
    ]]),
    runs([
      { _id: 1, hobbies: ["softball", "drawing", "reading"] },
      { _id: 2, hobbies: ["gaming", "skateboarding"] },
      { _id: 3, hobbies: ["basketball", "music", "fishing"] },
      { _id: 4, hobbies: ["acting", "yoga"] },
      { _id: 5, hobbies: ["programming"] },
      { _id: 6 }
    ], [[
      [{ $match: { hobbies: { $gt: [] } } }, {
        $project: {
          bio: {
            $reduce: {
              input: "$hobbies",
              initialValue: "My hobbies include:",
              in: {
                $concat: [
                  "$$value",
                  { $cond: { if: { $eq: ["$$value", "My hobbies include:"] }, then: " ", else: ", " } },
                  "$$this"
                ]
              }
            }
          }
        }
      }],
      [
        { _id: 1, bio: "My hobbies include: softball, drawing, reading" },
        { _id: 2, bio: "My hobbies include: gaming, skateboarding" },
        { _id: 3, bio: "My hobbies include: basketball, music, fishing" },
        { _id: 4, bio: "My hobbies include: acting, yoga" },
        { _id: 5, bio: "My hobbies include: programming" }
      ]
    ]]),
    each(matrices, [
      [
        { $reduce: { input: "$arr", initialValue: [], in: { $concatArrays: ["$$value", "$$this"] } } },
        collapsed.map((list) => list ?? null)
      ],
      [
        {
          $reduce: {
            input: "$arr",
            initialValue: [],
            in: {
              collapsed: { $concatArrays: ["$$value.collapsed", "$$this"] },
              firstValues: { $concatArrays: ["$$value.firstValues", { $slice: ["$$this", 1] }] }
            }
          }
        },
        collapsed.map((list, row) => list === undefined ? null : { collapsed: list, firstValues: firsts[row] }),
        "emptyLists"
      ]
    ])
  )
}
