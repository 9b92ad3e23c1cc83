import { assert, describe, it } from "@effect/vitest"
import { xxHash } from "../../../src/storage/lmdb/xxHash.ts"

// Of the reference implementation.
const known: ReadonlyArray<readonly [text: string, seed: number, hash: number]> = [
  ["", 0, 0x02cc_5d05],
  ["a", 0, 0x550d_7456],
  ["abc", 0, 0x32d1_53ff],
  ["Nobody inspects the spammish repetition", 0, 0xe229_3b2f]
]

describe("xxHash", () => {
  it.each(known)("of %o is that of the reference implementation", (text, seed, hash) => {
    const padded = Buffer.from(`--${text}--`)
    assert.strictEqual(xxHash(padded.subarray(2), text.length, seed), hash)
  })

  it("changes with any byte, and with the seed", () => {
    const bytes = Buffer.from(Array.from({ length: 67 }, (_, i) => i * 37 % 256))
    const before = xxHash(bytes, bytes.length, 7)
    assert.notStrictEqual(xxHash(bytes, bytes.length, 8), before)
    for (let at = 0; at < bytes.length; at++) {
      for (let change = 1; change < 256; change++) {
        bytes[at]! ^= change
        assert.notStrictEqual(xxHash(bytes, bytes.length, 7), before)
        bytes[at]! ^= change
      }
    }
  })
})
