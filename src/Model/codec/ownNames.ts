/** Values for Effect's parser, which looks for fields by `in`: without what every object inherits. */
import { identity } from "effect/Function"
import type * as SchemaAST from "effect/SchemaAST"
import { bare, isInherited, isPlainObject } from "../../internal/objects.ts"
import { childrenOf, nodesIn } from "../shape/nodes.ts"

/** Reads a value of the schema, and all that is in it, as `ownOf` reads an object. Suspended schemas are not there yet when it is made. */
export const ownIn = (ast: SchemaAST.AST): (input: unknown) => unknown => {
  let read: ((input: unknown) => unknown) | undefined
  return (input) => (read ??= hasInheritedNames(ast) ? bareIn : identity)(input)
}

const hasInheritedNames = (ast: SchemaAST.AST): boolean =>
  nodesIn(ast, (node) => childrenOf(node, true)).some((node) =>
    node._tag === "Objects" && node.propertySignatures.some(({ name }) => isInherited(name))
  )

const bareIn = (input: unknown): unknown =>
  Array.isArray(input)
    ? input.map(bareIn)
    : isPlainObject(input)
    ? bare(Object.fromEntries(Object.entries(input).map(([key, value]) => [key, bareIn(value)])))
    : input
