/**
 * `$project`, which is evaluated like the projection of a find.
 */
import * as Result from "effect/Result"
import { isDocument } from "../../bson/value.ts"
import { mapEach } from "../execution/batchIterator.ts"
import { isExpression } from "../expression/operators.ts"
import { rejected } from "../limits/queryProblem.ts"
import { eachIn } from "../projection/mingoStages.ts"
import { computes, parseComputed, parseProjection } from "../projection/parseProjection.ts"
import type { StageParser } from "./stageContext.ts"

/** @internal */
export const parseProject: StageParser = (operand, { now }) => {
  if (!isDocument(operand) || Object.keys(operand).length === 0) {
    return Result.fail(rejected("$project needs at least one field"))
  }
  return computes(operand)
    ? Result.map(parseComputed(operand, now, isExpression), (phases) => (source) => eachIn(source, phases))
    : Result.map(
      parseProjection(operand, now),
      (select) => (source) => select === undefined ? source : mapEach(source, select)
    )
}
