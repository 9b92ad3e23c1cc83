import type { Options } from "../description/callOptions.ts"
/**
 * The part of an action or operation that the `HttpApi` does not describe: there, every parameter is a text.
 *
 * @category models
 * @since 0.1.0
 */
export interface Call {
  readonly method: string
  readonly path: string
  readonly options: Pick<Options, "params" | "payload" | "query">
}

/**
 * A route's path with parameters in braces.
 *
 * @internal
 */
export const bracedOf = (path: string): string => path.replaceAll(/:(\w+)(?:\([^)]*\))?\??/gu, "{$1}")
