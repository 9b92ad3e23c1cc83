/** Lists that are searched by distance, in JSON and as tables. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { EmbeddedStore, Index, KernelEngine, Model } from "../../../src/index.ts"
import { problemsIn, refused, send, serving } from "../../support/rest.ts"

class Place extends Model.Class<Place>()("Place", {
  id: Schema.String,
  loc: Schema.Struct({ type: Schema.Literal("Point"), coordinates: Schema.Array(Schema.Finite) }).pipe(
    Model.indexed(Index.geo)
  )
}) {}

const engine = KernelEngine.make("places").register(Place, { methods: ["GET", "POST"], tables: true })

it.effect("a search by distance says how it is asked for where it would be counted, and is a table as it is", () =>
  Effect.gen(function*() {
    const place = { id: "P1", loc: { type: "Point", coordinates: [8, 47] } }
    assert.strictEqual((yield* send("POST", "/places", place)).status, 201)
    const near = { loc: { $near: { $geometry: { type: "Point", coordinates: [8, 47] } } } }
    for (const query of [near, { $and: [near, {}] }]) {
      const path = `/places?query=${encodeURIComponent(JSON.stringify(query))}`
      const answer = refused(400, yield* send("GET", path))
      assert.deepStrictEqual(problemsIn(answer), ["query Parameter"])
      assert.include(answer.text, "ask with count=none")
      assert.strictEqual((yield* send("GET", `${path}&count=none`)).status, 200)
      for (const accept of ["text/csv", "application/x-ndjson"]) {
        const table = yield* send("GET", path, undefined, { accept })
        assert.strictEqual(table.status, 200, table.text)
        assert.include(table.text, "P1")
      }
    }
  }).pipe(Effect.provide(serving(engine, EmbeddedStore.layerMemory))))
