/**
 * Who may do what: roles, permissions and grants.
 *
 * @since 0.1.0
 */
export * as Grant from "./Grant.ts"
export * as Permission from "./Permission.ts"
export { Anonymous, Authenticated, CurrentSubject, Denied, Role } from "./Permission.ts"
