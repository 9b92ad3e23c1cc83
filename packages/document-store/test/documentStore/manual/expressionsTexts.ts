import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { type Constant, constants, each, pagesOf, rejected, runs } from "./expressionsPage.ts"

const menu = [
  { _id: 1, item: { sec: "dessert", category: "pie", type: "apple" } },
  { _id: 2, item: { sec: "dessert", category: "pie", type: "cherry" } },
  { _id: 3, item: { sec: "main", category: "pie", type: "shepherd's" } },
  { _id: 4, item: { sec: "main", category: "pie", type: "chicken pot" } },
  { _id: 5, item: { sec: "beverage", type: "coffee" } }
]

const products = [
  { _id: 1, item: "ABC1", description: "product 1" },
  { _id: 2, item: "ABC2", description: "product 2" },
  { _id: 3, item: "XYZ1", description: null }
]

const inventory = [
  { _id: 1, item: "ABC1", quarter: "13Q1", description: "PRODUCT 1" },
  { _id: 2, item: "abc2", quarter: "13Q4", description: "Product 2" },
  { _id: 3, item: "xyz1", quarter: "14Q2", description: null }
]

const names = ["apple", "banana", "éclair", "hamburger", "jalapeño", "pizza", "tacos", "寿司", "寿司sushi"]
const food = names.map((name, index) => ({ _id: index + 1, name }))

const found = ["foo", "fóofoo", "the foo bar", "hello world fóo", null]
const stock = [...found.map((item, index) => ({ _id: index + 1, item })), { _id: 6, amount: 3 }]

const trimmed = [
  { _id: 1, description: " product 1" },
  { _id: 2, description: "product 2 \n The product is in stock.  \n\n  " },
  { _id: 3, description: null }
]

const paints = [
  "blue paint",
  "blue and green paint",
  "blue paint with blue paintbrush",
  "blue paint with green paintbrush"
]
const shop = paints.map((item, index) => ({ _id: index + 1, item }))

