/** Sends events to receivers: signed, in a bounded time, without redirects, and to allowed addresses. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpTraceContext from "effect/http/HttpTraceContext"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { createHmac } from "node:crypto"
import { atFirstUse } from "../../internal/atFirstUse.ts"
import type { Options } from "../../Jobs/Webhooks.ts"
import { makeAllowed } from "./addresses.ts"

/** An event for a receiver. */
export interface Message {
  readonly url: string
  /** The identifier of the event. */
  readonly id: string
  /** The JSON of the event. */
  readonly body: string
  readonly secrets: ReadonlyArray<string>
}

/** What has become of a message: the status of the answer, or why there was none. */
export interface Answer {
  readonly status?: number | undefined
  readonly failure?: string | undefined
}

/** A client of receivers, until the scope closes. */
export const makeSending = Effect.fnUntraced(function*(
  { insecure = false, networks = [], timeout = "15 seconds" }: Options
): Effect.fn.Return<(message: Message) => Effect.Effect<Answer>, never, Scope.Scope> {
  const isAllowed = yield* Effect.sync(() => makeAllowed(networks))
  const receivers = yield* atFirstUse(
    Effect.flatMap(Effect.tryPromise(() => import("./receivers.ts")), ({ makeReceivers }) => makeReceivers(isAllowed))
  )
  return ({ body, id, secrets, url: text }) =>
    Effect.gen(function*(): Effect.fn.Return<Answer> {
      const url = URL.parse(text)
      if (url?.protocol !== "https:" && !insecure) return { failure: "the address is not https" }
      const timestamp = String(Math.floor((yield* Clock.currentTimeMillis) / 1_000))
      const request = HttpClientRequest.post(text).pipe(
        HttpClientRequest.setHeaders({
          "webhook-id": id,
          "webhook-timestamp": timestamp,
          "webhook-signature": secrets.map((secret) => signatureOf(secret, `${id}.${timestamp}.${body}`)).join(" "),
          "user-agent": "AppKernel"
        }),
        HttpClientRequest.bodyText(body, "application/cloudevents+json")
      )
      return yield* Effect.useSpan("webhook POST", { kind: "client" }, (span) =>
        // The address may have a secret in it, which the client's own span would show.
        Effect.flatMap(
          receivers,
          (client) => client.execute(HttpClientRequest.setHeaders(request, HttpTraceContext.toHeaders(span)))
        ).pipe(
          Effect.tap(({ status }) => Effect.sync(() => span.attribute("http.response.status_code", status))),
          Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
        )).pipe(
          Effect.timeout(timeout),
          Effect.matchEffect({
            onFailure: (error) => Effect.succeed({ failure: failureOf(error) }),
            // The connection is free once the body is read. A long or slow one is cut, and the status counts.
            onSuccess: ({ status, stream }) =>
              Stream.scan(stream, () => 0, (length, part) => length + part.length).pipe(
                Stream.takeWhile((length) => length <= maxAnswer),
                Stream.runDrain,
                Effect.timeout(timeout),
                Effect.ignore,
                Effect.as({ status })
              )
          })
        )
    })
})

// internal

/** In bytes. */
const maxAnswer = 65_536

/** Standard Webhooks 1.0: the secret is the Base64 after its prefix. */
const signatureOf = (secret: string, content: string): string =>
  `v1,${createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64")).update(content).digest("base64")}`

/** The code of an error of the network, or else a short text, for the owner of the subscription. */
const failureOf = (error: { readonly _tag: string }): string => {
  if (error._tag === "TimeoutError") return "the receiver did not answer in time"
  for (let cause: unknown = error, depth = 0; depth < 5; depth++) {
    if (Predicate.hasProperty(cause, "code") && typeof cause.code === "string") return cause.code
    const next: unknown = Predicate.hasProperty(cause, "reason")
      ? cause.reason
      : Predicate.hasProperty(cause, "cause")
      ? cause.cause
      : undefined
    if (next === undefined) return cause instanceof Error ? cause.message.slice(0, 300) : error._tag
    cause = next
  }
  return error._tag
}
