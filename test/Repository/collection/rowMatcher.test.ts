import { assert, it } from "@effect/vitest"
import { Int32 } from "bson"
import type { Filter } from "../../../packages/document-store/src/DocumentStore.ts"
import { rejectUnsuitable, rowMatcher } from "../../../src/Repository/evaluation.ts"

const single = "can't be used in a rule, because a rule is evaluated for single documents"
const read = "can't be used in a rule, because documents that are read do not tell int, long and double apart"

it.each<[Filter, string]>([
  [{ $text: { $search: "a" } }, `$text ${single}`],
  [{ $sampleRate: 0.5 }, `$sampleRate ${single}`],
  [{ $or: [{ a: 1 }, { $sampleRate: 0.5 }] }, `$sampleRate ${single}`],
  [{ $expr: { $sampleRate: 0.5 } }, `$sampleRate ${single}`],
  [{ $and: [{ $expr: { $not: { $sampleRate: 0.5 } } }] }, `$sampleRate ${single}`],
  [{ $expr: { $gt: [{ $rand: {} }, 0.5] } }, `$rand ${single}`],
  [{ $expr: { $lt: ["$_id", { $createObjectId: {} }] } }, `$createObjectId ${single}`],
  [{ $expr: { $lt: ["$at", "$$NOW"] } }, `$$NOW ${single}`],
  [{ n: { $type: "int" } }, `$type int ${read}`],
  [{ n: { $not: { $type: ["string", "double"] } } }, `$type double ${read}`],
  [{ n: { $type: new Int32(18) } }, `$type 18 ${read}`],
  [{ list: { $elemMatch: { $type: 16 } } }, `$type 16 ${read}`],
  [{ $expr: { $eq: [{ $type: "$n" }, "int"] } }, `$expr with $type ${read}`],
  [{ $expr: { $lt: [{ $bsonSize: "$$ROOT" }, 100] } }, `$expr with $bsonSize ${read}`],
  [{ $jsonSchema: { properties: { n: { bsonType: ["null", "long"] } } } }, `bsonType long ${read}`]
])("a rule can't be %j", (filter, reason) => {
  assert.strictEqual(rejectUnsuitable(filter), reason)
  assert.isFalse(rowMatcher(filter)({ n: 1 }))
})

it.each<[Filter]>([
  [{ n: { $type: "number" } }],
  [{ n: { $type: ["string", "number"] } }],
  [{ $expr: { $isNumber: "$n" } }],
  [{ $expr: { $eq: [{ $literal: { $rand: {} } }, { $literal: { $rand: {} } }] } }],
  [{ $jsonSchema: { required: ["n"], properties: { n: { bsonType: "number" }, kind: { enum: ["int"] } } } }]
])("a rule can be %j", (filter) => {
  assert.isUndefined(rejectUnsuitable(filter))
  assert.isTrue(rowMatcher(filter)({ n: 1 }))
})
