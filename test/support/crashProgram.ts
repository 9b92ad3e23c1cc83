/**
 * A program that runs the operations of `crashModel.ts` with concurrent writers, and prints acknowledged ones, until it is
 * killed. It opens its folder (`FOLDER`) when a file (`SIGNAL`) exists.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as fs from "node:fs"
import * as module from "node:module"
import type { DocumentStore } from "../../packages/document-store/src/DocumentStore.ts"
import * as EmbeddedStore from "../../src/Repository/EmbeddedStore.ts"
import type { StoreError } from "../../src/Repository/RepositoryError.ts"
import { indexes, type Step, stepsOf, writers } from "./crashModel.ts"

type Store = DocumentStore["Service"]

const { FOLDER: path = "", ROUND: round = "", SIGNAL: signal = "" } = process.env

const [collection, idOf] = ["things", (name: string) => name.slice(name.indexOf("/") + 1)]

const run = (store: Store, { kind, writes }: Step): Effect.Effect<unknown, StoreError> => {
  const documents = Array.from(writes.values()).filter((document) => document !== undefined)
  const [document = {}] = documents
  const [name = ""] = writes.keys()
  const _id = idOf(name)
  switch (kind) {
    case "insert":
      return store.insertOne(collection, document)
    case "update":
      return store.updateOne(collection, { _id }, { $set: { n: document["n"] }, $push: { tags: "updated" } })
    case "insertMany":
      return store.insertMany(collection, documents)
    case "updateMany":
      return store.updateMany(collection, { bulk: document["bulk"] }, { $inc: { v: 1 } })
    case "delete":
      return store.deleteOne(collection, { _id })
    case "replace":
      return store.replaceOne(collection, { _id }, document)
    case "deleteMany":
      return store.deleteMany(collection, { bulk: _id.slice(0, _id.lastIndexOf("-")) })
    case "transaction": {
      const [journal = {}, thing = {}] = documents
      const { from, to } = journal
      return store.transaction(Effect.gen(function*() {
        yield* store.updateOne("accounts", { _id: from }, { $inc: { balance: -1 } }, { upsert: true })
        yield* store.insertOne(collection, thing)
        yield* store.deleteOne(collection, { _id: idOf(Array.from(writes.keys()).at(-1) ?? "") })
        yield* store.updateOne("accounts", { _id: to }, { $inc: { balance: 1 } }, { upsert: true })
        yield* store.insertOne("journal", journal)
      }))
    }
  }
}

// A killed program does not flush the compile cache, which later programs use.
if (round === "0") module.flushCompileCache()

const program = Effect.gen(function*() {
  yield* Effect.repeat(Effect.sync(() => fs.existsSync(signal)), {
    schedule: Schedule.spaced("2 millis"),
    until: (isThere) => isThere
  })
  const store = yield* EmbeddedStore.make({ path })
  yield* store.createIndexes(collection, indexes)
  const write = Effect.fnUntraced(function*(writer: number) {
    for (const step of stepsOf(Number(round), writer)) {
      yield* run(store, step)
      process.stdout.write(`${writer}\n`)
    }
  })
  // Indexes are built and dropped meanwhile, without an acknowledgement.
  const index = Effect.forever(
    Effect.delay("20 millis")(Effect.andThen(
      store.createIndexes(collection, [{ name: "passing", key: { of: 1, n: -1 } }]),
      store.dropIndexes(collection, ["passing"])
    ))
  )
  yield* Effect.all([index, ...Array.from({ length: writers }, (_, writer) => write(writer))], {
    concurrency: "unbounded",
    discard: true
  })
})

await Effect.runPromise(
  Effect.catchCause(Effect.scoped(program), (cause) => Effect.sync(() => process.stdout.write(Cause.pretty(cause))))
)
