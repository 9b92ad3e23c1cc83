/** Wrong passwords that come over a socket, from several addresses behind a proxy. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted, Schema } from "effect"
import {
  Accounts,
  Converter,
  EmbeddedStore,
  Index,
  KernelEngine,
  Model,
  Repository,
  Service,
  ServiceError
} from "../../../src/index.ts"
import { atOnce, send, serving } from "../../support/rest.ts"

class Member extends Model.Class<Member>()("Member", {
  id: Model.id({ prefix: "M" }),
  email: Schema.String.pipe(Model.indexed(Index.unique)),
  password: Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds: 1_000 })), Model.omitted)
}) {}

class Wrong extends ServiceError<Wrong>()("Wrong", { status: 403 }) {}

class Wait extends ServiceError<Wait>()("Wait", { status: 429 }) {}

const SignIn = Service.make("SignInService").operation("sign_in", {
  payload: { login: Schema.String, password: Schema.Redacted(Schema.String) },
  success: Schema.String,
  error: [Wrong, Wait]
}, ({ payload }) =>
  Effect.gen(function*() {
    const passwords = yield* Accounts.Passwords
    const { subject } = yield* passwords.verify(payload.login, payload.password).pipe(
      Effect.catchTags({ CredentialsInvalid: () => new Wrong(), TooManyAttempts: () => new Wait() })
    )
    return subject
  }))

const engine = KernelEngine.make("attempts").register(Member).register(SignIn, { segment: "members" })

const layer = Layer.effectDiscard(Effect.gen(function*() {
  const members = yield* Repository.for(Member)
  for (const name of ["jane", "tom"]) {
    yield* members.insert(
      yield* Model.finalise(Member, { email: `${name}@example.com`, password: Redacted.value(right) })
    )
  }
})).pipe(
  Layer.provideMerge(serving(engine, EmbeddedStore.layerMemory)),
  Layer.provide(Accounts.fromModel(Member, { login: "email", secret: "password" })),
  Layer.provide(ConfigProvider.layer(
    ConfigProvider.fromEnv({ env: { APPKERNEL_SERVER_TRUSTED_PROXIES: "127.0.0.1" } })
  ))
)

const right = Redacted.make("correct horse")

const signIn = (address: string, login: string, password: string) =>
  Effect.map(
    send("POST", "/members/sign_in", { login: `${login}@example.com`, password }, { "x-forwarded-for": address }),
    ({ status }) => status
  )

describe("failed attempts to sign in", () => {
  it.layer(layer, { excludeTestServices: true })((it) => {
    it.effect("are refused from an address, and the owner signs in from another one at once", () =>
      Effect.gen(function*() {
        const guesses = yield* atOnce(50, (i) => signIn("203.0.113.9", "jane", `guess ${i}`))
        assert.strictEqual(guesses.filter((status) => status === 403).length, 5)
        assert.strictEqual(guesses.filter((status) => status === 429).length, 45)
        assert.strictEqual(yield* signIn("203.0.113.9", "jane", "correct horse"), 429)
        assert.strictEqual(yield* signIn("198.51.100.7", "jane", "correct horse"), 200)
        assert.strictEqual(yield* signIn("203.0.113.9", "tom", "correct horse"), 200)
      }))

    it.effect("are not escaped by addresses that the client makes up", () =>
      Effect.gen(function*() {
        const guesses = yield* Effect.forEach(
          Array.from({ length: 8 }, (_, i) => i),
          (i) => signIn(`10.0.0.${i}, 203.0.113.10`, "jane", "guess")
        )
        assert.deepStrictEqual(guesses, [403, 403, 403, 403, 403, 429, 429, 429])
      }))
  })
})
