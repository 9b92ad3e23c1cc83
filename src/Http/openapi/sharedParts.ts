/** The parameters, headers and responses that several operations have: each is in the document once, and they refer to it. */
import { getOrMake } from "@appkernel/document-store/internal"
import { statusOf } from "../HttpError.ts"
import * as Document from "./node.ts"

type Node = Document.Node

/** The parts of operations by the keys of components. */
export interface SharedParts {
  readonly parameters?: Node
  readonly headers?: Node
  readonly responses?: Node
}

/** The operations with references, and what they refer to. */
export const sharing = (paths: Node): { readonly paths: Node; readonly components: SharedParts } => {
  const parameters = new Parts("parameters")
  const headers = new Parts("headers")
  const responses = new Parts("responses")
  for (const { operation } of Document.operationsOf(paths)) {
    for (const one of Document.listOf(operation["parameters"])) {
      // Generators that skip parameters with `content` would skip the operations that refer to one.
      if (Document.nodeOf(one)["content"] === undefined) parameters.add(operation, nameOf(one), one)
    }
    eachResponse(operation, (response) => {
      for (const [name, one] of Object.entries(Document.nodeOf(response["headers"]))) headers.add(operation, name, one)
      return response
    })
  }
  const all = { parameters: parameters.named(), headers: headers.named() }
  const withRefs = Document.mapOperations(paths, (operation) => ({
    ...eachResponse(operation, (response) => withHeaders(response, (one) => headers.refTo(one))),
    ...operation["parameters"] === undefined
      ? {}
      : { parameters: Document.listOf(operation["parameters"]).map((one) => parameters.refTo(one)) }
  }))
  for (const { operation } of Document.operationsOf(withRefs)) {
    eachResponse(operation, (response, status) => {
      responses.add(operation, names.get(status) ?? `Status${status}`, response)
      return response
    })
  }
  const named = { ...all, responses: responses.named() }
  return {
    paths: Document.mapOperations(withRefs, (operation) => eachResponse(operation, (one) => responses.refTo(one))),
    components: Object.fromEntries(Object.entries(named).filter(([, parts]) => Object.keys(parts).length > 0))
  }
}

// internal

/** The parts of one kind, by their texts. */
class Parts {
  readonly #kind: string
  readonly #parts = new Map<string, { readonly name: string; readonly part: Node; readonly groups: Array<string> }>()
  readonly #refs = new Map<string, Node>()

  constructor(kind: string) {
    this.#kind = kind
  }

  add(operation: Node, name: string, part: unknown): void {
    getOrMake(this.#parts, JSON.stringify(part), () => ({ name, part: Document.nodeOf(part), groups: [] }))
      .groups.push(groupOf(operation))
  }

  /**
   * The parts that several operations share, by name. If parts have one name, the most common one keeps it, and the
   * others get a group as prefix.
   */
  named(): Node {
    const shared = [...this.#parts].filter(([text, { groups }]) => groups.length > 1 && text.length > minLength)
      .toSorted(([text, { groups }], [other, { groups: others }]) =>
        others.length - groups.length || (text < other ? -1 : 1)
      )
    const found = new Map<string, unknown>()
    for (const [text, { groups, name, part }] of shared) {
      const full = [name, `${groups.toSorted()[0]}.${name}`].find((one) => !found.has(one) && isKey.test(one))
      if (full === undefined) continue
      found.set(full, part)
      this.#refs.set(text, { $ref: `#/components/${this.#kind}/${full}` })
    }
    return Object.fromEntries([...found].toSorted(([one], [other]) => one < other ? -1 : 1))
  }

  refTo(part: unknown): Node {
    return this.#refs.get(JSON.stringify(part)) ?? Document.nodeOf(part)
  }
}

/** A shorter part is no longer than a reference. */
const minLength = 80

/** The names of components. */
const isKey = /^[\w.-]+$/u

/** What operations of one registration have before their names. */
const groupOf = ({ operationId }: Node): string => String(operationId).replace(/\.[^.]*$/u, "")

const nameOf = (parameter: unknown): string => {
  const { in: place, name } = Document.nodeOf(parameter)
  return place === "path" ? `path.${String(name)}` : String(name)
}

const names = new Map([
  ["200", "Success"],
  ["201", "Created"],
  ["204", "NoContent"],
  ["304", "NotModified"],
  ...Object.entries(statusOf).map(([name, status]): [string, string] => [String(status), name])
])

const eachResponse = (operation: Node, f: (response: Node, status: string) => Node): Node => ({
  ...operation,
  responses: Document.mapValues(
    Document.nodeOf(operation["responses"]),
    (response, status) => f(Document.nodeOf(response), status)
  )
})

const withHeaders = (response: Node, f: (header: unknown) => Node): Node =>
  response["headers"] === undefined
    ? response
    : { ...response, headers: Document.mapValues(Document.nodeOf(response["headers"]), (one) => f(one)) }
