import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type * as SchemaIssue from "effect/SchemaIssue"
import { type FieldAttributes, temporalKind } from "../shape/annotations.ts"
import { isKind } from "../shape/fields.ts"
import { modelOf, modelTypeId } from "../shape/variants.ts"
import { ruleOf, wantedOf, writtenAsText } from "./wording.ts"

/**
 * A {@link SchemaIssue.Issue} as a caller is told of it.
 *
 * @internal
 */
export interface FieldProblem {
  readonly field: string
  readonly validator: string
  /** What is expected, to go behind the field's label: `must be a number`. */
  readonly message: string
}

/**
 * What is wrong, field by field, in words for whoever sent the value. What schemas of their own say of a value may quote
 * it, so of an omitted field, and of everything when `discreet`, only what is known without the value is said.
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
  /** What the issue's parts are parts of. */
  readonly whole: SchemaAST.AST | undefined
  /** Of the model that `whole` is; a class's own struct doesn't know whose it is. */
  readonly attributes: { readonly [key: string]: FieldAttributes } | undefined
  /** What the value is to become, where it is written in another form. */
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
      // Of a union's members, the one that got furthest says most; a value that fits none is of the wrong type.
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

/** The value is none of what is wanted. */
const mismatched = ({ meant, path }: Place, ast: SchemaAST.AST): FieldProblem => {
  const wanted = wantedOf(meant ?? ast)
  const { message } = SchemaAST.isString(writtenForm(ast)) ? writtenAsText(wanted) : wanted
  return { field: path, validator: "Type", message }
}

const within = ({ attributes, discreet, path, whole }: Place, key: PropertyKey): Place => ({
  // A name that no schema gave, in a record, is a value itself.
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

/** A text that is no date is of another type than dates are, though both are texts. */
const isTemporal = (ast: SchemaAST.AST | undefined): boolean => ast?.annotations?.[temporalKind] !== undefined

/** How a value is written, where there is one. */
const writtenForm = (ast: SchemaAST.AST): SchemaAST.AST => {
  if (ast._tag !== "Union") return SchemaAST.toEncoded(ast)
  const [other, ...others] = ast.types.filter(({ _tag }) => _tag !== "Null")
  return other === undefined || others.length > 0 ? ast : SchemaAST.toEncoded(other)
}

/** What a value in another form stands for; `undefined` where it is of the same kind in both. */
const meantBy = (ast: SchemaAST.AST): SchemaAST.AST | undefined =>
  wantedOf(ast).message === wantedOf(SchemaAST.toEncoded(ast)).message ? undefined : ast

const int = Schema.Int.ast

const finite = Schema.Finite.ast

const unsaid = "is not valid"

const messageOf = (annotations: { readonly message?: unknown } | undefined): string | undefined =>
  typeof annotations?.message === "string" ? annotations.message : undefined

/** What a filter says of itself. */
const filterMessage = ({ filter }: SchemaIssue.Filter): string | undefined => messageOf(filter.annotations)

/** What a filter found, which may quote the value. */
const foundBy = ({ issue }: SchemaIssue.Filter): string | undefined =>
  issue._tag === "InvalidValue" ? messageOf(issue.annotations) : undefined

/** What a filter of a library expects is a noun: `a value between 5 and 8`, `a string in uppercase`. */
const expectedBy = ({ annotations }: SchemaIssue.Filter["filter"]): string | undefined => {
  const expected: unknown = annotations?.["expected"]
  if (typeof expected !== "string") return undefined
  return expected.startsWith("a value with ")
    ? `must have ${expected.slice("a value with ".length)}`
    : `must be ${expected.replace(/^a value (?:that is )?/u, "").replace(/^a string/u, "a text")}`
}
