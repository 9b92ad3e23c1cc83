import type * as Schema from "effect/Schema"
import { hasBody, payloadOf } from "../description/callEndpoint.ts"
import type { Options } from "../description/callOptions.ts"
import * as Document from "./node.ts"

type Node = Document.Node

/**
 * An action or an operation, as far as the `HttpApi` does not describe it: there, every parameter of a query is a text.
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
 * A route's path as the document has it.
 *
 * @internal
 */
export const bracedOf = (path: string): string => path.replaceAll(/:(\w+)(?:\([^)]*\))?\??/gu, "{$1}")

/**
 * The queries of actions and operations, by method and path. Of methods without a body, the payload is part of them.
 *
 * @internal
 */
export const queriesOf = (calls: ReadonlyArray<Call>): ReadonlyMap<string, Schema.Struct.Fields> =>
  new Map(calls.map(({ method, options, path }) => [
    `${method.toLowerCase()} ${bracedOf(path)}`,
    { ...(hasBody(method) ? {} : payloadOf(options)?.fields), ...options.queryParams }
  ]))

/**
 * The operation with the parameters of its query as the numbers, booleans and lists that they stand for; the generator
 * knows only their texts.
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
