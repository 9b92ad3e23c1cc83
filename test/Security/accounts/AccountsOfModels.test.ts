import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted, Schema, SchemaGetter, SchemaTransformation } from "effect"
import { WebCrypto } from "effect/crypto"
import { Accounts, Converter, EmbeddedStore, Index, Model, Repository, SignInAttempts } from "../../../src/index.ts"
import { ClientAddressSource } from "../../../src/internal/clientAddress.ts"
import { type FreshStore } from "../../support/mongo.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"

const rounds = 1_000

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  email: Schema.String.pipe(
    Schema.decode(SchemaTransformation.toLowerCase()),
    Model.indexed(Index.unique)
  ),
  password: Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds })), Model.omitted, Model.optional),
  roles: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["user"])),
  blocked: Schema.Boolean.pipe(Model.optional),
  ...Model.softDeleted
}) {}

class Machine extends Model.Class<Machine>()("Machine", {
  id: Schema.Int,
  login: Schema.String.pipe(Model.indexed(Index.unique)),
  secret: Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds })), Model.omitted)
}) {}

const make = (input: (typeof User)["create"]["Type"]) =>
  Effect.flatMap(
    Repository.for(User),
    (users) => Effect.flatMap(Model.finalise(User, input), (user) => users.insert(user))
  )

const signIn = Effect.fnUntraced(function*(login: string, password: string) {
  const { verify } = yield* Accounts.Passwords
  return yield* verify(login, Redacted.make(password)).pipe(
    Effect.map(({ roles, subject }) => [subject, ...roles].join(" ")),
    Effect.catchTag("CredentialsInvalid", ({ reason }) => Effect.succeed<string>(reason))
  )
})

const contract = (name: string, store: FreshStore) =>
  it.layer(Layer.provideMerge(
    Layer.mergeAll(
      Accounts.fromModel(User, { login: "email", secret: "password", blocked: "blocked" }),
      Repository.layer(User)
    ),
    store
  ))(`Accounts of a model / ${name}`, (it) => {
    it.effect("are signed in to with the login as the field compares it", () =>
      Effect.gen(function*() {
        const { id } = yield* make({ email: "jane@example.com", password: "correct horse", roles: ["buyer", "größe"] })
        assert.deepStrictEqual(
          yield* Effect.all([
            signIn("jane@example.com", "correct horse"),
            signIn("JANE@example.COM", "correct horse"),
            signIn("jane@example.com ", "correct horse"),
            signIn("jane", "correct horse"),
            signIn("", "correct horse"),
            signIn("jane@example.com", "wrong")
          ]),
          [`${id} buyer größe`, `${id} buyer größe`, "account", "account", "account", "secret"]
        )
      }))

    it.effect("end with their documents, and while they are blocked", () =>
      Effect.gen(function*() {
        const users = yield* Repository.for(User)
        const accounts = yield* Accounts.Accounts
        const { id } = yield* make({ email: "ann@example.com", password: "correct horse" })
        const seen = Effect.all([
          signIn("ann@example.com", "correct horse"),
          Effect.map(accounts.findBySubject(id), (found) => Option.map(found, ({ roles }) => roles.join()))
        ])
        const found: [string, Option.Option<string>] = [`${id} user`, Option.some("user")]
        const none: typeof found = ["account", Option.none()]
        assert.deepStrictEqual(yield* seen, found)
        yield* users.patch(id, { blocked: true })
        assert.deepStrictEqual(yield* seen, none)
        yield* users.patch(id, { blocked: false })
        assert.deepStrictEqual(yield* seen, found)
        yield* users.deleteById(id)
        assert.deepStrictEqual(yield* seen, none)
        yield* users.restoreById(id)
        assert.deepStrictEqual(yield* seen, found)
        yield* users.purgeById(id)
        assert.deepStrictEqual(yield* seen, none)
      }))

    it.effect("without a password have none that is right", () =>
      Effect.gen(function*() {
        yield* make({ email: "none@example.com" })
        assert.deepStrictEqual(
          yield* Effect.all([signIn("none@example.com", ""), signIn("none@example.com", "null")]),
          [
            "secret",
            "secret"
          ]
        )
      }))
  })

/** Machines of before have the identifiers below 10. */
class Stronger extends Model.Class<Stronger>()("Stronger", {
  id: Schema.Int,
  login: Schema.String.pipe(Model.indexed(Index.unique)),
  secret: Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds: 3_000 })), Model.omitted),
  ...Model.versioned
}) {}

