/** However a right ends, a stream that has it ends within `security.revocation_delay`, by the clock of the test. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Fiber, Layer, Redacted, Ref, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  Accounts,
  ApiKeys,
  Converter,
  DocumentStore,
  EmbeddedStore,
  HttpError,
  Index,
  Jwt,
  KernelEngine,
  Model,
  Permission,
  type Query,
  Resource
} from "../../../src/index.ts"
import * as SignIns from "../../../src/Security/SignIns.ts"
import { endForClient, endOfStream, nextMessages, type OpenedStream, openedStream } from "../../support/eventStream.ts"
import { shop } from "../../support/tokens.ts"

class Order extends Model.Class<Order>()("Order", { id: Model.id(), owner: Schema.String }, { logged: true }) {}

class User extends Model.Class<User>()("User", {
  id: Model.id(),
  email: Schema.String.pipe(Model.indexed(Index.unique)),
  password: Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds: 1_000 })), Model.omitted),
  roles: Schema.Array(Schema.String),
  blocked: Schema.Boolean
}) {}

const delay = Duration.seconds(9)

const lifetimes = Layer.succeed(SignIns.Lifetimes, {
  accessToken: Duration.hours(10),
  refreshToken: Duration.days(30),
  revocationDelay: delay
})

/** What rules and hooks go by. */
class Facts extends Context.Service<Facts, {
  readonly isOpen: Ref.Ref<boolean>
  readonly owner: Ref.Ref<string>
  readonly isRefusing: Ref.Ref<boolean>
  readonly isHanging: Ref.Ref<boolean>
}>()("test/Facts") {}

const serving = Effect.gen(function*() {
  const facts = Facts.of({
    isOpen: yield* Ref.make(true),
    owner: yield* Ref.make("crew"),
    isRefusing: yield* Ref.make(false),
    isHanging: yield* Ref.make(false)
  })
  const read = { methods: ["GET"] } as const
  const Orders = Resource.make(Order, read)
    .grant(Permission.Role("clerk"), read)
    .grant(Permission.Role("member"), {
      ...read,
      rows: ({ subject }) =>
        Effect.map(Ref.get(facts.owner), (owner): Query.Where<typeof Order> => ($) => $.owner.in([subject, owner]))
    })
    .grant(
      Permission.make("open", {}, ({ caller }) =>
        caller.roles.includes("guest")
          ? Effect.andThen(
            Effect.flatMap(Ref.get(facts.isHanging), (isHanging) => isHanging ? Effect.never : Effect.void),
            Ref.get(facts.isOpen)
          )
          : Effect.succeed(false)),
      read
    )
    .beforeGet(
      () =>
        Effect.flatMap(
          Ref.get(facts.isRefusing),
          (isRefusing) => isRefusing ? Effect.fail(new HttpError.Conflict({ message: "closed" })) : Effect.void
        ),
      { error: [] }
    )
  const engine = KernelEngine.make("rights").register(Orders).register(Resource.make(User).denyAll()).enableSecurity()
  const documents = yield* DocumentStore.DocumentStore
  const test = yield* engine.test({ store: Layer.succeed(DocumentStore.DocumentStore, documents) })
  const { users } = test.repositories
  const orders = `${test.baseUrl}/orders`
  const jwt = yield* Jwt.Jwt
  const keys = yield* ApiKeys.ApiKeys
  const token = (subject: string, role: string, expiresIn: Duration.Input = "10 hours") =>
    Effect.map(jwt.sign({ subject, roles: [role], expiresIn }), (signed) => ({
      authorization: `Bearer ${Redacted.value(signed)}`
    }))
  const userOf = (email: string) =>
    Effect.flatMap(
      Model.finalise(User, { email, password: "correct horse", roles: ["clerk"], blocked: false }),
      (user) => users.insert(user)
    )
  const signedIn = (email: string) =>
    Effect.gen(function*() {
      const user = yield* userOf(email)
      const { accessToken } = yield* SignIns.signIn({ subject: user.id, roles: user.roles })
      return { user, accessToken, headers: { authorization: `Bearer ${Redacted.value(accessToken)}` } }
    })
  const status = (headers: Record<string, string>) =>
    Effect.promise(() => fetch(orders, { headers }).then((answer) => answer.text().then(() => answer.status)))
  return { documents, facts, keys, orders, signedIn, status, token, userOf, users }
})

type Serving = Effect.Success<typeof serving>

interface Right {
  readonly headers: Record<string, string>
  readonly end: Effect.Effect<unknown, unknown>
  /** Gives it back, for the next streams. */
  readonly again?: Effect.Effect<unknown>
}

