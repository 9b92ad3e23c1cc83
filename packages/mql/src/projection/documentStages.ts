/** The stages that compute one document of each, without other documents: pipelines and updates have them. */
import { isArray, isDocument } from "../bson/value.ts"
import { type ExpressionContext, namesOf } from "../expression/expression.ts"
import { parseExpression } from "../expression/parseExpression.ts"
import { reject } from "../limits/queryProblem.ts"
import { changeFields } from "./fieldTree.ts"
import { computing, parseFields, parseProject, type Projection } from "./parseProjection.ts"

/** Parses the operand of a stage. May throw. */
export type DocumentStageParser = (operand: unknown, context: ExpressionContext) => Projection

const parseProjectStage: DocumentStageParser = (operand, context) =>
  isDocument(operand) && Object.keys(operand).length > 0
    ? parseProject(operand, context)
    : reject("$project needs at least one field")

const parseAddFields: DocumentStageParser = (operand, context) => {
  if (!isDocument(operand) || Object.keys(operand).length === 0) {
    return reject("$addFields needs at least one field")
  }
  const tree = parseFields(operand, context)
  return computing((document) => changeFields(document, tree))
}

const parseUnset: DocumentStageParser = (operand, context) => {
  const paths = isArray(operand) ? operand : [operand]
  if (paths.length === 0 || !paths.every((path) => typeof path === "string") || new Set(paths).size < paths.length) {
    return reject("$unset needs the path of a field, or an array of different ones")
  }
  return parseProject(Object.fromEntries(paths.map((path) => [path, false])), context)
}

const parseReplaceRoot: DocumentStageParser = (operand, context) => {
  const { newRoot } = { ...namesOf(operand, "$replaceRoot", ["newRoot"]) }
  return parseReplaceWith(newRoot, context)
}

const parseReplaceWith: DocumentStageParser = (operand, context) => {
  const root = parseExpression(operand, context)
  return computing((document) => {
    const made = root(document)
    return isDocument(made) ? made : reject("$replaceRoot needs an expression that gives a document")
  })
}

/** The parsers of the stages by their names. */
export const documentStages: ReadonlyMap<string, DocumentStageParser> = new Map([
  ["$project", parseProjectStage],
  ["$addFields", parseAddFields],
  ["$set", parseAddFields],
  ["$unset", parseUnset],
  ["$replaceRoot", parseReplaceRoot],
  ["$replaceWith", parseReplaceWith]
])
