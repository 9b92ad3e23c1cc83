/** `appkernel mcp`: serves the tools of a service to an assistant on this machine, over its standard input and output. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Cause from "effect/Cause"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as FiberHandle from "effect/FiberHandle"
import { identity } from "effect/Function"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import type * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as KernelServer from "../../Http/KernelServer.ts"
import { Application } from "../../internal/application.ts"
import { findBeside, withStore } from "./engineModule.ts"
import { CommandFailed, reported } from "./output.ts"

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
    // The standard output is for the protocol.
    yield* Effect.sync(() => Object.assign(console, { log: console.error, info: console.error }))
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
          yield* bridged(`${HttpServer.formatAddress(address)}${engine.mcp.path}`)
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

/** Sends each line of the input to the server, and writes what it answers and what it tells of itself, as that comes. */
const bridge = Effect.fnUntraced(function*(
  url: string,
  token: Redacted.Redacted<string> | undefined,
  stdio: Stdio.Stdio
) {
  const client = yield* HttpClient.HttpClient
  const alone = yield* Semaphore.make(1)
  const told = yield* Queue.unbounded<string>()
  /** The line that began the session, and its identifier; the server may forget it. */
  let begun: { readonly line: string; readonly id: string | undefined } | undefined
  /** The lines of the subscriptions of the session, which a new one needs as well. */
  const subscriptions = new Map<string, string>()
  const listening = yield* FiberHandle.make()

  const send = Effect.fnUntraced(function*(method: "GET" | "POST" | "DELETE", line: string, message: Message) {
    const session = begun?.id
    const sent = HttpClientRequest.make(method)(url, {
      headers: {
        accept: method === "GET" ? eventStream : `application/json, ${eventStream}`,
        ...session === undefined || message.method === "initialize" ? {} : { [header]: session },
        ...headersOf(message)
      }
    }).pipe(
      method === "POST" ? HttpClientRequest.bodyText(line, "application/json") : identity,
      token === undefined ? identity : HttpClientRequest.bearerToken(token)
    )
    const response = yield* client.execute(sent)
    if (message.method === "initialize" && response.status === 200) begun = { line, id: response.headers[header] }
    return { session, response, isStream: response.headers["content-type"]?.startsWith(eventStream) === true }
  })

  /** Writes what the server tells in a session without being asked. Not every server does. */
  const listen: Effect.Effect<void> = Effect.gen(function*() {
    const { isStream, response } = yield* send("GET", "", {})
    if (hasNoStream.has(response.status)) return false
    if (isStream) yield* Stream.runForEach(messagesIn(response), (line) => Queue.offer(told, line))
    return true
  }).pipe(
    Effect.orElseSucceed(() => true),
    Effect.repeat({ schedule: Schedule.spaced("1 second"), while: (isOn: boolean) => isOn }),
    Effect.asVoid
  )

  /** Begins the session again, unless somebody else has done so. */
  const renewed = (session: string) =>
    alone.withPermit(Effect.suspend(() =>
      begun === undefined || begun.id !== session
        ? Effect.void
        : send("POST", begun.line, { method: "initialize" }).pipe(
          Effect.andThen(send("POST", initialized, { method: "notifications/initialized" })),
          Effect.andThen(Effect.forEach(
            subscriptions.values(),
            (one) => send("POST", one, { method: "resources/subscribe" })
          )),
          Effect.andThen(FiberHandle.run(listening, listen))
        )
    ))

  const answered = Effect.fnUntraced(function*(line: string) {
    const message = Option.getOrElse(messageIn(line), (): Message => ({}))
    const first = yield* send("POST", line, message)
    const { isStream, response } = first.response.status === 404 && first.session !== undefined
      ? yield* Effect.andThen(renewed(first.session), send("POST", line, message))
      : first
    if (message.method === "notifications/initialized" && begun?.id !== undefined) {
      yield* FiberHandle.run(listening, listen)
    }
    const uri = message.params?.uri
    if (message.method === "resources/subscribe" && uri !== undefined) subscriptions.set(uri, line)
    if (message.method === "resources/unsubscribe" && uri !== undefined) subscriptions.delete(uri)
    const text = isStream ? "" : yield* response.text
    let isAnswered = message.id === undefined || message.method === undefined
    return (isStream ? messagesIn(response) : Stream.fromIterable([inOneLine(text.trim())].filter(isJsonRpc))).pipe(
      Stream.tap((answer) =>
        Effect.sync(() => {
          const isAnswer = Option.exists(
            messageIn(answer),
            ({ id, method }) => method === undefined && id === message.id
          )
          isAnswered ||= isAnswer || answer.startsWith("[")
        })
      ),
      Stream.concat(
        Stream.suspend(() =>
          isAnswered ? Stream.empty : Stream.make(failure(message.id ?? null, reasonOf(response.status, text)))
        )
      )
    )
  })

  /** Sends a line. The effect ends as soon as the server begins to answer. */
  const sent = (line: string): Effect.Effect<Stream.Stream<string>> => {
    if (Option.isNone(json(line))) return Effect.succeed(Stream.make(failure(null, "This is no JSON", -32700)))
    const failed = (cause: Cause.Cause<unknown>) =>
      Option.match(messageIn(line), {
        onNone: () => Stream.empty,
        onSome: ({ id, method }) =>
          id === undefined || method === undefined
            ? Stream.empty
            : Stream.make(failure(id, reasonIn(Cause.squash(cause))))
      })
    return Effect.matchCause(answered(line), {
      onFailure: failed,
      onSuccess: (answers) => Stream.catchCause(answers, failed)
    })
  }

  const answers = stdio.stdin.pipe(
    Stream.decodeText,
    Stream.splitLines,
    Stream.filter((line) => line.trim() !== ""),
    // What follows the beginning of a session is of it.
    Stream.mapEffect((line) => begins(line) ? sent(line) : Effect.succeed(Stream.unwrap(sent(line)))),
    Stream.flatten({ concurrency: "unbounded" })
  )
  yield* Stream.merge(answers, Stream.fromQueue(told), { haltStrategy: "left" }).pipe(
    Stream.map((line) => `${line}\n`),
    Stream.run(stdio.stdout())
  )
  if (begun?.id !== undefined) yield* Effect.ignore(send("DELETE", "", {}))
}, Effect.scoped)

