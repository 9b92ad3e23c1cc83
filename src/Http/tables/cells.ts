/** Cells of tables: the text that a value is written as, and the value that a text is read as. */
import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { parseJson } from "../request/body.ts"
import type { Column } from "../response/columns.ts"

/** What stands in the cells of a column. */
export interface CellType {
  /** Whether the JSON of a value may be a text. */
  readonly isText: boolean
  /** Whether the JSON of a value may be something else. */
  readonly isOther: boolean
  /** What an empty cell stands for. */
  readonly empty: Column["empties"][number]
}

export const cellTypeOf = ({ ast, empties }: Column): CellType => ({
  ...kindsOf(ast),
  empty: empties.at(-1) ?? "required"
})

/**
 * The cell of a value. `valueOf` reads the same value out of it, but for the empty text of an optional text field. `escaped` changes
 * texts that stand as they are.
 */
export const cellOf = (type: CellType, value: unknown, escaped: (text: string) => string): string => {
  if (value === undefined) return ""
  // An empty cell may stand for the empty text.
  if (value === null) return type.isOther && valueOf(type, "") === "" ? "null" : ""
  if (typeof value !== "string") return JSON.stringify(value)
  // A nested document all of whose cells are empty is none.
  return type.isOther && (value === "" || valueOf(type, value) !== value) ? JSON.stringify(value) : escaped(value)
}

/** A spreadsheet evaluates a text that begins like this. */
export const withoutFormula = (text: string): string => /^[=+\-@\t\r]/u.test(text) ? `'${text}` : text

/** The value of a cell; `undefined` for none. */
export const valueOf = ({ empty, isOther, isText }: CellType, text: string): unknown => {
  if (text === "") return empty === "null" ? null : empty === "required" && isText ? "" : undefined
  const json = isOther && mayBeJson.test(text) ? parseJson(Buffer.from(text)) : undefined
  // A text that is no JSON is one of the field, or its problem.
  return json?._tag === "Success" ? json.value : text
}

// internal

const mayBeJson = /^[\t\n\r ]*["\-[{\dfnt]/u

type Kind = "text" | "other"

const kindsOf = memoize((ast: SchemaAST.AST): Pick<CellType, "isOther" | "isText"> => {
  const kinds = jsonKinds(SchemaAST.toEncoded(Schema.toCodecJson(Schema.make<Schema.Top>(ast)).ast))
  return { isText: kinds.has("text"), isOther: kinds.has("other") }
})

const jsonKinds = (ast: SchemaAST.AST): ReadonlySet<Kind> => {
  switch (ast._tag) {
    case "Null":
    case "Undefined":
      return new Set()
    case "String":
    case "TemplateLiteral":
      return new Set(["text"])
    case "Literal":
      return new Set([kindOfJson(ast.literal)])
    case "Enum":
      return new Set(ast.enums.map(([, value]) => kindOfJson(value)))
    case "Union":
      return new Set(ast.types.flatMap((type) => [...jsonKinds(type)]))
    case "Number":
    case "Boolean":
    case "Arrays":
    case "Objects":
    case "ObjectKeyword":
      return new Set(["other"])
    default:
      // Any JSON.
      return new Set(["text", "other"])
  }
}

const kindOfJson = (value: unknown): Kind => typeof value === "string" ? "text" : "other"
