import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { fillFolder, outcomesOf } from "../support/damage.ts"
import { freshDirectory } from "../support/folders.ts"

const data = "data.mdb"

describe("EmbeddedStore with a damaged file / embedded", () => {
  it.live("reports a truncated file when it is opened, whatever is left of it", () =>
    Effect.gen(function*() {
      const root = yield* freshDirectory
      const whole = path.join(root, "whole")
      yield* fillFolder(whole)
      const { size } = fs.statSync(path.join(whole, data))
      const lengths = [1, 4096, 8192, 8193, 12_288, size / 4, size / 2, size - 8192].map(Math.floor)
      const folders = lengths.map((length) => {
        const folder = path.join(root, `of ${length}`)
        fs.cpSync(whole, folder, { recursive: true })
        fs.truncateSync(path.join(folder, data), length)
        return folder
      })
      const { ended, outcomes, output } = yield* outcomesOf(folders)
      assert.strictEqual(ended, 0, output)
      for (const [i, folder] of folders.entries()) {
        assert.deepStrictEqual(outcomes[i]?.tags, { StoreUnavailable: 1 }, output)
        assert.match(
          outcomes[i]?.messages[0] ?? "",
          new RegExp(`folder ${folder} can't be used: data.mdb is damaged: `, "u")
        )
      }
      assert.deepStrictEqual((yield* outcomesOf([whole])).outcomes, [{
        folder: whole,
        tags: {},
        messages: [],
        wrong: []
      }])
    }), 60_000)

  it.live("does not begin anew where the data is gone, but where it was never written", () =>
    Effect.gen(function*() {
      const root = yield* freshDirectory
      const [emptied, removed, fresh] = ["emptied", "removed", "fresh"].map((name) => path.join(root, name)) as [
        string,
        string,
        string
      ]
      for (const folder of [emptied, removed]) yield* fillFolder(folder)
      fs.truncateSync(path.join(emptied, data), 0)
      fs.rmSync(path.join(removed, data))
      // What a process leaves behind that was killed while it created a store.
      fs.mkdirSync(fresh)
      fs.writeFileSync(path.join(fresh, data), "")
      fs.writeFileSync(path.join(fresh, "lock.mdb"), Buffer.alloc(8192))
      fs.writeFileSync(path.join(fresh, "owner.txt"), "process 1 on there\n")
      const { ended, outcomes, output } = yield* outcomesOf([emptied, removed, emptied])
      assert.strictEqual(ended, 0)
      for (const { messages, tags } of outcomes) {
        assert.deepStrictEqual(tags, { StoreUnavailable: 1 }, output)
        assert.match(messages[0] ?? "", /data\.mdb is empty or was removed, but lock\.mdb tells of written data$/u)
      }
      yield* fillFolder(fresh)
    }))
})
