/**
 * What the stores share: transactions, retries, time limits, metrics, definitions of indexes. It may change in any version.
 *
 * @since 0.1.0
 */
export { fallibleLast, fallibleMatchesLast, filterOrderOf, holdsLast } from "./shared/filterOrder.ts"
export {
  allOf,
  anyOf,
  asLast,
  asStored,
  conjunctionOf,
  isAsStored,
  isLast,
  nearFields,
  negated,
  nothing
} from "./shared/filters.ts"
export { excludeEachOther, isSameIndex, isText, missingIndexesOf, normalised } from "./shared/indexDefinition.ts"
export { makeSync } from "./shared/indexSync.ts"
export { CountsOperations, instrumented, instrumentedStream, instrumentedTake } from "./shared/instrumented.ts"
export { withLease } from "./shared/lease.ts"
export { maxPage, RecentChanges } from "./shared/recentChanges.ts"
export { rejectDuplicateKey } from "./shared/rejectDuplicateKey.ts"
export { makeRetry, type Retry, RetryClock, withTurn } from "./shared/retryOnConflict.ts"
export {
  delegatingOperations,
  everyOperation,
  mayHaveChanged,
  type OperationName,
  type OperationsWith,
  type StoreOperations,
  storeOperations,
  type StoreOperationTable
} from "./shared/storeOperations.ts"
export { CurrentStoreOptions } from "./shared/storeOptions.ts"
export { literalPattern, prefixInterval, withoutUnicodeEscapes } from "./shared/textFilters.ts"
export { makeStopwatch, type Stopwatch } from "./shared/timeLimit.ts"
export {
  afterCommit,
  isConflict,
  makeTransactional,
  outsideTransaction,
  snapshotOf,
  tooManyConflicts,
  type TransactionAttempt,
  TransactionConflict,
  type TransactionPolicy
} from "./shared/transactionRunner.ts"
export { withTransactionId, WriteReceipt } from "./shared/writeReceipt.ts"
