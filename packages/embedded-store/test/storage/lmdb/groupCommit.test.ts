import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { makeWriter, type TurnResult } from "../../../src/storage/lmdb/groupCommit.ts"

describe("groupCommit", () => {
  it.effect("waits for the disk in this thread once a writer is alone, and no longer beside others", () =>
    Effect.gen(function*() {
      const { commits, writer } = make()
      yield* inTurn(writer, 10)
      assert.deepStrictEqual(commits.splice(0), [...Array.from({ length: 8 }, () => "async"), "sync", "sync"])
      yield* Effect.forEach(Array.from({ length: 64 }, (_, n) => n), (n) => writer.write("insert", () => n), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(commits.splice(0), ["async"])
      yield* inTurn(writer, 9)
      assert.deepStrictEqual(commits.splice(0), [...Array.from({ length: 8 }, () => "async"), "sync"])
    }))

  it.effect("leaves a slow disk, and a job of several steps, to another thread", () =>
    Effect.gen(function*() {
      const { commits, writer } = make(3)
      yield* inTurn(writer, 9)
      assert.deepStrictEqual(commits.splice(0), [...Array.from({ length: 8 }, () => "async"), "sync"])
      yield* inTurn(writer, 255 + 8)
      assert.isTrue(commits.splice(0).every((how) => how === "async"))
      yield* writer.writeInSteps("update", function*() {
        yield
        return 1
      })
      assert.deepStrictEqual(commits.splice(0), ["async"])
      yield* inTurn(writer, 1)
      assert.deepStrictEqual(commits.splice(0), ["sync"])
    }))

  it.effect("a job fails alone in either thread, and those after it are written", () =>
    Effect.gen(function*() {
      const { writer } = make()
      for (let n = 0; n < 12; n++) {
        const failed = yield* Effect.exit(writer.write("insert", () => {
          if (n > 2) return fault()
        }))
        assert.strictEqual(Exit.isFailure(failed), n > 2)
        assert.strictEqual(yield* writer.write("insert", () => n), n)
      }
    }))
})

// internal

const fault = (): never => {
  throw new Error("a fault")
}

/** A writer over transactions that only say how they were committed. */
const make = (millis = 0.1) => {
  const commits: Array<"async" | "sync"> = []
  const ends = (turn: TurnResult) => turn !== "more"
  const transact = async (run: () => TurnResult): Promise<void> => {
    while (!ends(run())) await Promise.resolve()
    commits.push("async")
  }
  const transactSync = (run: () => TurnResult): number => {
    assert.notStrictEqual(run(), "more")
    commits.push("sync")
    return millis
  }
  return { commits, writer: makeWriter({ transact, transactSync }, () => {}, () => undefined) }
}

const inTurn = ({ write }: ReturnType<typeof make>["writer"], jobs: number) =>
  Effect.forEach(
    Array.from({ length: jobs }, (_, n) => n),
    (n) => Effect.map(write("insert", () => n), (written) => assert.strictEqual(written, n))
  )
