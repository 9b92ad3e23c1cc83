/**
 * The schemas of bodies whose registration rejects unknown keys: `additionalProperties` is `false` at every depth.
 * Responses and the bodies of other registrations keep the open schemas of the same names.
 */
import { all } from "../description/standardEndpoints.ts"
import * as Document from "./node.ts"
import { bracedOf } from "./queries.ts"
import { reachable } from "./schemas.ts"

type Node = Document.Node

/**
 * The part of a registration that concerns its bodies.
 *
 * @internal
 */
export interface Registered {
  readonly _tag: "Resource" | "Service"
  readonly path?: string | undefined
  readonly onExcessProperty?: "ignore" | "error" | undefined
  readonly calls: ReadonlyArray<{ readonly method: string; readonly path: string }>
}

/**
 * The operations, by method and path, that reject undeclared keys.
 *
 * @internal
 */
export const strictOperations = (registrations: ReadonlyArray<Registered>): ReadonlySet<string> =>
  new Set(
    registrations.filter(({ onExcessProperty }) => onExcessProperty === "error").flatMap(({ _tag, calls, path }) => [
      ...(_tag === "Service"
        ? []
        : withBody.map((endpoint) => `${endpoint.method.toLowerCase()} ${path}${bracedOf(endpoint.path)}`)),
      ...calls.map(({ method, path }) => `${method.toLowerCase()} ${bracedOf(path)}`)
    ])
  )

const withBody = all.filter(({ hasBody }) => hasBody)

/**
 * Closes schemas. A component that they refer to gets a closed copy.
 *
 * @internal
 */
export interface Closing {
  /** The operation with a closed schema of its body. */
  readonly close: (operation: Node) => Node
  /**
   * The components that the operations refer to, and the operations. A closed component takes the name of the open one
   * if nothing refers to that.
   */
  readonly finish: (operations: ReadonlyArray<Node>) => {
    readonly components: Node
    readonly rename: (operation: Node) => Node
  }
}

/**
 * `ignored` contains, by component, the keys that callers read and can't send. They are accepted and ignored.
 *
 * @internal
 */
export const closing = (components: Node, ignored: ReadonlyMap<string, ReadonlyArray<string>>): Closing => {
  const closed = new Map<string, { readonly schema: Node; readonly of: string }>()
  const isOpen = (schema: Node, seen: ReadonlySet<string>): boolean => {
    let found = false
    Document.rewrite(schema, (part) => {
      const name = Document.componentOf(part)
      found ||= isObject(part) ||
        name !== undefined && !seen.has(name) && isOpen(Document.nodeOf(components[name]), new Set([...seen, name]))
      return part
    })
    return found
  }
  const refTo = (of: string): Node => {
    if (!isOpen(Document.nodeOf(components[of]), new Set([of]))) return Document.refTo(of)
    const name = `${of}Strict`
    if (!closed.has(name)) {
      // The schema may be recursive.
      closed.set(name, { of, schema: {} })
      closed.set(name, { of, schema: withIgnored(closeSchema(Document.nodeOf(components[of])), ignored.get(of) ?? []) })
    }
    return Document.refTo(name)
  }
  const closeSchema = (schema: Node): Node =>
    Document.rewrite(schema, (part) => {
      const name = Document.componentOf(part)
      return name === undefined
        ? isObject(part) ? { ...part, additionalProperties: false } : part
        : { ...part, ...refTo(name) }
    })
  const finish: Closing["finish"] = (operations) => {
    const all = { ...components, ...Object.fromEntries(Array.from(closed, ([name, { schema }]) => [name, schema])) }
    const used = reachable(all, operations)
    const names = new Map(Array.from(closed).flatMap(([name, { of }]) => of in used ? [] : [[name, of]]))
    const rename = (schema: Node): Node =>
      Document.rewrite(schema, (part) => {
        const name = names.get(Document.componentOf(part) ?? "")
        return name === undefined ? part : { ...part, ...Document.refTo(name) }
      })
    const renamed = Object.entries(used).map(([name, schema]): [string, Node] => [
      names.get(name) ?? name,
      rename(Document.nodeOf(schema))
    ])
    return {
      components: Object.fromEntries(renamed.toSorted(([one], [other]) => one < other ? -1 : 1)),
      rename: (operation) => names.size === 0 ? operation : Document.mapSchemas(operation, rename)
    }
  }
  return {
    finish,
    close: (operation) => {
      const { content, ...body } = Document.nodeOf(operation["requestBody"])
      return content === undefined ? operation : {
        ...operation,
        requestBody: {
          ...body,
          content: Document.mapValues(Document.nodeOf(content), (value, type) => {
            const media = Document.nodeOf(value)
            // The server validates the paths of a JSON Patch, not the keys of its operations.
            return type === "application/json-patch+json"
              ? media
              : { ...media, schema: closeSchema(Document.nodeOf(media["schema"])) }
          })
        }
      }
    }
  }
}

/** An object that declares its properties and does not restrict others. */
const isObject = (schema: Node): boolean =>
  Object.keys(Document.nodeOf(schema["properties"])).length > 0 && !("additionalProperties" in schema) &&
  !("patternProperties" in schema)

const withIgnored = (schema: Node, keys: ReadonlyArray<string>): Node =>
  keys.length === 0 ? schema : {
    ...schema,
    properties: {
      ...Document.nodeOf(schema["properties"]),
      ...Object.fromEntries(keys.map((key) => [key, { description: "Ignored", readOnly: true }]))
    }
  }
