/**
 * Updates by a pipeline: its stages compute the document that replaces another one.
 */
import * as Result from "effect/Result"
import { normalise } from "../../bson/normalise.ts"
import { isArray, isDocument } from "../../bson/value.ts"
import type { ExpressionContext } from "../expression/expression.ts"
import { workOfEvaluation } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { documentStages } from "../projection/documentStages.ts"
import type { Projection } from "../projection/parseProjection.ts"
import { keepingId } from "./newDocument.ts"

/**
 * Parses the stages of an update. The result computes the next form of a document, whose `_id` stays. May throw.
 *
 * @internal
 */
export const parsePipelineUpdate = (
  given: ReadonlyArray<unknown>,
  context: ExpressionContext
): Projection => {
  if (given.length === 0) return reject("an update by a pipeline needs stages")
  if (given.length > maxStages) return reject(`a pipeline may have ${maxStages} stages at most`)
  const normalised = Result.getOrElse(normalise({ given }), reject)
  const stages = itemsOf(normalised["given"]).map((stage) => parseStage(stage, context))
  return (previous) => {
    let next = previous
    let work = 0
    for (const stage of stages) {
      if (work > maxWork) return reject("the update has too much to compute for one document")
      next = stage(next)
      work += workOfEvaluation() + costOfField * Object.keys(next).length
    }
    return Result.getOrElse(normalise(keepingId(next, previous["_id"])), reject)
  }
}

// internal

// MongoDB's limit.
const maxStages = 1000

// About half a second for all stages, which run in one turn.
const maxWork = 50_000_000

// Each stage copies the fields.
const costOfField = 20

const itemsOf = (value: unknown): ReadonlyArray<unknown> => isArray(value) ? value : []

const parseStage = (stage: unknown, context: ExpressionContext): Projection => {
  const [name = "", ...others] = isDocument(stage) ? Object.keys(stage) : []
  const parse = documentStages.get(name)
  return !isDocument(stage) || others.length > 0
    ? reject("a stage must be a document with exactly one field")
    : parse === undefined
    ? reject(`${name} is no stage of an update: they are ${Array.from(documentStages.keys()).join(", ")}`)
    : parse(stage[name], context)
}
