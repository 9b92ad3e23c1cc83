import { all } from "../description/standardEndpoints.ts"
import * as Json from "./node.ts"
import type { Resource } from "./schemas.ts"
import { isBelow } from "./standardOperations.ts"

/**
 * The paths in reading order: of each resource first its documents, last what describes them.
 *
 * @internal
 */
export const inReadingOrder = (paths: Json.Node, resources: ReadonlyArray<Resource>): Json.Node => {
  const firsts = new Map<Resource, number>()
  const placed = Object.entries(paths).map(([path, item], i) => {
    const resource = resources.find((resource) => isBelow(resource, path))
    if (resource === undefined) return { path, item, group: i, rank: 0 }
    const group = firsts.get(resource) ?? i
    firsts.set(resource, group)
    return { path, item, group, rank: ranks.get(path.slice(resource.path.length)) ?? -1 }
  })
  const sorted = placed.toSorted((a, b) => a.group - b.group || a.rank - b.rank)
  return Object.fromEntries(sorted.map(({ item, path }) => [path, item]))
}

/** The paths that no document has. */
const ranks: ReadonlyMap<string, number> = new Map(
  all.flatMap(({ path, reserved }, i) => reserved === undefined ? [] : [[path, i]])
)

/**
 * Joins paths that differ only in the names of their parameters (OpenAPI 3.1, section 4.8.8), under the names of the
 * first.
 *
 * @internal
 */
export const joined = (paths: Json.Node): Json.Node => {
  const byShape = new Map<string, string>()
  const items = new Map<string, Json.Node>()
  for (const [path, value] of Object.entries(paths)) {
    const shape = path.replaceAll(parameter, "{}")
    const first = byShape.get(shape) ?? path
    byShape.set(shape, first)
    const names = new Map(namesIn(path).map((name, i) => [name, namesIn(first)[i] ?? name]))
    items.set(first, {
      ...items.get(first),
      ...Json.mapValues(Json.nodeOf(value), (operation) => renamed(Json.nodeOf(operation), names))
    })
  }
  return Object.fromEntries(items)
}

const parameter = /\{[^{}]*\}/gu

const namesIn = (path: string): ReadonlyArray<string> => (path.match(parameter) ?? []).map((name) => name.slice(1, -1))

const renamed = (operation: Json.Node, names: ReadonlyMap<string, string>): Json.Node => {
  const { parameters } = operation
  return parameters === undefined ? operation : {
    ...operation,
    parameters: Json.listOf(parameters).map((value) => {
      const one = Json.nodeOf(value)
      return one["in"] === "path" ? { ...one, name: names.get(String(one["name"])) ?? one["name"] } : one
    })
  }
}
