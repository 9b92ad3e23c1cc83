/**
 * The engine builds the description of a service and its server from registrations.
 *
 * **Example** (A service with one model)
 *
 * ```ts check
 * import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
 * import { Layer, Schema } from "effect"
 * import { EmbeddedStore, KernelEngine, Model } from "appkernel"
 *
 * class Note extends Model.Class<Note>()("Note", { id: Model.id({ prefix: "N" }), text: Schema.String }) {}
 *
 * const engine = KernelEngine.make("notes").register(Note, { methods: ["GET", "POST"], urlBase: "/api/v1" })
 *
 * engine.layer.pipe(Layer.provide(EmbeddedStore.layer), engine.launch, NodeRuntime.runMain)
 * ```
 *
 * @since 0.1.0
 */
import type * as McpServer from "effect/ai/McpServer"
import type * as Config from "effect/Config"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import type * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import type { Described, HttpClientFactory } from "../Client/HttpClientFactory.ts"
import type * as Job from "../Jobs/Job.ts"
import type * as Webhooks from "../Jobs/Webhooks.ts"
import type * as Model from "../Model/Model.ts"
import type { DocumentStore } from "../Repository/DocumentStore.ts"
import type { Migration, MigrationFailed, MigrationsMissing } from "../Repository/Migration.ts"
import type * as Repository from "../Repository/Repository.ts"
import type { StoreError } from "../Repository/RepositoryError.ts"
import type { Accounts } from "../Security/Accounts.ts"
import type { ApiKeys } from "../Security/ApiKeys.ts"
import type { CurrentUser } from "../Security/CurrentUser.ts"
import type { Jwt } from "../Security/Jwt.ts"
import type * as AccessPolicy from "./AccessPolicy.ts"
import { atPath, type ExplorerOptions as AnyExplorerOptions } from "./explorer/options.ts"
import type * as Guard from "./Guard.ts"
import * as KernelApi from "./KernelApi.ts"
import * as KernelServer from "./KernelServer.ts"
import { type McpOptions as AnyMcpOptions, withPath } from "./mcp/options.ts"
import type * as OpenApi from "./OpenApi.ts"
import type { RateLimits } from "./RateLimits.ts"
import * as Registration from "./registration/registration.ts"
import type { SegmentOf } from "./registration/segment.ts"
import * as Resource from "./Resource.ts"
import * as KernelLogger from "./server/kernelLogger.ts"
import { readyLast } from "./server/readiness.ts"
import * as Service from "./Service.ts"
import { announced, warnOfUnread } from "./startup/announcement.ts"
import { checkRegistrations, serveAlone } from "./startup/checks.ts"
import type { Complete } from "./startup/completeness.ts"
import type { CredentialsUnprovided } from "./startup/credentialsUnprovided.ts"
import type * as Documentation from "./startup/documentation.ts"
import { type EngineParts, openApiOf, policyOf, servicePartsOf } from "./startup/engineParts.ts"
import { launchWith, type Options, type StartFailed } from "./startup/launch.ts"
import { requireNode } from "./startup/nodeVersion.ts"
import type { RegistrationInvalid } from "./startup/registrationInvalid.ts"
import type { RouteConflict } from "./startup/routeConflict.ts"
import type { StagesInForce } from "./startup/stagesInForce.ts"
import { type TestService, testWith } from "./startup/test.ts"
import type { TranslationsInvalid } from "./Translations.ts"

/**
 * A service under construction. Every registration returns a new engine whose type includes it: `Groups` describes the
 * endpoints, `Repositories` are those of the registered models, and `Requirements` are the services that handlers and
 * hooks need.
 *
 * @category models
 * @since 0.1.0
 */
export interface KernelEngine<
  Id extends string,
  Groups extends HttpApiGroup.Constraint,
  Repositories extends Repository.RepositoryOf<string> = never,
  Requirements = never,
  Guards extends Guard.Guard = never
