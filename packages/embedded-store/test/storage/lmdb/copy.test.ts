import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { open } from "lmdb"
import * as fs from "node:fs"
import { freshDirectory } from "../../../../../test/support/folders.ts"
import { copyTo, registered } from "../../../src/storage/lmdb/copy.ts"

describe("copy of an open folder", () => {
  it.live("ends before its fiber and before the folder is closed, though both are told to end at once", () =>
    Effect.gen(function*() {
      const root = yield* freshDirectory
      const [folder, to] = [`${root}/data`, `${root}/copy`]
      fs.mkdirSync(to)
      const environment = open<Buffer, Uint8Array>({ path: folder, noSubdir: false, maxDbs: 3 })
      yield* Effect.addFinalizer(() => Effect.promise(() => environment.close()))
      yield* Effect.promise(() => environment.put(Buffer.from("a"), Buffer.from("b")))
      const [begun, allowed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const backup = environment.backup.bind(environment)
      environment.backup = async (target, compact) => {
        begun.resolve()
        await allowed.promise
        await backup(target, compact)
      }
      const ended: Array<string> = []
      const ends = (name: string) => Effect.sync(() => ended.push(name))

      const scope = yield* Scope.make()
      yield* Scope.provide(registered(folder, environment), scope)
      const copying = yield* Effect.forkChild(copyTo(folder, to))
      yield* Effect.promise(() => begun.promise)
      const interrupting = yield* Effect.forkChild(Effect.andThen(Fiber.interrupt(copying), ends("copy")))
      const closing = yield* Effect.forkChild(Effect.andThen(Scope.close(scope, Exit.void), ends("folder")))
      for (let i = 0; i < 10; i++) yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      assert.deepStrictEqual(ended, [])
      allowed.resolve()
      yield* Fiber.joinAll([interrupting, closing])
      assert.sameMembers(ended, ["copy", "folder"])
      assert.isAbove(fs.statSync(`${to}/data.mdb`).size, 0)
    }))
})
