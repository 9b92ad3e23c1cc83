import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Document } from "../../../src/DocumentStore.ts"
import type { Tests } from "../collection.ts"
import { date, rejected, runs, stagePagesOf } from "./stagesPage.ts"
import { byDate, cakes, toCurrent, valued, window } from "./stagesWindows.ts"

/** The window's field for the cakes of California, 4, 0 and 2, and of Washington, 5, 3 and 1, by their dates. */
const inStates = (...values: ReadonlyArray<unknown>) =>
  valued(Object.fromEntries([4, 0, 2, 5, 3, 1].map((id, index) => [id, values[index]])))

const byState = (value: Document) => window("$state", byDate, { ...toCurrent, ...value })

const sortedValue = { $set: { value: { $sortArray: { input: "$value", sortBy: 1 } } } }

const sales = (id: number, quantity: number) => ({ id, quantity })
const ofCakes = (...ids: ReadonlyArray<number>) => ids.map((id) => sales(id, cakes[id]?.quantity ?? 0))

const updates = [
  { _id: 1, product: "gadget", date: date("2024-01-01"), specs: { color: "blue" } },
  { _id: 2, product: "gadget", date: date("2024-01-02"), specs: { size: "medium" } },
  { _id: 3, product: "gadget", date: date("2024-01-03"), specs: { weight: 0.5 } },
  { _id: 4, product: "widget", date: date("2024-01-01"), specs: { color: "red" } },
  { _id: 5, product: "widget", date: date("2024-01-02"), specs: { color: "green" } },
  { _id: 6, product: "widget", date: date("2024-01-03"), specs: null }
]

const movies = [
  { _id: 1, year: 2000, genres: ["Mystery", "Thriller"] },
  { _id: 2, year: 2005, genres: ["Action", "Thriller"] },
  { _id: 3, year: 2006 },
  { _id: 4, year: 2008, genres: ["Action", "Crime"] }
]

