import { ObjectId } from "bson"
import type { Differs } from "../../../../../test/support/serverDifferences.ts"
import type { Document } from "../../../src/DocumentStore.ts"
import type { Tests } from "../collection.ts"
import { indexed, joins, rejected, runs, stagePagesOf } from "./stagesPage.ts"

const article = (id: string, author: string, score: number, views: number) => ({
  _id: ObjectId.createFromHexString(id),
  author,
  score,
  views
})
const articles = [
  article("512bc95fe835e68f199c8686", "dave", 80, 100),
  article("512bc962e835e68f199c8687", "dave", 85, 521),
  article("55f5a192d4bede9ac365b257", "ahn", 60, 1000),
  article("55f5a192d4bede9ac365b258", "li", 55, 5000),
  article("55f5a1d3d4bede9ac365b259", "annT", 60, 50),
  article("55f5a1d3d4bede9ac365b25a", "li", 94, 999),
  article("55f5a1d3d4bede9ac365b25b", "ty", 95, 1000)
]

const students = [
  { _id: 1, scores: [0.75, 0.65, 0.73] },
  { _id: 2, scores: [0.9, 0.88, 0.98] },
  { _id: 3, scores: [0.9, 0.84, 0.93] }
]

const restaurant = (_id: number, name: string, borough: string) => ({ _id, name, borough })
const cafe = restaurant(1, "Central Park Cafe", "Manhattan")
const grill = restaurant(2, "Rock A Feller Bar and Grill", "Queens")
const pub = restaurant(3, "Empire State Pub", "Brooklyn")
const pizzeria = restaurant(4, "Stan's Pizzaria", "Manhattan")
const deli = restaurant(5, "Jane's Deli", "Brooklyn")

const shoes = [{ _id: "A", sizes: [7, 11] }, { _id: "B", sizes: [8, 9, 10] }]

const users = [
  { _id: 1, name: "dave123", q1: true, q2: true },
  { _id: 2, name: "dave2", q1: false, q2: false },
  { _id: 3, name: "ahn", q1: true, q2: true },
  { _id: 4, name: "li", q1: true, q2: false },
  { _id: 5, name: "annT", q1: false, q2: true },
  { _id: 6, name: "li", q1: true, q2: true },
  { _id: 7, name: "ty", q1: false, q2: true }
]

const place = (_id: number, name: string, coordinates: ReadonlyArray<number>, category: string, more = {}) => ({
  _id,
  name,
  location: { type: "Point", coordinates },
  category,
  ...more
})
const central = place(1, "Central Park", [-73.97, 40.77], "Parks")
const roosevelt = place(8, "Sara D. Roosevelt Park", [-73.9928, 40.7193], "Parks")
const polo = place(3, "Polo Grounds", [-73.9375, 40.8303], "Stadiums")
const near = { type: "Point", coordinates: [-73.99279, 40.719296] }
/** Rounds a distance: implementations of the sphere differ in the last digits. */
const rounded = (path: string, digits: number) => ({ $set: { [path]: { $round: [`$${path}`, digits] } } })

/** The manual's pages of stages that select and sort documents. */
export const selectionPages = (it: Tests, differs: Differs) => {
  const page = stagePagesOf(it, differs)

  page(
    "$match",
    runs(
      articles,
      [[{ $match: { author: "dave" } }], articles.slice(0, 2)],
      [
        [
          { $match: { $or: [{ score: { $gt: 70, $lt: 90 } }, { views: { $gte: 1000 } }] } },
          { $group: { _id: null, count: { $sum: 1 } } }
        ],
        [{ _id: null, count: 5 }]
      ],
      [[{ $match: { location: { $near: [0, 0] } } }], rejected, "geography"],
      [[{ $skip: 1 }, { $match: { $text: { $search: "dave" } } }], rejected]
    ),
    runs(students, [[{ $match: { scores: { $elemMatch: { $gte: 0.9 } } } }], students.slice(1)])
  )

  page(
    "$sort",
    runs([cafe, grill, pub, pizzeria, deli], [
      [{ $sort: { borough: 1, _id: 1 } }],
      [pub, deli, cafe, pizzeria, grill]
    ]),
    runs(
      shoes,
      [[{ $sort: { sizes: 1 } }], shoes],
      [[{ $sort: { sizes: -1 } }], shoes],
      [[{ $match: { sizes: { $gt: 9 } } }, { $sort: { sizes: 1 } }], shoes]
    ),
    runs(
      [{ _id: 1, age: 20, posts: 5 }, { _id: 2, age: 30, posts: 7 }, { _id: 3, age: 30, posts: 1 }],
      [[{ $sort: { age: -1, posts: 1 } }], [
        { _id: 3, age: 30, posts: 1 },
        { _id: 2, age: 30, posts: 7 },
        { _id: 1, age: 20, posts: 5 }
      ]]
    )
  )

  page(
    "$limit, $skip and $sample",
    runs(
      users,
      [[{ $limit: 5 }], users.slice(0, 5)],
      [[{ $skip: 5 }], users.slice(5)],
      [[{ $limit: 0 }], rejected],
      [[{ $skip: -1 }], rejected],
      [[{ $sample: { size: 3 } }, { $group: { _id: "$_id" } }, { $count: "users" }], [{ users: 3 }]]
    )
  )

  page(
    "$count",
    runs(
      [88, 92, 97, 71, 79, 83].map((score, i) => ({ _id: i + 1, subject: "History", score })),
      [[{ $match: { score: { $gt: 80 } } }, { $count: "passing_scores" }], [{ passing_scores: 4 }]],
      [[{ $match: { score: { $gt: 99 } } }, { $count: "high_scores" }], [], "countOfNothing"],
      ...["", "$high", "high.scores"].map((name) => [[{ $count: name }], rejected] as const)
    )
  )

  const options = { query: { category: "Parks" }, includeLocs: "dist.location", spherical: true }
  const found = (place: Document, calculated: number) => ({
    ...place,
    dist: { calculated, location: place["location"] }
  })
  page(
    "$geoNear",
    indexed(
      { self: [{ name: "sphere", key: { location: "2dsphere" } }] },
      joins(
        [central, roosevelt, polo],
        {},
        [
          [
            { $geoNear: { near, distanceField: "dist.calculated", maxDistance: 2, ...options } },
            rounded("dist.calculated", 6)
          ],
          [found(roosevelt, 0.953993)],
          "geography"
        ],
        [
          [
            { $geoNear: { near, distanceField: "dist.calculated", minDistance: 2, ...options } },
            { $project: { name: 1 } }
          ],
          [{ _id: 1, name: "Central Park" }],
          "geography"
        ]
      )
    ),
    indexed(
      { self: [{ name: "sphere", key: { location: "2dsphere" } }, { name: "plane", key: { legacy: "2d" } }] },
      runs([{ ...central, legacy: [-73.97, 40.77] }, roosevelt, { ...polo, legacy: [-73.9375, 40.8303] }], [
        [
          {
            $geoNear: {
              near: { type: "Point", coordinates: [-73.98142, 40.71782] },
              key: "location",
              distanceField: "dist.calculated",
              query: { category: "Parks" }
            }
          },
          { $limit: 5 },
          rounded("dist.calculated", 6)
        ],
        [
          { ...roosevelt, dist: { calculated: 974.175765 } },
          { ...central, legacy: [-73.97, 40.77], dist: { calculated: 5887.92793 } }
        ],
        "geography"
      ])
    )
  )
}
