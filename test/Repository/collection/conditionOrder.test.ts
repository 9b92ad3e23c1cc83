import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import { fallibleLast, filterOrderOf, holdsLast } from "../../../packages/document-store/src/shared.ts"
import { Model } from "../../../src/index.ts"
import { withDefaults } from "../../../src/Repository/collection/defaultedFields.ts"
import { holdingRowFilters } from "../../../src/Repository/collection/rowFilterMarks.ts"
import { storeRunner } from "../../../src/Repository/collection/storedCollection.ts"

class Note extends Model.Class<Note>()("Note", {
  id: Model.id(),
  owner: Schema.String,
  kind: Schema.String.pipe(Model.withDefault(() => "plain"))
}) {}

const rows = holdingRowFilters({ owner: "ann" }, [{ owner: "ann" }])

const failing = { kind: "plain", $expr: { $toInt: "$owner" } }

// It runs no operation.
const { pipeline, whole } = storeRunner(Note, { findById: {}, find: {}, findAndCount: {} } as never, withDefaults(Note))

it("keeps what callers ask for after the other conditions where fields have defaults", () => {
  const order = filterOrderOf(whole({ conditions: [{ deleted: null }], filter: fallibleLast(failing) }))
  assert.deepStrictEqual(order, {
    first: { deleted: null, kind: { $in: ["plain", null] } },
    last: { $expr: failing.$expr }
  })
})

it("evaluates what a handler asks for after the rows of its caller, and in any order without rows", () => {
  assert.isDefined(filterOrderOf(whole({ conditions: [rows], filter: failing })))
  assert.isUndefined(filterOrderOf(whole({ conditions: [{ deleted: null }], filter: failing })))
  const stages = [{ $sort: { owner: 1 } }, { $match: failing }]
  const [first, , last] = pipeline({ name: "aggregate", conditions: [rows], pipeline: stages })
  assert.deepStrictEqual(first, { $match: { owner: "ann" } })
  assert.isTrue(holdsLast(Object(last?.["$match"])))
  const [, , other] = pipeline({ name: "aggregate", conditions: [{ deleted: null }], pipeline: stages })
  assert.isFalse(holdsLast(Object(other?.["$match"])))
})
