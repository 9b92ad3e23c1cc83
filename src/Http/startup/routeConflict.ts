/**
 * Checks registrations for conflicts.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { fileFieldsOf } from "../../Model/internal.ts"
import { keysPath, shapeOf } from "../description/pathShape.ts"
import { endpointsOf } from "../description/standardEndpoints.ts"
import { type ExplorerAt, explorerRoutesAt } from "../explorer/options.ts"
import * as History from "../History.ts"
import { type McpAt, metadataPaths } from "../mcp/options.ts"
import { documentationPaths } from "../openapi/documentationPaths.ts"
import type { Registration } from "../registration/registration.ts"
import type * as Documentation from "./documentation.ts"

/**
 * Occurs when two registrations have the same path or name, or two links of one resource the same relation. `routes`
 * describes both.
 *
 * @category errors
 * @since 0.1.0
 */
export class RouteConflict extends Schema.TaggedError<RouteConflict>()("RouteConflict", {
  routes: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `Two registrations can't be told apart: ${this.routes.join(" and ")}`
  }
}

/** Fails if two registrations conflict. @internal */
export const rejectConflicts = Effect.fnUntraced(
  function*({ explorer, hasKeys, mcp, monitored, openApi, registrations }: {
    readonly registrations: ReadonlyArray<Registration>
    readonly openApi: Documentation.Options | undefined
    readonly mcp: McpAt | undefined
    readonly explorer: ExplorerAt | undefined
    /** Whether the public keys are served. */
    readonly hasKeys: boolean
    /** The paths of the health and the metrics. */
    readonly monitored: ReadonlyArray<`/${string}`>
  }) {
    const seen = new Map<string, string>()
    const documents = openApi === undefined ? [] : documentationPaths(openApi.includeDocs)
    const claims = [
      ...documents.map((path) => claim("GET", path, "the OpenAPI document and its pages")),
      ...(hasKeys ? [claim("GET", keysPath, "the public keys for tokens")] : []),
      ...(mcp === undefined ? [] : [
        ...(["POST", "GET", "DELETE"] as const).map((method) => claim(method, mcp.path, "the MCP server")),
        ...metadataPaths(mcp).map((path) => claim("GET", path, "what is said of the MCP server"))
      ]),
      ...(explorer === undefined ? [] : claimsOfExplorer(explorer)),
      ...monitored.map((path) => claim("GET", path, "the health and the metrics")),
      ...registrations.flatMap(claimsOf)
    ]
    for (const { key, description } of claims) {
      const other = seen.get(key)
      if (other !== undefined) return yield* new RouteConflict({ routes: [other, description] })
      seen.set(key, description)
    }
  }
)

interface Claim {
  readonly key: string
  readonly description: string
}

const claim = (method: string, path: `/${string}`, what: string): Claim => ({
  key: `${method} ${shapeOf(path)}`,
  description: `${method} ${path} (${what})`
})

const claimsOfExplorer = ({ path }: ExplorerAt): ReadonlyArray<Claim> => {
  const { assets, document, page, session } = explorerRoutesAt(path)
  return [
    ...[page, assets, document].map((one) => claim("GET", one, "the explorer")),
    ...["POST", "DELETE"].map((method) => claim(method, session, "the explorer"))
  ]
}

/** The names and routes that a registration claims. */
const claimsOf = (registration: Registration): ReadonlyArray<Claim> => {
  const { calls, name, path } = registration
  const what = registration._tag === "Service" ? `the service ${name}` : `the model ${registration.model.modelName}`
  const standard = registration._tag === "Service" ? [] : endpointsOf(registration)
  // Operations of the same name would collide in the API's description and in its clients.
  const named = (one: string, place: string): Claim => ({
    key: `${name} ${one}`,
    description: `${one} of ${what}${place}`
  })
  return [
    { key: name, description: `${what} at ${path}, by the name "${name}"` },
    ...standard.map((endpoint) => named(endpoint.name, "")),
    ...calls.map((call) => named(call.name, ` (${call.method} ${call.path})`)),
    ...standard.map((endpoint) => claim(endpoint.method, `${path}${endpoint.path}`, what)),
    ...registration._tag === "Service" ? [] : claimsOfFiles(registration),
    // What a parameter asks for has the place of the endpoint.
    ...calls.flatMap((call) =>
      History.parameterOf(call.options) === undefined ? [claim(call.method, call.path, call.name)] : []
    ),
    ...linksOf(registration)
  ]
}

/** The routes of the files of documents. */
const claimsOfFiles = ({ methods, model, path }: Extract<Registration, { readonly _tag: "Resource" }>) =>
  fileFieldsOf(model).flatMap(({ isList, name }) => {
    const claimed = (method: string, own = "") => claim(method, `${path}/:id/${name}${own}`, `the file ${name}`)
    const item = isList ? "/:key" : ""
    return [
      ...methods.includes("GET") ? [claimed("GET", item), claimed("POST", `${item}/address`)] : [],
      ...methods.includes("PATCH")
        ? [claimed("PUT", item), claimed("DELETE", item), ...isList ? [claimed("POST")] : []]
        : []
    ]
  })

/** The link relations of a resource; none if its links are disabled. */
const linksOf = (registration: Registration): ReadonlyArray<Claim> => {
  if (registration._tag === "Service" || !registration.enableHateoas) return []
  const { calls, model, path } = registration
  const link = (relation: string, what: string): Claim => ({
    key: `${path} ${relation}`,
    description: `the link "${relation}" of the model ${model.modelName} (${what})`
  })
  return [
    link("self", "a document itself"),
    link("collection", "the documents"),
    ...calls.map(({ name, options, path }) => link(options.rel ?? name, path))
  ]
}
