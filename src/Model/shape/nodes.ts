import type * as SchemaAST from "effect/SchemaAST"

/**
 * A copy of a node with some of its properties replaced. Effect's nodes have no public constructor for this.
 *
 * @internal
 */
export const withParts = <A extends SchemaAST.AST>(ast: A, parts: { readonly [key: string]: unknown }): A => {
  const properties = Object.entries(parts).map(([key, value]) => [key, { value, enumerable: true }] as const)
  const copy: unknown = Object.create(Object.getPrototypeOf(ast), {
    ...Object.getOwnPropertyDescriptors(ast),
    ...Object.fromEntries(properties)
  })
  // The copy has the same prototype.
  return copy as A
}

/**
 * The direct children of a node, including those of its encoding.
 *
 * @internal
 */
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
