import type { DocumentStore } from "@appkernel/document-store/DocumentStore"
import { DataDamaged } from "@appkernel/document-store/StoreError"
import { assert, describe, it } from "@effect/vitest"
import { BSON } from "bson"
import { Effect, Random } from "effect"
import { open } from "lmdb"
import * as fs from "node:fs"
import * as path from "node:path"
import { change, fillFolder, outcomesOf, overwrite, storedDocuments } from "../../../test/support/damage.ts"
import { freshDirectory } from "../../../test/support/folders.ts"
import * as EmbeddedStore from "../src/EmbeddedStore.ts"

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
    }))

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

  it.live(
    "answers rightly or with a typed error, and ends by itself, whatever bytes are overwritten",
    () =>
      Effect.gen(function*() {
        const root = yield* freshDirectory
        const whole = path.join(root, "whole")
        yield* fillFolder(whole)
        const { size } = fs.statSync(path.join(whole, data))
        const found = new Set<string>()
        for (let batch = 0; batch < 6; batch++) {
          const folders: Array<string> = []
          for (let i = 0; i < 10; i++) {
            const folder = path.join(root, `${batch} ${i}`)
            fs.cpSync(whole, folder, { recursive: true })
            const length = yield* Random.nextIntBetween(1, i < 5 ? 4 : 64)
            const bytes = yield* Effect.replicateEffect(Random.nextIntBetween(0, 255), length)
            overwrite(folder, yield* Random.nextIntBetween(0, size - length), Buffer.from(bytes))
            folders.push(folder)
          }
          const { ended, outcomes, output } = yield* outcomesOf(folders)
          assert.strictEqual(ended, 0, `${folders[outcomes.length]}: ${output}`)
          for (const { messages, tags, wrong } of outcomes) {
            for (const tag of Object.keys(tags)) {
              assert.include(["DataDamaged", "StoreUnavailable"], tag, messages.join("; "))
              found.add(tag)
            }
            assert.deepStrictEqual(wrong, [])
          }
          for (const folder of folders) fs.rmSync(folder, { recursive: true })
        }
        assert.strictEqual(found.size, 2)
      })
  )

  it.live("names a damaged document, reads all others, and verifies the folder", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const documents = ["a", "b", "c", "d"].map((_id) => ({ _id, text: `the text of ${_id}` }))
      yield* inFolder(folder, (store) => store.insertMany("things", documents))
      const sound = { name: "things", documents: 4, indexes: [{ name: "_id_", entries: 4 }], unchecked: 0, missing: 0 }
      assert.deepStrictEqual(yield* EmbeddedStore.verify({ path: folder }), {
        collections: [{ ...sound, damaged: [] }]
      })
      change(folder, "the text of b", "the next of b")
      const damaged = new DataDamaged({ collection: "things", document: "b" })
      assert.deepStrictEqual(yield* EmbeddedStore.verify({ path: folder }), {
        collections: [{ ...sound, damaged: [damaged] }]
      })
      assert.strictEqual(damaged.message, "The stored document b in things is damaged: its checksum is wrong")
      yield* inFolder(folder, (store) =>
        Effect.gen(function*() {
          for (const document of documents) {
            const find = store.find("things", { filter: { _id: document._id } })
            // Again, since what is read repeatedly is cached.
            for (let i = 0; i < 3; i++) {
              if (document._id === "b") assert.deepStrictEqual(yield* Effect.flip(find), damaged)
              else assert.deepStrictEqual(yield* find, [document])
            }
          }
          assert.deepStrictEqual(yield* Effect.flip(store.find("things", {})), damaged)
          assert.deepStrictEqual(
            yield* Effect.flip(store.updateOne("things", { _id: "b" }, { $set: { n: 1 } })),
            damaged
          )
          yield* store.insertOne("things", { _id: "e", text: "new" })
          assert.deepStrictEqual(yield* store.find("things", { filter: { _id: "e" } }), [{ _id: "e", text: "new" }])
        }))
      const { message } = yield* Effect.flip(inFolder(folder, () => EmbeddedStore.verify({ path: folder })))
      assert.match(message, /is already open in this process$/u)
    }))

  it.live("verifies the log of changes", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      yield* inFolder(folder, (store) =>
        Effect.gen(function*() {
          yield* store.changes.record("things", {})
          yield* store.insertOne("things", { _id: "a", text: "the text of a" })
          yield* store.insertOne("things", { _id: "b", text: "the text of b" })
          yield* store.deleteOne("things", { _id: "b" })
        }))
      assert.deepStrictEqual((yield* EmbeddedStore.verify({ path: folder })).log, { changes: 3, damaged: 0 })
      // Only the log has the deleted document.
      change(folder, "the text of b", "the next of b")
      const { collections, log } = yield* EmbeddedStore.verify({ path: folder })
      assert.isAtLeast(log?.damaged ?? 0, 1)
      assert.deepStrictEqual(collections.map(({ damaged, documents }) => [documents, damaged]), [[1, []]])
    }))

  it.live("reads a folder of before there were checksums, which values get as they are written", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      yield* fillFolder(folder)
      yield* withoutChecksums(folder)
      const { collections: [others, things] } = yield* EmbeddedStore.verify({ path: folder })
      const count = storedDocuments.length
      assert.deepStrictEqual([others?.unchecked, things?.unchecked, things?.damaged], [2, 4 * count, []])
      yield* inFolder(folder, (store) =>
        Effect.gen(function*() {
          const found = yield* store.find("things", { filter: { n: { $gte: 0 } }, sort: { _id: 1 } })
          assert.lengthOf(found, count)
          yield* store.updateOne("things", { _id: "id 1" }, { $set: { text: "text of one" } })
          yield* store.insertOne("things", { _id: "new", n: -1, name: "new" })
        }))
      const after = yield* EmbeddedStore.verify({ path: folder })
      assert.deepStrictEqual([after.collections[1]?.documents, after.collections[1]?.unchecked], [
        count + 1,
        4 * count - 1
      ])
      change(folder, "text of one", "text of 0ne")
      yield* inFolder(folder, (store) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(
            yield* Effect.flip(store.find("things", { filter: { _id: "id 1" } })),
            new DataDamaged({ collection: "things", document: "id 1" })
          )
        }))
    }))
})

// internal

const inFolder = <A, E>(folder: string, use: (store: DocumentStore["Service"]) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(EmbeddedStore.make({ path: folder }), use))

/** Overwrites the file with the format of before, in which values had no checksums. */
const withoutChecksums = (folder: string) =>
  Effect.promise(async () => {
    const raw = {
      encoder: {
        encode: (bytes: Buffer) => bytes,
        decode: (bytes: Buffer) => Buffer.from(bytes.subarray(0, bytes.length))
      },
      keyEncoding: "binary"
    } as const
    const environment = open({ path: folder, noSubdir: false, maxDbs: 3, overlappingSync: false })
    for (const name of ["catalog", "documents", "entries"]) {
      const database = environment.openDB<Buffer, Buffer>({ name, ...raw })
      for (const { key, value } of Array.from(database.getRange({}))) {
        const stored = key.toString() === "format" ? BSON.serialize({ version: 2 }) : value.subarray(0, -4)
        database.putSync(key, Buffer.from(stored))
      }
    }
    await environment.close()
  })
