/** Converts JSON schemas to other dialects: draft-04, and MongoDB's `$jsonSchema` with PCRE patterns. */
import { isSchema, type JsonSchema, schemasIn } from "./keywords.ts"

/** The schema with draft-04 keywords only, since strict validators reject unknown keywords. */
export const toDraft04 = (schema: JsonSchema): JsonSchema =>
  mapSubschemas(pickKeywords(schema, (keyword) => common.has(keyword) || draft04.has(keyword)), toDraft04)

/** The schema in the dialect of MongoDB's `$jsonSchema`: its keywords, BSON types and PCRE patterns. */
export const toMongo = (schema: JsonSchema): JsonSchema => {
  const { pattern, patternProperties, type, ...rest } = pickKeywords(schema, (keyword) => common.has(keyword))
  const { additionalProperties, allOf, ...parts } = mapSubschemas(rest, toMongo)
  const types = type === undefined ? undefined : [...new Set([type].flat().flatMap(bsonTypes))]
  const isInteger = [type].flat().includes("integer")
  const { multipleOf } = parts
  const all = schemasIn(allOf).filter((one) => Object.keys(one).length > 0)
  // A store limits what a pattern repeats. The length of an address isn't checked here, nor is that of its labels.
  const unbounded = typeof pattern === "string" && schema["format"] === "email"
    ? pattern.replaceAll("{0,61}", "*")
    : pattern
  const text = typeof unbounded === "string" ? toPcre(unbounded) : undefined
  const patterns = Object.entries(isSchema(patternProperties) ? patternProperties : {}).map(([key, value]) =>
    [toPcre(key), isSchema(value) ? toMongo(value) : {}] as const
  )
  const translatedPatterns = patterns.flatMap(([key, value]) => key === undefined ? [] : [[key, value] as const])
  if (isInteger && multipleOf !== undefined) all.push({ multipleOf })
  return {
    ...(types === undefined ? {} : { bsonType: types.length === 1 ? types[0] : types }),
    ...parts,
    ...(isInteger ? { multipleOf: 1 } : {}),
    ...(text === undefined ? {} : { pattern: text }),
    ...(translatedPatterns.length === 0 ? {} : { patternProperties: Object.fromEntries(translatedPatterns) }),
    // Without one of the patterns, `additionalProperties` would reject the keys that match it.
    ...(additionalProperties === undefined || translatedPatterns.length < patterns.length
      ? {}
      : { additionalProperties }),
    ...(all.length === 0 ? {} : { allOf: all })
  }
}

const common = new Set([
  "title description type enum allOf anyOf oneOf not dependencies".split(" "),
  "multipleOf minimum exclusiveMinimum maximum exclusiveMaximum minLength maxLength pattern".split(" "),
  "items additionalItems minItems maxItems uniqueItems".split(" "),
  "properties patternProperties additionalProperties required minProperties maxProperties".split(" ")
].flat())

const draft04 = new Set(["$schema", "$ref", "definitions", "format", "default"])

/** The driver stores a JavaScript number as an int if it fits, otherwise as a double. Other programs store longs. */
const bsonTypes = (type: unknown): ReadonlyArray<unknown> =>
  type === "integer" ? ["int", "long", "double"] : [type === "boolean" ? "bool" : type]

const pickKeywords = (schema: JsonSchema, isKnown: (keyword: string) => boolean): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => isKnown(keyword)))

/** Replaces each direct subschema. */
const mapSubschemas = (schema: JsonSchema, change: (part: JsonSchema) => JsonSchema): JsonSchema =>
  Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (schemaMapKeywords.has(keyword) && isSchema(value)) {
        const parts = Object.entries(value).map(([key, part]) => [key, isSchema(part) ? change(part) : part])
        return [keyword, Object.fromEntries(parts)]
      }
      if (!schemaKeywords.has(keyword)) return [keyword, value]
      return [keyword, Array.isArray(value) ? schemasIn(value).map(change) : isSchema(value) ? change(value) : value]
    })
  )

const schemaMapKeywords = new Set(["properties", "patternProperties", "definitions", "dependencies"])

const schemaKeywords = new Set(["items", "additionalItems", "additionalProperties", "allOf", "anyOf", "oneOf", "not"])

