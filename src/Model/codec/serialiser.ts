/** Compiles a model to a function that writes stored documents as JSON text, without intermediate objects. */
import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"
import { escaped } from "../../internal/json.ts"
import { temporalKind } from "../shape/annotations.ts"
import { definesKind, isKind } from "../shape/fields.ts"
import { childrenOf, fold, isOfOneType, mapParts, nodesIn, withChecksThat } from "../shape/nodes.ts"
import { assertStorable } from "../shape/storable.ts"
import { assertSeparable, type ModelLike, modelOf, modelTypeId, unwrapped } from "../shape/variants.ts"
import { compileParsers } from "./compiledParsers.ts"
import { formatDate, formatDateTime, isDate } from "./dateTexts.ts"
import { jsonCodec } from "./jsonCodec.ts"
import { type Member, objectWriter } from "./objectWriter.ts"
import { isNullValue } from "./validationContext.ts"

/**
 * Writes a stored document as the JSON text of its wire form in one pass. `links` is inserted after `_type`; it is
 * empty or a member with a trailing comma. Returns `undefined` for a document that does not match the model's
 * structure. Validators do not run, since they may be newer than the document.
 */
export type Serialiser = (document: Values, links: string) => string | undefined

type Values = { readonly [key: string]: unknown }

/** Writes a value as JSON text; `undefined` for a value of another type. */
type Write = (value: unknown) => string | undefined

/** A compiled writer for a value. */
interface Writer {
  readonly write: Write
  /** Whether the caller still has to add quotation marks. Fewer string pieces are faster to join. */
  readonly isQuoted: boolean
}

export const compileSerialiser = (model: ModelLike): Serialiser => {
  for (const [key, field] of Object.entries(model.wire.fields)) {
    // Every struct field is a schema.
    const schema = field as Schema.Top
    assertSeparable(model.modelName, key, schema, { suspended: true })
    assertStorable(model.modelName, key, schema.ast, { isVisible: true, suspended: true })
  }
  const ast = SchemaAST.toEncoded(model.wire.ast)
  return ast._tag === "Objects" ? compileObject(ast, "_id") : () => undefined
}

/** The wire form of a field's decoded value, as parsed JSON. */
export const toWire = (model: ModelLike, key: string, value: unknown): unknown => {
  const wire = model.wire.fields[key]
  if (wire === undefined) return undefined
  // Every struct field is a schema.
  const write = transcoderOf(model, key) ?? withQuotes(compile(SchemaAST.toEncoded((wire as Schema.Top).ast)))
  const text = write(encoderOf(model.store.fields[key] as Schema.Top)(value))
  return text === undefined ? undefined : JSON.parse(text)
}

const quoted = (write: Write): Writer => ({ write, isQuoted: true })

const unquoted = (write: Write): Writer => ({ write, isQuoted: false })

const withQuotes = ({ isQuoted, write }: Writer): Write => {
  if (!isQuoted) return write
  return (value) => {
    const text = write(value)
    return text === undefined ? undefined : `"${text}"`
  }
}

const string = quoted((value) => typeof value === "string" ? escaped(value) : undefined)

const hundredths = Array.from({ length: 100 }, (_, i) => `${i / 100}`.slice(1))

/**
 * A number with two decimals, such as a price, in two parts whose texts are known: V8 takes three times as long. The division
 * gives the double that is nearest to the decimal, whose digits are the shortest ones that do.
 */
const decimal = (value: number): string => {
  const cents = Math.round(value * 100)
  if (cents / 100 !== value || cents < 0 || cents > maxCents) return `${value}`
  const whole = Math.floor(cents / 100)
  return `${whole}${hundredths[cents - whole * 100]}`
}

const maxCents = 1e9

const finite = unquoted((value) => typeof value === "number" && Number.isFinite(value) ? decimal(value) : undefined)

const int = unquoted((value) => typeof value === "number" && Number.isSafeInteger(value) ? `${value}` : undefined)

