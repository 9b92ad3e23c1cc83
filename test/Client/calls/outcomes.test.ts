/** Which answers open a circuit breaker: the status decides, whatever the body is. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, References, Schema, Stream } from "effect"
import * as zlib from "node:zlib"
import { ClientError, HttpClientFactory, KernelEngine, Model, Resource } from "../../../src/index.ts"
import { freshDirectory } from "../../support/folders.ts"
import { upstream } from "../support/upstream.ts"

class User extends Model.Class<User>()("User", { id: Model.id({ prefix: "U" }), name: Schema.String }) {}

const users = KernelEngine.make("users").register(Resource.make(User, { methods: ["GET"] }), { urlBase: "/" })

const large = "x".repeat(100_000)

/** Bodies that can't be read, with their encodings. */
const bodies: { readonly [name: string]: readonly [encoding: string, body: string | Buffer] } = {
  broken: ["gzip", "this is not compressed"],
  short: ["gzip", zlib.gzipSync("x".repeat(1_000)).subarray(0, 15)],
  unknown: ["secret", "what is it?"],
  large: ["identity", large],
  bomb: ["gzip", zlib.gzipSync(large)]
}

/** A service that answers by the last segment of the path: `404-broken`. */
const service = Effect.suspend(() =>
  upstream(({ url = "" }, response) => {
    const [status = "", name = ""] = url.split("/").findLast((one) => one !== "")?.split("-") ?? []
    const [encoding, body] = bodies[name] ?? ["identity", "{\"_type\":\"User\",\"id\":\"U1\",\"name\":\"Ann\"}"]
    response.writeHead(Number(status), { "content-type": "application/json", "content-encoding": encoding }).end(body)
  })
)

const client = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.provide(HttpClientFactory.layerWith({ maxResponseSize: 10_000, circuitBreaker: { failureThreshold: 1 } })),
    Effect.provideService(References.MinimumLogLevel, "None"),
    Effect.scoped
  )

type Failed = ClientError.RequestHandlingException | ClientError.CircuitOpenError | { readonly _tag: string }

/** What a call fails with: its reason and status. */
const failureOf = (call: Effect.Effect<unknown, Failed>) =>
  Effect.map(
    Effect.flip(call),
    (error) =>
      error instanceof ClientError.RequestHandlingException ? `${error.reason._tag} ${error.statusCode}` : error._tag
  )

/** The ways to call the service. */
const calls = Effect.gen(function*() {
  const { url } = yield* service
  const proxy = yield* HttpClientFactory.get(url)
  const typed = yield* HttpClientFactory.typed(users, url)
  const folder = yield* freshDirectory
  return new Map<string, (name: string) => Effect.Effect<unknown, Failed>>([
    ["get", (name) => proxy.wrap(name).get()],
    ["typed", (name) => typed.users.get({ params: { id: name } })],
    ["download", (name) => proxy.wrap(name).download()],
    ["streamDownload", (name) => Stream.runDrain(proxy.wrap(name).streamDownload())],
    ["downloadTo", (name) => proxy.wrap(name).downloadTo(`${folder}/`)]
  ])
})

const names = Object.keys(bodies)

describe("An answer whose body can't be read", () => {
  it.live("is what its status says: of 4xx it does not open the breaker", () =>
    Effect.gen(function*() {
      for (const [kind, call] of yield* calls) {
        for (const name of names) {
          assert.strictEqual(yield* failureOf(call(`404-${name}`)), "Status 404", `${kind} ${name}`)
        }
      }
    }).pipe(client))

  it.live("does not open the breaker where it is too large, or in an unknown encoding", () =>
    Effect.gen(function*() {
      for (const [kind, call] of yield* calls) {
        assert.strictEqual(yield* failureOf(call("200-unknown")), "InvalidAnswer 500", kind)
        // A stream has no maximum.
        if (kind === "streamDownload" || kind === "downloadTo") continue
        for (const name of ["large", "bomb"]) {
          assert.strictEqual(yield* failureOf(call(`200-${name}`)), "InvalidAnswer 500", `${kind} ${name}`)
        }
      }
    }).pipe(client))

  it.live("opens the breaker where it arrives damaged", () =>
    Effect.gen(function*() {
      for (const kind of (yield* calls).keys()) {
        for (const name of ["broken", "short"]) {
          const call = (yield* calls).get(kind) ?? assert.fail(kind)
          assert.strictEqual(yield* failureOf(call(`200-${name}`)), "InvalidAnswer 500", `${kind} ${name}`)
          assert.strictEqual(yield* failureOf(call("200-fine")), "CircuitOpenError", `${kind} ${name}`)
        }
      }
    }).pipe(client))

  it.live("opens the breaker with a status of 5xx", () =>
    Effect.gen(function*() {
      for (const kind of (yield* calls).keys()) {
        for (const name of names) {
          const call = (yield* calls).get(kind) ?? assert.fail(kind)
          assert.strictEqual(yield* failureOf(call(`503-${name}`)), "Status 503", `${kind} ${name}`)
          assert.strictEqual(yield* failureOf(call("200-fine")), "CircuitOpenError", `${kind} ${name}`)
        }
      }
    }).pipe(client))
})
