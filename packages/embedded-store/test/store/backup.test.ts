import { StoreUnavailable } from "@appkernel/document-store/StoreError"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Queue, Stream } from "effect"
import nodeFs, * as fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { freshDirectory } from "../../../../test/support/folders.ts"
import * as EmbeddedStore from "../../src/EmbeddedStore.ts"

const sound = { damaged: [], missing: 0, unchecked: 0 }

describe("backups", () => {
  it.live("are of one moment, while writers commit, and are restored beside what is there", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* freshDirectory
      const [path, to] = [`${folder}/data`, `${folder}/backups/first`]
      const counts = yield* Effect.scoped(Effect.gen(function*() {
        const store = yield* EmbeddedStore.make({ path })
        yield* store.createIndexes("left", [{ name: "n_1", key: { n: 1 } }])
        let committed = 0
        const write = Effect.suspend(() => {
          const document = { _id: committed, n: committed, text: "x".repeat(500) }
          committed += 1
          return store.transaction(
            Effect.andThen(store.insertOne("left", document), store.insertOne("right", document))
          )
        })
        yield* Effect.repeat(write, { times: 200 })
        const writer = yield* Effect.forkScoped(Effect.forever(write))
        const [first, second] = [
          yield* EmbeddedStore.backup({ path, to }),
          yield* EmbeddedStore.backup({
            path,
            to: `${folder}/backups/second`
          })
        ]
        yield* Fiber.interrupt(writer)
        const copied = [first, second].map(({ collections }) => collections)
        for (const [left, right] of copied) {
          assert.deepStrictEqual([left?.name, right?.name], ["left", "right"])
          assert.strictEqual(left?.documents, right?.documents)
          assert.isAbove(left?.documents ?? 0, 200)
        }
        return { first, copied }
      }))
      const again = yield* Effect.flip(EmbeddedStore.backup({ path, to }))
      assert.include(again.detail, `${to} is there already`)
      const verified = yield* EmbeddedStore.verify({ path: to })
      assert.isUndefined(verified.problem)
      for (const collection of verified.collections) assert.deepInclude(collection, sound)

      const taken = yield* Effect.flip(EmbeddedStore.restore({ from: to, path }))
      assert.include(taken.detail, `${path} is there already`)
      const { collections, replaced = "" } = yield* EmbeddedStore.restore({ from: to, path, replace: true })
      assert.deepStrictEqual(collections, counts.copied[0])
      assert.isAtLeast((yield* EmbeddedStore.verify({ path: replaced })).collections.length, 2)
      yield* Effect.scoped(Effect.gen(function*() {
        const store = yield* EmbeddedStore.make({ path })
        const open = yield* Effect.flip(EmbeddedStore.restore({ from: to, path, replace: true }))
        assert.include(open.detail, "already open")
        assert.deepStrictEqual((yield* store.listIndexes("left")).map(({ name }) => name), ["n_1"])
        const left = yield* Stream.runCollect(store.stream("left", { sort: { _id: 1 } }))
        assert.deepStrictEqual(left.map(({ _id }) => _id), left.map((_, i) => i))
        yield* store.insertOne("left", { _id: -1 })
      }))
      assert.isUndefined((yield* EmbeddedStore.verify({ path })).problem)
      // Nothing half-made is left.
      assert.sameMembers(fs.readdirSync(folder).filter((name) => name.startsWith(".")), [])
      assert.sameMembers(fs.readdirSync(to), ["data.mdb", "manifest.json"])
    })))

  it.live("that are damaged or no backups are not restored", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* freshDirectory
      const [path, to] = [`${folder}/data`, `${folder}/backup`]
      yield* Effect.scoped(Effect.flatMap(EmbeddedStore.make({ path }), (store) => store.insertOne("a", { _id: 1 })))
      yield* EmbeddedStore.backup({ path, to })
      const none = yield* Effect.flip(EmbeddedStore.backup({ path: `${folder}/nowhere`, to: `${folder}/other` }))
      assert.include(none.detail, "it has no data.mdb")
      fs.writeFileSync(`${folder}/file`, "text")
      const onFile = yield* Effect.flip(EmbeddedStore.restore({ from: to, path: `${folder}/file`, replace: true }))
      assert.include(onFile.detail, `${folder}/file is no folder`)
      const notOne = yield* Effect.flip(EmbeddedStore.restore({ from: path, path: `${folder}/new` }))
      assert.include(notOne.detail, `${path} is no backup`)
      const file = fs.openSync(`${to}/data.mdb`, "r+")
      fs.writeSync(file, "?", fs.statSync(`${to}/data.mdb`).size - 100)
      fs.closeSync(file)
      assert.include((yield* EmbeddedStore.verify({ path: to })).problem, "another checksum")
      const damaged = yield* Effect.flip(EmbeddedStore.restore({ from: to, path: `${folder}/new` }))
      assert.include(damaged.detail, "another checksum")
      assert.isFalse(fs.existsSync(`${folder}/new`))
      fs.appendFileSync(`${to}/data.mdb`, "more")
      assert.match((yield* EmbeddedStore.verify({ path: to })).problem ?? "", /has \d+ bytes, and the manifest says/u)
    })))

  it.live("that fail or are interrupted leave no draft", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const { path, to } = yield* withBackup(folder)
      const attempts = (
        beside: () => Effect.Effect<never, StoreUnavailable>
      ): ReadonlyArray<Effect.Effect<unknown, StoreUnavailable>> => [
        EmbeddedStore.backup({ path, to: `${folder}/other`, beside }),
        EmbeddedStore.restore({ from: to, path: `${folder}/other`, beside }),
        EmbeddedStore.restore({ from: to, path, replace: true, beside })
      ]
      const before = fs.readdirSync(folder)
      const failure = new StoreUnavailable({ operation: "files", detail: "no", retryable: false })
      for (const attempt of attempts(() => Effect.fail(failure))) {
        assert.deepStrictEqual(yield* Effect.flip(attempt), failure)
        assert.deepStrictEqual(fs.readdirSync(folder), before)
      }
      const begun = yield* Queue.unbounded<void>()
      for (const attempt of attempts(() => Effect.andThen(Queue.offer(begun, undefined), Effect.never))) {
        const fiber = yield* Effect.forkChild(attempt)
        yield* Queue.take(begun)
        assert.lengthOf(fs.readdirSync(folder).filter((name) => name.endsWith(".partial")), 1)
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(fs.readdirSync(folder), before)
      }
    }))

  it.live("refuse a link in the place of their draft, and leave what it leads to", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const { path } = yield* withBackup(folder)
      fs.mkdirSync(`${folder}/mine`)
      fs.writeFileSync(`${folder}/mine/text`, "mine")
      fs.symlinkSync(`${folder}/mine`, `${folder}/.other.partial`)
      const refused = yield* Effect.flip(EmbeddedStore.backup({ path, to: `${folder}/other` }))
      assert.strictEqual(refused.detail, `${folder}/.other.partial is no folder`)
      assert.deepStrictEqual(fs.readdirSync(`${folder}/mine`), ["text"])
    }))

  it.live("leave what was there, or say where it is, if a restored folder can't be moved to its place", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const { path, to } = yield* withBackup(folder)
      const before = fs.readdirSync(folder)
      const restore = EmbeddedStore.restore({ from: to, path, replace: true })
      const first = yield* Effect.flip(withFailingMoves([2], restore))
      assert.strictEqual(first.detail, "EIO: 2")
      assert.deepStrictEqual(fs.readdirSync(folder), before)
      const second = yield* Effect.flip(withFailingMoves([2, 3], restore))
      const replaced = fs.readdirSync(folder).find((name) => name.startsWith("data.replaced"))
      assert.strictEqual(second.detail, `EIO: 2. What was at ${path} is at ${folder}/${replaced}: EIO: 3`)
    }))
})

/** A store in a folder, and a backup of it. */
const withBackup = Effect.fnUntraced(function*(folder: string) {
  const [path, to] = [`${folder}/data`, `${folder}/backup`]
  yield* Effect.scoped(Effect.flatMap(EmbeddedStore.make({ path }), (store) => store.insertOne("a", { _id: 1 })))
  yield* EmbeddedStore.backup({ path, to })
  return { path, to }
})

/** Lets some of the moves fail, by their numbers. */
const withFailingMoves = <A, E>(failing: ReadonlyArray<number>, effect: Effect.Effect<A, E>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const { renameSync } = fs
      let moves = 0
      replaceMove((from, to) => {
        moves += 1
        if (failing.includes(moves)) throw new Error(`EIO: ${moves}`)
        renameSync(from, to)
      })
      return renameSync
    }),
    () => effect,
    (renameSync) => Effect.sync(() => replaceMove(renameSync))
  )

const replaceMove = (move: typeof fs.renameSync): void => {
  nodeFs.renameSync = move
  // Those who import it get this one.
  syncBuiltinESMExports()
}
