/** Words what a value has to be, from its type or its validator: `must be a number`. */
import { memoize } from "effect/Function"
import * as Predicate from "effect/Predicate"
import type * as SchemaAST from "effect/SchemaAST"
import { boundMessage, temporalKind, validatorAnnotation, type ValidatorEntry } from "../shape/annotations.ts"
import { isKind } from "../shape/fields.ts"
import { choicesOf } from "../shape/kind.ts"
import { fold } from "../shape/nodes.ts"
import { modelOf } from "../shape/variants.ts"

/** What a value has to be, worded for its sender. */
export interface Expectation {
  /**
   * `str`, `int`, `float`, `bool`, `list`, `datetime`, `zoned`, `date`, `enum`, `object`, `objects`, `bytes`, `url`, `duration`,
   * `null`, or `any` for several types or a type without a name.
   */
  readonly type: string
  /** The members of an enumeration. */
  readonly choices: ReadonlyArray<string | number | boolean>
  /** Follows the field's label: `must be a number`. */
  readonly message: string
}

/** Describes the decoded values of a schema, whatever their encoded form. */
export const expectationOf: (ast: SchemaAST.AST) => Expectation = memoize((ast: SchemaAST.AST): Expectation => {
  const choices = isEnumeration(ast) ? choicesOf(ast) : []
  const nouns = nounsOf(ast)
  const [noun] = nouns
  return choices.length > 0
    ? { type: "enum", choices, message: `must be ${choices.length === 1 ? "" : "one of "}${choices.join(", ")}` }
    : noun === undefined
    ? { type: "any", choices, message: unnamedMessage }
    : {
      type: nouns.length === 1 ? noun : "any",
      choices,
      message: `must be ${nouns.map((noun) => nounPhrases.get(noun)).join(" or ")}`
    }
})

/**
 * What is sent for a value: its type, or else that of its encoded form, where nobody can send the type itself. A date-time that is
 * a UNIX timestamp on the wire is a number.
 */
export const expectationAs = (ast: SchemaAST.AST, encoded: SchemaAST.AST): Expectation => {
  const sent = nounsOf(encoded)
  const isSent = sent.length === 0 || nounsOf(ast).every((noun) => sent.some((one) => wireForms.get(noun)?.has(one)))
  return expectationOf(isSent ? ast : encoded)
}

/** The same expectation for a value that is written as text, as numbers and booleans are there. */
export const expectationAsText = ({ message, type, ...others }: Expectation): Expectation => ({
  ...others,
  type,
  message: type === "int" || type === "float" || type === "bool" ? `${message}${textSuffix}` : message
})

/** The message for a source in which every value is text, such as a URL. */
export const withoutTextSuffix = (message: string): string => message.replace(textSuffix, "")

/** The type in a message of {@link expectationOf}; `undefined` for any other message. */
export const typeInMessage = (message: string): string | undefined =>
  message === unnamedMessage ? "any" : typesByMessage.get(withoutTextSuffix(message))

/**
 * The rule of a check: the validator that the check belongs to, or the validator that one of Effect's own checks
 * corresponds to. `message` follows the field's label; it is `undefined` if the check has no wording.
 */
export const ruleOf = (check: SchemaAST.Check<never>): WordingRule | undefined => {
  const { message, representation, [validatorAnnotation]: entry } = check.annotations ?? {}
  const declaredMessage = typeof message === "string" ? message : undefined
  // Only validators write this annotation.
  if (entry !== undefined) return { ...entry as ValidatorEntry, message: declaredMessage, isOwn: true }
  if (!Predicate.hasProperty(representation, "id") || typeof representation.id !== "string") return undefined
  const payload = Predicate.hasProperty(representation, "payload") ? representation.payload : undefined
  const rule = rules.get(representation.id.replace("effect/schema/", ""))?.(Object(payload))
  return rule === undefined || declaredMessage === undefined ? rule : { ...rule, message: declaredMessage }
}