> {
  /** How `HttpClientFactory.typed` makes a client. */
  readonly "~appkernel/Described": Described<KernelApi.ClientOf<Guard.Guarded<Groups, Guards>>>["~appkernel/Described"]
  /** The description of the complete service: for typed clients, OpenAPI, and any other consumer of an `HttpApi`. */
  readonly api: HttpApi.HttpApi<Id, Guard.Guarded<Groups, Guards>>
  /** The registrations, in order. */
  readonly registrations: ReadonlyArray<Registration.Registration>
  /** Who may call what, for which documents, and with which of their fields. */
  readonly policy: AccessPolicy.AccessPolicy
  /**
   * Exposes a model, a resource or a service, or does jobs or workflows. A model is read-only unless `methods` adds more. Jobs are done
   * while the service runs: when it stops, those that run have the time of `server.shutdown_timeout`, and then another process does them.
   * A workflow is what its `toLayer` returns, and the service then needs `Workflows.layer`.
   */
  readonly register: <
    T extends Registration.Target,
    const Methods extends ReadonlyArray<Resource.Method> = readonly ["GET"],
    const Name extends string = SegmentOf<T>,
    const Form extends number = never,
    const Many extends Resource.Endpoint.ManyMethod = never
  >(
    target: T,
    options?: Registration.OptionsFor<T, Methods, Name, Form, Many>
  ) => KernelEngine<
    Id,
    Groups | Registration.GroupOf<Registration.Formed<T, Form>, Methods[number], Name, Many>,
    Repositories | Registration.RepositoriesOf<T>,
    Requirements | Registration.RequirementsOf<T>,
    Guards
  >
  /**
   * Runs an effect at the times of a cron expression (minutes, hours, days, months, weekdays): once for each time, whichever
   * process of the service does it. A run is a job, with what holds for jobs: it is done at least once, and tried again after a
   * failure. The function form has the time that the run is for.
   */
  readonly enableCron: <E, R>(
    name: string,
    expression: string,
    effect: Effect.Effect<unknown, E, R> | ((due: DateTime.Utc) => Effect.Effect<unknown, E, R>),
    options?: Job.CronOptions
  ) => KernelEngine<Id, Groups, Repositories, Requirements | R, Guards>
  /**
   * Tells subscribers what happens to documents: `{ "order.created": Orders }`. The end of a type says what it is of: `created`,
   * `updated` or `deleted`. The models need the option `logged`, and to be registered with `GET`; with security the service
   * needs `Accounts`. Who is told what are documents of `Webhooks.Subscription`.
   */
  readonly enableWebhooks: (
    events: KernelEngine.WebhookEvents,
    options?: Webhooks.Options
  ) => KernelEngine<Id, Groups, Repositories, Requirements, Guards>
  /**
   * Enables security: every request is checked by the rules of its registration, and a registration without a rule denies
   * everything. Callers prove who they are by the credentials whose layers are provided: `Jwt.layer` for bearer tokens,
   * `Accounts` for HTTP basic, `ApiKeys` for API keys.
   */
  readonly enableSecurity: (
    options?: KernelEngine.SecurityOptions
  ) => KernelEngine<Id, Groups, Repositories, Requirements, Guards | "security">
  /**
   * Serves the OpenAPI document of all registrations at `/openapi.json` and, unless `includeDocs` is false, two pages
   * to read it and try it out at `/docs` and `/redoc`.
   */
  readonly enableOpenApi: (
    options: OpenApi.Options & Documentation.Options
  ) => KernelEngine<Id, Groups, Repositories, Requirements, Guards>
  /**
   * Serves registrations to assistants by the Model Context Protocol, at `/mcp`: each endpoint, action and operation that `expose`
   * names is a tool, which does and shows what the caller may.
   */
  readonly enableMcp: <R = never>(
    options: KernelEngine.McpOptions<Exposable<Groups>, R>
  ) => KernelEngine<
    Id,
    Groups,
    Repositories,
    | Requirements
    | Exclude<
      McpServer.McpRequest.Without<R> | McpServer.McpRequest.Only<"Requires", R>,
      McpServer.McpServer
    >,
    Guards
  >
  /**
   * Serves a page for the people who own the data, at `/explorer`: lists, forms, files, histories and actions of the registered
   * models, as far as whoever signs in may see and do them. It needs no configuration, and no other server.
   */
  readonly enableExplorer: (
    options?: KernelEngine.ExplorerOptions
  ) => KernelEngine<Id, Groups, Repositories, Requirements, Guards>
  /** Limits how often the service may be called, see `RateLimits`. Every endpoint can answer with `TooManyRequests`. */
  readonly enableRateLimits: (
    limits?: RateLimits
  ) => KernelEngine<Id, Groups, Repositories, Requirements, Guards | "rateLimits">
  /**
   * Adds layers of `HttpRouter`: global middleware, and routes that are open to everybody. Bodies of any kind need none: see `Raw`.
   */
  readonly use: <R>(
    addition: Layer.Layer<never, never, R>
  ) => KernelEngine<
    Id,
    Groups,
    Repositories,
    Requirements | HttpRouter.Request.Without<R> | HttpRouter.Request.Only<"Requires", R>,
    Guards
  >
  /**
   * Names the migrations of the store, in their order. `npx appkernel migrate` runs them, and `migrations.on_start` says what
   * a start does while some have not run; a test ignores them.
   */
  readonly useMigrations: (
    migrations: ReadonlyArray<Migration>
  ) => KernelEngine<Id, Groups, Repositories, Requirements, Guards>
  /** The migrations, in order. */
  readonly migrations: ReadonlyArray<Migration>
  /** The options of `enableOpenApi`; `undefined` if the service has no document. */
  readonly openApi: OpenApi.Options & Documentation.Options | undefined
  /** The options of `enableMcp`; `undefined` if the service has no MCP server. */
  readonly mcp: KernelEngine.McpOptions | undefined
  /**
   * The OpenAPI document that the service serves with the configuration and the credentials that are provided, to everybody;
   * `undefined` without `enableOpenApi`. Without credentials, `enableOpenApi` has to name the `securitySchemes`.
   */
  readonly document: Effect.Effect<OpenApi.Document | undefined, Config.ConfigError | CredentialsUnprovided>
  /** What requests meet, by the configuration that is provided. @internal */
  readonly "~appkernel/Stages": Effect.Effect<StagesInForce, StartFailure>
  /** Serves the resources on the configured address, with the repositories of their models and the server that listens. */
  readonly layer: Layer.Layer<
    Repositories | HttpServer.HttpServer,
    KernelServer.ListenFailed | StartFailure,
    DocumentStore | KernelEngine.Needed<Requirements, Repositories, Guards>
  >
  /**
   * Runs a service until it is stopped, with the configuration next to the start script, or where the options of `make`
   * say, and with its log. It takes the layer of the complete service, for `NodeRuntime.runMain`. A failure to start is one
   * line in the log and a non-zero exit code.
   */
  readonly launch: <A, E, R>(
    layer: Layer.Layer<A, E, R> & KernelEngine.WithLayers<R>
  ) => Effect.Effect<never, StartFailed, R>
  /**
   * Serves the resources on the HTTP server that is provided, which serves no other engine: `KernelServer.layerWith`, or one of
   * Node's. Of the log it has the warnings of registrations alone: not where the documents and endpoints are, nor what was found
   * in the store, and no line for a request. `layer` has these, and the configured server.
   */
  readonly layerServe: Layer.Layer<
    Repositories,
    StartFailure,
    DocumentStore | HttpServer.HttpServer | KernelEngine.Needed<Requirements, Repositories, Guards>
  >
  /**
   * Runs the service for a test, until the scope closes: the real server on a random port of this machine. `store` is a
   * layer of its store, by default an empty one in memory. What that layer provides besides the store is for the
   * handlers; the other services that they need are taken from the context.
   */
  readonly test: <E = never, R = never, Provided = never>(
    options?: KernelEngine.TestOptions<E, R, Provided>
  ) => Effect.Effect<
    KernelEngine.Test<Groups, Guards>,
    KernelServer.ListenFailed | StartFailure | E,
    Scope.Scope | R | Exclude<KernelEngine.Needed<Requirements, Repositories, Guards>, Provided>
  >
}

