import { assert } from "@effect/vitest"
import { Binary, Double } from "bson"
import { Effect } from "effect"
import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Document } from "../../../src/DocumentStore.ts"
import { collectionOf, idsOf, type Tests } from "../collection.ts"
import { findPagesOf, projectionPagesOf, rejected } from "./queriesPage.ts"

const part = (size: string, num: number, color: string) => ({ size, num, color })
const inventory = [
  {
    _id: 1,
    code: "xyz",
    tags: ["school", "book", "bag", "headphone", "appliance"],
    qty: [part("S", 10, "blue"), part("M", 45, "blue"), part("L", 100, "green")]
  },
  {
    _id: 2,
    code: "abc",
    tags: ["appliance", "school", "book"],
    qty: [part("6", 100, "green"), part("6", 50, "blue"), part("8", 100, "brown")]
  },
  {
    _id: 3,
    code: "efg",
    tags: ["school", "book"],
    qty: [part("S", 10, "blue"), part("M", 100, "blue"), part("L", 100, "green")]
  },
  { _id: 4, code: "ijk", tags: ["electronics", "school"], qty: [part("M", 100, "green")] }
]

const survey = [
  { _id: 1, results: [{ product: "abc", score: 10 }, { product: "xyz", score: 5 }] },
  { _id: 2, results: [{ product: "abc", score: 8 }, { product: "xyz", score: 7 }] },
  { _id: 3, results: [{ product: "abc", score: 7 }, { product: "xyz", score: 8 }] },
  { _id: 4, results: [{ product: "abc", score: 7 }, { product: "def", score: 8 }] }
]

const bytes = (base64: string) => Binary.createFromBase64(base64)
const bits = [
  { _id: 1, a: 54, binaryValueofA: "00110110" },
  { _id: 2, a: 20, binaryValueofA: "00010100" },
  { _id: 3, a: new Double(20), binaryValueofA: "00010100" },
  { _id: 4, a: bytes("Zg=="), binaryValueofA: "01100110" }
]

const student = (name: string, school: number, age: number) => ({ name, school, age })
const [john, jess, jeff] = [student("john", 102, 10), student("jess", 102, 11), student("jeff", 108, 15)] as const
const [barney, ruth] = [student("barney", 102, 7), student("ruth", 102, 16)] as const
const pair = [student("ajax", 100, 7), student("achilles", 100, 8)]
const schools = [
  { _id: 1, zipcode: "63109", students: [john, jess, jeff] },
  { _id: 2, zipcode: "63110", students: pair, athletics: ["swimming", "basketball", "football"] },
  { _id: 3, zipcode: "63109", students: pair, athletics: ["baseball", "basketball", "soccer"] },
  { _id: 4, zipcode: "63109", students: [barney, ruth] }
]

const graded = (grade: number, mean: number, std: number) => ({ grade, mean, std })
const grades = [
  { _id: 1, semester: 1, grades: [70, 87, 90] },
  { _id: 2, semester: 1, grades: [90, 88, 92] },
  { _id: 3, semester: 1, grades: [85, 100, 90] },
  { _id: 4, semester: 2, grades: [79, 85, 80] },
  { _id: 5, semester: 2, grades: [88, 88, 92] },
  { _id: 6, semester: 2, grades: [95, 90, 96] },
  { _id: 7, semester: 3, grades: [graded(80, 75, 8), graded(85, 90, 5), graded(90, 85, 3)] },
  { _id: 8, semester: 3, grades: [graded(92, 88, 8), graded(78, 90, 5), graded(88, 85, 3)] }
]

const commentsOf = (...comments: ReadonlyArray<string>) => comments.map((comment) => ({ comment }))
const bagels = commentsOf("0. true", "1. croissants aren't bagels.")
const coffee = commentsOf("0. fooey", "1. tea please", "2. iced coffee", "3. cappuccino", "4. whatever")
const posts = (first: ReadonlyArray<Document>, second: ReadonlyArray<Document>) => [
  { _id: 1, title: "Bagels are not croissants.", comments: first },
  { _id: 2, title: "Coffee please.", comments: second }
]

const triangle = { type: "Polygon", coordinates: [[[0, 0], [3, 6], [6, 1], [0, 0]]] }
const bigPolygon = {
  type: "Polygon",
  coordinates: [[[-100, 60], [-100, 0], [-100, -60], [100, -60], [100, 60], [-100, 60]]],
  crs: { type: "name", properties: { name: "urn:x-mongodb:crs:strictwinding:EPSG:4326" } }
}
const point = (...coordinates: ReadonlyArray<number>) => ({ type: "Point", coordinates })