/** Effect's checks describe their expectation as a noun: `a value between 5 and 8`, `a string in uppercase`. Those of a bigint have an n. */
export const expectedBy = ({ annotations }: SchemaAST.Check<never>): string | undefined => {
  const expected: unknown = annotations?.["expected"]
  if (typeof expected !== "string") return undefined
  const words = `must be ${expected}`.replace(/(\d)n\b/gu, "$1").replace(/^must be a value with/u, "must have")
  return words.replace(/^must be a value (?:that is )?/u, "must be ").replace(/^must be a string/u, "must be a text")
}

export interface WordingRule extends ValidatorEntry {
  readonly message: string | undefined
  /** Whether the rule comes from a validator, not from one of Effect's own checks. */
  readonly isOwn: boolean
}

const isEnumeration: (ast: SchemaAST.AST) => boolean = fold<boolean>({
  Literal: () => true,
  Enum: () => true,
  Union: (ast) => {
    const types = ast.types.filter((type) => !isEmptyType(type))
    return types.length > 0 && types.every(isEnumeration)
  },
  otherwise: () => false
})

export const isEmptyType = ({ _tag }: SchemaAST.AST): boolean =>
  _tag === "Null" || _tag === "Undefined" || _tag === "Void"

/** The nouns of all types that values may have; empty if one of the types has no noun. */
const nounsOf: (ast: SchemaAST.AST) => ReadonlyArray<string> = fold<ReadonlyArray<string>>({
  first: (ast, byCase) => modelOf(ast) === undefined ? byCase() : ["object"],
  String: () => ["str"],
  // Not any text.
  TemplateLiteral: () => [],
  Number: (ast) => [ast.checks?.some((check) => isKind(check, "isInt")) === true ? "int" : "float"],
  BigInt: () => ["int"],
  Boolean: () => ["bool"],
  Null: () => ["null"],
  Undefined: () => ["null"],
  Void: () => ["null"],
  Arrays: () => ["list"],
  Objects: () => ["object"],
  ObjectKeyword: () => ["object"],
  Literal: (
    { literal }
  ) => [
    typeof literal === "number" || nonFinite.has(literal) ? "float" : typeof literal === "boolean" ? "bool" : "str"
  ],
  Enum: () => ["str"],
  Union: (ast) => {
    const others = ast.types.filter((type) => !isEmptyType(type))
    const parts = (others.length === 0 ? ast.types : others).map(nounsOf)
    if (parts.some((part) => part.length === 0)) return []
    const nouns = parts.flat()
    const isOfForms = nouns.filter((noun) => noun === "object").length > 1
    return [...new Set(nouns)].map((noun) => noun === "object" && isOfForms ? "objects" : noun)
  },
  Declaration: (ast) => declaredNouns(ast),
  otherwise: () => []
})

/** What JSON has in the place of numbers that it can't write. */
const nonFinite: ReadonlySet<unknown> = new Set(["Infinity", "-Infinity", "NaN"])

const declaredNouns = (ast: SchemaAST.Declaration): ReadonlyArray<string> => {
  const temporal = [ast, ...(ast.encoding ?? []).map(({ to }) => to)].flatMap(({ annotations }) =>
    typeof annotations?.[temporalKind] === "string" ? [annotations[temporalKind]] : []
  )
  if (temporal.length > 0) return temporal.slice(0, 1)
  const { representation } = ast.annotations ?? {}
  const id = Predicate.hasProperty(representation, "id") ? String(representation.id).replace("effect/schema/", "") : ""
  const [part] = ast.typeParameters
  if ((id === "Option" || id === "Redacted") && part !== undefined) return nounsOf(part)
  const noun = declarations.get(id)
  if (noun !== undefined) return [noun]
  // The encoded form of a class is an object of its fields.
  return part?._tag === "Objects" ? ["object"] : []
}

const declarations: ReadonlyMap<string, string> = new Map([
  ["DateTimeUtc", "datetime"],
  ["DateTimeZoned", "zoned"],
  ["Date", "datetime"],
  ["URL", "url"],
  ["Uint8Array", "bytes"],
  ["BigDecimal", "float"],
  ["Duration", "duration"],
  ["ReadonlySet", "list"],
  ["HashSet", "list"],
  ["Chunk", "list"],
  ["ReadonlyMap", "list"],
  ["HashMap", "list"]
])

