import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { AccessDecision } from "../../Repository/introspection.ts"

/**
 * Decides again on the request that a stream answers, with its credentials: the decision, or the answer that the request would get
 * now. `undefined`: there is no access control.
 *
 * @internal
 */
export const DecideAgain = Context.Reference<
  | Effect.Effect<
    | { readonly decision: AccessDecision }
    | { readonly response: HttpServerResponse.HttpServerResponse },
    never,
    HttpServerRequest.HttpServerRequest
  >
  | undefined
>("appkernel/Http/live/DecideAgain", { defaultValue: () => undefined })
