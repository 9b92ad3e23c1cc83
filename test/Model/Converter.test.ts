import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { WebCrypto } from "effect/crypto"
import { Converter } from "../../src/Model/index.ts"

// Made by passlib 1.7.4: `passlib.hash.pbkdf2_sha256.using(salt=…, rounds=…).hash(text)`.
const byPasslib = [
  ["correct horse", "$pbkdf2-sha256$20000$c2FsdHNhbHRzYWx0c2FsdA$YbK4Hjbr9zAXtm6Wt7/PzhCNbzU4PeY6BSgPqhVdkuA"],
  ["correct horse", "$pbkdf2-sha256$1$$ZMA1N448/D1ij7XRKSAknopAy.7TubfJpGo0A/RBrGM"],
  ["", "$pbkdf2-sha256$1000$AP/7777.P4A$tJCeAKvm0rGP4z3edCH4W7xtiW17oE6azwWdzxKAy90"],
  ["Pässwörd ✓ 🔑", "$pbkdf2-sha256$29000$AAECAwQFBgcICQoLDA0ODw$rYlJb0WemiT92qIgWfSmWNMMknbQZsnocsjBXghJDco"],
  ["a\u0000b", "$pbkdf2-sha256$1000$./v7$E1ipF2BMBsTbj9d7tiO3HBIqtMBDJBCPd8hsP71hq6o"],
  [
    "x".repeat(200),
    "$pbkdf2-sha256$1000$yMnKy8zNzs/Q0dLT1NXW19jZ2tvc3d7f4OHi4.Tl5uc$EtSHufEMflAmKmsCe3C44fl5fKo0wn1qDSXLIQZbH8s"
  ]
] as const

/** The platform's cryptography, but for the salt. */
const withSalt = (salt: Uint8Array) => {
  const crypto: typeof globalThis.crypto = {
    subtle: globalThis.crypto.subtle,
    randomUUID: () => globalThis.crypto.randomUUID(),
    getRandomValues: (array) => {
      if (array instanceof Uint8Array) array.set(salt)
      return array
    }
  }
  return Effect.provideService(WebCrypto.WebCrypto, crypto)
}

const saltOf = (hash: string) => Buffer.from(hash.split("$")[3]!.replaceAll(".", "+"), "base64")

describe("Converter.contentHasher", () => {
  it.effect("writes passlib's format: algorithm, rounds, salt and hash", () =>
    Effect.gen(function*() {
      const hash = yield* Converter.contentHasher()("correct horse")
      assert.match(hash, /^\$pbkdf2-sha256\$600000\$[A-Za-z0-9./]{22}\$[A-Za-z0-9./]{43}$/u)
    }))

  it.effect("uses the given rounds and salt size", () =>
    Effect.gen(function*() {
      const hash = yield* Converter.contentHasher({ rounds: 1_007, saltSize: 9 })("text")
      assert.match(hash, /^\$pbkdf2-sha256\$1007\$[A-Za-z0-9./]{12}\$[A-Za-z0-9./]{43}$/u)
    }))

  it("rejects rounds and salts whose hashes it would not recognise", () => {
    for (
      const options of [{ rounds: 999 }, { rounds: 1_000_001 }, { rounds: 1_000.5 }, { rounds: NaN }, { saltSize: 7 }]
    ) {
      assert.throws(() => Converter.contentHasher(options), /must be an integer from/u)
    }
    Converter.contentHasher({ rounds: 1_000, saltSize: 8 })
    Converter.contentHasher({ rounds: 1_000_000 })
  })

  it.effect("uses a new salt for each hash", () =>
    Effect.gen(function*() {
      const hash = Converter.contentHasher({ rounds: 1_000 })
      assert.notStrictEqual(yield* hash("text"), yield* hash("text"))
    }))

  for (const [text, hash] of byPasslib.filter(([, hash]) => saltOf(hash).length >= 8)) {
    it.effect(`hashes ${JSON.stringify(text.slice(0, 20))} as passlib does (${hash.slice(15, 21)})`, () =>
      Effect.gen(function*() {
        const salt = saltOf(hash)
        const rounds = Number(hash.split("$")[2])
        const made = yield* Converter.contentHasher({ rounds, saltSize: salt.length })(text).pipe(withSalt(salt))
        assert.strictEqual(made, hash)
      }))
  }

  it.effect("does not hash a hash of 1,000 to 1,000,000 rounds and a salt of 8 bytes again", () =>
    Effect.gen(function*() {
      const hash = Converter.contentHasher({ rounds: 1_000 })
      for (const rounds of [1_000, 20_000, 1_000_000]) {
        for (const salt of ["AP/7777.P4A", "c2FsdHNhbHRzYWx0c2FsdA"]) {
          const hashed = `$pbkdf2-sha256$${rounds}$${salt}$tJCeAKvm0rGP4z3edCH4W7xtiW17oE6azwWdzxKAy90`
          assert.strictEqual(yield* hash(hashed), hashed)
        }
      }
      for (const [rounds, salt] of [[999, "AP/7777.P4A"], [1_000_001, "AP/7777.P4A"], [1_000, "AP/7777.P4"]] as const) {
        const text = `$pbkdf2-sha256$${rounds}$${salt}$tJCeAKvm0rGP4z3edCH4W7xtiW17oE6azwWdzxKAy90`
        const hashed = yield* hash(text)
        assert.notStrictEqual(hashed, text)
        assert.isTrue(yield* Converter.verifyContent(text, hashed))
      }
    }))

  it.effect("hashes text that only resembles a hash", () =>
    Effect.gen(function*() {
      const hash = Converter.contentHasher({ rounds: 1_000 })
      for (const text of noHashes) {
        assert.match(yield* hash(text), /^\$pbkdf2-sha256\$1000\$[A-Za-z0-9./]{22}\$[A-Za-z0-9./]{43}$/u, text)
        assert.notStrictEqual(yield* hash(text), text)
      }
    }))
})

