import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { rowMatcher } from "../../../../src/Repository/collection/rowMatcher.ts"
import type { Filter } from "../../src/DocumentStore.ts"
import * as Filters from "../../src/shared/filters.ts"

/** Filters whose keys collide, are operators, are empty or match nothing. */
const filters: ReadonlyArray<Filter | undefined> = [
  undefined,
  {},
  Filters.nothing,
  { a: 1 },
  { a: { $gt: 0 } },
  { b: 1 },
  { a: 0, b: 0 },
  { $and: [{ a: 1 }, { b: 1 }] },
  { $and: [{ a: 1 }], b: 0 },
  { $or: [{ a: 0 }, { b: 1 }] },
  { $nor: [{ a: 1 }, { b: 1 }] },
  Filters.asStored({ $or: [{ a: 1 }, { b: 0 }] }),
  Filters.asStored({ $and: [{ a: 1 }, { b: 0 }] })
]

const documents = [0, 1].flatMap((a) => [0, 1].map((b) => ({ _id: `${a}${b}`, a, b })))

const matching = (filter: Filter | undefined) => documents.filter(rowMatcher(filter ?? {})).map(({ _id }) => _id)

const Indexes = Schema.Array(Schema.Literals(filters.map((_, i) => i))).check(Schema.isMaxLength(4))

describe("the algebra of filters", () => {
  it.prop("matches what the parts match", [Indexes], ([indexes]) => {
    const parts = indexes.map((index) => filters[index])
    const found = parts.map(matching)
    const ids = documents.map(({ _id }) => _id)
    const inAll = ids.filter((id) => found.every((one) => one.includes(id)))
    assert.deepStrictEqual(matching(Filters.allOf(...parts)), inAll)
    assert.deepStrictEqual(matching(Filters.conjunctionOf(...parts)), inAll)
    const inAny = ids.filter((id) => found.some((one) => one.includes(id)))
    assert.deepStrictEqual(matching(Filters.anyOf(parts)), inAny)
    const rest = ids.filter((id) => !inAny.includes(id))
    assert.deepStrictEqual(matching(Filters.negated(Filters.anyOf(parts))), rest)
  })

  it("leaves out what has no effect, and keeps a filter that remains", () => {
    const filter = { a: 1 }
    assert.strictEqual(Filters.allOf(undefined, filter, {}, filter), filter)
    assert.strictEqual(Filters.conjunctionOf({}, filter), filter)
    assert.strictEqual(Filters.anyOf([Filters.nothing, filter]), filter)
    assert.strictEqual(Filters.allOf(filter, Filters.nothing), Filters.nothing)
    assert.isUndefined(Filters.anyOf([filter, {}]))
    assert.deepStrictEqual(Filters.conjunctionOf(filter, { b: 1 }), { a: 1, b: 1 })
    assert.deepStrictEqual(Filters.conjunctionOf(filter, { a: 2 }), { $and: [{ a: 1 }, { a: 2 }] })
  })

  it("keeps a marked filter as one part", () => {
    const marked = Filters.asStored({ a: { $gt: 1 } })
    const combined = Filters.conjunctionOf({ $and: [marked] }, { b: 1 })
    const [part] = Object(combined["$and"])
    assert.strictEqual(part, marked)
  })

  it("leaves a malformed operand to the store", () => {
    const malformed = { $and: [5] }
    assert.deepStrictEqual(Filters.allOf(malformed, { b: 1 }), { $and: [malformed, { b: 1 }] })
  })
})
