import type { Scheme } from "../../Security/Authentication.ts"
import type { SecurityScheme, Server } from "../OpenApi.ts"
import type { Registration } from "../registration/registration.ts"
import * as Tokens from "../Tokens.ts"

/**
 * The schemes as the OpenAPI document has them. Where tokens are issued, `signIn` tells documentation pages how to get one.
 *
 * @internal
 */
export const securitySchemesOf = (
  schemes: ReadonlyArray<Scheme>,
  registrations: ReadonlyArray<Registration>,
  servers: ReadonlyArray<Server> | undefined
): { readonly [name: string]: SecurityScheme } => {
  const path = schemes.some(({ id }) => id === "bearer") ? tokenPathOf(registrations) : undefined
  const base = servers?.[0]?.url.replace(/\/$/u, "") ?? ""
  return {
    ...(path === undefined ? {} : {
      signIn: {
        type: "oauth2",
        description: "Sign in with a name and a password",
        flows: { password: { tokenUrl: `${base}${path}`, scopes: {} } }
      }
    }),
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

const tokenPathOf = (registrations: ReadonlyArray<Registration>): string | undefined =>
  registrations.find(({ description }) => description === Tokens.service.description)?.calls
    .find(({ name }) => name === "token")?.path