describe("Converter.lowerCase", () => {
  it.effect("lowers and trims, once for all", () =>
    Effect.gen(function*() {
      for (
        const [text, made] of [
          [" JANE@Example.com\t", "jane@example.com"],
          ["jane@example.com", "jane@example.com"],
          ["GRÖSSE ΟΔΟΣ İ", "grösse οδοσ i\u0307"],
          ["οδος", "οδοσ"],
          ["\u00a0 \ufeff", ""],
          ["ne\u0301e@example.com", "n\u00e9e@example.com"],
          ["A\u030aNGSTRO\u0308M \u212b", "\u00e5ngstr\u00f6m \u00e5"]
        ] as const
      ) {
        assert.strictEqual(yield* Converter.lowerCase(text), made)
      }
    }))

  it.effect.prop("returns its own output unchanged", [Schema.String], ([text]) =>
    Effect.gen(function*() {
      const made = yield* Converter.lowerCase(text)
      assert.strictEqual(yield* Converter.lowerCase(made), made)
    }))
})

describe("Converter.verifyContent", () => {
  for (const [text, hash] of byPasslib) {
    it.effect(`verifies passlib's hash of ${JSON.stringify(text.slice(0, 20))} (${hash.slice(15, 21)})`, () =>
      Effect.gen(function*() {
        assert.isTrue(yield* Converter.verifyContent(text, hash))
        assert.isFalse(yield* Converter.verifyContent(`${text} `, hash))
      }))
  }

  it.effect("verifies the hasher's output", () =>
    Effect.gen(function*() {
      const hash = yield* Converter.contentHasher({ rounds: 2_000 })("Pässwörd")
      assert.isTrue(yield* Converter.verifyContent("Pässwörd", hash))
      assert.isFalse(yield* Converter.verifyContent("pässwörd", hash))
      assert.isFalse(yield* Converter.verifyContent("", hash))
      assert.isFalse(yield* Converter.verifyContent(hash, hash))
    }))

  it.effect("compares every character of the hash", () =>
    Effect.gen(function*() {
      const [text, hash] = byPasslib[1]
      for (const at of [hash.length - 43, hash.length - 20, hash.length - 2]) {
        const other = hash.slice(0, at) + (hash[at] === "A" ? "B" : "A") + hash.slice(at + 1)
        assert.isFalse(yield* Converter.verifyContent(text, other), String(at))
      }
    }))

  it.effect("rejects a hash of more than 1,000,000 rounds without computing it", () =>
    Effect.gen(function*() {
      let derived = 0
      const crypto = yield* WebCrypto.WebCrypto
      const counting = new Proxy(crypto.subtle, {
        get: (subtle, name) => {
          if (name === "deriveBits") derived++
          const member: unknown = Reflect.get(subtle, name)
          return typeof member === "function" ? member.bind(subtle) : member
        }
      })
      const salted = "AP/7777.P4A$tJCeAKvm0rGP4z3edCH4W7xtiW17oE6azwWdzxKAy90"
      const verify = (hash: string) =>
        Converter.verifyContent("", hash).pipe(
          Effect.provideService(WebCrypto.WebCrypto, {
            subtle: counting,
            randomUUID: () => crypto.randomUUID(),
            getRandomValues: (array) => array
          })
        )
      for (const rounds of [1_000_001, 9_999_999, 10_000_000]) {
        assert.isFalse(yield* verify(`$pbkdf2-sha256$${rounds}$${salted}`))
      }
      assert.strictEqual(derived, 0)
      assert.isTrue(yield* verify(`$pbkdf2-sha256$1000$${salted}`))
      assert.strictEqual(derived, 1)
    }))

  it.effect("matches nothing with text that is no hash", () =>
    Effect.gen(function*() {
      for (const text of noHashes) assert.isFalse(yield* Converter.verifyContent("text", text), text)
      assert.isFalse(yield* Converter.verifyContent("text", "text"))
      assert.isFalse(yield* Converter.verifyContent("", ""))
    }))
})

const noHashes = [
  "$pbkdf2-sha256$",
  "$pbkdf2-sha512$1$$ZMA1N448/D1ij7XRKSAknopAy.7TubfJpGo0A/RBrGM",
  "$pbkdf2-sha256$0$$ZMA1N448/D1ij7XRKSAknopAy.7TubfJpGo0A/RBrGM",
  "$pbkdf2-sha256$01$$ZMA1N448/D1ij7XRKSAknopAy.7TubfJpGo0A/RBrGM",
  "$pbkdf2-sha256$99999999$$ZMA1N448/D1ij7XRKSAknopAy.7TubfJpGo0A/RBrGM",
  "$pbkdf2-sha256$1$A$ZMA1N448/D1ij7XRKSAknopAy.7TubfJpGo0A/RBrGM",
  "$pbkdf2-sha256$1$$ZMA1N448/D1ij7XRKSAknopAy.7TubfJpGo0A/RBrG",
  "$pbkdf2-sha256$1$$ZMA1N448/D1ij7XRKSAknopAy+7TubfJpGo0A/RBrGM",
  " $pbkdf2-sha256$1$$ZMA1N448/D1ij7XRKSAknopAy.7TubfJpGo0A/RBrGM",
  "$pbkdf2-sha256$1$$ZMA1N448/D1ij7XRKSAknopAy.7TubfJpGo0A/RBrGM\n"
]
