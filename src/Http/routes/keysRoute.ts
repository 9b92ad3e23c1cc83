/** Publishes the public keys of the service, by which other services verify its tokens. */
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { Keys } from "../../Security/Keys.ts"
import { keysPath } from "../description/keysPath.ts"
import { makeBadRequest } from "../response/translatedResponses.ts"
import type { Translations } from "../Translations.ts"
import { type Route, withoutParameters } from "./route.ts"

/** The public keys as a JSON web key set (RFC 7517). */
export const keysRoute = (keys: Keys["Service"], translations: Translations): Route => {
  // Read for each request: another pair of keys may replace the first.
  const response = Effect.sync(() =>
    HttpServerResponse.text(JSON.stringify(keys.jwks), {
      contentType: "application/jwk-set+json",
      headers: { "cache-control": "public, max-age=300" }
    })
  )
  const respondBadRequest = makeBadRequest(translations)
  return {
    method: "GET",
    path: keysPath,
    handler: withoutParameters(response, respondBadRequest),
    respondBadRequest
  }
}
