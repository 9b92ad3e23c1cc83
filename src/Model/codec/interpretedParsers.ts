/** Replaces `compiledParsers.ts` in browsers: schemas are interpreted, and no code is generated. */
import type * as SchemaAST from "effect/SchemaAST"

/** For browsers, whose policies forbid generated code, and where the generator is an eighth of a client. */
export const compileParsers: (ast: SchemaAST.AST) => void = () => {}