/** The ways in which rights end, and what the stream says at last. */
const ways: Record<
  string,
  readonly [number | string | undefined, (serving: Serving, name: string) => Effect.Effect<Right, unknown, Needs>]
> = {
  "the account loses a role": [
    401,
    ({ signedIn, users }, name) =>
      Effect.map(signedIn(name), ({ headers, user }) => ({ headers, end: users.patch(user.id, { roles: [] }) }))
  ],
  "the account is blocked": [
    401,
    ({ signedIn, users }, name) =>
      Effect.map(signedIn(name), ({ headers, user }) => ({ headers, end: users.patch(user.id, { blocked: true }) }))
  ],
  "the account is deleted": [
    401,
    ({ signedIn, users }, name) =>
      Effect.map(signedIn(name), ({ headers, user }) => ({ headers, end: users.deleteById(user.id) }))
  ],
  "the account gets another password": [
    401,
    ({ signedIn, users }, name) =>
      Effect.map(signedIn(name), ({ headers, user }) => ({
        headers,
        end: Effect.flatMap(
          Model.finalise(User, { ...user, password: "another horse" }),
          ({ password }) => users.patch(user.id, { password })
        )
      }))
  ],
  // Another process does not tell this one.
  "another process signs the user out": [
    401,
    ({ documents, signedIn }, name) =>
      Effect.map(signedIn(name), ({ headers, user }) => ({
        headers,
        end: documents.deleteMany("appkernel_sign_ins", { subject: user.id })
      }))
  ],
  "the user signs out": [401, ({ signedIn }, name) =>
    Effect.gen(function*() {
      const needs = yield* Effect.context<Needs>()
      const { accessToken, headers } = yield* signedIn(name)
      return { headers, end: Effect.provideContext(SignIns.revoke(accessToken), needs) }
    })],
  "an API key is revoked": [401, ({ keys, userOf }, name) =>
    Effect.gen(function*() {
      const needs = yield* Effect.context<Needs>()
      const { id, key } = yield* keys.generate({ owner: (yield* userOf(name)).id, roles: ["clerk"] })
      return { headers: { "x-api-key": Redacted.value(key) }, end: Effect.provideContext(keys.revoke(id), needs) }
    })],
  "the owner of an API key is gone": [401, ({ keys, userOf, users }, name) =>
    Effect.gen(function*() {
      const { id } = yield* userOf(name)
      const { key } = yield* keys.generate({ owner: id, roles: ["clerk"] })
      return { headers: { "x-api-key": Redacted.value(key) }, end: users.deleteById(id) }
    })],
  "a rule with an effect turns false": [403, ({ facts, token }) =>
    Effect.map(token("gus", "guest"), (headers) => ({
      headers,
      end: Ref.set(facts.isOpen, false),
      again: Ref.set(facts.isOpen, true)
    }))],
  "the rows of a grant change": ["reset", ({ facts, token }) =>
    Effect.map(token("ann", "member"), (headers) => ({
      headers,
      end: Ref.set(facts.owner, "others"),
      again: Ref.set(facts.owner, "crew")
    }))],
  "a hook refuses": ["reset", ({ facts, token }) =>
    Effect.map(token("cleo", "clerk"), (headers) => ({
      headers,
      end: Ref.set(facts.isRefusing, true),
      again: Ref.set(facts.isRefusing, false)
    }))],
  "it can't be decided any more": [undefined, ({ facts, token }) =>
    Effect.map(token("gus", "guest"), (headers) => ({
      headers,
      end: Ref.set(facts.isHanging, true),
      again: Ref.set(facts.isHanging, false)
    }))]
}

type Needs = Jwt.Jwt | DocumentStore.DocumentStore

const layer = Layer.mergeAll(
  Accounts.fromModel(User, { login: "email", secret: "password", blocked: "blocked" }),
  Layer.orDie(shop("ES256")),
  ApiKeys.layer,
  lifetimes
).pipe(Layer.provideMerge(Layer.fresh(EmbeddedStore.layerMemory)))

/** Lets everything run that waits for no clock, signatures too. */
const settled = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))

const parts = 18

/** The clock goes on in steps, between which everything runs. */
const pass = (steps: number) =>
  Effect.repeat(
    Effect.andThen(TestClock.adjust(Duration.times(delay, 1 / parts)), settled),
    { times: steps - 1 }
  )

/** How streams, and requests that wait, have ended by themselves: not each has the time to say it. */
const [said, answered] = [new Set<unknown>(), new Set<unknown>()]

