/** Converts the parts of a form to the JSON that a body of the model would have, by the types of its fields. */
import { memoize } from "effect/Function"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { isUtf8 } from "node:buffer"
import { booleanOf } from "../../internal/booleans.ts"
import {
  type bodyDecoder,
  type Decoded,
  elementOf,
  type FieldProblem,
  fileFieldsOf,
  holdsTexts,
  type ModelLike,
  nestedModel,
  unwrapped
} from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import { isDeeper } from "./depth.ts"
import type { ReceivedPart } from "./multipart.ts"
import { excessProblem } from "./unknownKeys.ts"

/** A parsed form: the object that a JSON body would be, and the problems of the form itself. */
export interface Form {
  readonly values: Values
  readonly problems: ReadonlyArray<FieldProblem>
}

type Values = Record<string, unknown>

/**
 * Reads the parts of a form into the input of a model. Numbers, booleans and dates are parsed from text. A list is made
 * of the parts with its name, or of one part with JSON text, unless it is of texts: one of these may look like JSON. A nested model
 * is made of parts for its fields (`address.city`) or of JSON text, and any other structured value of JSON text. A part of type `application/json` is always JSON. As in HTML, an empty text is
 * no value except in a text field, and so is a file input without a file. Unknown names are ignored like unknown keys
 * of a JSON body unless `isStrict` is set; an unknown file is always a problem.
 */
export const readForm = (
  model: Model.Any,
  parts: ReadonlyArray<ReceivedPart>,
  { isStrict, maxDepth }: { readonly maxDepth: number; readonly isStrict: boolean }
): Form => {
  const byName = Map.groupBy(
    // What was received is not part of what a JSON body would be.
    parts.filter((part) => part._tag === "Text" || part._tag === "File" && part.isChosen),
    ({ name }) => name
  )
  const values: Values = {}
  const problems: Array<FieldProblem> = []
  for (const [name, fieldParts] of byName) {
    const path = name.split(".", maxDepth + 1)
    const field = path.length > maxDepth ? undefined : fieldAt(model, path)
    if (field === undefined) {
      const hasFile = fieldParts.some(({ _tag }) => _tag === "File")
      // Those with a name are received as they arrive.
      if (hasFile && fileFieldsOf(model).some((file) => file.name === name)) {
        problems.push({ field: name, validator: "File", message: "must be a file with a name" })
      } else if (isStrict || path.includes("__proto__") || hasFile) problems.push(excessProblem(name))
      continue
    }
    if (path.some((_, i) => i > 0 && byName.has(path.slice(0, i).join(".")))) {
      problems.push({ field: name, validator: "Form", message: "is part of a field that is given as a whole, too" })
      continue
    }
    const read = readField(field, fieldParts, maxDepth)
    if (Result.isFailure(read)) problems.push({ field: name, ...read.failure })
    else if (read.success !== absent) set(values, path, read.success)
  }
  return { values, problems }
}

/** Decodes a form like a JSON body, and returns the problems of both. */
export const decodeForm = (decode: ReturnType<typeof bodyDecoder>, { problems, values }: Form): Decoded => {
  const decoded = decode(values)
  if (problems.length === 0) return decoded
  const named = new Set(problems.map(({ field }) => field))
  const others = decoded._tag === "Valid" ? [] : decoded.problems.filter(({ field }) => !named.has(field))
  return { _tag: "Invalid", problems: [...problems, ...others] }
}

const absent: unique symbol = Symbol("absent")

interface FormField {
  /** Whether the field is a list. */
  readonly isList: boolean
  /** The types of the value, or of a list's elements. */
  readonly kinds: ReadonlySet<Kind>
  /** Whether the field may be `null` as a whole. */
  readonly acceptsNull: boolean
  /** Whether the empty text is a value. */
  readonly acceptsEmpty: boolean
  /** Whether the field is a list that may be one part with JSON text. */
  readonly isJsonList: boolean
  /** The nested model, unless the field is a list. */
  readonly inner: ModelLike | undefined
}

/** The JSON types that a schema accepts; `json` is that of arrays and objects. The decoder checks every text. */
type Kind = "number" | "boolean" | "json" | "text"

const fieldsOf = memoize((model: ModelLike): ReadonlyMap<string, FormField> =>
  new Map(
    Object.entries(model.create.fields).map(([name, field]) => {
      // A field of a struct is a schema.
      const schema = field as Schema.Top
      const element = elementOf(schema)
      const value = unwrapped(element ?? schema)
      // Fields need no services.
      const { ast } = Schema.toCodecJson(value as Schema.Codec<unknown>)
      const kinds = new Set(kindsOf(ast))
      return [name, {
        isList: element !== undefined,
        acceptsNull: Schema.is(schema)(null),
        kinds,
        acceptsEmpty: kinds.has("text") && ast.encoding === undefined,
        isJsonList: element !== undefined && !mayHoldTexts(value.ast),
        // Nested variants refer to their models.
        inner: element === undefined ? nestedModel(model.store.fields[name]) : undefined
      }]
    })
  )
)

