/**
 * Queries and pipelines in the store's own language from callers. Only what the allowlist contains reaches the store,
 * and omitted fields are not accessible.
 *
 * **Details**
 *
 * The allowlist applies to operators and stages at every depth. Everything else is rejected by name: what writes
 * (`$out`, `$merge`), runs code (`$where`, `$function`, `$accumulator`) or reads other collections (`$lookup`,
 * `$unionWith`, `$graphLookup`).
 *
 * Fields have their wire names, and the identifier may also be called `_id`. Only fields that callers see are accepted.
 * Values are decoded by the fields' schemas, so that `{"created": {"$gt": "2026-01-01T00:00:00"}}` compares dates.
 * MongoDB's extended JSON (`{"$date": …}`, `{"$oid": …}`, `{"$numberDecimal": …}`) is accepted everywhere.
 *
 * Before the first stage that could access omitted fields, a `$project` removes them. After a stage that reshapes the
 * documents, paths and values refer to the new documents, and only extended JSON makes dates.
 *
 * The limits are 32,768 characters and 32 levels for the text, 256 characters for a regular expression, 1,000 values
 * for a list, 100 stages for a pipeline, and `query.max_results` documents for its result.
 */
import type * as Result from "effect/Result"
import type { FieldProblem } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document, Filter } from "../../Repository/DocumentStore.ts"
import { conjunctionOf, fallibleMatchesLast } from "../../Repository/internal.ts"
import { QueryRejected } from "../../Repository/RepositoryError.ts"
import { type BadRequest, errorOf, type Forbidden } from "../HttpError.ts"
import type { Limits } from "../KernelConfig.ts"
import { badRequestOf, fieldProblem } from "../messages/message.ts"
import { guardFilter } from "./filterGuard.ts"
import { forbidden, parseGuardedJson, ProblemCollector } from "./guardedJson.ts"
import type { Parameters } from "./parameterReader.ts"
import type { Naming } from "./partlyHiddenFields.ts"
import { guardPipeline } from "./pipelineGuard.ts"
import * as QueryFields from "./queryFields.ts"

/**
 * Parses the JSON text of the parameter `query` as a filter of the model's documents, or returns all its problems; see
 * {@link forbiddenOf}. `access` has the fields that it may name; defaults to those of the model.
 */
export const filter = (
  model: Model.Any
): (text: string, access?: QueryFields.QueryFields) => Result.Result<Filter, ReadonlyArray<FieldProblem>> => {
  const all = QueryFields.of(model)
  return (text, access = all) => {
    const report = new ProblemCollector("query")
    const value = parseGuardedJson(text, report)
    return report.toResult(
      report.problems.length > 0 ? {} : guardFilter(value, { access, report, isModel: true, isComplete: true })
    )
  }
}

/**
 * Parses the JSON text of the parameter `pipe` as a pipeline over the model's documents, or returns all its problems;
 * see {@link forbiddenOf}. The result has at most `maxResults` documents. `naming` has the fields that it may name where
 * documents show different ones.
 */
export const pipeline = (
  model: Model.Any,
  { maxResults }: Pick<Limits, "maxResults">
): (text: string, naming?: Naming) => Result.Result<ReadonlyArray<Document>, ReadonlyArray<FieldProblem>> => {
  const all = QueryFields.of(model)
  return (text, naming) => {
    const report = new ProblemCollector("pipe")
    const value = parseGuardedJson(text, report)
    if (report.problems.length > 0) return report.toResult([])
    const stages = fallibleMatchesLast(guardPipeline(value, naming?.access ?? all, report, maxResults))
    return report.toResult(naming === undefined ? stages : withShownFields(stages, naming))
  }
}

/**
 * What the store rejects of a query, such as a pattern that is no regular expression, is a problem of the parameter. The store's own
 * words may tell of documents.
 */
export const rejectionIn = (parameter: "query" | "pipe", parameters: Parameters) => <E>(error: E): E | BadRequest =>
  parameters[parameter] !== undefined && error instanceof QueryRejected && error.advice === undefined
    ? badRequestOf([fieldProblem(parameter, "Parameter", "errors.query.Rejected")])
    : error

/** The stages, for the documents that show what they name, and for the fields that all of these show. */
const withShownFields = (stages: ReadonlyArray<Document>, naming: Naming): ReadonlyArray<Document> => {
  const condition = naming.condition()
  const [first, ...others] = stages
  // The guard has read it: the operand of `$match` is a filter.
  const match = first?.["$match"] as Filter | undefined
  const projection = { $project: naming.projection() }
  if (condition === undefined && match === undefined) return [projection, ...stages]
  // A text search has to be in the first stage.
  return [{ $match: conjunctionOf(condition, match) }, projection, ...(match === undefined ? stages : others)]
}

/** The error of problems that include a forbidden operator. Other problems are a `BadRequest`. */
export const forbiddenOf = (problems: ReadonlyArray<FieldProblem>): Forbidden | undefined => {
  const outside = problems.filter(({ validator }) => validator === forbidden)
  const first = outside.filter(({ message }, i) => outside.findIndex((other) => other.message === message) === i)
  if (first.length === 0) return undefined
  return errorOf("Forbidden", "errors.Forbidden", { problems: first.map(({ message, text }) => text ?? message) })
}
