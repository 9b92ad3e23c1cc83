/**
 * A service that is called by convention: `proxy.users.get({ pathExtension: id })`.
 *
 * @since 0.1.0
 */
import { BoundedCache } from "../internal/boundedCache.ts"
import { namedUrl, wrappedUrl } from "./calls/address.ts"
import type { Upstream } from "./calls/upstream.ts"
import * as RequestWrapper from "./RequestWrapper.ts"

/**
 * A service. Its properties are its resources: `proxy.users` calls `{root}/users/`. `Names` are those that the compiler knows;
 * with the default, any name is one, which `noPropertyAccessFromIndexSignature` has written as `proxy["users"]`.
 *
 * **Gotchas**
 *
 * Names that the language and Effect ask every object for, such as `then` and `toJSON`, are no resources. `at("then")` is.
 *
 * @category models
 * @since 0.1.0
 */
export type HttpClientServiceProxy<Names extends string = string> =
  & HttpClientServiceProxy.Methods
  & { readonly [Name in Exclude<Names, keyof HttpClientServiceProxy.Methods>]: RequestWrapper.RequestWrapper }

/**
 * Types of {@link HttpClientServiceProxy}.
 *
 * @category models
 * @since 0.1.0
 */
export declare namespace HttpClientServiceProxy {
  /** What every proxy has. */
  export interface Methods {
    /** Calls `{root}/<name>/`. */
    readonly at: (name: string) => RequestWrapper.RequestWrapper
    /** Calls `{root}/<path>`, without a slash at the end. */
    readonly wrap: (path: string) => RequestWrapper.RequestWrapper
  }
}

/** @internal */
export const make = (upstream: Upstream): HttpClientServiceProxy => {
  const wrappers = new BoundedCache<RequestWrapper.RequestWrapper>(100)
  const wrapper = (url: string) => wrappers.getOrMake(url, () => RequestWrapper.make(upstream, url))
  const at = (name: string) => wrapper(namedUrl(upstream.root, name))
  const target = {
    at,
    wrap: (path: string) => wrapper(wrappedUrl(upstream.root, path)),
    toString: () => `HttpClientServiceProxy(${upstream.root})`,
    toJSON: () => ({ _id: "HttpClientServiceProxy", root: upstream.root })
  }
  const proxy: object = new Proxy(target, {
    get: (target, name, receiver) =>
      typeof name === "symbol" || Reflect.has(target, name) || isReserved(name)
        ? Reflect.get(target, name, receiver)
        : at(name)
  })
  // Any other property is a wrapper.
  return proxy as HttpClientServiceProxy
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Effect's brands begin with a tilde, and other libraries' with a dollar sign. */
const isReserved = (name: string) => name === "then" || name === "_tag" || name === "_op" || /^[~$]/u.test(name)
