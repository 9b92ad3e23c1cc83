/** Signing in by the cookie of the explorer, as a page does in a browser. */
import { connect, KernelError } from "@appkernel/react-admin"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { KernelEngine, Model, type Repository, Resource, Role, Tokens } from "../../../src/index.ts"
import { signingIn, User } from "../../../test/support/signingIn.ts"

const engine = KernelEngine.make("desk")
  .register(Resource.make(User, { methods: ["GET", "PATCH"] }).require(Role("admin")))
  .register(Tokens.service)
  .enableSecurity()
  .enableExplorer({ require: Role("admin") })

const password = "correct horse"

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

const addUsers = Effect.fnUntraced(function*(users: Repository.Repository<typeof User>) {
  for (const email of ["ann", "bob"]) {
    yield* users.insert(yield* Model.finalise(User, { email, password, roles: ["admin"] }))
  }
})

const started = Effect.gen(function*() {
  const { baseUrl, repositories: { users } } = yield* engine.test({ store: signingIn })
  yield* addUsers(users)
  const page = (fetch: typeof globalThis.fetch, onSignedOut?: () => void) =>
    connect({ url: baseUrl, fetch, document: "/explorer/openapi.json", session: "/explorer/session", onSignedOut })
  const signedIn = (fetch: typeof globalThis.fetch, username: string) =>
    Effect.promise(async () => {
      const connection = page(fetch)
      await connection.authProvider.login({ username, password })
      return connection
    })
  const isSignedIn = (fetch: typeof globalThis.fetch) =>
    Effect.promise(() => page(fetch).authProvider.checkAuth().then(() => true, () => false))
  return { isSignedIn, page, signedIn }
})

/** What a request to the endpoint of tokens asks for. */
const grantOf = (init: RequestInit | undefined) =>
  init?.body instanceof URLSearchParams ? init.body.get("grant_type") : undefined

/** A service without the explorer, at whose endpoint of tokens a page renews them. */
const service = Effect.gen(function*() {
  const started = yield* KernelEngine.make("desk")
    .register(Resource.make(User, { methods: ["GET"] }).require(Role("admin")))
    .register(Tokens.service)
    .enableSecurity()
    .test({ store: signingIn })
  yield* addUsers(started.repositories.users)
  return started
})

/** A page whose renewals wait. */
const renewing = Effect.gen(function*() {
  const { baseUrl } = yield* service
  const asked = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const callers: Array<string | null> = []
  let isRefused = true
  const send: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    if (request.url.includes("/users")) {
      callers.push(request.headers.get("authorization"))
      if (isRefused) {
        isRefused = false
        return new Response("{}", { status: 401 })
      }
    }
    const response = await fetch(input, init)
    if (grantOf(init) === "refresh_token") {
      asked.resolve()
      await held.promise
    }
    return response
  }
  const { ask, authProvider } = connect({ url: baseUrl, fetch: send, tokens: "/token" })
  const login = (username: string) => Effect.promise(() => authProvider.login({ username, password }))
  yield* login("ann")
  const request = ask({ path: "/users/" }).then(() => undefined, (error: unknown) => error)
  yield* Effect.promise(() => asked.promise)
  return { authProvider, callers, held, login, request: Effect.promise(() => request) }
})

/** A browser in which a page can be told that its token has run out. */
const refusing = (fetch: typeof globalThis.fetch) => {
  let isRefused = false
  const send: typeof fetch = async (input, init) => {
    const isOfData = !new Request(input, init).url.includes("/session")
    if (!isRefused || !isOfData) return fetch(input, init)
    isRefused = false
    return new Response("{}", { status: 401 })
  }
  return {
    fetch: send,
    refuse: () => {
      isRefused = true
    }
  }
}

const failed = (promise: Promise<unknown>) =>
  Effect.promise(() => promise.then(() => Promise.reject(new Error("It did not fail")), (error: unknown) => error))

describe("A renewal that is under way", () => {
  it.effect("signs nobody in who has signed out meanwhile", () =>
    Effect.gen(function*() {
      const { authProvider, held, request } = yield* renewing
      yield* Effect.promise(() => authProvider.logout())
      held.resolve()
      assert.strictEqual(((yield* request) as KernelError).status, 401)
      assert.instanceOf(yield* failed(authProvider.checkAuth()), KernelError)
    }))

  it.effect("keeps no request from the token that there is, if it has no answer", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* service
      let isOut = false
      const send: typeof fetch = async (input, init) => {
        const grant = grantOf(init)
        if (grant === "refresh_token") {
          isOut = true
          throw new TypeError("fetch failed")
        }
        const response = await fetch(input, init)
        return grant === "password"
          // It is renewed from now on, and ends later.
          ? Response.json({ ...await response.json(), expires_in: 29 })
          : response
      }
      const { ask, authProvider } = connect({ url: baseUrl, fetch: send, tokens: "/token" })
      yield* Effect.promise(() => authProvider.login({ username: "ann", password }))
      yield* Effect.promise(() => ask({ path: "/users/" }))
      assert.isTrue(isOut)
    }))

  it.effect("leaves who has signed in meanwhile, and sends no request again as that one", () =>
    Effect.gen(function*() {
      const { authProvider, callers, held, login, request } = yield* renewing
      yield* login("bob")
      const { id } = yield* Effect.promise(() => authProvider.getIdentity())
      held.resolve()
      assert.strictEqual(((yield* request) as KernelError).status, 401)
      assert.strictEqual((yield* Effect.promise(() => authProvider.getIdentity())).id, id)
      assert.strictEqual(callers.length, 1)
    }))
})

