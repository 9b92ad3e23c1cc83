/**
 * Proxies of other services, over one pool of connections.
 *
 * @since 0.1.0
 */
import type * as Undici from "@effect/platform-node/Undici"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { DeclarationError } from "../internal/declarationError.ts"
import type * as Model from "../Model/Model.ts"
import { rootOf, serviceOf } from "./calls/address.ts"
import { modelsByName } from "./calls/bodies.ts"
import { makeShared } from "./calls/client.ts"
import { makeExchange } from "./calls/exchange.ts"
import * as CircuitBreaker from "./CircuitBreaker.ts"
import type { RequestHandlingException } from "./ClientError.ts"
import { type HttpClientConfig, resolve } from "./HttpClientConfig.ts"
import * as HttpClientServiceProxy from "./HttpClientServiceProxy.ts"

/**
 * Options of a client.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends HttpClientConfig {
  /** The models of answers: a document whose `_type` names one becomes an instance of it. */
  readonly models?: ReadonlyArray<Model.Any> | undefined
  /** Options of connections, such as certificates: `{ ca, cert, key }`. */
  readonly connect?: Undici.buildConnector.BuildOptions | undefined
  /** What carries all calls instead of the client's own connections, such as a proxy agent. It is not closed. */
  readonly dispatcher?: Undici.Dispatcher | undefined
}

/**
 * Options of a proxy.
 *
 * @category models
 * @since 0.1.0
 */
export interface ProxyOptions {
  /** The circuit breaker of this proxy, or `null` for none. Defaults to that of the configuration. */
  readonly circuitBreaker?: CircuitBreaker.CircuitBreakerConfig | null | undefined
  /**
   * When calls are tried again, unless they say otherwise: see `CallOptions`. Defaults to never. Schedules are not compared: a
   * `name` tells proxies with different ones apart.
   */
  readonly retry?: Schedule.Schedule<unknown, RequestHandlingException> | undefined
  /** Tells apart proxies of one address that are to have breakers of their own. */
  readonly name?: string | undefined
}

/**
 * Makes proxies of services.
 *
 * @category services
 * @since 0.1.0
 */
export class HttpClientFactory extends Context.Service<HttpClientFactory, {
  /**
   * The proxy of the service at an address. The same address and options give the same proxy, and so the same circuit breaker.
   * Dies if the address is no HTTP URL, or has a query, a fragment or credentials.
   */
  readonly get: <Names extends string = string>(
    rootUrl: string | URL,
    options?: ProxyOptions
  ) => Effect.Effect<HttpClientServiceProxy.HttpClientServiceProxy<Names>>
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
 * A factory with a pool of its own. When its scope closes it lets no further call in, and waits until the last one is done.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (options?: Options) => Effect.Effect<HttpClientFactory["Service"], never, Scope.Scope> = Effect
  .fnUntraced(
    function*(options: Options = {}) {
      const config = resolve(options)
      const scope = yield* Effect.scope
      const shared = yield* makeShared(config, options)
      const models = modelsByName(options.models ?? [])
      const turn = Semaphore.makeUnsafe(1)
      const proxies = new Map<string, Kept>()

      const makeProxy = Effect.fnUntraced(function*(
        key: string,
        root: string,
        { circuitBreaker, name, retry }: ProxyOptions
      ) {
        const found = proxies.get(key)
        if (found !== undefined) return found.proxy
        const breakerConfig = circuitBreaker === undefined ? config.circuitBreaker : circuitBreaker
        const own = yield* Scope.fork(scope)
        const breaker = breakerConfig === undefined || breakerConfig === null
          ? undefined
          : yield* Scope.provide(CircuitBreaker.make({ ...breakerConfig, name: name ?? serviceOf(root) }), own)
        const exchange = makeExchange(shared, root, breaker)
        const proxy = HttpClientServiceProxy.make({
          root,
          exchange,
          models,
          readTimeout: config.readTimeout,
          retries: retry
        })
        proxies.set(key, { proxy, scope: own })
        return proxy
      })
      return HttpClientFactory.of({
        get: (rootUrl, options = {}) => {
          const root = rootOf(rootUrl)
          if (root === undefined) return Effect.die(new DeclarationError(notARoot))
          const key = keyOf(root, options)
          const found = proxies.get(key)
          const proxy = found === undefined
            ? turn.withPermits(1)(makeProxy(key, root, options))
            : Effect.succeed(found.proxy)
          // A proxy has any property; the names are those that the caller knows.
          return proxy as never
        }
      })
    }
  )

/**
 * {@link make} as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (options: Options): Layer.Layer<HttpClientFactory> =>
  Layer.effect(HttpClientFactory, make(options))

/**
 * A factory with the defaults.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<HttpClientFactory> = Layer.effect(HttpClientFactory, make())

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Kept {
  readonly proxy: HttpClientServiceProxy.HttpClientServiceProxy
  readonly scope: Scope.Closeable
}

const keyOf = (root: string, { circuitBreaker, name, retry }: ProxyOptions): string =>
  JSON.stringify([root, name, circuitBreaker, retry !== undefined])

const notARoot = "A root address has to be an HTTP URL without query, fragment and credentials"
