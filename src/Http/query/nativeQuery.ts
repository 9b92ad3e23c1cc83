/**
 * Queries and pipelines in the store's own language, as callers from outside may send them: what is not on the list of
 * what is allowed is not passed on, and what a model omits can't be reached.
 *
 * **Details**
 *
 * Operators and stages go through an allowlist at every depth. What writes (`$out`, `$merge`), runs code (`$where`,
 * `$function`, `$accumulator`), reads other collections (`$lookup`, `$unionWith`, `$graphLookup`), and whatever else is not
 * on the list is forbidden by name.
 *
 * Fields have the names of the wire, where the identifier may be called `_id`, too; there are those that a caller may see,
 * and no others. Values are read by the fields' own schemas, so that `{"created": {"$gt": "2026-01-01T00:00:00"}}` compares
 * dates. MongoDB's extended JSON (`{"$date": …}`, `{"$oid": …}`, `{"$numberDecimal": …}`) is read everywhere.
 *
 * Before the first stage of a pipeline that could see more than its caller may, a `$project` takes the rest away. Behind a
 * stage that makes other documents of the model's, paths and values are those of these documents, and only extended JSON
 * makes dates.
 *
 * The text is at most 32,768 characters long and 32 levels deep, a regular expression 256 characters long, a list of
 * values 1,000 and a pipeline 100 stages; 10,000 documents leave it.
 *
 * @since 0.1.0
 */
import type * as Result from "effect/Result"
import type * as Model from "../../Model/Model.ts"
import type { Problem } from "../../Model/ModelError.ts"
import type { Document, Filter } from "../../Repository/DocumentStore.ts"
import { Forbidden } from "../HttpError.ts"
import type { Limits } from "../KernelConfig.ts"
import { sayable } from "../messages/message.ts"
import * as FieldAccess from "./fieldAccess.ts"
import { guardFilter } from "./filterGuard.ts"
import { forbidden, parse, Report } from "./guardedJson.ts"
import { guardPipeline } from "./pipelineGuard.ts"

/**
 * Reads the JSON text of the parameter `query` as a filter of the model's documents. What is wrong with it comes back, all
 * of it; see {@link forbiddenOf}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const filter = (model: Model.Any): (text: string) => Result.Result<Filter, ReadonlyArray<Problem>> => {
  const access = FieldAccess.of(model)
  return (text) => {
    const report = new Report("query")
    const value = parse(text, report)
    return report.toResult(
      report.problems.length > 0 ? {} : guardFilter(value, { access, report, isModel: true, isWhole: true })
    )
  }
}

/**
 * Reads the JSON text of the parameter `pipe` as a pipeline over the model's documents. What is wrong with it comes back,
 * all of it; see {@link forbiddenOf}. No more than `maxResults` documents leave the pipeline.
 *
 * @category constructors
 * @since 0.1.0
 */
export const pipeline = (
  model: Model.Any,
  { maxResults }: Pick<Limits, "maxResults">
): (text: string) => Result.Result<ReadonlyArray<Document>, ReadonlyArray<Problem>> => {
  const access = FieldAccess.of(model)
  return (text) => {
    const report = new Report("pipe")
    const value = parse(text, report)
    return report.toResult(report.problems.length > 0 ? [] : guardPipeline(value, access, report, maxResults))
  }
}

/**
 * The error that the problems are, when one of them is something that is not for callers from outside; else they are a
 * `BadRequest`.
 *
 * @category conversions
 * @since 0.1.0
 */
export const forbiddenOf = (problems: ReadonlyArray<Problem>): Forbidden | undefined => {
  const outside = problems.filter(({ validator }) => validator === forbidden)
  const first = outside.filter(({ message }, i) => outside.findIndex((other) => other.message === message) === i)
  if (first.length === 0) return undefined
  return sayable(
    new Forbidden({ message: first.map(({ message }) => message).join("; ") }),
    "errors.Forbidden",
    (labels) => ({ problems: first.map((problem) => labels.ofProblem(problem)).join("; ") })
  )
}
