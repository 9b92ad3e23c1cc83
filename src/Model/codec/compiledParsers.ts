/**
 * Effect's code generator for schema parsers, in a module of its own since browsers replace it by
 * `interpretedParsers.ts`.
 */
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import type * as SchemaAST from "effect/SchemaAST"

/** Lets generated code parse a schema. In a browser, `interpretedParsers.ts` takes this module's place. */
export const compileParsers = (ast: SchemaAST.AST): void => SchemaJITCompiler.enable(ast)
