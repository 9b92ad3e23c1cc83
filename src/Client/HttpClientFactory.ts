/**
 * Proxies of other services, over one pool of connections.
 *
 * @since 0.1.0
 */
import type * as Undici from "@effect/platform-node/Undici"
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { DeclarationError } from "../internal/declarationError.ts"
import type * as Model from "../Model/Model.ts"
import { rootAddress } from "./calls/address.ts"
import { modelsByName } from "./calls/bodies.ts"
import { withCallDefaults } from "./calls/callDefaults.ts"
import { makeShared } from "./calls/client.ts"
import { type Exchange, makeExchange } from "./calls/exchange.ts"
import { makeTransport, type Transport } from "./calls/typed.ts"
import * as CircuitBreaker from "./CircuitBreaker.ts"
import type { CircuitBreakerConfig } from "./CircuitBreaker.ts"
import type { CircuitOpenError, RequestHandlingException } from "./ClientError.ts"
import type { Credentials } from "./Credentials.ts"
import { config, type HttpClientConfig, millisOf, resolve } from "./HttpClientConfig.ts"
import * as HttpClientServiceProxy from "./HttpClientServiceProxy.ts"

/**
 * What all calls of a client have in common.
 *
 * @category models
 * @since 0.1.0
 */
export interface SharedOptions {
  /** The models of answers: a document whose `_type` names one becomes an instance of it, and so do the items of collections. */
  readonly models?: ReadonlyArray<Model.Any> | undefined
  /** Headers of all calls, to whatever service. */
  readonly headers?: { readonly [name: string]: string } | undefined
  /**
   * Credentials by the origin that they are for: `{ "https://billing.example": Credentials.forwarded }`. No other origin gets
   * them.
   */
  readonly credentials?: { readonly [origin: string]: Credentials } | undefined
  /** Options of connections, such as certificates (`ca`, `cert`, `key`) or a `socketPath`. */
  readonly connect?: Undici.buildConnector.BuildOptions | undefined
  /**
   * An undici dispatcher, such as a proxy agent, that carries all calls instead of the client's own connections. It keeps idle
   * connections as it is configured itself, and the client does not close it.
   */
  readonly dispatcher?: Undici.Dispatcher | undefined
  /**
   * Whether calls follow redirects from https to http, where anybody on the way reads and changes them. Defaults to false: such
   * an answer fails its call with its status.
   */
  readonly insecureRedirects?: boolean | undefined
}

/**
 * Options of a client.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends HttpClientConfig, SharedOptions {}

/**
 * Options of a proxy.
 *
 * @category models
 * @since 0.1.0
 */
export interface ProxyOptions {
  /** The circuit breaker of this proxy, or `null` for none. Defaults to that of the configuration. */
  readonly circuitBreaker?: CircuitBreakerConfig | null | undefined
  /** When calls are tried again, unless they say otherwise: see `CallOptions`. Defaults to never. */
  readonly retry?: Schedule.Schedule<unknown, RequestHandlingException> | undefined
  /**
   * Tells apart proxies of one address that are to have breakers of their own. Logs and metrics name a breaker by it, or else by
   * the address.
   */
  readonly name?: string | undefined
  /** Headers of the calls of this proxy, made anew for each that the breaker lets in. They replace those of the client. */
  readonly getHeaders?:
    | Effect.Effect<{ readonly [name: string]: string }, RequestHandlingException | CircuitOpenError>
    | undefined
}

/**
 * Options of a typed client.
 *
 * @category models
 * @since 0.1.0
 */
export interface TypedOptions extends ProxyOptions {
  /** The credentials of its calls. Defaults to those of the client for the service. */
  readonly credentials?: Credentials | undefined
  /** As that of a call of a proxy. Defaults to the configured `readTimeout`: 10 seconds. */
  readonly timeout?: Duration.Input | undefined
}

/**
 * The description of a service that a typed client follows from: a `KernelApi` or a `KernelEngine`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Described<out Client> {
  readonly "~appkernel/Described": {
    /** The name of the service, for errors. */
    readonly id: string
    readonly clientOver: (transport: Transport) => Effect.Effect<Client>
  }
}

export type {
  /**
   * What carries the calls of a typed client.
   *
   * @category models
   * @since 0.1.0
   */
  Transport
}

/**
 * What the clients have in common that {@link layer} and {@link layerWith} make.
 *
 * @category references
 * @since 0.1.0
 */
export const SharedClient: Context.Reference<SharedOptions> = Context.Reference<SharedOptions>(
  "appkernel/Client/HttpClientFactory/SharedClient",
  { defaultValue: () => ({}) }
)

/**
 * Makes proxies of services.
 *
 * @category services
 * @since 0.1.0
 */
