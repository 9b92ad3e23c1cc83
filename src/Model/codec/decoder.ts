/**
 * A fast decoder for JSON bodies and stored documents. It says only whether a value is valid; `explainer.ts` finds the
 * reasons.
 */
import * as DateTime from "effect/DateTime"
import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"
import { ownOf } from "../../internal/objects.ts"
import { isOfOneType } from "../shape/nodes.ts"
import { nameOf } from "../shape/storedForm.ts"
import { compileParsers } from "./compiledParsers.ts"
import * as iso from "./dateTexts.ts"
import { absentValue, objectFactoryOf } from "./literal.ts"
import { ownIn } from "./ownNames.ts"
import * as Temporal from "./temporal.ts"

/** Stands for a value that the schema rejects, or that only the schema's own parser can decode. */
export const invalid: unique symbol = Symbol("invalid")

export type Decode = (input: unknown) => unknown

/** A field of a decoded object. `absent` gives {@link nothing}, {@link invalid} or a default for a missing value. */
export interface DecodedField {
  readonly key: string
  readonly from: string
  readonly decode: Decode
  readonly absent: () => unknown
}

/**
 * Compiles a decoder for valid JSON values that does not explain failures. A caller that gets {@link invalid} asks the
 * schema's parser for the reasons. Structs and lists are copied; other values may be shared with the input.
 */
export const compileDecoder = (ast: SchemaAST.AST): Decode => {
  const decode = hasEncodingChecks(ast)
    ? undefined
    : ast.encoding === undefined
    ? decoderOf(ast, compileDecoder) ?? jsonDecoderOf(ast)
    : temporalOf(ast) ?? (ast._tag === "Unknown" && isJson(ast.encoding.at(-1)!.to) ? same : undefined)
  if (decode === undefined) return countedParserOf(ast)
  const filters = filtersOf(ast.checks)
  if (filters.length === 0) return decode
  return (input) => {
    const value = decode(input)
    if (value === invalid) return invalid
    for (let i = 0; i < filters.length; i++) {
      if (filters[i]!.run(value, ast, noOptions) !== undefined) return invalid
    }
    return value
  }
}

const noOptions: SchemaAST.ParseOptions = {}

/** Decoders of what only JSON has to be decoded for: records, recursive types, and values of any kind. */
const jsonDecoderOf = (ast: SchemaAST.AST): Decode | undefined => {
  switch (ast._tag) {
    case "Objects":
      return recordOf(ast)
    case "Suspend":
      return (input) => {
        suspended++
        return suspendedDecoderOf(ast.thunk())(input)
      }
    case "Enum": {
      const values = new Set<unknown>(ast.enums.map(([, value]) => value))
      return (input) => values.has(input) ? input : invalid
    }
    default:
      return isJson(ast) ? jsonOf : undefined
  }
}

// Each member of a recursive union has a suspended node of its own for the same union.
const suspendedDecoderOf = /* @__PURE__ */ memoize((ast: SchemaAST.AST): Decode => compileDecoder(ast))

/** The values of recursive schemas that were decoded, without those that `count` has. */
let suspended = 0

const isJson = (ast: SchemaAST.AST): boolean => nameOf(ast) === "effect/schema/Json"

const same: Decode = (input) => input

const jsonOf: Decode = (input) => hasFiniteNumbers(input) ? input : invalid

/** Of parsed JSON, where a number like `1e400` is infinite. */
const hasFiniteNumbers = (input: unknown): boolean => {
  if (typeof input === "number") return Number.isFinite(input)
  if (typeof input !== "object" || input === null) return input !== undefined
  const parts: ReadonlyArray<unknown> = Array.isArray(input) ? input : Object.values(input)
  for (let i = 0; i < parts.length; i++) {
    if (!hasFiniteNumbers(parts[i])) return false
  }
  return true
}

/** A decoder of an object whose names are texts; Effect leaves out the names that fail the checks of theirs. */
const recordOf = (
  { indexSignatures: [others, ...more], propertySignatures }: SchemaAST.Objects
): Decode | undefined => {
  if (others === undefined || more.length > 0 || propertySignatures.length > 0) return undefined
  const { parameter, type } = others
  if (parameter._tag !== "String" || parameter.encoding !== undefined || SchemaAST.isOptional(type)) return undefined
  const checks = filtersOf(parameter.checks)
  const decode = compileDecoder(type)
  return (input) => {
    if (typeof input !== "object" || input === null || Array.isArray(input)) return invalid
    const names = Object.keys(input)
    count.values += names.length
    if (isBeyond(count)) return invalid
    const entries: Array<readonly [name: string, value: unknown]> = []
    let isValid = true
    for (const name of names) {
      if (checks.some((check) => check.run(name, parameter, noOptions) !== undefined)) continue
      // The object's own name.
      const decoded = decode((input as Values)[name])
      if (decoded === invalid) {
        if (!isThorough) return invalid
        isValid = false
      }
      entries.push([name, decoded])
    }
    return isValid ? Object.fromEntries(entries) : invalid
  }
}

