import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { Model } from "../../../src/Model/index.ts"
import { modelsIn, someFieldIn } from "../../../src/Model/shape/variants.ts"

class Leaf extends Model.Class<Leaf>()("Leaf", {
  secret: Schema.String.pipe(Model.omitted)
}) {}

class Branch extends Model.Class<Branch>()("Branch", {
  leaf: Leaf.pipe(Model.optional),
  leaves: Schema.Array(Leaf),
  branches: Schema.Array(Schema.suspend((): Schema.Codec<unknown> => Branch))
}) {}

class Tree extends Model.Class<Tree>()("Tree", { branch: Branch, leaf: Schema.NullOr(Leaf) }) {}

describe("The models in a model", () => {
  it("are it and those in its fields, lists and recursive fields, each once", () => {
    assert.deepStrictEqual([...new Set(modelsIn(Tree).map(({ modelName }) => modelName))], ["Tree", "Branch", "Leaf"])
    assert.lengthOf(modelsIn(Tree).filter((model) => model === Leaf), 1)
    assert.deepStrictEqual(modelsIn(Leaf), [Leaf])
  })

  it("have a field with an attribute, or not", () => {
    assert.isTrue(someFieldIn(Tree, ({ omitted }) => omitted === true))
    assert.isTrue(someFieldIn(Tree, (_, key, model) => key === "leaves" && model === Branch))
    assert.isFalse(someFieldIn(Tree, ({ generator }) => generator !== undefined))
  })
})
