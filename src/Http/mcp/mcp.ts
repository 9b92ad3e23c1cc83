/**
 * Serves the operations of registrations as tools of the Model Context Protocol, and documents as its resources. A tool asks the
 * route of its operation in the name of who calls it, so it gets what REST answers that caller, and leaves the same traces.
 *
 * `effect/ai/McpServer` is the protocol: its revisions of 2025-06-18, 2025-11-25 and 2026-07-28, by streamable HTTP. That of
 * 2025-03-26 has batches, of which one request could have any number of calls.
 */
import { getOrMake } from "@appkernel/document-store/internal"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as McpSchema from "effect/ai/McpSchema"
import * as McpServer from "effect/ai/McpServer"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { CurrentUser } from "../../Security/CurrentUser.ts"
import { shapeOf } from "../description/pathShape.ts"
import type { Limits } from "../KernelConfig.ts"
import type * as OpenApi from "../OpenApi.ts"
import { type Node, nodeOf } from "../openapi/node.ts"
import { bodyTooLarge } from "../request/body.ts"
import { innerRequest } from "../request/innerRequest.ts"
import type { ResponseEffect } from "../response/handlerFailures.ts"
import type { Responding, Route, Routed } from "../routes/route.ts"
import { routerConfig } from "../routes/routing.ts"
import type { McpAt } from "./options.ts"
import { withSessions } from "./sessions.ts"
import { type Following, followingDocuments, type FollowingOf, updated } from "./subscriptions.ts"
import { asking, resultOf } from "./toolCalls.ts"
import { type Tool, toolsNamed, toolsOf } from "./tools.ts"

/** What the server is made of. */
export interface Parts<R extends Route> {
  readonly options: McpAt
  /** The name of the service. */
  readonly name: string
  readonly document: OpenApi.Document
  readonly routes: ReadonlyArray<R>
  /** How a route answers, in its stages. */
  readonly respondingOf: (route: R) => Responding
  /** Whether the caller of a request may use a route, or may do so for some documents. */
  readonly mayAsk: (route: R) => Effect.Effect<boolean, never, HttpServerRequest.HttpServerRequest>
  readonly limits: Pick<Limits, "maxBodySize" | "maxFields">
  /** Whether a page of an origin may ask a host. */
  readonly mayAskFrom: (origin: string, host: string) => boolean
  /** What handlers of a program's own tools have: the repositories of its models. */
  readonly services: Context.Context<never>
}

