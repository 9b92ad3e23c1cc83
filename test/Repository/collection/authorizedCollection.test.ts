import { assert, describe, it } from "@effect/vitest"
import type { DocumentStore } from "../../../src/index.ts"
import { rejectUnsuitable, rowMatcher } from "../../../src/Repository/evaluation.ts"
import { nothing } from "../../../src/Repository/internal.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"
import { rowMatcherContract } from "./authorizedCollection.contract.ts"

storeMatrix((name, layer) => rowMatcherContract(name, layer, name === "mongodb" ? 30 : 100))

describe("a rule", () => {
  it.each<readonly [string, DocumentStore.Filter]>([
    ["$text", { $text: { $search: "tea" } }],
    ["$text", { $and: [{ owner: "a" }, { $text: { $search: "tea" } }] }],
    ["$near", { place: { $near: [0, 0] } }],
    ["$geoWithin", { lines: { $elemMatch: { place: { $geoWithin: {} } } } }],
    ["$where", { $where: "true" }],
    ["$rand", { $expr: { $lt: ["$rank", { $multiply: [{ $rand: {} }, 2] }] } }],
    ["$$NOW", { $expr: { $lt: ["$at", "$$NOW"] } }],
    ["$sampleRate", { $sampleRate: 0.5 }],
    ["$nonsense", { owner: { $nonsense: 1 } }]
  ])("can't have %s", (operator, filter) => {
    assert.include(rejectUnsuitable(filter), operator)
    assert.isFalse(rowMatcher(filter)({ _id: 1, owner: "a" }))
  })

  it("may have values that look like operators", () => {
    for (
      const filter of [{ owner: "$$NOW" }, { owner: { $eq: "$where" } }, {
        $expr: { $eq: ["$owner", { $literal: "$$NOW" }] }
      }]
    ) {
      assert.isUndefined(rejectUnsuitable(filter))
    }
    assert.isTrue(rowMatcher({ owner: "$$NOW" })({ _id: 1, owner: "$$NOW" }))
  })

  it("may match nothing", () => {
    assert.isUndefined(rejectUnsuitable(nothing))
    assert.isFalse(rowMatcher(nothing)({ _id: 1 }))
    assert.isTrue(rowMatcher({})({ _id: 1 }))
  })
})