/**
 * Types of {@link KernelEngine}.
 *
 * @category models
 * @since 0.1.0
 */
export declare namespace KernelEngine {
  /** The options of `enableSecurity`. */
  export interface SecurityOptions {
    /** The roles that a role includes: `{ admin: ["support", "buyer"] }`. What it includes may include others. */
    readonly roles?: { readonly [role: string]: ReadonlyArray<string> } | undefined
  }

  /** The events of `enableWebhooks`, by their types. */
  export interface WebhookEvents {
    readonly [type: `${string}.${"created" | "updated" | "deleted"}`]: Model.Any | Resource.Any
  }

  /** The options of `enableMcp`. */
  export interface McpOptions<Exposed extends string = string, R = unknown> extends AnyMcpOptions<Exposed, R> {}

  /** The options of `enableExplorer`. */
  export interface ExplorerOptions extends AnyExplorerOptions {}

  /** The options of `engine.test`. */
  export interface TestOptions<E, R, Provided> {
    /** A layer of the store and of any services that handlers need. Defaults to an empty store in memory. */
    readonly store?: Layer.Layer<DocumentStore | Provided, E, R> | undefined
  }

  /** A service that runs for a test. */
  export interface Test<Groups extends HttpApiGroup.Constraint, Guards extends Guard.Guard = never>
    extends TestService<Groups, Guards>
  {}

