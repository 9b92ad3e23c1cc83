import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { rowMatcher } from "../../../../src/Repository/collection/rowMatcher.ts"
import type { Filter } from "../../src/DocumentStore.ts"
import { fallibleLast, fallibleMatchesLast, filterOrderOf, holdsLast } from "../../src/shared/filterOrder.ts"
import { allOf, anyOf, asLast, conjunctionOf, isLast, negated } from "../../src/shared/filters.ts"

const isEqual = (path: string, value: number) => ({ $expr: { $eq: [`$${path}`, value] } })

const conditions: ReadonlyArray<Filter> = [
  { a: 1 },
  { b: { $gt: 0 } },
  { $or: [{ a: 0 }, { b: 1 }] },
  { $and: [{ a: 1 }, { b: 1 }] }
]

const asked: ReadonlyArray<Filter> = [
  isEqual("a", 1),
  { a: 1, ...isEqual("b", 1) },
  { $or: [isEqual("a", 0), { b: 1 }] },
  { $nor: [isEqual("a", 0)], a: { $lt: 2 } },
  { $and: [{ b: 1 }, isEqual("a", 1), { $and: [{ a: 1 }] }] }
]

const documents = [0, 1].flatMap((a) => [0, 1].map((b) => ({ _id: `${a}${b}`, a, b })))

const matching = (filter: Filter) => documents.filter(rowMatcher(filter)).map(({ _id }) => _id)

const hasExpression = (filter: Filter) => JSON.stringify(filter).includes("$expr")

const Cases = Schema.Array(
  Schema.Struct({
    condition: Schema.Literals(conditions.map((_, i) => i)),
    asked: Schema.Literals(asked.map((_, i) => i)),
    isAfter: Schema.Boolean
  })
).check(Schema.isMinLength(1), Schema.isMaxLength(3))

describe("the order of filters", () => {
  it.prop(
    "is that of what callers ask for after all other conditions, however they are combined",
    [Cases],
    ([cases]) => {
      const parts = cases.map((one) =>
        [conditions[one.condition]!, fallibleLast(asked[one.asked]!), one.isAfter] as const
      )
      const filter = conjunctionOf(
        ...parts.map(([condition, last, isAfter]) => isAfter ? allOf(condition, last) : conjunctionOf(last, condition))
      )
      const order = filterOrderOf(filter)
      assert.isDefined(order)
      if (order === undefined) return
      assert.isFalse(hasExpression(order.first))
      assert.deepStrictEqual(matching(conjunctionOf(order.first, order.last)), matching(filter))
      const seen = matching(conjunctionOf(...parts.map(([condition]) => condition)))
      assert.includeMembers(seen, matching(order.first))
    }
  )

  it("has what can't fail in its first part, such as a text search", () => {
    const filter = conjunctionOf({ owner: "ann" }, fallibleLast({ $text: { $search: "a" }, ...isEqual("a", 1) }))
    assert.deepStrictEqual(filterOrderOf(filter), {
      first: { owner: "ann", $text: { $search: "a" } },
      last: isEqual("a", 1)
    })
  })

  it("has a condition with an expression in its first part", () => {
    const filter = conjunctionOf(isEqual("b", 1), fallibleLast(isEqual("a", 1)))
    assert.deepStrictEqual(filterOrderOf(filter), { first: isEqual("b", 1), last: isEqual("a", 1) })
  })

  it("evaluates an alternative or a negation that holds what callers ask for last", () => {
    const last = fallibleLast(isEqual("a", 1))
    const parts = [anyOf([last, { b: 1 }]), negated(conjunctionOf({ b: 1 }, last))]
    for (const part of parts) {
      assert.deepStrictEqual(filterOrderOf(conjunctionOf({ owner: "ann" }, part)), {
        first: { owner: "ann" },
        last: part ?? {}
      })
    }
  })

  it("is any without other conditions, or without what may fail", () => {
    assert.isUndefined(filterOrderOf(fallibleLast({ a: 1, ...isEqual("b", 1) })))
    assert.isUndefined(filterOrderOf(conjunctionOf({ a: 1 }, isEqual("b", 1))))
    const plain = { a: 1, $or: [{ b: 1 }, { b: 2 }] }
    assert.strictEqual(fallibleLast(plain), plain)
    // What holds one already keeps its own order.
    const within = conjunctionOf({ a: 1 }, fallibleLast(isEqual("b", 1)))
    assert.isFalse(isLast(fallibleLast(within)))
  })

  it("marks all filters of a pipeline if one of them may fail", () => {
    const pipeline = [{ $match: { a: 1 } }, { $sort: { a: 1 } }, { $match: isEqual("b", 1) }]
    const marked = fallibleMatchesLast(pipeline)
    assert.deepStrictEqual(marked, pipeline)
    assert.deepStrictEqual(marked.map(({ $match }) => $match !== undefined && holdsLast(Object($match))), [
      true,
      false,
      true
    ])
    assert.strictEqual(fallibleMatchesLast(marked), marked)
    const plain = [{ $match: { a: 1 } }, { $limit: 1 }]
    assert.strictEqual(fallibleMatchesLast(plain), plain)
    const first = conjunctionOf({ owner: "ann" }, asLast({ a: 1 }))
    assert.deepStrictEqual(filterOrderOf(first), { first: { owner: "ann", a: 1 }, last: {} })
  })
})
