/** The traversals of schemas: a fold with a case for each kind of node, and the list of all nodes. */
import { memoize } from "effect/Function"
import type * as SchemaAST from "effect/SchemaAST"

/** What becomes of each kind of node. A case asks for its parts by the fold that it belongs to. */
type Cases<A> =
  & {
    readonly [Tag in Exclude<SchemaAST.AST["_tag"], "Suspend">]?: (
      ast: Extract<SchemaAST.AST, { readonly _tag: Tag }>
    ) => A
  }
  & {
    /** Comes before the cases, and decides by what all kinds have, such as an encoding, or by the node's own case. */
    readonly first?: (ast: SchemaAST.AST, byCase: () => A) => A
    /** Of a suspended node, which is resolved when `inner` is called first. By default it is what the inner node is. */
    readonly Suspend?: (inner: () => A, ast: SchemaAST.Suspend) => A
    /** Of the kinds that have no case. */
    readonly otherwise: (ast: SchemaAST.AST) => A
  }

/** A function of nodes by their kind, computed once each: recursion ends where `Suspend` puts its node off. */
// A bundle leaves out what it makes and nobody uses.
/* @__NO_SIDE_EFFECTS__ */
export const fold = <A>(cases: Cases<A>): (ast: SchemaAST.AST) => A => {
  const { Suspend: suspended = (inner: () => A) => inner(), first = (_: SchemaAST.AST, byCase: () => A) => byCase() } =
    cases
  const byCase = (ast: SchemaAST.AST): A => {
    if (ast._tag === "Suspend") {
      let known: { readonly value: A } | undefined
      return suspended(() => (known ??= resultOf(ast.thunk())).value, ast)
    }
    // The case has the tag of the node.
    return (cases[ast._tag] as Cases<A>["otherwise"] | undefined ?? cases.otherwise)(ast)
  }
  const resultOf = memoize((ast: SchemaAST.AST) => ({ value: first(ast, () => byCase(ast)) }))
  return (ast) => resultOf(ast).value
}

/** The node and all nodes within it, each once, outer ones first. It goes on with the parts that `partsOf` names. */
export const nodesIn = (
  ast: SchemaAST.AST,
  partsOf: (ast: SchemaAST.AST) => ReadonlyArray<SchemaAST.AST>
): ReadonlyArray<SchemaAST.AST> => {
  const nodes = new Set<SchemaAST.AST>()
  const visit = (node: SchemaAST.AST): void => {
    if (nodes.has(node)) return
    nodes.add(node)
    for (const part of partsOf(node)) visit(part)
  }
  visit(ast)
  return [...nodes]
}