/** The manual's pages of query operators of lists, bits and places, and of projections. */
export const listQueryPages = (it: Tests, differs: Differs) => {
  const page = findPagesOf(it, differs)
  const projections = projectionPagesOf(it, differs)

  page(
    "$all",
    inventory,
    [{ tags: { $all: ["appliance", "school", "book"] } }, [1, 2]],
    [
      {
        qty: { $all: [{ $elemMatch: { size: "M", num: { $gt: 50 } } }, { $elemMatch: { num: 100, color: "green" } }] }
      },
      [
        3,
        4
      ]
    ],
    [{ "qty.num": { $all: [50] } }, [2]],
    [{ "qty.num": 50 }, [2]],
    [{ tags: { $all: [] } }, []]
  )

  page(
    "$all of lists",
    [
      { _id: 1, tags: [["ssl", "security"], "web"] },
      { _id: 2, tags: ["ssl", "security"] },
      { _id: 3, tags: ["security", "ssl"] }
    ],
    [{ tags: { $all: ["ssl", "security"] } }, [2, 3]],
    [{ $and: [{ tags: "ssl" }, { tags: "security" }] }, [2, 3]],
    [{ tags: { $all: [["ssl", "security"]] } }, [1, 2], "itemsOfAll"],
    [{ $and: [{ tags: ["ssl", "security"] }] }, [1, 2]],
    [{ tags: ["ssl", "security"] }, [1, 2]]
  )

  page(
    "$elemMatch",
    survey,
    [{ results: { $elemMatch: { product: "xyz", score: { $gte: 8 } } } }, [3]],
    [{ results: { $elemMatch: { product: "xyz" } } }, [1, 2, 3]],
    [{ "results.product": "xyz" }, [1, 2, 3]],
    [{ results: { $elemMatch: { product: { $ne: "xyz" } } } }, [1, 2, 3, 4]],
    [{ "results.product": { $ne: "xyz" } }, [4]]
  )
  page("$elemMatch of values", [{ _id: 1, results: [82, 85, 88] }, { _id: 2, results: [75, 88, 89] }], [
    { results: { $elemMatch: { $gte: 80, $lt: 85 } } },
    [1]
  ])

  page(
    "$size",
    [
      { _id: 1, field: ["red", "green"] },
      { _id: 2, field: ["apple", "lime"] },
      { _id: 3, field: "fruit" },
      { _id: 4, field: ["orange", "lemon", "grapefruit"] },
      { _id: 5, field: ["one"] }
    ],
    [{ field: { $size: 2 } }, [1, 2]],
    [{ field: { $size: 1 } }, [5]],
    [{ field: { $size: { $gt: 1 } } }, rejected]
  )

  page(
    "$bitsAllSet, $bitsAnySet, $bitsAllClear and $bitsAnyClear",
    bits,
    [{ a: { $bitsAllSet: [1, 5] } }, [1, 4]],
    [{ a: { $bitsAllSet: 50 } }, [1]],
    [{ a: { $bitsAllSet: bytes("MA==") } }, [1]],
    [{ a: { $bitsAnySet: [1, 5] } }, [1, 4]],
    [{ a: { $bitsAnySet: 35 } }, [1, 4]],
    [{ a: { $bitsAnySet: bytes("MA==") } }, [1, 2, 3, 4]],
    [{ a: { $bitsAllClear: [1, 5] } }, [2, 3]],
    [{ a: { $bitsAllClear: 35 } }, [2, 3]],
    [{ a: { $bitsAllClear: bytes("IA==") } }, [2, 3]],
    [{ a: { $bitsAnyClear: [1, 5] } }, [2, 3]],
    [{ a: { $bitsAnyClear: 35 } }, [1, 2, 3, 4]],
    [{ a: { $bitsAnyClear: bytes("MA==") } }, [2, 3, 4]],
    [{ a: { $bitsAllSet: -1 } }, rejected]
  )

  page(
    "$box, $center and $polygon",
    [{ _id: 1, loc: [1, 1] }, { _id: 2, loc: [3, 5] }, { _id: 3, loc: [50, 50] }, { _id: 4, loc: [99, 120] }, {
      _id: 5,
      loc: [-70, 44]
    }],
    [{ loc: { $geoWithin: { $box: [[0, 0], [100, 100]] } } }, [1, 2, 3]],
    [{ loc: { $geoWithin: { $polygon: [[0, 0], [3, 6], [6, 0]] } } }, [1, 2]],
    [{ loc: { $geoWithin: { $center: [[-74, 40.74], 10] } } }, [5]]
  )

  if (!differs("geography")) {
    page(
      "$geoWithin, $geoIntersects and $centerSphere",
      [
        { _id: 1, loc: point(2, 2), category: "park" },
        { _id: 2, loc: point(20, 20), category: "restaurant" },
        { _id: 3, loc: { type: "LineString", coordinates: [[2, 2], [2, 20]] } },
        { _id: 4, loc: point(-88.1, 30) },
        { _id: 5, loc: point(-88.3, 30) },
        { _id: 6, loc: point(40, 5) }
      ],
      [{ loc: { $geoWithin: { $geometry: triangle } } }, [1]],
      [{ loc: { $geoIntersects: { $geometry: triangle } } }, [1, 3]],
      [{ loc: { $geoWithin: { $centerSphere: [[-88, 30], 10 / 3959] } } }, [4]],
      [{
        $or: [
          {
            loc: {
              $geoIntersects: { $geometry: { type: "Polygon", coordinates: [[[39, 4], [41, 4], [41, 6], [39, 4]]] } }
            }
          },
          { category: "restaurant" }
        ]
      }, [2, 6]],
      [{ $or: [{ loc: { $near: [40, 5] } }, { category: "restaurant" }] }, rejected]
    )

    it.effect("finds as the manual's examples of $near and $nearSphere", () =>
      Effect.gen(function*() {
        const places = [[-73.9667, 40.785], [-73.9667, 40.8], [-73.9667, 40.79], [-73.9667, 40.83], [
          -60,
          40.78
        ]] as const
        const { find, name, store } = yield* collectionOf(
          places.map(([x, y], _id) => ({ _id, location: point(x, y), pair: [x, y] }))
        )
        yield* store.createIndexes(name, [{ name: "location", key: { location: "2dsphere" } }, {
          name: "pair",
          key: { pair: "2dsphere" }
        }])
        const center = { $geometry: point(-73.9667, 40.78), $minDistance: 1000, $maxDistance: 5000 }
        const found = (filter: Document) => Effect.map(find({ filter }), idsOf)
        assert.deepStrictEqual(yield* found({ location: { $near: center } }), [2, 1])
        assert.deepStrictEqual(yield* found({ location: { $nearSphere: center } }), [2, 1])
        const pair = [-73.9667, 40.78]
        assert.deepStrictEqual(yield* found({ pair: { $nearSphere: pair, $maxDistance: 0.1 } }), [0, 2, 1, 3])
        assert.deepStrictEqual(yield* found({ pair: { $nearSphere: pair, $minDistance: 0.0004 } }), [3, 4])
        for (const operator of ["$geoWithin", "$geoIntersects"]) {
          const error = yield* Effect.flip(find({ filter: { location: { [operator]: { $geometry: bigPolygon } } } }))
          assert.strictEqual(error._tag, "Unsupported")
        }
      }))
  }

  projections(
    "$elemMatch",
    schools,
    [{ zipcode: "63109" }, { students: { $elemMatch: { school: 102 } } }, [
      { _id: 1, students: [john] },
      { _id: 3 },
      { _id: 4, students: [barney] }
    ]],
    [{ zipcode: "63109" }, { students: { $elemMatch: { school: 102, age: { $gt: 10 } } } }, [
      { _id: 1, students: [jess] },
      { _id: 3 },
      { _id: 4, students: [ruth] }
    ]],
    [{ zipcode: "63109" }, { athletics: { $elemMatch: { athletics: "basketball" } } }, [{ _id: 1 }, { _id: 3 }, {
      _id: 4
    }]],
    [{ zipcode: "63109" }, { athletics: { $elemMatch: { $eq: "basketball" } } }, [
      { _id: 1 },
      { _id: 3, athletics: ["basketball"] },
      { _id: 4 }
    ]]
  )

  projections(
    "$",
    grades,
    [{ semester: 1, grades: { $gte: 85 } }, { "grades.$": 1 }, [
      { _id: 1, grades: [87] },
      { _id: 2, grades: [90] },
      { _id: 3, grades: [85] }
    ]],
    [{ "grades.mean": { $gt: 70 } }, { "grades.$": 1 }, [
      { _id: 7, grades: [graded(80, 75, 8)] },
      { _id: 8, grades: [graded(92, 88, 8)] }
    ]],
    [{ grades: { $elemMatch: { mean: { $gt: 70 }, grade: { $gt: 90 } } } }, { "grades.$": 1 }, [
      { _id: 8, grades: [graded(92, 88, 8)] }
    ]],
    [{ grades: 85, semester: 1 }, { "grades.$": 1, "semester.$": 1 }, rejected, "positionalProjections"],
    [{ grades: 85, semester: 1 }, { "grades.$": { $slice: 1 } }, rejected, "positionalProjections"],
    [{ grades: 85, semester: 1 }, { "grades.$": 1, semester: 0 }, rejected, "positionalProjections"]
  )

  projections(
    "$slice",
    posts(bagels, coffee),
    [{}, { comments: { $slice: 3 } }, posts(bagels, coffee.slice(0, 3))],
    [{}, { comments: { $slice: -3 } }, posts(bagels, coffee.slice(2))],
    [{}, { comments: { $slice: [1, 3] } }, posts(bagels.slice(1), coffee.slice(1, 4))],
    [{}, { comments: { $slice: [-1, 3] } }, posts(bagels.slice(1), coffee.slice(4))],
    // The start of a list is as far as a place from its end goes.
    [{}, { comments: { $slice: [-9, 1] } }, posts(bagels.slice(0, 1), coffee.slice(0, 1))],
    [{ _id: 1 }, { comments: { $slice: [9, 1] } }, posts([], coffee).slice(0, 1)],
    [{ _id: 1 }, { comments: { $slice: [0, -1] } }, rejected]
  )
}
