/**
 * A program that puts, replaces and removes the files of documents in an embedded store (`FOLDER`) with concurrent writers, and
 * numbers them in what it prints, until it is killed.
 */
import { DateTime, Effect, Layer, Stream } from "effect"
import { filesOfStore } from "../../src/Files/internal.ts"
import { EmbeddedStore, type FileStore, Repository } from "../../src/index.ts"
import { DocumentStore } from "../../src/Repository/DocumentStore.ts"
import { Photo } from "./filesModel.ts"

const { FOLDER: folder = "" } = process.env

const uploaded = Effect.gen(function*() {
  const files: FileStore.Service = yield* filesOfStore(yield* DocumentStore)
  const piece = new TextEncoder().encode(crypto.randomUUID().repeat(1000))
  const pieces = Stream.fromIterable(Array.from({ length: 1 + Math.floor(Math.random() * 20) }, () => piece))
  const stored = yield* files.put(pieces)
  return { ...stored, key: "k", name: "a.txt", type: "text/plain", at: DateTime.makeUnsafe(0) }
})

let count = 0

const step = Effect.gen(function*() {
  const photos = yield* Repository.for(Photo)
  const id = String(Math.floor(Math.random() * 12))
  const chance = Math.random()
  if (chance < 0.5) yield* photos.save(new Photo({ id, title: "a", picture: yield* uploaded }))
  else if (chance < 0.6) yield* photos.insert(new Photo({ title: "b", pages: [yield* uploaded, yield* uploaded] }))
  else if (chance < 0.7) yield* photos.deleteMany(($) => $.title.equals("b"))
  else if (chance < 0.9) yield* photos.deleteById(id)
  else yield* Repository.sweepFiles({ grace: "30 seconds" })
  count++
  yield* Effect.sync(() => process.stdout.write(`done ${count}.\n`))
}).pipe(Effect.catch(() => Effect.void))

await Effect.runPromise(
  Effect.forEach([1, 2, 3, 4], () => Effect.forever(step), { concurrency: 4 }).pipe(
    Effect.provide(Repository.layer(Photo).pipe(Layer.provideMerge(EmbeddedStore.layerWith({ path: folder }))))
  )
)
