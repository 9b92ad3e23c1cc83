/**
 * Converts identifiers between instances and stored documents.
 */
import * as Exit from "effect/Exit"
import { memoize } from "effect/Function"
import * as SchemaParser from "effect/SchemaParser"
import { idSchemaOf, type ModelLike } from "../../Model/introspection.ts"
import { toBson } from "./bsonForm.ts"

/**
 * The text of an identifier in errors. An identifier may be of any type.
 *
 * @internal
 */
export const textOfId = (id: unknown): string => String(id)

/**
 * Encodes the identifier of an instance to that of a document. A value that is not an identifier of the model is returned
 * unchanged, and matches no document.
 *
 * @internal
 */
export const storedIdOf = memoize((model: ModelLike): (id: unknown) => unknown => {
  const schema = idSchemaOf(model)
  if (schema === undefined || schema.ast.encoding === undefined) return (id) => id
  const encode = SchemaParser.encodeUnknownExit(schema)
  return (id) => {
    const stored = encode(id)
    return Exit.isSuccess(stored) ? toBson(stored.value) : id
  }
})

/**
 * Decodes the identifier of a document to that of an instance. A value that the model cannot decode is returned unchanged.
 *
 * @internal
 */
export const instanceIdOf = memoize((model: ModelLike): (stored: unknown) => unknown => {
  const schema = idSchemaOf(model)
  if (schema === undefined || schema.ast.encoding === undefined) return (stored) => stored
  const decode = SchemaParser.decodeUnknownExit(schema, { disableChecks: true })
  return (stored) => {
    const id = decode(stored)
    return Exit.isSuccess(id) ? id.value : stored
  }
})
