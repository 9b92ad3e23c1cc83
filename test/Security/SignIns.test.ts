import { assert, it } from "@effect/vitest"
import { Duration, Effect, Layer, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as jose from "jose"
import {
  Accounts,
  Authentication,
  Converter,
  type CurrentUser,
  DocumentStore,
  Index,
  Jwt,
  Model,
  Repository,
  type SecurityError
} from "../../src/index.ts"
import { verifyAndStrengthen } from "../../src/internal/passwordHash.ts"
import { stampOf } from "../../src/Security/keys/passwordStamp.ts"
import * as SignIns from "../../src/Security/SignIns.ts"
import { inFuture } from "../support/mongo.ts"
import { storeMatrix } from "../support/storeMatrix.ts"
import { shop } from "../support/tokens.ts"

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  email: Schema.String.pipe(Model.indexed(Index.unique)),
  password: Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds: 1_000 })), Model.omitted),
  roles: Schema.Array(Schema.String),
  blocked: Schema.Boolean.pipe(Model.optional)
}) {}

const addUser = Effect.gen(function*() {
  const users = yield* Repository.for(User)
  const input = { email: `${crypto.randomUUID()}@example.com`, password: "correct horse", roles: ["buyer"] }
  return yield* users.insert(yield* Model.finalise(User, input))
})

/** A user who is signed in. */
const signedIn = Effect.gen(function*() {
  const { id, roles } = yield* addUser
  return { id, ...(yield* SignIns.signIn({ subject: id, roles })) }
})

const userOf = (token: Redacted.Redacted<string>) => Effect.flatMap(Jwt.Jwt, ({ verify }) => verify(token))

/** Whether a request with the token is authenticated. */
const isLive = (token: Redacted.Redacted<string>) =>
  Effect.flatMap(Jwt.Jwt, (jwt) => Authentication.bearer(jwt).verify(token)).pipe(
    Effect.as(true),
    Effect.catchTag("CredentialsInvalid", ({ reason }) => {
      assert.strictEqual(reason, "revoked")
      return Effect.succeed(false)
    })
  )

/** `new tokens`, or why not. */
const outcomeOf = (token: Redacted.Redacted<string> | string) =>
  SignIns.refresh(typeof token === "string" ? Redacted.make(token) : token).pipe(
    Effect.as("new tokens" as const),
    Effect.catchTag("CredentialsInvalid", ({ reason }) => Effect.succeed<SecurityError.Reason>(reason))
  )

/** What any process that uses the store answers: this one without its knowledge. */
const elsewhere = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    DocumentStore.DocumentStore,
    (store) => Effect.provideService(effect, DocumentStore.DocumentStore, DocumentStore.DocumentStore.of({ ...store }))
  )

storeMatrix((name, found) => {
  const store = name === "mongodb" ? inFuture(found) : found
  it.layer(
    Layer.mergeAll(
      Accounts.fromModel(User, { login: "email", secret: "password", blocked: "blocked" }),
      Repository.layer(User),
      shop("ES256")
    ).pipe(Layer.provideMerge(store))
  )(`Sign-ins / ${name}`, (it) => {
    it.effect("give tokens that name them, and new ones with the roles that the account has then", () =>
      Effect.gen(function*() {
        const users = yield* Repository.for(User)
        const first = yield* signedIn
        const claims = jose.decodeJwt(Redacted.value(first.accessToken))
        assert.strictEqual((claims.exp ?? 0) - (claims.iat ?? 0), 900)
        yield* users.patch(first.id, { roles: ["buyer", "admin"] })
        const second = yield* SignIns.refresh(first.refreshToken)
        const user = yield* userOf(second.accessToken)
        assert.deepStrictEqual([user.subject, ...user.roles], [first.id, "buyer", "admin"])
        assert.strictEqual(user.claims["sid"], claims["sid"])
        assert.notStrictEqual(user.claims["jti"], claims.jti)
        assert.deepStrictEqual([yield* isLive(first.accessToken), yield* isLive(second.accessToken)], [true, true])
      }))

    it.effect("end when the account gets another password, in the process as by a program that writes to the store", () =>
      Effect.gen(function*() {
        const users = yield* Repository.for(User)
        const store = yield* DocumentStore.DocumentStore
        const again = yield* Converter.contentHasher({ rounds: 1_000 })("correct horse")
        for (
          const change of [
            (id: string) => users.patch(id, { password: "battery staple" }),
            // The same password, set again.
            (id: string) => users.patch(id, { password: "correct horse" }),
            (id: string) => store.updateOne("User", { _id: id }, { $set: { password: again } })
          ]
        ) {
          const first = yield* signedIn
          const { id } = first
          const second = yield* SignIns.signIn({ subject: id, roles: ["buyer"] })
          const renewed = yield* SignIns.refresh(second.refreshToken)
          assert.isTrue(yield* isLive(first.accessToken))
          yield* change(id)
          assert.strictEqual(yield* outcomeOf(first.refreshToken), "revoked")
          assert.strictEqual(yield* outcomeOf(renewed.refreshToken), "revoked")
          assert.isFalse(yield* isLive(first.accessToken), "the refused renewal has ended it")
          assert.isFalse(yield* elsewhere(isLive(renewed.accessToken)))
          const next = yield* SignIns.signIn({ subject: id, roles: ["buyer"] })
          assert.isTrue(yield* isLive(next.accessToken))
          assert.strictEqual(yield* outcomeOf(next.refreshToken), "new tokens")
        }
      }))

    it.effect("are listed by their last use, however long they would go on, those of earlier versions by their beginning", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        const { id: subject } = yield* addUser
        for (const [days, isEarlier] of [[30, false], [14, true], [1, false], [7, false]] as const) {
          const lifetimes = {
            accessToken: Duration.minutes(15),
            refreshToken: Duration.days(days),
            revocationDelay: Duration.zero
          }
          const begun = SignIns.signIn({ subject, roles: ["buyer"] })
          const { accessToken } = yield* Effect.provideService(begun, SignIns.Lifetimes, lifetimes)
          const { sid } = jose.decodeJwt(Redacted.value(accessToken))
          if (isEarlier) yield* store.updateOne("appkernel_sign_ins", { _id: sid }, { $unset: { used: true } })
          yield* TestClock.adjust("1 minute")
        }
        const listed = yield* SignIns.sessions({ subject, roles: [], claims: {} })
        const lifetimes = listed.map(({ began, expires }) =>
          Math.round((expires.epochMilliseconds - began.epochMilliseconds) / 86_400_000)
        )
        assert.deepStrictEqual(lifetimes, [7, 1, 14, 30])
      }))

    it.effect("go on with the next password that an earlier version stored", () =>
      Effect.gen(function*() {
        const users = yield* Repository.for(User)
        const store = yield* DocumentStore.DocumentStore
        const { accessToken, id, refreshToken } = yield* signedIn
        const { sid } = jose.decodeJwt(Redacted.value(accessToken))
        const password = yield* Converter.contentHasher({ rounds: 1_000 })("battery staple")
        yield* store.updateOne("appkernel_sign_ins", { _id: sid }, { $set: { next: stampOf(password) } })
        yield* users.patch(id, { password })
        assert.strictEqual(yield* outcomeOf(refreshToken), "new tokens")
      }))

    it.effect("know a new password after the revocation delay", () =>
      Effect.gen(function*() {
        const users = yield* Repository.for(User)
        const { accessToken, id } = yield* signedIn
        assert.isTrue(yield* isLive(accessToken))
        yield* users.patch(id, { password: "battery staple" })
        yield* TestClock.adjust(Duration.millis(29_999))
        assert.isTrue(yield* isLive(accessToken))
        yield* TestClock.adjust(Duration.millis(1))
        assert.isFalse(yield* isLive(accessToken))
      }))

    it.effect("that began with the old password while it was replaced have ended", () =>
      Effect.gen(function*() {
        const users = yield* Repository.for(User)
        const { email, id } = yield* addUser
        const { verify } = yield* Accounts.Passwords
        const verified = yield* verify(email, Redacted.make("correct horse"))
        yield* users.patch(id, { password: "battery staple" })
        const late = yield* SignIns.signIn(verified)
        assert.isFalse(yield* isLive(late.accessToken))
        assert.strictEqual(yield* outcomeOf(late.refreshToken), "revoked")
      }))

    it.effect("go on when the account gets a stronger hash of its password", () =>
      Effect.gen(function*() {
        const users = yield* Repository.for(User)
        const user = yield* addUser
        const { verify } = yield* Accounts.Passwords
        const first = yield* SignIns.signIn({ subject: user.id, roles: user.roles })
        const { rehash } = yield* Accounts.Accounts
        const stronger = yield* verifyAndStrengthen("correct horse", user.password, 2_000)
        yield* rehash!(
          { subject: user.id, roles: [], secret: Redacted.make(user.password) },
          Redacted.make(stronger.stronger!)
        )
        assert.match((yield* users.findById(user.id)).password, /^\$pbkdf2-sha256\$2000\$/u)
        assert.strictEqual((yield* verify(user.email, Redacted.make("correct horse"))).subject, user.id)
        assert.isTrue(yield* isLive(first.accessToken))
        assert.strictEqual(yield* outcomeOf(first.refreshToken), "new tokens")
      }))

    it.effect("give tokens that end when the account loses a role, and go on when it gets one", () =>
      Effect.gen(function*() {
        const users = yield* Repository.for(User)
        const { id } = yield* addUser
        const first = yield* SignIns.signIn({ subject: id, roles: ["buyer"] })
        const stepUp = yield* SignIns.signIn({ subject: id, roles: ["one-time"] })
        const lives = Effect.forEach([first, stepUp], ({ accessToken }) => isLive(accessToken))
        assert.deepStrictEqual(yield* lives, [true, true])
        yield* users.patch(id, { roles: ["buyer", "clerk"] })
        const clerk = yield* SignIns.refresh(first.refreshToken)
        // Its roles are newer than what this process knows.
        assert.isTrue(yield* isLive(clerk.accessToken))
        assert.deepStrictEqual(yield* lives, [true, true])
        yield* users.patch(id, { roles: ["clerk"] })
        yield* TestClock.adjust("30 seconds")
        assert.deepStrictEqual(yield* lives, [false, false])
        assert.isFalse(yield* isLive(clerk.accessToken))
        const renewed = yield* SignIns.refresh(clerk.refreshToken)
        assert.deepStrictEqual((yield* userOf(renewed.accessToken)).roles, ["clerk"])
        assert.isTrue(yield* isLive(renewed.accessToken))
      }))

    it.effect("end if a refresh token comes a second time, on every process", () =>
      Effect.gen(function*() {
        const first = yield* signedIn
        const second = yield* SignIns.refresh(first.refreshToken)
        const third = yield* SignIns.refresh(second.refreshToken)
        assert.isTrue(yield* elsewhere(isLive(third.accessToken)))
        assert.strictEqual(yield* elsewhere(outcomeOf(first.refreshToken)), "reused")
        assert.strictEqual(yield* outcomeOf(third.refreshToken), "revoked")
        assert.deepStrictEqual(
          yield* Effect.forEach([first, second, third], ({ accessToken }) => elsewhere(isLive(accessToken))),
          [false, false, false]
        )
      }))

    it.effect("give tokens to one of many that refresh at once, and end", () =>
      Effect.gen(function*() {
        const { refreshToken } = yield* signedIn
        const outcomes = yield* Effect.all(
          Array.from({ length: 12 }, (_, i) =>
            i % 2 === 0 ? outcomeOf(refreshToken) : elsewhere(outcomeOf(refreshToken))),
          { concurrency: 12 }
        )
        assert.strictEqual(
          outcomes.filter((outcome) =>
            outcome === "new tokens"
          ).length,
          1,
          outcomes.join()
        )
        assert.isTrue(outcomes.includes("reused"), outcomes.join())
        assert.notInclude(["new tokens", "expired"], yield* outcomeOf(refreshToken))
      }))

    it.effect("end with the lifetime of a refresh token that is not used", () =>
      Effect.gen(function*() {
        const [used, unused] = [yield* signedIn, yield* signedIn]
        yield* TestClock.adjust("29 days")
        const { refreshToken } = yield* SignIns.refresh(used.refreshToken)
        yield* TestClock.adjust("1 day")
        assert.strictEqual(yield* outcomeOf(refreshToken), "new tokens")
        // The store may have removed it already.
        assert.include(["expired", "revoked"], yield* outcomeOf(unused.refreshToken))
        // The store removes those that nobody asks for.
        const store = yield* DocumentStore.DocumentStore
        const indexes = yield* store.listIndexes("appkernel_sign_ins")
        assert.deepStrictEqual(
          indexes.filter((index) => index.expireAfterSeconds === 0).map(({ key }) => key),
          [{ expires: 1 }]
        )
        const [document] = yield* store.find("appkernel_sign_ins", { filter: { subject: used.id } })
        assert.instanceOf(document?.["expires"], Date)
      }))

    it.effect("end when one of their tokens is revoked, here at once and elsewhere within the delay", () =>
      Effect.gen(function*() {
        const there = yield* Effect.map(DocumentStore.DocumentStore, (store) => ({ ...store }))
        const onOther = Effect.provideService(DocumentStore.DocumentStore, DocumentStore.DocumentStore.of(there))
        for (const kind of ["accessToken", "refreshToken"] as const) {
          const tokens = yield* signedIn
          assert.deepStrictEqual(
            [yield* isLive(tokens.accessToken), yield* onOther(isLive(tokens.accessToken))],
            [true, true]
          )
          yield* SignIns.revoke(tokens[kind])
          assert.isFalse(yield* isLive(tokens.accessToken))
          yield* TestClock.adjust("29999 millis")
          assert.isTrue(yield* onOther(isLive(tokens.accessToken)))
          yield* TestClock.adjust("1 millis")
          assert.isFalse(yield* onOther(isLive(tokens.accessToken)))
          assert.strictEqual(yield* onOther(outcomeOf(tokens.refreshToken)), "revoked")
        }
      }))

    it.effect("end all together, and only those of the user", () =>
      Effect.gen(function*() {
        const { id, roles } = yield* addUser
        const other = yield* signedIn
        const [one, two] = [
          yield* SignIns.signIn({ subject: id, roles }),
          yield* SignIns.signIn({ subject: id, roles })
        ]
        const all = Effect.forEach([one, two, other], ({ accessToken }) => isLive(accessToken))
        assert.deepStrictEqual(yield* all, [true, true, true])
        assert.strictEqual(yield* SignIns.signOut(id), 2)
        assert.deepStrictEqual(yield* all, [false, false, true])
        assert.strictEqual(yield* SignIns.signOut(id), 0)
      }))

    it.effect("don't count while their account is blocked, and end with it", () =>
      Effect.gen(function*() {
        const users = yield* Repository.for(User)
        const delay = TestClock.adjust("30 seconds")
        const [blocked, deleted] = [yield* signedIn, yield* signedIn]
        yield* users.patch(blocked.id, { blocked: true })
        yield* users.deleteById(deleted.id)
        assert.deepStrictEqual([yield* isLive(blocked.accessToken), yield* isLive(deleted.accessToken)], [false, false])
        assert.strictEqual(yield* outcomeOf(deleted.refreshToken), "account")
        yield* users.patch(blocked.id, { blocked: false })
        yield* delay
        assert.isTrue(yield* isLive(blocked.accessToken))
        yield* users.patch(blocked.id, { blocked: true })
        yield* delay
        assert.isFalse(yield* isLive(blocked.accessToken))
        assert.strictEqual(yield* outcomeOf(blocked.refreshToken), "account")
        yield* users.patch(blocked.id, { blocked: false })
        yield* delay
        assert.isFalse(yield* isLive(blocked.accessToken))
      }))

    it.effect("are not ended by what is no token of theirs, and none of others is asked about", () =>
      Effect.gen(function*() {
        const { accessToken, id, refreshToken } = yield* signedIn
        const claims = jose.decodeJwt(Redacted.value(accessToken))
        const [, secret = ""] = Redacted.value(refreshToken).split(".")
        // Whoever sees an access token knows the sign-in's id, which is no part of a refresh token.
        const forged = `${String(claims["sid"]).slice(0, 22)}.${secret}`
        for (const text of ["", "x", forged, `${Redacted.value(accessToken)}x`]) {
          yield* SignIns.revoke(Redacted.make(text))
        }
        assert.deepStrictEqual([yield* outcomeOf(forged), yield* outcomeOf("x"), yield* outcomeOf("")], [
          "revoked",
          "malformed",
          "malformed"
        ])
        assert.isTrue(yield* isLive(accessToken))
        const others: ReadonlyArray<CurrentUser["Service"]> = [
          { subject: id, roles: [], claims: {} },
          { subject: id, roles: [], claims: { iss: "shop" } },
          { subject: id, roles: [], claims: { iss: "https://login.example", sid: "theirs" } }
        ]
        assert.deepStrictEqual(yield* Effect.forEach(others, SignIns.isLive), [true, true, true])
        const forgedUser = { subject: id, roles: [], claims: { iss: "shop", sid: "ours" } }
        assert.isFalse(yield* SignIns.isLive(forgedUser))
      }))

    it.effect("store hashes of tokens", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        const { id, refreshToken } = yield* signedIn
        const stored = JSON.stringify(yield* store.find("appkernel_sign_ins", { filter: { subject: id } }))
        assert.include(stored, id)
        for (const part of Redacted.value(refreshToken).split(".")) assert.notInclude(stored, part)
        assert.strictEqual(JSON.stringify(refreshToken), "\"<redacted:refresh token>\"")
      }))

    it.effect("keep a refresh token whose use fails before it has an answer", () =>
      Effect.gen(function*() {
        const { refreshToken } = yield* signedIn
        const unavailable = Accounts.Accounts.of({
          find: () => Effect.die("no"),
          findBySubject: () => Effect.interrupt
        })
        yield* Effect.exit(Effect.provideService(SignIns.refresh(refreshToken), Accounts.Accounts, unavailable))
        assert.strictEqual(yield* outcomeOf(refreshToken), "new tokens")
      }))

    it.effect("are asked about once within the delay, however many requests come", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        let reads = 0
        const counting = DocumentStore.DocumentStore.of({
          ...store,
          findById: (...args) =>
            Effect.suspend(() => {
              reads++
              return store.findById(...args)
            })
        })
        const { accessToken } = yield* signedIn
        const ask = Effect.provideService(isLive(accessToken), DocumentStore.DocumentStore, counting)
        yield* ask
        yield* Effect.all(Array.from({ length: 100 }, () => ask), { concurrency: 100 })
        assert.strictEqual(reads, 1)
        yield* TestClock.adjust(Duration.seconds(30))
        yield* ask
        assert.strictEqual(reads, 2)
        yield* Effect.provideService(ask, SignIns.Lifetimes, {
          accessToken: Duration.minutes(1),
          refreshToken: Duration.days(1),
          revocationDelay: Duration.zero
        })
        assert.strictEqual(reads, 3)
      }))
  })
})
