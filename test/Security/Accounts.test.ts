import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Redacted } from "effect"
import { WebCrypto } from "effect/crypto"
import { Accounts, Converter, EmbeddedStore, type SecurityError } from "../../src/index.ts"

const rounds = 5_000

const accounts = Layer.effect(
  Accounts.Accounts,
  Effect.gen(function*() {
    const secret = Redacted.make(yield* Converter.contentHasher({ rounds })("correct horse"))
    const weak = Redacted.make(yield* Converter.contentHasher({ rounds: 1_000 })("correct horse"))
    const all = new Map<string, Accounts.Account>([
      ["jane", { subject: "U1", roles: ["buyer"], secret }],
      ["weak", { subject: "U4", roles: [], secret: weak }],
      ["plain", { subject: "U2", roles: [], secret: Redacted.make("correct horse") }],
      ["none", { subject: "U3", roles: [], secret: Redacted.make("") }]
    ])
    const find = (login: string) => Effect.succeed(Option.fromUndefinedOr(all.get(login)))
    return { find, findBySubject: find }
  })
)

const passwordsOf = (rounds: number) =>
  Layer.merge(Layer.provide(Accounts.layerPasswords({ rounds }), accounts), EmbeddedStore.layerMemory)

const passwords = passwordsOf(rounds)

const outcome = Effect.fnUntraced(function*(login: string, password: string) {
  const { verify } = yield* Accounts.Passwords
  return yield* verify(login, Redacted.make(password)).pipe(
    Effect.map(({ subject }): string => subject),
    Effect.catchTag("CredentialsInvalid", ({ reason }) => Effect.succeed<SecurityError.Reason>(reason))
  )
})

/** WebCrypto that counts derivations: those that ran, and how many of them ran at once. */
const counting = () => {
  const counts = { all: 0, running: 0, most: 0, rounds: 0 }
  const { subtle } = globalThis.crypto
  const counted = new Proxy(subtle, {
    get: (target, name) =>
      name !== "deriveBits"
        ? Reflect.get(target, name).bind(target)
        : async (...args: Parameters<typeof subtle.deriveBits>) => {
          counts.all++
          counts.most = Math.max(counts.most, ++counts.running)
          counts.rounds += Number(Reflect.get(Object(args[0]), "iterations"))
          try {
            return await target.deriveBits(...args)
          } finally {
            counts.running--
          }
        }
  })
  // Converters use these two members.
  const crypto = {
    subtle: counted,
    getRandomValues: (array: Uint8Array<ArrayBuffer>) => globalThis.crypto.getRandomValues(array)
  } as Crypto
  return { counts, layer: WebCrypto.layer(crypto) }
}

describe("Passwords", () => {
  it.effect("prove the user of an account, and nobody else", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(
        yield* Effect.all([
          outcome("jane", "correct horse"),
          outcome("jane", "Correct horse"),
          outcome("jane", ""),
          outcome("john", "correct horse"),
          outcome("plain", "correct horse"),
          outcome("none", ""),
          outcome("jane", "x".repeat(1_025)),
          outcome("john", "x".repeat(1_025))
        ]),
        ["U1", "secret", "secret", "account", "secret", "secret", "too-large", "too-large"]
      )
    }).pipe(Effect.provide(passwords)))

  it.effect("take the same work, whether or not there is an account with a password", () => {
    const { counts, layer } = counting()
    return Effect.gen(function*() {
      yield* Accounts.Passwords
      const work: Array<number> = []
      for (
        const [login, password] of [["jane", "correct horse"], ["jane", "x"], ["john", "x"], ["plain", "x"], [
          "none",
          ""
        ], ["weak", "x"]]
      ) {
        const before = counts.rounds
        yield* outcome(login!, password!)
        work.push(counts.rounds - before)
      }
      assert.deepStrictEqual(work, work.map(() => rounds))
    }).pipe(Effect.provide(Layer.provideMerge(passwords, layer)))
  })

  it.effect("are checked two at a time, also when callers go away", () => {
    const { counts, layer } = counting()
    return Effect.gen(function*() {
      const fibers = yield* Effect.forEach(
        Array.from({ length: 40 }, (_, i) => i),
        (i) => Effect.forkChild(outcome(i % 2 === 0 ? "john" : "jill", "correct horse"), { startImmediately: true })
      )
      yield* Effect.promise(async () => {
        while (counts.running < 2) await new Promise((resolve) => setImmediate(resolve))
      })
      yield* Fiber.interruptAll(fibers.slice(0, 20))
      const others = yield* Effect.forEach(fibers.slice(20), (fiber) => Fiber.join(fiber))
      assert.deepStrictEqual(others, others.map(() => "account"))
      assert.strictEqual(counts.most, 2)
    }).pipe(
      Effect.provide(Layer.provideMerge(passwordsOf(100_000), layer))
    )
  })
})
