import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Converter, Model, Validator } from "../../../src/index.ts"
import { bodyDecoder, limitProblems } from "../../../src/Model/codec/explainer.ts"

class Line extends Model.Class<Line>()("Line", {
  amount: Schema.Int,
  codes: Schema.Array(Schema.Int).pipe(Validator.max(3), Model.optional)
}) {}

class Bill extends Model.Class<Bill>()("Bill", {
  name: Schema.String,
  numbers: Schema.Array(Schema.Int).pipe(Validator.notEmpty),
  lines: Schema.Array(Line).pipe(Model.optional),
  secret: Schema.Array(Schema.String.pipe(Validator.min(8))).pipe(Model.optional, Model.omitted),
  token: Schema.String.pipe(Validator.min(8), Model.converted(Converter.contentHasher()), Model.optional, Model.omitted)
}) {}

interface StoredTree {
  readonly label: string
  readonly children?: ReadonlyArray<StoredTree> | null
}

class Tree extends Model.Class<Tree>()("Tree", {
  label: Schema.String,
  children: Schema.Array(Schema.suspend((): Schema.Codec<Tree, StoredTree> => Tree)).pipe(Model.optional)
}) {}

const problemsOf = (model: Model.Any, body: unknown) => {
  const decoded = bodyDecoder(model.create)(body)
  return decoded._tag === "Invalid" ? decoded.problems : []
}

const named = (model: Model.Any, body: unknown) =>
  problemsOf(model, body).map(({ field, message }) => `${field} ${message}`)

const many = <A>(value: A) => Array.from({ length: 200_000 }, () => value)

describe("the problems of a body", () => {
  it("are reported for each part", () => {
    assert.deepStrictEqual(
      named(Bill, {
        numbers: [1, "2", 3.5, null],
        lines: [{ amount: 1 }, {}, "line", { amount: "1", codes: [1, "x"] }, { amount: 1, codes: [1, 2, 3, 4] }],
        secret: ["long enough", "CANARY"],
        token: "CANARY"
      }),
      [
        "name must be given",
        "numbers.1 must be a whole number",
        "numbers.2 must be a whole number",
        "numbers.3 must be a whole number",
        "lines.1.amount must be given",
        "lines.2 must be an object",
        "lines.3.amount must be a whole number",
        "lines.3.codes.1 must be a whole number",
        "lines.4.codes must have at most 3 elements",
        "secret.1 must have at least 8 characters",
        "token must have at least 8 characters"
      ]
    )
    assert.deepStrictEqual(named(Bill, { name: "a", numbers: [] }), ["numbers must not be empty"])
    assert.deepStrictEqual(named(Bill, { name: "a", numbers: {} }), ["numbers must be a list"])
    assert.deepStrictEqual(named(Tree, { label: "a", children: [{ label: "b", children: [{ label: 1 }] }] }), [
      "children.0.children.0.label must be a text"
    ])
  })

  it("are limited to a hundred, with the number of further ones", () => {
    const bodies: ReadonlyArray<readonly [body: unknown, first: string, more: string]> = [
      [{ name: "a", numbers: many("x") }, "numbers.0", "at least 199900 more problems are not listed"],
      [{ name: "a", numbers: [1], lines: many({}) }, "lines.0.amount", "at least 199900 more problems are not listed"],
      [
        { name: "a", numbers: [1], lines: [{ amount: 1, codes: many("x") }] },
        "lines.0.codes.0",
        "at least 199900 more problems are not listed"
      ],
      [{ name: "a", numbers: many(1.5).slice(0, 101) }, "numbers.0", "at least 1 more problem is not listed"]
    ]
    for (const [body, first, more] of bodies) {
      const problems = problemsOf(Bill, body)
      assert.strictEqual(problems.length, 101)
      assert.strictEqual(problems[0]?.field, first)
      assert.deepInclude(problems[100], { field: "", validator: "More", message: more })
    }
    assert.strictEqual(problemsOf(Bill, { name: "a", numbers: many(1.5).slice(0, 100) }).length, 100)
  })

  it("keep their count when lists of problems are joined", () => {
    const problem = { field: "a", validator: "Type", message: "is wrong" }
    const some = limitProblems(Array.from({ length: 150 }, () => problem))
    const more = limitProblems([...some, ...some])
    assert.strictEqual(more.length, 101)
    assert.propertyVal(more[100], "message", "at least 200 more problems are not listed")
    assert.deepStrictEqual(limitProblems([problem]), [problem])
  })

  it("are not hidden by the value of a key named as a prototype", () => {
    assert.deepStrictEqual(named(Tree, JSON.parse(`{"__proto__":{"label":"x"}}`)), ["label must be given"])
    const decoded = bodyDecoder(Tree.create)(JSON.parse(`{"label":"a","__proto__":{"children":[1]},"__proto__":null}`))
    assert.deepStrictEqual(decoded, { _tag: "Valid", value: { label: "a" } })
  })
})