const eventStream = "text/event-stream"

/** What a server answers that has no stream, or none for the caller, or no longer the session. */
const hasNoStream: ReadonlySet<number> = new Set([401, 403, 404, 405])

const header = "mcp-session-id"

const initialized = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })

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

const json = Schema.decodeOption(Schema.fromJsonString(Schema.Unknown))

const messageIn = Schema.decodeOption(Schema.fromJsonString(Message))

const begins = (line: string): boolean =>
  Option.exists(messageIn(line), ({ method }) => method === "initialize" || method === "notifications/initialized")

/** A line is a message. JSON may have breaks between its parts. */
const inOneLine = (text: string): string => text.replaceAll(/[\r\n]+/gu, " ")

const isJsonRpc = (text: string): boolean => text.includes("\"jsonrpc\"") && Option.isSome(json(text))

/** The messages of a stream of events, as they come. */
const messagesIn = ({ stream }: HttpClientResponse.HttpClientResponse): Stream.Stream<string, unknown> =>
  stream.pipe(
    Stream.decodeText,
    Stream.pipeThroughChannelOrFail(Sse.decode()),
    Stream.map(({ data }) => inOneLine(data)),
    Stream.filter(isJsonRpc)
  )

/** What the revision without sessions repeats of a message in headers. */
const headersOf = ({ method, params }: Message): { readonly [name: string]: string } => {
  const version = params?._meta?.["io.modelcontextprotocol/protocolVersion"]
  if (!Predicate.isString(version) || method === undefined) return {}
  const name = method === "resources/read" ? params?.uri : params?.name
  return {
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...name === undefined || !named.has(method) ? {} : { "mcp-name": headerOf(name) }
  }
}

const named: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"])

/** A text that no header can have is sent in base64, between marks. */
const headerOf = (text: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/u.test(text)
    ? text
    : `=?base64?${Buffer.from(text).toString("base64")}?=`

const reasonOf = (status: number, text: string): string => {
  const said = Option.getOrUndefined(
    Schema.decodeOption(Schema.fromJsonString(Schema.Struct({ message: Schema.String })))(text)
  )
  return `${said?.message ?? "The server does not answer"} (${status})`
}

const reasonIn = (error: unknown): string => Predicate.isError(error) ? error.message : String(error)

const failure = (id: string | number | null, message: string, code = -32000): string =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } })
