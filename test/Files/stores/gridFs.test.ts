import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Stream } from "effect"
import { GridFSBucket } from "mongodb"
import { Readable } from "node:stream"
import { buffer } from "node:stream/consumers"
import { pipeline } from "node:stream/promises"
import { FileStore, MongoStore } from "../../../src/index.ts"
import { fileWriterContract } from "../../Repository/files/fileWriter.contract.ts"
import { freshDatabase, onMongo, withClient } from "../../support/mongo.ts"
import { withOwnFiles } from "../../support/ownFiles.ts"
import { fileStoreContract } from "../FileStore.contract.ts"

onMongo("Files in GridFS", (layer, server) => {
  const store = Layer.orDie(withOwnFiles(layer))
  fileStoreContract("mongodb", store)
  fileWriterContract("mongodb", store)

  it.effect("are read by another client of GridFS, whose files it reads", () =>
    Effect.gen(function*() {
      const db = yield* freshDatabase(server)
      yield* Effect.provide(
        Effect.gen(function*() {
          const files = yield* FileStore.FileStore
          const content = Buffer.alloc(700_000, "grid")
          const { id } = yield* files.put(Stream.make(content))
          yield* withClient(server, async (client) => {
            const bucket = new GridFSBucket(client.db(db), { bucketName: "appkernel_files" })
            assert.isTrue(content.equals(await buffer(bucket.openDownloadStreamByName(id))))
            const upload = bucket.openUploadStream("other.bin")
            await pipeline(Readable.from([content]), upload)
            return upload.id.toHexString()
          }).pipe(Effect.flatMap((other) =>
            Effect.gen(function*() {
              assert.strictEqual((yield* files.stat(other)).size, content.length)
              const part = yield* Stream.runCollect(files.read(other, { offset: 300_000, length: 5 }))
              assert.strictEqual(Buffer.concat(part).toString(), content.subarray(300_000, 300_005).toString())
            })
          ))
        }),
        Layer.orDie(withOwnFiles(MongoStore.layerWith({ host: server.url, db })))
      )
    }))

  it.effect("have no room for chunks of an upload that was cut off, once they are removed or put again", () =>
    Effect.gen(function*() {
      const db = yield* freshDatabase(server)
      yield* Effect.provide(
        Effect.gen(function*() {
          const files = yield* FileStore.FileStore
          const id = "0".repeat(32)
          const cutOff = withClient(
            server,
            (client) =>
              client.db(db).collection("appkernel_files.chunks").insertOne({
                files_id: id,
                n: 0,
                data: Buffer.alloc(9)
              })
          )
          yield* cutOff
          assert.deepStrictEqual((yield* Stream.runCollect(files.entries)).map((entry) => entry.id), [id])
          yield* files.remove([id])
          assert.deepStrictEqual(yield* Stream.runCollect(files.entries), [])
          yield* cutOff
          yield* files.put(Stream.make(new Uint8Array(3)), { id })
          const pieces = yield* Stream.runCollect(files.read(id))
          assert.deepStrictEqual(pieces.flatMap((piece) => [...piece]), [0, 0, 0])
        }),
        Layer.orDie(withOwnFiles(MongoStore.layerWith({ host: server.url, db })))
      )
    }))

  it.effect("are not damaged by another copy at once", () =>
    Effect.gen(function*() {
      const db = yield* freshDatabase(server)
      yield* Effect.provide(
        Effect.gen(function*() {
          const files = yield* FileStore.FileStore
          const [id, content] = ["0".repeat(32), Buffer.alloc(700_000, "grid")]
          const [isMidway, isOver] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
          const slow = Stream.concat(
            Stream.make(content.subarray(0, 300_000)),
            Stream.unwrap(Effect.gen(function*() {
              yield* Deferred.succeed(isMidway, undefined)
              yield* Deferred.await(isOver)
              return Stream.make(content.subarray(300_000))
            }))
          )
          const putting = yield* Effect.forkChild(Effect.flip(files.put(slow, { id })))
          yield* Deferred.await(isMidway)
          yield* files.put(Stream.make(content), { id })
          yield* Deferred.succeed(isOver, undefined)
          assert.strictEqual((yield* Fiber.join(putting))._tag, "FileStoreFailed")
          assert.isTrue(content.equals(Buffer.concat(yield* Stream.runCollect(files.read(id)))))
        }),
        Layer.orDie(withOwnFiles(MongoStore.layerWith({ host: server.url, db })))
      )
    }))
})
