/** The tools of an MCP server, as the OpenAPI document describes its operations. */
import * as Schema from "effect/Schema"
import { fileFieldsOf, modelTypeId } from "../../Model/internal.ts"
import { schemaOf } from "../description/operationEndpoint.ts"
import type { Part } from "../description/operationOptions.ts"
import { rawOf } from "../description/raw.ts"
import { endpointsOf } from "../description/standardEndpoints.ts"
import * as History from "../History.ts"
import type * as OpenApi from "../OpenApi.ts"
import { isNeededByJson } from "../openapi/idempotencyKeys.ts"
import { componentOf, listOf, type Node, nodeOf, rewrite } from "../openapi/node.ts"
import type { Registration } from "../registration/registration.ts"

/** A tool: one operation. */
export interface Tool {
  /** The identifier of the operation: `orders.list`. */
  readonly id: string
  /** The name of the tool, which has letters, digits and `_` alone: `orders_list`. */
  readonly name: string
  readonly method: string
  /** The path as the router has it: `/orders/:id`. */
  readonly path: `/${string}`
  readonly title: string
  readonly description: string
  readonly arguments: ReadonlyArray<Argument>
  readonly inputSchema: ObjectSchema
  /** The schema of its structured result; `undefined` if there is no result in JSON. */
  readonly outputSchema: ObjectSchema | undefined
  readonly isReading: boolean
  readonly isIdempotent: boolean
}

/** A JSON schema of an object, as the protocol wants it at the root. */
interface ObjectSchema extends Node {
  readonly type: "object"
}

/** An argument of a tool, and what it becomes of the request. */
export interface Argument {
  readonly name: string
  /** The name of the parameter, or of the header. */
  readonly parameter: string
  readonly place: "path" | "query" | "header" | "body"
  readonly isRequired: boolean
  readonly schema: Node
  /** Whether the value is sent as JSON. */
  readonly isJson: boolean
  /** Whether items of a list are separated by commas. */
  readonly isJoined: boolean
  /** What is sent without a value. */
  readonly otherwise?: string | undefined
}

/** All tools that a document has, by the identifiers of their operations. */
export const toolsOf = (document: OpenApi.Document): ReadonlyMap<string, Tool> =>
  new Map(
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, operation]) => {
        const tool = toolOf(document, path, method, operation)
        return tool === undefined ? [] : [[tool.id, tool] as const]
      })
    )
  )

/** The tools that `expose` names: a registration by its name, without what a person looks at, or an operation by its own. */
export const toolsNamed = (
  tools: ReadonlyMap<string, Tool>,
  name: string
): ReadonlyArray<Tool> => {
  const one = tools.get(name)
  if (one !== undefined) return [one]
  return Array.from(tools.values()).filter(({ id }) =>
    id.startsWith(`${name}.`) && !id.slice(name.length + 1).includes(".") && !besides.has(id.slice(name.length + 1))
  )
}

/**
 * Whether names have tools, each of a name of its own, as is seen without the document: they name resources without
 * files, standard endpoints, or calls in JSON. For other names the document has to say so.
 */
export const hasToolsPlainly = (registrations: ReadonlyArray<Registration>, names: ReadonlyArray<string>): boolean => {
  const plain = new Set(registrations.flatMap((one) => {
    const endpoints = one._tag === "Service" ? [] : endpointsOf(one).map(({ name }) => name)
    const calls = one.calls.filter(({ options }) =>
      History.parameterOf(options) === undefined && isPlainJson(options.payload) && isPlainJson(options.success)
    )
    const own = [...endpoints.filter((name) => name !== "changes"), ...calls.map(({ name }) => name)]
    // A registration has the operations of its files, too.
    const isWhole = own.some((name) => !besides.has(name)) &&
      (one._tag === "Service" || fileFieldsOf(one.model).length === 0)
    return [...own.map((name) => `${one.name}.${name}`), ...isWhole ? [one.name] : []]
  }))
  const prefixes = registrations.map(({ name }) => `${toolName(name)}_`)
  const areApart = prefixes.every((one, i) => prefixes.every((other, k) => i === k || !other.startsWith(one)))
  // The operations of files have the names of their fields in theirs.
  const parts = registrations.flatMap((one) => [
    ...one.calls.map(({ name }) => name),
    ...one._tag === "Service" ? [] : Object.keys(one.model[modelTypeId])
  ])
  return areApart && parts.every((name) => toolName(name) === name) && names.every((name) => plain.has(name))
}

// internal

/** Whether a part of a call is sent as JSON, or is not there. An annotation of the platform says that it is sent otherwise. */
const isPlainJson = (part: Part | undefined): boolean =>
  part === undefined ||
  rawOf(part) === undefined && Schema.resolveAnnotations(schemaOf(part))?.["~httpApiEncoding"] === undefined

/** Clients want letters, digits, `_` and `-` alone. */
const toolName = (id: string): string => id.replaceAll(/[^\w-]/gu, "_")

/** The endpoints of a registration that are exposed only by their own names: they say what a tool says of itself, or twice. */
const besides: ReadonlySet<string> = new Set(["aggregate", "meta", "query", "schema"])