/** The manual's pages of accumulators, as functions of windows. */
export const windowAccumulatorPages = (it: Tests, differs: Differs) => {
  const page = stagePagesOf(it, differs)
  const one = { output: "$type", sortBy: { quantity: -1 } }
  const several = { output: "$_id", sortBy: { quantity: -1 }, n: 2 }

  page(
    "accumulators of windows",
    runs(
      cakes,
      [byState({ $avg: "$quantity" }), inStates(162, 141, 142.33333333333334, 134, 119, 126)],
      [byState({ $count: {} }), inStates(1, 2, 3, 1, 2, 3)],
      [byState({ $max: "$quantity" }), inStates(162, 162, 162, 134, 134, 140)],
      [byState({ $min: "$quantity" }), inStates(162, 120, 120, 134, 104, 104)],
      [byState({ $sum: "$quantity" }), inStates(162, 282, 427, 134, 238, 378)],
      [byState({ $stdDevPop: "$quantity" }), inStates(0, 21, 17.249798710580816, 0, 15, 15.748015748023622)],
      [
        byState({ $stdDevSamp: "$quantity" }),
        inStates(null, 29.698484809834994, 21.1266025033211, null, 21.213203435596427, 19.28730152198591)
      ],
      [byState({ $first: "$type" }), inStates(...cakes.map(() => "strawberry"))],
      [
        byState({ $last: "$type", window: { documents: ["current", "unbounded"] } }),
        inStates("vanilla", "vanilla", "vanilla", "chocolate", "chocolate", "chocolate")
      ],
      [
        byState({ $firstN: { input: "$type", n: 2 } }),
        inStates(
          ["strawberry"],
          ["strawberry", "chocolate"],
          ["strawberry", "chocolate"],
          ["strawberry"],
          ["strawberry", "vanilla"],
          ["strawberry", "vanilla"]
        )
      ],
      [
        byState({ $lastN: { input: "$quantity", n: 2 } }),
        inStates([162], [162, 120], [120, 145], [134], [134, 104], [104, 140])
      ],
      [
        byState({ $maxN: { input: "$quantity", n: 2 } }),
        inStates([162], [162, 120], [162, 145], [134], [134, 104], [140, 134])
      ],
      [
        byState({ $minN: { input: "$quantity", n: 2 } }),
        inStates([162], [120, 162], [120, 145], [134], [104, 134], [104, 134])
      ],
      [
        byState({ $top: one }),
        inStates("strawberry", "strawberry", "strawberry", "strawberry", "strawberry", "chocolate")
      ],
      [byState({ $bottom: one }), inStates("strawberry", "chocolate", "chocolate", "strawberry", "vanilla", "vanilla")],
      [byState({ $topN: several }), inStates([4], [4, 0], [4, 2], [5], [5, 3], [1, 5])],
      [byState({ $bottomN: several }), inStates([4], [4, 0], [2, 0], [5], [5, 3], [5, 3])],
      [
        byState({ $push: "$quantity" }),
        inStates([162], [162, 120], [162, 120, 145], [134], [134, 104], [134, 104, 140])
      ],
      [
        byState({ $push: { id: "$_id", quantity: "$quantity" } }),
        inStates(ofCakes(4), ofCakes(4, 0), ofCakes(4, 0, 2), ofCakes(5), ofCakes(5, 3), ofCakes(5, 3, 1))
      ],
      [
        [...byState({ $addToSet: "$type" }), sortedValue],
        inStates(
          ["strawberry"],
          ["chocolate", "strawberry"],
          ["chocolate", "strawberry", "vanilla"],
          ["strawberry"],
          ["strawberry", "vanilla"],
          ["chocolate", "strawberry", "vanilla"]
        )
      ]
    )
  )

  const merged = (documents: ReadonlyArray<unknown>) =>
    window("$product", { date: 1 }, { $mergeObjects: "$specs", window: { documents } })

  page(
    "$mergeObjects of windows",
    runs(
      updates,
      [
        merged(["unbounded", "current"]),
        valued({
          1: { color: "blue" },
          2: { color: "blue", size: "medium" },
          3: { color: "blue", size: "medium", weight: 0.5 },
          4: { color: "red" },
          5: { color: "green" },
          6: { color: "green" }
        }),
        "newAccumulators"
      ],
      [
        [{ $setWindowFields: { partitionBy: "$product", output: { value: { $mergeObjects: "$specs" } } } }, {
          $match: { product: "gadget" }
        }, { $project: { value: 1 } }],
        valued(Object.fromEntries([1, 2, 3].map((id) => [id, { color: "blue", size: "medium", weight: 0.5 }]))),
        "newAccumulators"
      ],
      [merged(["current", "unbounded"]), rejected],
      [merged([-1, 0]), rejected]
    )
  )

  const genres = (operator: string, documents: ReadonlyArray<unknown>) =>
    window(null, { year: 1 }, { [operator]: "$genres", window: { documents } })

  page(
    "$concatArrays and $setUnion of windows",
    runs(
      movies,
      [
        genres("$concatArrays", ["unbounded", "current"]),
        valued({
          1: ["Mystery", "Thriller"],
          2: ["Mystery", "Thriller", "Action", "Thriller"],
          3: ["Mystery", "Thriller", "Action", "Thriller"],
          4: ["Mystery", "Thriller", "Action", "Thriller", "Action", "Crime"]
        }),
        "newAccumulators"
      ],
      [
        genres("$concatArrays", [-1, 0]),
        valued({
          1: ["Mystery", "Thriller"],
          2: ["Mystery", "Thriller", "Action", "Thriller"],
          3: ["Action", "Thriller"],
          4: ["Action", "Crime"]
        }),
        "newAccumulators"
      ],
      [
        [...genres("$setUnion", ["unbounded", "current"]), sortedValue],
        valued({
          1: ["Mystery", "Thriller"],
          2: ["Action", "Mystery", "Thriller"],
          3: ["Action", "Mystery", "Thriller"],
          4: ["Action", "Crime", "Mystery", "Thriller"]
        }),
        "newAccumulators"
      ],
      [
        [...genres("$setUnion", [-1, 0]), sortedValue],
        valued({
          1: ["Mystery", "Thriller"],
          2: ["Action", "Mystery", "Thriller"],
          3: ["Action", "Thriller"],
          4: ["Action", "Crime"]
        }),
        "newAccumulators"
      ],
      [window(null, { year: 1 }, { $concatArrays: "$year" }), rejected],
      [window(null, { year: 1 }, { $setUnion: { $ifNull: ["$genres", null] } }), rejected]
    )
  )
}
