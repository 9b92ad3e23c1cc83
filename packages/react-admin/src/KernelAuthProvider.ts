/**
 * The authentication provider: the methods of react-admin's `AuthProvider`.
 *
 * @since 0.1.0
 */

/**
 * What somebody signs in with: a name and a password, a token of another issuer, or an API key.
 *
 * @category models
 * @since 0.1.0
 */
export type Credentials =
  | { readonly username: string; readonly password: string }
  | { readonly token: string }
  | { readonly apiKey: string }

/**
 * The authentication provider. Access tokens are in memory; they are renewed before they end.
 *
 * @category models
 * @since 0.1.0
 */
export interface KernelAuthProvider {
  /** Fails with a `KernelError` whose message is for the reader, and with a 401 if a `logout` or another `login` comes before the answer. */
  readonly login: (credentials: Credentials) => Promise<void>
  /**
   * Ends the sign-in. `everywhere` ends all sign-ins of the user, where the service has an endpoint of sessions, and fails with a
   * `KernelError` if it could not.
   */
  readonly logout: (params?: { readonly everywhere?: boolean } | null) => Promise<void>
  /** Whether somebody is signed in; after a reload of the page, by the cookie. Everybody is where the service has no access control. */
  readonly checkAuth: (params?: unknown) => Promise<void>
  /** A 401 ends what is shown; a 403 does not, nor what somebody had begun before who is signed in now. */
  readonly checkError: (error: unknown) => Promise<void>
  readonly getIdentity: () => Promise<{ readonly id: string; readonly fullName: string }>
  /** The roles of the token: for words on a page. What the caller may do is in the description and the links of documents. */
  readonly getPermissions: (params?: unknown) => Promise<ReadonlyArray<string>>
}
