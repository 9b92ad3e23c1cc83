/**
 * What a store needs of the language beyond its face: how plans, indexes and steps look into it. It may change in any version.
 *
 * @since 0.1.0
 */
export { distinctValues } from "./aggregation/distinct.ts"
export { splitLeadingFind } from "./aggregation/leadingFind.ts"
export { parsePipeline } from "./aggregation/pipeline.ts"
export { type MergeStage, parseWritingStage, type WritingStage, writingStageOf } from "./aggregation/writingStage.ts"
export { collationVersion, Collator, type Order, orderOf, partition } from "./bson/collator.ts"
export { decodeDocument } from "./bson/decoder.ts"
export { EqualTexts } from "./bson/equalTexts.ts"
export {
  bound,
  documentKey,
  encodeComponent,
  invert,
  isWhole,
  limitedKey,
  limitedRange,
  limitLength,
  numberOfRecord,
  rankBound,
  recordIdLength,
  recordIdOf,
  textPrefix
} from "./bson/keyEncoding.ts"
export { maxDocumentBytes } from "./bson/limits.ts"
export { dateOf, normalise, normaliseOperand } from "./bson/normalise.ts"
export { type BsonNumber, residue, toDouble } from "./bson/number.ts"
export { type Direction, existsAt, isArrayIndex, keysAtPath, segmentsOf, valueAt, withValue } from "./bson/path.ts"
export { markWrapped, plainStored, plainStoredList, plainValue } from "./bson/plainDocument.ts"
export { isArray, isDocument, isNumber, Rank, rankOf, setField } from "./bson/value.ts"
export {
  type BatchIterator,
  concat,
  emptyStep,
  ended,
  fromArray,
  type LazySequence,
  mapChunks,
  mapEach,
  retaining,
  sequenceOf,
  slice
} from "./execution/batchIterator.ts"
export { sorted } from "./execution/mergeSort.ts"
export { type ExpressionContext, Variable } from "./expression/expression.ts"
export { contextWith } from "./expression/letVariables.ts"
export type { Constraint } from "./filter/constraints.ts"
export { equalityFilter, type Filter, matchAll, parseFilter } from "./filter/parseFilter.ts"
export { covering, type IndexKind, isIndexKind, spansOf } from "./geo/cells.ts"
export { locationKeys } from "./geo/location.ts"
export { boundOf, makeNear, type Near, type Nearest } from "./geo/near.ts"
export { beginEvaluation } from "./limits/costBudget.ts"
export {
  catchRejection,
  conflict,
  fromProblem,
  orReject,
  type Problem,
  problemOfThrown,
  queryProblem,
  reject,
  rejectWith,
  toError,
  unsupported
} from "./limits/queryProblem.ts"
export { makeMemory, type Memory, memoryOf } from "./limits/sizeLimits.ts"
export { isOperatorDocument } from "./predicate/comparisonOperators.ts"
export { computes, parseProjection } from "./projection/parseProjection.ts"
export { parseSort, sortTooLarge } from "./projection/sortSpec.ts"
export { isByScore, parseScoredProjection, withScore } from "./projection/textScore.ts"
export { parseJsonSchema } from "./schema/jsonSchema.ts"
export { parseCollation } from "./text/collation.ts"
export { indexedWords, type TextField } from "./text/textSearch.ts"
export { parseReplacement, parseUpdate, type Update } from "./update/applyUpdate.ts"