const boolean = unquoted((value) => value === true ? "true" : value === false ? "false" : undefined)

const nullWriter = unquoted((value) => value === null ? "null" : undefined)

const dateTime = quoted((value) => isDate(value) ? formatDateTime(value) : undefined)

const date = quoted((value) => isDate(value) ? formatDate(value) : undefined)

const compileObject = (ast: SchemaAST.Objects, idKey: string): Serialiser => {
  const model = modelOf(ast)
  let head = "{"
  const members: Array<Member> = []
  for (const { name, type } of ast.propertySignatures) {
    const key = String(name)
    if (model !== undefined && key === "_type" && type._tag === "Literal") {
      head += `"_type":${JSON.stringify(type.literal)},`
      continue
    }
    const transcode = model === undefined ? undefined : transcoderOf(model, key)
    const writer = transcode === undefined ? compile(type) : unquoted(transcode)
    const { absent, managed, optional } = model?.[modelTypeId][key] ?? {}
    const closing = writer.isQuoted ? "\"" : ""
    members.push({
      key: managed === "id" ? idKey : key,
      write: writer.write,
      opening: `${JSON.stringify(key)}:${closing}`,
      closing,
      optional: SchemaAST.isOptional(type),
      isNullMissing: optional === true,
      writeDefault: absent === undefined
        ? undefined
        : defaultWriter(absent, model?.store.fields[key], writer.write)
    })
  }
  return objectWriter(head, members)
}

/** Decodes and encodes the value again if its stored form may be outdated or differs from the wire form. */
const transcoderOf = (model: ModelLike, key: string): Write | undefined => {
  // Every struct field is a schema.
  const [stored, wire] = [model.store.fields[key], model.wire.fields[key]].map((field) =>
    unwrapped(field as Schema.Top)
  )
  if (stored === undefined || wire === undefined) return undefined
  if (!isMarshalled(stored.ast) && !isMarshalled(wire.ast)) return undefined
  compileParsers(stored.ast)
  // Fields need no services.
  const decode = SchemaParser.decodeUnknownExit(stored as Schema.Codec<unknown>, { disableChecks: true })
  const codec = jsonCodec(wire as Schema.Codec<unknown>)
  compileParsers(SchemaAST.flip(codec.ast))
  const encode = SchemaParser.encodeUnknownExit(codec, { disableChecks: true })
  // Every struct field is a schema.
  const nullIsValue = isNullValue(model.store.fields[key] as Schema.Top, model[modelTypeId][key] ?? {})
  return (value) => {
    if (value === null && nullIsValue) return "null"
    const decoded = decode(value)
    const encoded = decoded._tag === "Success" ? encode(decoded.value) : decoded
    return encoded._tag === "Success" ? JSON.stringify(encoded.value) : undefined
  }
}

/** Whether the encoded form differs from the decoded one, dates excepted. */
const isMarshalled = (ast: SchemaAST.AST): boolean =>
  nodesIn(ast, (node) => isWhole(node) ? [] : childrenOf(node, false)).some((node) =>
    node.encoding !== undefined && modelOf(node) === undefined &&
    (node.encoding.length > 1 || node.encoding[0].to.annotations?.[temporalKind] === undefined)
  )

const isWhole = (ast: SchemaAST.AST): boolean =>
  ast._tag === "Declaration" || ast.encoding !== undefined || modelOf(ast) !== undefined

const defaultWriter = (value: () => unknown, stored: unknown, write: Write): () => string | undefined => {
  // Every struct field is a schema.
  const encode = encoderOf(stored as Schema.Top)
  return () => {
    defaults += 1
    return write(encode(value()))
  }
}

let defaults = 0

/** The number of defaults that were written in the place of missing fields: two calls tell whether a text has one. */
export const writtenDefaults = (): number => defaults

const encoderOf = (schema: Schema.Top): (value: unknown) => unknown => {
  // Fields need no services.
  const encode = SchemaParser.encodeUnknownExit(schema as Schema.Codec<unknown>)
  return (value) => {
    const exit = encode(value)
    return exit._tag === "Success" ? exit.value : undefined
  }
}

