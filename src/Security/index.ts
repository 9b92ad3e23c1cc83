/**
 * Who calls: the credentials of callers, and how they are checked.
 *
 * @since 0.1.0
 */
export * as Accounts from "./Accounts.ts"
export * as ApiKeys from "./ApiKeys.ts"
export * as Authentication from "./Authentication.ts"
export * as ClientAddress from "./ClientAddress.ts"
export { CurrentUser } from "./CurrentUser.ts"
export * as Jwt from "./Jwt.ts"
export * as Keys from "./Keys.ts"
export * as SecurityError from "./SecurityError.ts"
export * as SignInAttempts from "./SignInAttempts.ts"
