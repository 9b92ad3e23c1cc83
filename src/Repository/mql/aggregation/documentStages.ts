/**
 * The stages that make one document of each: `$project`, `$addFields`, `$unset`, `$replaceRoot` and `$redact`.
 */
import * as Result from "effect/Result"
import { isArray, isDocument, setField } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { mapEach } from "../execution/batchIterator.ts"
import { type Expression, Variable } from "../expression/expression.ts"
import { parseExpression } from "../expression/parseExpression.ts"
import { beginEvaluation } from "../limits/costBudget.ts"
import { catchRejection, type Problem, reject, rejected } from "../limits/queryProblem.ts"
import { checkSize } from "../limits/sizeLimits.ts"
import { changeFields } from "../projection/fieldTree.ts"
import { computing, parseFields, parseProject, type Projection } from "../projection/parseProjection.ts"
import type { StageParser, Transform } from "./stageContext.ts"

/** @internal */
export const parseProjectStage: StageParser = (operand, context) =>
  isDocument(operand) && Object.keys(operand).length > 0
    ? Result.map(parseProject(operand, context), each)
    : Result.fail(rejected("$project needs at least one field"))

/** @internal */
export const parseAddFields: StageParser = (operand, context) => {
  if (!isDocument(operand) || Object.keys(operand).length === 0) {
    return Result.fail(rejected("$addFields needs at least one field"))
  }
  return Result.map(
    catchRejection(() => parseFields(operand, context)),
    (tree) => each(computing((document) => changeFields(document, tree)))
  )
}

/** @internal */
export const parseUnset: StageParser = (operand, context) => {
  const paths = isArray(operand) ? operand : [operand]
  if (paths.length === 0 || !paths.every((path) => typeof path === "string" && path !== "")) {
    return Result.fail(rejected("$unset needs the path of a field, or an array of at least one"))
  }
  return Result.map(parseProject(Object.fromEntries(paths.map((path) => [path, false])), context), each)
}

/** @internal */
export const parseReplaceRoot: StageParser = (operand, context) => {
  const { newRoot, ...others } = isDocument(operand) ? { ...operand } : {}
  return newRoot === undefined || Object.keys(others).length > 0
    ? Result.fail(rejected("$replaceRoot needs a newRoot"))
    : parseReplaceWith(newRoot, context)
}

/** @internal */
export const parseReplaceWith: StageParser = (operand, context) =>
  Result.map(parseExpression(operand, context), (root) =>
    each(computing((document) => {
      const made = root(document)
      return isDocument(made) ? made : reject("$replaceRoot needs an expression that gives a document")
    })))

/** @internal */
export const parseRedact: StageParser = (operand, context) => {
  const root = new Variable()
  const variables = { ROOT: root, KEEP: keep, PRUNE: prune, DESCEND: descend }
  return Result.map(
    parseExpression(operand, { ...context, variables: { ...context.variables, ...variables } }),
    (decide) => (source) =>
      mapEach(source, (document): Result.Result<Document | undefined, Problem> => {
        beginEvaluation()
        const redacted = catchRejection(() => {
          root.value = document
          return redact(document, decide)
        })
        return Result.flatMap(redacted, (left) => left === undefined ? Result.succeed(undefined) : checkSize(left))
      })
  )
}

// internal

const each = (project: Projection): Transform => (source) => mapEach(source, project)

const variableOf = (value: unknown): Variable => {
  const variable = new Variable()
  variable.value = value
  return variable
}

const keep = variableOf(Symbol("$$KEEP"))
const prune = variableOf(Symbol("$$PRUNE"))
const descend = variableOf(Symbol("$$DESCEND"))

const redact = (document: Document, decide: Expression): Document | undefined => {
  switch (decide(document)) {
    case keep.value:
      return document
    case prune.value:
      return undefined
    case descend.value: {
      const result: { [key: string]: unknown } = {}
      for (const key of Object.keys(document)) {
        const value = redactWithin(document[key], decide)
        if (value !== undefined) setField(result, key, value)
      }
      return result
    }
    default:
      return reject("$redact needs $$KEEP, $$PRUNE or $$DESCEND")
  }
}

const redactWithin = (value: unknown, decide: Expression): unknown =>
  isDocument(value)
    ? redact(value, decide)
    : isArray(value)
    ? value.map((item) => redactWithin(item, decide)).filter((item) => item !== undefined)
    : value
