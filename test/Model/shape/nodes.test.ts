import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import { childrenOf, fold, nodesIn } from "../../../src/Model/shape/nodes.ts"

interface Category {
  readonly name: string
  readonly children: ReadonlyArray<Category>
}

const Category = Schema.Struct({
  name: Schema.String,
  children: Schema.Array(Schema.suspend((): Schema.Codec<Category> => Category))
})

describe("fold", () => {
  it("follows a suspended node where no case puts it off", () => {
    const nounOf = fold<string>({ String: () => "text", otherwise: () => "other" })
    assert.strictEqual(nounOf(Schema.suspend(() => Schema.String).ast), "text")
    assert.strictEqual(nounOf(Schema.suspend(() => Schema.Boolean).ast), "other")
  })

  it("ends at the node that a recursive schema puts off, and computes each result once", () => {
    const computed: Array<SchemaAST.AST> = []
    const namesIn: (ast: SchemaAST.AST) => (value: unknown) => ReadonlyArray<unknown> = fold<
      (value: unknown) => ReadonlyArray<unknown>
    >({
      first: (ast, byCase) => {
        computed.push(ast)
        return byCase()
      },
      String: () => (value) => [value],
      Arrays: ({ rest }) => {
        const [item] = rest.map(namesIn)
        return (value) => (value as ReadonlyArray<unknown>).flatMap((part) => item?.(part) ?? [])
      },
      Objects: ({ propertySignatures }) => {
        const parts = propertySignatures.map(({ name, type }) => [name, namesIn(type)] as const)
        return (value) => parts.flatMap(([name, part]) => part(Reflect.get(value as object, name)))
      },
      Suspend: (inner) => (value) => inner()(value),
      otherwise: () => () => []
    })
    const value = { name: "a", children: [{ name: "b", children: [{ name: "c", children: [] }] }] }
    for (let i = 0; i < 3; i++) assert.deepStrictEqual(namesIn(Category.ast)(value), ["a", "b", "c"])
    assert.strictEqual(new Set(computed).size, computed.length)
  })

  it("lets `first` decide before the case, and remembers `undefined` too", () => {
    let calls = 0
    const own = fold<string | undefined>({
      first: (ast, byCase) => {
        calls++
        return ast.encoding === undefined ? byCase() : undefined
      },
      Boolean: () => "boolean",
      otherwise: () => "other"
    })
    for (let i = 0; i < 2; i++) {
      assert.strictEqual(own(Schema.FiniteFromString.ast), undefined)
      assert.strictEqual(own(Schema.Boolean.ast), "boolean")
    }
    assert.strictEqual(calls, 2)
  })

  it("lists each node of a recursive schema once, outer ones first", () => {
    const nodes = nodesIn(Category.ast, (ast) => childrenOf(ast, true))
    assert.strictEqual(nodes[0], Category.ast)
    assert.strictEqual(new Set(nodes).size, nodes.length)
    assert.deepStrictEqual(nodes.map(({ _tag }) => _tag), ["Objects", "String", "Arrays", "Suspend"])
  })

  it("lists no part of a node that isn't followed", () => {
    const nodes = nodesIn(Category.ast, (ast) => ast._tag === "Arrays" ? [] : childrenOf(ast, true))
    assert.deepStrictEqual(nodes.map(({ _tag }) => _tag), ["Objects", "String", "Arrays"])
  })
})
