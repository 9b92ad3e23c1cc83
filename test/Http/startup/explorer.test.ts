/** The explorer: its page, what it tells whom, and who is signed in. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { connect } from "node:net"
import { builtExplorer } from "../../../scripts/explorer.ts"
import {
  type AccessPolicy,
  Authenticated,
  DocumentStore,
  EmbeddedStore,
  KernelEngine,
  Model,
  Monitoring,
  Resource,
  Role,
  Tokens
} from "../../../src/index.ts"
import { signingIn, User } from "../../support/signingIn.ts"

class Ticket extends Model.Class<Ticket>()("Ticket", {
  id: Model.id({ prefix: "T" }),
  title: Schema.String,
  cents: Schema.Int.pipe(Model.optional),
  owner: Schema.String
}) {}

const Tickets = Resource.make(Ticket, { methods: ["GET", "POST", "PATCH"] })
  .grant(Role("staff"), {
    methods: ["GET", "PATCH"],
    hide: ["cents"],
    rows: (me) => ($) => $.owner.equals(me.subject)
  })
  .require(Role("admin"))

const registered = KernelEngine.make("desk")
  .register(Resource.make(User).require(Role("admin")))
  .register(Tickets)
  .register(Tokens.service)
  .enableSecurity()

const explored = registered.enableExplorer({ path: "/office/explorer", require: [Role("admin"), Role("staff")] })

const password = "correct horse"

const servingWith = Effect.fnUntraced(function*(store: typeof signingIn) {
  const { baseUrl, repositories: { users }, token } = yield* explored.test({ store })
  const ids = new Map<string, string>()
  for (const role of ["admin", "staff", "guest"]) {
    const { id } = yield* users.insert(yield* Model.finalise(User, { email: role, password, roles: [role] }))
    ids.set(role, id)
  }
  const ask = (path: string, options: RequestInit = {}) =>
    Effect.promise(async () => {
      const response = await fetch(`${baseUrl}${path}`, { redirect: "manual", ...options })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text }
    })
  const authorized = (role: string) =>
    Effect.map(
      token({ subject: ids.get(role) ?? role, roles: [role] }),
      (token) => ({ authorization: `Bearer ${Redacted.value(token)}` })
    )
  return { ask, authorized, port: Number(new URL(baseUrl).port) }
})

const serving = servingWith(signingIn)

/** A store whose answers to renewals of sign-ins wait, though they are written. */
const answeringLate = (begun: Deferred.Deferred<void>, release: Deferred.Deferred<void>) =>
  Layer.effect(
    DocumentStore.DocumentStore,
    Effect.map(DocumentStore.DocumentStore, (store) =>
      DocumentStore.DocumentStore.of({
        ...store,
        updateOne: (collection, ...rest) =>
          Effect.tap(store.updateOne(collection, ...rest), () =>
            collection === "appkernel_sign_ins"
              ? Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(release))
              : Effect.void)
      }))
  )

const form = (values: Record<string, string>, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  body: new URLSearchParams(values),
  headers
})

const cookieOf = (headers: Headers): string => headers.getSetCookie().map((one) => one.split(";", 1)[0]).join("; ")

