/**
 * `$redact`: leaves out the parts of a document that an expression decides against.
 */
import * as Result from "effect/Result"
import { isArray, isDocument, setField } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { mapEach } from "../execution/batchIterator.ts"
import { type Expression, Variable } from "../expression/expression.ts"
import { parseExpression } from "../expression/parseExpression.ts"
import { beginEvaluation } from "../limits/costBudget.ts"
import { catchRejection, type Problem, reject } from "../limits/queryProblem.ts"
import { checkSize } from "../limits/sizeLimits.ts"
import type { StageParser } from "./stageContext.ts"

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
