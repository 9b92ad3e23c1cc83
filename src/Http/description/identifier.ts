import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import { managedField, type ModelLike, nameOf, perModel, unwrapped } from "../../Model/introspection.ts"
import { idSchemaOf } from "../../Repository/query/storedIdentifier.ts"

/**
 * The identifiers of a model's documents as text: in URLs, and in answers that name a document.
 *
 * @internal
 */
export interface Identifier {
  /** The identifier, as instances have it, that a part of a URL stands for; `undefined` when the model has none such. */
  readonly parse: (text: string) => unknown
  /** An identifier, as instances have it, as bodies do. */
  readonly jsonOf: (id: unknown) => unknown
  /** The text of a stored identifier. */
  readonly print: (stored: unknown) => string
  /** A stored identifier as instances have it. */
  readonly valueOf: (stored: unknown) => unknown
}

/** @internal */
export const identifierOf: (model: ModelLike) => Identifier = perModel((model: ModelLike): Identifier => {
  const stored = idSchemaOf(model)
  // Fields of a struct are schemas.
  const seen = model.wire.fields[managedField(model, "id") ?? ""] as Schema.Top | undefined
  if (stored === undefined || seen === undefined || isText(stored)) return plain
  if (stored.ast._tag === "String" && stored.ast.encoding === undefined) {
    const isId = Schema.is(stored)
    return { ...plain, parse: (text) => isId(text) ? text : undefined }
  }
  const decodeStored = SchemaParser.decodeUnknownExit(stored, { disableChecks: true })
  // Fields need no services.
  const codec = Schema.toCodecJson(unwrapped(seen) as Schema.Codec<unknown>)
  const decode = SchemaParser.decodeUnknownExit(codec)
  const encode = SchemaParser.encodeUnknownExit(codec, { disableChecks: true })
  const textOf = (value: unknown): string => {
    const json = encode(value)
    return Exit.isFailure(json) ? "" : typeof json.value === "string" ? json.value : JSON.stringify(json.value)
  }
  const valueOf = (id: unknown): unknown => {
    const value = decodeStored(id)
    return Exit.isSuccess(value) ? value.value : id
  }
  return {
    parse: (text) => {
      for (const json of number.test(text) ? [text, Number(text)] : [text]) {
        const value = decode(json)
        // A document has one place: `07` is not that of 7. Capital letters are as good as others.
        if (Exit.isSuccess(value) && [text, text.toLowerCase()].includes(textOf(value.value))) return value.value
      }
      return undefined
    },
    jsonOf: (id) => {
      const json = encode(id)
      return Exit.isSuccess(json) ? json.value : undefined
    },
    print: (id) => textOf(valueOf(id)),
    valueOf
  }
})

const number = /^-?\d{1,17}(?:\.\d{1,17})?$/u

/** Whether any text is one. What a URL addresses is never empty. */
const isText = ({ ast }: Schema.Top): boolean =>
  ast._tag === "String" && ast.encoding === undefined &&
  (ast.checks ?? []).every((check) => nameOf(check) === "effect/schema/isMinLength")

const plain: Identifier = { parse: (text) => text, jsonOf: (id) => id, print: String, valueOf: (id) => id }
