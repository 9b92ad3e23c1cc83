import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import { type FieldAttributes, temporalKind, validatorAnnotation, type ValidatorEntry } from "./annotations.ts"
import { isKind } from "./fields.ts"
import { modelOf, modelTypeId } from "./variants.ts"

/**
 * A {@link SchemaIssue.Issue} as a caller is told of it.
 *
 * @internal
 */
export interface FieldProblem {
  readonly field: string
  readonly validator: string
  readonly message: string
  /** Whether the value is of another type than the field: then the type of the field says as much as `message`. */
  readonly mismatch?: boolean | undefined
}

/**
 * What is wrong, field by field. What schemas of their own say of a value may quote it, so of an omitted field, and of
 * everything when `discreet`, only what is known without the value is said.
 *
 * @internal
 */
export const problemsOf = (issue: SchemaIssue.Issue, discreet = false): ReadonlyArray<FieldProblem> => {
  const problems: Array<FieldProblem> = []
  collect(issue, { path: "", discreet, whole: undefined, attributes: undefined }, problems)
  return problems
}

interface Place {
  readonly path: string
  readonly discreet: boolean
  /** What the issue's parts are parts of. */
  readonly whole: SchemaAST.AST | undefined
  /** Of the model that `whole` is; a class's own struct doesn't know whose it is. */
  readonly attributes: { readonly [key: string]: FieldAttributes } | undefined
}

const collect = (issue: SchemaIssue.Issue, place: Place, problems: Array<FieldProblem>): void => {
  const { path } = place
  switch (issue._tag) {
    case "Pointer":
      return collect(issue.issue, issue.path.reduce(within, place), problems)
    case "Composite":
      return issue.issues.forEach((inner) => collect(inner, into(place, issue.ast), problems))
    case "Encoding":
      return collect(issue.issue, into(place, issue.ast), problems)
    case "AnyOf": {
      // Of a union's members, the one that got furthest says most; a value that fits none is of the wrong type.
      const nested = issue.issues.filter((inner) => inner._tag === "Composite" || inner._tag === "Filter")
      if (nested.length === 1) return collect(nested[0]!, place, problems)
      problems.push({ field: path, validator: "Type", message: firstLine(issue), mismatch: true })
      return
    }
    case "Filter": {
      const annotation = issue.filter.annotations?.[validatorAnnotation]
      if (isNamed(annotation)) {
        const message = issue.filter.annotations?.message
        const known = typeof message === "string" ? message : firstLine(issue)
        const at = issue.issue._tag === "Pointer" ? issue.issue.path.reduce(within, place) : place
        problems.push({ field: at.path, validator: annotation.type, message: known })
        return
      }
      if (issue.issue._tag === "Pointer" || issue.issue._tag === "Composite") {
        return collect(issue.issue, place, problems)
      }
      problems.push({
        field: path,
        validator: "Type",
        message: place.discreet ? filterMessage(issue) : firstLine(issue),
        mismatch: isKind(issue.filter, "isInt") || isKind(issue.filter, "isFinite")
      })
      return
    }
    default:
      problems.push({
        field: path,
        validator: leafValidator(issue),
        message: leafMessage(issue, place.discreet),
        mismatch: issue._tag === "InvalidType" || isTemporal(place.whole)
      })
  }
}

const within = ({ attributes, discreet, path, whole }: Place, key: PropertyKey): Place => ({
  // A name that no schema gave, in a record, is a value itself.
  path: discreet && !isNamedBy(whole, key) ? path : path === "" ? String(key) : `${path}.${String(key)}`,
  discreet: discreet || attributes?.[String(key)]?.omitted === true,
  whole: undefined,
  attributes: undefined
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

const unsaid = "is not valid"

const leafMessage = (issue: SchemaIssue.Leaf, discreet: boolean): string => {
  switch (issue._tag) {
    case "MissingKey":
      return "is required"
    case "UnexpectedKey":
      return "is not a field of the model"
    case "InvalidType":
      return SchemaIssue.defaultLeafHook(issue)
    default:
      return discreet ? unsaid : SchemaIssue.defaultLeafHook(issue)
  }
}

const leafValidator = (issue: SchemaIssue.Leaf): string =>
  issue._tag === "MissingKey" ? "Required" : issue._tag === "UnexpectedKey" ? "Unknown" : "Type"

/** What a filter says of itself, not what it found. */
const filterMessage = ({ filter }: SchemaIssue.Filter): string => {
  const { expected, message } = filter.annotations ?? {}
  return typeof message === "string" ? message : typeof expected === "string" ? `Expected ${expected}` : unsaid
}

const isNamed = (u: unknown): u is ValidatorEntry => typeof u === "object" && u !== null && "type" in u

const format = SchemaIssue.makeFormatterDefault()

const firstLine = (issue: SchemaIssue.Issue): string => format(issue).split("\n", 1)[0]!
