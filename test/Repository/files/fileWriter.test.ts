import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Schema, Stream } from "effect"
import * as path from "node:path"
import { DocumentStore, EmbeddedStore, FileStore, Model, Repository } from "../../../src/index.ts"
import { freshDirectory } from "../../support/folders.ts"
import { fileWriterContract } from "./fileWriter.contract.ts"

fileWriterContract("memory", Layer.merge(EmbeddedStore.layerMemory, FileStore.layerMemory))
fileWriterContract(
  "embedded",
  Layer.unwrap(Effect.map(freshDirectory, (folder) =>
    Layer.merge(
      EmbeddedStore.layerWith({ path: path.join(folder, "data") }),
      FileStore.layerFolder(path.join(folder, "files"))
    )))
)

class Diary extends Model.Class<Diary>()("Diary", {
  id: Model.id(),
  text: Schema.String,
  cover: Model.file().pipe(Model.optional),
  ...Model.historied
}) {}

class Note extends Model.Class<Note>()("Note", { id: Model.id(), text: Schema.String }) {}

it.effect("A sweep reads the indexes of collections that may have files, and of no others", () =>
  Effect.gen(function*() {
    const read: Array<string> = []
    const noting = Layer.effect(
      DocumentStore.DocumentStore,
      Effect.map(DocumentStore.DocumentStore, (store) =>
        DocumentStore.DocumentStore.of({
          ...store,
          listIndexes: (collection) => {
            read.push(collection)
            return store.listIndexes(collection)
          }
        }))
    )
    yield* Effect.gen(function*() {
      const notes = yield* Repository.for(Note)
      yield* notes.insert(new Note({ text: "a" }))
      read.length = 0
      yield* Repository.sweepFiles({ grace: "1 hour" })
      assert.deepStrictEqual(read, ["Diary"])
    }).pipe(
      Effect.provide(
        Layer.merge(Repository.layer(Diary), Repository.layer(Note)).pipe(
          Layer.provideMerge(noting.pipe(Layer.provide(EmbeddedStore.layerMemory))),
          Layer.provideMerge(FileStore.layerMemory)
        )
      )
    )
  }))

it.effect("A file is replaced without reading the history back to its beginning, or the texts of its states", () =>
  Effect.gen(function*() {
    const states: Array<DocumentStore.Document> = []
    const note = (collection: string, read: ReadonlyArray<DocumentStore.Document>) =>
      Effect.sync(() => {
        if (collection === "Diary.history") states.push(...read)
      })
    const noting = Layer.effect(
      DocumentStore.DocumentStore,
      Effect.map(DocumentStore.DocumentStore, (store) =>
        DocumentStore.DocumentStore.of({
          ...store,
          find: (collection, options) => Effect.tap(store.find(collection, options), (read) => note(collection, read)),
          stream: (collection, options) =>
            Stream.tap(store.stream(collection, options), (one) => note(collection, [one]))
        }))
    )
    yield* Effect.gen(function*() {
      const [diaries, files] = [yield* Repository.for(Diary), yield* FileStore.FileStore]
      const uploaded = Effect.map(files.put(Stream.make(new Uint8Array(3))), (stored) => ({
        ...stored,
        key: "k",
        name: "a.txt",
        type: "text/plain",
        at: DateTime.makeUnsafe(0)
      }))
      const { id } = yield* diaries.insert(new Diary({ text: "0", cover: yield* uploaded }))
      for (let day = 1; day < 100; day++) {
        yield* diaries.modify(id, (one) => Effect.succeed(new Diary({ ...one, text: String(day) })))
      }
      const cover = yield* uploaded
      states.length = 0
      yield* diaries.modify(id, (one) => Effect.succeed(new Diary({ ...one, cover })))
      assert.isAtMost(states.length, 2)
      assert.notInclude(JSON.stringify(states), "text\":")
      assert.strictEqual(yield* Stream.runCount(files.entries), 2)
    }).pipe(
      Effect.provide(
        Repository.layer(Diary).pipe(
          Layer.provideMerge(noting.pipe(Layer.provide(EmbeddedStore.layerMemory))),
          Layer.provideMerge(FileStore.layerMemory)
        )
      )
    )
  }))
