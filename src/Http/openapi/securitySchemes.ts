/** The ways to send credentials, as the OpenAPI document has them (OpenAPI 3.1, Security Scheme Object). */
import type { Scheme } from "../../Security/Authentication.ts"

/**
 * A way to send credentials.
 *
 * @category models
 * @since 0.1.0
 */
export interface SecurityScheme {
  readonly type: "http" | "apiKey" | "oauth2"
  /** Of HTTP authentication: `bearer`, `basic`. */
  readonly scheme?: string | undefined
  /** Of `bearer`: `JWT`. */
  readonly bearerFormat?: string | undefined
  /** For `apiKey`: its name and location. */
  readonly name?: string | undefined
  readonly in?: "query" | "header" | "cookie" | undefined
  /** For `oauth2`: how a client gets tokens. */
  readonly flows?: {
    readonly password?: {
      /** Absolute, or relative to the first server. */
      readonly tokenUrl: string
      readonly scopes: { readonly [name: string]: string }
    } | undefined
  } | undefined
  readonly description?: string | undefined
}

/** What a document has whose options name no scheme. */
export const bearer: { readonly [name: string]: SecurityScheme } = {
  bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" }
}

/** The schemes of a service. Where tokens are issued, at `tokenUrl`, `signIn` tells documentation pages how to get one. */
export const securitySchemesOf = (
  schemes: ReadonlyArray<Scheme>,
  tokenUrl: string | undefined
): { readonly [name: string]: SecurityScheme } => {
  const isIssued = tokenUrl !== undefined && schemes.some(({ id }) => id === "bearer")
  return {
    ...(isIssued
      ? {
        signIn: {
          type: "oauth2",
          description: "Sign in with a name and a password",
          flows: { password: { tokenUrl, scopes: {} } }
        }
      }
      : {}),
    ...Object.fromEntries(schemes.map((scheme) => [scheme.id, described(scheme)]))
  }
}

const described = ({ challenge, header, id, word }: Scheme): SecurityScheme => {
  if (header === "authorization" && word !== undefined) {
    return { type: "http", scheme: word, ...(id === "bearer" ? { bearerFormat: "JWT" } : {}) }
  }
  const name = challenge.parameters?.["header"] ?? header
  return { type: "apiKey", in: "header", name: name.toLowerCase() === header ? name : header }
}
