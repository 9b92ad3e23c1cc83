/** Copies, traverses and folds Effect's syntax nodes, for which Effect has no public functions. */
import { memoize } from "effect/Function"
import * as SchemaAST from "effect/SchemaAST"

/** A copy of a node with some of its properties replaced. Effect's nodes have no public constructor for this. */
export const withParts = <A extends SchemaAST.AST>(ast: A, parts: { readonly [key: string]: unknown }): A => {
  const properties = Object.entries(parts).map(([key, value]) => [key, { value, enumerable: true }] as const)
  const copy: unknown = Object.create(Object.getPrototypeOf(ast), {
    ...Object.getOwnPropertyDescriptors(ast),
    ...Object.fromEntries(properties)
  })
  // The copy has the same prototype.
  return copy as A
}

/** The node with those of its checks that are kept; the same node if all are. */
export const withChecksThat = <A extends SchemaAST.AST>(
  ast: A,
  isKept: (check: SchemaAST.Check<never>) => boolean
): A => {
  const kept = ast.checks?.filter(isKept)
  return kept === undefined || kept.length === ast.checks?.length
    ? ast
    : withParts(ast, { checks: kept.length === 0 ? undefined : kept })
}

/** The direct children of a node, including those of its encoding. */
export const childrenOf = (ast: SchemaAST.AST, intoSuspended: boolean): ReadonlyArray<SchemaAST.AST> => {
  const sources = (ast.encoding ?? []).map(({ to }) => to)
  switch (ast._tag) {
    case "Declaration":
      return [...sources, ...ast.typeParameters]
    case "Arrays":
      return [...sources, ...ast.elements, ...ast.rest]
    case "Objects":
      return [
        ...sources,
        ...ast.propertySignatures.map(({ type }) => type),
        ...ast.indexSignatures.map(({ type }) => type)
      ]
    case "Union":
      return [...sources, ...ast.types]
    case "Suspend":
      return intoSuspended ? [...sources, ast.thunk()] : sources
    default:
      return sources
  }
}

/** Whether all elements of the list are of one type. The first ones may have to be there. */
export const isOfOneType = ({ elements, rest }: SchemaAST.Arrays): boolean =>
  rest.length === 1 && elements.every((element) => element === rest[0])

/** The type of an element of a list of a length; those of the rest but the first one are of the last elements. */
export const typeAt = (
  { elements, rest: [others, ...last] }: SchemaAST.Arrays,
  index: number,
  length: number
): SchemaAST.AST | undefined =>
  elements[index] ?? last[index - Math.max(elements.length, length - last.length)] ?? others

/** The node with its direct parts replaced, and its encoding as it is; the same node if no part changes. */
export const mapParts = (ast: SchemaAST.AST, replace: (part: SchemaAST.AST) => SchemaAST.AST): SchemaAST.AST => {
  switch (ast._tag) {
    case "Arrays":
      return withChanged(ast, { elements: mapped(ast.elements, replace), rest: mapped(ast.rest, replace) })
    case "Objects":
      return withChanged(ast, {
        propertySignatures: mapped(ast.propertySignatures, (signature) => {
          const type = replace(signature.type)
          return type === signature.type ? signature : new SchemaAST.PropertySignature(signature.name, type)
        }),
        indexSignatures: mapped(ast.indexSignatures, (signature) => {
          const type = replace(signature.type)
          return type === signature.type ? signature : new SchemaAST.IndexSignature(signature.parameter, type)
        })
      })
    case "Union":
      return withChanged(ast, { types: mapped(ast.types, replace) })
    case "Suspend":
      return new SchemaAST.Suspend(() => replace(ast.thunk()), ast.annotations, ast.checks, undefined, ast.context)
    default:
      return ast
  }
}

const mapped = <A>(items: ReadonlyArray<A>, replace: (item: A) => A): ReadonlyArray<A> => {
  const replaced = items.map((item) => replace(item))
  return replaced.every((item, i) => item === items[i]) ? items : replaced
}

const withChanged = <A extends SchemaAST.AST>(ast: A, parts: { readonly [K in keyof A]?: unknown }): A =>
  Object.entries(parts).every(([key, part]) => Reflect.get(ast, key) === part) ? ast : withParts(ast, parts)

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
  const nodes = new Set([ast])
  // A set goes on with what is added to it meanwhile.
  for (const node of nodes) {
    for (const part of partsOf(node)) nodes.add(part)
  }
  return [...nodes]
}
