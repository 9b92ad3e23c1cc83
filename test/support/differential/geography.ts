/** Generated locations of the field `g`, and queries for them. */
import { Arbitrary } from "effect"
import type { Document } from "../../../packages/document-store/src/DocumentStore.ts"
import { either, oneOf, type Some } from "../choices.ts"
import { listOf, record, weighted } from "./values.ts"

const degrees: Some<number> = oneOf(0, 1, 2, 3, 5, 10, -1, -2, 0.5, 60, -75)

const meridians: Some<number> = weighted([9, degrees], [1, oneOf(179.5, -179.5, 180, -180)])

const pairs: Some<ReadonlyArray<number>> = Arbitrary.all([meridians, degrees])

const points: Some<Document> = Arbitrary.map(pairs, (coordinates): Document => ({ type: "Point", coordinates }))

const lines: Some<Document> = Arbitrary.map(
  listOf(pairs, 3, 2),
  (coordinates): Document => ({ type: "LineString", coordinates })
)

/** The ring of a rectangle, or a triangle. */
const rings: Some<ReadonlyArray<ReadonlyArray<number>>> = Arbitrary.map(
  Arbitrary.all([oneOf(-2, 0, 1, 170), oneOf(-2, 0, 1, 50), oneOf(1, 3, 15), oneOf(1, 3, 12), oneOf(true, false)]),
  ([west, south, width, height, isTriangle]) => [
    [west, south],
    [west + width > 180 ? west + width - 360 : west + width, south],
    ...isTriangle ? [] : [[west + width > 180 ? west + width - 360 : west + width, south + height]],
    [west, south + height],
    [west, south]
  ]
)

const polygons: Some<Document> = Arbitrary.map(rings, (ring): Document => ({ type: "Polygon", coordinates: [ring] }))

const collections: Some<Document> = either<Document>(
  record({ type: oneOf("MultiPoint"), coordinates: listOf(pairs, 3, 1) }),
  record({ type: oneOf("MultiLineString"), coordinates: listOf(listOf(pairs, 2, 2), 2, 1) }),
  record({ type: oneOf("MultiPolygon"), coordinates: listOf(Arbitrary.map(rings, (ring) => [ring]), 2, 1) }),
  record({ type: oneOf("GeometryCollection"), geometries: listOf(either(points, lines), 2, 1) })
)

/** Mostly what each index of locations takes. */
export const locations: Some<unknown> = weighted<unknown>(
  [6, points],
  [4, pairs],
  [1, Arbitrary.map(pairs, ([x, y]) => ({ x, y }))],
  [1, lines],
  [1, polygons],
  [1, collections],
  [1, either<unknown>(listOf(pairs, 2), listOf(points, 2), oneOf<unknown>(null, "here", [1]))]
)

const radii = oneOf(0, 0.01, 0.05, 0.2, 1, 3)

const one = (name: string, operand: Some<unknown>): Some<Document> => record({ [name]: operand })

const circle = (name: string, radii: Some<number>): Some<Document> => one(name, Arbitrary.all([pairs, radii]))

const areas: Some<Document> = weighted(
  [3, one("$geometry", polygons)],
  [1, one("$geometry", collections)],
  [2, circle("$centerSphere", radii)],
  [1, circle("$center", oneOf(0, 1, 3, 10))],
  [1, one("$box", Arbitrary.all([pairs, pairs]))],
  [1, one("$polygon", listOf(pairs, 4, 3))]
)

const regions: Some<Document> = weighted(
  [3, one("$geoWithin", areas)],
  [2, one("$geoIntersects", one("$geometry", weighted([2, polygons], [1, points], [1, lines], [1, collections])))]
)

/** Conditions on `g` that need no index. */
export const regionFilters: Some<Document> = record({
  g: weighted<unknown>([6, regions], [1, record({ $not: regions })])
})

const distances = oneOf(0, 50_000, 120_000, 400_000, 2_000_000)

/** Conditions on `g` that need an index: documents in the order of their distances. */
export const nearFilters: Some<Document> = record({
  g: either<Document>(
    ...["$near", "$nearSphere"].map((name) =>
      one(
        name,
        either<Document>(
          record({ $geometry: points }),
          record({ $geometry: points, $maxDistance: distances }),
          record({ $geometry: points, $minDistance: distances, $maxDistance: oneOf(3_000_000, 1e7) })
        )
      )
    ),
    Arbitrary.map(Arbitrary.all([pairs, radii]), ([$near, $maxDistance]): Document => ({ $near, $maxDistance })),
    Arbitrary.map(
      Arbitrary.all([pairs, radii]),
      ([$nearSphere, $maxDistance]): Document => ({ $nearSphere, $maxDistance })
    )
  )
})

/** The first stage of a pipeline that needs an index. */
export const nearStages: Some<Document> = record({
  $geoNear: either<Document>(
    record({ near: points, distanceField: oneOf("d", "o.d"), key: oneOf("g") }),
    record({
      near: points,
      distanceField: oneOf("d"),
      maxDistance: distances,
      includeLocs: oneOf("at"),
      key: oneOf("g")
    }),
    record({
      near: points,
      distanceField: oneOf("d"),
      distanceMultiplier: oneOf(0.001, 2),
      query: oneOf({}, { n: { $gt: 0 } }, { s: "a" }),
      key: oneOf("g")
    }),
    record({ near: pairs, distanceField: oneOf("d"), spherical: oneOf(true, false), key: oneOf("g") })
  )
})
