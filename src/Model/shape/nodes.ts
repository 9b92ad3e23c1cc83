import type * as SchemaAST from "effect/SchemaAST"

/**
 * A copy of a node with other parts. A node has no constructor that changes one of its parts alone; the copy differs from
 * it in nothing else.
 *
 * @internal
 */
export const withParts = <A extends SchemaAST.AST>(ast: A, parts: { readonly [key: string]: unknown }): A => {
  const properties = Object.entries(parts).map(([key, value]) => [key, { value, enumerable: true }] as const)
  const copy: unknown = Object.create(Object.getPrototypeOf(ast), {
    ...Object.getOwnPropertyDescriptors(ast),
    ...Object.fromEntries(properties)
  })
  // It is of the same class.
  return copy as A
}

/**
 * The nodes that a node is made of, and those that it is encoded to.
 *
 * @internal
 */
export const partsOf = (ast: SchemaAST.AST, intoSuspended: boolean): ReadonlyArray<SchemaAST.AST> => {
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
