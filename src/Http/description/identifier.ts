import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import { quote } from "../../internal/json.ts"
import { managedField, type ModelLike, nameOf, perModel, unwrapped } from "../../Model/introspection.ts"
import { idSchemaOf, instanceIdOf } from "../../Repository/introspection.ts"

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
  /** The JSON text of a stored identifier. */
  readonly write: (stored: unknown) => string
  /** A stored identifier as instances have it. */
  readonly valueOf: (stored: unknown) => unknown
}

/** @internal */
export const identifierOf: (model: ModelLike) => Identifier = perModel((model: ModelLike): Identifier => {
  const stored = idSchemaOf(model)
  const seen = shownIdOf(model)
  if (stored === undefined || seen === undefined || isText(stored)) return plain
  if (stored.ast._tag === "String" && stored.ast.encoding === undefined) {
    const isId = Schema.is(stored)
    return { ...plain, parse: (text) => isId(text) ? text : undefined }
  }
  // Fields need no services.
  const codec = Schema.toCodecJson(seen as Schema.Codec<unknown>)
  const decode = SchemaParser.decodeUnknownExit(codec)
  const encode = SchemaParser.encodeUnknownExit(codec, { disableChecks: true })
  const jsonOf = (id: unknown): unknown => {
    const json = encode(id)
    return Exit.isSuccess(json) ? json.value : undefined
  }
  const textOf = (id: unknown): string => {
    const json = jsonOf(id)
    return json === undefined ? "" : typeof json === "string" ? json : JSON.stringify(json)
  }
  const valueOf = instanceIdOf(model)
  return {
    parse: (text) => {
      for (const json of number.test(text) ? [text, Number(text)] : [text]) {
        const value = decode(json)
        // A document has one place: `07` is not that of 7. Capital letters are as good as others.
        if (Exit.isSuccess(value) && [text, text.toLowerCase()].includes(textOf(value.value))) return value.value
      }
      return undefined
    },
    jsonOf,
    print: (id) => textOf(valueOf(id)),
    write: (id) => JSON.stringify(jsonOf(valueOf(id))),
    valueOf
  }
})

const number = /^-?\d{1,17}(?:\.\d{1,17})?$/u

/** Whether any text is one. What a URL addresses is never empty. */
const isText = ({ ast }: Schema.Top): boolean =>
  ast._tag === "String" && ast.encoding === undefined &&
  (ast.checks ?? []).every((check) => nameOf(check) === "effect/schema/isMinLength")

const plain: Identifier = {
  parse: (text) => text,
  jsonOf: (id) => id,
  print: String,
  write: (id) => quote(String(id)),
  valueOf: (id) => id
}

/** The schema of the identifier as callers see it; `undefined` where they don't. */
const shownIdOf = (model: ModelLike): Schema.Top | undefined => {
  const field = model.wire.fields[managedField(model, "id") ?? ""]
  // Fields of a struct are schemas.
  return field === undefined ? undefined : unwrapped(field as Schema.Top)
}

/**
 * The schema of identifiers on the wire; `undefined` where any text is one.
 *
 * @internal
 */
export const wireIdOf = (model: ModelLike): Schema.Top | undefined => {
  const stored = idSchemaOf(model)
  return stored === undefined || isText(stored) ? undefined : shownIdOf(model)
}
