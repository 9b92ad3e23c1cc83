import type { Document } from "@appkernel/document-store/DocumentStore"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { oneOf, type Some, upTo } from "../../../../test/support/choices.ts"
import { recordIdOf } from "../../../mql/src/bson/keyEncoding.ts"
import { Counter } from "../../src/catalog/documentCounter.ts"

describe("counter", () => {
  const records = 12

  // A record is written: it has a match then, or another document, or none.
  const write = Arbitrary.all([oneOf("match", "other", "none"), upTo(records + 3)])
  const action: Some<readonly [string, number]> = Arbitrary.flatMap(
    oneOf("write", "write", "advance", "advance", "commit", "abort"),
    (kind): Some<readonly [string, number]> => kind === "write" ? write : Arbitrary.Constant([kind, 0])
  )

  it.effect.prop("counts the committed documents correctly under concurrent writes", {
    before: Arbitrary.array(oneOf("match", "other", "none"), { minLength: records, maxLength: records }),
    actions: Arbitrary.array(action, { maxLength: 60 }),
    perStep: Arbitrary.schema(Schema.Literals([1, 2, 5]))
  }, ({ actions, before, perStep }) =>
    Effect.sync(() => {
      const matches = (document: Document) => document["a"] === 1
      const documentOf = (kind: string): Document | undefined =>
        kind === "none" ? undefined : { a: Number(kind === "match") }
      let committed = new Map<string, Document>()
      for (const [i, kind] of before.entries()) {
        const document = documentOf(kind)
        if (document !== undefined) committed.set(recordIdOf(i), document)
      }
      let pending = new Map(committed)
      const counter = new Counter({
        matches,
        step: (from, visit) => {
          const next = [...committed].filter(([recordId]) => recordId >= from).toSorted(([a], [b]) => a < b ? -1 : 1)
          for (const [recordId, document] of next.slice(0, perStep)) visit(recordId, matches(document))
          return next.length <= perStep ? undefined : `${next[perStep - 1]?.[0]}\0`
        }
      })
      counter.begin(recordIdOf(records))
      for (const [kind, record] of actions) {
        switch (kind) {
          case "advance":
            counter.advance()
            break
          case "commit":
            committed = new Map(pending)
            counter.committed()
            break
          case "abort":
            pending = new Map(committed)
            counter.aborted()
            if (counter.value === undefined && !counter.isBegun) counter.begin(recordIdOf(records + 4))
            break
          default: {
            const recordId = recordIdOf(record)
            const document = documentOf(kind)
            counter.wrote(recordId, pending.get(recordId), document)
            if (document === undefined) pending.delete(recordId)
            else pending.set(recordId, document)
          }
        }
        const expected = [...committed.values()].filter(matches).length
        if (counter.value !== undefined) assert.strictEqual(counter.value, expected)
      }
    }), { arbitrary: { runs: 2_000 } })

  it.effect("stops counting when too much is written meanwhile", () =>
    Effect.sync(() => {
      const counter = new Counter({ matches: () => true, step: (from) => `${from}\0` })
      counter.begin(recordIdOf(1_000_000))
      for (let i = 0; i <= 100_000; i++) counter.wrote(recordIdOf(i), {}, {})
      assert.isFalse(counter.isBegun)
      assert.isUndefined(counter.value)
    }))
})
