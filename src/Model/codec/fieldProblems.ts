/**
 * Translates Effect's schema issues into problems of fields, worded for the caller, that do not quote secret values.
 */
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type * as SchemaIssue from "effect/SchemaIssue"
import type { Text } from "../../internal/text.ts"
import { type FieldAttributes, temporalKind } from "../shape/annotations.ts"
import { isKind } from "../shape/fields.ts"
import { modelOf, modelTypeId } from "../shape/variants.ts"
import { expectationAs, expectationAsText, expectationOf, expectedBy, isEmptyType, ruleOf } from "./wording.ts"

/** A {@link SchemaIssue.Issue} in the form that is reported to callers. */
export interface FieldProblem {
  readonly field: string
  readonly validator: string
  /** The expectation, to follow the field's label: `must be a number`. */
  readonly message: string
  /** The same in any language, for what no validator says. */
  readonly text?: Text | undefined
}

/**
 * The problems of each field, worded for the sender of the value. A custom schema's message may quote the value, so
 * such a message is not used for omitted fields, nor for any field if `isConfidential`.
 */
export const problemsOf = (issue: SchemaIssue.Issue, isConfidential = false): ReadonlyArray<FieldProblem> =>
  problemsAt(issue, { path: "", isConfidential, parent: undefined, attributes: undefined, decodedType: undefined })

interface IssueContext {
  readonly path: string
  readonly isConfidential: boolean
  /** The node that the issue's parts belong to. */
  readonly parent: SchemaAST.AST | undefined
  /** The attributes of the enclosing model. The struct of a class does not refer to its model. */
  readonly attributes: { readonly [key: string]: FieldAttributes } | undefined
  /** The decoded type, if the value is encoded in another form. */
  readonly decodedType: SchemaAST.AST | undefined
}

const problemsAt = (issue: SchemaIssue.Issue, context: IssueContext): ReadonlyArray<FieldProblem> => {
  const problem = (validator: string, message: string) => [{ field: context.path, validator, message }]
  switch (issue._tag) {
    case "Pointer":
      return problemsAt(issue.issue, issue.path.reduce(atKey, context))
    case "Composite":
      if (SchemaAST.isTemplateLiteral(issue.ast)) return [typeProblem(context, issue.ast)]
      return issue.issues.flatMap((inner) => problemsAt(inner, atNode(context, issue.ast)))
    case "Encoding":
      return problemsAt(issue.issue, {
        ...atNode(context, issue.ast),
        decodedType: context.decodedType ?? decodedTypeOf(issue.ast)
      })
    case "AnyOf":
      return unionProblems(issue, context)
    case "Filter":
      return filterProblems(issue, context)
    case "MissingKey":
      return problem("Required", "must be given")
    case "UnexpectedKey":
      return problem("Unknown", "is not a field of the model")
    case "InvalidType":
      return [typeProblem(context, issue.ast)]
    case "OneOf":
      return problem("Type", "must have exactly one of the accepted forms")
    case "Forbidden":
      return problem("Type", "is not allowed")
    case "InvalidValue": {
      const customMessage = context.isConfidential || isTemporal(context.parent)
        ? undefined
        : messageOf(issue.annotations)
      return customMessage === undefined && context.decodedType !== undefined
        ? [typeProblem(context, context.decodedType)]
        : problem("Type", customMessage ?? genericMessage)
    }
  }
}

/** The member that matched furthest gives the message; a value that matches none has the wrong type. */
const unionProblems = (issue: SchemaIssue.AnyOf, context: IssueContext): ReadonlyArray<FieldProblem> => {
  const [nested, ...others] = issue.issues.filter((inner) => inner._tag === "Composite" || inner._tag === "Filter")
  return nested !== undefined && others.length === 0 ? problemsAt(nested, context) : [typeProblem(context, issue.ast)]
}

