/** What stays in memory of the texts that callers send. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as UrlQuery from "../../src/Http/query/urlQuery.ts"
import { Model } from "../../src/index.ts"
import { ownText } from "../../src/internal/ownText.ts"
import { heapUsed } from "../support/heapUsed.ts"

class Mark extends Model.Class<Mark>()("Mark", {
  id: Model.id({ prefix: "M" }),
  labels: Schema.Record(Schema.String, Schema.String)
}) {}

const read = UrlQuery.make(Mark, { defaultPageSize: 50, maxPageSize: 1_000 })

const long = "a".repeat(250_000)

/** The megabytes that stay after 40 calls with such a text each, which are ten together. */
const kept = (call: (i: number) => unknown): number => {
  const before = heapUsed()
  for (let i = 0; i < 40; i++) call(i)
  return (heapUsed() - before) / 1_000_000
}

describe("a text in memory of its own", () => {
  it("does not keep the text that it is a part of", () => {
    const parts: Array<string> = []
    assert.isBelow(kept((i) => parts.push(ownText(`${i}${long}`.slice(0, 20)))), 4)
    assert.strictEqual(parts[39], `39${"a".repeat(18)}`)
    assert.strictEqual(ownText("\ud800ä"), "\ud800ä")
  })

  it("is what a model knows of the names of its fields that requests have", () => {
    assert.isBelow(kept((i) => read({ [`labels.${i}${long}`]: "x" })), 4)
    assert.isBelow(kept((i) => read({ sort_by: `labels.of a text ${i},${long}` })), 4)
  })

  it("is what the orders of cursors know of fields", () => {
    assert.isBelow(kept((i) => read({ cursor: "", sort_by: `labels.b${i}${long}` })), 4)
  })
})