/** Fails with a sentence if `expose` names what is not there. */
export const makeMcp = Effect.fnUntraced(function*<R extends Route>(parts: Parts<R>): Effect.fn.Return<
  { readonly handler: ResponseEffect; readonly end: Effect.Effect<void> },
  string,
  Scope.Scope
> {
  const { document, limits: { maxBodySize }, mayAskFrom, name, options, services } = parts
  const { instructions, path } = options
  const tools = yield* openTools(parts)
  // The protocol calls tools by fibers of its own, which have the request, and not what its route knows.
  const contexts = new WeakMap<object, RequestContext>()
  const within = Effect.withFiber<RequestContext>((fiber) => {
    const { source } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const context = contexts.get(source)
    return context === undefined ? Effect.die(new Error("a tool is called without a request")) : Effect.succeed(context)
  })
  // A call is refused by its route, which the audit log tells.
  const isVisible = ({ mayAsk, scopes }: OpenTool, isListed: boolean) =>
    Effect.flatMap(within, (context) =>
      !hasScope(Context.getOrUndefined(context, CurrentUser), scopes)
        ? Effect.succeed(false)
        : isListed
        ? Effect.provideContext(mayAsk, context)
        : Effect.succeed(true))
  const router = yield* Effect.provideService(HttpRouter.make, HttpRouter.RouterConfig, routerConfig)
  const own = yield* ownRegistrations(options, within, new Set(tools.map(({ tool }) => tool.name)))
  const registrations = Layer.mergeAll(
    // Each has its own check: the protocol finds a document by other spellings of its address, too.
    Layer.effectDiscard(Effect.forEach(tools, (one) =>
      Effect.provide(
        register(one, within),
        McpServer.visibility(({ method }) => isVisible(one, method.endsWith("/list"))).layer
      ))),
    own.layer
  )
  const server = McpServer.layerHttp({
    name,
    version: document.info.version,
    instructions,
    path,
    protocols: [McpProtocol.v2026_07_28, McpProtocol.v2025_11_25, McpProtocol.v2025_06_18],
    allowSessionTermination: true,
    allowSubscriptions: false,
    registrations
  })
  // It has no protocol twice.
  yield* Effect.orDie(Layer.build(Layer.provide(server, Layer.succeed(HttpRouter.HttpRouter, router)))).pipe(
    Effect.provideContext(services)
  )
  const [taken] = own.taken
  if (taken !== undefined) return yield* Effect.fail(`enableMcp has two tools of the name ${taken}`)
  // Its routes have no failures, and their path is that of the request.
  // @effect-diagnostics-next-line anyUnknownInErrorContext:off unsafeEffectTypeAssertion:off
  const protocol = router.asHttpEffect() as Routed
  /** Why a session can't read a resource of the program's, which may hide it from some. */
  const unreadable = Effect.fnUntraced(function*(uri: string) {
    const context = yield* Effect.context<HttpServerRequest.HttpServerRequest>()
    const outer = Context.get(context, HttpServerRequest.HttpServerRequest)
    const { "mcp-session-id": session = "" } = outer.headers
    const request = innerRequest(outer, {
      method: "POST",
      url: path,
      headers: { accept: "application/json, text/event-stream", "mcp-session-id": session },
      body: Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 0, method: "resources/read", params: { uri } })),
      tool: "resources/read"
    })
    // It is one of a route, which has a scope.
    contexts.set(request.source, Context.add(context, HttpServerRequest.HttpServerRequest, request) as RequestContext)
    const response = yield* Effect.scoped(
      Effect.provideService(protocol, HttpServerRequest.HttpServerRequest, request)
    )
    const text = yield* Effect.orDie(
      Stream.mkString(Stream.decodeText(HttpServerResponse.toClientResponse(response).stream))
    )
    // In a text of a resource, quotes are escaped.
    return text.includes("\"error\":{") ? `${uri} can't be followed` : undefined
  })
  const followingOf: FollowingOf = (uri) => {
    const one = tools.find(({ documents }) =>
      documents !== undefined && (uri === documents.schema || uri.startsWith(documents.at))
    )
    if (one === undefined) return options.registrations && { problem: unreadable(uri), follow: own.follow(uri) }
    const id = decoded(uri.slice(one.documents?.at.length))
    const following = uri === one.documents?.schema || id === undefined ? undefined : one.followingOf?.(id)
    return following && {
      // A session may have had another token when it subscribed.
      follow: (tell) =>
        Effect.flatMap(
          Effect.context<HttpServerRequest.HttpServerRequest>(),
          (context) =>
            hasScope(Context.getOrUndefined(context, CurrentUser), one.scopes) ? following.follow(tell) : Effect.void
        ),
      problem: Effect.gen(function*() {
        // That of a request, which has a scope.
        const context = (yield* Effect.context<HttpServerRequest.HttpServerRequest>()) as RequestContext
        if (!hasScope(Context.getOrUndefined(context, CurrentUser), one.scopes)) return `There is no ${uri}`
        const { content: [first], isError } = yield* one.result(context, { id })
        return isError === true && first?.type === "text" ? first.text : yield* following.problem
      })
    }
  }
  const canFollow = options.registrations !== undefined || tools.some(({ followingOf }) => followingOf !== undefined)
  const { answered, end } = withSessions(path, protocol, canFollow ? followingOf : undefined)
  const handler: ResponseEffect = Effect.withFiber((fiber) => {
    // Routes are served with the request and its scope.
    const context = fiber.context as RequestContext
    const request = Context.get(context, HttpServerRequest.HttpServerRequest)
    const { host = "", origin, ...headers } = request.headers
    if (origin !== undefined && !mayAskFrom(origin, host)) return forbidden
    if (Number(headers["content-length"]) > maxBodySize) return Effect.fail(bodyTooLarge(maxBodySize))
    contexts.set(request.source, context)
    const checked = request.modify({ headers: Headers.fromInput({ ...headers, host }) })
    return Effect.provideContext(answered, Context.add(context, HttpServerRequest.HttpServerRequest, checked))
  })
  return { handler, end }
})

