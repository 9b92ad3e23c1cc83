import { assert, describe, it } from "@effect/vitest"
import { ByteSize, Effect, Exit, Schema, Stream } from "effect"
import { inChunksOf } from "../../../src/Client/files/byteChunks.ts"

const integer = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

describe("chunks of a byte stream", () => {
  it.effect.prop(
    "have the size asked for, up to the last one, and the bytes of the source, however it is cut",
    [integer(1, 20), Schema.Array(Schema.Array(integer(0, 50)))],
    ([size, arrays]) =>
      Effect.gen(function*() {
        let next = 0
        const pieces = arrays.map((lengths) => lengths.map((length) => Uint8Array.from({ length }, () => next++)))
        const source = Stream.fromIterable(pieces).pipe(Stream.flatMap((array) => Stream.fromArray(array)))
        const chunks = yield* Stream.runCollect(inChunksOf(source, size))
        const whole = pieces.flat().flatMap((piece) => [...piece])
        assert.deepStrictEqual(chunks.flatMap((chunk) => [...chunk]), whole)
        assert.deepStrictEqual(
          chunks.map(({ length }) => length),
          Array.from({ length: Math.ceil(whole.length / size) }, (_, i) => Math.min(size, whole.length - i * size))
        )
      }),
    { arbitrary: { runs: 200 } }
  )

  it.effect("are 64 KiB without a size, and take sizes with units", () =>
    Effect.gen(function*() {
      const source = Stream.succeed(new Uint8Array(100_000))
      const lengths = (chunks: Stream.Stream<Uint8Array>) =>
        Stream.runCollect(Stream.map(chunks, ({ length }) => length))
      assert.deepStrictEqual(yield* lengths(inChunksOf(source)), [65_536, 34_464])
      assert.deepStrictEqual(yield* lengths(inChunksOf(source, "90 kB")), [90_000, 10_000])
      assert.deepStrictEqual(yield* lengths(inChunksOf(source, ByteSize.mebibytes(1))), [100_000])
    }))

  it.effect("read no further than the consumer asks for", () =>
    Effect.gen(function*() {
      let read = 0
      const source = Stream.fromEffectRepeat(Effect.sync(() => new Uint8Array(10).fill(read++)))
      assert.lengthOf(yield* Stream.runCollect(Stream.take(inChunksOf(source, 25), 3)), 3)
      assert.isAtMost(read, 8)
    }))

  it.effect.each([0, -1, 1.5, Number.NaN, "many" as "1 kB"])(
    "can't have the size %s",
    (size) =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit(Stream.runDrain(inChunksOf(Stream.empty, size)))
        assert.isTrue(Exit.hasDies(exit))
        assert.include(String(exit), `chunkSize has to be a size in bytes from 1, not ${String(size)}`)
      })
  )
})