export class HttpClientFactory extends Context.Service<HttpClientFactory, {
  /**
   * The proxy of the service at an address. The same address and options give the same proxy, and so the same circuit breaker:
   * it may be asked for at every request. With `getHeaders` or `retry`, which can't be compared, it is a new proxy with the same breaker.
   * The breakers of the 1,000 addresses and options that were used last are kept.
   *
   * Dies if the address is no HTTP URL, or has a query, a fragment, credentials or the port 0, which names no service.
   */
  readonly get: <Names extends string = string>(
    rootUrl: string | URL,
    options?: ProxyOptions
  ) => Effect.Effect<HttpClientServiceProxy.HttpClientServiceProxy<Names>>
  /**
   * The typed client of the service at an address, as a `KernelApi` or an engine describes it. It shares connections, circuit
   * breaker and options with the proxies of the address. Its calls fail with the errors that the service declares, and with those
   * of proxies for everything else. Without options of its own calls (`credentials`, `timeout`, `getHeaders`, `retry`) it is kept.
   *
   * Dies as `get` does.
   */
  readonly typed: <Client>(
    described: Described<Client>,
    rootUrl: string | URL,
    options?: TypedOptions
  ) => Effect.Effect<Client>
}>()("appkernel/Client/HttpClientFactory") {}

/**
 * The proxy of the service at an address, as {@link HttpClientFactory} makes it.
 *
 * @category accessors
 * @since 0.1.0
 */
export const get = <Names extends string = string>(
  rootUrl: string | URL,
  options?: ProxyOptions
): Effect.Effect<HttpClientServiceProxy.HttpClientServiceProxy<Names>, never, HttpClientFactory> =>
  Effect.flatMap(HttpClientFactory, (factory) => factory.get<Names>(rootUrl, options))

/**
 * The typed client of the service at an address, as {@link HttpClientFactory} makes it.
 *
 * **Example** (Reading a document of another service)
 *
 * ```ts check
 * import { Effect, Schema } from "effect"
 * import { HttpClientFactory, KernelApi, Model, Resource } from "appkernel"
 *
 * class Note extends Model.Class<Note>()("Note", { id: Model.id({ prefix: "N" }), text: Schema.String }) {}
 *
 * const api = KernelApi.make("notes").register(Resource.describe(Note), { urlBase: "/api/v1" })
 *
 * export const textOf = (id: string) =>
 *   Effect.gen(function*() {
 *     const notes = yield* HttpClientFactory.typed(api, "http://notes:5000", { circuitBreaker: { failureThreshold: 3 } })
 *     return (yield* notes.notes.get({ params: { id } })).text
 *   }).pipe(Effect.catchTag("NotFound", () => Effect.succeed(undefined)))
 * ```
 *
 * @category accessors
 * @since 0.1.0
 */
export const typed = <Client>(
  described: Described<Client>,
  rootUrl: string | URL,
  options?: TypedOptions
): Effect.Effect<Client, never, HttpClientFactory> =>
  Effect.flatMap(HttpClientFactory, (factory) => factory.typed(described, rootUrl, options))

