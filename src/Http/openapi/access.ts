import type { Entry } from "../AccessPolicy.ts"
import type { Entries } from "./fieldRules.ts"
import * as Json from "./node.ts"
import { bracedOf, type Call, isBelow } from "./paths.ts"
import { statusTexts } from "./texts.ts"

type Node = Json.Node

/**
 * The rules of an operation, by its method in lower case and its path with braces.
 *
 * @internal
 */
export const entriesByOperation = (
  registrations: ReadonlyArray<{ readonly calls: ReadonlyArray<Call> }>,
  resources: ReadonlyArray<{ readonly path: `/${string}` }>,
  entries: Entries
) => {
  const calls = new Map(
    registrations.flatMap(({ calls }) =>
      calls.map(({ method, path }) => [`${method.toLowerCase()} ${bracedOf(path)}`, `${method} ${path}`])
    )
  )
  return (method: string, path: string): ReadonlyArray<Entry> | undefined => {
    const resource = resources.find((resource) => isBelow(resource, path))
    const standard = resource === undefined ? undefined : `${method.toUpperCase()} ${resource.path}`
    return entries.get(calls.get(`${method} ${path}`) ?? standard ?? "")
  }
}

/**
 * Adds to an operation who may call it, with which credentials, and the responses of those who may not. An operation without
 * a rule of its own has the credentials of its middleware.
 *
 * @internal
 */
export const withAccess = (
  { security, ...operation }: Node,
  entries: ReadonlyArray<Entry> | undefined,
  { errorMessage, requirements }: {
    readonly requirements: ReadonlyArray<Node>
    readonly errorMessage: Node
  }
): Node => {
  if (Json.listOf(security).length > 0) return { ...operation, security }
  if (entries === undefined) return operation
  const responses = Json.nodeOf(operation["responses"])
  const isOpen = entries.some(({ credentials }) => credentials !== "required")
  const isForAll = entries.length > 0 && entries.every(({ credentials }) => credentials === "none")
  const content = { "application/json": { schema: errorMessage } }
  const missing = (status: "401" | "403" | "503"): Node =>
    status in responses ? {} : { [status]: { description: statusTexts[status], content } }
  const all = { ...responses, ...missing("401"), ...missing("503"), ...(isOpen ? {} : missing("403")) }
  return {
    ...operation,
    description: [operation["description"], whoText(entries)].filter((text) => typeof text === "string")
      .join("\n\n"),
    responses: { ...all, 401: { headers: { "WWW-Authenticate": challenge }, ...Json.nodeOf(all["401"]) } },
    ...(isForAll ? { security: [] } : isOpen ? { security: [...requirements, {}] } : {})
  }
}

const challenge: Node = { description: "How to identify oneself", schema: { type: "string" } }

const whoText = (entries: ReadonlyArray<Entry>): string =>
  entries.length === 0 ?
    "Nobody may do this." :
    `Who may do this: ${
      [
        ...new Set(
          entries.map(({ check, rows, who }) => [rows, check].some(isCondition) ? `${who} (some documents)` : who)
        )
      ]
        .join("; ")
    }.`

/** What a condition says is not for callers. */
const isCondition = (rows: string): boolean => !["all", "-", "the caller's"].includes(rows)
