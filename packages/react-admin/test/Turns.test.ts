/** What becomes of what somebody has begun when somebody else signs in meanwhile, and of the tokens of a sign-in. */
import { connect, KernelError } from "@appkernel/react-admin"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { vi } from "vitest"
import { KernelEngine, Model, Resource } from "../../../src/index.ts"

class Note extends Model.Class<Note>()("Note", { id: Model.id({ prefix: "N" }), title: Schema.String }) {}

const notes = KernelEngine.make("notes")
  .register(Resource.make(Note, { methods: ["GET", "POST", "DELETE"] }))
  .enableOpenApi({ title: "Notes", version: "1.0.0" })

const tokenOf = (subject: string) => `h.${btoa(JSON.stringify({ sub: subject, roles: "user" }))}.s`

const userOf = (headers: Headers): string => {
  const [, payload] = (headers.get("authorization") ?? "").split(".")
  return payload === undefined ? "nobody" : String(JSON.parse(atob(payload)).sub)
}

/** A service that gives everybody tokens, and says who asks. An answer can be held, or be another one. */
const service = () => {
  const asked: Array<string> = []
  let answers: (asked: string) => Promise<Response | void> | Response | void = () => undefined
  const send: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    const { pathname } = new URL(request.url)
    const form = pathname.includes("/token") ? new URLSearchParams(await request.text()) : undefined
    const what = form === undefined
      ? `${request.method} ${pathname} as ${userOf(request.headers)}`
      : `${form.get("grant_type") ?? pathname} of ${
        form.get("username") ?? form.get("refresh_token") ?? form.get("token") ?? ""
      }`
    asked.push(what)
    const answer = await answers(what)
    if (answer instanceof Response) return answer
    if (form === undefined) return Response.json({ id: "I1", version: 1 })
    const subject = form.get("username") ?? form.get("refresh_token")?.slice(2) ?? ""
    return Response.json({ access_token: tokenOf(subject), expires_in: 300, refresh_token: `R-${subject}` })
  }
  const connection = connect({ url: "https://desk.example", tokens: "/token", fetch: send })
  const signIn = (username: string) => connection.authProvider.login({ username, password: "correct horse" })
  const answerBy = (next: typeof answers) => {
    answers = next
  }
  /** Holds the answers to a request; `begun` when there is the first one. */
  const hold = (what: string, answer?: () => Response) => {
    const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    answerBy(async (now) => {
      if (now !== what) return undefined
      answerBy(() => undefined)
      begun.resolve()
      await released.promise
      return answer?.()
    })
    return { begun: begun.promise, release: released.resolve }
  }
  return { ...connection, answerBy, asked, hold, signIn }
}

const statusOf = (promise: Promise<unknown>) =>
  promise.then(() => "done", (error: unknown) => error instanceof KernelError ? error.status : error)

describe("What somebody has begun", () => {
  it("is not sent as who has signed in while a token was renewed", async () => {
    vi.useFakeTimers({ toFake: ["Date"] })
    try {
      const { ask, asked, authProvider, hold, signIn } = service()
      await signIn("ann")
      vi.advanceTimersByTime(290_000)
      const renewal = hold("refresh_token of R-ann")
      const write = statusOf(ask({ method: "POST", path: "/orders", body: {} }))
      await renewal.begun
      await authProvider.logout()
      await signIn("bob")
      renewal.release()
      assert.strictEqual(await write, 401)
      assert.deepStrictEqual(asked.filter((one) => one.includes("/orders")), [])
    } finally {
      vi.useRealTimers()
    }
  })

  it("is not read again as who has signed in while the service had too much to do", async () => {
    const { ask, asked, authProvider, hold, signIn } = service()
    await signIn("ann")
    const busy = hold("GET /mine as ann", () => new Response("{}", { status: 503, headers: { "retry-after": "0" } }))
    const read = ask({ path: "/mine" })
    await busy.begun
    await authProvider.logout()
    await signIn("bob")
    busy.release()
    const error = await read.catch((cause: unknown) => cause)
    assert.strictEqual(error instanceof KernelError && error.status, 401)
    assert.deepStrictEqual(asked.filter((one) => one.includes("/mine")), ["GET /mine as ann"])
    // It does not sign out who is signed in now.
    await authProvider.checkError(error)
    await authProvider.logout()
    assert.strictEqual(await statusOf(authProvider.checkError(error)), 401)
  })

  it.effect("is not gone on with as who has signed in since its first write", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* notes.test()
      const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const { authProvider, dataProvider } = connect({
        url: baseUrl,
        fetch: async (input, init) => {
          const answer = await fetch(input, init)
          if (init?.method === "DELETE") {
            begun.resolve()
            await released.promise
          }
          return answer
        }
      })
      yield* Effect.promise(async () => {
        await authProvider.login({ token: tokenOf("ann") })
        const created = async (title: string) => (await dataProvider.create("notes", { data: { title } })).data.id
        const ids = [await created("One"), await created("Two")]
        const deletion = statusOf(dataProvider.deleteMany("notes", { ids }))
        await begun.promise
        await authProvider.login({ token: tokenOf("bob") })
        released.resolve()
        assert.strictEqual(await deletion, 401)
        const { data } = await dataProvider.getList("notes", {})
        assert.deepStrictEqual(data.map(({ id }) => id), ids.slice(1))
      })
    }))

  it("is signed out although the sign-in had no answer yet", async () => {
    const { ask, asked, authProvider, hold, signIn } = service()
    const held = hold("password of ann")
    const signingIn = statusOf(signIn("ann"))
    await held.begun
    await authProvider.logout()
    held.release()
    assert.strictEqual(await signingIn, 401)
    await ask({ path: "/mine" })
    assert.deepStrictEqual(asked, ["password of ann", "/token/revoke of R-ann", "GET /mine as nobody"])
  })
})

describe("A renewal", () => {
  it("without another refresh token is followed by one with the same", async () => {
    vi.useFakeTimers({ toFake: ["Date"] })
    try {
      const { answerBy, ask, asked, signIn } = service()
      await signIn("ann")
      answerBy((what) =>
        what.startsWith("refresh_token") ? Response.json({ access_token: tokenOf("ann"), expires_in: 300 }) : undefined
      )
      for (const _ of [1, 2]) {
        vi.advanceTimersByTime(290_000)
        await ask({ path: "/mine" })
      }
      assert.deepStrictEqual(
        asked.filter((one) => one.startsWith("refresh_token")),
        ["refresh_token of R-ann", "refresh_token of R-ann"]
      )
    } finally {
      vi.useRealTimers()
    }
  })
})