// internal

/** A page could act for its visitor otherwise, and reach what is on the visitor's machine. */
const forbidden = Effect.succeed(HttpServerResponse.empty({ status: 403 }))

type RequestContext = Context.Context<HttpServerRequest.HttpServerRequest | Scope.Scope>

/** What a handler gets that has to find out for itself whether there is somebody. */
const nobody = Context.empty() as Context.Context<CurrentUser>

/** `undefined` if it is none that a template makes. */
const decoded = (text: string): string | undefined => Result.getOrUndefined(Result.try(() => decodeURIComponent(text)))

/** What a program adds to the server, with who calls. Its resources are followed by what it says of them itself. */
const ownRegistrations = Effect.fnUntraced(function*(
  { registrations }: McpAt,
  within: Effect.Effect<RequestContext>,
  /** The names of the tools that are exposed. */
  exposed: ReadonlySet<string>
) {
  const taken: Array<string> = []
  const changed = yield* PubSub.unbounded<string>()
  const known = McpServer.middleware<{ provides: CurrentUser }>()((call) =>
    Effect.flatMap(within, (context) => {
      const user = Context.getOrUndefined(context, CurrentUser)
      // A service without access control has nobody. Where somebody is needed, the types ask the program for them.
      return Effect.provideContext(call, user === undefined ? nobody : Context.make(CurrentUser, user))
    })
  )
  const telling = Layer.effect(
    McpServer.McpServer,
    Effect.map(McpServer.McpServer, (server) => ({
      ...server,
      addTool: (options) => {
        if (exposed.has(options.tool.name)) taken.push(options.tool.name)
        return server.addTool(options)
      },
      notifications: {
        ...server.notifications,
        [updated]: (payload) =>
          Effect.andThen(PubSub.publish(changed, payload.uri), server.notifications[updated](payload))
      }
    }))
  )
  return {
    /** Names of tools that are exposed as well. */
    taken,
    layer: registrations === undefined
      ? Layer.empty
      // `enableMcp` makes what it needs besides needs of the engine.
      // @effect-diagnostics-next-line anyUnknownInErrorContext:off unsafeEffectTypeAssertion:off
      : (registrations as Layer.Layer<never, never, McpServer.McpServer>).pipe(
        Layer.provide(known.layer),
        Layer.provide(telling)
      ),
    follow: (uri: string): Following["follow"] => (tell) =>
      Effect.andThen(
        tell,
        Stream.runForEach(Stream.filter(Stream.fromPubSub(changed), (one) => one === uri), () => tell)
      )
  }
})

/** A tool with its route. */
interface OpenTool {
  readonly tool: Tool
  /** One of them is needed; none if there are no scopes. */
  readonly scopes: ReadonlyArray<string>
  readonly mayAsk: Effect.Effect<boolean, never, HttpServerRequest.HttpServerRequest>
  readonly result: (context: RequestContext, given: Node) => Effect.Effect<McpSchema.CallToolResult>
  /** Where its documents are, if it gets one by its identifier. */
  readonly documents: ReturnType<typeof documentsOf> | undefined
  /** How its documents are followed, if their changes are recorded. */
  readonly followingOf: ((id: string) => Following) | undefined
}

/** 256 KiB: more does not fit into the context of most models. */
const defaultSize = 262_144

