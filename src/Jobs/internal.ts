/**
 * What runs jobs and schedules, for the HTTP server. Services without any load none of it. Users cannot import this module.
 *
 * @since 0.1.0
 */
export type { Failure } from "./queue/description.ts"
export { putOff, untilIdle } from "./queue/jobQueue.ts"
export { scheduledOf } from "./running/schedules.ts"
export { runJobs, type RunOptions } from "./running/workers.ts"