const nounPhrases: ReadonlyMap<string, string> = new Map([
  ["str", "a text"],
  ["int", "a whole number"],
  ["float", "a number"],
  ["bool", "true or false"],
  ["list", "a list"],
  ["object", "an object"],
  ["objects", "an object in one of the accepted forms"],
  ["datetime", "a date with a time, such as 2026-01-31T09:30:00"],
  ["zoned", "a date with a time and a zone, such as 2026-01-31T09:30:00+01:00[Europe/Zurich]"],
  ["date", "a date, such as 2026-01-31"],
  ["bytes", "binary data, in Base64"],
  ["url", "a URL, such as https://example.com/"],
  ["duration", "a duration"],
  ["null", "null"]
])

/** The types of JSON that the values of a type may be written as, for people to recognise them. */
const wireForms: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  ([
    ["str", ["str"]],
    ["int", ["int", "float", "str"]],
    ["float", ["int", "float", "str"]],
    ["bool", ["bool", "str"]],
    ["list", ["list"]],
    ["object", ["object", "objects"]],
    ["objects", ["objects"]],
    ["datetime", ["str"]],
    ["zoned", ["str"]],
    ["date", ["str"]],
    ["bytes", ["str"]],
    ["url", ["str"]],
    ["duration", ["str", "object", "objects"]],
    ["null", ["null"]]
  ] as const).map(([type, forms]) => [type, new Set(forms)])
)

const unnamedMessage = "must have the expected form"

const textSuffix = ", written as text"

const typesByMessage: ReadonlyMap<string, string> = new Map(
  [...nounPhrases].map(([type, noun]) => [`must be ${noun}`, type])
)

type Payload = { readonly [name: string]: unknown }

/** Effect's own checks with their wording, by identifier. */
const rules: ReadonlyMap<string, (payload: Payload) => WordingRule> = new Map(
  [
    ["isGreaterThanOrEqualTo", ({ minimum }) => rule("Min", minimum, boundMessage("least", minimum))],
    ["isLessThanOrEqualTo", ({ maximum }) => rule("Max", maximum, boundMessage("most", maximum))],
    [
      "isGreaterThan",
      ({ exclusiveMinimum }) => rule("Above", exclusiveMinimum, `must be greater than ${String(exclusiveMinimum)}`)
    ],
    [
      "isLessThan",
      ({ exclusiveMaximum }) => rule("Below", exclusiveMaximum, `must be less than ${String(exclusiveMaximum)}`)
    ],
    ["isMultipleOf", ({ divisor }) => rule("MultipleOf", divisor, `must be a multiple of ${String(divisor)}`)],
    ["isPattern", ({ source }) => rule("Regexp", source, `must match ${String(source)}`)],
    [
      "isMinCodePoints",
      ({ minCodePoints }) => rule("Min", minCodePoints, boundMessage("least", minCodePoints, "character"))
    ],
    [
      "isMaxCodePoints",
      ({ maxCodePoints }) => rule("Max", maxCodePoints, boundMessage("most", maxCodePoints, "character"))
    ],
    ["isMinLength", ({ minLength }) => lengthRule("Min", minLength, "at least")],
    ["isMaxLength", ({ maxLength }) => lengthRule("Max", maxLength, "at most")],
    ["isUnique", () => rule("Unique", undefined, "must not have an element twice")],
    ["isUUID", () => rule("Uuid", undefined, "must be a UUID, such as 7f2c1b9e-0d3a-4c55-9b1a-6f0e8d2c4a10")]
  ] as const
)

const rule = (type: string, value: unknown, message: string): WordingRule =>
  value === undefined ? { type, message, isOwn: false } : { type, value, message, isOwn: false }

/** The check does not know whether it applies to a text or to a list. */
const lengthRule = (type: string, value: unknown, bound: string): WordingRule =>
  type === "Min" && value === 1
    ? rule("NotEmpty", undefined, "must not be empty")
    : rule(type, value, `must have a length of ${bound} ${String(value)}`)