/** The manual's pages of string operators. */
export const textPages = (it: Tests, differs: Differs) => {
  const page = pagesOf(it, differs)

  page(
    "$concat",
    each(products, [
      [{ $concat: ["$item", " - ", "$description"] }, ["ABC1 - product 1", "ABC2 - product 2", null]]
    ]),
    each(menu, [
      [{ $concat: ["$item.type", " ", "$item.category"] }, [
        "apple pie",
        "cherry pie",
        "shepherd's pie",
        "chicken pot pie",
        null
      ]],
      [
        {
          $concat: [
            { $ifNull: ["$item.type", "<unknown type>"] },
            " ",
            { $ifNull: ["$item.category", "<unknown category>"] }
          ]
        },
        ["apple pie", "cherry pie", "shepherd's pie", "chicken pot pie", "coffee <unknown category>"]
      ]
    ]),
    runs(menu.slice(0, 4), [[
      [{ $group: { _id: { $concat: ["$item.sec", ": ", "$item.category"] }, count: { $sum: 1 } } }],
      [{ _id: "main: pie", count: 2 }, { _id: "dessert: pie", count: 2 }]
    ]])
  )

  const indexes = (operator: string, place: number): ReadonlyArray<Constant> => [
    [{ [operator]: ["cafeteria", "e"] }, 3],
    [{ [operator]: ["cafétéria", "é"] }, 3],
    [{ [operator]: ["cafétéria", "e"] }, -1],
    [{ [operator]: ["cafétéria", "t"] }, place],
    [{ [operator]: ["foo.bar.fi", ".", 5] }, 7],
    [{ [operator]: ["vanilla", "ll", 0, 2] }, -1],
    [{ [operator]: ["vanilla", "ll", -1] }, rejected],
    [{ [operator]: ["vanilla", "ll", 12] }, -1],
    [{ [operator]: ["vanilla", "ll", 5, 2] }, -1],
    [{ [operator]: ["vanilla", "nilla", 3] }, -1],
    [{ [operator]: [null, "foo"] }, null]
  ]

  // A negative start is an error by the text of both pages; the table of $indexOfBytes has -1.
  page(
    "$indexOfBytes and $indexOfCP",
    constants([...indexes("$indexOfBytes", 5), ...indexes("$indexOfCP", 4)]),
    each(stock, [
      [{ $indexOfBytes: ["$item", "foo"] }, [0, 4, 4, -1, null, null]],
      [{ $indexOfCP: ["$item", "foo"] }, [0, 3, 4, -1, null, null]]
    ])
  )

  const spaced = "  \n good  bye \t  "

  page(
    "$trim, $ltrim and $rtrim",
    constants([
      [{ $trim: { input: spaced } }, "good  bye"],
      [{ $trim: { input: " ggggoodbyeeeee", chars: "ge" } }, " ggggoodby"],
      [{ $trim: { input: "    ggggoodbyeeeee", chars: " ge" } }, "oodby"],
      [{ $ltrim: { input: spaced } }, "good  bye \t  "],
      [{ $ltrim: { input: " ggggoodbyeeeee", chars: "ge" } }, " ggggoodbyeeeee"],
      [{ $ltrim: { input: "    ggggoodbyeeeee ", chars: " gd" } }, "oodbyeeeee "],
      [{ $rtrim: { input: spaced } }, "  \n good  bye"],
      [{ $rtrim: { input: "ggggoodbyeeeee   ", chars: "ge" } }, "ggggoodbyeeeee   "],
      [{ $rtrim: { input: " ggggoodbyeeeee   ", chars: "e " } }, " ggggoodby"]
    ]),
    each(trimmed, [
      [{ $trim: { input: "$description" } }, ["product 1", "product 2 \n The product is in stock.", null]],
      [{ $ltrim: { input: "$description" } }, ["product 1", trimmed[1]?.description, null]],
      [{ $rtrim: { input: "$description" } }, [" product 1", "product 2 \n The product is in stock.", null]]
    ])
  )

  const replacing = (input: unknown, find: unknown, replacement: unknown) => ({ input, find, replacement })

  for (const operator of ["$replaceOne", "$replaceAll"]) {
    page(
      operator,
      constants([
        [{ [operator]: replacing(null, "abc", "ABC") }, null],
        [{ [operator]: replacing("abc", null, "ABC") }, null],
        [{ [operator]: replacing("abc", "abc", null) }, null],
        [{ [operator]: replacing("caf\xe9", "caf\xe9", "CAFE") }, "CAFE"],
        [{ [operator]: replacing("cafe\u0301", "caf\xe9", "CAFE") }, "cafe\u0301"],
        [{ [operator]: replacing("hello world", /xyz/, "abc") }, "hello world", "patternsToReplace"],
        [{ [operator]: replacing("FooBar", /foobar/i, { $literal: "$&" }) }, "$&", "patternsToReplace"],
        [{ [operator]: replacing("", /.*/, "replaced") }, "replaced", "patternsToReplace"],
        [
          { [operator]: replacing("123-456-7890", /(\d{3})/, "xxx") },
          operator === "$replaceAll" ? "xxx-xxx-xxx0" : "xxx-456-7890",
          "patternsToReplace"
        ],
        [{ [operator]: replacing(1, /a/, "b") }, rejected],
        [{ [operator]: replacing("a", /a/, 1) }, rejected],
        [{ [operator]: replacing("a", 1, "b") }, rejected]
      ]),
      each([{ _id: 1, name: "cafe" }, { _id: 2, name: "Cafe" }, { _id: 3, name: "café" }], [
        [{ [operator]: replacing("$name", "Cafe", "CAFE") }, ["cafe", "CAFE", "café"]]
      ]),
      each(shop, [[{ [operator]: replacing("$item", "blue paint", "red paint") }, [
        "red paint",
        "blue and green paint",
        operator === "$replaceAll" ? "red paint with red paintbrush" : "red paint with blue paintbrush",
        "red paint with green paintbrush"
      ]]])
    )
  }

  page(
    "$split",
    constants([
      [{ $split: ["June-15-2013", "-"] }, ["June", "15", "2013"]],
      [{ $split: ["banana split", "a"] }, ["b", "n", "n", " split"]],
      [{ $split: ["Hello World", " "] }, ["Hello", "World"]],
      [{ $split: ["astronomical", "astro"] }, ["", "nomical"]],
      [{ $split: ["pea green boat", "owl"] }, ["pea green boat"]],
      [{ $split: ["headphone jack", 7] }, rejected],
      [{ $split: ["headphone jack", /jack/] }, ["headphone ", ""], "patternsToReplace"],
      [{ $split: ["abc", /^$/] }, ["abc"], "patternsToReplace"],
      [{ $split: ["xyz", /(?:)/] }, ["", "x", "y", "z", ""], "patternsToReplace"],
      [{ $split: ["a123.456b", /([0-9]+)(\.)/] }, ["a", "123", ".", "456b"], "patternsToReplace"],
      [{ $split: ["abacd", /(a)(b)?(c)?/] }, ["", "a", "b", "", "", "a", "", "c", "d"], "patternsToReplace"],
      [{ $split: ["xyz", /((x)*)/] }, ["", "x", "x", "", "", "", "y", "", "", "z", "", "", ""], "patternsToReplace"],
      [{ $split: [null, /abc/] }, null],
      [{ $split: [1, /abc/] }, rejected]
    ]),
    runs([
      { _id: 1, city: "Berkeley, CA", qty: 648 },
      { _id: 2, city: "Bend, OR", qty: 491 },
      { _id: 3, city: "Kensington, CA", qty: 233 },
      { _id: 4, city: "Eugene, OR", qty: 842 },
      { _id: 5, city: "Reno, NV", qty: 655 },
      { _id: 6, city: "Portland, OR", qty: 408 },
      { _id: 7, city: "Sacramento, CA", qty: 574 }
    ], [[
      [
        { $project: { city_state: { $split: ["$city", ", "] }, qty: 1 } },
        { $unwind: "$city_state" },
        { $match: { city_state: /[A-Z]{2}/ } },
        { $group: { _id: { state: "$city_state" }, total_qty: { $sum: "$qty" } } },
        { $sort: { total_qty: -1 } }
      ],
      [
        { _id: { state: "OR" }, total_qty: 1741 },
        { _id: { state: "CA" }, total_qty: 1455 },
        { _id: { state: "NV" }, total_qty: 655 }
      ]
    ]])
  )

  // An older page of $strLenCP has 11 for cafeteria and cafétéria, which have 9 code points; one of $substrCP has "tér" for
  // the four from the fifth on.
  page(
    "$strLenBytes and $strLenCP",
    constants([
      [{ $strLenBytes: "abcde" }, 5],
      [{ $strLenBytes: "Hello World!" }, 12],
      [{ $strLenBytes: "cafeteria" }, 9],
      [{ $strLenBytes: "cafétéria" }, 11],
      [{ $strLenBytes: "" }, 0],
      [{ $strLenBytes: { $literal: "$€λG" } }, 7],
      [{ $strLenBytes: "寿司" }, 6],
      [{ $strLenCP: "abcde" }, 5],
      [{ $strLenCP: "Hello World!" }, 12],
      [{ $strLenCP: "cafeteria" }, 9],
      [{ $strLenCP: "cafétéria" }, 9],
      [{ $strLenCP: "" }, 0],
      [{ $strLenCP: { $literal: "$€λA" } }, 4],
      [{ $strLenCP: "寿司" }, 2]
    ]),
    each(food, [
      [{ $strLenBytes: "$name" }, [5, 6, 7, 9, 9, 5, 5, 6, 11]],
      [{ $strLenCP: "$name" }, [5, 6, 6, 9, 8, 5, 5, 2, 7]]
    ])
  )

  const rest = (substring: string, length: string) => ({
    [substring]: ["$quarter", 2, { $subtract: [{ [length]: "$quarter" }, 2] }]
  })

  page(
    "$substrBytes, $substrCP and $substr",
    constants([
      [{ $substrBytes: ["abcde", 1, 2] }, "bc"],
      [{ $substrBytes: ["Hello World!", 6, 5] }, "World"],
      [{ $substrBytes: ["cafétéria", 0, 5] }, "café"],
      [{ $substrBytes: ["cafétéria", 5, 4] }, "tér"],
      [{ $substrBytes: ["cafétéria", 7, 3] }, rejected],
      [{ $substrBytes: ["cafétéria", 3, 1] }, rejected],
      [{ $substrCP: ["abcde", 1, 2] }, "bc"],
      [{ $substrCP: ["Hello World!", 6, 5] }, "World"],
      [{ $substrCP: ["cafétéria", 0, 5] }, "cafét"],
      [{ $substrCP: ["cafétéria", 5, 4] }, "éria"],
      [{ $substrCP: ["cafétéria", 7, 3] }, "ia"],
      [{ $substrCP: ["cafétéria", 3, 1] }, "é"]
    ]),
    each(inventory, [
      [{ $substrBytes: ["$quarter", 0, 2] }, ["13", "13", "14"]],
      [rest("$substrBytes", "$strLenBytes"), ["Q1", "Q4", "Q2"]],
      [{ $substrCP: ["$quarter", 0, 2] }, ["13", "13", "14"]],
      [rest("$substrCP", "$strLenCP"), ["Q1", "Q4", "Q2"]],
      [{ $substr: ["$quarter", 0, 2] }, ["13", "13", "14"]],
      [{ $substr: ["$quarter", 2, -1] }, ["Q1", "Q4", "Q2"]]
    ]),
    each(food.filter(({ _id }) => _id !== 8), [
      [{ $substrBytes: ["$name", 0, 3] }, ["app", "ban", "éc", "ham", "jal", "piz", "tac", "寿"]],
      [{ $substrCP: ["$name", 0, 3] }, ["app", "ban", "écl", "ham", "jal", "piz", "tac", "寿司s"]]
    ])
  )

  page(
    "$strcasecmp, $toLower and $toUpper",
    each(inventory, [
      [{ $strcasecmp: ["$quarter", "13q4"] }, [-1, 0, 1]],
      [{ $toLower: "$item" }, ["abc1", "abc2", "xyz1"]],
      [{ $toLower: "$description" }, ["product 1", "product 2", ""]],
      [{ $toUpper: "$item" }, ["ABC1", "ABC2", "XYZ1"]],
      [{ $toUpper: "$description" }, ["PRODUCT 1", "PRODUCT 2", ""]]
    ])
  )
}
