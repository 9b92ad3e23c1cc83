/**
 * The evaluation of filters in the process, for the HTTP server. It stands apart from `internal.ts` because it loads the
 * query language, which programs without a store have no use for. Users cannot import this module.
 */
export { listsAt } from "./changes/listsAt.ts"
export { modelMatcher, rejectUnsuitable, rowMatcher } from "./collection/rowMatcher.ts"
