import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { constants, pagesOf, runs } from "./expressionsPage.ts"

const items: ReadonlyArray<readonly [item: string, price: number, qty: number]> = [
  ["sweatshirt", 45.99, 300],
  ["winter coat", 499.99, 200],
  ["sun dress", 199.99, 250],
  ["leather boots", 249.99, 300],
  ["bow tie", 9.99, 180]
]
const documents = (name: string | undefined) =>
  items.map(([item, price, qty], index) => ({
    _id: index + 1,
    item,
    qty,
    ...(name === undefined ? {} : { [name]: price })
  }))

const inRoot = (field: unknown, value: unknown) => ({ $replaceWith: { $setField: { field, input: "$$ROOT", value } } })

/** The manual's pages of object operators. */
export const objectPages = (it: Tests, differs: Differs) => {
  const page = pagesOf(it, differs)

  for (const name of ["price.usd", "$price"]) {
    const field = name.startsWith("$") ? { $literal: name } : name
    page(
      `$getField, $setField and $unsetField of ${name}`,
      runs(documents("price"), [[[inRoot(field, "$price"), { $unset: "price" }], documents(name)]]),
      runs(documents(name), [
        [
          [{ $match: { $expr: { $gt: [{ $getField: field }, 200] } } }],
          documents(name).filter(({ _id }) => _id % 2 === 0)
        ],
        [[{ $match: { _id: 1 } }, inRoot(field, 49.99)], [{ _id: 1, item: "sweatshirt", qty: 300, [name]: 49.99 }]],
        [[inRoot(field, "$$REMOVE")], documents(undefined)],
        [[{ $replaceWith: { $unsetField: { field, input: "$$ROOT" } } }], documents(undefined), "newOperators"]
      ])
    )
  }

  page(
    "$getField of a document in a document",
    runs(
      [[50, 50, 25], [35, 35, 35], [45, 40, 5], [20, 30, 40], [0, 10, 75]].map(([$large, $medium, $small], index) => ({
        _id: index + 1,
        quantity: { $large, $medium, $small }
      })),
      [[
        [{ $match: { $expr: { $lte: [{ $getField: { field: { $literal: "$small" }, input: "$quantity" } }, 20] } } }],
        [{ _id: 3, quantity: { $large: 45, $medium: 40, $small: 5 } }]
      ]]
    )
  )

  page(
    "$mergeObjects",
    constants([
      [{ $mergeObjects: [{ a: 1 }, null] }, { a: 1 }],
      [{ $mergeObjects: [null, null] }, {}],
      [{ $mergeObjects: [{ a: 1 }, { a: 2, b: 2 }, { a: 3, c: 3 }] }, { a: 3, b: 2, c: 3 }],
      [{ $mergeObjects: [{ a: 1 }, { a: 2, b: 2 }, { a: 3, b: null, c: 3 }] }, { a: 3, b: null, c: 3 }]
    ]),
    runs([
      { _id: 1, year: 2017, item: "A", quantity: { "2017Q1": 500, "2017Q2": 500 } },
      { _id: 2, year: 2016, item: "A", quantity: { "2016Q1": 400, "2016Q2": 300, "2016Q3": 0, "2016Q4": 0 } },
      { _id: 3, year: 2017, item: "B", quantity: { "2017Q1": 300 } },
      { _id: 4, year: 2016, item: "B", quantity: { "2016Q3": 100, "2016Q4": 250 } }
    ], [[
      [{ $sort: { _id: 1 } }, { $group: { _id: "$item", mergedSales: { $mergeObjects: "$quantity" } } }, {
        $sort: { _id: 1 }
      }],
      [
        {
          _id: "A",
          mergedSales: { "2017Q1": 500, "2017Q2": 500, "2016Q1": 400, "2016Q2": 300, "2016Q3": 0, "2016Q4": 0 }
        },
        { _id: "B", mergedSales: { "2017Q1": 300, "2016Q3": 100, "2016Q4": 250 } }
      ]
    ]])
  )
}
