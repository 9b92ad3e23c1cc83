/**
 * Which fields of a model a caller may name in a request, and how a value for one is read. Everything that takes a field
 * name from outside asks here.
 *
 * @since 0.1.0
 */
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"
import { elementOf, modelTypeId, nestedModel, unwrapped } from "../Model/internal/variants.ts"
import type * as Model from "../Model/Model.ts"

/**
 * A field that a caller may name.
 *
 * @category models
 * @since 0.1.0
 */
export interface AccessibleField {
  /** The name in the request: `address.city`. */
  readonly name: string
  /** The path in the stored document. */
  readonly path: string
  /** Whether documents can be put in its order. */
  readonly sortable: boolean
  /** The stored value that a text stands for; none when the field can't take it. A list takes one of its elements. */
  readonly read: (text: string) => Option.Option<unknown>
}

/**
 * The fields that a caller may name, by name. Omitted fields are not among them, at any depth.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fieldsOf = (model: Model.Any): ReadonlyMap<string, AccessibleField> => {
  const fields = new Map<string, AccessibleField>()
  collect(model, "", fields, new Set())
  return fields
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const collect = (
  model: Model.Any,
  prefix: string,
  fields: Map<string, AccessibleField>,
  seen: ReadonlySet<unknown>
): void => {
  for (const field of Object.keys(model.wire.fields)) {
    const schema = model.store.fields[field]
    if (schema === undefined) continue
    const name = prefix + field
    const isId = prefix === "" && model[modelTypeId][field]?.managed === "id"
    const inner = nestedModel(schema)
    if (inner === undefined) {
      // A field of a struct is a schema.
      fields.set(name, accessible(name, isId ? "_id" : name, schema as Schema.Top))
    } else if (!seen.has(inner)) {
      collect(inner, `${name}.`, fields, new Set([...seen, inner]))
    }
  }
}

const accessible = (name: string, path: string, schema: Schema.Top): AccessibleField => {
  const element = elementOf(schema)
  return { name, path, sortable: element === undefined, read: reader(element ?? unwrapped(schema)) }
}

const booleans: { readonly [text: string]: boolean } = Object.assign(Object.create(null), {
  true: true,
  false: false,
  yes: true,
  no: false,
  y: true,
  n: false
})

const reader = (schema: Schema.Top): (text: string) => Option.Option<unknown> => {
  // Fields are plain codecs.
  const field = schema as unknown as Schema.Codec<unknown>
  const json = Schema.toCodecJson(field)
  const decode = SchemaParser.decodeUnknownExit(json)
  const encode = SchemaParser.encodeUnknownExit(field)
  const isBoolean = SchemaAST.toEncoded(json.ast)._tag === "Boolean"
  const isText = SchemaAST.toEncoded(json.ast)._tag === "String"
  // A text may stand for itself or for a number; the field's schema says which of them it takes.
  const candidates = (text: string): ReadonlyArray<unknown> => {
    if (isBoolean) return [booleans[text.toLowerCase()]]
    const number = isText || text.trim() === "" ? Number.NaN : Number(text)
    return Number.isFinite(number) ? [number, text] : [text]
  }
  return (text) => {
    for (const candidate of candidates(text)) {
      const decoded = decode(candidate)
      if (!Exit.isSuccess(decoded)) continue
      const stored = encode(decoded.value)
      if (Exit.isSuccess(stored)) return Option.some(stored.value)
    }
    return Option.none()
  }
}
