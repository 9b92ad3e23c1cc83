/**
 * A program that writes to an embedded store (`FOLDER`) until the disk is full, and continues when there is space again:
 * it removes a file (`FILLER`), or the test raises its limit. It prints its progress line by line.
 */
import { Cause, Effect, Exit, Result, Schedule } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import type { Document, DocumentStore } from "../../packages/document-store/src/DocumentStore.ts"
import * as EmbeddedStore from "../../src/Repository/EmbeddedStore.ts"
import type { StoreError } from "../../src/Repository/RepositoryError.ts"
import { indexProblems } from "./indexProblems.ts"

type Store = DocumentStore["Service"]

const { FILLER: filler = "", FOLDER: folder = "" } = process.env

// lmdb's warnings have no line break at the end.
const say = (topic: string, what: unknown) => Effect.sync(() => process.stdout.write(`\n${topic}: ${String(what)}\n`))

const text = "x".repeat(20_000)

const thing = (_id: string, group: string): Document => ({ _id, n: _id, group, text })

interface Write {
  readonly size: number
  readonly isTransaction: boolean
  readonly run: (store: Store, group: string) => Effect.Effect<unknown, StoreError>
}

/** The operations of a writer, in turn. A group of documents is written atomically. */
const writes: ReadonlyArray<Write> = [
  { size: 1, isTransaction: false, run: (store, group) => store.insertOne("things", thing(group, group)) },
  {
    size: 2,
    isTransaction: true,
    run: (store, group) =>
      store.transaction(Effect.gen(function*() {
        yield* store.insertOne("things", thing(`${group} a`, group))
        yield* store.updateOne("counters", { _id: 1 }, { $inc: { transactions: 1 } }, { upsert: true })
        yield* store.insertOne("things", thing(`${group} b`, group))
      }))
  },
  {
    size: 3,
    isTransaction: false,
    run: (store, group) => store.insertMany("things", [1, 2, 3].map((i) => thing(`${group} ${i}`, group)))
  }
]

/** The acknowledged writes. */
class Kept {
  readonly groups = new Map<string, number>()
  transactions = 0

  add(group: string, { isTransaction, size }: Pick<Write, "isTransaction" | "size">): void {
    this.groups.set(group, size)
    if (isTransaction) this.transactions += 1
  }

  /** Prints differences between the store and the acknowledged writes. */
  problems(store: Store) {
    return Effect.map(
      Effect.all([
        store.find("things", { filter: { text }, projection: { group: 1 } }),
        store.count("things", {}),
        store.count("things", { n: { $gte: "" } }),
        store.findById("counters", 1)
      ]),
      ([things, count, indexed, counter]) => {
        const found = new Map<string, number>()
        for (const { group } of things) found.set(String(group), (found.get(String(group)) ?? 0) + 1)
        const groups = new Set([...found.keys(), ...this.groups.keys()])
        const wrong = Array.from(groups).filter((group) => found.get(group) !== this.groups.get(group))
        const counts = [count, indexed].filter((count) => count !== things.length)
        const isCounted = Number(counter?.["transactions"] ?? 0) === this.transactions
        return [...wrong, ...counts, ...isCounted ? [] : ["the number of transactions"]]
      }
    )
  }
}

/** Writes with many writers until the writes of each fail. */
const fill = (store: Store, kept: Kept, name: string) => {
  const writer = Effect.fnUntraced(function*(number: number) {
    for (let i = 0;; i++) {
      for (const [kind, write] of writes.entries()) {
        const group = `${name} ${number} ${i} ${kind}`
        const written = yield* Effect.result(write.run(store, group))
        if (Result.isFailure(written)) return written.failure
        kept.add(group, write)
      }
    }
  })
  return Effect.forEach([0, 1, 2, 3, 4, 5, 6, 7], writer, { concurrency: 8 })
}

const takeRoom = Effect.sync(() => {
  const file = fs.openSync(filler, "a")
  const page = Buffer.alloc(4096)
  let isFull = false
  while (!isFull) isFull = Result.isFailure(Result.try(() => fs.writeSync(file, page)))
  fs.closeSync(file)
})

const makeRoom = Effect.sync(() => fs.rmSync(filler))

const opening = (path: string) =>
  Effect.match(Effect.scoped(EmbeddedStore.make({ path })), {
    onSuccess: () => "opened",
    onFailure: ({ message }) => message
  })

const program = Effect.gen(function*() {
  const kept = new Kept()
  const problems: Array<unknown> = []
  const look = (store: Store) => Effect.map(kept.problems(store), (found) => problems.push(...found))
  yield* Effect.scoped(Effect.gen(function*() {
    const store = yield* EmbeddedStore.make({ path: folder })
    yield* store.createIndexes("things", [{ name: "n", key: { n: 1 }, unique: true }, { name: "g", key: { group: 1 } }])
    const refusals = yield* fill(store, kept, "first")
    yield* say("refused", Array.from(new Set(refusals.map(({ _tag, message }) => `${_tag} ${message}`))).join(" | "))
    yield* say("written before", kept.groups.size)
    yield* look(store)
    const [others] = yield* Effect.all(
      [fill(store, kept, "meanwhile"), Effect.replicateEffect(store.count("things", { text: 1 }), 20)],
      { concurrency: 2 }
    )
    yield* say("refused meanwhile", others.filter(({ _tag }) => _tag === "StoreUnavailable").length)
    yield* look(store)
    const longer = Effect.flip(store.updateMany("things", {}, { $set: { text: text.repeat(20) } }))
    yield* say("update of all", (yield* longer)._tag)
    yield* look(store)
    yield* say("problems when full", problems.length)
    if (filler === "") yield* Effect.sync(() => process.stdout.write("\nfull\n"))
    else yield* makeRoom
    yield* Effect.retry(store.insertOne("things", thing("more", "more")), {
      schedule: Schedule.spaced("20 millis"),
      times: 500
    })
    kept.add("more", { size: 1, isTransaction: false })
    for (const [kind, write] of writes.entries()) {
      yield* write.run(store, `more ${kind}`)
      kept.add(`more ${kind}`, write)
    }
    yield* look(store)
  }))
  if (filler !== "") {
    yield* takeRoom
    yield* say("open", yield* opening(folder))
    yield* say("begin", yield* opening(path.join(folder, "new")))
    yield* makeRoom
    yield* say("begin again", yield* opening(path.join(folder, "new")))
  }
  yield* Effect.scoped(Effect.flatMap(EmbeddedStore.make({ path: folder }), look))
  problems.push(...yield* indexProblems(folder))
  yield* say("problems", [problems.length, ...problems].join(" "))
})

const exit = await Effect.runPromiseExit(program)
await Effect.runPromise(say("done", Exit.isSuccess(exit) || Cause.pretty(exit.cause)))
