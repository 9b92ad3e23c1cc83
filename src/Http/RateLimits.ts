/**
 * The limits of how often a service may be called, for `engine.enableRateLimits`.
 *
 * **Details**
 *
 * A limit is a number of requests and a window. So many requests may come at once, and after that one more each time that
 * its part of the window has passed: of 60 in a minute, one every second. A request beyond a limit is answered 429
 * (`TooManyRequests`) with `Retry-After`. Every response has `RateLimit-Policy` and `RateLimit`, as version 9 of the draft
 * "RateLimit header fields for HTTP" (draft-ietf-httpapi-ratelimit-headers) has them: the limits, and what is left of each.
 *
 * Requests are counted by the `RateLimiter` of `effect/persistence` if the layer of the engine gets one, for example
 * over Redis; otherwise each process counts, with bounded memory. If its store fails, the process counts by itself.
 *
 * | Limit | Requests | Counted |
 * |---|---|---|
 * | `perAddress` | of all from an address, an IPv6 /64 being one, see `ClientAddress` | before credentials are checked |
 * | `perCaller` | of a user to all registrations; without a user, of an address | after |
 * | `routes` | of a user to one route; without a user, of an address | after |
 *
 * @since 0.1.0
 */

import type * as Config from "effect/Config"
import { section } from "../internal/configurationKeys.ts"
import type { Rate } from "../internal/rateLimiter.ts"

export {
  /**
   * So many at once; after that one more each time that its part of the window has passed.
   *
   * @category models
   * @since 0.1.0
   */
  type Rate
} from "../internal/rateLimiter.ts"

/**
 * The limits of a service. The configuration takes precedence.
 *
 * @category models
 * @since 0.1.0
 */
export interface RateLimits {
  /** `rate_limits.per_address`. Defaults to 600 in a minute. */
  readonly perAddress?: Rate | undefined
  /** `rate_limits.per_caller`. Defaults to none. */
  readonly perCaller?: Rate | undefined
  /** The limits of single routes, by method and path: `POST /api/v1/users`, `GET /api/v1/users/:id`. */
  readonly routes?: { readonly [route: string]: Rate } | undefined
}

/**
 * The keys of `rate_limits`. Unset keys are `undefined`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const config: Config.Config<Pick<RateLimits, "perAddress" | "perCaller">> = section("rate_limits")
