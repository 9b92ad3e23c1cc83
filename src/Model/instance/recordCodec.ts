/**
 * Converts stored documents to instances and back, by compiled code for the usual types and by Effect's parser for
 * others.
 */
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"
import { isPlainObject, ownOf } from "../../internal/objects.ts"
import { compileParsers } from "../codec/compiledParsers.ts"
import * as iso from "../codec/dateTexts.ts"
import {
  type Decode,
  type DecodedField,
  decoderOf,
  fieldDecoder,
  invalid,
  isLinkedBy,
  isStruct,
  objectOf,
  parserOf
} from "../codec/decoder.ts"
import { type FieldProblem, problemsOf } from "../codec/fieldProblems.ts"
import { absentValue, objectFactoryOf } from "../codec/literal.ts"
import { ownIn } from "../codec/ownNames.ts"
import * as Temporal from "../codec/temporal.ts"
import { isNullValue } from "../codec/validationContext.ts"
import { type FieldAttributes, temporalKind } from "../shape/annotations.ts"
import { childrenOf, nodesIn } from "../shape/nodes.ts"
import { elementOf, isModelLike, type ModelLike, modelOf, modelTypeId, unwrapped } from "../shape/variants.ts"
import { constructorOf } from "./finaliser.ts"

/** A stored document. */
type Stored = { readonly [key: string]: unknown }

/** Decodes documents, with the identifier under `_id` or `id`. Fails with all problems. */
export const recordDecoder = <M extends ModelLike>(
  model: M
): (record: Stored) => Effect.Effect<M["Type"], ReadonlyArray<FieldProblem>> => {
  // Fields need no services: every field combinator rejects schemas that do.
  const codec = model as unknown as Schema.Codec<M["Type"], Stored>
  compileParsers(codec.ast)
  // Validators apply to input only. A date that was in the future when it was stored may be in the past now.
  const decode = SchemaParser.decodeUnknownExit(codec, withoutChecks)
  const decodeAll = SchemaParser.decodeUnknownExit(codec, { ...withoutChecks, errors: "all" })
  const own = ownIn(codec.ast)
  const fields = storedFieldsOf(model)
  const read = instanceOf(model, fields)
  const readStored = instanceOf(model, fields?.map((field) => field.key === "id" ? { ...field, from: "_id" } : field))
  return (record) => {
    const hasStoredId = record["_id"] !== undefined
    // Inherited properties are no part of a document.
    if (isPlainObject(record) && !(hasStoredId && "id" in record)) {
      const instance = hasStoredId ? readStored(record) : read(record)
      if (instance !== invalid) return Effect.succeed(instance)
    }
    const { _id, ...fields } = record
    const input = _id === undefined ? fields : { id: _id, ...fields }
    const exit = decode(own(input))
    if (exit._tag === "Success") return Effect.succeed(exit.value)
    // Compiled code stops at the first problem, so an invalid document is decoded again by the interpreter.
    const all = decodeAll(own(input))
    const issue = Cause.findErrorOption(all._tag === "Failure" ? all.cause : exit.cause)
    return issue._tag === "None" ? Effect.die(exit.cause) : Effect.fail(problemsOf(issue.value))
  }
}

const withoutChecks: SchemaAST.ParseOptions = { disableChecks: true }

/** Decodes the current stored form. The schema's parser handles documents of an older one. */
const instanceOf = (model: ModelLike, fields = storedFieldsOf(model)): Decode => {
  if (fields === undefined) return () => invalid
  const construct = constructorOf(model)
  const valuesOf = objectOf(fields)
  return (record) => {
    const values = valuesOf(record)
    return values === invalid ? invalid : construct(values)
  }
}

/** `undefined` if the stored form is no struct. */
const storedFieldsOf = (model: ModelLike): ReadonlyArray<DecodedField> | undefined => {
  const struct = model.ast.encoding?.[0]?.to
  return struct === undefined || !isStruct(struct)
    ? undefined
    : struct.propertySignatures.map((signature) =>
      storedFieldOf(signature, model[modelTypeId][String(signature.name)] ?? {})
    )
}

/** A field's decoder without the transformations of `Model.optional` and `Model.withDefault`, which are slow. */
const storedFieldOf = (signature: SchemaAST.PropertySignature, attributes: FieldAttributes): DecodedField => {
  const { absent, optional = false } = attributes
  const [first, second, ...others] = signature.type.encoding ?? []
  if (optional && absent === undefined && first?.to._tag === "Union" && second === undefined) {
    const key = String(signature.name)
    const read = readerOf(first.to)
    const decode = (value: unknown) => {
      const decoded = read(value)
      return decoded === null ? absentValue : decoded
    }
    return { key, from: key, decode, absent: () => absentValue }
  }
  const field = fieldDecoder(signature, readerOf, withoutChecks)
  return !optional && absent !== undefined && second !== undefined && others.length === 0
    ? { ...field, decode: readerOf(second.to) }
    : field
}

