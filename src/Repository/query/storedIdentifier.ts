import * as Exit from "effect/Exit"
import type * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import { managedField, type ModelLike, perModel, unwrapped } from "../../Model/introspection.ts"
import { toBson } from "./bsonForm.ts"

/**
 * The schema of a model's identifier, if it has one.
 *
 * @internal
 */
export const idSchemaOf = (model: ModelLike): Schema.Codec<unknown> | undefined => {
  const field = managedField(model, "id")
  // Fields of a struct are schemas, and plain codecs.
  return field === undefined ? undefined : unwrapped(model.store.fields[field] as Schema.Top) as Schema.Codec<unknown>
}

/**
 * The identifier as errors name it: it may be a number, or anything that has a text.
 *
 * @internal
 */
export const textOfId = (id: unknown): string => String(id)

/**
 * From an identifier as instances have it to that of documents. What is no identifier of the model stays as it is: no
 * document has it.
 *
 * @internal
 */
export const storedIdOf = perModel((model: ModelLike): (id: unknown) => unknown => {
  const schema = idSchemaOf(model)
  if (schema === undefined || schema.ast.encoding === undefined) return (id) => id
  const encode = SchemaParser.encodeUnknownExit(schema)
  return (id) => {
    const stored = encode(id)
    return Exit.isSuccess(stored) ? toBson(stored.value) : id
  }
})

/**
 * From the identifier of a document to that of instances. What the model can't read stays as it is.
 *
 * @internal
 */
export const instanceIdOf = perModel((model: ModelLike): (stored: unknown) => unknown => {
  const schema = idSchemaOf(model)
  if (schema === undefined || schema.ast.encoding === undefined) return (stored) => stored
  const decode = SchemaParser.decodeUnknownExit(schema, { disableChecks: true })
  return (stored) => {
    const id = decode(stored)
    return Exit.isSuccess(id) ? id.value : stored
  }
})
