import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import type * as SchemaAST from "effect/SchemaAST"

/**
 * Lets a schema be parsed by code that is generated at its first use. In a browser, `interpretedParsers.ts` takes the
 * place of this module.
 */
export const compileParsers = (ast: SchemaAST.AST): void => SchemaJITCompiler.enable(ast)
