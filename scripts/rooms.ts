/**
 * The rooms of `src` and of the packages, and what each may import: the linter's configuration and the pictures of
 * `docs/architecture.md` follow from it.
 *
 * A room is a folder in lower case, private to the folder that it is in, or some modules at the root of such a folder, in
 * PascalCase, that rooms stand on. A room may import the rooms that it stands `on`, what those stand on, the root modules
 * of the folders that its own stands on, and `src/internal`. All other modules at a folder's root are on top: they may
 * import every room of their folder, and no room imports them. A package is a folder like these, whose modules others import
 * by the name of the package.
 */
interface Room {
  /** The rooms right below, by their names. */
  readonly on: ReadonlyArray<string>
  /** The modules at the folder's root that are this room; otherwise it is the folder of its name. */
  readonly modules?: ReadonlyArray<string>
  /**
   * Whether clients load it, browsers included. It then imports nothing of Node, and of other folders only `Model`, except
   * for types.
   */
  readonly isPortable?: true
}

export interface Folder {
  /** The folders whose root modules it may import. */
  readonly on: ReadonlyArray<string>
  /** The entries of our packages that it may import. */
  readonly entries: ReadonlyArray<string>
  /** Where a package has its sources; other folders are in `src`. */
  readonly at?: string
  /** The packages that it may not import, and why. */
  readonly without: { readonly packages: ReadonlyArray<string>; readonly because: string }
  readonly rooms: { readonly [name: string]: Room }
}

const drivers = ["mongodb", "lmdb", "re2js", "robust-predicates"]

const server = "@effect/platform-node/**"

