/** The frames of zstd: bodies are taken apart exactly between them, wherever their pieces end. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { randomBytes } from "node:crypto"
import * as zlib from "node:zlib"
import { zstdFrames } from "../../../src/Client/calls/zstdFrames.ts"

const { ZSTD_c_checksumFlag: checksum, ZSTD_c_contentSizeFlag: contentSize } = zlib.constants

const frame = (content: Buffer, params: { readonly [key: number]: number } = {}) =>
  zlib.zstdCompressSync(content, { params })

const skipped = Buffer.from("5e2a4d180300000001fd28", "hex")

/** Frames with blocks of each kind, and with each part that a frame may lack. */
const frames: ReadonlyArray<Buffer> = "createZstdDecompress" in zlib
  ? [
    frame(randomBytes(300_000)),
    frame(Buffer.alloc(300_000), { [checksum]: 1 }),
    frame(Buffer.from("compressed ".repeat(30_000)), { [checksum]: 1, [contentSize]: 0 }),
    skipped,
    frame(Buffer.alloc(0)),
    frame(Buffer.from("a")),
    frame(Buffer.from("abc".repeat(200)))
  ]
  : []

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64")

describe.skipIf(frames.length === 0)("zstdFrames", () => {
  it("leaves a body of one frame, and what is no frame, as it is", () => {
    for (const body of [...frames, Buffer.from("no frame at all")]) {
      assert.deepStrictEqual(zstdFrames()(body).map(text), [text(body)])
    }
  })

  it("ends its parts where a frame ends", () => {
    assert.deepStrictEqual(zstdFrames()(Buffer.concat(frames)).map(text), frames.map(text))
    const garbage = Buffer.from("garbage")
    assert.deepStrictEqual(
      zstdFrames()(Buffer.concat([...frames, garbage])).map(text),
      [...frames, garbage].map(text)
    )
  })

  it.prop("does so wherever the pieces end", [
    Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 700_000 })))
  ], ([cuts]) => {
    const body = Buffer.concat(frames)
    const split = zstdFrames()
    const ends = new Set([...cuts.filter((cut) => cut < body.length), body.length])
    const parts: Array<Uint8Array> = []
    let from = 0
    for (const end of [...ends].toSorted((a, b) => a - b)) {
      parts.push(...split(body.subarray(from, end)))
      from = end
    }
    assert.isTrue(Buffer.concat(parts).equals(body))
    let [at, found] = [0, 0]
    const between = new Set(frames.map(({ length }) => (found += length)))
    const seen = parts.map(({ length }) => (at += length))
    assert.deepStrictEqual(seen, [...new Set([...between, ...ends])].toSorted((a, b) => a - b))
  })
})
