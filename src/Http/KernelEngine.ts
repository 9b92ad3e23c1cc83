/**
 * The engine: a fold over registrations into a description of the whole service and the server that does what it says.
 *
 * **Example** (A service with one model)
 *
 * ```ts check
 * import { NodeRuntime } from "@effect/platform-node"
 * import { Layer, Schema } from "effect"
 * import { EmbeddedStore, KernelEngine, Model } from "appkernel"
 *
 * class Note extends Model.Class<Note>()("Note", { id: Model.id({ prefix: "N" }), text: Schema.String }) {}
 *
 * KernelEngine.make("notes")
 *   .register(Note, { methods: ["GET", "POST"], urlBase: "/api/v1" })
 *   .layer.pipe(Layer.provide(EmbeddedStore.layer), KernelEngine.launch, NodeRuntime.runMain)
 * ```
 *
 * @since 0.1.0
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import type * as HttpServerError from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import { createServer, type IncomingMessage, ServerResponse } from "node:http"
import { problemsOf } from "../Model/internal/issues.ts"
import type * as Model from "../Model/Model.ts"
import type { DocumentStore } from "../Repository/DocumentStore.ts"
import * as Repository from "../Repository/Repository.ts"
import type { StoreError } from "../Repository/RepositoryError.ts"
import { answered, routed, routerConfig } from "./internal/edge.ts"
import { type Route, routesOf } from "./internal/interpreter.ts"
import * as KernelConfig from "./KernelConfig.ts"
import * as Resource from "./Resource.ts"
import * as Translations from "./Translations.ts"

/**
 * Occurs when the service can't start to listen: the port is in use, or the address is not this machine's.
 *
 * @category errors
 * @since 0.1.0
 */
export class ListenFailed extends Schema.TaggedError<ListenFailed>()("ListenFailed", {
  address: Schema.String,
  port: Schema.Int,
  detail: Schema.String
}) {
  override get message(): string {
    return `Can't listen on ${this.address}:${this.port}: ${this.detail}`
  }
}

/**
 * Occurs when two registrations would answer for the same path.
 *
 * @category errors
 * @since 0.1.0
 */
export class RouteConflict extends Schema.TaggedError<RouteConflict>()("RouteConflict", {
  path: Schema.String,
  models: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `The path ${this.path} is registered more than once, for ${this.models.join(" and ")}`
  }
}

/**
 * A service under construction. Every registration gives a new engine, whose type knows all of them.
 *
 * @category models
 * @since 0.1.0
 */
export interface KernelEngine<
  Id extends string,
  Groups extends HttpApiGroup.Constraint,
  Repositories extends Repository.RepositoryOf<string> = never
> {
  /** The description of the whole service: for typed clients, OpenAPI, and whatever else reads an `HttpApi`. */
  readonly api: HttpApi.HttpApi<Id, Groups>
  /** What is registered, in the order of registration. */
  readonly resources: ReadonlyArray<Resource.ResourceInfo>
  /** Exposes a model as a REST resource, read-only unless `methods` says more. */
  readonly register: <
    M extends Model.Any,
    const Methods extends ReadonlyArray<Resource.Method> = readonly ["GET"],
    const UrlBase extends string = ""
  >(
    model: M,
    options?: Resource.RegisterOptions<Methods, UrlBase>
  ) => KernelEngine<
    Id,
    Groups | Resource.Group<M, Methods[number]>,
    Repositories | Repository.RepositoryOf<M["modelName"]>
  >
  /** Serves the resources on the address that the configuration names, with the repositories of their models. */
  readonly layer: Layer.Layer<
    Repositories,
    ListenFailed | RouteConflict | StoreError | Config.ConfigError,
    DocumentStore
  >
  /** Serves the resources on the HTTP server at hand: one on a random port, or one that others share. */
  readonly layerServe: Layer.Layer<
    Repositories,
    RouteConflict | StoreError,
    DocumentStore | HttpServer.HttpServer
  >
}

/**
 * An engine without registrations. `id` names the service.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <const Id extends string>(id: Id): KernelEngine<Id, never> => makeEngine(HttpApi.make(id), [])

/**
 * An HTTP server that listens on the address, for `layerServe`; `engine.layer` is both together.
 *
 * @category layers
 * @since 0.1.0
 */
export function layerServer(
  { address, port }: KernelConfig.ServerAddress
): Layer.Layer<HttpServer.HttpServer, ListenFailed> {
  return Layer.effect(
    HttpServer.HttpServer,
    NodeHttpServer.make(() => createServer({ ServerResponse: Response }), { host: address, port }).pipe(
      Effect.mapError((error) => listenFailed(error, address, port))
    )
  )
}

/**
 * Runs a service until it is told to stop. A failure to start is one clear line in the log and a non-zero exit.
 *
 * @category running
 * @since 0.1.0
 */
