/** Streams of changes while `server.response_timeout` limits the time of handlers: a stream goes on after its handler. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Fiber, Layer, Option, Redacted } from "effect"
import { connect } from "node:net"
import { Deadline, EmbeddedStore, Jwt, KernelEngine, Model, Permission, Resource } from "../../../src/index.ts"
import * as SignIns from "../../../src/Security/SignIns.ts"
import { openedStream, pass } from "../../support/eventStream.ts"
import { shop } from "../../support/tokens.ts"

class Order extends Model.Class<Order>()("Order", { id: Model.id() }, { logged: true }) {}

const within = (response_timeout: string) =>
  ConfigProvider.layer(ConfigProvider.fromUnknown({
    appkernel: {
      server: { response_timeout },
      live: { heartbeat: "100 millis", poll_timeout: "1 minute", max_streams_per_caller: 1 }
    }
  }))

const lifetimes = Layer.succeed(SignIns.Lifetimes, {
  accessToken: Duration.minutes(15),
  refreshToken: Duration.days(30),
  revocationDelay: Duration.seconds(1)
})

/** What rules and hooks had left of their time, in milliseconds. */
const left: Array<number> = []

const noted = Effect.map(Deadline.remaining, (remaining) => {
  left.push(Option.match(remaining, { onNone: () => -1, onSome: Duration.toMillis }))
})

const methods = ["GET"] as const

const engine = KernelEngine.make("limited").register(
  Resource.make(Order, { methods })
    .grant(Permission.make("noted", {}, () => Effect.as(noted, true)), { methods })
    .beforeGet(() => noted, { error: [] })
).enableSecurity()

const serving = Effect.gen(function*() {
  left.length = 0
  const { baseUrl } = yield* engine.test({ store: EmbeddedStore.layerMemory })
  const { sign } = yield* Jwt.Jwt
  const token = yield* sign({ subject: "ann", roles: [] })
  return { url: `${baseUrl}/orders/changes`, headers: { authorization: `Bearer ${Redacted.value(token)}` } }
})

/** Asks for a stream and closes the sending side: the end of what is received. */
const halfClosed = (url: string, { authorization }: { readonly authorization: string }, endAfter: string) =>
  Effect.callback<string>((resume) => {
    const { host, hostname, pathname, port } = new URL(url)
    let text = ""
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
    socket.on("data", (chunk) => {
      text += String(chunk)
      if (text.includes(endAfter)) socket.end()
    })
    socket.on("end", () => socket.end()).on("close", () => resume(Effect.succeed(text))).on("error", () => {})
    socket.write(`GET ${pathname}?live=sse HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${authorization}\r\n\r\n`)
    if (endAfter === "") socket.end()
    return Effect.sync(() => socket.destroy())
  })

const provided = (responseTimeout: string) =>
  Effect.provide(Layer.mergeAll(within(responseTimeout), lifetimes, Layer.orDie(shop("ES256"))))

describe("live / streams with a time limit of handlers", () => {
  for (const [when, endAfter] of [["at once", ""], ["later", "event: control"]] as const) {
    it.live(`end when their client closes its side ${when}, and leave their place`, () =>
      Effect.gen(function*() {
        const { headers, url } = yield* serving
        yield* halfClosed(url, headers, endAfter)
        const next = yield* openedStream(`${url}?live=sse`, headers)
        assert.strictEqual(next.response.status, 200)
      }).pipe(Effect.scoped, provided("400 millis")))
  }

  it.live("decide again with time of their own", () =>
    Effect.gen(function*() {
      const { headers, url } = yield* serving
      const stream = yield* openedStream(`${url}?live=sse`, headers)
      const before = left.length
      // The first decision is after the time of the handler, and each asks the rule and the hook.
      yield* Effect.repeat(Effect.andThen(stream.next, Effect.sync(() => left.length)), {
        until: (count) => count >= before + 4
      })
      for (const millis of left) assert.isAbove(millis, 0)
    }).pipe(Effect.scoped, provided("400 millis")))

  it.effect("answer a request that waits before its time is over", () =>
    Effect.gen(function*() {
      const { headers, url } = yield* serving
      const request = yield* Effect.forkChild(
        Effect.promise(() => fetch(`${url}?live=long-poll&offset=now`, { headers }))
      )
      while (request.pollUnsafe() === undefined) yield* pass(1)
      const answer = yield* Fiber.join(request)
      assert.strictEqual(answer.status, 204)
      assert.isString(answer.headers.get("stream-next-offset"))
    }).pipe(Effect.scoped, provided("30 seconds")))
})
