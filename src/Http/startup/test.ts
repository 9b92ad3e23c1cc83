/**
 * Runs a service within a test, with a typed client, signed tokens for any user, and the repositories.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import * as Credentials from "../../Client/Credentials.ts"
import { Application } from "../../internal/application.ts"
import type * as Model from "../../Model/Model.ts"
import { DocumentStore } from "../../Repository/DocumentStore.ts"
import * as EmbeddedStore from "../../Repository/EmbeddedStore.ts"
import * as Repository from "../../Repository/Repository.ts"
import type { ReadError } from "../../Repository/RepositoryError.ts"
import * as Jwt from "../../Security/Jwt.ts"
import type * as Guard from "../Guard.ts"
import type * as KernelApi from "../KernelApi.ts"
import * as KernelClient from "../KernelClient.ts"
import * as KernelConfig from "../KernelConfig.ts"
import type { Webhooks } from "./engineParts.ts"

/**
 * Who calls in a test.
 *
 * @category models
 * @since 0.1.0
 */
export interface TestUser {
  /** The user's id. */
  readonly subject: string
  /** Defaults to none. */
  readonly roles?: ReadonlyArray<string> | undefined
  /** Further claims. */
  readonly claims?: Schema.JsonObject | undefined
}

/**
 * A service that runs for a test.
 *
 * @category models
 * @since 0.1.0
 */
export interface TestService<Groups extends HttpApiGroup.Constraint, Guards extends Guard.Guard = never> {
  /** The typed client of the service. With security, it has no credentials, as `anonymous`. */
  readonly client: KernelClient.KernelClient<Guard.Guarded<Groups, Guards>>
  /** A client without credentials. */
  readonly anonymous: KernelClient.KernelClient<Guard.Guarded<Groups, Guards>>
  /**
   * A client that calls as a user, with a signed token: by the `Jwt` that is provided to the test, otherwise with keys in
   * memory. It dies if that has no private key. Only a service with security has it.
   */
  readonly as: "security" extends Guards
    ? (user: TestUser) => Effect.Effect<KernelClient.KernelClient<Guard.Guarded<Groups, Guards>>>
    : undefined
  /** The token that a client of `as` sends, for requests that no typed client would send. */
  readonly token: "security" extends Guards ? (user: TestUser) => Effect.Effect<Redacted.Redacted<string>> : undefined
  /** The repositories of the registered models, by the names of their registrations: `repositories.users`. */
  readonly repositories: TestRepositories<Groups>
  /** The store of the service. */
  readonly store: DocumentStore["Service"]
  /**
   * Waits until no event is to be told, and no job is due or running. Those that are due later, such as the next run of a schedule, follow when the clock of
   * the test goes on.
   */
  readonly idle: Effect.Effect<void, ReadError>
  /** The address of the service, for clients of another kind: `http://127.0.0.1:41234`. */
  readonly baseUrl: string
}

/** The repositories of the models that `Groups` are of. */
type TestRepositories<Groups extends HttpApiGroup.Constraint> = {
  readonly [Group in Groups as [ModelOf<Group>] extends [never] ? never : Group["identifier"]]: Repository.Repository<
    ModelOf<Group>
  >
}

/** The model of a resource's group. */
type ModelOf<Group> = Group extends OfModel<infer M> ? M
  // A group without methods has it itself.
  : "~Model" extends keyof Group ? Extract<Group["~Model"], Model.Any>
  : never

/** The part of a resource's group that tells its model. */
interface OfModel<M extends Model.Any> {
  readonly endpoints: { readonly meta: { readonly "~Model"?: M } }
}

/**
 * Runs a service for a test. The engine's own layers are fresh: several tests in one scope, or within another service, share
 * nothing.
 *
 * @internal
 */
export const testWith = <E>(
  description: KernelApi.Any,
  layers: {
    readonly serve: Layer.Layer<Repository.RepositoryOf<string>, E, DocumentStore | HttpServer.HttpServer>
    readonly server: Layer.Layer<HttpServer.HttpServer, E>
    /** The names of the queues. */
    readonly queues: ReadonlyArray<string>
    readonly events: Webhooks | undefined
  }
) =>
  Effect.fnUntraced(function*({ store = Layer.fresh(EmbeddedStore.layerMemory) }: AnyTestOptions = {}) {
    const application = { id: description.id, cfgDir: ".", development: true, isTest: true }
    const built = Effect.gen(function*() {
      const given = yield* Layer.build(store)
      const ambient = yield* Effect.context<never>()
      const known = Context.getOrUndefined(Context.merge(ambient, given), Jwt.Jwt)
      const tokens = description.guards.has("security") && known === undefined ? Layer.fresh(Jwt.layer) : Layer.empty
      const around = Layer.mergeAll(layers.server, Layer.succeedContext(given), tokens)
      return yield* Layer.build(Layer.provideMerge(Layer.fresh(layers.serve), around))
    })
    // No file is read.
    const configuration = yield* KernelConfig.configured(yield* ConfigProvider.ConfigProvider, undefined)
    const context = yield* built.pipe(
      Effect.provideService(Application, application),
      Effect.provideContext(configuration)
    )
    const baseUrl = HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)
    const clientOf = (credentials?: Credentials.Credentials) =>
      Effect.provide(KernelClient.make(description, { baseUrl, credentials }), FetchHttpClient.layer)
    const anonymous = yield* clientOf()
    const jwt = Context.getOrUndefined(Context.merge(yield* Effect.context<never>(), context), Jwt.Jwt)
    const resources = description.registrations.filter((registration) => registration._tag === "Resource")
    return {
      client: anonymous,
      anonymous,
      as: (user: TestUser) => jwt === undefined ? noTokens : clientOf(Credentials.bearer(tokensOf(jwt, user))),
      token: (user: TestUser) => jwt === undefined ? noTokens : tokensOf(jwt, user),
      repositories: Object.fromEntries(
        resources.map(({ model, name }) => [name, Context.get(context, Repository.key(model))])
      ),
      store: Context.get(context, DocumentStore),
      idle: Effect.gen(function*() {
        const own = Context.get(context, DocumentStore)
        const { untilIdle } = yield* Effect.promise(() => import("../../Jobs/internal.ts"))
        const { events } = layers
        const told = events === undefined
          ? Effect.succeed(false)
          : Effect.flatMap(Effect.promise(() => import("./webhooks.ts")), ({ untilTold }) =>
            untilTold(own, description.id, events))
        // What jobs write may be told, too.
        yield* Effect.repeat(Effect.andThen(told, Effect.andThen(untilIdle(own, layers.queues), told)), {
          until: (wasBehind) =>
            !wasBehind
        })
      }),
      baseUrl
    }
  })

/** The options of `engine.test`. The failures and services of the store are those that the type of `test` declares. */
interface AnyTestOptions {
  readonly store?: Layer.Layer<DocumentStore>
}

const noTokens = Effect.die(new Error("No tokens are signed without security"))

/** A valid token at any time, which the clock of the test sets. */
const tokensOf = (jwt: Jwt.Jwt["Service"], user: TestUser): Effect.Effect<Redacted.Redacted<string>> => {
  let signed: { readonly token: Redacted.Redacted<string>; readonly until: number } | undefined
  return Effect.flatMap(Clock.currentTimeMillis, (now) => {
    if (signed !== undefined && now < signed.until && now >= signed.until - lifetime) {
      return Effect.succeed(signed.token)
    }
    return Effect.map(Effect.orDie(jwt.sign(user)), (token) => {
      signed = { token, until: now + lifetime }
      return token
    })
  })
}

/** In milliseconds; a token is valid for longer. */
const lifetime = 60_000