const toolOf = (
  document: OpenApi.Document,
  path: string,
  method: string,
  operation: OpenApi.Operation
): Tool | undefined => {
  const { operationId: id, summary } = operation
  const resolved = (u: unknown) => resolve(document, nodeOf(u))
  const body = nodeOf(nodeOf(operation["requestBody"])["content"])
  const answers = Object.entries(nodeOf(operation["responses"])).filter(([status]) => status.startsWith("2"))
    .map(([status, response]) => ({ status, content: nodeOf(resolved(response)["content"]) }))
  // What is asked by HEAD is in headers, and its route is that of GET.
  if (method === "head") return undefined
  // Streams and files are no results of a tool.
  if (answers.some(({ content }) => isOther(content))) return undefined
  if (Object.keys(body).length > 0 && !isJson(body)) return undefined
  const results = answers.flatMap(({ content }) => isJson(content) ? [schemaIn(content)] : [])
  const parameters = listOf(operation["parameters"]).map(resolved)
  // A resumable upload goes by headers that are no arguments.
  if (parameters.some(({ name }) => name === "Tus-Resumable")) return undefined
  const fields = fieldsOfItems(document, results)
  const args = distinct([
    ...parameters.flatMap((one) => argumentOf(one, fields)),
    ...isJson(body) ? [bodyArgument(schemaIn(body), nodeOf(operation["requestBody"])["required"] === true)] : []
  ])
  const result = results.length === 0 ? undefined : results.length === 1 ? results[0]! : { anyOf: results }
  const text = operation["description"]
  return {
    id,
    name: toolName(id),
    method: method.toUpperCase(),
    // Paths of documents begin with a slash.
    path: path.replaceAll(/\{([^{}]*)\}/gu, ":$1") as `/${string}`,
    title: summary,
    description: typeof text === "string" ? `${summary}.\n\n${text}` : `${summary}.`,
    arguments: args,
    inputSchema: rooted(document, {
      type: "object",
      properties: Object.fromEntries(args.map(({ name, schema }) => [name, schema])),
      required: args.filter(({ isRequired }) => isRequired).map(({ name }) => name),
      additionalProperties: false
    }),
    // All answers in JSON are objects.
    outputSchema: result === undefined ? undefined : rooted(document, { type: "object", ...result }),
    isReading: method === "get",
    isIdempotent: method === "put" || method === "delete"
  }
}

/** Names that stand once: a model may have a field with the name of a header or of the body. */
const distinct = (args: ReadonlyArray<Argument>): ReadonlyArray<Argument> => {
  const own = new Set(args.flatMap(({ name, place }) => place === "path" || place === "query" ? [name] : []))
  const free = (name: string): string => own.has(name) ? free(`${name}_`) : name
  return args.map((one) => one.place === "header" || one.place === "body" ? { ...one, name: free(one.name) } : one)
}

const isOther = (content: Node): boolean =>
  Object.keys(content).length > 0 && (!isJson(content) || content["text/event-stream"] !== undefined)

const isJson = (content: Node): boolean => content["application/json"] !== undefined

const schemaIn = (content: Node): Node => nodeOf(nodeOf(content["application/json"])["schema"])

const bodyArgument = (schema: Node, isRequired: boolean): Argument => ({
  name: "body",
  parameter: "body",
  place: "body",
  isRequired,
  schema,
  isJson: true,
  isJoined: false
})

/** The headers that are arguments. The others are about the transport, or about what a caller keeps. */
const headers: ReadonlyMap<string, string> = new Map([["If-Match", "if_match"], ["Idempotency-Key", "idempotency_key"]])

/**
 * Parameters that are no arguments. Pages are told by cursors: what is written meanwhile shifts no document from one page to
 * another. Deleted documents are endpoints of their own, which no name exposes with those of the others.
 */
const left: ReadonlySet<string> = new Set(["page", "deleted", "purge"])

const argumentOf = (parameter: Node, fields: Node): ReadonlyArray<Argument> => {
  const { description, explode, required, schema } = parameter
  const name = String(parameter["name"])
  const place = parameter["in"]
  const own = place === "header" ? headers.get(name) : name
  if (own === undefined || (place === "query" && left.has(name))) return []
  if (place !== "path" && place !== "query" && place !== "header") return []
  const content = nodeOf(parameter["content"])
  const given = isJson(content) ? schemaIn(content) : nodeOf(schema)
  const field = place === "query" && Object.hasOwn(fields, name) ? fields[name] : undefined
  return [{
    name: own,
    parameter: name,
    place,
    isRequired: (required === true || isNeededByJson(parameter)) && name !== "cursor",
    schema: {
      ...field === undefined ? given : { anyOf: [field, given] },
      ...typeof description === "string" ? { description } : {}
    },
    isJson: isJson(content),
    isJoined: explode === false,
    ...name === "cursor" ? { otherwise: "" } : {}
  }]
}

/** The fields of the documents in a list, for conditions on them. */
const fieldsOfItems = (document: OpenApi.Document, results: ReadonlyArray<Node>): Node => {
  const items = nodeOf(nodeOf(nodeOf(results[0])["properties"])["_items"])["items"]
  const [first = items] = listOf(nodeOf(items)["anyOf"])
  return nodeOf(resolve(document, nodeOf(first))["properties"])
}

/** What a reference within the document leads to. */
const resolve = (document: OpenApi.Document, node: Node): Node => {
  const ref = node["$ref"]
  if (typeof ref !== "string") return node
  const found = ref.split("/").slice(1).reduce<unknown>((at, key) => nodeOf(at)[key], document)
  return resolve(document, nodeOf(found))
}

/** A schema with the components that it refers to. */
const rooted = (document: OpenApi.Document, schema: ObjectSchema): ObjectSchema => {
  const used = new Map<string, Node>()
  const local = (node: Node): Node =>
    rewrite(node, (part) => {
      const component = componentOf(part)
      if (component === undefined) return part
      if (!used.has(component)) {
        // Before its parts, which may refer to it.
        used.set(component, {})
        used.set(component, local(nodeOf(document.components.schemas[component])))
      }
      return { ...part, $ref: `#/$defs/${component}` }
    })
  const root = local(schema)
  return {
    ...root,
    type: "object",
    ...used.size === 0 ? {} : { $defs: Object.fromEntries(used) }
  }
}