/**
 * The names of records, the values that only Effect's parser decodes, and those of recursive schemas in members of unions that do
 * not fit: each takes microseconds.
 */
export interface Conversions {
  values: number
  most: number
}

/** The conversions outside of request bodies, which have no limit. */
export const unlimitedConversions: Conversions = { values: 0, most: Infinity }

let count = unlimitedConversions

/** Counts in the given object until the next call. Nothing interrupts a decoder, so that there is one for all. */
export const countConversions = (next: Conversions): void => {
  count = next
  isThorough = false
}

/** Whether there are too many values. Those beyond the limit are invalid without having been decoded. */
export const isBeyond = ({ most, values }: Conversions): boolean => values > most

/** Effect's parser, for as many values as may be left. */
const countedParserOf = (ast: SchemaAST.AST): Decode => {
  const parse = parserOf(ast)
  return (input) => countAll(input) ? parse(input) : invalid
}

/** Counts a value and all that is in it; false if there are too many. */
export const countAll = (input: unknown): boolean =>
  ++count.values <= count.most &&
  (typeof input !== "object" || input === null || Object.values(input).every((part) => countAll(part)))

/** Whether to go on after the first invalid part, as Effect's parser does to list all errors. */
let isThorough = false

/** Counts what a value's parts are decoded in vain for to list all its errors; false if that is too much. */
export const countThoroughly = (decode: Decode, input: unknown): boolean => {
  isThorough = true
  try {
    decode(input)
  } finally {
    // Also where a schema of the user's throws: others would be decoded thoroughly from then on.
    isThorough = false
  }
  return !isBeyond(count)
}

/** A flipped schema has checks for its input. */
const hasEncodingChecks = (ast: SchemaAST.AST): boolean => "encodingChecks" in ast && ast.encodingChecks !== undefined

/** Decodes a type without its checks; `undefined` if only Effect's parser does. No fold: the caller compiles parts. */
export const decoderOf = (ast: SchemaAST.AST, compile: (ast: SchemaAST.AST) => Decode): Decode | undefined => {
  switch (ast._tag) {
    case "String":
      return (input) => typeof input === "string" ? input : invalid
    case "Number":
      return (input) => typeof input === "number" ? input : invalid
    case "Boolean":
      return (input) => typeof input === "boolean" ? input : invalid
    case "Null":
      return (input) => input === null ? null : invalid
    case "Literal":
      return (input) => input === ast.literal ? input : invalid
    case "Union":
      return ast.options?.mode !== "oneOf" ? unionOf(ast.types.map((type) => taggedOf(type, compile(type)))) : undefined
    case "Arrays":
      return isOfOneType(ast) ? listOf(compile(ast.rest[0]!), ast.elements.length) : undefined
    case "Objects":
      return isStruct(ast) ? objectOf(ast.propertySignatures.map((field) => fieldDecoder(field, compile))) : undefined
    default:
      return undefined
  }
}

const unionOf = (members: ReadonlyArray<Decode>): Decode => (input) => {
  for (let i = 0; i < members.length; i++) {
    const before = suspended
    const value = members[i]!(input)
    if (value !== invalid) return value
    // The next member decodes these parts again, and so at each level of a recursive union.
    count.values += suspended - before
    suspended = before
    if (isBeyond(count)) return invalid
  }
  return invalid
}

/** The decoder of a union's member, which looks at its literals first, as Effect's parser does. */
const taggedOf = (ast: SchemaAST.AST, decode: Decode): Decode => {
  if (ast._tag !== "Objects" || ast.encoding !== undefined) return decode
  const tags = ast.propertySignatures.flatMap(({ name, type }) =>
    type._tag === "Literal" && type.encoding === undefined && !SchemaAST.isOptional(type)
      ? [{ name: String(name), literal: type.literal }]
      : []
  )
  return tags.length === 0 ? decode : (input) => {
    if (typeof input !== "object" || input === null) return invalid
    for (let i = 0; i < tags.length; i++) {
      const { literal, name } = tags[i]!
      // Nothing that objects inherit is a literal.
      if ((input as Values)[name] !== literal) return invalid
    }
    return decode(input)
  }
}

const listOf = (decode: Decode, least: number): Decode => (input) => {
  if (!Array.isArray(input) || input.length < least) return invalid
  // A copied list has its final size from the start, unlike a list that grows.
  const output: Array<unknown> = [...input]
  let isValid = true
  for (let i = 0; i < output.length; i++) {
    const value = decode(output[i])
    if (value === invalid) {
      if (!isThorough) return invalid
      isValid = false
    }
    output[i] = value
  }
  return isValid ? output : invalid
}

