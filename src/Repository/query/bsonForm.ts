/**
 * From what a model says of stored values, which knows no BSON, to BSON's own classes.
 */
import { Binary, Decimal128, Long, ObjectId } from "bson"
import * as BigDecimal from "effect/BigDecimal"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import type * as SchemaAST from "effect/SchemaAST"
import { childrenOf, type ModelLike, ObjectIdText, perModel, recordEncoder } from "../../Model/introspection.ts"
import { normaliseOperand } from "../bson/normalise.ts"
import { isIdentical } from "../bson/value.ts"

/**
 * Stored documents of instances, whose identifier is `_id`.
 *
 * @internal
 */
export const documentEncoder = perModel((
  model: ModelLike
): (instance: unknown) => { readonly [key: string]: unknown } => encoderOf(model, "_id"))

/**
 * Records of instances with the values that documents have.
 *
 * @internal
 */
export const encoderOf = (
  model: ModelLike,
  idKey: "id" | "_id"
): (instance: unknown) => { readonly [key: string]: unknown } => {
  const encode = recordEncoder(model, idKey)
  return holdsBson(model.store.ast) ? (instance) => toBsonFields(encode(instance)) : encode
}

/**
 * The value as documents have it.
 *
 * @internal
 */
export const toBson = (value: unknown): unknown => {
  if (typeof value === "bigint") return Long.fromBigInt(value)
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(toBson)
  if (value instanceof Uint8Array) return new Binary(value)
  if (value instanceof ObjectIdText) return new ObjectId(value.hex)
  if (BigDecimal.isBigDecimal(value)) return Decimal128.fromString(`${value.value}E${-value.scale}`)
  return Object.getPrototypeOf(value) === Object.prototype ? toBsonFields(value) : value
}

/** Whether a schema has values that BSON has classes of its own for. */
const holdsBson = (ast: SchemaAST.AST, seen: Set<SchemaAST.AST> = new Set()): boolean => {
  if (seen.has(ast)) return false
  seen.add(ast)
  return classes.has(ast.annotations?.["bsonType"]) || childrenOf(ast, true).some((part) => holdsBson(part, seen))
}

/**
 * Whether two values, of which neither need be as documents have it, would be stored as the same.
 *
 * @internal
 */
export const isStoredAlike = (a: unknown, b: unknown): boolean => {
  if (Equal.equals(a, b)) return true
  if (a === undefined || b === undefined) return false
  const [first, second] = [normaliseOperand(a), normaliseOperand(b)]
  return Result.isSuccess(first) && Result.isSuccess(second) && isIdentical(first.success, second.success)
}

// internal

const classes: ReadonlySet<unknown> = new Set(["long", "decimal", "binData", "objectId"])

const toBsonFields = (fields: object): { readonly [key: string]: unknown } =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, toBson(value)]))
