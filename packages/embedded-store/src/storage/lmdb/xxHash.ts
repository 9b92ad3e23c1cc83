/** The checksum of small records in the store on disk, by which it detects damage. */

/**
 * XXH32, the fast checksum of 32 bits by Yann Collet. In JavaScript it takes less time for a small document than a call of
 * a native one.
 */
export const xxHash = (bytes: Uint8Array, length: number, seed: number): number => {
  if (bytes.buffer !== view.buffer) view = new DataView(bytes.buffer)
  let at = bytes.byteOffset
  const end = at + length
  let hash = seed + prime5
  if (length >= stripe) {
    let [a, b, c, d] = [seed + prime1 + prime2 | 0, seed + prime2 | 0, seed | 0, seed - prime1 | 0]
    for (const last = end - stripe; at <= last; at += stripe) {
      a = round(a, view.getInt32(at, true))
      b = round(b, view.getInt32(at + 4, true))
      c = round(c, view.getInt32(at + 8, true))
      d = round(d, view.getInt32(at + 12, true))
    }
    hash = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18)
  }
  hash = hash + length | 0
  for (; at + 4 <= end; at += 4) {
    hash = Math.imul(rotate(hash + Math.imul(view.getInt32(at, true), prime3) | 0, 17), prime4)
  }
  for (; at < end; at++) hash = Math.imul(rotate(hash + Math.imul(view.getUint8(at), prime5) | 0, 11), prime1)
  if (length > maxKept) view = none
  hash = Math.imul(hash ^ hash >>> 15, prime2)
  hash = Math.imul(hash ^ hash >>> 13, prime3)
  return (hash ^ hash >>> 16) >>> 0
}

// internal

const prime1 = 0x9e37_79b1
const prime2 = 0x85eb_ca77
const prime3 = 0xc2b2_ae3d
const prime4 = 0x27d4_eb2f
const prime5 = 0x1656_67b1

const stripe = 16

// A larger buffer is not kept from being collected.
const maxKept = 65_536

const none = new DataView(new ArrayBuffer(0))
let view: DataView<ArrayBufferLike> = none

const rotate = (value: number, bits: number): number => value << bits | value >>> 32 - bits

const round = (lane: number, word: number): number => Math.imul(rotate(lane + Math.imul(word, prime2) | 0, 13), prime1)