const readerOf = (ast: SchemaAST.AST): Decode =>
  (ast.encoding === undefined ? decoderOf(ast, readerOf) : temporalOf(ast) ?? nestedOf(ast)) ??
    parserOf(ast, withoutChecks)

const temporalOf = (ast: SchemaAST.AST): Decode | undefined => {
  const isDate = isLinkedBy(ast, Temporal.Date)
  if (!isDate && !isLinkedBy(ast, Temporal.DateTime) || !isStoredForm(ast.encoding?.[0]?.to)) return undefined
  return (value) => {
    if (!iso.isDate(value)) return invalid
    return DateTime.makeUnsafe(isDate ? iso.toMidnight(value.getTime()) : value.getTime())
  }
}

/** A decoder for an instance of a nested model. */
const nestedOf = (ast: SchemaAST.AST): Decode | undefined => {
  const model = modelOf(ast)
  const own = model?.ast.encoding?.[0]
  const [link, ...others] = ast.encoding ?? []
  return model !== undefined && link?.transformation === own?.transformation && others.length === 0 &&
      link?.to._tag === "Objects" && own?.to._tag === "Objects" && isStoredForm(link.to) &&
      link.to.propertySignatures === own.to.propertySignatures
    ? instanceOf(model)
    : undefined
}

const isStoredForm = (ast: SchemaAST.AST | undefined): boolean => ast?.encoding === undefined

type Encode = (value: unknown) => unknown

/** Encodes instances, which are valid by construction, and completed values, whose `null` means missing. */
export const recordEncoder = (model: ModelLike, idKey: "id" | "_id"): (instance: unknown) => Stored => {
  const fields = Object.entries(model.store.fields).map(([key, field]) => {
    // Every struct field is a schema.
    const schema = field as Schema.Top
    const attributes = model[modelTypeId][key] ?? {}
    return {
      key,
      storedKey: attributes.managed === "id" ? idKey : key,
      nullIsValue: isNullValue(schema, attributes),
      encode: encoderOf(unwrapped(schema))
    }
  })
  const make = objectFactoryOf(fields.map(({ storedKey }) => storedKey))
  const own = ownOf(fields.map(({ key }) => key))
  return (instance) => {
    // A caller gives an instance.
    const properties = own(instance as Stored)
    const values: Array<unknown> = new Array(fields.length)
    for (let i = 0; i < fields.length; i++) {
      const { encode, key, nullIsValue } = fields[i]!
      // An instance has its fields as own properties.
      const value = properties[key]
      values[i] = value === undefined || value === null && !nullIsValue
        ? absentValue
        : value === null || encode === undefined
        ? value
        : encode(value)
    }
    return make(values)
  }
}

/** `undefined` if the value is stored as it is. */
const encoderOf = (schema: Schema.Top): Encode | undefined => {
  if (isModelLike(schema)) {
    const model = schema
    let encode: ((instance: unknown) => Stored) | undefined
    return (value) => (encode ??= recordEncoder(model, "id"))(value)
  }
  if (!isTransformed(schema.ast)) return undefined
  const element = elementOf(schema)
  const encodeElement = element === undefined ? undefined : encoderOf(unwrapped(element))
  if (encodeElement !== undefined) {
    return (value) =>
      Array.isArray(value) ? value.map((item: unknown) => item === null ? null : encodeElement(item)) : value
  }
  if (SchemaAST.toEncoded(schema.ast).annotations?.[temporalKind] === "datetime") {
    return (value) => DateTime.isDateTime(value) ? DateTime.toDateUtc(value) : value
  }
  return SchemaAST.isOptional(SchemaAST.toEncoded(schema.ast)) ? structEncoderOf(schema) : schemaEncoderOf(schema)
}

const schemaEncoderOf = (schema: Schema.Top): Encode => {
  // Fields need no services.
  const codec = schema as unknown as Schema.Codec<unknown>
  compileParsers(SchemaAST.flip(codec.ast))
  return SchemaParser.encodeUnknownSync(codec, { disableChecks: true })
}

/** An encoder for values that may be encoded to a missing property. */
const structEncoderOf = (schema: Schema.Top): Encode => {
  const encode = schemaEncoderOf(Schema.Struct({ value: schema }))
  return (value) => {
    // A struct is encoded to an object of its fields.
    const { value: encoded = absentValue } = encode({ value }) as { readonly value?: unknown }
    return encoded
  }
}

/** Whether the stored form differs from the value itself. */
const isTransformed = (ast: SchemaAST.AST): boolean =>
  nodesIn(ast, (node) => childrenOf(node, false)).some((node) =>
    node.encoding !== undefined || node._tag === "Suspend" ||
    node._tag === "Declaration" && node.typeParameters.length > 0
  )
