/** Wrong passwords that come over a socket, from several addresses behind a proxy. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted, Schema } from "effect"
import {
  Accounts,
  Anonymous,
  Authenticated,
  Converter,
  EmbeddedStore,
  Index,
  KernelEngine,
  Model,
  Repository,
  SecurityError,
  Service,
  ServiceError,
  SignInAttempts,
  Tokens
} from "../../../src/index.ts"
import { atOnce, send, serving } from "../../support/rest.ts"
import { shop } from "../../support/tokens.ts"

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

class Person extends Model.Class<Person>()("Person", {
  id: Model.id({ prefix: "P" }),
  email: Schema.String.pipe(Model.converted(Converter.lowerCase), Model.indexed(Index.unique)),
  password: Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds: 1_000 })), Model.omitted)
}) {}

/** A code that is short enough to be guessed. */
const Reset = Service.make("ResetService").operation("reset", {
  payload: { email: Schema.String, code: Schema.String },
  error: [Wrong, Wait],
  require: Anonymous
}, ({ payload: { code, email } }) =>
  Effect.gen(function*() {
    const { attempt } = yield* SignInAttempts.SignInAttempts
    const check = code === "314159"
      ? Effect.void
      : Effect.fail(new SecurityError.CredentialsInvalid({ reason: "secret" }))
    yield* attempt({ login: email }, check).pipe(
      Effect.catchTags({ CredentialsInvalid: () => new Wrong(), TooManyAttempts: () => new Wait() })
    )
  }))

const WhoAmI = Service.make("WhoAmIService").operation(
  "whoami",
  { path: "/whoami", success: Schema.String, require: Authenticated },
  () => Effect.succeed("somebody")
)

const secured = KernelEngine.make("shop").register(Person).register(Tokens.service).register(Reset).register(WhoAmI)
  .enableSecurity()

const spelled = Layer.effectDiscard(Effect.gen(function*() {
  const persons = yield* Repository.unrestricted(Person)
  for (const name of ["form", "basic", "reset", "ruth"]) {
    yield* persons.insert(
      yield* Model.finalise(Person, { email: `${name}@example.com`, password: Redacted.value(right) })
    )
  }
})).pipe(
  Layer.provideMerge(serving(secured, EmbeddedStore.layerMemory)),
  Layer.provide([Accounts.fromModel(Person, { login: "email", secret: "password" }), shop("ES256")]),
  Layer.provideMerge(SignInAttempts.layer)
)

/** Spellings of an address that are one account. */
const spellings = (email: string) =>
  Array.from(
    { length: 8 },
    (_, i) => `${" ".repeat(i)}${i % 2 === 0 ? email : email.toUpperCase()}${"\u00a0".repeat(i % 3)}`
  )

describe("failed attempts with other spellings of a login", () => {
  const form = (login: string, password: string) =>
    send("POST", "/token", new URLSearchParams({ grant_type: "password", username: login, password }).toString(), {
      "content-type": "application/x-www-form-urlencoded"
    })
  const basic = (login: string, password: string) =>
    send("GET", "/whoami", undefined, {
      authorization: `Basic ${Buffer.from(`${login}:${password}`).toString("base64")}`
    })
  const reset = (email: string, code: string) => send("POST", "/resets/reset", { email, code })

  it.layer(spelled, { excludeTestServices: true })((it) => {
    for (
      const [name, ask, wrong, rightSecret] of [
        ["a form for tokens", form, 400, "correct horse"],
        ["basic", basic, 401, "correct horse"],
        ["a reset of the program", reset, 403, "314159"]
      ] as const
    ) {
      it.effect(`count for the one account: ${name}`, () =>
        Effect.gen(function*() {
          const email = `${ask.name}@example.com`
          const statuses = yield* Effect.forEach(
            spellings(email),
            (login, i) => Effect.map(ask(login, i === 7 ? rightSecret : "guess"), ({ status }) => status)
          )
          assert.deepStrictEqual(statuses, [wrong, wrong, wrong, wrong, wrong, 429, 429, 429])
        }))
    }

    it.effect("count together, whichever way they come", () =>
      Effect.gen(function*() {
        const [one, two, three, four, five, six] = spellings("ruth@example.com")
        yield* form(one!, "guess")
        yield* basic(two!, "guess")
        yield* form(three!, "guess")
        yield* reset(four!, "guess")
        yield* basic(five!, "guess")
        assert.strictEqual((yield* form(six!, "correct horse")).status, 429)
      }))
  })
})
