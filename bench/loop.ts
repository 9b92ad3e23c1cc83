/**
 * Measures how long long operations of the embedded store keep others waiting. See README.md.
 */
import { Effect, Fiber, Layer, Schema, Stream } from "effect"
import { parseArgs } from "node:util"
import { DocumentStore, EmbeddedStore, Index, Model, Repository } from "../src/index.ts"
import { documentOperationsOf } from "../src/Repository/internal.ts"
import { chosen, positive, print, printMachine } from "./report.ts"
import { makeFolder } from "./stores/workers.ts"

class Note extends Model.Class<Note>()("Note", {
  id: Model.id(),
  n: Schema.Int.pipe(Model.indexed(Index.plain)),
  text: Schema.String,
  ...Model.softDeleted
}) {}

type Row = Effect.Effect<unknown, unknown, DocumentStore.DocumentStore | Repository.RepositoryOf<"Note">>

const { values: options } = parseArgs({
  options: {
    part: { type: "string" },
    size: { type: "string", default: "100000" },
    rows: { type: "string" },
    stores: { type: "string", default: "memory,embedded" },
    folder: { type: "string" }
  }
})

const size = positive("size", options.size)

const store = DocumentStore.DocumentStore

const things = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => ({ _id: from + i, n: (from + i) % 1000, text: `text ${from + i}` }))

const many = things(0, size)

// As long as a page of a book is, of words that many have.
const texts = Array.from({ length: size / 20 }, (_, _id) => ({
  _id,
  text: Array.from({ length: 500 }, (_, i) => `word${(_id * 7 + i * i) % 997}`).join(" ")
}))

const notes = many.map(({ _id, n, text }) => new Note({ id: `${_id}`.padStart(7, "0"), n, text }))

const indexed = Effect.flatMap(
  store,
  (store) =>
    Effect.andThen(
      Effect.forEach(["things", "written"], (name) => store.createIndexes(name, [{ name: "n", key: { n: 1 } }])),
      Effect.andThen(
        store.createIndexes("noted", [{ name: "text", key: { text: 1 } }]),
        store.insertMany("noted", many)
      )
    )
)

const page = Effect.flatMap(
  Repository.for(Note),
  (repository) => documentOperationsOf(repository).findAndCount({ filter: {}, sort: { _id: 1 }, limit: 1 })
)

// Each number below `size` once, in no order.
const scattered = many.map((_, i) => (i * 7919) % size)

// In this order: some use what others have left.
const allRows: ReadonlyMap<string, Row> = new Map<string, Row>([
  ["insertMany", Effect.flatMap(store, (store) => store.insertMany("things", many))],
  ["indexed: insertMany", indexed],
  [
    "8 × insertMany",
    Effect.flatMap(store, (store) =>
      Effect.all(
        Array.from({ length: 8 }, (_, i) => store.insertMany(`things ${i}`, things(0, size / 8))),
        { concurrency: 8 }
      ))
  ],
  [
    "updateMany by index",
    Effect.flatMap(store, (store) => store.updateMany("things", { n: { $gte: 0 } }, { $inc: { n: 1 } }))
  ],
  [
    "transaction: insertMany",
    Effect.flatMap(store, (store) => store.transaction(store.insertMany("written", many)))
  ],
  [
    "transaction: updateMany",
    Effect.flatMap(store, (store) => store.transaction(store.updateMany("written", {}, { $inc: { n: 1 } })))
  ],
  [
    "$in of all _ids",
    Effect.flatMap(store, (store) => store.count("things", { _id: { $in: many.map(({ _id }) => _id) } }))
  ],
  [
    "$in by an index",
    Effect.flatMap(store, (store) => store.count("things", { n: { $in: scattered.map((n) => n * 10) } }))
  ],
  [
    "$in of texts",
    Effect.flatMap(store, (store) => store.count("noted", { text: { $in: scattered.map((n) => `text ${n}`) } }))
  ],
  ["text: insertMany", Effect.flatMap(store, (store) => store.insertMany("texts", texts))],
  [
    "text: createIndexes",
    Effect.flatMap(store, (store) => store.createIndexes("texts", [{ name: "text", key: { text: "text" } }]))
  ],
  [
    "text: find",
    Effect.flatMap(
      store,
      (store) =>
        Stream.runDrain(store.stream("texts", { filter: { $text: { $search: "word1 word2 word3 word4 word5" } } }))
    )
  ],
  ["text: updateMany", Effect.flatMap(store, (store) => store.updateMany("texts", {}, { $set: { read: true } }))],
  ["bulkInsert", Effect.flatMap(Repository.for(Note), (repository) => repository.bulkInsert(notes))],
  ["first page", page],
  ["second page", page]
])

const rows = options.rows === undefined ? [...allRows] : chosen("rows", options.rows, allRows)

/** Milliseconds that this thread has been at work: what other processes take is nobody's fault here. */
const threadTime = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1000
}

interface Turns {
  readonly whole: number
  readonly longest: number
  readonly wall: number
}

const turnsOf = (
  row: Row
): Effect.Effect<Turns, unknown, DocumentStore.DocumentStore | Repository.RepositoryOf<"Note">> =>
  Effect.gen(function*() {
    yield* Effect.sleep("50 millis")
    const start = threadTime()
    let before = start
    let beforeWall = performance.now()
    let [longest, wall] = [0, 0]
    const look = () => {
      const [now, nowWall] = [threadTime(), performance.now()]
      longest = Math.max(longest, now - before)
      wall = Math.max(wall, nowWall - beforeWall)
      before = now
      beforeWall = nowWall
    }
    const others = yield* Effect.forkChild(Effect.forever(Effect.andThen(Effect.sleep("1 millis"), Effect.sync(look))))
    yield* row
    look()
    yield* Fiber.interrupt(others)
    return { whole: threadTime() - start, longest, wall }
  })

const measure = (name: string, layer: Layer.Layer<DocumentStore.DocumentStore, unknown>) =>
  Effect.gen(function*() {
    console.log("")
    print(name, ["CPU ms", "longest turn", "longest wait"])
    for (const [title, row] of rows) {
      const { longest, wall, whole } = yield* turnsOf(row)
      print(title, [whole, longest, wall].map((millis) => millis.toFixed(1)))
    }
  }).pipe(Effect.provide(Repository.layer(Note).pipe(Layer.provideMerge(layer))))

printMachine()
console.log(`${size} documents; milliseconds`)
using folder = makeFolder(options.folder)
const stores = new Map([
  ["memory", EmbeddedStore.layerMemory],
  ["embedded", EmbeddedStore.layerWith({ path: folder.path })]
])
for (const [name, layer] of chosen("stores", options.stores, stores)) await Effect.runPromise(measure(name, layer))
