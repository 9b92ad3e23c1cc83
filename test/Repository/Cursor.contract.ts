import { assert, it } from "@effect/vitest"
import { DateTime, Effect, type Layer, Schema } from "effect"
import { DocumentStore, Model, Query } from "../../src/index.ts"
import { documentCodec } from "../../src/Repository/collection/documentCodec.ts"
import * as Cursor from "../../src/Repository/Cursor.ts"

class Point extends Model.Class<Point>()("Point", { x: Schema.Int }) {}

export class Place extends Model.Class<Place>()("Place", {
  id: Model.id({ prefix: "P" }),
  name: Schema.String,
  rank: Schema.Int.pipe(Model.optional),
  // @effect-diagnostics-next-line schemaNumber:off
  weight: Schema.Number.pipe(Model.withDefault(() => 0)),
  open: Schema.NullOr(Schema.Boolean).pipe(Model.withDefault(() => null)),
  day: Model.Date.pipe(Model.optional),
  at: Point.pipe(Model.optional)
}) {}

const day = (day: number) => DateTime.makeUnsafe(day * 86_400_000)

const places = [
  new Place({ id: "P1", name: "a", rank: 1, weight: Number.NaN, day: day(2) }),
  new Place({ id: "P2", name: "a", rank: 2, open: true }),
  new Place({ id: "P3", name: "b", weight: 1, day: day(1) }),
  new Place({ id: "P4", name: "b", weight: -1, open: false, at: new Point({ x: 1 }) }),
  new Place({ id: "P5", name: "Z", rank: 1, open: true, at: new Point({ x: 0 }) })
]

const orders: ReadonlyArray<Query.Sort<typeof Place>> = [
  [],
  "name",
  ["-name", "rank"],
  ["rank", "-day"],
  "-rank",
  "weight",
  "-weight",
  ["open", "-id"],
  ["-at.x", "-open"]
]

/** What lies behind a cursor, whichever store is asked. */
export const cursorContract = <E>(name: string, store: Layer.Layer<DocumentStore.DocumentStore, E>) =>
  it.layer(store)(`Cursor / ${name}`, (it) => {
    it.effect.each(orders)("pages through %j, forwards and backwards", (order) =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        const { toDocument } = documentCodec(Place)
        if ((yield* store.count("places", {})) === 0) {
          yield* store.insertMany("places", places.map((place) => toDocument(place)))
        }
        const keyset = yield* Effect.fromResult(Cursor.make(Place, Query.toSort(Place, order)))
        const all = yield* store.find("places", { sort: keyset.sort })
        for (const [place, document] of all.entries()) {
          const cursor = keyset.cursor(document)
          const after = yield* Effect.fromResult(keyset.after(cursor))
          assert.deepStrictEqual(
            yield* store.find("places", { filter: after, sort: keyset.sort }),
            all.slice(place + 1)
          )
          const before = yield* Effect.fromResult(keyset.before(cursor))
          const back = yield* store.find("places", { filter: before, sort: keyset.reversed })
          assert.deepStrictEqual(back, all.slice(0, place).toReversed())
        }
      }))
  })
