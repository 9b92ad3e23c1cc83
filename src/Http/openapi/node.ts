/** Helpers that read, build and rewrite the JSON of an OpenAPI document. */
import * as Predicate from "effect/Predicate"

/** An object of the document, with JSON values. */
export interface Node {
  readonly [key: string]: unknown
}

export const isNode = (u: unknown): u is Node => Predicate.isObject(u)

export const nodeOf = (u: unknown): Node => isNode(u) ? u : {}

export const listOf = (u: unknown): ReadonlyArray<unknown> => Array.isArray(u) ? u : []

export const mapValues = (node: Node, f: (value: unknown, key: string) => unknown): Node =>
  Object.fromEntries(Object.entries(node).map(([key, value]) => [key, f(value, key)]))

export const omitBy = (node: object, isOmitted: (key: string) => boolean): Node =>
  Object.fromEntries(Object.entries(node).filter(([key]) => !isOmitted(key)))

export const refTo = (component: string): Node => ({ $ref: `${prefix}${component}` })

/** The component that a reference names. */
export const componentOf = (u: unknown): string | undefined => {
  const ref = nodeOf(u)["$ref"]
  return typeof ref === "string" && ref.startsWith(prefix) ? ref.slice(prefix.length) : undefined
}

/** The parameters of an operation's path. */
export const pathParametersOf = (operation: unknown): ReadonlyArray<unknown> =>
  listOf(nodeOf(operation)["parameters"]).filter((one) => nodeOf(one)["in"] === "path")

/** A parameter that a request may leave out. */
export const optional = (place: "query" | "header") => (name: string, description: string, schema: Node): Node => ({
  name,
  in: place,
  description,
  required: false,
  schema
})

export const header = optional("header")

/** A header of a response. */
export const responseHeader = (description: string, schema: Node = { type: "string" }): Node => ({
  description,
  schema
})

/** Rewrites a schema top-down: `f` gets every schema before its parts. */
export const rewrite = (schema: Node, f: (schema: Node) => Node): Node => {
  const rewritten = f(schema)
  return mapValues(rewritten, (value, key) => {
    if (maps.has(key)) return mapValues(nodeOf(value), (part) => isNode(part) ? rewrite(part, f) : part)
    if (!parts.has(key)) return value
    return Array.isArray(value)
      ? value.map((part: unknown) => isNode(part) ? rewrite(part, f) : part)
      : isNode(value)
      ? rewrite(value, f)
      : value
  })
}

/** Rewrites the operations of path items. */
export const mapOperations = (paths: Node, f: (operation: Node, method: string, path: string) => Node): Node =>
  mapValues(paths, (item, path) => mapValues(nodeOf(item), (value, method) => f(nodeOf(value), method, path)))

/** The operations of path items. */
export const operationsOf = (paths: Node): ReadonlyArray<{ readonly path: string; readonly operation: Node }> =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.values(nodeOf(item)).map((value) => ({ path, operation: nodeOf(value) }))
  )

/** Rewrites the schemas of an operation: those of its parameters, bodies and headers. */
export const mapSchemas = (operation: Node, f: (schema: Node) => Node): Node => {
  const { parameters, responses, ...rest } = mapBodies(operation, f)
  return {
    ...rest,
    ...(parameters === undefined
      ? {}
      : { parameters: listOf(parameters).map((parameter) => withSchema(nodeOf(parameter), f)) }),
    responses: mapValues(nodeOf(responses), (value) => {
      const { headers, ...response } = nodeOf(value)
      return headers === undefined
        ? response
        : { ...response, headers: mapValues(nodeOf(headers), (header) => withSchema(nodeOf(header), f)) }
    })
  }
}

/** Rewrites the schemas of an operation's bodies: of the request, and of the responses with their status. */
export const mapBodies = (operation: Node, f: (schema: Node, status?: string) => Node): Node => {
  const { requestBody, responses, ...rest } = operation
  return {
    ...rest,
    ...(requestBody === undefined ? {} : { requestBody: withContent(nodeOf(requestBody), f) }),
    responses: mapValues(
      nodeOf(responses),
      (response, status) => withContent(nodeOf(response), (schema) => f(schema, status))
    )
  }
}

const prefix = "#/components/schemas/"

/** Keywords that hold schemas by name. */
const maps: ReadonlySet<string> = new Set(["properties", "patternProperties"])

/** Keywords that hold a schema or a list of schemas. */
const parts: ReadonlySet<string> = new Set([
  "additionalProperties",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "items",
  "prefixItems",
  "contains",
  "propertyNames"
])

const withSchema = (node: Node, f: (schema: Node) => Node): Node => {
  const { schema } = node
  return isNode(schema) ? { ...node, schema: f(schema) } : node
}

const withContent = (node: Node, f: (schema: Node) => Node): Node => {
  const { content } = node
  return isNode(content) ? { ...node, content: mapValues(content, (media) => withSchema(nodeOf(media), f)) } : node
}
