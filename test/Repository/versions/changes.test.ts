import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import { conjunctionOf, fallibleLast } from "../../../packages/document-store/src/shared.ts"
import { Model } from "../../../src/index.ts"
import { changesOf } from "../../../src/Repository/versions/changes.ts"
import { modelVersionsOf } from "../../../src/Repository/versions/modelVersions.ts"

class Note extends Model.Class<Note>()("Note", { id: Model.id(), owner: Schema.String, n: Schema.Int }, {
  versions: [Model.was.renamed("author", "owner")]
}) {}

it("lets the store test no condition of a caller that may fail before those on changed fields", () => {
  const { searchFor } = changesOf(modelVersionsOf(Note), [])({ written: 2, earliest: 1 })
  const asked = fallibleLast({ $expr: { $gt: [{ $divide: [1, "$n"] }, 0] } })
  const [same, changed] = [{ n: { $gt: 0 } }, { owner: "ann" }]
  const { stages, stored } = searchFor(conjunctionOf(same, changed, asked))
  assert.notInclude(JSON.stringify(stored), "$expr")
  assert.include(JSON.stringify(stored), "ann")
  // The process evaluates them in their order.
  assert.include(JSON.stringify(stages), JSON.stringify([changed, asked]))
  assert.deepStrictEqual(searchFor(conjunctionOf(same, asked)).stored, same)
})