const filterProblems = (issue: SchemaIssue.Filter, context: IssueContext): ReadonlyArray<FieldProblem> => {
  const rule = ruleOf(issue.filter)
  if (rule !== undefined && (rule.isOwn || context.decodedType === undefined)) {
    const { path } = issue.issue._tag === "Pointer" ? issue.issue.path.reduce(atKey, context) : context
    return [{ field: path, validator: rule.type, message: rule.message ?? issueMessage(issue) ?? genericMessage }]
  }
  if (issue.issue._tag === "Pointer" || issue.issue._tag === "Composite") return problemsAt(issue.issue, context)
  const kind = isKind(issue.filter, "isInt") ? int : isKind(issue.filter, "isFinite") ? finite : undefined
  if (kind !== undefined || context.decodedType !== undefined && filterMessage(issue) === undefined) {
    return [typeProblem(context, kind ?? context.parent ?? finite)]
  }
  const message = (context.isConfidential ? undefined : issueMessage(issue)) ?? filterMessage(issue) ??
    expectedBy(issue.filter) ?? genericMessage
  return [{ field: context.path, validator: "Type", message }]
}

/** The problem of a value with the wrong type. */
const typeProblem = ({ decodedType, path }: IssueContext, ast: SchemaAST.AST): FieldProblem => {
  const encoded = encodedForm(decodedType ?? ast)
  const expectation = expectationAs(decodedType ?? ast, encoded)
  const { message } = SchemaAST.isString(encoded) ? expectationAsText(expectation) : expectation
  return { field: path, validator: "Type", message }
}

const atKey = ({ attributes, isConfidential, path, parent }: IssueContext, key: PropertyKey): IssueContext => ({
  // A key of a record may be data itself, so it is not shown for an omitted field.
  path: isConfidential && !isNamedBy(parent, key) ? path : path === "" ? String(key) : `${path}.${String(key)}`,
  isConfidential: isConfidential || attributes?.[String(key)]?.omitted === true,
  parent: undefined,
  attributes: undefined,
  decodedType: undefined
})

const isNamedBy = (parent: SchemaAST.AST | undefined, key: PropertyKey): boolean =>
  parent?._tag === "Arrays" || parent?._tag === "Objects" && parent.propertySignatures.some(({ name }) => name === key)

const atNode = (context: IssueContext, parent: SchemaAST.AST): IssueContext => ({
  ...context,
  parent,
  attributes: modelOf(parent)?.[modelTypeId] ?? context.attributes
})

/** A text that is no date counts as a wrong type, although dates are encoded as text. */
const isTemporal = (ast: SchemaAST.AST | undefined): boolean => ast?.annotations?.[temporalKind] !== undefined

/** The encoded form of a value that is there. */
const encodedForm = (ast: SchemaAST.AST): SchemaAST.AST => {
  if (ast._tag !== "Union") return SchemaAST.toEncoded(ast)
  const [other, ...others] = ast.types.filter((type) => !isEmptyType(type))
  return other === undefined || others.length > 0 ? ast : SchemaAST.toEncoded(other)
}

/** The decoded type of an encoded value; `undefined` if both have the same description. */
const decodedTypeOf = (ast: SchemaAST.AST): SchemaAST.AST | undefined =>
  expectationOf(ast).message === expectationOf(SchemaAST.toEncoded(ast)).message ? undefined : ast

const int = Schema.Int.ast

const finite = Schema.Finite.ast

const genericMessage = "is not valid"

const messageOf = (annotations: { readonly message?: unknown } | undefined): string | undefined =>
  typeof annotations?.message === "string" ? annotations.message : undefined

/** The message that a filter declares. */
const filterMessage = ({ filter }: SchemaIssue.Filter): string | undefined => messageOf(filter.annotations)

/** The message that a filter returned for this value, which may quote the value. */
const issueMessage = ({ issue }: SchemaIssue.Filter): string | undefined =>
  issue._tag === "InvalidValue" ? messageOf(issue.annotations) : undefined
