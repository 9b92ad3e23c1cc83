/** When a file system is asked for the room that it has left. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { watchRoom } from "../../../src/storage/lmdb/room.ts"

const megabyte = 1024 * 1024

describe("The room of a folder", () => {
  it.effect("is asked for once a second and once for 4 MB of pages, and at each write while it lacks", () =>
    Effect.gen(function*() {
      let [asked, time, free] = [0, 0, 40 * megabyte]
      const ask = () => {
        asked += 1
        return { size: 1_000 * megabyte, free }
      }
      const { lack, wrote } = yield* watchRoom("/data", ask, () => time)
      for (let i = 0; i < 1_000; i++) assert.isUndefined(lack())
      assert.strictEqual(asked, 1)
      time += 1_000
      for (let i = 0; i < 1_000; i++) assert.isUndefined(lack())
      assert.strictEqual(asked, 2)
      for (let i = 0; i < 2_048; i++) {
        wrote(0)
        assert.isUndefined(lack())
      }
      assert.strictEqual(asked, 4)
      wrote(4 * megabyte)
      free = 31 * megabyte
      assert.strictEqual(lack(), "its file system has less than 32 MB free (there is no room left)")
      free = 32 * megabyte
      assert.isUndefined(lack())
      assert.strictEqual(asked, 6)
    }))

  it.effect("is an eighth of a small disk, and any that can't be asked for", () =>
    Effect.gen(function*() {
      const small = yield* watchRoom("/data", () => ({ size: 8 * megabyte, free: megabyte }))
      assert.isUndefined(small.lack())
      const full = yield* watchRoom("/data", () => ({ size: 8 * megabyte, free: megabyte - 1 }))
      assert.isDefined(full.lack())
      const unknown = yield* watchRoom("/data/nowhere/at/all")
      assert.isUndefined(unknown.lack())
    }))
})