export const folders: { readonly [name: string]: Folder } = {
  "document-store": {
    on: [],
    entries: [],
    at: "packages/document-store/src",
    without: { packages: [server, ...drivers], because: "The port is what the stores have in common." },
    rooms: {
      internal: { on: [], isPortable: true },
      base: { on: ["internal"], modules: ["ChangeLog", "DocumentStore", "StoreError", "StoreTypes"], isPortable: true },
      shared: { on: ["base"] }
    }
  },
  mql: {
    on: ["document-store"],
    entries: ["document-store/internal", "document-store/StoreError", "document-store/StoreTypes"],
    at: "packages/mql/src",
    without: { packages: [server, "mongodb", "lmdb"], because: "The language needs no store." },
    rooms: {
      bson: { on: [] },
      limits: { on: ["bson"] },
      execution: { on: ["limits"] },
      text: { on: ["limits"] },
      geo: { on: ["limits"] },
      predicate: { on: ["text", "geo"] },
      schema: { on: ["predicate"] },
      dates: { on: ["limits"] },
      expression: { on: ["predicate", "dates"] },
      filter: { on: ["expression", "schema"] },
      projection: { on: ["filter", "execution"] },
      window: { on: ["projection"] },
      aggregation: { on: ["window"] },
      update: { on: ["projection"] }
    }
  },
  "embedded-store": {
    on: ["document-store", "mql"],
    entries: ["document-store/[^/]+", "mql/internal", "mql/values"],
    at: "packages/embedded-store/src",
    without: { packages: [server, "mongodb", "re2js", "robust-predicates"], because: "The store needs no server." },
    rooms: {
      storage: { on: [] },
      "storage/memory": { on: ["storage"] },
      "storage/lmdb": { on: ["storage"] },
      catalog: { on: ["storage"] },
      planner: { on: ["catalog", "storage/memory"] },
      operations: { on: ["planner"] },
      transaction: { on: ["operations"] },
      store: { on: ["transaction", "storage/lmdb"] }
    }
  },
  "mongo-store": {
    on: ["document-store", "mql"],
    entries: ["document-store/[^/]+", "mql/values"],
    at: "packages/mongo-store/src",
    without: { packages: [server, "lmdb", "re2js", "robust-predicates"], because: "The store needs no HTTP server." },
    rooms: {
      driver: { on: [] },
      store: { on: ["driver"] }
    }
  },
  "react-admin": {
    on: [],
    entries: [],
    at: "packages/react-admin/src",
    without: {
      packages: ["node:*", "effect/**", server, ...drivers],
      because: "A page in a browser loads it, and nothing else."
    },
    rooms: {
      base: {
        on: [],
        modules: ["Description", "KernelAuthProvider", "KernelDataProvider", "KernelError", "KernelI18nProvider"]
      },
      description: { on: ["base"] },
      calls: { on: ["description"] },
      data: { on: ["calls"] },
      texts: { on: ["description"] }
    }
  },
  explorer: {
    on: ["react-admin"],
    entries: ["react-admin"],
    at: "packages/explorer/src",
    without: {
      packages: ["node:*", "effect/**", server, ...drivers],
      because: "A page in a browser loads it, and nothing else."
    },
    rooms: {
      base: { on: [], modules: ["palette", "theme"] },
      messages: { on: [] },
      signIn: { on: ["base", "messages"] },
      data: { on: ["base"] },
      fields: { on: ["data"] },
      inputs: { on: ["fields"] },
      columns: { on: ["fields"] },
      parts: { on: ["data"] },
      account: { on: ["parts"] },
      layout: { on: ["account"] },
      documents: { on: ["inputs", "columns", "parts"] },
      lists: { on: ["documents"] },
      home: { on: ["documents"] }
    }
  },
  Model: {
    on: ["document-store"],
    entries: ["document-store/internal"],
    without: { packages: ["node:*", server, ...drivers], because: "Models run anywhere." },
    rooms: {
      base: { on: [], modules: ["Converter", "FieldIndex", "ModelError"] },
      shape: { on: ["base"] },
      codec: { on: ["shape"] },
      instance: { on: ["codec"] },
      jsonSchema: { on: ["shape"] },
      suppliers: { on: ["codec"], modules: ["Generator", "Marshaller"] },
      fieldTypes: { on: ["suppliers"] }
    }
  },
  Files: {
    on: ["document-store", "mongo-store"],
    entries: ["document-store/[^/]+", "mongo-store/driver"],
    without: { packages: [server, ...drivers], because: "The driver of a store comes in where it is opened." },
    rooms: {
      port: { on: [] },
      pictures: { on: ["port"] },
      stores: { on: ["port"] }
    }
  },
  Repository: {
    on: ["Model", "Files", "document-store", "mql", "embedded-store", "mongo-store"],
    entries: [
      "document-store/[^/]+",
      "mql",
      "mql/values",
      "embedded-store(/internal)?",
      "mongo-store(/internal|/driver)?"
    ],
    without: { packages: [server, ...drivers], because: "Only the packages of the stores import their drivers." },
    rooms: {
      base: { on: [], modules: ["DocumentStore", "OperationStages", "RepositoryError"] },
      query: { on: ["base"] },
      queries: { on: ["query"], modules: ["Cursor", "Query", "Update"] },
      collection: { on: ["queries"] },
      versions: { on: ["collection"] },
      changes: { on: ["versions"] },
      repository: { on: ["changes"] },
      files: { on: ["repository"] }
    }
  },
  Client: {
    on: ["Model"],
    entries: ["document-store/internal"],
    without: { packages: ["node:*", ...drivers], because: "Node comes in by services of the platform package." },
    rooms: {
      base: { on: [], modules: ["ClientError", "Credentials"], isPortable: true },
      breaker: { on: ["base"] },
      configuration: { on: ["breaker"], modules: ["CircuitBreaker", "HttpClientConfig"] },
      calls: { on: ["configuration"] },
      files: { on: ["calls"] },
      proxies: { on: ["files"], modules: ["HttpClientServiceProxy", "RequestWrapper"] }
    }
  },
  Security: {
    on: ["Model", "Repository"],
    entries: ["document-store/internal"],
    without: { packages: drivers, because: "Only the repository talks to a store." },
    rooms: {
      base: { on: [], modules: ["CurrentUser", "SecurityError"] },
      accounts: { on: ["base"] },
      keys: { on: ["base"] },
      Keys: { on: ["keys"], modules: ["Keys"] },
      jwt: { on: ["Keys"] },
      signIns: { on: ["base"] }
    }
  },
  Access: {
    on: ["Model", "Repository", "Security"],
    entries: ["document-store/internal"],
    without: { packages: drivers, because: "Only the repository talks to a store." },
    rooms: {
      permissions: { on: [], modules: ["Grant", "Permission"], isPortable: true },
      decision: { on: ["permissions"] },
      fields: { on: [] }
    }
  },
  Jobs: {
    on: ["Model", "Repository", "Security"],
    entries: ["document-store/internal", "document-store/shared", "mql/values"],
    without: { packages: [server, ...drivers], because: "Only the repository talks to a store." },
    rooms: {
      mail: { on: [] },
      queue: { on: [] },
      running: { on: ["queue"] },
      cluster: { on: [] }
    }
  },
  Http: {
    on: ["Model", "Files", "Repository", "Client", "Security", "Access", "Jobs"],
    entries: ["document-store/internal", "document-store/folders"],
    without: { packages: drivers, because: "Only the repository talks to a store." },
    rooms: {
      errors: { on: [], isPortable: true },
      base: { on: ["errors"], modules: ["Envelope", "HttpError", "ServiceError", "UpstreamError"], isPortable: true },
      messages: { on: ["base"] },
      Translations: { on: ["messages"], modules: ["Translations"] },
      config: { on: [] },
      KernelConfig: { on: ["config"], modules: ["Cors", "KernelConfig", "RateLimits"] },
      description: { on: ["base"], isPortable: true },
      calls: { on: ["description"], modules: ["Action", "Guard", "History", "Operation"], isPortable: true },
      resource: { on: ["calls"], isPortable: true },
      descriptions: { on: ["resource"], modules: ["Resource", "Service", "TokensApi"], isPortable: true },
      registration: { on: ["descriptions"], isPortable: true },
      subscription: { on: ["description"], isPortable: true },
      typedClient: { on: ["subscription"], isPortable: true },
      contract: { on: ["registration", "typedClient"], modules: ["KernelApi", "KernelClient"], isPortable: true },
      query: { on: ["KernelConfig", "messages", "description"] },
      request: { on: ["messages", "description"] },
      response: { on: ["query", "request", "contract", "Translations"] },
      server: { on: ["request", "KernelConfig"] },
      Monitoring: { on: [], modules: ["Monitoring"] },
      monitoring: { on: ["Monitoring", "server"] },
      policies: { on: ["contract"], modules: ["AccessPolicy"] },
      openapi: { on: ["query", "policies"] },
      Tokens: { on: ["contract", "messages"], modules: ["Tokens"] },
      documents: { on: ["openapi"], modules: ["OpenApi"] },
      live: { on: ["response"] },
      expansion: { on: ["response"] },
      tables: { on: ["response"] },
      files: { on: ["response"] },
      routes: { on: ["live", "expansion", "tables", "files"] },
      history: { on: ["routes"] },
      documentFiles: { on: ["routes"] },
      many: { on: ["routes"] },
      idempotency: { on: ["routes"] },
      webhooks: { on: ["expansion"] },
      mcp: { on: ["routes", "documents"] },
      explorer: { on: ["routes", "openapi"] },
      startup: {
        on: ["history", "documentFiles", "many", "idempotency", "webhooks", "mcp", "explorer", "monitoring", "Tokens"]
      }
    }
  },
  Cli: {
    on: ["Model", "Files", "Repository", "Security", "Http"],
    entries: ["embedded-store/internal"],
    without: { packages: drivers, because: "Only the repository talks to a store." },
    rooms: { commands: { on: [] } }
  }
}