/** Compiles a node of the wire form's stored side: omitted fields are gone, dates are still `Date`s. */
const compile: (ast: SchemaAST.AST) => Writer = fold<Writer>({
  String: () => string,
  Number: (ast) => compileNumber(ast),
  Boolean: () => boolean,
  Null: () => nullWriter,
  Literal: (ast) => compileLiterals([ast.literal]) ?? compileFallback(ast),
  Enum: (ast) => compileLiterals(ast.enums.map(([, value]) => value)) ?? compileFallback(ast),
  Declaration: (ast) =>
    ast.annotations?.[temporalKind] === "datetime"
      ? dateTime
      : ast.annotations?.[temporalKind] === "date"
      ? date
      : compileFallback(ast),
  Arrays: (ast) => isOfOneType(ast) ? unquoted(writeArray(compile(ast.rest[0]!))) : compileFallback(ast),
  Objects: (ast) => {
    if (ast.indexSignatures.length > 0 || ast.propertySignatures.length === 0) return compileFallback(ast)
    const write = compileObject(ast, "id")
    return unquoted((value) => isRecord(value) ? write(value, "") : undefined)
  },
  Union: (ast) => compileUnion(ast),
  // The quotation marks of a recursive schema aren't known before its first value.
  Suspend: (inner) => unquoted((value) => withQuotes(inner())(value)),
  otherwise: (ast) => compileFallback(ast)
})

const isRecord = (value: unknown): value is Values => typeof value === "object" && value !== null

const compileNumber = (ast: SchemaAST.Number): Writer => {
  const checks = ast.checks ?? []
  if (checks.some((check) => isKind(check, "isInt"))) return int
  // Numbers without a JSON form, such as `NaN`, are written as text.
  return checks.some((check) => isKind(check, "isFinite")) ? finite : compileFallback(ast)
}

const writeArray = ({ isQuoted, write }: Writer): Write => {
  const [first, next, closing] = isQuoted ? ["[\"", "\",\"", "\"]"] : ["[", ",", "]"]
  return (value) => {
    if (!Array.isArray(value)) return undefined
    if (value.length === 0) return "[]"
    let text = first
    for (let i = 0; i < value.length; i++) {
      const written = write(value[i])
      if (written === undefined) return undefined
      text += i === 0 ? written : next + written
    }
    return text + closing
  }
}

const compileUnion = (ast: SchemaAST.Union): Writer => {
  const literals = ast.types.flatMap((type) => type._tag === "Literal" ? [type.literal] : [])
  if (literals.length === ast.types.length) return compileLiterals(literals) ?? compileFallback(ast)
  const others = ast.types.filter((type) => type._tag !== "Null")
  if (others.length !== 1 || others.length === ast.types.length) return compileFallback(ast)
  const write = withQuotes(compile(others[0]!))
  return unquoted((value) => value === null ? "null" : write(value))
}

const compileLiterals = (literals: ReadonlyArray<unknown>): Writer | undefined => {
  if (literals.some((literal) => typeof literal === "bigint")) return undefined
  const texts = new Map(literals.map((literal) => [literal, JSON.stringify(literal)]))
  return unquoted((value) => texts.get(value))
}

/** The slow path: the schema's own JSON codec, without the rules of its values. */
const compileFallback = (ast: SchemaAST.AST): Writer => {
  const codec = jsonCodec(Schema.make<Schema.Codec<unknown>>(withoutRulesIn(ast)))
  compileParsers(SchemaAST.flip(codec.ast))
  const encode = encoderOf(codec)
  return unquoted((value) => {
    const encoded = encode(value)
    return encoded === undefined ? undefined : JSON.stringify(encoded)
  })
}

const withoutRulesIn = memoize((ast: SchemaAST.AST): SchemaAST.AST =>
  mapParts(withChecksThat(ast, definesKind), withoutRulesIn)
)
