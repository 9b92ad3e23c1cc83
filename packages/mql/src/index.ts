/**
 * MongoDB's query language over documents in memory: filters, projections, updates and pipelines, parsed once and evaluated
 * with limits. Documents are plain objects with BSON values, which `@appkernel/mql/values` compares and normalises.
 *
 * @since 0.1.0
 */
export { aggregate } from "./aggregation/aggregate.ts"
export { randomOperators } from "./expression/documentOperators.ts"
export { type ExpressionContext } from "./expression/expression.ts"
export { type Filter, matchAll, matchCost, parseFilter } from "./filter/parseFilter.ts"
export { catchRejection, fromProblem, type Problem, type QueryFailure } from "./limits/queryProblem.ts"
export { isOperatorDocument } from "./predicate/comparisonOperators.ts"
export { parseProjection, type Projection } from "./projection/parseProjection.ts"
export { parseUpdate, type Update } from "./update/applyUpdate.ts"
