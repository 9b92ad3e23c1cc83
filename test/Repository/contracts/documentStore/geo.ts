import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Document, Filter, IndexDescription } from "../../../../src/Repository/DocumentStore.ts"
import type { Differs } from "../../../support/serverDifferences.ts"
import { collectionOf, type Tests } from "./collection.ts"

const sphere: IndexDescription = { name: "sphere", key: { loc: "2dsphere" } }

const point = (...coordinates: ReadonlyArray<number>) => ({ type: "Point", coordinates })

const polygon = (...coordinates: ReadonlyArray<ReadonlyArray<ReadonlyArray<number>>>) => ({
  type: "Polygon",
  coordinates
})

const square = (west: number, south: number, east: number, north: number) => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south]
]

const line = (...coordinates: ReadonlyArray<ReadonlyArray<number>>) => ({ type: "LineString", coordinates })

/** Locations: what MongoDB's manual says of its geographic operators. */
export const geoContract = (it: Tests, differs: Differs) => {
  if (differs("geography")) return
  // The same for a collection with and without an index.
  const found = Effect.fnUntraced(function*(locations: ReadonlyArray<unknown>, filter: Filter) {
    const things = yield* collectionOf(locations.map((loc, _id) => ({ _id, loc })))
    const before = yield* things.ids(filter)
    yield* things.store.createIndexes(things.name, [sphere])
    assert.deepStrictEqual(yield* things.ids(filter), before)
    return before
  })

  const within = (shape: Document): Filter => ({ loc: { $geoWithin: shape } })
  const meeting = (shape: Document): Filter => ({ loc: { $geoIntersects: { $geometry: shape } } })

  // The manual's triangle, and points about it.
  const triangle = polygon([[0, 0], [3, 6], [6, 1], [0, 0]])
  const places = [
    point(3, 3),
    point(0, 0),
    point(-1, -1),
    line([2, 2], [3, 3]),
    line([2, 2], [9, 9]),
    polygon([[2, 2], [3, 2], [3, 3], [2, 2]]),
    polygon([[2, 2], [9, 2], [3, 3], [2, 2]]),
    { type: "MultiPoint", coordinates: [[3, 3], [2, 2]] },
    { type: "MultiPoint", coordinates: [[3, 3], [20, 2]] },
    { type: "GeometryCollection", geometries: [point(3, 3), line([2, 2], [3, 3])] },
    [3, 3],
    { lng: 3, lat: 3 }
  ]

  it.effect("finds what is within a polygon, its border included", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* found(places, within({ $geometry: triangle })), [0, 1, 3, 5, 7, 9, 10, 11])
    }))

  it.effect("finds what has a point in common with a shape of any kind", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* found(places, meeting(triangle)), [0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11])
      assert.deepStrictEqual(yield* found(places, meeting(point(3, 3))), [0, 3, 5, 6, 7, 8, 9, 10, 11])
      assert.deepStrictEqual(yield* found(places, meeting(line([-1, -2], [-1, 0]))), [2])
      assert.deepStrictEqual(
        yield* found(places, meeting({ type: "MultiPolygon", coordinates: [[square(19, 1, 21, 3)]] })),
        [8]
      )
    }))

  it.effect("leaves out what is in a hole", () =>
    Effect.gen(function*() {
      const ring = polygon(square(0, 0, 10, 10), square(4, 4, 6, 6))
      const stored = [point(2, 2), point(5, 5), point(4, 4), polygon(square(3, 3, 7, 7)), polygon(square(1, 1, 2, 2))]
      assert.deepStrictEqual(yield* found(stored, within({ $geometry: ring })), [0, 2, 4])
      assert.deepStrictEqual(yield* found(stored, meeting(ring)), [0, 2, 3, 4])
    }))

  it.effect("finds across the antimeridian and around the poles", () =>
    Effect.gen(function*() {
      const stored = [point(179.5, 0), point(-179.5, 0), point(180, 0.5), point(0, 0), point(10, 90), point(-170, 89.5)]
      const across = polygon([[179, -1], [-179, -1], [-179, 1], [179, 1], [179, -1]])
      assert.deepStrictEqual(yield* found(stored, within({ $geometry: across })), [0, 1, 2])
      const cap = polygon([[0, 89], [90, 89], [180, 89], [-90, 89], [0, 89]])
      assert.deepStrictEqual(yield* found(stored, within({ $geometry: cap })), [4, 5])
      assert.deepStrictEqual(yield* found(stored, meeting(point(77, 90))), [4])
      assert.deepStrictEqual(yield* found(stored, within({ $centerSphere: [[180, 0], 0.01] })), [0, 1, 2])
    }))

  it.effect("takes edges for the shortest ways, and the smaller area", () =>
    Effect.gen(function*() {
      // The shortest way from -80 to 80 degrees along the 60th parallel is far north of it.
      const north = polygon([[-80, 60], [80, 60], [0, 89], [-80, 60]])
      assert.deepStrictEqual(yield* found([point(0, 61), point(0, 88)], within({ $geometry: north })), [1])
      // Whichever way around it is written.
      const clockwise = polygon(square(0, 0, 10, 10).toReversed())
      assert.deepStrictEqual(yield* found([point(5, 5), point(50, 50)], within({ $geometry: clockwise })), [0])
    }))

  it.effect("finds within boxes, circles and polygons of the plane", () =>
    Effect.gen(function*() {
      const stored = [
        [0, 0],
        [50, 50],
        [100, 100],
        [100.5, 100],
        { x: 30, y: 40 },
        point(10, 10),
        [3, 7],
        "no location"
      ]
      assert.deepStrictEqual(yield* idsWithin(stored, { $box: [[0, 0], [100, 100]] }), [0, 1, 2, 4, 5, 6])
      assert.deepStrictEqual(yield* idsWithin(stored, { $center: [[0, 0], 50] }), [0, 4, 5, 6])
      assert.deepStrictEqual(yield* idsWithin(stored, { $polygon: [[0, 0], [3, 6], [6, 0]] }), [0])
      assert.deepStrictEqual(yield* idsWithin(stored, { $polygon: { a: [0, 0], b: [0, 60], c: [60, 60] } }), [
        0,
        1,
        4,
        5,
        6
      ])
      assert.deepStrictEqual(yield* idsWithin(stored, { $centerSphere: [[10, 10], 10 / 3963.2] }), [5])
    }))

  const idsWithin = Effect.fnUntraced(function*(locations: ReadonlyArray<unknown>, shape: Document) {
    const things = yield* collectionOf(locations.map((loc, _id) => ({ _id, loc })))
    return yield* things.ids(within(shape))
  })
}
