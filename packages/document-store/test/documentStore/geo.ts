import { assert } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import type { Differs } from "../../../../test/support/serverDifferences.ts"
import type { Document, Filter, FindOptions, IndexDescription } from "../../src/DocumentStore.ts"
import { collectionOf, idsOf, type Tests } from "./collection.ts"

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

  // The places of the manual.
  const parks = [
    { _id: 1, location: point(-73.97, 40.77), legacy: [-73.97, 40.77], category: "Parks" },
    { _id: 2, location: point(-73.9928, 40.7193), legacy: [-73.9928, 40.7193], category: "Parks" },
    { _id: 3, location: point(-73.9375, 40.8303), legacy: [-73.9375, 40.8303], category: "Stadiums" }
  ]
  const located = Effect.fnUntraced(function*() {
    const things = yield* collectionOf(parks)
    yield* things.store.createIndexes(things.name, [
      { name: "location", key: { location: "2dsphere" } },
      { name: "legacy", key: { legacy: "2d" } }
    ])
    return things
  })

  it.effect("finds the nearest first, in bounds", () =>
    Effect.gen(function*() {
      const things = yield* located()
      const ids = (filter: Filter, more: Partial<FindOptions> = {}) =>
        Effect.map(things.find({ filter, ...more }), idsOf)
      const $geometry = point(-73.9667, 40.78)
      assert.deepStrictEqual(
        yield* ids({ location: { $near: { $geometry, $minDistance: 1000, $maxDistance: 5000 } } }),
        [1]
      )
      assert.deepStrictEqual(yield* ids({ location: { $nearSphere: { $geometry } } }), [1, 3, 2])
      assert.deepStrictEqual(yield* ids({ location: { $nearSphere: { $geometry } } }, { skip: 1, limit: 1 }), [3])
      assert.deepStrictEqual(yield* ids({ location: { $near: { $geometry } } }, { sort: { _id: -1 } }), [3, 2, 1])
      assert.deepStrictEqual(yield* ids({ category: "Parks", location: { $near: { $geometry } } }), [1, 2])
      assert.deepStrictEqual(yield* ids({ legacy: { $near: [-73.9667, 40.78], $maxDistance: 0.06 } }), [1, 3])
      assert.deepStrictEqual(yield* ids({ legacy: { $nearSphere: [-73.9667, 40.78], $maxDistance: 0.001 } }), [1, 3])
      assert.deepStrictEqual(yield* ids({ location: { $nearSphere: [-73.9667, 40.78], $minDistance: 0.001 } }), [2])
    }))

  it.effect("measures distances in a pipeline", () =>
    Effect.gen(function*() {
      const things = yield* located()
      const measured = (options: Document, ...more: ReadonlyArray<Document>) =>
        Stream.runCollect(things.store.aggregate(things.name, [{ $geoNear: options }, ...more]))
      const [park, ...others] = yield* measured({
        near: point(-73.99279, 40.719296),
        key: "location",
        distanceField: "dist.calculated",
        maxDistance: 2,
        query: { category: "Parks" },
        includeLocs: "dist.location",
        spherical: true
      })
      assert.deepStrictEqual(others, [])
      const { calculated, location } = Object(park?.["dist"])
      assert.deepStrictEqual(location, parks[1]?.location)
      // The distances that the manual names.
      const distances = yield* measured(
        { near: point(-73.98142, 40.71782), key: "location", distanceField: "d", query: { category: "Parks" } },
        { $project: { d: 1 } }
      )
      for (const [i, expected] of [974.175764916902, 5887.92792958097].entries()) {
        assert.closeTo(Number(distances[i]?.["d"]), expected, 1e-6)
      }
      assert.closeTo(calculated, 0.9539931676365992, 1e-6)
      const flat = yield* measured(
        { near: [-73, 40], distanceField: "d", distanceMultiplier: 2, key: "legacy" },
        { $limit: 1 },
        { $project: { d: 1 } }
      )
      assert.closeTo(Number(flat[0]?.["d"]), 2 * Math.hypot(0.9928, 0.7193), 1e-9)
    }))

  const $geometry = point(0, 0)
  it.effect.each<[string, Filter]>([
    ["a ring that is not closed", within({ $geometry: polygon([[0, 0], [1, 0], [1, 1], [0, 1]]) })],
    ["a ring that is a line", within({ $geometry: polygon([[0, 0], [10, 0], [20, 0], [0, 0]]) })],
    ["a ring of two points", within({ $geometry: polygon([[0, 0], [1, 1], [0, 0], [0, 0]]) })],
    ["a ring that crosses itself", within({ $geometry: polygon([[0, 0], [10, 10], [10, 0], [0, 10], [0, 0]]) })],
    ["a hole outside", within({ $geometry: polygon(square(0, 0, 1, 1), square(5, 5, 6, 6)) })],
    ["opposite points", meeting(line([0, 0], [180, 0]))],
    ["a latitude out of bounds", within({ $geometry: polygon(square(0, 0, 1, 91)) })],
    ["a longitude out of bounds", meeting(point(181, 0))],
    ["coordinates that are no numbers", meeting({ type: "Point", coordinates: ["0", NaN] })],
    ["no coordinates", meeting({ type: "Point" })],
    ["an unknown type", meeting({ type: "Circle", coordinates: [0, 0] })],
    ["a point as an area", within({ $geometry })],
    ["no shape", within({})],
    ["two shapes", within({ $box: [[0, 0], [1, 1]], $center: [[0, 0], 1] })],
    ["a negative radius", within({ $center: [[0, 0], -1] })],
    ["two corners of a polygon", within({ $polygon: [[0, 0], [1, 1]] })],
    ["a shape of the plane to intersect", { loc: { $geoIntersects: { $box: [[0, 0], [1, 1]] } } }],
    ["a distance without an index", { loc: { $near: { $geometry } } }],
    ["a distance on the plane with an index of the sphere", { location: { $near: [0, 0] } }],
    ["a negative distance", { location: { $near: { $geometry, $maxDistance: -1 } } }],
    ["a line to be near to", { location: { $near: { $geometry: line([0, 0], [1, 1]) } } }],
    ["a distance in $or", { $or: [{ location: { $near: { $geometry } } }, { _id: 1 }] }],
    ["two distances", { $and: [{ location: { $near: { $geometry } } }, { legacy: { $near: [0, 0] } }] }]
  ])("rejects %s", ([, filter]) =>
    Effect.gen(function*() {
      const things = yield* located()
      assert.strictEqual((yield* Effect.flip(things.find({ filter })))._tag, "QueryRejected")
    }))

  it.effect.each<[string, ReadonlyArray<Document>]>([
    ["a distance in $match", [{ $match: { location: { $near: { $geometry } } } }]],
    ["$geoNear later", [{ $skip: 1 }, { $geoNear: { near: $geometry, key: "location", distanceField: "d" } }]],
    ["$geoNear without distanceField", [{ $geoNear: { near: $geometry, key: "location" } }]],
    ["$geoNear with another $near", [{
      $geoNear: { near: $geometry, key: "location", distanceField: "d", query: { location: { $near: { $geometry } } } }
    }]]
  ])("rejects %s", ([, pipeline]) =>
    Effect.gen(function*() {
      const { name, store } = yield* located()
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(store.aggregate(name, pipeline))))._tag, "QueryRejected")
    }))

  it.effect("indexes locations only, and changes nothing when a write is rejected", () =>
    Effect.gen(function*() {
      const things = yield* located()
      const write = (change: Document) => things.store.insertOne(things.name, { _id: 9, ...change })
      for (const location of ["x", 5, {}, [200, 0], { type: "Point", coordinates: [0, 100] }, polygon([[0, 0]])]) {
        assert.strictEqual((yield* Effect.flip(write({ location })))._tag, "QueryRejected")
      }
      assert.strictEqual((yield* Effect.flip(write({ legacy: point(0, 0) })))._tag, "QueryRejected")
      assert.strictEqual((yield* Effect.flip(write({ legacy: [200, 0] })))._tag, "QueryRejected")
      assert.strictEqual(
        (yield* Effect.flip(things.store.updateOne(things.name, { _id: 1 }, { $set: { location: 1 } })))._tag,
        "QueryRejected"
      )
      assert.deepStrictEqual(yield* things.all, parks)
      // What has no location is not in the index, and is no match.
      yield* write({ location: null })
      assert.deepStrictEqual(
        yield* Effect.map(things.find({ filter: { location: { $near: { $geometry } } } }), idsOf),
        [3, 1, 2]
      )
      // A document may have several locations: the nearest counts.
      yield* things.store.updateOne(things.name, { _id: 9 }, { $set: { location: [point(50, 50), point(1, 1)] } })
      assert.deepStrictEqual(
        yield* Effect.map(things.find({ filter: { location: { $near: { $geometry } } } }), idsOf),
        [9, 3, 1, 2]
      )
      yield* things.store.deleteOne(things.name, { _id: 9 })
      assert.deepStrictEqual(
        yield* Effect.map(things.find({ filter: { location: { $near: { $geometry } } } }), idsOf),
        [3, 1, 2]
      )
    }))

  it.effect("finds in a transaction what it has written, and nothing of it when that fails", () =>
    Effect.gen(function*() {
      const { name, store } = yield* located()
      const near = Effect.map(store.find(name, { filter: { location: { $near: { $geometry } } } }), idsOf)
      const measured = Effect.map(
        Stream.runCollect(
          store.aggregate(name, [{ $geoNear: { near: $geometry, key: "location", distanceField: "d" } }])
        ),
        idsOf
      )
      const failed = store.transaction(Effect.gen(function*() {
        yield* store.insertOne(name, { _id: 9, location: point(0.001, 0) })
        yield* store.deleteOne(name, { _id: 3 })
        return yield* Effect.flatMap(Effect.all([near, measured]), Effect.fail)
      }))
      assert.deepStrictEqual(yield* Effect.flip(failed), [[9, 1, 2], [9, 1, 2]])
      assert.deepStrictEqual([yield* near, yield* measured], [[3, 1, 2], [3, 1, 2]])
    }))

  it.effect("makes at most 100,000 keys of the locations of a document", () =>
    Effect.gen(function*() {
      const { all, name, store } = yield* collectionOf([])
      yield* store.createIndexes(name, [{ name: "both", key: { from: "2dsphere", to: "2dsphere" } }])
      const places = Array.from({ length: 400 }, (_, i) => [i / 10, 0])
      const error = yield* Effect.flip(store.insertOne(name, { _id: 1, from: places, to: places }))
      assert.strictEqual(error._tag, "QueryRejected")
      yield* store.insertOne(name, { _id: 2, from: places, to: [0, 0] })
      assert.deepStrictEqual(yield* Effect.map(all, idsOf), [2])
    }))

  const integer = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
  // Tenths of degrees, so that poles, antimeridian and equal places come up.
  const place = Schema.Struct({
    x: integer(-1800, 1800),
    y: integer(-900, 900),
    size: integer(1, 300),
    kind: integer(0, 4)
  })
  const wrapped = (x: number) => x > 180 ? x - 360 : x
  const triangleAt = ({ size, x, y }: typeof place.Type) => {
    const [west, south, side] = [x / 10, Math.max(-89, Math.min(89, y / 10)), size / 10]
    const north = south > 0 ? south - side : south + side
    return polygon([[west, south], [wrapped(west + side), south], [west, north], [west, south]])
  }
  const lineAt = (at: typeof place.Type) => line(...triangleAt(at).coordinates[0]?.slice(0, 2) ?? [])
  const locationAt = (at: typeof place.Type) => {
    const [x, y] = [at.x / 10, at.y / 10]
    return at.kind === 0
      ? [x, y]
      : at.kind === 1
      ? lineAt(at)
      : at.kind === 2
      ? triangleAt(at)
      : at.kind === 3
      ? { type: "MultiPoint", coordinates: [[x, y], [wrapped(x + at.size), -y]] }
      : point(x, y)
  }
  const queryAt = (at: typeof place.Type): Filter => {
    const large = { ...at, size: at.size * 2 }
    return at.kind === 0
      ? within({ $geometry: triangleAt(large) })
      : at.kind === 1
      ? meeting(lineAt(large))
      : at.kind === 2
      ? meeting(triangleAt(large))
      : at.kind === 3
      ? meeting({ type: "MultiPoint", coordinates: [[at.x / 10, at.y / 10]] })
      : within({ $centerSphere: [[at.x / 10, at.y / 10], at.size / 200] })
  }

  it.effect.prop(
    "finds the same locations with an index, any locations in any area",
    [Schema.Array(place).check(Schema.isMaxLength(30)), place],
    ([places, query]) => found(places.map(locationAt), queryAt(query)),
    { arbitrary: { runs } }
  )

  const degree = Math.PI / 180
  const metresBetween = (a: typeof place.Type, b: typeof place.Type) => {
    const [north, east] = [Math.sin((b.y - a.y) / 20 * degree), Math.sin((b.x - a.x) / 20 * degree)]
    const square = north ** 2 + Math.cos(a.y / 10 * degree) * Math.cos(b.y / 10 * degree) * east ** 2
    return 2 * Math.asin(Math.min(1, Math.sqrt(square))) * 6_378_100
  }

  it.effect.prop(
    "orders any locations by their distance from any point",
    [Schema.Array(place).check(Schema.isMaxLength(30)), place],
    ([places, center]) =>
      Effect.gen(function*() {
        const things = yield* collectionOf(places.map((at, _id) => ({ _id, loc: locationAt(at) })))
        yield* things.store.createIndexes(things.name, [sphere])
        const near = point(center.x / 10, center.y / 10)
        const measured = yield* Stream.runCollect(
          things.store.aggregate(things.name, [{ $geoNear: { near, distanceField: "d" } }])
        )
        assert.deepStrictEqual(idsOf(measured).map(Number).toSorted((a, b) => a - b), places.map((_, i) => i))
        const distances = measured.map(({ d }) => Number(d))
        assert.deepStrictEqual(distances, distances.toSorted((a, b) => a - b))
        for (const { _id, d } of measured) {
          const at = places[Number(_id)]
          if (at?.kind === 0 || at?.kind === 4) assert.closeTo(Number(d), metresBetween(at, center), 1)
        }
        const bounds = { $minDistance: (distances[1] ?? 0) * 0.999, $maxDistance: (distances.at(-2) ?? 0) * 1.001 }
        const between = yield* things.find({ filter: { loc: { $near: { $geometry: near, ...bounds } } } })
        assert.deepStrictEqual(
          idsOf(between).map((id) => distances[idsOf(measured).indexOf(id)]),
          distances.filter((d) => d >= bounds.$minDistance && d <= bounds.$maxDistance)
        )
      }),
    { arbitrary: { runs } }
  )
}

// Each takes a collection.
const runs = 25