/** Whether the node is a struct without index signatures. */
export const isStruct = (ast: SchemaAST.AST): ast is SchemaAST.Objects =>
  ast._tag === "Objects" && ast.indexSignatures.length === 0 &&
  ast.propertySignatures.every(({ name }) => typeof name === "string")

/** The decoder of a field. If the schema supplies a value for a missing property, its parser is called. */
export const fieldDecoder = (
  signature: SchemaAST.PropertySignature,
  compile: (ast: SchemaAST.AST) => Decode,
  options?: SchemaAST.ParseOptions
): DecodedField => {
  const key = String(signature.name)
  const { type } = signature
  const field = { key, from: key, decode: compile(type) }
  if (staysAbsent(type)) {
    const absent = SchemaAST.isOptional(type) ? absentValue : invalid
    return { ...field, absent: () => absent }
  }
  const supply = parserOf(new SchemaAST.Objects([signature], []), options)
  return {
    ...field,
    absent: () => {
      const supplied = supply(Object.create(null))
      if (typeof supplied !== "object" || supplied === null) return invalid
      return Object.hasOwn(supplied, key) ? Reflect.get(supplied, key) : absentValue
    }
  }
}

/** Whether a missing value decodes to a missing value, not to one that a transformation supplies. */
export const staysAbsent = (ast: SchemaAST.AST): boolean =>
  (ast.encoding ?? []).every(({ to, transformation }) =>
    transformation._tag === "Transformation" && !isOfOptional(transformation.decode) && staysAbsent(to)
  )

const isOfOptional = ({ _tag }: { readonly _tag: string }): boolean =>
  _tag === "TransformOptional" || _tag === "TransformOptionalEffect"

/** Decodes an object of the fields. Effect's parser handles a key that is present with the value `undefined`. */
export const objectOf = (fields: ReadonlyArray<DecodedField>): (input: unknown) => Values | typeof invalid => {
  const make = objectFactoryOf(fields.map(({ key }) => key))
  const own = ownOf(fields.map(({ from }) => from))
  return (input) => {
    if (typeof input !== "object" || input === null || Array.isArray(input)) return invalid
    // Reading a missing property of an object is safe.
    const properties = own(input)
    const values: Array<unknown> = new Array(fields.length)
    let isValid = true
    for (let i = 0; i < fields.length; i++) {
      const { absent, decode, from } = fields[i]!
      const encoded = properties[from]
      const value = encoded !== undefined ? decode(encoded) : from in properties ? invalid : absent()
      if (value === invalid) {
        if (!isThorough) return invalid
        isValid = false
      }
      values[i] = value
    }
    return isValid ? make(values) : invalid
  }
}

export type Values = Record<string, unknown>

/** A decoder for dates and date-times, which are text in JSON. */
const temporalOf = (ast: SchemaAST.AST): Decode | undefined => {
  const parse = textParserOf(ast)
  return parse === undefined ? undefined : (input) => {
    const millis = typeof input === "string" ? parse(input) : undefined
    return millis !== undefined && iso.hasFourDigitYear(millis) ? DateTime.makeUnsafe(millis) : invalid
  }
}

/** The parser of a date's or date-time's text; `undefined` for other schemas and texts with checks. */
export const textParserOf = (ast: SchemaAST.AST): ((text: string) => number | undefined) | undefined => {
  const stored = ast.encoding?.[0]?.to
  const text = stored?.encoding?.length === 1 ? stored.encoding[0].to : undefined
  if (stored?.checks !== undefined || !isUncheckedString(text)) return undefined
  return isLinkedBy(ast, Temporal.DateTime)
    ? iso.parseDateTime
    : isLinkedBy(ast, Temporal.Date)
    ? iso.parseDate
    : undefined
}

const isUncheckedString = (ast: SchemaAST.AST | undefined): boolean =>
  ast?._tag === "String" && ast.checks === undefined && ast.encoding === undefined

/** Whether the schema has the transformation of the date or the date-time and no other. */
export const isLinkedBy = ({ encoding }: SchemaAST.AST, { ast }: Temporal.Temporal): boolean => {
  const [link, ...others] = encoding ?? []
  const own = ast.encoding?.[0]
  return others.length === 0 && link?.transformation === own?.transformation &&
    link?.to.annotations === own?.to.annotations
}

export const parserOf = (ast: SchemaAST.AST, options?: SchemaAST.ParseOptions): Decode => {
  compileParsers(ast)
  // Fields need no services.
  const decode = SchemaParser.decodeUnknownExit(Schema.make<Schema.Codec<unknown>>(ast), options)
  const own = ownIn(ast)
  return (input) => {
    const exit = decode(own(input))
    return exit._tag === "Success" ? exit.value : invalid
  }
}

const filtersOf = (checks: SchemaAST.Checks | undefined): ReadonlyArray<SchemaAST.Filter<unknown>> =>
  (checks ?? []).flatMap((check) => check._tag === "Filter" ? [check] : filtersOf(check.checks))
