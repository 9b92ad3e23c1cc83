/** Copies and traverses Effect's syntax nodes, for which Effect has no public functions. */
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
