/**
 * A program that uses an embedded store, and is killed or runs out of disk space. Its environment has its task (`TASK`)
 * and folder (`FOLDER`). It prints its progress line by line.
 */
import { Cause, Effect, Exit, Result, type Scope } from "effect"
import * as EmbeddedStore from "../../src/Repository/EmbeddedStore.ts"
import type { StoreError } from "../../src/Repository/RepositoryError.ts"

const say = (line: string) => Effect.sync(() => process.stdout.write(`${line}\n`))

const { FOLDER: path = "", ROUND: round = "", TASK: task = "" } = process.env

/** Writes endlessly, and prints acknowledged writes. */
const writeForever = Effect.gen(function*() {
  const store = yield* EmbeddedStore.make({ path })
  yield* store.createIndexes("things", [
    { name: "n", key: { n: 1 }, unique: true },
    { name: "of", key: { of: 1, n: -1 } }
  ])
  const writer = (number: number) =>
    Effect.gen(function*() {
      for (let i = 0;; i++) {
        const id = `${round}-${number}-${i}`
        yield* store.insertOne("things", { _id: id, n: id, of: number, text: "x".repeat(i % 3_000) })
        yield* store.updateOne("things", { _id: id }, { $set: { updated: true } })
        yield* say(`wrote ${id}`)
      }
    })
  return yield* Effect.all([0, 1, 2, 3, 4, 5, 6, 7].map(writer), { concurrency: 8 })
})

const hold = Effect.gen(function*() {
  yield* EmbeddedStore.make({ path })
  yield* say("open")
  // Nothing else keeps the process running.
  return yield* Effect.sleep("10 minutes")
})

/** Writes until the disk is full, frees space, and continues. */
const fill = Effect.gen(function*() {
  const store = yield* EmbeddedStore.make({ path })
  const text = "x".repeat(100_000)
  let written = 0
  const refusal = yield* Effect.flip(Effect.forever(Effect.tap(
    Effect.suspend(() => store.insertOne("things", { _id: written, text })),
    () => Effect.sync(() => written += 1)
  )))
  yield* say(`refused ${refusal._tag} ${refusal.message}`)
  yield* say(`kept ${(yield* store.count("things", { text })) === written}`)
  const removed = yield* Effect.forEach([0, 1, 2, 3], (_id) => store.deleteOne("things", { _id }))
  yield* say(`removed ${removed.join()}`)
  const together = yield* Effect.all(
    // More than the maximum size of the file.
    [text.repeat(40), "small", text.repeat(40), "small"].map((text, i) =>
      Effect.result(store.insertOne("others", { _id: i, text }))
    ),
    { concurrency: 4 }
  )
  yield* say(`together ${together.map((result) => Result.isSuccess(result)).join()}`)
  yield* say(`others ${(yield* store.find("others", { sort: { _id: 1 } })).map(({ _id }) => _id).join()}`)
  yield* store.deleteMany("things", {})
  yield* store.insertOne("others", { _id: "last", text })
  yield* say(`again ${yield* store.count("others", {})}`)
})

const tasks: { readonly [name: string]: Effect.Effect<void, StoreError, Scope.Scope> } = { writeForever, hold, fill }

const exit = await Effect.runPromiseExit(Effect.scoped(tasks[task] ?? Effect.die(`no task ${task}`)))
await Effect.runPromise(say(Exit.isSuccess(exit) ? "done" : `failed ${Cause.pretty(exit.cause)}`))
