/**
 * The paths of the OpenAPI document: their order, their tags, and paths that differ only in parameter names as one.
 *
 * @since 0.1.0
 */
import { getOrMake } from "@appkernel/document-store/internal"
import type * as HttpApi from "effect/http-api/HttpApi"
import * as OpenApi from "effect/http-api/OpenApi"
import { allStandardEndpoints, type StandardEndpoint } from "../description/standardEndpoints.ts"
import * as History from "../History.ts"
import type { Resource } from "./componentSchemas.ts"
import * as Json from "./node.ts"

/**
 * An action or operation of a registration.
 *
 * @category models
 * @since 0.1.0
 */
export interface Call {
  /** The name of its endpoint in the group of the registration. */
  readonly name?: string | undefined
  readonly method: string
  readonly path: string
  readonly options?: object | undefined
}

/** A route's path with parameters in braces. @internal */
export const bracedOf = (path: string): string => path.replaceAll(/:(\w+)(?:\([^)]*\))?\??/gu, "{$1}")

/** The service without the endpoints that are asked by a parameter of another one. @internal */
export const withoutParameterCalls = (
  api: HttpApi.Top,
  registrations: ReadonlyArray<{ readonly name?: string | undefined; readonly calls: ReadonlyArray<Call> }>
): HttpApi.Top =>
  registrations.reduce((all, { calls, name = "" }) => {
    const group = all.groups[name]
    const own = calls.flatMap(({ name = "", options = {} }) =>
      History.parameterOf(options) === undefined ? [] : group?.endpoints[name] ?? []
    )
    return group === undefined || own.length === 0
      ? all
      : all.add(own.reduce((some, endpoint) => some.add(endpoint.annotate(OpenApi.Exclude, true)), group))
  }, api)

/** The operations of registrations, by method in lower case and path with braces. @internal */
export const operationsIn = <
  R extends { readonly _tag: "Resource" | "Service"; readonly path?: string; readonly calls: ReadonlyArray<Call> }
>(registrations: ReadonlyArray<R>): ReadonlyMap<string, RegisteredOperation<R>> => {
  const keyOf = ({ method, path }: Pick<Call, "method" | "path">) => `${method.toLowerCase()} ${bracedOf(path)}`
  const resources = registrations.filter(({ _tag }) => _tag === "Resource")
  // A call has the place of a standard endpoint whose method is not registered.
  return new Map([
    ...resources.flatMap((registration) =>
      allStandardEndpoints.map((standard): [string, RegisteredOperation<R>] => [
        keyOf({ method: standard.method, path: `${registration.path}${standard.path}` }),
        { registration, standard }
      ])
    ),
    ...registrations.flatMap((registration) =>
      registration.calls.flatMap((call): ReadonlyArray<[string, RegisteredOperation<R>]> =>
        History.parameterOf(call.options ?? {}) === undefined ? [[keyOf(call), { registration, call }]] : []
      )
    )
  ])
}

/** A standard endpoint or a call. */
interface RegisteredOperation<R> {
  readonly registration: R
  readonly standard?: StandardEndpoint
  readonly call?: Call
}

/** The resource whose path this is, or is below it. */
const resourceAt = <R extends { readonly path: string }>(resources: ReadonlyArray<R>, path: string): R | undefined =>
  resources.find(({ path: own }) => path === own || path.startsWith(`${own}/`))

/** The paths in reading order: of each resource first its documents, last what describes them. @internal */
export const inReadingOrder = (paths: Json.Node, resources: ReadonlyArray<Resource>): Json.Node => {
  const firsts = new Map<Resource, number>()
  const placed = Object.entries(paths).map(([path, item], i) => {
    const resource = resourceAt(resources, path)
    if (resource === undefined) return { path, item, group: i, rank: 0 }
    const group = getOrMake(firsts, resource, () => i)
    return { path, item, group, rank: ranks.get(path.slice(resource.path.length)) ?? -1 }
  })
  const sorted = placed.toSorted((a, b) => a.group - b.group || a.rank - b.rank)
  return Object.fromEntries(sorted.map(({ item, path }) => [path, item]))
}

/** The paths that no document has. */
const ranks: ReadonlyMap<string, number> = new Map(
  allStandardEndpoints.flatMap(({ path, reserved }, i) => reserved === undefined ? [] : [[path, i]])
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
    const first = getOrMake(byShape, shape, () => path)
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

/**
 * A tag, which groups operations in the documentation.
 *
 * @category models
 * @since 0.1.0
 */
export interface Tag {
  readonly name: string
  readonly description?: string | undefined
  readonly externalDocs?: { readonly url: string; readonly description?: string | undefined } | undefined
}

/**
 * The tags of the operations, in order. A tag without a description gets the name and path of its registration.
 *
 * @internal
 */
export const tagsOf = (
  paths: Json.Node,
  resources: ReadonlyArray<Resource>,
  described: ReadonlyArray<Tag>
): ReadonlyArray<Tag> => {
  const tagged = Json.operationsOf(paths).flatMap(({ operation, path }) =>
    Json.listOf(operation["tags"]).map((tag) => ({ path, tag: String(tag) }))
  )
  return Array.from(Map.groupBy(tagged, ({ tag }) => tag), ([name, own]) => {
    const tag = described.find((tag) => tag.name === name)
    return tag?.description === undefined
      ? { ...tag, name, description: descriptionOf(own.map(({ path }) => path), resources) }
      : tag
  })
}

const descriptionOf = (paths: ReadonlyArray<string>, resources: ReadonlyArray<Resource>): string => {
  const texts = paths.map((path) => {
    const resource = resourceAt(resources, path)
    return resource === undefined
      ? `Operations at \`${staticPartOf(path)}\``
      : `Documents of the model \`${resource.model.modelName}\`, at \`${resource.path}\``
  })
  return [...new Set(texts)].join("; ")
}

const staticPartOf = (path: string): string => path.replace(/\/\{.*$/u, "") || "/"