/** Whether a value may be a text, whatever it is written as. */
const mayHoldTexts = (ast: SchemaAST.AST): boolean => {
  const type = SchemaAST.toType(ast)
  return type._tag === "Union" ? type.types.some(mayHoldTexts) : holdsTexts(type)
}

const kindsOf = (ast: SchemaAST.AST): ReadonlyArray<Kind> => {
  const encoded = SchemaAST.toEncoded(ast)
  switch (encoded._tag) {
    case "Union":
      return encoded.types.flatMap(kindsOf)
    case "Number":
      return ["number"]
    case "Boolean":
      return ["boolean"]
    case "String":
    case "TemplateLiteral":
      return ["text"]
    case "Literal": {
      const type = typeof encoded.literal
      return type === "number" || type === "boolean" ? [type] : []
    }
    case "Enum":
      return encoded.enums.some(([, value]) => typeof value === "number") ? ["number"] : []
    case "Arrays":
    case "Objects":
    case "Suspend":
    case "Declaration":
    case "Unknown":
    case "Any":
    case "ObjectKeyword":
      return ["json"]
    default:
      return []
  }
}

const fieldAt = (model: ModelLike, [name = "", ...path]: ReadonlyArray<string>): FormField | undefined => {
  const field = fieldsOf(model).get(name)
  if (path.length === 0) return field
  return field?.inner === undefined ? undefined : fieldAt(field.inner, path)
}

type PartProblem = Pick<FieldProblem, "validator" | "message">

const readField = (
  field: FormField,
  parts: ReadonlyArray<ReceivedPart>,
  maxDepth: number
): Result.Result<unknown, PartProblem> => {
  const [first, ...others] = parts
  if (first === undefined) return Result.succeed(absent)
  if (!field.isList) {
    return others.length > 0 ? invalid("Form", "is given more than once") : readPart(field, first, maxDepth, false)
  }
  const values: Array<unknown> = []
  for (const part of parts) {
    const read = readPart(field, part, maxDepth, field.isJsonList && others.length === 0)
    if (Result.isFailure(read)) return read
    // A single part may contain the complete list as JSON.
    const isWhole = Array.isArray(read.success) || read.success === null && field.acceptsNull
    if (others.length === 0 && isWhole) return read
    if (read.success !== absent) values.push(read.success)
  }
  return Result.succeed(values)
}

const readPart = (
  { kinds, acceptsEmpty }: FormField,
  part: ReceivedPart,
  maxDepth: number,
  mayBeList: boolean
): Result.Result<unknown, PartProblem> => {
  if (part._tag !== "Text") return invalid("File", "can't be a file")
  const [type = "", charset] = part.contentType.split(";charset=")
  if (charset !== undefined && !utf8.has(charset) || !isUtf8(part.bytes)) return invalid("Form", "must be UTF-8 text")
  const text = Buffer.from(part.bytes.buffer, part.bytes.byteOffset, part.bytes.byteLength).toString("utf8")
  const isJson = type === "application/json" || mayBeList && text.trimStart().startsWith("[")
  if (isJson || kinds.has("json") && !acceptsEmpty && text !== "") {
    if (isDeeper(part.bytes, maxDepth)) return invalid("Json", `must not be nested more than ${maxDepth} levels deep`)
    return parseJson(text)
  }
  return Result.succeed(read(text, kinds, acceptsEmpty))
}

const read = (text: string, kinds: ReadonlySet<Kind>, acceptsEmpty: boolean): unknown => {
  if (text === "" && !acceptsEmpty) return absent
  const number = kinds.has("number") && decimal.test(text) ? Number(text) : Number.NaN
  if (Number.isFinite(number)) return number
  return kinds.has("boolean") ? booleanOf(text) ?? text : text
}

const decimal = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/iu

const parseJson = (text: string): Result.Result<unknown, PartProblem> =>
  Result.try({ try: (): unknown => JSON.parse(text), catch: () => notJson })

const notJson: PartProblem = { validator: "Json", message: "is not valid JSON" }

const invalid = (validator: string, message: string) => Result.fail({ validator, message })

const utf8: ReadonlySet<string> = new Set(["utf-8", "utf8", "us-ascii"])

/** The path contains only field names, none of which is the name of an inherited property. */
const set = (values: Values, path: ReadonlyArray<string>, value: unknown): void => {
  const [name = "", ...rest] = path
  if (rest.length === 0) {
    values[name] = value
    return
  }
  const existing = Object.hasOwn(values, name) ? values[name] : undefined
  const inner: Values = typeof existing === "object" && existing !== null ? existing as Values : {}
  values[name] = inner
  set(inner, rest, value)
}