describe("A session in a cookie", () => {
  it.effect("does not make a page that is open another user's", () =>
    Effect.gen(function*() {
      const { isSignedIn, signedIn } = yield* started
      const shared = browser()
      const { fetch, refuse } = refusing(shared)
      const ann = yield* signedIn(fetch, "ann")
      yield* signedIn(shared, "bob")
      refuse()
      const error = yield* failed(ann.describe())
      assert.strictEqual((error as KernelError).status, 401)
      assert.instanceOf(yield* failed(ann.authProvider.checkAuth()), KernelError)
      assert.instanceOf(yield* failed(ann.authProvider.getIdentity()), KernelError)
      // The sign-in of the cookie is not hers to end.
      yield* Effect.promise(() => ann.authProvider.logout())
      assert.isTrue(yield* isSignedIn(shared))
    }))

  it.effect("is not taken on by a page whose user was signed out", () =>
    Effect.gen(function*() {
      const { signedIn } = yield* started
      const shared = browser()
      const { fetch, refuse } = refusing(shared)
      const ann = yield* signedIn(fetch, "ann")
      const other = yield* signedIn(shared, "ann")
      yield* Effect.promise(() => other.authProvider.logout())
      refuse()
      yield* failed(ann.describe())
      yield* signedIn(shared, "bob")
      assert.instanceOf(yield* failed(ann.authProvider.checkAuth()), KernelError)
    }))

  it.effect("that has ended is told once, and nothing is sent as nobody until somebody signs in", () =>
    Effect.gen(function*() {
      const { page, signedIn } = yield* started
      const shared = browser()
      const { fetch, refuse } = refusing(shared)
      let told = 0
      const asked: Array<string | null> = []
      const ann = page((input, init) => {
        const request = new Request(input, init)
        if (!request.url.includes("/session")) asked.push(request.headers.get("authorization"))
        return fetch(input, init)
      }, () => told++)
      const login = (username: string) => Effect.promise(() => ann.authProvider.login({ username, password }))
      yield* login("ann")
      const other = yield* signedIn(shared, "ann")
      yield* Effect.promise(() => other.authProvider.logout())
      refuse()
      for (let i = 0; i < 3; i++) {
        const error = yield* failed(ann.ask({ method: "POST", path: "/users/", body: {} }))
        assert.strictEqual((error as KernelError).status, 401)
      }
      assert.deepStrictEqual([told, asked.length, asked.includes(null)], [1, 1, false])
      yield* login("bob")
      yield* Effect.promise(() => ann.ask({ path: "/users/" }))
      // Who signs out goes on as nobody.
      yield* Effect.promise(() => ann.authProvider.logout())
      yield* failed(ann.ask({ path: "/users/" }))
      assert.deepStrictEqual([told, asked.length, asked.at(-1)], [1, 3, null])
    }))

  it.effect("is not asked about by who has signed in with credentials of their own", () =>
    Effect.gen(function*() {
      const { isSignedIn, page, signedIn } = yield* started
      const shared = browser()
      const { fetch, refuse } = refusing(shared)
      yield* signedIn(shared, "ann")
      for (const credentials of [{ apiKey: "none" }, { token: "none" }]) {
        const other = page(fetch)
        yield* Effect.promise(() => other.authProvider.login(credentials))
        refuse()
        const error = yield* failed(other.describe())
        assert.strictEqual((error as KernelError).status, 401)
        yield* Effect.promise(() => other.authProvider.logout())
      }
      assert.isTrue(yield* isSignedIn(shared))
    }))

  it.effect("is not begun by a sign-in whose page has signed out meanwhile", () =>
    Effect.gen(function*() {
      const { isSignedIn, page } = yield* started
      const shared = browser()
      const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const { authProvider } = page(async (input, init) => {
        if (grantOf(init) === "password") {
          asked.resolve()
          await held.promise
        }
        return shared(input, init)
      })
      const signingIn = failed(authProvider.login({ username: "ann", password }))
      const error = yield* Effect.all([
        signingIn,
        Effect.promise(async () => {
          await asked.promise
          await authProvider.logout()
          held.resolve()
        })
      ], { concurrency: 2 })
      assert.strictEqual((error[0] as KernelError).status, 401)
      assert.isFalse(yield* isSignedIn(shared))
    }))

  it.effect("says that it could not end the others", () =>
    Effect.gen(function*() {
      const { isSignedIn, page, signedIn } = yield* started
      const shared = browser()
      yield* signedIn(shared, "ann")
      const nobody = page(shared)
      assert.isTrue(nobody.canSignOutEverywhere)
      const error = yield* failed(nobody.authProvider.logout({ everywhere: true }))
      assert.strictEqual((error as KernelError).status, 401)
      assert.isTrue(yield* isSignedIn(shared))
    }))

  it.effect("is renewed although the page is left meanwhile", () =>
    Effect.gen(function*() {
      const { isSignedIn, signedIn } = yield* started
      const shared = browser()
      yield* signedIn(shared, "ann")
      const kept: Array<boolean | undefined> = []
      assert.isTrue(
        yield* isSignedIn((input, init) => {
          kept.push(init?.keepalive)
          return shared(input, init)
        })
      )
      assert.deepStrictEqual(kept, [true])
    }))

  it.effect("outlives a reload of the page, and ends with the sign-out, here or everywhere", () =>
    Effect.gen(function*() {
      const { isSignedIn, page, signedIn } = yield* started
      const [here, there] = [browser(), browser()]
      assert.isFalse(yield* isSignedIn(here))
      for (const one of [here, there]) yield* signedIn(one, "ann")
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
      yield* signedIn(here, "ann")
      yield* Effect.promise(() => other.authProvider.checkAuth())
      yield* Effect.promise(() => other.authProvider.logout({ everywhere: true }))
      assert.deepStrictEqual([yield* isSignedIn(here), yield* isSignedIn(there)], [false, false])
    }))
})