  /**
   * The services that have to be provided to an engine for its handlers: not the repositories of its models, its store,
   * or the services of each request.
   */
  export type Needed<Requirements, Repositories, Guards = never> = Exclude<
    Requirements,
    | Repositories
    | DocumentStore
    | HttpRouter.HttpRouter
    | HttpRouter.Provided
    | ("security" extends Guards ? CurrentUser : never)
  >

  /** What `launch` takes: in the place of a layer that lacks another stands a message, which no layer is. */
  export type WithLayers<R> = DocumentStore extends R
    ? "No layer provides the store: Layer.provide(EmbeddedStore.layer), or MongoStore.layer"
    : Jwt extends R ? "No layer provides Jwt: Layer.provide(Jwt.layer)"
    : Accounts extends R ? "No layer provides Accounts: Layer.provide(Accounts.fromModel(…))"
    : ApiKeys extends R ? "No layer provides ApiKeys: Layer.provide(ApiKeys.layer)"
    : HttpClientFactory extends R ? "No layer provides HttpClientFactory: Layer.provide(HttpClientFactory.layer)"
    : unknown
}

/**
 * The reasons why the registrations of an engine can't be served.
 *
 * @category errors
 * @since 0.1.0
 */
export type StartFailure =
  | CredentialsUnprovided
  | MigrationFailed
  | MigrationsMissing
  | RegistrationInvalid
  | RouteConflict
  | TranslationsInvalid
  | StoreError
  | Config.ConfigError

