/** Identifiers that fit into a URL: their length, and segments such as `..` that clients would resolve. */
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import { validatorAnnotation } from "./annotations.ts"
import { checked, type FieldInput, valueOf } from "./fields.ts"
import { nameOf } from "./storedForm.ts"

/** The field of an identifier. Of a text it accepts what a URL can address, percent-encoded and with what stands around it. */
export const addressable = (field: FieldInput): FieldInput => {
  const ast = valueOf(field)?.ast
  if (ast?.encoding !== undefined || ast?._tag !== "String" && ast?._tag !== "TemplateLiteral") return field
  const own = new Set(ast.checks?.map((check) => isRule(check) ? check : nameOf(check)))
  return rules.filter((rule) => !own.has(rule) && !(rule === notEmpty && own.has(nameOf(rule)))).reduce(checked, field)
}

/** Whether the check is one of those that every text of an identifier has. */
export const isRule = (check: SchemaAST.Check<never>): boolean => rules.includes(check)

/** A character takes at most 12 bytes of a URL, and Node accepts 16 KiB before a body. */
const maxCharacters = 1000

const notEmpty: SchemaAST.Check<never> = Schema.isMinLength(1)

const rules: ReadonlyArray<SchemaAST.Check<never>> = [
  notEmpty,
  Schema.isMaxCodePoints(maxCharacters),
  Schema.makeFilter((id: string) => !unaddressable.has(id) && id.isWellFormed() && !id.includes("\0"), {
    message: "can't be part of a URL",
    [validatorAnnotation]: { type: "Url" }
  })
]

/** Clients resolve these segments (RFC 3986, section 5.2.4). */
const unaddressable: ReadonlySet<string> = new Set([".", ".."])
