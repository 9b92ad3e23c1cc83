/** Signing in by the cookie of the explorer, as a page does in a browser. */
import { connect } from "@appkernel/react-admin"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import {
  Accounts,
  Converter,
  EmbeddedStore,
  Index,
  Jwt,
  KernelEngine,
  Model,
  Resource,
  Role,
  Tokens
} from "../../../src/index.ts"

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  email: Schema.String.pipe(Model.indexed(Index.unique)),
  password: Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds: 1_000 })), Model.omitted),
  roles: Schema.Array(Schema.String)
}) {}

const engine = KernelEngine.make("desk")
  .register(Resource.make(User, { methods: ["GET", "PATCH"] }).require(Role("admin")))
  .register(Tokens.service)
  .enableSecurity()
  .enableExplorer({ require: Role("admin") })

const store = Layer.mergeAll(
  EmbeddedStore.layerMemory,
  Jwt.layer,
  Accounts.fromModel(User, { login: "email", secret: "password" })
)

/** The cookies of a browser, which scripts don't see. */
const browser = () => {
  let cookie = ""
  const send: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers)
    if (init?.credentials === "same-origin" && cookie !== "") headers.set("cookie", cookie)
    const response = await fetch(input, { ...init, headers })
    for (const set of response.headers.getSetCookie()) cookie = set.split(";", 1)[0] ?? ""
    return response
  }
  return send
}

describe("A session in a cookie", () => {
  it.effect("outlives a reload of the page, and ends with the sign-out, here or everywhere", () =>
    Effect.gen(function*() {
      const { baseUrl, repositories: { users } } = yield* engine.test({ store })
      yield* users.insert(yield* Model.finalise(User, { email: "ann", password: "correct horse", roles: ["admin"] }))
      const page = (fetch: typeof globalThis.fetch) =>
        connect({ url: baseUrl, fetch, document: "/explorer/openapi.json", session: "/explorer/session" })
      const isSignedIn = (fetch: typeof globalThis.fetch) =>
        Effect.promise(() => page(fetch).authProvider.checkAuth().then(() => true, () => false))
      const [here, there] = [browser(), browser()]
      assert.isFalse(yield* isSignedIn(here))
      for (const one of [here, there]) {
        yield* Effect.promise(() => page(one).authProvider.login({ username: "ann", password: "correct horse" }))
      }
      assert.isTrue(yield* isSignedIn(here))
      // Each reload renews the tokens.
      assert.isTrue(yield* isSignedIn(here))
      const reloaded = page(here)
      yield* Effect.promise(() => reloaded.authProvider.checkAuth())
      const { resources } = yield* Effect.promise(() => reloaded.describe())
      assert.deepStrictEqual(resources.map(({ may, name }) => [name, may.update, may.delete]), [["users", true, false]])
      yield* Effect.promise(() => reloaded.authProvider.logout())
      assert.deepStrictEqual([yield* isSignedIn(here), yield* isSignedIn(there)], [false, true])
      const other = page(there)
      yield* Effect.promise(() => page(here).authProvider.login({ username: "ann", password: "correct horse" }))
      yield* Effect.promise(() => other.authProvider.checkAuth())
      yield* Effect.promise(() => other.authProvider.logout({ everywhere: true }))
      assert.deepStrictEqual([yield* isSignedIn(here), yield* isSignedIn(there)], [false, false])
    }))
})