describe("live / rights", () => {
  for (const [way, [end, rightOf]] of Object.entries(ways)) {
    it.effect(`a stream ends within the delay when ${way}`, () =>
      Effect.gen(function*() {
        const served = yield* serving
        for (const before of [1, 5, 10, 14]) {
          const right = yield* rightOf(served, `${before}@example.com`)
          // The process asks about the caller now, and not again before the delay has passed.
          assert.strictEqual(yield* served.status(right.headers), 200)
          yield* pass(before)
          const stream = yield* openedStream(`${served.orders}/changes?live=sse&offset=now`, right.headers)
          assert.strictEqual(stream.response.status, 200)
          const polled = yield* Effect.forkChild(Effect.promise(async () => {
            const answer = await fetch(`${served.orders}/changes?live=long-poll&offset=now`, right)
            return { status: answer.status, text: await answer.text() }
          }))
          yield* pass(parts + 1 - before)
          // Another request lets it ask just before the right ends.
          assert.strictEqual(yield* served.status(right.headers), 200)
          assert.isFalse(yield* stream.hasEnded)
          yield* right.end
          yield* pass(parts)
          const own = yield* endOfStream(stream)
          said.add(own)
          assert.strictEqual(own ?? (end === undefined ? end : yield* endForClient(stream)), end, `after ${before}`)
          // A request that waits for changes is answered, and with nothing that the caller may not know.
          const { status, text } = yield* Fiber.join(polled)
          answered.add(text.includes("reset") ? "reset" : status)
          if (typeof end === "number") assert.include([end, 204], status)
          else assert.include(["[{\"headers\":{\"control\":\"reset\"}}]", ""], text)
          if (right.again !== undefined) yield* right.again
        }
      }).pipe(Effect.scoped, Effect.provide(layer)))
  }

  it("a stream, and a request that waits, says how it ends", () => {
    assert.includeMembers([...said], ["reset", 401])
    assert.includeMembers([...answered], ["reset", 401])
  })

  it.effect("a stream ends within the delay when its token expires", () =>
    Effect.gen(function*() {
      const served = yield* serving
      const headers = yield* served.token("cleo", "clerk", "1 minute")
      const stream = yield* openedStream(`${served.orders}/changes?live=sse&offset=now`, headers)
      // Tokens count for 30 seconds longer, since clocks differ.
      yield* pass(10 * parts - 1)
      assert.strictEqual(yield* served.status(headers), 200)
      assert.isFalse(yield* stream.hasEnded)
      yield* pass(parts + 1)
      assert.strictEqual(yield* endForClient(stream), 401)
    }).pipe(Effect.scoped, Effect.provide(layer)))

  it.effect("no stream begins by what was known of its caller a while ago", () =>
    Effect.gen(function*() {
      const served = yield* serving
      const { headers, user } = yield* served.signedIn("ann@example.com")
      assert.strictEqual(yield* served.status(headers), 200)
      yield* served.users.deleteById(user.id)
      yield* pass(parts / 2)
      // The process has not asked since.
      assert.strictEqual(yield* served.status(headers), 200)
      for (const mode of ["sse", "long-poll"]) {
        const stream = yield* openedStream(`${served.orders}/changes?live=${mode}&offset=now`, headers)
        assert.strictEqual(stream.response.status, 401, mode)
      }
    }).pipe(Effect.scoped, Effect.provide(layer)))
})

class Account extends Model.Class<Account>()("Account", { id: Model.id(), tenant: Schema.BigInt }, { logged: true }) {}

const tenants = { ann: 2n ** 53n, ben: 2n ** 53n + 1n } as const

describe("streams of callers whose values differ", () => {
  it.live("by less than what a number can tell show each what is the caller's", () =>
    Effect.gen(function*() {
      const Own = Resource.make(Account, { methods: ["GET"] })
        .grant(Permission.Authenticated, {
          rows: ({ subject }) => ($) => $.tenant.equals(subject === "ann" ? tenants.ann : tenants.ben)
        })
      const { baseUrl, repositories, token } = yield* KernelEngine.make("tenants").register(Own).enableSecurity().test()
      const opened = (subject: string, query = "") =>
        Effect.flatMap(token({ subject }), (signed) =>
          openedStream(`${baseUrl}/accounts/changes?live=sse&offset=now${query}`, {
            authorization: `Bearer ${Redacted.value(signed)}`
          }))
      const [ann, ben] = [yield* opened("ann"), yield* opened("ben")]
      for (const [id, tenant] of Object.entries(tenants)) {
        yield* repositories.accounts.insert(new Account({ id, tenant }))
      }
      const first = (stream: OpenedStream) =>
        Effect.map(nextMessages(stream), (messages) =>
          messages.flatMap(({ key }) =>
            key ?? []
          ))
      assert.deepStrictEqual([yield* first(ann), yield* first(ben)], [["ann"], ["ben"]])
    }).pipe(Effect.scoped))
})
