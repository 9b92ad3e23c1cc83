/**
 * Jobs that follow from writes, and schedules.
 *
 * @since 0.1.0
 */
export * as Job from "./Job.ts"
export * as Mailer from "./Mailer.ts"
export * as Webhooks from "./Webhooks.ts"
export * as Workflows from "./Workflows.ts"
