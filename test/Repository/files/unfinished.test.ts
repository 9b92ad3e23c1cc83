import { assert, it } from "@effect/vitest"
import { Duration, Effect, Stream } from "effect"
import { filesOfStore } from "../../../src/Files/internal.ts"
import { EmbeddedStore } from "../../../src/index.ts"
import { fileRecords } from "../../../src/Repository/files/fileRecords.ts"
import { copyDocumentFiles } from "../../../src/Repository/files/folderFiles.ts"
import { makeUnfinishedUploads } from "../../../src/Repository/files/unfinished.ts"

it.effect("unfinished uploads go on in a copy of the store, with the parts that had come", () =>
  Effect.gen(function*() {
    const [from, to] = [yield* EmbeddedStore.makeMemory, yield* EmbeddedStore.makeMemory]
    const [source, target] = [yield* filesOfStore(from), yield* filesOfStore(to)]
    const uploads = makeUnfinishedUploads({ store: from, files: source }, Duration.days(1))
    const about = { address: "/photos", by: undefined, length: 1_000, name: undefined, type: undefined }
    let upload = yield* uploads.begin(about)
    for (const size of [600, 300]) {
      upload = (yield* uploads.append(upload, yield* source.put(Stream.make(new Uint8Array(size))))) ?? upload
    }
    // The bytes of another one are gone.
    const gone = yield* uploads.begin(about)
    yield* uploads.append(gone, { id: "0".repeat(32), size: 5 })
    yield* to.insertMany(fileRecords, yield* from.find(fileRecords, {}))
    assert.deepStrictEqual(yield* copyDocumentFiles(from, to), { files: 0, missing: 0 })

    const copied = makeUnfinishedUploads({ store: to, files: target }, Duration.days(1))
    const found = yield* copied.find(upload.id)
    assert.strictEqual(found?.offset, 900)
    const pieces = yield* Stream.runCollect(copied.read({ parts: found?.parts ?? [] }))
    assert.strictEqual(Buffer.concat(pieces).length, 900)
  }))
