import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type * as SchemaIssue from "effect/SchemaIssue"
import { type FieldAttributes, temporalKind } from "../shape/annotations.ts"
import { isKind } from "../shape/fields.ts"
import { modelOf, modelTypeId } from "../shape/variants.ts"
import { ruleOf, wantedOf, writtenAsText } from "./wording.ts"

/**
 * A {@link SchemaIssue.Issue} in the form that is reported to callers.
 *
 * @internal
 */
export interface FieldProblem {
  readonly field: string
  readonly validator: string
  /** The expectation, to follow the field's label: `must be a number`. */
  readonly message: string
}

/**
 * The problems of each field, worded for the sender of the value. A custom schema's message may quote the value, so
 * such a message is not used for omitted fields, nor for any field if `discreet`.
 *
 * @internal
 */
export const problemsOf = (issue: SchemaIssue.Issue, discreet = false): ReadonlyArray<FieldProblem> => {
  const problems: Array<FieldProblem> = []
  collect(issue, { path: "", discreet, whole: undefined, attributes: undefined, meant: undefined }, problems)
  return problems
}

interface Place {
  readonly path: string
  readonly discreet: boolean
  /** The node that the issue's parts belong to. */
  readonly whole: SchemaAST.AST | undefined
  /** The attributes of the enclosing model. The struct of a class does not refer to its model. */
  readonly attributes: { readonly [key: string]: FieldAttributes } | undefined
  /** The decoded type, if the value is encoded in another form. */
  readonly meant: SchemaAST.AST | undefined
}

const collect = (issue: SchemaIssue.Issue, place: Place, problems: Array<FieldProblem>): void => {
  const { path } = place
  switch (issue._tag) {
    case "Pointer":
      return collect(issue.issue, issue.path.reduce(within, place), problems)
    case "Composite":
      return issue.issues.forEach((inner) => collect(inner, into(place, issue.ast), problems))
    case "Encoding":
      return collect(issue.issue, { ...into(place, issue.ast), meant: place.meant ?? meantBy(issue.ast) }, problems)
    case "AnyOf": {
      // The union member that matched furthest gives the most useful message. A value that matches no member has the
      // wrong type.
      const nested = issue.issues.filter((inner) => inner._tag === "Composite" || inner._tag === "Filter")
      if (nested.length === 1) return collect(nested[0]!, place, problems)
      problems.push(mismatched(place, issue.ast))
      return
    }
    case "Filter": {
      const rule = ruleOf(issue.filter)
      if (rule !== undefined && (rule.isOwn || place.meant === undefined)) {
        const at = issue.issue._tag === "Pointer" ? issue.issue.path.reduce(within, place) : place
        problems.push({ field: at.path, validator: rule.type, message: rule.message ?? foundBy(issue) ?? unsaid })
        return
      }
      if (issue.issue._tag === "Pointer" || issue.issue._tag === "Composite") {
        return collect(issue.issue, place, problems)
      }
      const kind = isKind(issue.filter, "isInt") ? int : isKind(issue.filter, "isFinite") ? finite : undefined
      if (kind !== undefined || place.meant !== undefined && filterMessage(issue) === undefined) {
        problems.push(mismatched(place, kind ?? place.whole ?? finite))
        return
      }
      problems.push({
        field: path,
        validator: "Type",
        message: (place.discreet ? undefined : foundBy(issue)) ?? filterMessage(issue) ?? expectedBy(issue.filter) ??
          unsaid
      })
      return
    }
    case "MissingKey":
      problems.push({ field: path, validator: "Required", message: "must be given" })
      return
    case "UnexpectedKey":
      problems.push({ field: path, validator: "Unknown", message: "is not a field of the model" })
      return
    case "InvalidType":
      problems.push(mismatched(place, issue.ast))
      return
    case "OneOf":
      problems.push({ field: path, validator: "Type", message: "must have exactly one of the accepted forms" })
      return
    case "Forbidden":
      problems.push({ field: path, validator: "Type", message: "is not allowed" })
      return
    case "InvalidValue": {
      const said = place.discreet || isTemporal(place.whole) ? undefined : messageOf(issue.annotations)
      problems.push(
        said === undefined && place.meant !== undefined
          ? mismatched(place, place.meant)
          : { field: path, validator: "Type", message: said ?? unsaid }
      )
    }
  }
}

/** The problem of a value with the wrong type. */
const mismatched = ({ meant, path }: Place, ast: SchemaAST.AST): FieldProblem => {
  const wanted = wantedOf(meant ?? ast)
  const { message } = SchemaAST.isString(writtenForm(ast)) ? writtenAsText(wanted) : wanted
  return { field: path, validator: "Type", message }
}

const within = ({ attributes, discreet, path, whole }: Place, key: PropertyKey): Place => ({
  // A key of a record may be data itself, so it is not shown for an omitted field.
  path: discreet && !isNamedBy(whole, key) ? path : path === "" ? String(key) : `${path}.${String(key)}`,
  discreet: discreet || attributes?.[String(key)]?.omitted === true,
  whole: undefined,
  attributes: undefined,
  meant: undefined
})

const isNamedBy = (whole: SchemaAST.AST | undefined, key: PropertyKey): boolean =>
  whole?._tag === "Arrays" || whole?._tag === "Objects" && whole.propertySignatures.some(({ name }) => name === key)

const into = (place: Place, whole: SchemaAST.AST): Place => ({
  ...place,
  whole,
  attributes: modelOf(whole)?.[modelTypeId] ?? place.attributes
})

/** A text that is no date counts as a wrong type, although dates are encoded as text. */
const isTemporal = (ast: SchemaAST.AST | undefined): boolean => ast?.annotations?.[temporalKind] !== undefined

/** The encoded form of a value that is not `null`. */
const writtenForm = (ast: SchemaAST.AST): SchemaAST.AST => {
  if (ast._tag !== "Union") return SchemaAST.toEncoded(ast)
  const [other, ...others] = ast.types.filter(({ _tag }) => _tag !== "Null")
  return other === undefined || others.length > 0 ? ast : SchemaAST.toEncoded(other)
}

/** The decoded type of an encoded value; `undefined` if both have the same description. */
const meantBy = (ast: SchemaAST.AST): SchemaAST.AST | undefined =>
  wantedOf(ast).message === wantedOf(SchemaAST.toEncoded(ast)).message ? undefined : ast

const int = Schema.Int.ast

const finite = Schema.Finite.ast

const unsaid = "is not valid"

const messageOf = (annotations: { readonly message?: unknown } | undefined): string | undefined =>
  typeof annotations?.message === "string" ? annotations.message : undefined

/** The message that a filter declares. */
const filterMessage = ({ filter }: SchemaIssue.Filter): string | undefined => messageOf(filter.annotations)

/** The message that a filter returned for this value, which may quote the value. */
const foundBy = ({ issue }: SchemaIssue.Filter): string | undefined =>
  issue._tag === "InvalidValue" ? messageOf(issue.annotations) : undefined

/** Effect's filters describe their expectation as a noun: `a value between 5 and 8`, `a string in uppercase`. */
const expectedBy = ({ annotations }: SchemaIssue.Filter["filter"]): string | undefined => {
  const expected: unknown = annotations?.["expected"]
  if (typeof expected !== "string") return undefined
  return expected.startsWith("a value with ")
    ? `must have ${expected.slice("a value with ".length)}`
    : `must be ${expected.replace(/^a value (?:that is )?/u, "").replace(/^a string/u, "a text")}`
}