/**
 * A factory with a pool of its own. When its scope closes it lets no further call in, and waits until the last one is done, at
 * most for `shutdownTimeout`. Then the remaining calls fail with the reason `Closed`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (options?: Options) => Effect.Effect<HttpClientFactory["Service"], never, Scope.Scope> = Effect
  .fnUntraced(
    function*(given: Options = {}) {
      const options: Options = { ...yield* SharedClient, ...given }
      const config = yield* resolve(options)
      const scope = yield* Effect.scope
      const shared = yield* makeShared(config, options)
      const models = modelsByName(options.models ?? [])
      const credentials = new Map(
        Object.entries(options.credentials ?? {}).map(([origin, one]) => [originOf(origin), one])
      )
      const turn = Semaphore.makeUnsafe(1)
      const services = new Map<string, KeptService>()

      const withDefaultsFor = (root: string, exchange: Exchange, getHeaders: ProxyOptions["getHeaders"]) =>
        withCallDefaults(exchange, {
          headers: options.headers ?? {},
          credentials: credentials.get(originOf(root)),
          getHeaders
        })
      const proxyOf = (root: string, exchange: Exchange, { getHeaders, retry }: ProxyOptions) =>
        HttpClientServiceProxy.make({
          root,
          models,
          timeouts: config,
          retries: retry,
          exchange: withDefaultsFor(root, exchange, getHeaders)
        })

      const makeService = Effect.fnUntraced(
        function*(key: string, root: string, { circuitBreaker, name }: ProxyOptions) {
          const found = services.get(key)
          if (found !== undefined) return found
          const breakerConfig = circuitBreaker === undefined ? config.circuitBreaker : circuitBreaker
          const own = yield* Scope.fork(scope)
          const breaker = breakerConfig === undefined || breakerConfig === null
            ? undefined
            : yield* Scope.provide(CircuitBreaker.make({ ...breakerConfig, name: name ?? root }), own)
          const exchange = makeExchange(shared, root, breaker)
          const made: KeptService = { exchange, proxy: proxyOf(root, exchange, {}), typed: new WeakMap(), scope: own }
          const [oldest] = services
          if (oldest !== undefined && services.size >= maxServices) {
            services.delete(oldest[0])
            yield* Scope.close(oldest[1].scope, Exit.void)
          }
          services.set(key, made)
          return made
        }
      )
      /** Kept services are in the order of their use. */
      const used = (key: string, root: string, options: ProxyOptions): Effect.Effect<KeptService> => {
        const found = services.get(key)
        if (found === undefined) return Effect.uninterruptible(turn.withPermits(1)(makeService(key, root, options)))
        if (services.size >= maxServices / 2) {
          services.delete(key)
          services.set(key, found)
        }
        return Effect.succeed(found)
      }
      const at = <A>(
        rootUrl: string | URL,
        options: ProxyOptions,
        use: (root: string, service: KeptService) => Effect.Effect<A>
      ): Effect.Effect<A> =>
        Effect.suspend(() => {
          const root = rootAddress(rootUrl)
          return root === undefined
            ? Effect.die(new DeclarationError(notARoot))
            : Effect.flatMap(used(keyOf(root, options), root, options), (service) => use(root, service))
        })
      return HttpClientFactory.of({
        get: <Names extends string>(rootUrl: string | URL, options: ProxyOptions = {}) =>
          at(rootUrl, options, (root, { exchange, proxy }) => {
            const isComparable = options.getHeaders === undefined && options.retry === undefined
            const one = isComparable ? proxy : proxyOf(root, exchange, options)
            // A proxy has any property; the names are those that the caller knows.
            return Effect.succeed(one as HttpClientServiceProxy.HttpClientServiceProxy<Names>)
          }),
        typed: <Client>(described: Described<Client>, rootUrl: string | URL, options: TypedOptions = {}) =>
          at(rootUrl, options, (root, { exchange, typed }) => {
            const { credentials, getHeaders, name, retry, timeout } = options
            const isKept = [credentials, getHeaders, retry, timeout].every((one) => one === undefined)
            const kept = isKept ? typed.get(described) : undefined
            // It was made of the same description.
            if (kept !== undefined) return Effect.succeed(kept as Client)
            const { clientOver, id } = described["~appkernel/Described"]
            const made = clientOver(makeTransport(root, withDefaultsFor(root, exchange, getHeaders), {
              upstream: name ?? id,
              readTimeout: millisOf(timeout) ?? config.readTimeout,
              retries: retry,
              credentials
            }))
            return isKept ? Effect.tap(made, (client) => Effect.sync(() => typed.set(described, client))) : made
          })
      })
    }
  )

/**
 * What the clients have in common that {@link layer} and {@link layerWith} make, to be provided to these.
 *
 * **Example** (Headers of all calls, and the caller's own credentials for one service)
 *
 * ```ts
 * import { Credentials, HttpClientFactory } from "appkernel"
 * import { Layer } from "effect"
 *
 * const client = HttpClientFactory.layer.pipe(
 *   Layer.provide(HttpClientFactory.configureHttpClient({
 *     headers: { "x-client": "shop" },
 *     credentials: { "https://billing.example": Credentials.forwarded }
 *   }))
 * )
 * Layer.isLayer(client) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const configureHttpClient = (options: SharedOptions): Layer.Layer<never> => Layer.succeed(SharedClient, options)

/**
 * {@link make} as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (options: Options): Layer.Layer<HttpClientFactory> =>
  Layer.effect(HttpClientFactory, make(options))

/**
 * {@link make} as a layer, with the configuration of `cfg.yml` and the environment.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<HttpClientFactory, Config.ConfigError> = Layer.effect(
  HttpClientFactory,
  Effect.flatMap(config, (options) => make(options))
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The clients of a service, which the factory makes once. */
interface KeptService {
  readonly exchange: Exchange
  readonly proxy: HttpClientServiceProxy.HttpClientServiceProxy
  /** The typed clients, by their descriptions. */
  readonly typed: WeakMap<object, unknown>
  readonly scope: Scope.Closeable
}

const maxServices = 1_000

const keyOf = (root: string, { circuitBreaker, name }: ProxyOptions): string =>
  name === undefined && circuitBreaker === undefined ? root : JSON.stringify([root, name, breakerKey(circuitBreaker)])

/** The options of a breaker as a key. Equal times in different units give the same key. */
const breakerKey = (breaker: ProxyOptions["circuitBreaker"]) =>
  breaker === undefined ? "default" : breaker === null
    ? null
    : [breaker.failureThreshold, millisOf(breaker.recoveryTimeout), breaker.halfOpenMaxCalls]

const originOf = (address: string): string => URL.parse(address)?.origin ?? address

const notARoot = "A root address has to be an HTTP URL without query, fragment and credentials, whose port is not 0"
