import { Decimal128 } from "bson"
import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { date, runs, stagePagesOf } from "./stagesPage.ts"

const decimal = (text: string) => Decimal128.fromString(text)

const clothing = [
  { _id: 1, item: "Shirt", sizes: ["S", "M", "L"] },
  { _id: 2, item: "Shorts", sizes: [] },
  { _id: 3, item: "Hat", sizes: "M" },
  { _id: 4, item: "Gloves" },
  { _id: 5, item: "Scarf", sizes: null }
]
const shirt = (sizes: string) => ({ _id: 1, item: "Shirt", sizes })
const clothes = [shirt("S"), shirt("M"), shirt("L"), { _id: 3, item: "Hat", sizes: "M" }]

const sizes = [
  { _id: 1, item: "ABC", price: decimal("80"), sizes: ["S", "M", "L"] },
  { _id: 2, item: "EFG", price: decimal("120"), sizes: [] },
  { _id: 3, item: "IJK", price: decimal("160"), sizes: "M" },
  { _id: 4, item: "LMN", price: decimal("10") },
  { _id: 5, item: "XYZ", price: decimal("5.75"), sizes: null }
]
const size = (size: string, more = {}) => ({ _id: 1, item: "ABC", price: decimal("80"), sizes: size, ...more })

const sold = (name: string, tags: ReadonlyArray<string>, price: string, quantity: number) => ({
  name,
  tags,
  price: decimal(price),
  quantity
})
const sales = [
  {
    _id: "1",
    items: [
      sold("pens", ["writing", "office", "school", "stationary"], "12.00", 5),
      sold("envelopes", ["stationary", "office"], "19.95", 8)
    ]
  },
  {
    _id: "2",
    items: [
      sold("laptop", ["office", "electronics"], "800.00", 1),
      sold("notepad", ["stationary", "school"], "14.95", 3)
    ]
  }
]

const orders = ([
  ["abc", "10", 2, "2014-03-01T08:00:00Z"],
  ["jkl", "20", 1, "2014-03-01T09:00:00Z"],
  ["xyz", "5", 10, "2014-03-15T09:00:00Z"],
  ["xyz", "5", 20, "2014-04-04T11:21:39.736Z"],
  ["abc", "10", 10, "2014-04-04T21:23:13.331Z"],
  ["def", "7.5", 5, "2015-06-04T05:08:13Z"],
  ["def", "7.5", 10, "2015-09-10T08:43:00Z"],
  ["abc", "10", 5, "2016-02-06T20:20:13Z"]
] as const).map(([item, price, quantity, day], i) => ({
  _id: i + 1,
  item,
  price: decimal(price),
  quantity,
  date: date(day)
}))
const total = { $sum: { $multiply: ["$price", "$quantity"] } }

const books = [
  { _id: 8751, title: "The Banquet", author: "Dante", copies: 2 },
  { _id: 8752, title: "Divine Comedy", author: "Dante", copies: 1 },
  { _id: 8645, title: "Eclogues", author: "Dante", copies: 2 },
  { _id: 7000, title: "The Odyssey", author: "Homer", copies: 10 },
  { _id: 7020, title: "Iliad", author: "Homer", copies: 10 }
]

/** The manual's pages of stages that unwind and group documents. */
export const shapePages = (it: Tests, differs: Differs) => {
  const page = stagePagesOf(it, differs)

  page(
    "$unwind",
    runs([{ _id: 1, item: "ABC1", sizes: ["S", "M", "L"] }], [
      [{ $unwind: "$sizes" }],
      ["S", "M", "L"].map((sizes) => ({ _id: 1, item: "ABC1", sizes }))
    ]),
    runs(clothing, [[{ $unwind: { path: "$sizes" } }], clothes], [[{ $unwind: "$sizes" }], clothes]),
    runs(
      sizes,
      [[{ $unwind: { path: "$sizes", includeArrayIndex: "arrayIndex" } }], [
        size("S", { arrayIndex: 0 }),
        size("M", { arrayIndex: 1 }),
        size("L", { arrayIndex: 2 }),
        { ...sizes[2], arrayIndex: null }
      ]],
      [
        [
          { $unwind: { path: "$sizes", includeArrayIndex: "arrayIndex" } },
          { $group: { _id: { $type: "$arrayIndex" } } }
        ],
        [{ _id: "long" }, { _id: "null" }],
        "placesAsInts"
      ],
      [[{ $unwind: { path: "$sizes", preserveNullAndEmptyArrays: true } }], [
        size("S"),
        size("M"),
        size("L"),
        { _id: 2, item: "EFG", price: decimal("120") },
        ...sizes.slice(2)
      ]],
      [[
        { $unwind: { path: "$sizes", preserveNullAndEmptyArrays: true } },
        { $group: { _id: "$sizes", averagePrice: { $avg: "$price" } } },
        { $sort: { averagePrice: -1, _id: 1 } }
      ], [
        { _id: "M", averagePrice: decimal("120") },
        { _id: "L", averagePrice: decimal("80") },
        { _id: "S", averagePrice: decimal("80") },
        { _id: null, averagePrice: decimal("45.25") }
      ]]
    ),
    runs(sales, [[
      { $unwind: "$items" },
      { $unwind: "$items.tags" },
      {
        $group: { _id: "$items.tags", totalSalesAmount: { $sum: { $multiply: ["$items.price", "$items.quantity"] } } }
      }
    ], [
      { _id: "writing", totalSalesAmount: decimal("60.00") },
      { _id: "stationary", totalSalesAmount: decimal("264.45") },
      { _id: "electronics", totalSalesAmount: decimal("800.00") },
      { _id: "school", totalSalesAmount: decimal("104.85") },
      { _id: "office", totalSalesAmount: decimal("1019.60") }
    ]])
  )

  page(
    "$group",
    runs(
      orders,
      [[{ $group: { _id: null, count: { $count: {} } } }], [{ _id: null, count: 8 }]],
      [[{ $group: { _id: "$item" } }], [{ _id: "abc" }, { _id: "jkl" }, { _id: "def" }, { _id: "xyz" }]],
      [
        [{ $group: { _id: "$item", totalSaleAmount: total } }, { $match: { totalSaleAmount: { $gte: 100 } } }],
        [
          { _id: "abc", totalSaleAmount: decimal("170") },
          { _id: "xyz", totalSaleAmount: decimal("150") },
          { _id: "def", totalSaleAmount: decimal("112.5") }
        ]
      ],
      [[
        { $match: { date: { $gte: date("2014-01-01"), $lt: date("2015-01-01") } } },
        {
          $group: {
            _id: { $dateToString: { format: "%Y-%m-%d", date: "$date" } },
            totalSaleAmount: total,
            averageQuantity: { $avg: "$quantity" },
            count: { $sum: 1 }
          }
        },
        { $sort: { totalSaleAmount: -1 } }
      ], [
        { _id: "2014-04-04", totalSaleAmount: decimal("200"), averageQuantity: 15, count: 2 },
        { _id: "2014-03-15", totalSaleAmount: decimal("50"), averageQuantity: 10, count: 1 },
        { _id: "2014-03-01", totalSaleAmount: decimal("40"), averageQuantity: 1.5, count: 2 }
      ]],
      [[{
        $group: { _id: null, totalSaleAmount: total, averageQuantity: { $avg: "$quantity" }, count: { $sum: 1 } }
      }], [{ _id: null, totalSaleAmount: decimal("452.5"), averageQuantity: 7.875, count: 8 }]]
    ),
    runs(
      books,
      [[{ $group: { _id: "$author", books: { $push: "$title" } } }], [
        { _id: "Homer", books: ["The Odyssey", "Iliad"] },
        { _id: "Dante", books: ["The Banquet", "Divine Comedy", "Eclogues"] }
      ]],
      [
        [
          { $group: { _id: "$author", books: { $push: "$$ROOT" } } },
          { $addFields: { totalCopies: { $sum: "$books.copies" } } }
        ],
        [
          { _id: "Homer", books: books.slice(3), totalCopies: 20 },
          { _id: "Dante", books: books.slice(0, 3), totalCopies: 5 }
        ],
        "pathsThroughLists"
      ]
    ),
    runs([{ _id: 1, x: 1, y: 2 }, { _id: 2, x: 1, y: 1 }, { _id: 3, x: 2, y: 5 }], [
      [{ $sort: { x: 1, y: 1 } }, { $group: { _id: { x: "$x" }, y: { $first: "$y" } } }],
      [{ _id: { x: 1 }, y: 1 }, { _id: { x: 2 }, y: 5 }]
    ])
  )
}
