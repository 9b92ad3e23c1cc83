/** Converts a model's identifiers between stored form, URL text and JSON. */
import * as Exit from "effect/Exit"
import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import { quote } from "../../internal/json.ts"
import { idSchemaOf, isAnyText, type ModelLike, shownIdOf } from "../../Model/internal.ts"
import { instanceIdOf } from "./bsonForm.ts"

/** The text form of a model's identifiers, for URLs and for responses that name a document. */
export interface Identifier {
  /** Parses the identifier in a URL into its decoded form; `undefined` if the model has no such identifier. */
  readonly parse: (text: string) => unknown
  /** The JSON form of a decoded identifier. */
  readonly jsonOf: (id: unknown) => unknown
  /** The text of a stored identifier. */
  readonly print: (stored: unknown) => string
  /** The JSON text of a stored identifier. */
  readonly write: (stored: unknown) => string
  /** The decoded form of a stored identifier. */
  readonly valueOf: (stored: unknown) => unknown
}

export const identifierOf: (model: ModelLike) => Identifier = memoize((model: ModelLike): Identifier => {
  const stored = idSchemaOf(model)
  const seen = shownIdOf(model)
  if (stored === undefined || seen === undefined || isAnyText(stored)) return plain
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
        // A document has one URL, so `07` does not match 7. Letter case is not significant.
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

/** The numbers that JSON.stringify writes have at most 21 digits before the point and 25 after it. */
const number = /^-?\d{1,21}(?:\.\d{1,25})?(?:e[+-]\d{1,3})?$/u

const plain: Identifier = {
  parse: (text) => text,
  jsonOf: (id) => id,
  print: String,
  write: (id) => quote(String(id)),
  valueOf: (id) => id
}
