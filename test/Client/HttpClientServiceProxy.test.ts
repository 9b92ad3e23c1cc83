import { assert, describe, it } from "@effect/vitest"
import { HttpClientFactory, Model } from "appkernel"
import { Effect, Schema } from "effect"
import { upstream } from "./support/upstream.ts"

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  name: Schema.String
}) {}

const withClient = Effect.provide(HttpClientFactory.layerWith({ models: [User] }))

describe("HttpClientServiceProxy", () => {
  it.live("calls the URLs of the specification's table", () =>
    Effect.gen(function*() {
      const service = yield* upstream(({ url }) => ({ url }))
      for (const root of [service.url, `${service.url}/`, `${service.url}//`]) {
        const proxy = yield* HttpClientFactory.get<"users">(root)
        const urls = yield* Effect.forEach([
          proxy.users.get(),
          proxy.at("users").get(),
          proxy.at("then").get(),
          proxy.users.get({ pathExtension: "U1" }),
          proxy.users.get({ pathExtension: "//U1/" }),
          proxy.users.get({ pathExtension: 7 }),
          proxy.users.get({ pathExtension: "U1?full=yes" }),
          proxy.users.get({ pathExtension: "?next=/../admin" }),
          proxy.wrap("users").get(),
          proxy.wrap("/users").get(),
          proxy.wrap("users/").get(),
          proxy.wrap("users/").get({ pathExtension: "/U1" }),
          proxy.wrap("users").get({ pathExtension: "U1" })
        ], (call) => Effect.map(call, ([status, body]) => [status, body]))
        assert.deepStrictEqual(
          urls,
          [
            "/users/",
            "/users/",
            "/then/",
            "/users/U1",
            "/users/U1/",
            "/users/7",
            "/users/U1?full=yes",
            "/users/?next=/../admin",
            "/users",
            "/users",
            "/users/",
            "/users/U1",
            "/users/U1"
          ].map((url) => [200, { url }])
        )
      }
    }).pipe(withClient))

  it.live("sends instances as their JSON text, and gives back instances of the models it knows", () =>
    Effect.gen(function*() {
      const service = yield* upstream(({ text }) => JSON.parse(text))
      const proxy = yield* HttpClientFactory.get(service.url)
      const jane = new User({ id: "U1", name: "Jane" })
      const [status, body] = yield* proxy.at("users").post({ payload: jane })
      assert.strictEqual(status, 200)
      assert.instanceOf(body, User)
      assert.deepStrictEqual(body, jane)
      assert.deepStrictEqual(JSON.parse(service.requests[0]?.body ?? ""), { _type: "User", id: "U1", name: "Jane" })
    }).pipe(withClient))
})