/** The tools that are exposed, with their routes. */
const openTools = Effect.fnUntraced(function*<R extends Route>({
  document,
  limits: { maxFields },
  mayAsk,
  options: { expose, maxResultSize = defaultSize },
  respondingOf,
  routes
}: Parts<R>) {
  const all = toolsOf(document)
  const byScope = Array.isArray(expose) ? [[undefined, expose] as const] : Object.entries(expose)
  const scopes = new Map<Tool, Array<string>>()
  for (const [scope, names] of byScope) {
    for (const name of names) {
      const tools = toolsNamed(all, name)
      if (tools.length === 0) {
        return yield* Effect.fail(
          `enableMcp exposes ${name}, which is neither a registration nor an operation with JSON`
        )
      }
      for (const tool of tools) getOrMake(scopes, tool, () => []).push(...scope === undefined ? [] : [scope])
    }
  }
  const names = Map.groupBy(scopes.keys(), ({ name }) => name)
  const twice = Array.from(names.values()).find((tools) => tools.length > 1)
  if (twice !== undefined) {
    return yield* Effect.fail(`enableMcp exposes ${twice.map(({ id }) => id).join(" and ")}, which have one name`)
  }
  return yield* Effect.forEach(scopes, ([tool, scopes]) =>
    Effect.gen(function*() {
      const route = routes.find(({ method, path }) => method === tool.method && shapeOf(path) === shapeOf(tool.path))
      if (route === undefined) return yield* Effect.fail(`enableMcp exposes ${tool.id}, which has no route`)
      const ask = yield* asking(tool, route, respondingOf(route), { maxFields, maxResultSize })
      const [first, ...others] = tool.arguments.filter(({ place }) => place === "path")
      const isOfDocument = tool.id.endsWith(".get") && others.length === 0 && first?.parameter === "id"
      const documents = isOfDocument ? documentsOf(tool.id.slice(0, -".get".length)) : undefined
      const stream = documents &&
        routes.find(({ isStream, path }) => isStream === true && path === route.path.replace(/[^/]*$/u, "changes"))
      return {
        tool,
        scopes,
        mayAsk: mayAsk(route),
        result: (context: RequestContext, given: Node) =>
          Effect.map(ask(context, given), (answer) => resultOf(tool, answer, maxResultSize)),
        documents,
        followingOf: stream && (yield* followingDocuments(stream, respondingOf(stream)))
      } satisfies OpenTool
    }))
})

const scheme = "appkernel://"

/** Where the documents of a registration are as resources, and their schema. */
const documentsOf = (registration: string) => ({
  at: `${scheme}${registration}/`,
  schema: `${scheme}schemas/${registration}`
})

const register = Effect.fnUntraced(function*(
  { documents, result, tool }: OpenTool,
  within: Effect.Effect<RequestContext>
) {
  const { description, inputSchema, isIdempotent, isReading, name, outputSchema, title } = tool
  const annotations = Context.empty()
  const server = yield* McpServer.McpServer
  // The protocol finds in them who may see what is registered.
  const services = yield* Effect.context<never>()
  yield* server.addTool({
    tool: new McpSchema.Tool({
      name,
      title,
      description,
      inputSchema,
      outputSchema,
      annotations: {
        title,
        readOnlyHint: isReading,
        destructiveHint: !isReading,
        idempotentHint: isReading || isIdempotent,
        openWorldHint: false
      }
    }),
    annotations,
    services,
    handle: (given: unknown) => Effect.flatMap(within, (context) => result(context, nodeOf(given)))
  })
  if (documents === undefined) return
  yield* server.addResourceTemplate({
    template: new McpSchema.ResourceTemplate({
      uriTemplate: `${documents.at}{id}`,
      name: tool.id,
      title,
      description,
      mimeType
    }),
    annotations,
    services,
    // A colon begins a parameter.
    routerPath: `${documents.at.replace(":", "::")}:0`,
    completions: {},
    handle: (uri, [id]) =>
      Effect.flatMap(within, (context) => result(context, { id })).pipe(
        Effect.flatMap(({ content: [first], isError }) => {
          const text = first?.type === "text" ? first.text : ""
          return isError === true
            ? Effect.fail(new McpSchema.InvalidParams({ message: text }))
            : Effect.succeed({ contents: [{ uri, mimeType, text }] })
        })
      )
  })
  const uri = documents.schema
  yield* server.addResource({
    resource: new McpSchema.Resource({ uri, name: uri.slice(scheme.length), mimeType }),
    annotations,
    services,
    handle: Effect.succeed({ contents: [{ uri, mimeType, text: JSON.stringify(outputSchema) }] })
  })
})

const mimeType = "application/json"

/** Whether the token of a user has one of the scopes, if there are any. */
const hasScope = (user: CurrentUser["Service"] | undefined, scopes: ReadonlyArray<string>): boolean => {
  if (scopes.length === 0) return true
  const { scope, scp = scope } = user?.claims ?? {}
  const own = typeof scp === "string" ? scp.split(" ") : Array.isArray(scp) ? scp : []
  return scopes.some((one) => own.includes(one))
}
