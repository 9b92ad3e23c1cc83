import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { date, joins, runs, stagePagesOf } from "./stagesPage.ts"

const numbered = <A extends object>(documents: ReadonlyArray<A>) =>
  documents.map((document, _id) => ({ _id, ...document }))

const person = (person_id: string, firstname: string, lastname: string, born: string, vocation: string, more = {}) => ({
  person_id,
  firstname,
  lastname,
  dateofbirth: date(born),
  vocation,
  ...more
})
const elise = person("6392529400", "Elise", "Smith", "1972-01-13T09:32:07Z", "ENGINEER")
const olive = person("1723338115", "Olive", "Ranieri", "1985-05-12T23:14:30Z", "ENGINEER", { gender: "FEMALE" })
const carl = person("7363626383", "Carl", "Simmons", "1998-12-26T13:13:55Z", "ENGINEER")
const persons = [
  { ...elise, address: { number: 5625, street: "Tipa Circle", city: "Wojzinmoj" } },
  { ...olive, address: { number: 9303, street: "Mele Circle", city: "Tobihbo" } },
  person("8732762874", "Toni", "Jones", "1991-11-23T16:53:56Z", "POLITICIAN"),
  person("7363629563", "Bert", "Gooding", "1941-04-07T22:11:52Z", "FLORIST"),
  person("1029648329", "Sophie", "Celements", "1959-07-06T17:35:45Z", "ENGINEER"),
  { ...carl, address: { number: 187, street: "Hillside Road", city: "Kenningford" } }
]

const order = (customer_id: string, orderdate: string, value: number, more = {}) => ({
  customer_id,
  orderdate: date(orderdate),
  value,
  ...more
})
const ordered = (orderdate: string, value: number) => ({ orderdate: date(orderdate), value })
const [eliseAt, oliveAt, toniAt, jonesAt] = [
  "elise_smith@myemail.com",
  "oranieri@warmmail.com",
  "tj@wheresmyemail.com",
  "jjones@tepidmail.com"
]
const in2020 = { orderdate: { $gte: date("2020-01-01T00:00:00Z"), $lt: date("2021-01-01T00:00:00Z") } }

const bought = (product_name: string, product_category: string) => ({ product_name, product_category })
const varied = (product_name: string, product_variation: string) => ({ product_name, product_variation })

const product = (prod_id: string, name: string, price: number) => ({ prod_id, name, price })

