/** Clients of the Model Context Protocol by its authors, and one that sees each answer of HTTP. */
import { Effect, Redacted, Schema } from "effect"
import { createRequire } from "node:module"
import { join } from "node:path"
import { npm, pip } from "./clientTools.ts"
import type { Installed } from "./installed.ts"
import { builtFrom, compileCache } from "./programs.ts"

/** What tests use of a tool. */
interface McpTool {
  readonly name: string
  readonly inputSchema: { readonly properties: { readonly [name: string]: unknown } }
  readonly annotations: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
  }
}

/** What tests use of a result. */
interface McpResult {
  readonly content: ReadonlyArray<{ readonly text: string }>
  readonly structuredContent?: unknown
  readonly isError?: boolean
}

interface McpClient {
  readonly listTools: () => Promise<{ readonly tools: ReadonlyArray<McpTool> }>
  /** Validates the result by the schema that the tool has. */
  readonly callTool: (
    call: { readonly name: string; readonly arguments?: object },
    schema?: undefined,
    options?: { readonly onprogress: (progress: { readonly progress: number }) => void }
  ) => Promise<McpResult>
  readonly subscribeResource: (of: { readonly uri: string }) => Promise<unknown>
  fallbackNotificationHandler: (told: { readonly params: { readonly uri: string } }) => Promise<void>
  readonly listResources: () => Promise<{ readonly resources: ReadonlyArray<{ readonly uri: string }> }>
  readonly listResourceTemplates: () => Promise<
    { readonly resourceTemplates: ReadonlyArray<{ readonly uriTemplate: string }> }
  >
  readonly readResource: (
    of: { readonly uri: string }
  ) => Promise<{ readonly contents: ReadonlyArray<{ readonly text: string }> }>
  readonly getServerVersion: () => { readonly name: string } | undefined
  readonly close: () => Promise<void>
}

/** The SDK for Python, with its interpreter. */
export const pythonSdk = pip("mcp-python-2.3.0", "mcp==2.3.0")

/**
 * The SDK for TypeScript, the command `conformance`, which runs the authors' tests of servers, and that of the inspector: in one folder,
 * since they share most of what they depend on.
 */
export const ofNpm = npm(
  "mcp-sdk-1.32.2-conformance-0.1.16-inspector-2.12.0",
  "@modelcontextprotocol/sdk@1.32.2",
  "@modelcontextprotocol/conformance@0.1.16",
  "@modelcontextprotocol/inspector@2.12.0"
)

export const folderOf = (install: () => Promise<Installed>) =>
  Effect.flatMap(
    Effect.promise(install),
    (found) => "folder" in found ? Effect.succeed(found.folder) : Effect.die(new Error(found.reason))
  )

/** Loads a module of the SDK. */
const load = async (
  name: string
): Promise<{ readonly [name: string]: new(...args: ReadonlyArray<unknown>) => never }> => {
  const found = await ofNpm()
  if (!("folder" in found)) throw new Error(found.reason)
  return import(createRequire(join(found.folder, "package.json")).resolve(`@modelcontextprotocol/sdk/${name}.js`))
}

/** A client of the SDK, until the scope closes. Whatever a server asks for, its user is `ann`. */
export const connecting = (url: string, token?: Redacted.Redacted<string>) => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${Redacted.value(token)}` }
  return connected("streamableHttp", "StreamableHTTPClientTransport", new URL(url), { requestInit: { headers } })
}

/** A client of the SDK that runs a program of the project's with these arguments until the scope closes. */
export const connectingByProgram = Effect.fnUntraced(function*(
  file: string,
  own: ReadonlyArray<string>,
  env: { readonly [name: string]: string }
) {
  const args = ["--conditions=source", yield* Effect.promise(() => builtFrom(file)), ...own]
  return yield* connected("stdio", "StdioClientTransport", {
    command: process.execPath,
    args,
    env: { NODE_COMPILE_CACHE: compileCache(), ...env },
    stderr: "inherit"
  })
})

const connected = (module: string, transport: string, ...options: ReadonlyArray<unknown>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const { Client } = await load("client/index")
      const { [transport]: Transport } = await load(`client/${module}`)
      // The SDK has these constructors, whose types are in a package that is installed to test with.
      const client: McpClient & {
        readonly connect: (transport: unknown) => Promise<void>
        readonly setRequestHandler: (schema: unknown, answer: () => object) => void
      } = new Client!({ name: "test", version: "1.0.0" }, { capabilities: { elicitation: {} } })
      const { ElicitRequestSchema } = await load("types")
      client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { username: "ann" } }))
      await client.connect(new Transport!(...options))
      return client
    }),
    (client) => Effect.promise(() => client.close())
  )

/** Posts a message, as a client of the revision without sessions does. */
export const posting = Effect.fnUntraced(function*(
  url: string,
  message: object,
  headers: { readonly [name: string]: string } = {}
) {
  const response = yield* Effect.promise(() =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message })
    })
  )
  const text = yield* Effect.promise(() => response.text())
  return { status: response.status, headers: response.headers, text }
})

const Message = Schema.fromJsonString(Schema.Struct({
  result: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.Finite, message: Schema.String }))
}))

/** What a tool answers. */
const Result = Schema.Struct({
  content: Schema.Array(Schema.Struct({ text: Schema.String })),
  structuredContent: Schema.optionalKey(Schema.Unknown),
  isError: Schema.optionalKey(Schema.Boolean)
})

/** Begins a session, and calls its methods. */
export const sessionOf = Effect.fnUntraced(function*(url: string, headers: { readonly [name: string]: string } = {}) {
  const begun = yield* posting(url, {
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1.0.0" } }
  }, headers)
  const id = begun.headers.get("mcp-session-id") ?? ""
  const send = (method: string, params: object, others: { readonly [name: string]: string } = headers) =>
    posting(url, { method, params }, { ...others, "mcp-session-id": id })
  const ask = Effect.fnUntraced(function*(method: string, params: object) {
    const { status, text } = yield* send(method, params)
    return status === 200
      ? yield* Effect.orDie(Schema.decodeUnknownEffect(Message)(text))
      : { error: { code: status, message: text } }
  })
  /** Calls a tool; the error is that of a tool that is not there. */
  const call = Effect.fnUntraced(function*(name: string, args: object) {
    const { error, result } = yield* ask("tools/call", { name, arguments: args })
    if (error !== undefined) return { error }
    const { content: [first], isError = false, structuredContent } = yield* Effect.orDie(
      Schema.decodeUnknownEffect(Result)(result)
    )
    return { text: first?.text ?? "", isError, structuredContent }
  })
  return { id, begun, send, call }
})
