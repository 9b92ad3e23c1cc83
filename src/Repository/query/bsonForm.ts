/**
 * Converts the stored values of models, which do not depend on BSON, to BSON's own classes, and identifiers in
 * both directions.
 */
import { isIdentical, normaliseOperand } from "@appkernel/mql/values"
import { Binary, Decimal128, Long, ObjectId } from "bson"
import * as BigDecimal from "effect/BigDecimal"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import { memoize } from "effect/Function"
import * as Result from "effect/Result"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"
import { childrenOf, idSchemaOf, type ModelLike, nodesIn, ObjectIdText, recordEncoder } from "../../Model/internal.ts"

/** Encodes instances to stored documents, whose identifier is `_id`. */
export const documentEncoder = memoize((
  model: ModelLike
): (instance: unknown) => { readonly [key: string]: unknown } => encoderOf(model, "_id"))

/** Encodes instances to records of BSON values. */
export const encoderOf = (
  model: ModelLike,
  idKey: "id" | "_id"
): (instance: unknown) => { readonly [key: string]: unknown } => {
  const encode = recordEncoder(model, idKey)
  return containsBsonClass(model.store.ast) ? (instance) => toBsonFields(encode(instance)) : encode
}

/** Converts a value to BSON. */
export const toBson = (value: unknown): unknown => {
  if (typeof value === "bigint") return Long.fromBigInt(value)
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(toBson)
  if (value instanceof Uint8Array) return new Binary(value)
  if (value instanceof ObjectIdText) return new ObjectId(value.hex)
  if (BigDecimal.isBigDecimal(value)) return Decimal128.fromString(`${value.value}E${-value.scale}`)
  return Object.getPrototypeOf(value) === Object.prototype ? toBsonFields(value) : value
}

/** Whether a schema has values of types for which BSON has its own classes. */
const containsBsonClass = (ast: SchemaAST.AST): boolean =>
  nodesIn(ast, (node) => childrenOf(node, true)).some(({ annotations }) =>
    bsonTypesWithClass.has(annotations?.["bsonType"])
  )

/** Whether two values are stored identically. Either of them may be unencoded. */
export const isStoredIdentically = (a: unknown, b: unknown): boolean => {
  if (Equal.equals(a, b)) return true
  if (a === undefined || b === undefined) return false
  const [first, second] = [normaliseOperand(a), normaliseOperand(b)]
  return Result.isSuccess(first) && Result.isSuccess(second) && isIdentical(first.success, second.success)
}

// internal

const bsonTypesWithClass: ReadonlySet<unknown> = new Set(["long", "decimal", "binData", "objectId"])

const toBsonFields = (fields: object): { readonly [key: string]: unknown } =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, toBson(value)]))

/** The text of an identifier in errors. An identifier may be of any type. */
export const textOfId = (id: unknown): string => String(id)

/** Encodes an instance's identifier; one that is none of the model stays, and matches no document. */
export const storedIdOf = memoize((model: ModelLike): (id: unknown) => unknown => {
  const schema = idSchemaOf(model)
  if (schema === undefined || schema.ast.encoding === undefined) return (id) => id
  const encode = SchemaParser.encodeUnknownExit(schema)
  return (id) => {
    const stored = encode(id)
    return Exit.isSuccess(stored) ? toBson(stored.value) : id
  }
})

/** Decodes a document's identifier; one that the model can't decode stays. */
export const instanceIdOf = memoize((model: ModelLike): (stored: unknown) => unknown => {
  const schema = idSchemaOf(model)
  if (schema === undefined || schema.ast.encoding === undefined) return (stored) => stored
  const decode = SchemaParser.decodeUnknownExit(schema, { disableChecks: true })
  return (stored) => {
    const id = decode(stored)
    return Exit.isSuccess(id) ? id.value : stored
  }
})