const strengthening = (name: string, store: FreshStore) =>
  it.layer(Layer.provideMerge(
    Layer.merge(Accounts.fromModel(Stronger, { login: "login", secret: "secret" }), Repository.layer(Stronger)),
    store
  ))(`Weak hashes of accounts / ${name}`, (it) => {
    const made = Effect.fnUntraced(function*(id: number, rounds: number) {
      const machines = yield* Repository.for(Stronger)
      const secret = yield* Converter.contentHasher({ rounds })("correct horse")
      return yield* machines.insert(new Stronger({ id, login: `m${id}`, secret }))
    })
    const secretOf = Effect.fnUntraced(function*(id: number) {
      const machines = yield* Repository.for(Stronger)
      return (yield* machines.findById(id)).secret
    })

    it.effect("are replaced by stronger ones at a sign-in, and only then", () =>
      Effect.gen(function*() {
        const { secret, version } = yield* made(1, 1_000)
        assert.strictEqual(yield* signIn("m1", "wrong"), "secret")
        assert.strictEqual(yield* secretOf(1), secret)
        assert.deepStrictEqual(
          yield* Effect.all(Array.from({ length: 10 }, () => signIn("m1", "correct horse")), { concurrency: 10 }),
          Array.from({ length: 10 }, () => "1")
        )
        const better = yield* secretOf(1)
        assert.match(better, /^\$pbkdf2-sha256\$3000\$/u)
        assert.isTrue(yield* Converter.verifyContent("correct horse", better))
        assert.strictEqual(yield* signIn("m1", "correct horse"), "1")
        assert.strictEqual(yield* signIn("m1", "wrong"), "secret")
        assert.strictEqual(yield* secretOf(1), better)
        // Who has read the document may still write it.
        const machines = yield* Repository.for(Stronger)
        assert.strictEqual((yield* machines.findById(1)).version, version)
      }))

    it.effect("stay if they are as strong, or the password has changed since", () =>
      Effect.gen(function*() {
        const { secret } = yield* made(2, 4_000)
        assert.strictEqual(yield* signIn("m2", "correct horse"), "2")
        assert.strictEqual(yield* secretOf(2), secret)
        const weak = yield* made(3, 1_000)
        const { rehash } = yield* Accounts.Accounts
        const machines = yield* Repository.for(Stronger)
        const changed = (yield* machines.patch(3, { secret: "battery staple" })).secret
        yield* rehash!({ subject: "3", roles: [], secret: Redacted.make(weak.secret) }, Redacted.make(secret))
        assert.strictEqual(yield* secretOf(3), changed)
      }))
  })

storeMatrix(strengthening)

storeMatrix(contract)

describe("Accounts of a model", () => {
  it.effect("have the text of the identifier as their subject", () =>
    Effect.gen(function*() {
      const machines = yield* Repository.for(Machine)
      yield* machines.insert(yield* Model.finalise(Machine, { id: 7, login: "m7", secret: "correct horse" }))
      assert.strictEqual(yield* signIn("m7", "correct horse"), "7")
      const { findBySubject } = yield* Accounts.Accounts
      const found = yield* Effect.forEach(["7", "07", "7.0", "8", "x", ""], (subject) =>
        Effect.map(findBySubject(subject), Option.isSome))
      assert.deepStrictEqual(found, [true, false, false, false, false, false])
    }).pipe(Effect.provide(Layer.provideMerge(
      Layer.mergeAll(Accounts.fromModel(Machine, { login: "login", secret: "secret" }), Repository.layer(Machine)),
      EmbeddedStore.layerMemory
    ))))

  it.effect("are refused at the start without a unique login, or with passwords that are not hashed", () =>
    Effect.gen(function*() {
      class Twice extends Model.Class<Twice>()("Twice", {
        id: Model.id(),
        login: Schema.String.pipe(Model.indexed(Index.plain)),
        secret: Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds }))),
        plain: Schema.String.pipe(Model.indexed(Index.unique))
      }) {}
      const defects = yield* Effect.forEach(
        [
          Accounts.fromModel(Twice, { login: "login", secret: "secret" }),
          Accounts.fromModel(Twice, { login: "plain", secret: "login" })
        ],
        (layer) => Effect.flip(Effect.catchDefect(Layer.build(layer), (defect) => Effect.fail(String(defect))))
      )
      assert.deepStrictEqual(defects, [
        "DeclarationError: Accounts.fromModel: two of Twice may have one login. Add Model.indexed(Index.unique) to it",
        "DeclarationError: Accounts.fromModel: Twice.login is not hashed. "
        + "Add Model.converted(Converter.contentHasher()) to it"
      ])
    }))

  it.effect("hash as much for names without an account, whatever rounds the field has", () =>
    Effect.gen(function*() {
      class Slow extends Model.Class<Slow>()("Slow", {
        id: Model.id(),
        login: Schema.String.pipe(Model.indexed(Index.unique)),
        secret: Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds: 60_000 })), Model.omitted)
      }) {}
      yield* Effect.gen(function*() {
        const slow = yield* Repository.for(Slow)
        yield* slow.insert(yield* Model.finalise(Slow, { login: "jane", secret: "correct horse" }))
        const hashed: Array<unknown> = []
        const { subtle } = crypto
        const deriveBits = (...[how, key, length]: Parameters<SubtleCrypto["deriveBits"]>) => {
          hashed.push(Object(how).iterations)
          return subtle.deriveBits(how, key, length)
        }
        const counting = new Proxy(crypto, {
          get: (_, name) =>
            name === "subtle"
              ? { deriveBits, importKey: subtle.importKey.bind(subtle) }
              : crypto.getRandomValues.bind(crypto)
        })
        const roundsFor = (login: string) => {
          hashed.length = 0
          return Effect.map(
            Effect.provideService(signIn(login, "wrong"), WebCrypto.WebCrypto, counting),
            () => [...hashed]
          )
        }
        assert.deepStrictEqual(yield* roundsFor("jane"), [60_000])
        assert.deepStrictEqual(yield* roundsFor("john"), [60_000])
      }).pipe(Effect.provide(Layer.provideMerge(
        Layer.mergeAll(Accounts.fromModel(Slow, { login: "login", secret: "secret" }), Repository.layer(Slow)),
        EmbeddedStore.layerMemory
      )))
    }))
})

