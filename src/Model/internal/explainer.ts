import * as Cause from "effect/Cause"
import * as Schema from "effect/Schema"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import { compileDecoder, invalid, isStruct, staysAbsent, textParserOf, type Values } from "./decoder.ts"
import { type FieldProblem, problemsOf } from "./issues.ts"

/** @internal */
export type Decoded =
  | { readonly _tag: "Valid"; readonly value: Values }
  | { readonly _tag: "Invalid"; readonly problems: ReadonlyArray<FieldProblem> }

/**
 * Decodes what a caller sent as JSON, or says everything that is wrong with it.
 *
 * @internal
 */
export const bodyDecoder = (schema: Schema.Struct<Schema.Struct.Fields>): (body: unknown) => Decoded => {
  // Fields are plain codecs.
  const codec = Schema.toCodecJson(schema as unknown as Schema.Codec<Values>)
  SchemaJITCompiler.enable(codec.ast)
  const decode = compileDecoder(codec.ast)
  const decodeAll = SchemaParser.decodeUnknownExit(codec, everything)
  let explain: Explain | undefined
  return (body) => {
    const value = decode(body)
    // What a struct's schema decoded is an object of its fields.
    if (value !== invalid) return { _tag: "Valid", value: value as Values }
    explain ??= explainerOf(codec.ast)
    const found = explain(body)
    if (found !== undefined) return { _tag: "Invalid", problems: problemsOf(found) }
    const exit = decodeAll(body)
    if (exit._tag === "Success") return { _tag: "Valid", value: exit.value }
    const issue = Cause.findErrorOption(exit.cause)
    return { _tag: "Invalid", problems: issue._tag === "Some" ? problemsOf(issue.value) : [] }
  }
}

type Explain = (input: unknown) => SchemaIssue.Issue | undefined

const everything: SchemaAST.ParseOptions = { errors: "all" }

/**
 * The issue that a struct's parser finds when it is asked for everything, quickly: only the fields that are not valid
 * are looked at closely. `undefined` where the parser itself has to be asked.
 */
const explainerOf = (ast: SchemaAST.AST): Explain => {
  if (!isStruct(ast) || ast.encoding !== undefined) return () => undefined
  const fields = ast.propertySignatures.map(fieldExplainerOf)
  return (input) => {
    if (typeof input !== "object" || input === null || Array.isArray(input)) return undefined
    const issues: Array<SchemaIssue.Issue> = []
    for (let i = 0; i < fields.length; i++) {
      // Every property of an object may be asked for.
      const found = fields[i]!(input as Values)
      if (found === "unclear") return undefined
      if (found !== "none") issues.push(found)
    }
    const [first, ...others] = issues
    return first === undefined ? undefined : new SchemaIssue.Composite(ast, [first, ...others], input, everything)
  }
}

type Found = SchemaIssue.Issue | "none" | "unclear"

const fieldExplainerOf = ({ name, type }: SchemaAST.PropertySignature): (given: Values) => Found => {
  const key = String(name)
  const at = (issue: SchemaIssue.Issue) => new SchemaIssue.Pointer([key], issue)
  const decode = compileDecoder(type)
  // Fields are plain codecs.
  const parse = SchemaParser.decodeUnknownExit(Schema.make<Schema.Codec<unknown>>(type), everything)
  const foundIn = (value: unknown): Found => {
    const exit = parse(value)
    if (exit._tag === "Success") return "none"
    const issue = Cause.findErrorOption(exit.cause)
    return issue._tag === "Some" && exit.cause.reasons.length === 1 ? at(issue.value) : "unclear"
  }
  const absent = SchemaAST.isOptional(type) ? "none" : at(new SchemaIssue.MissingKey(type.context?.annotations))
  const absence = staysAbsent(type) ? absent : "unclear"
  const toMillis = textParserOf(type)
  // The same is found in every text that is no date, and finding it takes long.
  const noDate = toMillis === undefined ? "unclear" : foundIn("")
  return (given) => {
    const value = given[key]
    if (value === undefined && !(key in given)) return absence
    if (decode(value) !== invalid) return "none"
    return toMillis !== undefined && typeof value === "string" && toMillis(value) === undefined
      ? noDate
      : foundIn(value)
  }
}
