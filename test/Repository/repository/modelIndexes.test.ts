import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { normalised } from "../../../packages/document-store/src/shared/indexDefinition.ts"
import { Index, Model } from "../../../src/index.ts"
import { indexesOf } from "../../../src/Repository/repository/modelIndexes.ts"

class Place extends Model.Class<Place>()("Place", {
  city: Schema.String.pipe(Model.indexed({ ...Index.plain, name: "where" })),
  about: Schema.String.pipe(Model.indexed(Index.text()), Model.optional),
  point: Schema.Unknown.pipe(Model.indexed(Index.geo))
}) {}

class Club extends Model.Class<Club>()("Club", {
  id: Model.id({ prefix: "C" }),
  name: Schema.String.pipe(Model.indexed(Index.text({ weight: 10, language: "none" }))),
  code: Schema.String.pipe(Model.indexed(Index.unique), Model.optional),
  members: Schema.Int.pipe(Model.indexed(Index.descending)),
  kind: Schema.String.pipe(Model.indexed({ ...Index.plain, name: "kind, founded" })),
  founded: Model.DateTime.pipe(Model.indexed({ ...Index.descending, name: "kind, founded" })),
  until: Model.DateTime.pipe(Model.indexed(Index.expireAfter("90.5 seconds"))),
  place: Place,
  others: Schema.Array(Place)
}) {}

describe("modelIndexes", () => {
  it("makes one index per indexed field, one of fields that share a name, and one text index", () => {
    assert.deepStrictEqual(indexesOf(Club).map(normalised), [
      {
        name: "text",
        key: { name: "text", "place.about": "text", "others.about": "text" },
        weights: { name: 10 },
        defaultLanguage: "none"
      },
      { name: "code_1", key: { code: 1 }, unique: true, sparse: true },
      { name: "members_-1", key: { members: -1 } },
      { name: "kind, founded", key: { kind: 1, founded: -1 } },
      { name: "until_1", key: { until: 1 }, expireAfterSeconds: 91 },
      { name: "where", key: { "place.city": 1, "others.city": 1 } },
      { name: "place.point_2dsphere", key: { "place.point": "2dsphere" } },
      { name: "others.point_2dsphere", key: { "others.point": "2dsphere" } }
    ])
  })

  it("lets any number of documents lack a unique field, and the nested models that it is in", () => {
    class Code extends Model.Class<Code>()("Code", { text: Schema.String.pipe(Model.indexed(Index.unique)) }) {}
    class Part extends Model.Class<Part>()("Part", { code: Code }) {}
    class Box extends Model.Class<Box>()("Box", {
      id: Model.id(),
      own: Code,
      maybe: Code.pipe(Model.optional),
      nullable: Schema.NullOr(Code),
      list: Schema.Array(Code),
      part: Part,
      parts: Schema.Array(Part)
    }) {}
    const sparse = Object.fromEntries(
      indexesOf(Box).map(({ key, sparse }) => [Object.keys(key).join(), sparse === true])
    )
    assert.deepStrictEqual(sparse, {
      "own.text": false,
      "maybe.text": true,
      "nullable.text": true,
      "list.text": true,
      "part.code.text": false,
      "parts.code.text": true
    })
  })

  it("includes the indexes declared on the model", () => {
    class Player extends Model.Class<Player>()("Player", {
      number: Model.id(),
      club: Schema.String.pipe(Model.indexed(Index.plain)),
      shirt: Schema.Int,
      left: Model.DateTime.pipe(Model.optional)
    }, {
      indexes: [
        Index.compound({ club: 1, shirt: -1 }, { unique: true, where: { active: true } }),
        Index.compound({ club: 1, number: 1 }, { name: "by number", sparse: true }),
        Index.compound({ left: 1 }, { expireAfter: "1 day" })
      ]
    }) {}
    assert.deepStrictEqual(indexesOf(Player).map(normalised), [
      { name: "club_1", key: { club: 1 } },
      {
        name: "club_1_shirt_-1",
        key: { club: 1, shirt: -1 },
        unique: true,
        partialFilterExpression: { active: true }
      },
      { name: "by number", key: { club: 1, _id: 1 }, sparse: true },
      { name: "left_1", key: { left: 1 }, expireAfterSeconds: 86_400 }
    ])
  })
})