/**
 * Makes an engine without registrations. `id` names the service; `options` configure how `engine.launch` finds its
 * configuration, and how it logs.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <const Id extends string>(
  id: Id,
  options: Options = {}
): KernelEngine<Id, never> =>
  // `Parts` does not say which registrations the api has.
  makeEngine({ ...nothing, options, api: KernelApi.make(id) as never })

/**
 * Makes the engine of a description: `implementations` has one for each description with actions or operations, in any
 * order, and may have one for each other.
 *
 * **Example** (A description and its server)
 *
 * ```ts check
 * import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
 * import { Effect, Layer, Schema } from "effect"
 * import { EmbeddedStore, KernelApi, KernelEngine, Model, Resource } from "appkernel"
 *
 * class Note extends Model.Class<Note>()("Note", { id: Model.id({ prefix: "N" }), text: Schema.String }) {}
 *
 * const NotesApi = Resource.describe(Note, { methods: ["GET", "POST"] })
 *   .action("length", { success: Schema.Int })
 *
 * const api = KernelApi.make("notes").register(NotesApi, { urlBase: "/api/v1" })
 *
 * const Notes = Resource.implement(NotesApi, { length: ({ text }) => Effect.succeed(text.length) })
 *
 * const engine = KernelEngine.fromApi(api, [Notes])
 *
 * engine.layer.pipe(Layer.provide(EmbeddedStore.layer), engine.launch, NodeRuntime.runMain)
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromApi = <
  Id extends string,
  Groups extends HttpApiGroup.Constraint,
  Registered extends KernelApi.AnyEntry,
  const Implementations extends ReadonlyArray<Resource.Any | Service.Any>,
  Guards extends Guard.Guard = never
>(
  api: KernelApi.KernelApi<Id, Groups, Registered, Guards>,
  implementations: Implementations & Complete<Registered, Implementations>,
  options: Options = {}
): KernelEngine<
  Id,
  Groups,
  Registration.RepositoriesOf<Registered["target"]>,
  Registration.RequirementsOf<Implementations[number]>,
  Guards
> =>
  // `Parts` does not say which registrations the description has.
  makeEngine({ ...nothing, options, api: api as never, implementations })

export { CredentialsUnprovided } from "./startup/credentialsUnprovided.ts"
export { type Options, StartFailed } from "./startup/launch.ts"
export { RegistrationInvalid } from "./startup/registrationInvalid.ts"
export { RouteConflict } from "./startup/routeConflict.ts"
export type { TestUser } from "./startup/test.ts"

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

requireNode()

/** What tools are named by: a registration, or one of its endpoints. */
type Exposable<Groups> = Groups extends
  { readonly identifier: infer Name extends string; readonly endpoints: infer Endpoints }
  ? Name | `${Name}.${keyof Endpoints & string}`
  : never

// Here, because services without jobs load nothing of theirs.
const isJob = (target: object): target is Job.Any => Predicate.isTagged(target, "JobImplementation")

// Its services are in the engine's type.
const isWorkflow = (target: object): target is Layer.Layer<never> => Layer.isLayer(target)

const nothing = {
  implementations: [],
  additions: [],
  migrations: [],
  jobs: [],
  workflows: [],
  schedules: [],
  openApi: undefined
} as const

type AnyEngine = KernelEngine<string, HttpApiGroup.Constraint, Repository.RepositoryOf<string>>

