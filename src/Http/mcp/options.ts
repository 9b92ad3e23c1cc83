/** The options of an MCP server. */
import type * as Layer from "effect/Layer"
import type { Permission } from "../../Access/Permission.ts"
import { pathProblem } from "../description/pathShape.ts"

/**
 * What an MCP server exposes, and to whom.
 *
 * @category models
 * @since 0.1.0
 */
export interface McpOptions<Exposed extends string = string, R = unknown> {
  /**
   * The tools: `orders` stands for the endpoints and actions of the registration of that name, and `orders.list` or
   * `payments.pay` for one of them. Nothing else is exposed. By scopes, `{ "orders:read": ["orders.list", "orders.get"] }`, a
   * tool is for tokens that have one of its scopes, in the claim `scope` (RFC 9068) or `scp`.
   */
  readonly expose: ReadonlyArray<Exposed> | { readonly [scope: string]: ReadonlyArray<Exposed> }
  /** Where the server is. Defaults to `/mcp`. */
  readonly path?: `/${string}` | undefined
  /** Who may ask it, in a service with access control. Defaults to `Authenticated`. */
  readonly require?: Permission<boolean, never> | ReadonlyArray<Permission<boolean, never>> | undefined
  /** What an assistant is told of the service. */
  readonly instructions?: string | undefined
  /**
   * The URL of the server as clients know it, which tokens are for (RFC 8707): `https://shop.example.com/mcp`. Defaults to the
   * `Host` of the request, without TLS on this machine only.
   */
  readonly url?: string | undefined
  /** The URLs of the issuers from which clients get tokens (RFC 9728). Defaults to none: clients have tokens already. */
  readonly authorizationServers?: ReadonlyArray<string> | undefined
  /**
   * Tools, resources and prompts of one's own, by the layers of `effect/ai/McpServer`. All who may ask the server see them and call
   * them; their handlers have the `CurrentUser` where somebody has signed in, and decide for themselves what that one may. Where `require`
   * admits others, ask for it by `Effect.serviceOption`.
   */
  readonly registrations?: Layer.Layer<never, never, R> | undefined
  /** The most bytes that a result has. Defaults to 262,144. */
  readonly maxResultSize?: number | undefined
}

/** The options of a server with its path. */
export interface McpAt extends McpOptions {
  readonly path: `/${string}`
}

/** The options with the path by default. */
export const withPath = (options: McpOptions): McpAt => ({ ...options, path: options.path ?? "/mcp" })

/** Where clients find by whom tokens are issued (RFC 9728, section 3.1). */
export const metadataPath: `/${string}` = "/.well-known/oauth-protected-resource"

/** Where what clients with OAuth look for is: for the server, and for its URL, which a proxy may have under another path. */
export const metadataPaths = ({ path, url }: Pick<McpAt, "path" | "url">): ReadonlyArray<`/${string}`> => {
  // Paths of URLs begin with a slash.
  const known = url === undefined ? path : new URL(url).pathname as `/${string}`
  return [...new Set([metadataPath, ...[path, known].map((own): `/${string}` => `${metadataPath}${own}`)])]
}

/** What is wrong with the options, in a sentence. */
export const mcpProblem = ({ path, url }: Pick<McpAt, "path" | "url">): string | undefined =>
  path === "/"
    ? "enableMcp needs a path of its own"
    : url !== undefined && !/^https?:$/u.test(URL.parse(url)?.protocol ?? "")
    ? `enableMcp has the url ${url}, which is none of http or https`
    : pathProblem(path, "enableMcp", false)