/** Converters of logins, and schemas that change a value on its way in or to the store. */
const conversions: { readonly [name: string]: (login: typeof Schema.String) => unknown } = {
  "none": (login) => login,
  "lower case": Model.converted(Converter.lowerCase),
  "composed letters": Model.converted((text) => Effect.succeed(text.normalize("NFC").trim())),
  "look-alikes": Model.converted((text) => Effect.succeed(text.normalize("NFKC"))),
  "no white space": Model.converted((text) => Effect.succeed(text.replaceAll(/\s/gu, ""))),
  "no tag, no dots": Model.converted((text) =>
    Effect.sync(() => text.replace(/\+.*@/u, "@").replaceAll(".", "").trim().toLowerCase())
  ),
  "two of them": (login) =>
    login.pipe(
      Model.converted((text) => Effect.succeed(text.replaceAll(/[\s\u200b]/gu, ""))),
      Model.converted(Converter.lowerCase)
    ),
  "read in lower case": Schema.decode(SchemaTransformation.toLowerCase()),
  "read without white space": Schema.decode(SchemaTransformation.trim()),
  "stored in lower case": Schema.encode({
    decode: SchemaGetter.passthrough(),
    encode: SchemaGetter.transform((text: string) => text.trim().toLowerCase())
  })
}

/** Ways in which somebody may write a login otherwise. */
const spellings: ReadonlyArray<(text: string) => string> = [
  (text) => ` ${text}`,
  (text) => `${text}\u00a0`,
  (text) => `\t${text}\u3000`,
  (text) => text.toUpperCase(),
  (text) => text.normalize("NFD"),
  (text) => text.replace("@", "+tag@"),
  (text) => text.replace("e", ".e"),
  (text) => text.replace("a", "\uff41"),
  (text) => text.replace("@", " @"),
  (text) => `${text}\u200b`
]

describe("Wrong passwords", () => {
  for (const [name, convert] of Object.entries(conversions)) {
    it.effect.prop(
      `count for one account, whichever spelling finds it: ${name}`,
      [Schema.Array(Schema.Literals([...spellings.keys()])).check(Schema.isMinLength(1), Schema.isMaxLength(3))],
      ([chosen]) => {
        class Owner extends Model.Class<Owner>()("Owner", {
          id: Model.id(),
          // Each of them is a field of texts.
          login: (convert(Schema.String) as typeof Schema.String).pipe(Model.indexed(Index.unique)),
          secret: Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds })), Model.omitted)
        }) {}
        const layer = Accounts.fromModel(Owner, { login: "login", secret: "secret" }).pipe(
          Layer.provide(SignInAttempts.layerWith({ perAccount: { limit: 1, window: "1 hour" } })),
          Layer.provideMerge(Layer.provideMerge(Repository.layer(Owner), EmbeddedStore.layerMemory))
        )
        return Effect.gen(function*() {
          const owners = yield* Repository.for(Owner)
          const login = "jané@example.com"
          yield* owners.insert(yield* Model.finalise(Owner, { login, secret: "correct horse" }))
          const { find } = yield* Accounts.Accounts
          const { verify } = yield* Accounts.Passwords
          const guess = (login: string) =>
            verify(login, Redacted.make("wrong")).pipe(
              Effect.flip,
              Effect.map(({ _tag }) => _tag),
              Effect.provideService(ClientAddressSource, Effect.succeed("203.0.113.9"))
            )
          assert.strictEqual(yield* guess(login), "CredentialsInvalid")
          let other = login
          for (const i of chosen) {
            other = spellings[i]!(other)
            if (Option.isSome(yield* find(other))) assert.strictEqual(yield* guess(other), "TooManyAttempts", other)
          }
        }).pipe(Effect.provide(layer))
      },
      { arbitrary: { runs: 20 } }
    )
  }
})
