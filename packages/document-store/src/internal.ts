/**
 * Helpers that AppKernel's packages have in common. They load nothing of Node, and may change in any version.
 *
 * @since 0.1.0
 */
export { type BrokenRule, describeBroken } from "./internal/brokenRules.ts"
export { CurrentUser, currentUserIdOf } from "./internal/currentUser.ts"
export { getOrMake } from "./internal/getOrMake.ts"
export { monotonicMillis } from "./internal/monotonicMillis.ts"
export { rethrow } from "./internal/rethrow.ts"
export { duplicates, filled } from "./internal/sentences.ts"
export { beginStep, isStepDone, spend, workDone } from "./internal/stepBudget.ts"
