/**
 * MongoDB's query language over documents in memory: filters, updates and pipelines.
 *
 * @since 0.1.0
 */
export { parsePipeline } from "./aggregation/pipeline.ts"
export { type BatchIterator, emptyStep, ended } from "./execution/batchIterator.ts"
export { randomOperators } from "./expression/documentOperators.ts"
export { type Filter, matchCost, parseFilter } from "./filter/parseFilter.ts"
export { catchRejection, fromProblem, rejected, toError } from "./limits/queryProblem.ts"
export { makeMemory } from "./limits/sizeLimits.ts"
export { isOperatorDocument } from "./predicate/comparison.ts"
export { parseCollation } from "./text/collation.ts"
export { parseUpdate } from "./update/applyUpdate.ts"
