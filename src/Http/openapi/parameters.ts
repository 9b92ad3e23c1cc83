import type * as Schema from "effect/Schema"
import { fieldsOf, hasBody } from "../description/callEndpoint.ts"
import type { Options } from "../description/callOptions.ts"
import * as Document from "./node.ts"

type Node = Document.Node

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

/**
 * The parameters of actions and operations, by method and path, under their place and name: `query page`. They include
 * the payload of methods without a body.
 *
 * @internal
 */
export const parametersOf = (calls: ReadonlyArray<Call>): ReadonlyMap<string, Schema.Struct.Fields> =>
  new Map(calls.map(({ method, options, path }) => [
    `${method.toLowerCase()} ${bracedOf(path)}`,
    {
      ...at("path", fieldsOf(options.params)),
      ...at("query", { ...(hasBody(method) ? {} : fieldsOf(options.payload)), ...fieldsOf(options.query) })
    }
  ]))

const at = (place: "path" | "query", fields: Schema.Struct.Fields): Schema.Struct.Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [`${place} ${name}`, field]))

/**
 * Types the parameters of an operation as numbers, booleans and lists. The generator only knows their texts.
 *
 * @internal
 */
export const withParameters = (operation: Node, parameters: Node): Node => ({
  ...operation,
  parameters: Document.listOf(operation["parameters"]).map((value) => {
    const parameter = Document.nodeOf(value)
    const schema = Document.nodeOf(parameters[`${String(parameter["in"])} ${String(parameter["name"])}`])
    return typed.has(String(schema["type"])) ? { ...parameter, schema } : parameter
  })
})

const typed: ReadonlySet<string> = new Set(["integer", "number", "boolean", "array"])
