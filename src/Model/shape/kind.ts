import * as SchemaAST from "effect/SchemaAST"
import { temporalKind } from "./annotations.ts"
import { isKind } from "./fields.ts"
import { jsonLinkOf, nameOf } from "./storedForm.ts"
import { modelOf } from "./variants.ts"

/**
 * The type name of a schema's values in the metadata: `str`, `int`, `float`, `bool`, `list`, `datetime`, `date`,
 * `enum`, the name of a model, or `any`. Optionality is not part of it.
 *
 * @internal
 */
export const kindOf = (ast: SchemaAST.AST): string => {
  const model = modelOf(ast)
  if (model !== undefined) return model.modelName
  switch (ast._tag) {
    case "String":
    case "TemplateLiteral":
      return "str"
    case "Number":
      return ast.checks?.some((check) => isKind(check, "isInt")) ? "int" : "float"
    case "Boolean":
      return "bool"
    case "Arrays":
      return "list"
    case "Literal":
    case "Enum":
      return "enum"
    case "Suspend":
      return kindOf(ast.thunk())
    case "Union": {
      const kinds = new Set(ast.types.filter(({ _tag }) => _tag !== "Null").map(kindOf))
      const [kind] = kinds
      return kind === undefined || kinds.size > 1 ? "any" : kind
    }
    case "BigInt":
      return "str"
    case "Declaration":
      return declaredKindOf(ast)
    default:
      return "any"
  }
}

/**
 * The members of an enumeration in their wire form.
 *
 * @internal
 */
export const choicesOf = (ast: SchemaAST.AST): ReadonlyArray<string | number | boolean> => {
  switch (ast._tag) {
    case "Literal":
      return [typeof ast.literal === "bigint" ? String(ast.literal) : ast.literal]
    case "Enum":
      return [...new Set(ast.enums.map(([, value]) => value))]
    case "Suspend":
      return choicesOf(ast.thunk())
    case "Union":
      return [...new Set(ast.types.flatMap(choicesOf))]
    default:
      return []
  }
}
/** The type name of a declared type's JSON form. */
const declaredKindOf = (ast: SchemaAST.Declaration): string => {
  const kind = SchemaAST.toEncoded(ast).annotations?.[temporalKind]
  if (typeof kind === "string") return kind
  if (dateTimeTypes.has(nameOf(ast))) return "datetime"
  const json = jsonLinkOf(ast)?.link?.to
  return json === undefined ? "any" : kindOf(SchemaAST.toEncoded(json))
}

const dateTimeTypes: ReadonlySet<unknown> = new Set(["effect/schema/DateTimeUtc", "effect/schema/Date"])
