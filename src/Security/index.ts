/**
 * Who may do what: roles, permissions, and the credentials that prove them.
 *
 * @since 0.1.0
 */
export * as Accounts from "./Accounts.ts"
export * as ApiKeys from "./ApiKeys.ts"
export * as Authentication from "./Authentication.ts"
export { CurrentUser } from "./CurrentUser.ts"
export * as Grant from "./Grant.ts"
export * as Jwt from "./Jwt.ts"
export * as Keys from "./Keys.ts"
export * as Permission from "./Permission.ts"
export { Anonymous, Authenticated, CurrentSubject, Denied, Role } from "./Permission.ts"
export * as SecurityError from "./SecurityError.ts"
export * as SignInAttempts from "./SignInAttempts.ts"
