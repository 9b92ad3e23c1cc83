import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { WebCrypto } from "effect/crypto"
import { TestClock } from "effect/testing"
import { Generator } from "../../src/Model/index.ts"

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u

describe("Generator", () => {
  it.effect("dateNow is the time of the current clock", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_000_000)
      assert.deepStrictEqual(yield* Generator.dateNow, DateTime.makeUnsafe(1_000_000))
    }))

  it.effect("uuid is a new random UUID of version 4 each time", () =>
    Effect.gen(function*() {
      const ids = yield* Effect.all(Array.from({ length: 100 }, () => Generator.uuid()))
      for (const id of ids) assert.match(id, uuid)
      assert.strictEqual(new Set(ids).size, 100)
    }))

  it.effect("uuid has the prefix in front", () =>
    Effect.gen(function*() {
      const id = yield* Generator.uuid({ prefix: "U" })
      assert.strictEqual(id[0], "U")
      assert.match(id.slice(1), uuid)
    }))

  it.effect("uuid uses the current random generator", () =>
    Effect.gen(function*() {
      const fixed = "00000000-0000-4000-8000-000000000000"
      const crypto: Crypto = {
        subtle: globalThis.crypto.subtle,
        getRandomValues: (array) => array,
        randomUUID: () => fixed
      }
      const id = yield* Generator.uuid({ prefix: "N" }).pipe(Effect.provideService(WebCrypto.WebCrypto, crypto))
      assert.strictEqual(id, `N${fixed}`)
    }))
})
