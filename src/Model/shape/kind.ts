/** The type names of fields, as metadata and messages have them, and the members of enumerations. */
import * as SchemaAST from "effect/SchemaAST"
import { temporalKind } from "./annotations.ts"
import { isKind } from "./fields.ts"
import { fold } from "./nodes.ts"
import { jsonLinkOf, nameOf } from "./storedForm.ts"
import { modelOf } from "./variants.ts"

/**
 * The type name of a schema's values in the metadata: `str`, `int`, `float`, `bool`, `list`, `datetime`, `date`,
 * `enum`, the name of a model, or `any`. Optionality is not part of it.
 */
export const kindOf: (ast: SchemaAST.AST) => string = fold<string>({
  first: (ast, byCase) => modelOf(ast)?.modelName ?? byCase(),
  String: () => "str",
  TemplateLiteral: () => "str",
  Number: (ast) => ast.checks?.some((check) => isKind(check, "isInt")) ? "int" : "float",
  Boolean: () => "bool",
  Arrays: () => "list",
  Literal: () => "enum",
  Enum: () => "enum",
  Union: (ast) => {
    const kinds = new Set(ast.types.filter(({ _tag }) => _tag !== "Null").map(kindOf))
    const [kind] = kinds
    return kind === undefined || kinds.size > 1 ? "any" : kind
  },
  BigInt: () => "str",
  Declaration: (ast) => declaredKindOf(ast),
  otherwise: () => "any"
})

/** The members of an enumeration in their wire form. */
export const choicesOf: (ast: SchemaAST.AST) => ReadonlyArray<string | number | boolean> = fold<
  ReadonlyArray<string | number | boolean>
>({
  Literal: ({ literal }) => [typeof literal === "bigint" ? String(literal) : literal],
  Enum: ({ enums }) => [...new Set(enums.map(([, value]) => value))],
  Union: ({ types }) => [...new Set(types.flatMap(choicesOf))],
  otherwise: () => []
})

const holding = (type: "number" | "string"): (ast: SchemaAST.AST) => boolean => {
  const holds: (ast: SchemaAST.AST) => boolean = fold<boolean>({
    Number: () => type === "number",
    String: () => type === "string",
    TemplateLiteral: () => type === "string",
    Literal: ({ literal }) => typeof literal === type,
    Enum: ({ enums }) => enums.every(([, value]) => typeof value === type),
    Union: ({ types }) => types.every(holds),
    // It can't be resolved while its class is being declared.
    Suspend: () => false,
    otherwise: () => false
  })
  return holds
}

/** Whether all values are numbers. */
export const holdsNumbers: (ast: SchemaAST.AST) => boolean = holding("number")

/** Whether all values are texts. */
export const holdsTexts: (ast: SchemaAST.AST) => boolean = holding("string")

/** The type name of a declared type's JSON form. */
const declaredKindOf = (ast: SchemaAST.Declaration): string => {
  const kind = SchemaAST.toEncoded(ast).annotations?.[temporalKind]
  if (typeof kind === "string") return kind
  if (dateTimeTypes.has(nameOf(ast))) return "datetime"
  const json = jsonLinkOf(ast)?.link?.to
  return json === undefined ? "any" : kindOf(SchemaAST.toEncoded(json))
}

const dateTimeTypes: ReadonlySet<unknown> = new Set(["effect/schema/DateTimeUtc", "effect/schema/Date"])