/** Translates a JavaScript pattern with the flag `u` into MongoDB's PCRE; `undefined` if PCRE can't express it. */
const toPcre = (source: string): string | undefined => translateTokens(source, tokens, translateOutside)

const translateTokens = (
  source: string,
  tokens: RegExp,
  translate: (token: string) => string | undefined
): string | undefined => {
  let output = ""
  for (const [token] of source.matchAll(tokens)) {
    const text = translate(token)
    if (text === undefined) return undefined
    output += text
  }
  return output
}

const escapes = String.raw`\\u\{[\da-f]+\}|\\ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|\\u[\da-f]{4}|\\x[\da-f]{2}` +
  String.raw`|\\p\{[^}]+\}|\\[\s\S]`

const memberTokens = new RegExp(String.raw`${escapes}|[\s\S]`, "giu")

const tokens = new RegExp(
  String.raw`${escapes}|\[(?:\\[\s\S]|[^\\\]])*\]|\(\?(?:<[=!]|<[^>]+>|[\s\S])|[\s\S]`,
  "giu"
)

const translateOutside = (token: string): string | undefined => {
  switch (token) {
    // In JavaScript `$` matches only at the very end. PCRE and RE2, which the embedded store reads, write it so.
    case "$":
      return "\\z"
    // In JavaScript the dot excludes four line terminators, in PCRE only one.
    case ".":
      return "[^\\n\\r\u2028\u2029]"
    case "\\s":
      return `[${spaces}]`
    case "\\S":
      return `[^${spaces}]`
    case "\\b":
    case "\\B":
    case "(?:":
    case "(?=":
    case "(?!":
      return token
    // PCRE reads the closing bracket of an empty class as its first member.
    case "[]":
    case "[^]":
      return undefined
  }
  // Group names can go, since named references are not translated.
  if (token.startsWith("(?")) return token.endsWith(">") ? "(" : undefined
  return token.startsWith("[") ? translatedClass(token) : escape(token)
}

const translatedClass = (token: string): string | undefined => {
  const output = translateTokens(token.slice(1, -1), memberTokens, translateMember)
  return output === undefined ? undefined : `[${output}]`
}

const translateMember = (token: string): string | undefined => {
  switch (token) {
    // In PCRE it may start the name of a character class.
    case "[":
      return "\\["
    case "\\s":
      return spaces
    case "\\b":
      return "\\x08"
    default:
      return escape(token)
  }
}

const escape = (token: string): string | undefined => {
  const [backslash, kind] = token
  if (backslash !== "\\") return token
  switch (kind) {
    case "u":
    case "x":
      return literal(token.slice(2))
    case "p":
    case "P":
      return property(token)
    case "v":
      return "\\x0b"
    case "0":
      return "\\x00"
    default:
      return /^\\[dDwWnrtf^$\\.*+?()[\]{}|/-]$/u.test(token) ? token : undefined
  }
}

/** The character of the hex digits in `\xHH`, `\uHHHH`, `\u{H}`, or `\uHHHH\uHHHH`. */
const literal = (digits: string): string | undefined => {
  const units = digits.replaceAll(/[{}]/gu, "").split(/\\u/iu).map((unit) => Number.parseInt(unit, 16))
  const character = units.length === 2 ? String.fromCharCode(...units) : String.fromCodePoint(units[0]!)
  if (!character.isWellFormed()) return undefined
  if (units[0]! < 0x20 || units[0] === 0x7f) return `\\x${units[0]!.toString(16).padStart(2, "0")}`
  return /[\^$\\.*+?()[\]{}|/-]/u.test(character) ? `\\${character}` : character
}

/** Both languages use the same short names of general categories and the same long names of scripts. */
const property = (token: string): string | undefined => {
  const [, kind, name] = /^\\([pP])\{(?:Script=|sc=)([A-Z][a-z]{4,})\}$/u.exec(token) ?? []
  if (name !== undefined) return `\\${kind}{${name}}`
  return /^\\[pP]\{(?:L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?|C[cfnos]?)\}$/u.test(token)
    ? token
    : undefined
}

const spaces = "\\x09-\\x0d\\x20\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
