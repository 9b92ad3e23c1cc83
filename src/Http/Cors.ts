/**
 * Cross-origin requests of browsers (CORS, <https://fetch.spec.whatwg.org/#http-cors-protocol>). Without `cors.origins` none
 * are allowed.
 *
 * **Details**
 *
 * A preflight request is answered 204 before credentials are checked and requests are counted. An allowed origin may read
 * every response, errors included, with the headers `ETag`, `Location`, `Content-Location`, `Preference-Applied`,
 * `X-Total-Count`, `X-Unreadable-Count`, `X-Request-Id`, `Retry-After`, `WWW-Authenticate`, `Allow`, `RateLimit` and
 * `RateLimit-Policy`, and those of files, of streams of changes and of [tus](https://tus.io/protocols/resumable-upload). Another origin gets the response without any header that would let its script read it.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { section } from "../internal/configurationKeys.ts"

/**
 * Which requests of browsers are allowed.
 *
 * @category models
 * @since 0.1.0
 */
export interface Cors {
  /** `cors.origins`: the origins, `https://app.example.com`, or only `*` for all of them. */
  readonly origins: ReadonlyArray<string>
  /** `cors.methods`. Default to all that endpoints may have. */
  readonly methods: ReadonlyArray<string>
  /**
   * `cors.headers`: the headers that requests may have. Default to those that the engine and its authentication schemes read,
   * and those of traces, which the typed client sends.
   */
  readonly headers: ReadonlyArray<string> | undefined
  /** `cors.credentials`: whether browsers send cookies and HTTP basic. Tokens in headers need it not. Defaults to false. */
  readonly credentials: boolean
  /** `cors.max_age`: how long a browser may keep the response of a preflight request. Defaults to an hour. */
  readonly maxAge: Duration.Duration
}

/**
 * The keys of `cors`; `undefined` without origins. Fails if all origins may send credentials.
 *
 * @category configuration
 * @since 0.1.0
 */
export const config: Config.Config<Cors | undefined> = section("cors").pipe(
  Config.mapEffect((cors) =>
    cors.origins.includes("*") && (cors.credentials || cors.origins.length > 1)
      ? Effect.fail(
        new Config.ConfigError(
          new ConfigProvider.SourceError({
            message:
              "cors.origins: * stands alone, and not with cors.credentials, since any page could act for its visitor"
          })
        )
      )
      : Effect.succeed(cors.origins.length === 0 ? undefined : cors)
  )
)