/** The manual's tutorials of aggregation whose data it contains. */
export const tutorialPages = (it: Tests, differs: Differs) => {
  const page = stagePagesOf(it, differs)

  page(
    "filtering data",
    runs(numbered(persons), [[
      { $match: { vocation: "ENGINEER" } },
      { $sort: { dateofbirth: -1 } },
      { $limit: 3 },
      { $unset: ["_id", "address"] }
    ], [carl, olive, elise]])
  )

  page(
    "grouping data",
    runs(
      numbered([
        order(eliseAt, "2020-05-30T08:35:52Z", 231),
        order(eliseAt, "2020-01-13T09:32:07Z", 99),
        order(oliveAt, "2020-01-01T08:25:37Z", 63),
        order(toniAt, "2019-05-28T19:13:32Z", 2),
        order(toniAt, "2020-11-23T22:56:53Z", 187),
        order(toniAt, "2020-08-18T23:04:48Z", 4),
        order(eliseAt, "2020-12-26T08:55:46Z", 4),
        order(toniAt, "2021-02-28T07:49:32Z", 1024),
        order(eliseAt, "2020-10-03T13:49:44Z", 102)
      ]),
      [[
        { $match: in2020 },
        { $sort: { orderdate: 1 } },
        {
          $group: {
            _id: "$customer_id",
            first_purchase_date: { $first: "$orderdate" },
            total_value: { $sum: "$value" },
            total_orders: { $sum: 1 },
            orders: { $push: { orderdate: "$orderdate", value: "$value" } }
          }
        },
        { $sort: { first_purchase_date: 1 } },
        { $set: { customer_id: "$_id" } },
        { $unset: ["_id"] }
      ], [
        {
          first_purchase_date: date("2020-01-01T08:25:37Z"),
          total_value: 63,
          total_orders: 1,
          orders: [ordered("2020-01-01T08:25:37Z", 63)],
          customer_id: oliveAt
        },
        {
          first_purchase_date: date("2020-01-13T09:32:07Z"),
          total_value: 436,
          total_orders: 4,
          orders: [
            ordered("2020-01-13T09:32:07Z", 99),
            ordered("2020-05-30T08:35:52Z", 231),
            ordered("2020-10-03T13:49:44Z", 102),
            ordered("2020-12-26T08:55:46Z", 4)
          ],
          customer_id: eliseAt
        },
        {
          first_purchase_date: date("2020-08-18T23:04:48Z"),
          total_value: 191,
          total_orders: 2,
          orders: [ordered("2020-08-18T23:04:48Z", 4), ordered("2020-11-23T22:56:53Z", 187)],
          customer_id: toniAt
        }
      ]]
    )
  )

  page(
    "unwinding arrays",
    runs(
      numbered([
        {
          order_id: 6363763262239,
          products: [product("abc12345", "Asus Laptop", 431), product("def45678", "Karcher Hose Set", 22)]
        },
        { order_id: 1197372932325, products: [product("abc12345", "Asus Laptop", 429)] },
        {
          order_id: 9812343774839,
          products: [
            product("pqr88223", "Morphy Richards Food Mixer", 431),
            product("def45678", "Karcher Hose Set", 21)
          ]
        },
        {
          order_id: 4433997244387,
          products: [
            product("def45678", "Karcher Hose Set", 23),
            product("jkl77336", "Picky Pencil Sharpener", 1),
            product("xyz11228", "Russell Hobbs Chrome Kettle", 16)
          ]
        }
      ]),
      [[
        { $unwind: { path: "$products" } },
        { $match: { "products.price": { $gt: 15 } } },
        {
          $group: {
            _id: "$products.prod_id",
            product: { $first: "$products.name" },
            total_value: { $sum: "$products.price" },
            quantity: { $sum: 1 }
          }
        },
        { $set: { product_id: "$_id" } },
        { $unset: ["_id"] }
      ], [
        { product: "Asus Laptop", total_value: 860, quantity: 2, product_id: "abc12345" },
        { product: "Morphy Richards Food Mixer", total_value: 431, quantity: 1, product_id: "pqr88223" },
        { product: "Russell Hobbs Chrome Kettle", total_value: 16, quantity: 1, product_id: "xyz11228" },
        { product: "Karcher Hose Set", total_value: 66, quantity: 3, product_id: "def45678" }
      ]]
    )
  )

  page(
    "one-to-one joins",
    joins(
      numbered([
        order(eliseAt, "2020-05-30T08:35:52Z", 431.43, { product_id: "a1b2c3d4" }),
        order(toniAt, "2019-05-28T19:13:32Z", 5.01, { product_id: "z9y8x7w6" }),
        order(oliveAt, "2020-01-01T08:25:37Z", 63.13, { product_id: "ff11gg22hh33" }),
        order(jonesAt, "2020-12-26T08:55:46Z", 429.65, { product_id: "a1b2c3d4" })
      ]),
      {
        products: numbered([
          { p_id: "a1b2c3d4", name: "Asus Laptop", category: "ELECTRONICS" },
          { p_id: "z9y8x7w6", name: "The Day Of The Triffids", category: "BOOKS" },
          { p_id: "ff11gg22hh33", name: "Morphy Richardds Food Mixer", category: "KITCHENWARE" },
          { p_id: "pqr678st", name: "Karcher Hose Set", category: "GARDEN" }
        ])
      },
      [({ products }) => [
        { $match: in2020 },
        { $lookup: { from: products, localField: "product_id", foreignField: "p_id", as: "product_mapping" } },
        { $set: { product_mapping: { $first: "$product_mapping" } } },
        { $set: { product_name: "$product_mapping.name", product_category: "$product_mapping.category" } },
        { $unset: ["_id", "product_id", "product_mapping"] }
      ], [
        order(eliseAt, "2020-05-30T08:35:52Z", 431.43, bought("Asus Laptop", "ELECTRONICS")),
        order(oliveAt, "2020-01-01T08:25:37Z", 63.13, bought("Morphy Richardds Food Mixer", "KITCHENWARE")),
        order(jonesAt, "2020-12-26T08:55:46Z", 429.65, bought("Asus Laptop", "ELECTRONICS"))
      ]]
    )
  )

  const laptop = varied("Asus Laptop", "Standard Display")
  page(
    "multi-field joins",
    joins(
      numbered([
        { name: "Asus Laptop", variation: "Ultra HD", category: "ELECTRONICS" },
        { name: "Asus Laptop", variation: "Standard Display", category: "ELECTRONICS" },
        { name: "The Day Of The Triffids", variation: "1st Edition", category: "BOOKS" },
        { name: "The Day Of The Triffids", variation: "2nd Edition", category: "BOOKS" },
        { name: "Morphy Richards Food Mixer", variation: "Deluxe", category: "KITCHENWARE" }
      ]),
      {
        orders: numbered([
          order(eliseAt, "2020-05-30T08:35:52Z", 431.43, laptop),
          order(toniAt, "2019-05-28T19:13:32Z", 5.01, varied("The Day Of The Triffids", "2nd Edition")),
          order(oliveAt, "2020-01-01T08:25:37Z", 63.13, varied("Morphy Richards Food Mixer", "Deluxe")),
          order(jonesAt, "2020-12-26T08:55:46Z", 429.65, laptop)
        ])
      },
      [({ orders }) => [
        {
          $lookup: {
            from: orders,
            let: { prdname: "$name", prdvartn: "$variation" },
            pipeline: [
              {
                $match: {
                  $expr: {
                    $and: [{ $eq: ["$product_name", "$$prdname"] }, { $eq: ["$product_variation", "$$prdvartn"] }]
                  }
                }
              },
              { $match: in2020 },
              { $unset: ["_id", "product_name", "product_variation"] }
            ],
            as: "orders"
          }
        },
        { $match: { orders: { $ne: [] } } },
        { $unset: ["_id", "description"] }
      ], [
        {
          name: "Asus Laptop",
          variation: "Standard Display",
          category: "ELECTRONICS",
          orders: [
            order(eliseAt, "2020-05-30T08:35:52Z", 431.43),
            order(jonesAt, "2020-12-26T08:55:46Z", 429.65)
          ]
        },
        {
          name: "Morphy Richards Food Mixer",
          variation: "Deluxe",
          category: "KITCHENWARE",
          orders: [order(oliveAt, "2020-01-01T08:25:37Z", 63.13)]
        }
      ]]
    )
  )

  // The page shows the results for more users than it describes.
  page(
    "user preference data",
    runs(
      [
        { _id: "jane", joined: date("2011-03-02"), likes: ["golf", "racquetball"] },
        { _id: "joe", joined: date("2012-07-02"), likes: ["tennis", "golf", "swimming"] }
      ],
      [[{ $project: { name: { $toUpper: "$_id" }, _id: 0 } }, { $sort: { name: 1 } }], [
        { name: "JANE" },
        { name: "JOE" }
      ]],
      [
        [
          { $project: { month_joined: { $month: "$joined" }, name: "$_id", _id: 0 } },
          { $sort: { month_joined: 1 } }
        ],
        [{ month_joined: 3, name: "jane" }, { month_joined: 7, name: "joe" }]
      ],
      [
        [
          { $project: { month_joined: { $month: "$joined" } } },
          { $group: { _id: { month_joined: "$month_joined" }, number: { $sum: 1 } } },
          { $sort: { "_id.month_joined": 1 } }
        ],
        [{ _id: { month_joined: 3 }, number: 1 }, { _id: { month_joined: 7 }, number: 1 }]
      ],
      [
        [
          { $unwind: "$likes" },
          { $group: { _id: "$likes", number: { $sum: 1 } } },
          { $sort: { number: -1 } },
          { $limit: 1 }
        ],
        [{ _id: "golf", number: 2 }]
      ]
    )
  )
}
