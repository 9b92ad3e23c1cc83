import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { filesOfStore } from "../../../src/Files/internal.ts"
import { DocumentStore, EmbeddedStore, FileStore, Repository } from "../../../src/index.ts"
import { runCommand } from "../../support/command.ts"
import { Photo } from "../../support/filesModel.ts"
import { freshDirectory } from "../../support/folders.ts"
import { freshDatabase, onMongo } from "../../support/mongo.ts"
import { printed, type Program, runProgram } from "../../support/processes.ts"

/** Runs of the program that are killed, at random. */
const kills = Number(process.env["KILLS"] ?? 2)

/** Opens a folder, and sees that its documents have their bytes and that there are no others after a sweep. */
const assertWhole = (folder: string) =>
  Effect.gen(function*() {
    const photos = yield* Repository.for(Photo)
    const files = yield* filesOfStore(yield* DocumentStore.DocumentStore)
    const held: Array<string> = []
    for (const { pages, picture } of yield* photos.find()) {
      for (const { id, sha256 } of [...picture === undefined ? [] : [picture], ...pages]) {
        const bytes = Buffer.concat(yield* Stream.runCollect(files.read(id)))
        assert.strictEqual(createHash("sha256").update(bytes).digest("hex"), sha256)
        held.push(id)
      }
    }
    // By this clock, all that is left of uploads is old.
    yield* TestClock.setTime(Date.UTC(2100, 0))
    yield* Repository.sweepFiles({ grace: Duration.zero })
    const entries = yield* Stream.runCollect(files.entries)
    assert.deepStrictEqual(entries.map(({ id }) => id).toSorted(), held.toSorted())
    return held.length
  }).pipe(
    Effect.provide(Repository.layer(Photo).pipe(Layer.provideMerge(EmbeddedStore.layerWith({ path: folder }))))
  )