// The types of `register` and `use` describe the engine's parts.
const makeEngine = (parts: EngineParts): never => {
  const { api: description, implementations, migrations, openApi } = parts
  const { registrations } = description
  const layerServe: AnyEngine["layerServe"] = Layer.effectContext(Effect.gen(function*() {
    yield* checkRegistrations(parts)
    yield* serveAlone
    const { beginVersions } = yield* Effect.promise(() => import("../Repository/internal.ts"))
    yield* beginVersions(registrations.flatMap((one) => one._tag === "Resource" ? [one.model] : []))
    if (parts.migrations.length > 0) {
      const { awaitMigrations } = yield* Effect.promise(() => import("./startup/migrations.ts"))
      yield* awaitMigrations(parts.migrations)
    }
    // Routes are loaded by programs that serve them, and by no others.
    const { serve } = yield* Effect.promise(() => import("./startup/serve.ts"))
    return yield* serve(servicePartsOf(parts))
  }))
  const layer = Layer.merge(layerServe, announced(registrations)).pipe(
    Layer.provideMerge(KernelServer.layer),
    Layer.provide(KernelLogger.layerAccess)
  )
  const engine: { readonly [K in keyof AnyEngine]: unknown } = {
    // Built when it is asked for: each registration makes an engine.
    get api() {
      return description.api
    },
    "~appkernel/Described": description["~appkernel/Described"],
    registrations,
    get policy() {
      return policyOf(parts)
    },
    migrations,
    useMigrations: (added: EngineParts["migrations"]) =>
      makeEngine({ ...parts, migrations: [...migrations, ...added] }),
    openApi,
    mcp: parts.mcp,
    document: openApiOf(parts),
    "~appkernel/Stages": Effect.flatMap(
      Effect.promise(() => import("./startup/stagesInForce.ts")),
      ({ stagesInForce }) => stagesInForce(parts)
    ),
    layerServe,
    layer: Layer.effectContext(Effect.andThen(warnOfUnread, readyLast(Layer.build(layer)))),
    launch: launchWith(description.id, parts.options),
    test: testWith<StartFailure | KernelServer.ListenFailed>(description, {
      serve: layerServe,
      server: KernelServer.layerWith({ address: "127.0.0.1", port: 0 }),
      queues: [
        ...parts.jobs.map(({ job }) => job.name),
        ...parts.webhooks === undefined ? [] : ["webhook"],
        ...parts.schedules.map(({ name }) => `cron ${name}`)
      ],
      events: parts.webhooks
    }),
    enableSecurity: (security: EngineParts["security"]) =>
      makeEngine({ ...parts, security: { ...parts.security, ...security }, api: description.enableSecurity() }),
    enableOpenApi: (openApi: NonNullable<EngineParts["openApi"]>) => makeEngine({ ...parts, openApi }),
    enableMcp: (mcp: AnyMcpOptions) => makeEngine({ ...parts, mcp: withPath(mcp) }),
    enableExplorer: (explorer: AnyExplorerOptions = {}) => makeEngine({ ...parts, explorer: atPath(explorer) }),
    enableRateLimits: (rateLimits: EngineParts["rateLimits"]) =>
      makeEngine({ ...parts, rateLimits: { ...parts.rateLimits, ...rateLimits }, api: description.enableRateLimits() }),
    use: (addition: EngineParts["additions"][number]) =>
      makeEngine({ ...parts, additions: [...parts.additions, addition] }),
    enableCron: (
      name: string,
      expression: string,
      effect: unknown,
      options: Job.CronOptions = {}
    ) => {
      // Its type says that it is an effect, or a function that returns one.
      const run = typeof effect === "function" ? effect as Job.Schedule["run"] : () => effect
      return makeEngine({ ...parts, schedules: [...parts.schedules, { name, expression, run, options }] })
    },
    enableWebhooks: (events: KernelEngine.WebhookEvents, options: Webhooks.Options = {}) =>
      makeEngine({
        ...parts,
        webhooks: {
          events: { ...parts.webhooks?.events, ...events },
          options: { ...parts.webhooks?.options, ...options }
        }
      }),
    register: (
      target: Model.Any | Resource.Any | Service.Any | Job.Any | Layer.Layer<never>,
      options?: RegisterOptions
    ) => {
      if (isWorkflow(target)) return makeEngine({ ...parts, workflows: [...parts.workflows, target] })
      if (isJob(target)) return makeEngine({ ...parts, jobs: [...parts.jobs, target] })
      const isMade = Service.isService(target) || Resource.isResource(target)
      const own = isMade ? target : Resource.make(Registration.formed(target, options), options)
      return makeEngine({
        ...parts,
        // What is made already has its methods, and the model of its form.
        api: description.register(own.description, isMade ? options : Registration.mounting(options)),
        implementations: [...new Set([...implementations, own])]
      })
    }
  }
  // It has every member of an engine, whose types follow from the registrations.
  return engine as never
}

type RegisterOptions = Registration.ModelOptions<ReadonlyArray<Resource.Method>, string, number>
