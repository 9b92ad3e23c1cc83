/** `$redact`: leaves out the parts of a document that an expression decides against. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import { isArray, isDocument, setField } from "../bson/value.ts"
import { mapEach } from "../execution/batchIterator.ts"
import { type Expression, Variable } from "../expression/expression.ts"
import { parseExpression } from "../expression/parseExpression.ts"
import { beginEvaluation } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { checkSize } from "../limits/sizeLimits.ts"
import type { StageParser } from "./stageContext.ts"

export const parseRedact: StageParser = (operand, context) => {
  const root = new Variable()
  const variables = { ROOT: root, KEEP: keep, PRUNE: prune, DESCEND: descend }
  const decide = parseExpression(operand, { ...context, variables: { ...context.variables, ...variables } })
  return (source) =>
    mapEach(source, (document) => {
      beginEvaluation()
      root.value = document
      const left = redact(document, decide)
      return left === undefined ? undefined : checkSize(left)
    })
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
