import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import sharp from "sharp"
import { failureOfPicture } from "../../../src/Files/pictures/pictures.ts"

describe("Pictures that are not made", () => {
  it.effect("are refused for what they are, and not for what the machine was short of", () =>
    Effect.gen(function*() {
      const input = { create: { width: 12_000, height: 12_000, channels: 3, background: "red" } } as const
      const failed = (made: Promise<unknown>) =>
        Effect.promise(() => made.then(() => undefined, (error: unknown) => error))
      const late = yield* failed(sharp(input).blur(200).timeout({ seconds: 1 }).raw().toBuffer())
      assert.deepInclude(failureOfPicture(late, 10), { _tag: "FileStoreFailed", retryable: true }, String(late))
      const short = new Error("out of memory --- size == 48MB")
      assert.deepInclude(failureOfPicture(short, 10), { _tag: "FileStoreFailed", retryable: true })
      const large = yield* failed(
        sharp(
          yield* Effect.promise(() => sharp({ create: { ...input.create, width: 4, height: 4 } }).png().toBuffer()),
          { limitInputPixels: 10 }
        ).toBuffer()
      )
      assert.deepInclude(failureOfPicture(large, 10), { _tag: "PictureRefused", limit: 10 }, String(large))
      const damaged = yield* failed(sharp(Buffer.from("ffd8ffe000104a464946", "hex")).toBuffer())
      const refused = failureOfPicture(damaged, 10)
      assert.deepEqual([refused._tag, "limit" in refused && refused.limit !== undefined], ["PictureRefused", false])
    }), 30_000)
})
