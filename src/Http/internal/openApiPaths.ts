import * as Json from "./openApiDocument.ts"

/**
 * The paths, of which those that differ only in the names of their parameters are one (OpenAPI 3.1, section 4.8.8): by the
 * names of the first.
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