describe("The files of a folder", () => {
  it.effect(
    "are whole with their documents after a process was killed, and in the backup that was taken meanwhile",
    () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        const data = path.join(folder, "data")
        let files = 0
        for (let round = 0; round < kills; round++) {
          const backup = path.join(folder, "backup")
          yield* Effect.scoped(Effect.gen(function*() {
            const program = yield* runProgram(programFile, { FOLDER: data })
            yield* doneTimes(program, 1 + Math.floor(Math.random() * 100))
            yield* TestClock.withLive(EmbeddedStore.backup({ path: data, to: backup }))
            const [, count = 0] = /done (\d+)\.\n$/u.exec(program.output()) ?? []
            yield* doneTimes(program, Number(count) + 1 + Math.floor(Math.random() * 30))
            program.process.kill("SIGKILL")
            assert.strictEqual(yield* program.ended, "SIGKILL", program.output())
          }))
          const found = yield* EmbeddedStore.verifyFiles({ path: backup })
          assert.deepStrictEqual([found.damaged, found.missing, found.isElsewhere], [[], [], false])
          const restored = path.join(folder, "restored")
          yield* EmbeddedStore.restore({ from: backup, path: restored })
          assert.strictEqual(yield* assertWhole(restored), found.files)
          files += yield* assertWhole(data)
          for (const made of [backup, restored]) fs.rmSync(made, { recursive: true })
        }
        assert.isAbove(files, 0)
      }),
    600_000 + kills * 60_000
  )

  it.effect(
    "are checked by their checksums, and no backup is made or restored without them",
    () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        const [data, backup] = [path.join(folder, "data"), path.join(folder, "backup")]
        const program = yield* runProgram(programFile, { FOLDER: data })
        yield* doneTimes(program, 20)
        program.process.kill("SIGKILL")
        yield* program.ended
        assert.isAbove(yield* assertWhole(data), 0)
        yield* EmbeddedStore.backup({ path: data, to: backup })
        const [one = ""] = fs.globSync("files/??/??/*", { cwd: backup })
        const file = path.join(backup, one)
        const bytes = fs.readFileSync(file)
        fs.writeFileSync(file, Buffer.concat([bytes.subarray(1), Buffer.of(0)]))
        assert.deepStrictEqual((yield* EmbeddedStore.verifyFiles({ path: backup })).damaged, [path.basename(one)])
        fs.rmSync(file)
        assert.deepStrictEqual((yield* EmbeddedStore.verifyFiles({ path: backup })).missing, [path.basename(one)])
        const refused = yield* Effect.flip(EmbeddedStore.restore({ from: backup, path: path.join(folder, "restored") }))
        assert.include(refused.message, "1 files of documents are missing, and 0 are damaged: ")
        assert.isFalse(fs.existsSync(path.join(folder, "restored")))
        // A folder that is gone altogether is one whose files are missing, unless they are kept elsewhere.
        fs.rmSync(path.join(backup, "files"), { recursive: true })
        const found = yield* EmbeddedStore.verifyFiles({ path: backup })
        assert.deepStrictEqual([found.isElsewhere, found.missing.length], [false, found.files])
        assert.isAbove(found.files, 0)
        const { code, output } = yield* runCommand({}, "verify", backup)
        assert.deepStrictEqual([code, output.includes(`The file ${found.missing[0]} is missing`)], [1, true], output)
      }),
    120_000
  )

  it.effect("are elsewhere where they have moved, whatever is left in the folder", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const [data, backup] = [path.join(folder, "data"), path.join(folder, "backup")]
      const writing = (files: Layer.Layer<never> | Layer.Layer<FileStore.FileStore>) =>
        Effect.gen(function*() {
          const photos = yield* Repository.for(Photo)
          const store = yield* filesOfStore(yield* DocumentStore.DocumentStore)
          const stored = yield* store.put(Stream.make(new Uint8Array(9)))
          const picture = { ...stored, key: "k", name: "a", type: "text/plain", at: DateTime.makeUnsafe(0) }
          yield* photos.insert(new Photo({ title: "a", picture }))
        }).pipe(
          Effect.provide(
            Repository.layer(Photo).pipe(
              Layer.provideMerge(EmbeddedStore.layerWith({ path: data })),
              Layer.provideMerge(files)
            )
          )
        )
      yield* writing(Layer.empty)
      assert.deepInclude(yield* EmbeddedStore.verifyFiles({ path: data }), {
        files: 1,
        isElsewhere: false,
        missing: []
      })
      yield* writing(FileStore.layerFolder(path.join(folder, "elsewhere")))
      assert.isTrue(fs.existsSync(path.join(data, "files")))
      const found = { files: 2, isElsewhere: true, missing: [], damaged: [] }
      assert.deepStrictEqual(yield* EmbeddedStore.verifyFiles({ path: data }), found)
      yield* EmbeddedStore.backup({ path: data, to: backup })
      assert.deepStrictEqual(yield* EmbeddedStore.verifyFiles({ path: backup }), found)
      assert.isFalse(fs.existsSync(path.join(backup, "files")))
    }))
})

onMongo("The files of a folder / mongodb", (_, server) => {
  it.effect("are copied with their documents to a database, into GridFS, and back", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const [data, back] = [path.join(folder, "data"), path.join(folder, "back")]
      const program = yield* runProgram(programFile, { FOLDER: data })
      yield* doneTimes(program, 20)
      program.process.kill("SIGKILL")
      yield* program.ended
      const files = yield* assertWhole(data)
      const env = { COPY: server.url.replace(/\/(\?|$)/u, `/${yield* freshDatabase(server)}$1`) }
      for (const [from, to] of [[data, "env:COPY"], ["env:COPY", back]] as const) {
        const { code, output } = yield* TestClock.withLive(runCommand(env, "copy", from, to))
        assert.strictEqual(code, 0, output)
        assert.match(output, new RegExp(`^${files} files? of documents$`, "mu"))
      }
      assert.strictEqual(yield* assertWhole(back), files)
    }), 120_000)
})

/** Waits until the program has done so much. */
const doneTimes = (program: Program, count: number) => printed(program, `done ${count}.`)

const programFile = path.join(import.meta.dirname, "../../support/filesProgram.ts")
