import type { Document, DocumentStore } from "@appkernel/document-store/DocumentStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Random, Scope } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { byId, ChangeFollower } from "../../../test/support/changeFollower.ts"
import { accounts, type Documents, problemsOf } from "../../../test/support/crashModel.ts"
import { freshDirectory } from "../../../test/support/folders.ts"
import { indexProblems } from "../../../test/support/indexProblems.ts"
import { runProgram } from "../../../test/support/processes.ts"
import * as EmbeddedStore from "../src/EmbeddedStore.ts"

const rounds = Number(process.env["CRASH_ROUNDS"] ?? 12)

describe("EmbeddedStore that is killed / embedded", () => {
  it.live(
    `loses no acknowledged write, and applies none partially, in ${rounds} rounds`,
    () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        const signals = yield* freshDirectory
        const scope = yield* Effect.scope
        let before: Documents = new Map()
        let steps = 0
        const signal = (round: number) => path.join(signals, `round ${round}`)
        const start = (round: number) =>
          runProgram(programFile, {
            FOLDER: folder,
            ROUND: String(round),
            SIGNAL: signal(round)
          })
        const follower = yield* Effect.scoped(Effect.gen(function*() {
          const store = yield* EmbeddedStore.make({ path: folder })
          for (const name of recorded) yield* store.changes.record(name, {})
          return new ChangeFollower(recorded, yield* store.changes.end)
        }))
        let program = yield* start(0)
        for (let round = 0; round < rounds; round++) {
          fs.writeFileSync(signal(round), "")
          const least = yield* Random.nextIntBetween(10, 40)
          yield* Effect.repeat(Effect.sleep("1 millis"), {
            until: () => program.output().split("\n").length > least || program.process.exitCode !== null
          })
          yield* Effect.sleep(yield* Random.nextIntBetween(0, 100))
          program.process.kill("SIGKILL")
          assert.strictEqual(yield* program.ended, "SIGKILL", program.output())
          const acknowledged = acknowledgedOf(program.output())
          yield* Effect.scoped(Effect.gen(function*() {
            const store = yield* EmbeddedStore.make({ path: folder })
            // It is made ready meanwhile, and waits until it may have the folder.
            if (round + 1 < rounds) program = yield* Scope.provide(start(round + 1), scope)
            const found = yield* documentsOf(store)
            assert.deepStrictEqual(problemsOf(before, round, acknowledged, found), [], `round ${round}`)
            assert.deepStrictEqual(yield* balancesIn(store), balancesAfter(found))
            yield* follower.follow(store, 1_000)
            for (const name of recorded) {
              assert.deepStrictEqual(follower.collection(name), byId(yield* store.find(name, {})), `round ${round}`)
            }
            yield* isOfUse(store, found)
            before = found
          }))
          assert.deepStrictEqual(yield* indexProblems(folder), [], `round ${round}`)
          for (const count of acknowledged.values()) steps += count
        }
        assert.isAtLeast(steps, rounds * 10)
      })
  )
})

// internal

type Store = DocumentStore["Service"]

// The changes of these are recorded.
const recorded = ["things", "journal", "accounts"]

const programFile = path.join(import.meta.dirname, "../../../test/support/crashProgram.ts")

/** How many steps of each writer were acknowledged; a line that was cut short is no acknowledgement. */
const acknowledgedOf = (output: string): ReadonlyMap<number, number> => {
  const counts = new Map<number, number>()
  for (const line of output.split("\n").slice(0, -1)) {
    assert.match(line, /^\d+$/, output)
    counts.set(Number(line), (counts.get(Number(line)) ?? 0) + 1)
  }
  return counts
}

const documentsOf = (store: Store) =>
  Effect.gen(function*() {
    const documents = new Map<string, Document>()
    for (const collection of ["things", "journal"]) {
      for (const document of yield* store.find(collection, {})) {
        documents.set(`${collection}/${String(document["_id"])}`, document)
      }
    }
    return documents
  })

const balancesIn = (store: Store) =>
  Effect.map(store.find("accounts", { sort: { _id: 1 } }), (found) => {
    const balances = Array.from({ length: accounts }, () => 0)
    for (const { _id, balance } of found) balances[Number(_id)] = Number(balance)
    return balances
  })

/** Each entry of the journal was written together with what it says. */
const balancesAfter = (documents: Documents): ReadonlyArray<number> => {
  const balances = Array.from({ length: accounts }, () => 0)
  for (const [name, { from, to }] of documents) {
    if (!name.startsWith("journal/")) continue
    balances[Number(from)] = (balances[Number(from)] ?? 0) - 1
    balances[Number(to)] = (balances[Number(to)] ?? 0) + 1
  }
  return balances
}

/** It finds what it has, and takes more. */
const isOfUse = Effect.fnUntraced(function*(store: Store, documents: Documents) {
  const things = Array.from(documents).filter(([name]) => name.startsWith("things/")).map(([, thing]) => thing)
  const [{ n } = { n: undefined }] = things
  assert.strictEqual((yield* store.find("things", { filter: { n } })).length, 1)
  assert.strictEqual(
    yield* store.count("things", { tags: "all" }),
    things.filter(({ tags }) => Array.isArray(tags) && tags.includes("all")).length
  )
  yield* store.insertOne("things", { _id: "another", n: "another" })
  const duplicate = yield* Effect.flip(store.updateOne("things", { n: "another" }, { $set: { n } }))
  assert.strictEqual(duplicate._tag, "DuplicateKey")
  assert.strictEqual(yield* store.deleteOne("things", { _id: "another" }), 1)
})