describe("The explorer", () => {
  it.effect("is a page for everybody that runs its own script only, and says nothing of the documents", () =>
    Effect.gen(function*() {
      yield* Effect.promise(() => builtExplorer())
      const { ask } = yield* serving
      const first = yield* ask("/office/explorer")
      const second = yield* ask("/office/explorer/")
      assert.strictEqual(first.status, 200)
      const policy = first.headers.get("content-security-policy") ?? ""
      assert.notInclude(policy, "unsafe")
      assert.include(policy, "frame-ancestors 'none'")
      const [, nonce = ""] = /nonce="([^"]+)"/u.exec(first.text) ?? []
      assert.include(policy, `'nonce-${nonce}'`)
      assert.notStrictEqual(nonce, /nonce="([^"]+)"/u.exec(second.text)?.[1])
      assert.notInclude(first.text, "tickets")
      const scriptOf = (page: string, text: string) =>
        new URL(/<script type="module" src="([^"]+)"/u.exec(text)?.[1] ?? "", `http://desk${page}`).pathname
      const script = scriptOf("/office/explorer", first.text)
      assert.strictEqual(script, scriptOf("/office/explorer/", second.text))
      // The service is found from both addresses.
      const serviceOf = (page: string, text: string) =>
        new URL(/&quot;url&quot;:&quot;([^&]+)/u.exec(text)?.[1] ?? "", `http://desk${page}`).pathname
      assert.deepStrictEqual(
        [serviceOf("/office/explorer", first.text), serviceOf("/office/explorer/", second.text)],
        ["/", "/"]
      )
      // Who can't be signed in does not need yet what shows documents.
      const cookie = "appkernel-session-desk=some"
      const opened = (site: string, own: Record<string, string> = {}) =>
        ask("/office/explorer", { headers: { "sec-fetch-site": site, ...own } })
      const pages = [
        yield* opened("none"),
        yield* opened("same-origin"),
        yield* opened("none", { cookie }),
        // A browser sends no such cookie to who follows a link of another site, and older ones don't say where it is.
        yield* opened("cross-site"),
        first
      ]
      assert.deepStrictEqual(
        pages.map(({ text }) => [
          /modulepreload" href="[^"]*page-/u.test(text),
          text.includes("&quot;isStranger&quot;:true")
        ]),
        [[false, true], [false, true], [true, false], [true, false], [true, false]]
      )
      const asset = yield* ask(script)
      assert.deepStrictEqual(
        [asset.status, asset.headers.get("content-type"), asset.headers.get("cache-control")],
        [200, "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"]
      )
      const other = yield* ask("/office/explorer/assets/..%2Fmanifest.json")
      assert.strictEqual(other.status, 404)
      // Whoever takes it gets the smallest form, and all of them have the same text.
      for (
        const [taken, given] of [["gzip, deflate, br", "br"], ["gzip;q=1, br;q=0", "gzip"], ["identity", null]] as const
      ) {
        const form = yield* ask(script, { headers: { "accept-encoding": taken } })
        assert.deepStrictEqual([form.headers.get("content-encoding"), form.text], [given, asset.text])
      }
      assert.strictEqual((yield* ask(`${script}.br`)).status, 404)
    }))

  it.effect("describes to each caller what is theirs, and nothing to others", () =>
    Effect.gen(function*() {
      const { ask, authorized } = yield* serving
      const described = (headers: Record<string, string>) => ask("/office/explorer/openapi.json", { headers })
      const statuses = [
        yield* described({}),
        yield* described(yield* authorized("guest")),
        yield* described({ authorization: "Bearer none" })
      ].map(({ status }) => status)
      assert.deepStrictEqual(statuses, [401, 403, 401])
      const admin = yield* described(yield* authorized("admin"))
      const staff = yield* described(yield* authorized("staff"))
      assert.include(admin.text, "\"/users\"")
      assert.include(admin.text, "cents")
      assert.notInclude(staff.text, "\"/users\"")
      assert.notInclude(staff.text, "cents")
      assert.include(staff.text, "tickets.patch")
      assert.notInclude(staff.text, "tickets.create")
    }))

  it.effect("says to each caller whether health and metrics are theirs", () =>
    Effect.gen(function*() {
      const monitoring = Monitoring.layer({ require: Role("admin") })
      const { baseUrl, token } = yield* explored.test({ store: Layer.merge(signingIn, monitoring) })
      const monitored = Effect.fnUntraced(function*(role: string) {
        const authorization = `Bearer ${Redacted.value(yield* token({ subject: role, roles: [role] }))}`
        const ask = (path: string) => Effect.promise(() => fetch(`${baseUrl}${path}`, { headers: { authorization } }))
        const document = yield* Effect.flatMap(ask("/office/explorer/openapi.json"), (response) =>
          Effect.promise((): Promise<unknown> => response.json()))
        return [Object(document)["x-monitoring"], (yield* ask("/health")).status]
      })
      assert.deepStrictEqual(yield* monitored("admin"), [["/health"], 200])
      assert.deepStrictEqual(yield* monitored("staff"), [[], 403])
    }))

  it.effect("keeps who is signed in by a cookie that no script and no other site has", () =>
    Effect.gen(function*() {
      const { ask } = yield* serving
      const session = "/office/explorer/session"
      const wrong = yield* ask(session, form({ grant_type: "password", username: "staff", password: "wrong" }))
      assert.deepStrictEqual([wrong.status, cookieOf(wrong.headers)], [400, ""])
      const signedIn = yield* ask(session, form({ grant_type: "password", username: "staff", password }))
      assert.strictEqual(signedIn.status, 200)
      assert.notInclude(signedIn.text, "refresh_token")
      const [cookie = ""] = signedIn.headers.getSetCookie()
      assert.match(cookie, /^appkernel-session-desk=[^;]+; Max-Age=\d+; HttpOnly; SameSite=Strict$/u)
      // A proxy with https may ask by the address of this machine.
      const proxied = form({ grant_type: "password", username: "staff", password }, { origin: "https://desk.example" })
      assert.match((yield* ask(session, proxied)).headers.getSetCookie()[0] ?? "", /; SameSite=Strict; Secure$/u)
      const renewed = yield* ask(session, form({ grant_type: "refresh_token" }, { cookie: cookieOf(signedIn.headers) }))
      assert.strictEqual(renewed.status, 200)
      const { access_token: token, username } = JSON.parse(renewed.text)
      // The page goes on to call its user by the name with which they have signed in.
      assert.strictEqual(username, "staff")
      const headers = { authorization: `Bearer ${token}` }
      assert.strictEqual((yield* ask("/office/explorer/openapi.json", { headers })).status, 200)
      // Another site neither signs in nor out.
      const elsewhere = { "sec-fetch-site": "cross-site", cookie: cookieOf(renewed.headers) }
      assert.strictEqual((yield* ask(session, form({ grant_type: "refresh_token" }, elsewhere))).status, 403)
      assert.strictEqual((yield* ask(session, { method: "DELETE", headers: elsewhere })).status, 403)
      const signedOut = yield* ask(session, { method: "DELETE", headers: { cookie: cookieOf(renewed.headers) } })
      assert.deepStrictEqual([signedOut.status, cookieOf(signedOut.headers)], [204, "appkernel-session-desk="])
      const after = yield* ask(session, form({ grant_type: "refresh_token" }, { cookie: cookieOf(renewed.headers) }))
      assert.strictEqual(after.status, 400)
      assert.strictEqual((yield* ask(session, form({ grant_type: "refresh_token" }))).status, 204)
    }))

  it.effect("lets a page be loaded again while it is loaded, and nobody use a cookie later", () =>
    Effect.gen(function*() {
      const { ask } = yield* serving
      const session = "/office/explorer/session"
      const { headers } = yield* ask(session, form({ grant_type: "password", username: "staff", password }))
      const renew = (cookie: string) => ask(session, form({ grant_type: "refresh_token" }, { cookie }))
      const [first, second] = yield* Effect.all([renew(cookieOf(headers)), renew(cookieOf(headers))], {
        concurrency: 2
      })
      assert.deepStrictEqual([first.status, second.status], [200, 200])
      assert.strictEqual(cookieOf(second.headers), cookieOf(first.headers))
      const next = yield* renew(cookieOf(first.headers))
      assert.strictEqual(next.status, 200)
      yield* TestClock.adjust("11 seconds")
      assert.strictEqual((yield* renew(cookieOf(headers))).status, 400)
      assert.strictEqual((yield* renew(cookieOf(next.headers))).status, 400)
    }))

  it.effect("keeps the answer to a page that has left before it came", () =>
    Effect.gen(function*() {
      const [begun, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const late = Layer.provide(answeringLate(begun, release), EmbeddedStore.layerMemory)
      const { ask, port } = yield* servingWith(Layer.merge(signingIn, late))
      const session = "/office/explorer/session"
      const { headers } = yield* ask(session, form({ grant_type: "password", username: "staff", password }))
      const cookie = cookieOf(headers)
      const renewal = form({ grant_type: "refresh_token" }, { cookie })
      const body = "grant_type=refresh_token"
      const page = connect(port, "127.0.0.1").on("error", () => {})
      page.write(
        `POST ${session} HTTP/1.1\r\nhost: a\r\ncookie: ${cookie}\r\ncontent-length: ${body.length}\r\n` +
          `content-type: application/x-www-form-urlencoded\r\n\r\n${body}`
      )
      yield* Deferred.await(begun)
      page.resetAndDestroy()
      // The service learns that a connection is gone before it answers another one.
      for (let i = 0; i < 2; i++) assert.strictEqual((yield* ask("/office/explorer/openapi.json")).status, 401)
      yield* Deferred.succeed(release, undefined)
      assert.strictEqual((yield* ask(session, renewal)).status, 200)
    }))

  it.effect("ends all sign-ins of a user at once", () =>
    Effect.gen(function*() {
      const { ask, authorized } = yield* serving
      const session = "/office/explorer/session"
      const credentials = form({ grant_type: "password", username: "staff", password })
      const here = yield* ask(session, credentials)
      const there = yield* ask(session, credentials)
      const everywhere = `${session}?everywhere=true`
      // Credentials that are no sign-in of the explorer's application end none, though they are of the same user.
      for (const headers of [{}, yield* authorized("staff")]) {
        assert.strictEqual((yield* ask(everywhere, { method: "DELETE", headers })).status, 401)
      }
      const renewed = yield* ask(session, form({ grant_type: "refresh_token" }, { cookie: cookieOf(there.headers) }))
      assert.strictEqual(renewed.status, 200)
      const headers = { authorization: `Bearer ${JSON.parse(here.text).access_token}`, cookie: cookieOf(here.headers) }
      assert.strictEqual((yield* ask(everywhere, { method: "DELETE", headers })).status, 204)
      const ended = yield* ask(session, form({ grant_type: "refresh_token" }, { cookie: cookieOf(renewed.headers) }))
      assert.strictEqual(ended.status, 400)
    }))

  it.effect("is not there unless it is enabled", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* registered.test({ store: signingIn })
      const statuses = yield* Effect.promise(() =>
        Promise.all(["", "/openapi.json", "/assets/main.js"].map((path) =>
          fetch(`${baseUrl}/explorer${path}`).then(({ status }) => status)
        ))
      )
      assert.deepStrictEqual(statuses, [404, 404, 404])
    }))

  it("is part of the policy, for everybody signed in by default", () => {
    const rows = (engine: { readonly policy: AccessPolicy.AccessPolicy }) =>
      engine.policy.entries.filter(({ registration }) => registration === "explorer").map(({ endpoint, who }) => [
        endpoint,
        who
      ])
    assert.deepStrictEqual(rows(explored), [
      ["GET /office/explorer", "everybody"],
      ["GET /office/explorer/openapi.json", "admin, or staff"]
    ])
    assert.deepStrictEqual(rows(registered.enableExplorer()), [
      ["GET /explorer", "everybody"],
      ["GET /explorer/openapi.json", "everybody signed in"]
    ])
    assert.deepStrictEqual(rows(registered.enableExplorer({ require: Authenticated }))[1]?.[1], "everybody signed in")
  })

  it.effect("does not start where something else is, or at no path", () =>
    Effect.gen(function*() {
      const taken = yield* Effect.flip(registered.enableExplorer({ path: "/tickets" }).test({ store: signingIn }))
      assert.strictEqual(taken._tag, "RouteConflict")
      const root = yield* Effect.flip(registered.enableExplorer({ path: "/" }).test({ store: signingIn }))
      assert.include(root.message, "enableExplorer needs a path of its own")
    }))
})
