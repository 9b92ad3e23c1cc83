/**
 * Who may do what: roles, permissions, and the credentials that prove them.
 *
 * @since 0.1.0
 */
export { CurrentUserId } from "./CurrentUserId.ts"
export * as Keys from "./Keys.ts"
export * as SecurityError from "./SecurityError.ts"
