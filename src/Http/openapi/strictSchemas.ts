/**
 * The schemas of bodies whose registration rejects unknown keys: `additionalProperties` is `false` at every depth.
 * Responses and the bodies of other registrations keep the open schemas of the same names.
 */
import { reachable } from "./componentSchemas.ts"
import * as Document from "./node.ts"

type Node = Document.Node

/** Closes schemas. A component that they refer to gets a closed copy. */
export interface SchemaCloser {
  /** The operation with a closed schema of its body. */
  readonly close: (operation: Node) => Node
  /** The schema that a reference is to; any other schema itself. */
  readonly resolve: (schema: Node) => Node
  /**
   * The components that the operations refer to, and the operations. A closed component takes the name of the open one
   * if nothing refers to that.
   */
  readonly finish: (operations: ReadonlyArray<Node>) => {
    readonly components: Node
    readonly rename: (operation: Node) => Node
  }
}

/** `ignored` contains, by component, the keys that callers read and can't send. They are accepted and ignored. */
export const closing = (components: Node, ignored: ReadonlyMap<string, ReadonlyArray<string>>): SchemaCloser => {
  const closed = closedCopies(components, ignored)
  return {
    finish: (operations) => finish(components, closed.copies, operations),
    resolve: (schema) => {
      const name = Document.componentOf(schema)
      return name === undefined ? schema : closed.copies.get(name)?.schema ?? Document.nodeOf(components[name])
    },
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
              : { ...media, schema: closed.close(Document.nodeOf(media["schema"])) }
          })
        }
      }
    }
  }
}

/** The closed copies by name, with the component that each is a copy of. */
type Copies = ReadonlyMap<string, { readonly schema: Node; readonly of: string }>

const closedCopies = (
  components: Node,
  ignored: ReadonlyMap<string, ReadonlyArray<string>>
): { readonly copies: Copies; readonly close: (schema: Node) => Node } => {
  const copies = new Map<string, { readonly schema: Node; readonly of: string }>()
  const refTo = (of: string): Node => {
    if (!isOpen(components, Document.nodeOf(components[of]), new Set([of]))) return Document.refTo(of)
    const name = `${of}Strict`
    if (!copies.has(name)) {
      // The schema may be recursive.
      copies.set(name, { of, schema: {} })
      copies.set(name, { of, schema: withIgnored(close(Document.nodeOf(components[of])), ignored.get(of) ?? []) })
    }
    return Document.refTo(name)
  }
  /** Closes a schema and copies the components that it refers to. */
  const close = (schema: Node): Node =>
    Document.rewrite(schema, (part) => {
      const name = Document.componentOf(part)
      return name === undefined
        ? isObject(part) ? { ...part, additionalProperties: false } : part
        : { ...part, ...refTo(name) }
    })
  return { copies, close }
}

/** Whether a schema, or a component that it refers to, accepts undeclared keys. `seen` names components. */
const isOpen = (components: Node, schema: Node, seen: ReadonlySet<string>): boolean => {
  let found = false
  Document.rewrite(schema, (part) => {
    const name = Document.componentOf(part)
    found ||= isObject(part) ||
      name !== undefined && !seen.has(name) &&
        isOpen(components, Document.nodeOf(components[name]), new Set([...seen, name]))
    return part
  })
  return found
}

const finish = (
  components: Node,
  copies: Copies,
  operations: ReadonlyArray<Node>
): ReturnType<SchemaCloser["finish"]> => {
  const all = { ...components, ...Object.fromEntries(Array.from(copies, ([name, { schema }]) => [name, schema])) }
  const used = reachable(all, operations)
  const names = new Map(Array.from(copies).flatMap(([name, { of }]) => of in used ? [] : [[name, of]]))
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
