import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Stream } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { FileStore } from "../../src/index.ts"
import { freshDirectory } from "../support/folders.ts"
import { runProgram } from "../support/processes.ts"
import { withSmallDisk } from "../support/smallDisk.ts"
import { fileStoreContract } from "./FileStore.contract.ts"

const inFolder = Layer.orDie(
  Layer.unwrap(Effect.map(freshDirectory, (folder) => FileStore.layerFolder(path.join(folder, "files"))))
)

fileStoreContract("memory", FileStore.layerMemory)
fileStoreContract("folder", inFolder)

describe("FileStore in a folder", () => {
  it.effect("has its files on two levels of folders, for their owner alone", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const files = yield* FileStore.makeFolder(path.join(folder, "files"))
      assert.isFalse(fs.existsSync(path.join(folder, "files")))
      const { id } = yield* files.put(Stream.make(new Uint8Array(3)))
      const file = path.join(folder, "files", id.slice(0, 2), id.slice(2, 4), id)
      assert.strictEqual(fs.readFileSync(file).length, 3)
      assert.strictEqual(fs.statSync(file).mode & 0o777, 0o600)
      assert.strictEqual(fs.statSync(path.dirname(file)).mode & 0o777, 0o700)
      assert.deepStrictEqual(fs.readdirSync(path.join(folder, "files", "incoming")), [])
    }))

  it.effect(
    "has the names of its folders on the disk with the first file, whoever has made them",
    () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        const synced = Effect.gen(function*() {
          const program = yield* runProgram(syncingFile, {
            BELOW: folder,
            FOLDER: path.join(folder, "data/scans/files")
          })
          assert.strictEqual(yield* program.ended, 0, program.output())
          return program.output().trim().split("\n").toSorted()
        })
        const below = ["data/scans", "data/scans/files", "data/scans/files/00", "data/scans/files/00/00"]
        assert.deepStrictEqual(yield* synced, [".", "data", ...below])
        // Who has made them may have been killed before they were on the disk.
        assert.deepStrictEqual(yield* synced, below)
      }),
    60_000
  )

  it.effect("takes copies of one file at once, and after one that was killed", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const files = yield* FileStore.makeFolder(folder)
      const [id, bytes] = ["0123".repeat(8), new Uint8Array(5).fill(7)]
      fs.mkdirSync(path.join(folder, "incoming"))
      fs.writeFileSync(path.join(folder, "incoming", id), "old")
      const [isMidway, isOver] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const slow = Stream.concat(
        Stream.make(bytes.subarray(0, 2)),
        Stream.unwrap(Effect.gen(function*() {
          yield* Deferred.succeed(isMidway, undefined)
          yield* Deferred.await(isOver)
          return Stream.make(bytes.subarray(2))
        }))
      )
      const putting = yield* Effect.forkChild(files.put(slow, { id }))
      yield* Deferred.await(isMidway)
      yield* files.put(Stream.make(bytes), { id })
      yield* Deferred.succeed(isOver, undefined)
      const { size } = yield* Fiber.join(putting)
      assert.strictEqual(size, 5)
      const pieces = yield* Stream.runCollect(files.read(id))
      assert.deepStrictEqual(pieces.flatMap((piece) => [...piece]), [...bytes])
      yield* files.remove([id])
      assert.deepStrictEqual(fs.readdirSync(path.join(folder, "incoming")), [])
    }))

  it.effect.skipIf(process.getuid?.() !== 0)(
    "has holds that the owner of the files reads, though root has asked first",
    () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        fs.chownSync(folder, 65_534, 65_533)
        const files = yield* FileStore.makeFolder(folder)
        yield* Effect.scoped(files.hold)
        const { gid, uid } = fs.statSync(path.join(folder, "holds"))
        assert.deepStrictEqual([uid, gid], [65_534, 65_533])
      })
  )

  it.effect("forgets the hold of a process that was killed", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const files = yield* FileStore.makeFolder(folder)
      const hold = path.join(folder, "holds", "0".repeat(32))
      fs.mkdirSync(path.dirname(hold))
      fs.writeFileSync(hold, "")
      // The test's clock begins in 1970.
      fs.utimesSync(hold, new Date(0), new Date(-110_000))
      assert.isTrue(yield* files.isHeld)
      fs.utimesSync(hold, new Date(0), new Date(-130_000))
      assert.isFalse(yield* files.isHeld)
      assert.isTrue(fs.existsSync(hold))
      // It is gone for good.
      fs.utimesSync(hold, new Date(0), new Date(-90_000_000))
      assert.isFalse(yield* files.isHeld)
      assert.isFalse(fs.existsSync(hold))
    }))

  it.live.skipIf(withSmallDisk === undefined)(
    "says that the disk is full, keeps nothing, and continues with space",
    () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        const program = yield* runProgram(programFile, { FOLDER: folder }, withSmallDisk?.(folder, 8, 3))
        assert.strictEqual(yield* program.ended, 0, program.output())
        assert.deepStrictEqual(program.output().trim().split("\n"), [
          "FileStoreFailed true The store of files failed (put): the disk is full",
          "files 1",
          "files 2"
        ])
      })
  )
})

const syncingFile = path.join(import.meta.dirname, "../support/syncedFoldersProgram.ts")

const programFile = path.join(import.meta.dirname, "../support/fullFilesProgram.ts")
