/** The options of the explorer, and where it is. */
import type { Permission } from "../../Access/Permission.ts"
import { pathProblem } from "../description/pathShape.ts"

/**
 * Where the explorer is, and for whom.
 *
 * @category models
 * @since 0.1.0
 */
export interface ExplorerOptions {
  /** Where its page is. Defaults to `/explorer`. */
  readonly path?: `/${string}` | undefined
  /**
   * Who may use it, in a service with access control. Everybody gets the page itself, by which they sign in; it shows the others
   * that they may not. Defaults to `Authenticated`.
   */
  readonly require?: Permission<boolean, never> | ReadonlyArray<Permission<boolean, never>> | undefined
  /**
   * Another service that has the same address, as behind a proxy, which the page shows in the place of this one: the paths of its
   * OpenAPI document and of its token endpoint.
   */
  readonly of?: { readonly document: string; readonly tokens?: string | undefined } | undefined
}

/** The options with their path. */
export interface ExplorerAt extends ExplorerOptions {
  readonly path: `/${string}`
}

/** The options with the path by default. */
export const atPath = (options: ExplorerOptions): ExplorerAt => ({ ...options, path: options.path ?? "/explorer" })

/** What is wrong with the options, in a sentence. */
export const explorerProblem = ({ path }: ExplorerAt): string | undefined =>
  path === "/" ? "enableExplorer needs a path of its own" : pathProblem(path, "enableExplorer", false)

/** The routes of the explorer, by what they are for: those for everybody, and the description for whom it is. */
export const explorerRoutesAt = (path: `/${string}`) => ({
  page: path,
  assets: `${path}/assets/:file`,
  session: `${path}/session`,
  document: `${path}/openapi.json`
} as const)
