/** Bodies of recursive unions: what is read of them grows with their size, not with the power of their depth. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { Model } from "../../../src/index.ts"
import { bodyDecoder } from "../../../src/Model/codec/explainer.ts"

type Part = Schema.Codec<unknown>

/** A field of a union that contains itself, its body, and how often the innermost value of a body has been checked. */
const blocks = (membersOf: (self: Part, leaf: Part) => ReadonlyArray<Part>) => {
  let checks = 0
  const leaf = Schema.Int.check(Schema.makeFilter(() => {
    checks++
    return true
  }))
  const self = Schema.suspend((): Part => union)
  const union: Part = Schema.Union(membersOf(self, leaf))
  class Page extends Model.Class<Page>()("Page", { id: Model.id(), body: union }) {}
  const decode = bodyDecoder(Page.create)
  return { decode: (body: unknown) => decode({ body }), checksSoFar: () => checks }
}

const kinds = ["section", "list", "item"] as const

const containers = {
  list: { schema: (self: Part) => Schema.Array(self), of: (part: unknown) => [part] },
  record: { schema: (self: Part) => Schema.Record(Schema.String, self), of: (part: unknown) => ({ a: part }) },
  field: { schema: (self: Part) => self, of: (part: unknown) => part }
}

const nested = (depth: number, leaf: unknown): unknown =>
  Array.from({ length: depth }).reduce((inner) => ({ inner, b: 1 }), leaf)

const twice = (isNumberFirst: boolean) =>
  blocks((self, leaf) => {
    const inner = { inner: Schema.Union([leaf, self]) }
    return (["a", "b"] as const).map((name) => {
      const own = { [name]: Schema.Int }
      return Schema.Struct(isNumberFirst ? { ...own, ...inner } : { ...inner, ...own })
    })
  })

const messages = (decoded: ReturnType<ReturnType<typeof blocks>["decode"]>) =>
  decoded._tag === "Valid" ? [] : decoded.problems.map(({ message }) => message)

const limit =
  "must not have more than 5000 names of records and values that have to be converted or read in several ways"

const unexplained = "has too many values that have to be converted or read in several ways to say which are not valid"

describe("the body of a recursive union", () => {
  it.prop(
    "has each of its values read once, wherever the tags are declared",
    [
      Arbitrary.schema(Schema.Literals([0, 1, 2])),
      Arbitrary.schema(Schema.Literals(["list", "record", "field"])),
      Arbitrary.array(Arbitrary.schema(Schema.Literals(kinds)), { minLength: 8, maxLength: 10 })
    ],
    ([place, name, path]) => {
      const container = containers[name]
      const { checksSoFar, decode } = blocks((self, leaf) =>
        kinds.map((kind) => {
          const fields: Array<readonly [string, Part]> = [
            ["inner", container.schema(Schema.Union([leaf, self]))],
            ["size", Schema.Int]
          ]
          fields.splice(place, 0, ["kind", Schema.Literal(kind)])
          return Schema.Struct(Object.fromEntries(fields))
        })
      )
      const body = path.reduce<unknown>((inner, kind) => ({ inner: container.of(inner), size: 1, kind }), 1)
      assert.deepStrictEqual(messages(decode(body)), [])
      assert.strictEqual(checksSoFar(), 1)
    },
    { arbitrary: { runs: 30 } }
  )

  it("says which value is wrong in a member whose tag comes last", () => {
    const { decode } = blocks((self) =>
      kinds.map((kind) => Schema.Struct({ inner: Schema.Array(self), kind: Schema.Literal(kind) }))
    )
    const decoded = decode({ inner: [{ inner: [{ inner: 1, kind: "list" }], kind: "item" }], kind: "item" })
    assert.deepStrictEqual(decoded._tag === "Valid" ? [] : decoded.problems.map(({ field }) => field), [
      "body.inner.0.inner.0.inner"
    ])
  })

  it("has a limit of values that are read in vain where no tag tells the members apart", () => {
    const { checksSoFar, decode } = twice(false)
    assert.deepStrictEqual(messages(decode(nested(10, 1))), [])
    const before = checksSoFar()
    assert.deepStrictEqual(messages(decode(nested(15, 1))), [limit])
    assert.isBelow(checksSoFar() - before, 6_000)
  })

  it("has a limit of values that are read to explain what is wrong where no tag tells the members apart", () => {
    const { checksSoFar, decode } = twice(true)
    assert.deepStrictEqual(messages(decode(nested(100, 1))), [])
    assert.strictEqual(checksSoFar(), 1)
    assert.lengthOf(messages(decode(nested(10, 1.5))), 1)
    const before = checksSoFar()
    assert.deepStrictEqual(messages(decode(nested(15, 1.5))), [unexplained])
    assert.isBelow(checksSoFar() - before, 12_000)
  })
})