/** The names of the rooms that a room may import: those that it stands on, and what they stand on. */
export const roomsBelow = ({ rooms }: Folder, name: string): ReadonlySet<string> => {
  const found = new Set<string>()
  const visit = (one: string): void => {
    for (const below of rooms[one]?.on ?? []) {
      found.add(below)
      visit(below)
    }
  }
  visit(name)
  return found
}

/** The pictures of `docs/architecture.md` in Mermaid, by the name of what they show: the folders, and each folder's rooms. */
export const pictures = (): ReadonlyMap<string, string> =>
  new Map([
    ["src", flowchart(Object.entries(folders).map(([name, { on }]) => ({ name, label: name, on: reduced(name, on) })))],
    ...Object.entries(folders).filter(([, { rooms }]) => Object.keys(rooms).length > 0).map(
      ([folder, { rooms }]): [string, string] => [
        folder,
        flowchart(
          Object.entries(rooms).map(([name, { modules, on }]) => ({
            name,
            label: modules === undefined ? `${name}/` : modules.join(", "),
            on
          }))
        )
      ]
    )
  ])

/** Without the folders that others of them stand on. */
const reduced = (name: string, on: ReadonlyArray<string>): ReadonlyArray<string> =>
  on.filter((below) => !on.some((other) => other !== name && folders[other]!.on.includes(below)))

const flowchart = (
  nodes: ReadonlyArray<{ readonly name: string; readonly label: string; readonly on: ReadonlyArray<string> }>
): string => {
  const idOf = (name: string) => `n_${name.replaceAll("/", "_")}`
  return [
    "flowchart TD",
    ...nodes.map(({ label, name }) => `  ${idOf(name)}["${label}"]`),
    ...nodes.flatMap(({ name, on }) => on.map((below) => `  ${idOf(name)} --> ${idOf(below)}`))
  ].join("\n")
}
