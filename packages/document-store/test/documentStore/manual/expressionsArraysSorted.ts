import { Decimal128 } from "bson"
import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { constants, each, pagesOf, rejected } from "./expressionsPage.ts"

const pat = { name: "pat", age: 30, address: { street: "12 Baker St", city: "London" } }
const dallas = { name: "dallas", age: 36, address: { street: "12 Cowper St", city: "Palo Alto" } }
const charlie = { name: "charlie", age: 42, address: { street: "12 French St", city: "New Brunswick" } }

/** The manual's pages of array operators: those that measure, cut and reorder lists. */
export const arrayOrderPages = (it: Tests, differs: Differs) => {
  const page = pagesOf(it, differs)

  page(
    "$reverseArray",
    constants([
      [{ $reverseArray: { $literal: [1, 2, 3] } }, [3, 2, 1]],
      [{ $reverseArray: { $slice: [["foo", "bar", "baz", "qux"], 1, 2] } }, ["baz", "bar"]],
      [{ $reverseArray: null }, null],
      [{ $reverseArray: { $literal: [] } }, []],
      [{ $reverseArray: { $literal: [[1, 2, 3], [4, 5, 6]] } }, [[4, 5, 6], [1, 2, 3]]]
    ]),
    each([
      { _id: 1, favorites: ["chocolate", "cake", "butter", "apples"] },
      { _id: 2, favorites: ["apples", "pudding", "pie"] },
      { _id: 3, favorites: [] },
      { _id: 4 }
    ], [
      [
        { $reverseArray: "$favorites" },
        [["apples", "butter", "cake", "chocolate"], ["pie", "pudding", "apples"], [], null]
      ]
    ])
  )

  page(
    "$size",
    each([
      { _id: 1, colors: ["blue", "black", "red"] },
      { _id: 2, colors: ["purple"] },
      { _id: 3, colors: [] },
      { _id: 4 },
      { _id: 5, colors: "blue,red" }
    ], [
      [{ $cond: { if: { $isArray: "$colors" }, then: { $size: "$colors" }, else: "NA" } }, [3, 1, 0, "NA", "NA"]],
      [{ $size: "$colors" }, rejected]
    ])
  )

  page(
    "$slice",
    constants([
      [{ $slice: [[1, 2, 3], 1, 1] }, [2]],
      [{ $slice: [[1, 2, 3], -2] }, [2, 3]],
      [{ $slice: [[1, 2, 3], 15, 2] }, []],
      [{ $slice: [[1, 2, 3], -15, 2] }, [1, 2]]
    ]),
    each([
      { _id: 1, favorites: ["chocolate", "cake", "butter", "apples"] },
      { _id: 2, favorites: ["apples", "pudding", "pie"] },
      { _id: 3, favorites: ["pears", "pecans", "chocolate", "cherries"] },
      { _id: 4, favorites: ["ice cream"] }
    ], [
      [{ $slice: ["$favorites", 3] }, [
        ["chocolate", "cake", "butter"],
        ["apples", "pudding", "pie"],
        ["pears", "pecans", "chocolate"],
        ["ice cream"]
      ]]
    ])
  )

  const decimal = Decimal128.fromString("10.23")
  const sale = { a: { sale: true, price: 19 } }

  page(
    "$sortArray",
    each([{ _id: 1, team: [pat, dallas, charlie] }], [
      [{ $sortArray: { input: "$team", sortBy: { name: 1 } } }, [[charlie, dallas, pat]]],
      [{ $sortArray: { input: "$team", sortBy: { "address.city": -1 } } }, [[dallas, charlie, pat]]],
      [{ $sortArray: { input: "$team", sortBy: { age: -1, name: 1 } } }, [[charlie, dallas, pat]]],
      [{ $sortArray: { input: [1, 4, 1, 6, 12, 5], sortBy: 1 } }, [[1, 1, 4, 5, 6, 12]]],
      [
        {
          $sortArray: {
            input: [20, 4, { a: "Free" }, 6, 21, 5, "Gratis", { a: null }, sale, decimal, { a: "On sale" }],
            sortBy: 1
          }
        },
        [[4, 5, 6, decimal, 20, 21, "Gratis", { a: null }, { a: "Free" }, { a: "On sale" }, sale]],
        "mixedSorts"
      ],
      [{ $sortArray: { input: "$none", sortBy: 1 } }, [null]],
      [{ $sortArray: { input: null, sortBy: 1 } }, [null]],
      [{ $sortArray: { input: "text", sortBy: 1 } }, rejected]
    ])
  )

  const cast = ["Marlon Brando", "Al Pacino", "James Caan", "Richard S. Castellano"]
  const pairs = [{ a: 1, b: 1 }, { a: 2, b: 2 }, { a: 2, b: 1 }]
  const numbers = [8, 3, 1, 10]
  const mixed = [0, "a", [1, "b"], { c: 2 }, 0.5]

  page(
    "$top, $topN, $bottom and $bottomN of lists",
    each([{ _id: 1, cast }], [
      [{ $top: { sortBy: 1, input: "$cast" } }, ["Al Pacino"], "newOperators"],
      [{ $bottom: { sortBy: 1, input: "$cast" } }, ["Richard S. Castellano"], "newOperators"],
      [{ $topN: { n: 3, sortBy: 1, input: "$cast" } }, [["Al Pacino", "James Caan", "Marlon Brando"]], "newOperators"],
      [
        { $bottomN: { n: 3, sortBy: 1, input: "$cast" } },
        [["James Caan", "Marlon Brando", "Richard S. Castellano"]],
        "newOperators"
      ]
    ]),
    constants([
      [{ $topN: { n: 4, sortBy: 1, input: numbers } }, [1, 3, 8, 10], "newOperators"],
      [{ $bottomN: { n: 9, sortBy: -1, input: numbers } }, [10, 8, 3, 1], "newOperators"],
      [{ $topN: { n: { $add: [1, 1] }, sortBy: { a: 1, b: 1 }, input: pairs } }, [
        { a: 1, b: 1 },
        { a: 2, b: 1 }
      ], "newOperators"],
      [{ $bottomN: { n: 2, sortBy: { a: 1, b: -1 }, input: pairs } }, [
        { a: 2, b: 2 },
        { a: 2, b: 1 }
      ], "newOperators"],
      [{ $bottomN: { n: 2, input: mixed } }, [{ c: 2 }, [1, "b"]], "newOperators"],
      [{ $bottomN: { n: 2, sortBy: -1, input: mixed } }, [0.5, 0], "newOperators"],
      [{ $top: { sortBy: -1, input: mixed } }, [1, "b"], "newOperators"],
      [{ $top: { input: [] } }, null, "newOperators"],
      [{ $bottomN: { n: 0, input: numbers } }, [], "newOperators"],
      [{ $topN: { n: 2, sortBy: 1, input: "one" } }, rejected],
      [{ $topN: { n: -1, sortBy: 1, input: numbers } }, rejected],
      [{ $topN: { n: 1.5, sortBy: 1, input: numbers } }, rejected],
      [{ $topN: { n: 2, sortBy: "a", input: numbers } }, rejected],
      [{ $topN: { sortBy: 1, input: numbers } }, rejected],
      [{ $topN: { n: 2, sortBy: 1 } }, rejected],
      [{ $top: { n: 1, sortBy: 1, input: numbers } }, rejected],
      [{ $top: 0 }, rejected]
    ])
  )

  const elementOf = (place: number) => ({ $arrayElemAt: ["$matrix", place] })
  const [awk, grep] = [{ title: "awk for beginners", reviews: 5 }, { title: "grep made simple", reviews: 2 }]

  page(
    "$zip",
    constants([
      [{ $zip: { inputs: [["a"], ["b"], ["c"]] } }, [["a", "b", "c"]]],
      [{ $zip: { inputs: [["a"], ["b", "c"]] } }, [["a", "b"]]],
      [{ $zip: { inputs: [[1], [2, 3]], useLongestLength: true } }, [[1, 2], [null, 3]]],
      [{ $zip: { inputs: [[1], [2, 3], [4]], useLongestLength: true, defaults: ["a", "b", "c"] } }, [
        [1, 2, 4],
        ["a", 3, "c"]
      ]]
    ]),
    each([{ _id: 1, matrix: [[1, 2], [2, 3], [3, 4]] }, { _id: 2, matrix: [[8, 7], [7, 6], [5, 4]] }], [
      [{ $zip: { inputs: [elementOf(0), elementOf(1), elementOf(2)] } }, [
        [[1, 2, 3], [2, 3, 4]],
        [[8, 7, 5], [7, 6, 4]]
      ]]
    ]),
    each([{ _id: 1, pages: [awk, { title: "sed for newbies", reviews: 0 }, grep] }], [[
      {
        $filter: {
          input: { $zip: { inputs: ["$pages", { $range: [0, { $size: "$pages" }] }] } },
          as: "pageWithIndex",
          cond: {
            $let: { vars: { page: { $arrayElemAt: ["$$pageWithIndex", 0] } }, in: { $gte: ["$$page.reviews", 1] } }
          }
        }
      },
      [[[awk, 0], [grep, 2]]]
    ]])
  )
}
