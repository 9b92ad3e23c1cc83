import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, type PlatformError, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { ApiKeys, DocumentStore, EmbeddedStore } from "../../src/index.ts"
import type { StoreUnavailable } from "../../src/Repository/RepositoryError.ts"
import { freshDirectory } from "../support/folders.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

const outcome = Effect.fnUntraced(function*(key: string) {
  const { verify } = yield* ApiKeys.ApiKeys
  return yield* verify(Redacted.make(key)).pipe(
    Effect.map(({ roles, subject }) => [subject, ...roles].join(" ")),
    Effect.catchTag("CredentialsInvalid", ({ reason }) => Effect.succeed<string>(reason))
  )
})

const contract = (
  name: string,
  layer: Layer.Layer<ApiKeys.ApiKeys | DocumentStore.DocumentStore, PlatformError.PlatformError | StoreUnavailable>
) =>
  describe(`API keys / ${name}`, () => {
    it.effect("stand for their owner with their roles, until they expire or are revoked", () =>
      Effect.gen(function*() {
        const keys = yield* ApiKeys.ApiKeys
        const [endless, short] = yield* Effect.all([
          keys.generate({ owner: "U1", roles: ["report", "read"] }),
          keys.generate({ owner: "U2", expiresIn: "1 hour" })
        ])
        const [a, b] = [Redacted.value(endless.key), Redacted.value(short.key)]
        assert.deepStrictEqual([yield* outcome(a), yield* outcome(b)], ["U1 report read", "U2"])
        yield* TestClock.adjust("59 minutes")
        assert.strictEqual(yield* outcome(b), "U2")
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual([yield* outcome(a), yield* outcome(b)], ["U1 report read", "expired"])
        assert.isTrue(yield* keys.revoke(endless.id))
        assert.strictEqual(yield* outcome(a), "revoked")
        assert.isFalse(yield* keys.revoke("none"))
      }).pipe(Effect.provide(layer)))

    it.effect("are stored without their secret, and shown in no log", () =>
      Effect.gen(function*() {
        const keys = yield* ApiKeys.ApiKeys
        const store = yield* DocumentStore.DocumentStore
        const { id, key } = yield* keys.generate({ owner: "U1" })
        const secret = Redacted.value(key).slice(id.length + 1)
        assert.notInclude(JSON.stringify((yield* store.findById("appkernel_api_keys", id)) ?? {}), secret)
        assert.strictEqual(JSON.stringify(key), "\"<redacted:API key>\"")
      }).pipe(Effect.provide(layer)))

    it.effect("are refused with another secret, another id, or another form", () =>
      Effect.gen(function*() {
        const keys = yield* ApiKeys.ApiKeys
        const [one, other] = [yield* keys.generate({ owner: "U1" }), yield* keys.generate({ owner: "U2" })]
        const secret = Redacted.value(other.key).slice(other.id.length + 1)
        assert.deepStrictEqual(
          yield* Effect.all([
            outcome(`${one.id}.${secret}`),
            outcome(`${"A".repeat(16)}.${secret}`),
            outcome(`${Redacted.value(one.key)}\n`),
            outcome(one.id),
            outcome(""),
            outcome("x".repeat(1_000_000))
          ]),
          ["secret", "account", "malformed", "malformed", "malformed", "malformed"]
        )
      }).pipe(Effect.provide(layer)))

    it.layer(layer)("properties", (it) => {
      it.effect.prop(
        "differ, and no change of one verifies",
        [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 59 })), Schema.String],
        ([at, text]) =>
          Effect.gen(function*() {
            const keys = yield* ApiKeys.ApiKeys
            const key = Redacted.value((yield* keys.generate({ owner: "U1" })).key)
            const changed = key.slice(0, at) + text + key.slice(at + 1)
            assert.strictEqual((yield* outcome(changed)) === "U1", changed === key)
          })
      )
    })
  })

contract("memory only", Layer.merge(ApiKeys.layerMemory, EmbeddedStore.layerMemory))
storeMatrix((name, store) => contract(name, Layer.merge(ApiKeys.layer, store)))

it.effect("API keys outlive the process", () =>
  Effect.gen(function*() {
    const path = yield* freshDirectory
    const process_ = Effect.provide(Layer.fresh(Layer.merge(ApiKeys.layer, EmbeddedStore.layerWith({ path }))))
    const key = yield* process_(Effect.flatMap(ApiKeys.ApiKeys, ({ generate }) => generate({ owner: "U1" })))
    const { subject } = yield* process_(Effect.flatMap(ApiKeys.ApiKeys, ({ verify }) => verify(key.key)))
    assert.strictEqual(subject, "U1")
  }))
