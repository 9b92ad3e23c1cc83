/** `appkernel mcp`: serves the tools of a service to an assistant on this machine, over its standard input and output. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as KernelServer from "../../Http/KernelServer.ts"
import { Application } from "../../internal/application.ts"
import { CommandFailed, reported } from "./commandFailed.ts"
import { findBeside, withStore } from "./engineModule.ts"

export const mcpCommand = Command.make(
  "mcp",
  {
    target: Argument.String("target").pipe(
      Argument.withDescription(
        "The URL of a running MCP server, or the module that exports the engine. Defaults to src/engine.ts"
      ),
      Argument.withDefault("src/engine.ts")
    )
  },
  Effect.fnUntraced(function*({ target }) {
    const token = yield* Config.option(Config.Redacted("APPKERNEL_MCP_TOKEN"))
    const stdio = yield* Stdio.Stdio
    const bridged = (url: string) =>
      bridge(url, Option.getOrUndefined(token), stdio).pipe(Effect.provide(NodeHttpClient.layerUndici))
    if (/^https?:/u.test(target)) return yield* bridged(target)
    const services = yield* findBeside(target, "services", isServices)
    const credentials = yield* findBeside(target, "credentials", isServices)
    const given = Layer.mergeAll(services.found ?? Layer.empty, credentials.found ?? Layer.empty)
    yield* withStore(
      target,
      { inUse: "Give the URL of its MCP server in the place of the module" },
      (engine) =>
        Effect.scoped(Effect.gen(function*() {
          if (engine.mcp === undefined) {
            return yield* new CommandFailed({ detail: `The engine of ${target} has no MCP server: enableMcp(…)` })
          }
          const server = KernelServer.layerWith({ address: "127.0.0.1", port: 0 })
          const layer = engine.layerServe.pipe(Layer.provideMerge(server), Layer.provide(given))
          const context = yield* Layer.build(layer)
          const { address } = yield* Effect.provideContext(HttpServer.HttpServer, context)
          yield* bridged(`${HttpServer.formatAddress(address)}${engine.mcp.path ?? "/mcp"}`)
        })).pipe(Effect.provideService(Application, {
          id: engine.api.identifier,
          cfgDir: ".",
          development: undefined,
          isTest: false
        }))
    )
  }, reported)
).pipe(
  Command.withDescription(
    "Serve the tools of a service to an assistant on this machine, over standard input and output"
  )
)

// internal

/** Tests the kind of the export only: a value at run time does not show the types of a layer. */
const isServices = (value: unknown): value is Layer.Layer<never, Error, never> => Layer.isLayer(value)

/** Sends each line of the input to the server, and writes what it answers. */
const bridge = Effect.fnUntraced(function*(
  url: string,
  token: Redacted.Redacted<string> | undefined,
  stdio: Stdio.Stdio
) {
  const client = yield* HttpClient.HttpClient
  let session: { readonly [name: string]: string } = {}
  const request = (method: "POST" | "DELETE", headers: { readonly [name: string]: string }) => {
    const made = HttpClientRequest.make(method)(url, {
      headers: { ...session, accept: "application/json, text/event-stream", ...headers }
    })
    return token === undefined ? made : HttpClientRequest.bearerToken(made, token)
  }
  const answered = Effect.fnUntraced(function*(line: string) {
    const message = Option.getOrElse(parsed(line), (): Message => ({}))
    const response = yield* client.execute(
      HttpClientRequest.bodyText(request("POST", headersOf(message)), line, "application/json")
    )
    const text = yield* response.text
    if (message.method === "initialize") {
      const id = response.headers["mcp-session-id"]
      session = id === undefined ? {} : { "mcp-session-id": id }
    }
    const events = response.headers["content-type"]?.startsWith("text/event-stream") === true
    const answers = events
      ? text.split("\n").flatMap((line) => line.startsWith("data: ") ? [line.slice("data: ".length)] : [])
      : text === ""
      ? []
      : [text.trim()]
    const all = answers.filter((answer) => isAnswer(answer))
    return message.id === undefined || all.length > 0 ? all : [failure(message.id, reasonOf(response.status, text))]
  })
  yield* stdio.stdin.pipe(
    Stream.decodeText,
    Stream.splitLines,
    Stream.filter((line) => line.trim() !== ""),
    Stream.mapEffect((line) =>
      Effect.catch(answered(line), ({ message }) =>
        Effect.succeed(Option.match(parsed(line), {
          onNone: () => [],
          onSome: ({ id }) => id === undefined ? [] : [failure(id, message)]
        }))), { concurrency: 16 }),
    Stream.flatMap((lines) => Stream.fromIterable(lines)),
    Stream.map((line) => `${line}\n`),
    Stream.run(stdio.stdout())
  )
  if (session["mcp-session-id"] !== undefined) yield* Effect.ignore(client.execute(request("DELETE", {})))
})

/** A message of JSON-RPC, as far as the transport looks at it. */
const Message = Schema.Struct({
  id: Schema.optionalKey(Schema.Union([Schema.String, Schema.Finite])),
  method: Schema.optionalKey(Schema.String),
  params: Schema.optionalKey(Schema.Struct({
    name: Schema.optionalKey(Schema.String),
    uri: Schema.optionalKey(Schema.String),
    _meta: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
  }))
})

type Message = (typeof Message)["Type"]

const parsed = Schema.decodeOption(Schema.fromJsonString(Message))

const isAnswer = (text: string): boolean => Option.isSome(parsed(text)) && text.includes("\"jsonrpc\"")

/** What the revision without sessions repeats of a message in headers. */
const headersOf = ({ method, params }: Message): { readonly [name: string]: string } => {
  const version = params?._meta?.["io.modelcontextprotocol/protocolVersion"]
  if (!Predicate.isString(version) || method === undefined) return {}
  const name = params?.name ?? params?.uri
  return {
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...name === undefined ? {} : { "mcp-name": encodeURI(name) }
  }
}

const reasonOf = (status: number, text: string): string => {
  const said = Option.getOrUndefined(
    Schema.decodeOption(Schema.fromJsonString(Schema.Struct({ message: Schema.String })))(text)
  )
  return `${said?.message ?? "The server does not answer"} (${status})`
}

const failure = (id: string | number, message: string): string =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message } })