export const launch = <A, E, R>(layer: Layer.Layer<A, E, R>): Effect.Effect<never, StartFailed, R> =>
  Layer.launch(layer).pipe(
    Effect.catch((error) => {
      const detail = reasonOf(error)
      return Effect.andThen(Effect.logFatal(detail), Effect.fail(new StartFailed({ detail })))
    })
  )

/**
 * Occurs when a service could not start. The reason is logged already.
 *
 * @category errors
 * @since 0.1.0
 */
export class StartFailed extends Schema.TaggedError<StartFailed>()("StartFailed", { detail: Schema.String }) {
  override readonly [Runtime.errorReported] = false
  override get message(): string {
    return this.detail
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const reasonOf = (error: unknown): string => {
  if (error instanceof Config.ConfigError) {
    const problems = Schema.isSchemaError(error.cause) ? problemsOf(error.cause.issue) : []
    const wrong = problems.map(({ field, message }) => `${field.replaceAll(".", "_")}: ${message}`)
    return `The configuration is wrong: ${wrong.length === 0 ? error.message : wrong.join("; ")}`
  }
  return error instanceof Error ? error.message : String(error)
}

const makeEngine = <
  Id extends string,
  Groups extends HttpApiGroup.Constraint,
  Repositories extends Repository.RepositoryOf<string>
>(
  api: HttpApi.HttpApi<Id, Groups>,
  registrations: ReadonlyArray<Resource.ResourceInfo>
): KernelEngine<Id, Groups, Repositories> => {
  const layerServe = serve(registrations)
  return {
    api,
    resources: registrations,
    layerServe,
    layer: Layer.provide(layerServe, server),
    register: (model, options) => {
      const segment = Resource.segmentOf(model.modelName)
      const methods = [...new Set(options?.methods ?? ["GET" as const])]
      const path = pathOf(options?.urlBase ?? "", segment)
      const group = Resource.group(model, { methods, path, tags: options?.tags ?? [segment] })
      const registration = { model, methods, path, enableHateoas: options?.enableHateoas ?? true }
      // The group and the repository are those that the type of `register` adds.
      return makeEngine(api.add(group), [...registrations, registration]) as never
    }
  }
}

const pathOf = (urlBase: string, segment: string): `/${string}` => {
  const base = urlBase.split("/").filter((part) => part !== "")
  return `/${[...base, segment].join("/")}`
}

const serve = (
  registrations: ReadonlyArray<Resource.ResourceInfo>
): Layer.Layer<
  Repository.RepositoryOf<string>,
  RouteConflict | StoreError,
  DocumentStore | HttpServer.HttpServer
> =>
  Layer.effectContext(Effect.gen(function*() {
    yield* refuseConflicts(registrations)
    const limits = yield* KernelConfig.Limits
    const translations = yield* Translations.Translations
    let repositories = Context.empty() as Context.Context<Repository.RepositoryOf<string>> // filled below
    const routes: Array<Route> = []
    for (const registration of registrations) {
      const { model } = registration
      const repository = yield* Repository.make(model)
      repositories = Context.add(repositories, Repository.key(model), repository)
      routes.push(...routesOf(registration, repository, { limits, translations }))
    }
    const router = yield* Effect.provideService(HttpRouter.make, HttpRouter.RouterConfig, routerConfig)
    yield* router.addAll(
      routes.map(({ handler, method, path, refuse }) => HttpRouter.route(method, path, answered(handler, refuse)))
    )
    yield* HttpServer.serveEffect(routed(router, routes))
    return repositories
  }))

const refuseConflicts = Effect.fnUntraced(function*(registrations: ReadonlyArray<Resource.ResourceInfo>) {
  for (const { model, path } of registrations) {
    // The segment names the resource in the API, and the model its collection.
    const segment = Resource.segmentOf(model.modelName)
    const same = registrations.filter((other) =>
      other.path === path || Resource.segmentOf(other.model.modelName) === segment
    )
    if (same.length > 1) {
      return yield* new RouteConflict({ path, models: same.map(({ model }) => model.modelName) })
    }
  }
})

const server: Layer.Layer<HttpServer.HttpServer, ListenFailed | Config.ConfigError> = Layer.unwrap(
  Effect.map(KernelConfig.serverAddress, layerServer)
)

class Response extends ServerResponse<IncomingMessage> {}

// The length of every answer is counted from its text; for counting it again, Node writes each in two parts.
Object.defineProperty(Response.prototype, "strictContentLength", { get: () => false, set: () => {} })

const listenFailed = ({ cause }: HttpServerError.ServeError, address: string, port: number): ListenFailed => {
  const code: unknown = Reflect.get(Object(cause), "code")
  const detail = code === "EADDRINUSE"
    ? "the port is in use"
    : code === "EACCES"
    ? "not permitted"
    : code === "EADDRNOTAVAIL"
    ? "the address is not one of this machine"
    : `the system says ${String(code)}`
  return new ListenFailed({ address, port, detail })
}
