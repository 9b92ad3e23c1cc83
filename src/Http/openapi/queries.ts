import type * as Schema from "effect/Schema"
import { hasBody, payloadOf } from "../description/callEndpoint.ts"
import type { Options } from "../description/callOptions.ts"
import * as Document from "./node.ts"

type Node = Document.Node

/**
 * The part of an action or operation that the `HttpApi` does not describe: there, every query parameter is a text.
 *
 * @category models
 * @since 0.1.0
 */
export interface Call {
  readonly method: string
  readonly path: string
  readonly options: Pick<Options, "payload" | "requestModel" | "queryParams">
}

/**
 * A route's path with parameters in braces.
 *
 * @internal
 */
export const bracedOf = (path: string): string => path.replaceAll(/:(\w+)(?:\([^)]*\))?\??/gu, "{$1}")

/**
 * The queries of actions and operations, by method and path. They include the payload of methods without a body.
 *
 * @internal
 */
export const queriesOf = (calls: ReadonlyArray<Call>): ReadonlyMap<string, Schema.Struct.Fields> =>
  new Map(calls.map(({ method, options, path }) => [
    `${method.toLowerCase()} ${bracedOf(path)}`,
    { ...(hasBody(method) ? {} : payloadOf(options)?.fields), ...options.queryParams }
  ]))

/**
 * Types the query parameters of an operation as numbers, booleans and lists. The generator only knows their texts.
 *
 * @internal
 */
export const withQuery = (operation: Node, query: Node): Node => ({
  ...operation,
  parameters: Document.listOf(operation["parameters"]).map((value) => {
    const parameter = Document.nodeOf(value)
    const schema = Document.nodeOf(query[String(parameter["name"])])
    return parameter["in"] === "query" && typed.has(String(schema["type"])) ? { ...parameter, schema } : parameter
  })
})

const typed: ReadonlySet<string> = new Set(["integer", "number", "boolean", "array"])
