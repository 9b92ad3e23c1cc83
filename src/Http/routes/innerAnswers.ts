/** How a route of the service answers requests that the service makes itself, for the caller of another request. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import type { Responding, Route, Routed } from "./route.ts"
import { routerConfig } from "./routing.ts"

/** What a route answers. */
export interface InnerAnswer {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  /** `undefined` if it is larger than it may be. */
  readonly text: string | undefined
}

/**
 * Makes requests to one route, from how it responds in its stages. `use` gets each response: what the handlers of the route register
 * for theirs is about it, and not about that of the outer request.
 */
export const innerResponses = Effect.fnUntraced(function*(
  { method, path }: Pick<Route, "method" | "path">,
  responding: Responding
) {
  // It has no other route: what is sent can't lead to another operation.
  const router = yield* Effect.provideService(HttpRouter.make, HttpRouter.RouterConfig, routerConfig)
  yield* router.add(method, path, responding)
  // The route answers all its failures, and the path of each request fits it.
  // @effect-diagnostics-next-line anyUnknownInErrorContext:off unsafeEffectTypeAssertion:off
  const routed = router.asHttpEffect() as Routed
  return (use: (response: HttpServerResponse.HttpServerResponse) => Effect.Effect<void>) =>
    HttpEffect.toHandled(routed, (_, response) => use(response))
})

/** Makes the answers of one route, of at most `maximum` bytes. */
export const innerAnswers = Effect.fnUntraced(function*(
  route: Pick<Route, "method" | "path">,
  responding: Responding,
  maximum: number
) {
  const responses = yield* innerResponses(route, responding)
  const answered = Effect.suspend(() => {
    let answer: InnerAnswer | undefined
    const handled = responses((response) =>
      Effect.map(textWithin(response, maximum), (text) => {
        answer = { status: response.status, headers: response.headers, text }
      })
    )
    return Effect.map(handled, () => answer)
  })
  return (context: Context.Context<HttpServerRequest.HttpServerRequest>): Effect.Effect<InnerAnswer | undefined> =>
    Effect.provideContext(answered, context)
})

// internal

/** The text of a response, up to a size. */
const textWithin = (
  response: HttpServerResponse.HttpServerResponse,
  maximum: number
): Effect.Effect<string | undefined> =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    return HttpServerResponse.toClientResponse(response).stream.pipe(
      Stream.takeUntil((chunk) => {
        chunks.push(chunk)
        size += chunk.length
        return size > maximum
      }),
      Stream.runDrain,
      Effect.orDie,
      Effect.map(() => size > maximum ? undefined : Buffer.concat(chunks).toString("utf8"))
    )
  })
