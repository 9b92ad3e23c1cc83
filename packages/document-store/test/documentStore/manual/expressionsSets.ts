import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Tests } from "../collection.ts"
import { constants, each, missing, pagesOf, rejected, runs } from "./expressionsPage.ts"

const responses = [[true], [true, false], [], [1, true, "seven"], [0], [[]], [[0]], [[false]], [null], [undefined]]
const survey = responses.map((list, index) => ({ _id: index + 1, responses: list }))

const two = ["rose", "orchid"]
const flowers = [
  [two, two],
  [two, ["orchid", "rose", "orchid"]],
  [two, ["rose", "orchid", "jasmine"]],
  [two, ["jasmine", "rose"]],
  [two, []],
  [two, [["rose"], ["orchid"]]],
  [two, [["rose", "orchid"]]],
  [[], []],
  [[], ["rose"]]
].map(([A, B], index) => ({ _id: index + 1, A, B }))

const sorted = (set: unknown) => ({ $sortArray: { input: set, sortBy: 1 } })

/** The manual's pages of set operators and of variables. */
export const setPages = (it: Tests, differs: Differs) => {
  const page = pagesOf(it, differs)

  page(
    "$allElementsTrue",
    constants([
      [{ $allElementsTrue: [[true, 1, "someString"]] }, true],
      [{ $allElementsTrue: [[[false]]] }, true],
      [{ $allElementsTrue: [[]] }, true],
      [{ $allElementsTrue: [[null, false, 0]] }, false]
    ]),
    each(survey, [
      [{ $allElementsTrue: ["$responses"] }, [true, false, true, true, false, true, true, true, false, false]]
    ])
  )

  page(
    "$anyElementTrue",
    constants([
      [{ $anyElementTrue: [[true, false]] }, true],
      [{ $anyElementTrue: [[[false]]] }, true],
      [{ $anyElementTrue: [[null, false, 0]] }, false],
      [{ $anyElementTrue: [[]] }, false]
    ]),
    each(survey, [
      [{ $anyElementTrue: ["$responses"] }, [true, true, false, true, false, true, true, true, false, false]],
      ["$responses", [...responses.slice(0, 9), [null]]]
    ])
  )

  page(
    "$setDifference",
    constants([
      [{ $setDifference: [["a", "b", "a"], ["b", "a"]] }, []],
      [sorted({ $setDifference: [["a", "b"], [["a", "b"]]] }), ["a", "b"]]
    ]),
    each(flowers, [[{ $setDifference: ["$B", "$A"] }, [
      [],
      [],
      ["jasmine"],
      ["jasmine"],
      [],
      [["rose"], ["orchid"]],
      [["rose", "orchid"]],
      [],
      ["rose"]
    ]]])
  )

  page(
    "$setEquals",
    constants([
      [{ $setEquals: [["a", "b", "a"], ["b", "a"]] }, true],
      [{ $setEquals: [["a", "b"], [["a", "b"]]] }, false]
    ]),
    each(flowers, [[{ $setEquals: ["$A", "$B"] }, [true, true, false, false, false, false, false, true, false]]])
  )

  page(
    "$setIntersection",
    constants([
      [sorted({ $setIntersection: [["a", "b", "a"], ["b", "a"]] }), ["a", "b"]],
      [{ $setIntersection: [["a", "b"], [["a", "b"]]] }, []]
    ]),
    each(flowers, [[
      sorted({ $setIntersection: ["$A", "$B"] }),
      [["orchid", "rose"], ["orchid", "rose"], ["orchid", "rose"], ["rose"], [], [], [], [], []]
    ]])
  )

  page(
    "$setIsSubset",
    constants([
      [{ $setIsSubset: [["a", "c"], ["a", "b"]] }, false],
      [{ $setIsSubset: [["a", "c"], ["a", "b", "c"]] }, true],
      [{ $setIsSubset: [["a", "b", "a"], ["b", "a"]] }, true],
      [{ $setIsSubset: [["a", "b"], [["a", "b"]]] }, false],
      [{ $setIsSubset: [[], ["a", "b"]] }, true],
      [{ $setIsSubset: [["a", "a"], ["a", "b"]] }, true]
    ]),
    each(flowers, [[{ $setIsSubset: ["$A", "$B"] }, [true, true, true, false, false, false, false, true, true]]])
  )

  const both = ["orchid", "rose"]

  page(
    "$setUnion",
    constants([
      [sorted({ $setUnion: [["a", "b", "a"], ["b", "a"]] }), ["a", "b"]],
      [sorted({ $setUnion: [["a", "b"], [["a", "b"]]] }), ["a", "b", ["a", "b"]], "mixedSorts"]
    ]),
    each(flowers.filter(({ _id }) => _id !== 6 && _id !== 7), [[
      sorted({ $setUnion: ["$A", "$B"] }),
      [both, both, ["jasmine", "orchid", "rose"], ["jasmine", "orchid", "rose"], both, [], ["rose"]]
    ]]),
    each(flowers.filter(({ _id }) => _id === 6 || _id === 7), [[
      sorted({ $setUnion: ["$A", "$B"] }),
      [["orchid", "rose", ["orchid"], ["rose"]], ["orchid", "rose", ["rose", "orchid"]]],
      "mixedSorts"
    ]])
  )

  page(
    "$let",
    each([
      { _id: 1, price: 10, tax: 0.5, applyDiscount: true },
      { _id: 2, price: 10, tax: 0.25, applyDiscount: false }
    ], [
      [
        {
          $let: {
            vars: {
              total: { $add: ["$price", "$tax"] },
              discounted: { $cond: { if: "$applyDiscount", then: 0.9, else: 1 } }
            },
            in: { $multiply: ["$$total", "$$discounted"] }
          }
        },
        [9.450000000000001, 10.25]
      ],
      [{ $let: { vars: { low: 1, high: "$$low" }, in: { $gt: ["$$low", "$$high"] } } }, rejected]
    ])
  )

  const items = [{ _id: 1, a: { b: 2, d: 4 }, b: 5 }, { _id: 2, a: { d: 1 }, b: 6 }, { _id: 3, b: 7 }]
  const within = (CURRENT: unknown, expression: unknown) => ({ $let: { vars: { CURRENT }, in: expression } })

  page(
    "the variables in aggregation expressions",
    each(items, [
      ["$$ROOT", items],
      ["$$CURRENT", items],
      [{ $ifNull: ["$$ROOT.a.d", 0] }, [4, 1, 0]],
      ["$$CURRENT.b", [5, 6, 7]],
      [{ $ifNull: ["$$REMOVE", "none"] }, ["none", "none", "none"]],
      [{ $cond: [{ $gt: ["$b", 5] }, "$b", "$$REMOVE"] }, [missing, 6, 7]],
      [{ $eq: ["$$NOW", "$$NOW"] }, [true, true, true]],
      [{ $type: "$$NOW" }, ["date", "date", "date"]],
      [{ $let: { vars: { änderung1: 1 }, in: { $add: ["$$änderung1", "$b"] } } }, [6, 7, 8]],
      [{ $let: { vars: { Upper: 1 }, in: "$$Upper" } }, rejected, "variableNames"],
      [{ $let: { vars: { _low: 1 }, in: "$$_low" } }, rejected, "variableNames"],
      [{ $let: { vars: { ROOT: 1 }, in: "$$ROOT" } }, rejected, "variableNames"],
      [{ $let: { vars: { "a-b": 1 }, in: 1 } }, rejected, "variableNames"],
      ["$$unknown", rejected]
    ]),
    // $<field> is $$CURRENT.<field>, so a $let that binds CURRENT changes what a path means.
    each(items, [
      [within("$a", "$b"), [2, missing, missing], "boundCurrent"],
      [within("$a", ["$d", "$$CURRENT.d", "$$ROOT.b"]), [[4, 4, 5], [1, 1, 6], [null, null, 7]], "boundCurrent"],
      [within({ b: { d: "$b" } }, "$b.d"), [5, 6, 7], "boundCurrent"],
      [{ $add: [within("$a", { $ifNull: ["$b", 0] }), "$b"] }, [7, 6, 7], "boundCurrent"],
      [within("$a", { $getField: "d" }), [4, 1, missing], "boundCurrent"],
      [{ $map: { input: ["$a", "$$ROOT"], as: "CURRENT", in: "$b" } }, [[2, 5], [null, 6], [null, 7]], "boundCurrent"]
    ]),
    runs(items, [[
      [{ $set: { at: "$$NOW" } }, { $set: { isSame: { $eq: ["$at", "$$NOW"] } } }, { $project: { isSame: 1 } }],
      [1, 2, 3].map((_id) => ({ _id, isSame: true }))
    ]])
  )
}
