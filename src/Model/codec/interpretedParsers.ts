import type * as SchemaAST from "effect/SchemaAST"

/**
 * Takes the place of `compiledParsers.ts` in a browser, where policies forbid to generate code, and where the generator
 * would be an eighth of a client.
 */
export const compileParsers: (ast: SchemaAST.AST) => void = () => {}
