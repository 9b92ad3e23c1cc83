/** Which types of values a field may have, as a store compares them. */
import type * as SchemaAST from "effect/SchemaAST"
import { fold } from "../../Model/internal.ts"

/**
 * Whether a store compares all values with each other as values of `one` type, or of `several`, which it orders by type first;
 * `undefined` if some are lists or documents. `null` is no type here.
 */
export const comparedTypesOf = (ast: SchemaAST.AST): "one" | "several" | undefined => {
  const types = new Set(typesOf(ast))
  return types.has(withParts) ? undefined : types.size > 1 ? "several" : "one"
}

// internal

const withParts: unique symbol = Symbol("withParts")

const typesOf: (ast: SchemaAST.AST) => ReadonlyArray<unknown> = fold<ReadonlyArray<unknown>>({
  Null: () => [],
  Undefined: () => [],
  Never: () => [],
  String: () => ["string"],
  TemplateLiteral: () => ["string"],
  Number: () => ["number"],
  BigInt: () => ["number"],
  Boolean: () => ["boolean"],
  Literal: ({ literal }) => [typeof literal === "bigint" ? "number" : typeof literal],
  Enum: ({ enums }) => enums.map(([, value]) => typeof value),
  Union: ({ types }) => types.flatMap(typesOf),
  // Dates, identifiers and binary values: each class is one type.
  Declaration: (ast) => [ast],
  // What refers to itself has parts.
  Suspend: () => [withParts],
  otherwise: () => [withParts]
})
