import type { DocumentStore } from "@appkernel/document-store/DocumentStore"
import { assert, describe, it } from "@effect/vitest"
import { Long } from "bson"
import { Effect, Fiber, Logger, Schedule, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as fs from "node:fs"
import { hostname } from "node:os"
import * as path from "node:path"
import { setImmediate } from "node:timers/promises"
import { freshDirectory } from "../../../test/support/folders.ts"
import { withOwnNumbers } from "../../../test/support/namespaces.ts"
import { printed, type Program, runProgram } from "../../../test/support/processes.ts"
import * as EmbeddedStore from "../src/EmbeddedStore.ts"

describe("EmbeddedStore and the owner of its folder / embedded", () => {
  it.live("rejects a folder that this process has open, until it is closed", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const error = yield* inFolder(folder, (store) =>
        Effect.gen(function*() {
          const error = yield* Effect.flip(inFolder(folder, () => Effect.void))
          yield* store.insertOne("things", { _id: 1 })
          return error
        }))
      assert.strictEqual(
        error.message,
        `The store is unavailable (open): folder ${folder} is already open in this process`
      )
      assert.strictEqual(yield* inFolder(folder, (store) => store.count("things", {})), 1)
    }))

  it.live("searches locations by the indexes of a folder that is opened again", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      yield* inFolder(folder, (store) =>
        Effect.gen(function*() {
          yield* store.createIndexes("places", [
            { name: "sphere", key: { kind: 1, at: "2dsphere" } },
            { name: "plane", key: { flat: "2d" } }
          ])
          yield* store.insertMany("places", [1, 2, 3].map((_id) => ({ _id, kind: "a", at: [_id, 0], flat: [0, -_id] })))
        }))
      const found = yield* inFolder(folder, (store) =>
        Effect.gen(function*() {
          yield* store.updateOne("places", { _id: 3 }, { $set: { at: [0, 0], flat: [0, 0] } })
          const near = yield* store.find("places", { filter: { kind: "a", at: { $nearSphere: [0, 0] } } })
          const flat = yield* store.find("places", { filter: { flat: { $near: [0, 0], $maxDistance: 1 } } })
          const rejected = yield* Effect.flip(store.insertOne("places", { _id: 4, kind: "a", at: [200, 0] }))
          return [near.map(({ _id }) => _id), flat.map(({ _id }) => _id), rejected._tag]
        }))
      assert.deepStrictEqual(found, [[3, 1, 2], [3, 1], "QueryRejected"])
    }))

  it.live("reads the numbers of documents with typed and with plain ones, after it is opened again, too", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const numbers = (store: DocumentStore["Service"]) =>
        Effect.gen(function*() {
          const [one] = yield* store.aggregate("things", [{ $match: { _id: 1 } }]).pipe(Stream.runCollect)
          const found = yield* store.find("things", { sort: { _id: 1 } })
          return [yield* store.findById("things", 1), one, ...found].map((document) => document?.["n"])
        })
      const within = yield* inFolder(folder, (store) =>
        Effect.gen(function*() {
          yield* store.insertOne("things", { _id: 2, n: 2 })
          const [before] = yield* store.find("things", {})
          yield* store.transaction(store.insertOne("things", { _id: 1, n: Long.fromNumber(1) }))
          yield* store.updateOne("things", { _id: 2 }, { $mul: { n: 1.5 } })
          return [before?.["n"], ...yield* numbers(store)]
        }))
      const types = { $type: ["long", "double"] }
      const again = yield* inFolder(
        folder,
        (store) => Effect.all([numbers(store), store.count("things", { n: types })])
      )
      assert.deepStrictEqual([within, again], [[2, 1, 1, 1, 3], [[1, 1, 1, 3], 2]])
    }))

  it.live("is opened by one of many fibers", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const opened = yield* Effect.forEach(
        Array.from({ length: 20 }),
        () => Effect.exit(EmbeddedStore.make({ path: folder })),
        { concurrency: 20 }
      )
      assert.strictEqual(opened.filter(({ _tag }) => _tag === "Success").length, 1)
    }))

  it.live(
    "rejects a folder that another process has open, and opens it after that process was killed",
    () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        const other = yield* holder(folder)
        const error = yield* Effect.flip(inFolder(folder, () => Effect.void))
        assert.strictEqual(
          error.message,
          `The store is unavailable (open): folder ${folder} is in use by process ${other.process.pid} on ${hostname()}`
        )
        other.process.kill("SIGKILL")
        assert.strictEqual(yield* inFolder(folder, (store) => store.count("things", {})), 0)
      })
  )

  it.live.runIf(process.platform !== "win32")(
    "opens the folder of a killed process that its parent has not reaped yet",
    () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        // The second program takes the place of the parent, and never asks for the end of the first.
        const unaware = ["sh", "-c", "\"$@\" & echo pid $!; exec sleep 600", "sh"]
        const other = yield* holder(folder, unaware)
        const pid = Number(/^pid (\d+)$/mu.exec(other.output())?.[1])
        process.kill(pid, "SIGKILL")
        assert.strictEqual(yield* inFolder(folder, (store) => store.count("things", {})), 0)
        // It is dead, and its number is still taken.
        assert.isTrue(process.kill(pid, 0))
      })
  )

  it.effect.skipIf(withOwnNumbers === undefined)(
    "rejects a folder that a process of another container has open",
    () =>
      Effect.gen(function*() {
        const folder = yield* freshDirectory
        yield* holder(folder, withOwnNumbers)
        const second = yield* runProgram(holderFile, { TASK: "hold", FOLDER: folder }, withOwnNumbers)
        yield* second.ended
        assert.include(second.output(), `folder ${folder} is in use by process 1 on ${hostname()}`)
        assert.include(yield* refusalOf(folder), "is in use by process 1 on")
      })
  )

  it.live("has one owner when many processes open the folder of a killed one", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const dead = yield* holder(folder)
      const starters = Array.from({ length: 4 }, () => runProgram(holderFile, { TASK: "hold", FOLDER: folder }))
      dead.process.kill("SIGKILL")
      const programs = yield* Effect.all(starters)
      const outcomes = yield* Effect.forEach(programs, outcomeOf, { concurrency: programs.length })
      assert.sameMembers(outcomes, [
        "open",
        ...Array.from({ length: programs.length - 1 }, () => "is in use by process")
      ])
    }))

  it.live("stops waiting for a folder when it is interrupted, and does not lock it", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      const other = yield* holder(folder)
      const waiting = yield* Effect.forkChild(inFolder(folder, () => Effect.never), { startImmediately: true })
      yield* Effect.sleep("100 millis")
      const interrupted = yield* Effect.timeoutOption(Fiber.interrupt(waiting), "3 seconds")
      assert.strictEqual(interrupted._tag, "Some")
      other.process.kill("SIGKILL")
      assert.strictEqual(yield* inFolder(folder, (store) => store.count("things", {})), 0)
    }))

  it.live("opens a copy of a folder whose process was killed", () =>
    Effect.gen(function*() {
      const [folder, copies] = [yield* freshDirectory, yield* freshDirectory]
      const other = yield* holder(folder)
      other.process.kill("SIGKILL")
      yield* other.ended
      const copy = path.join(copies, "copy")
      fs.cpSync(folder, copy, { recursive: true })
      const counts = inFolder(folder, (store) =>
        Effect.andThen(
          store.insertOne("things", { _id: 1 }),
          inFolder(copy, (copy) => copy.count("things", {}))
        ))
      assert.strictEqual(yield* counts, 0)
    }))

  it.live("reports an unusable lock in one line", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      fs.writeFileSync(path.join(folder, "owner.lock"), "no lock".repeat(2_000))
      const error = yield* Effect.flip(inFolder(folder, () => Effect.void))
      assert.strictEqual(
        error.message,
        `The store is unavailable (open): folder ${folder} can't be locked: owner.lock: file is not a database`
      )
    }))

  it.live.runIf(process.platform === "linux")(
    "says that a folder can't be made in /proc",
    () =>
      Effect.gen(function*() {
        // Another process, since what never ends would hold up all other tests.
        const program = yield* runProgram(holderFile, { TASK: "hold", FOLDER: "/proc/x/y" })
        const ended = yield* Effect.timeoutOption(program.ended, "1 minute")
        assert.strictEqual(ended._tag, "Some")
        assert.include(
          program.output(),
          "folder /proc/x/y can't be used: ENOENT: no such file or directory, mkdir '/proc/x'"
        )
      })
  )
})

describe("EmbeddedStore with a removed folder / embedded", () => {
  const data = (folder: string) => path.join(folder, "data.mdb")
  // A check that is in progress notices the second file only.
  const either = "(?:data.mdb|owner.lock)"
  const changes: ReadonlyArray<readonly [what: string, files: string, change: (folder: string) => void]> = [
    ["is removed", either, (folder) => fs.rmSync(folder, { recursive: true })],
    ["is moved", either, (folder) => fs.renameSync(folder, `${folder}.moved`)],
    ["is replaced by a copy", either, (folder) => {
      fs.renameSync(folder, `${folder}.moved`)
      fs.cpSync(`${folder}.moved`, folder, { recursive: true })
    }],
    ["loses its data", "data.mdb", (folder) => fs.rmSync(data(folder))],
    ["gets other data", "data.mdb", (folder) => {
      fs.copyFileSync(data(folder), `${data(folder)}.copy`)
      fs.renameSync(`${data(folder)}.copy`, data(folder))
    }],
    ["loses its lock", "owner.lock", (folder) => fs.rmSync(path.join(folder, "owner.lock"))]
  ]

  it.live.each(changes)("notices within a second that the folder %s", ([, files, change]) =>
    Effect.gen(function*() {
      const folder = path.join(yield* freshDirectory, "data")
      const logged: Array<string> = []
      const logger = Logger.make(({ message }) => logged.push(String(message)))
      yield* inFolder(folder, (store) =>
        Effect.gen(function*() {
          yield* store.insertOne("things", { _id: 1 })
          change(folder)
          // A busy machine may take longer.
          yield* Effect.repeat(Effect.sleep("100 millis"), { until: () => logged.length > 0, times: 40 })
          const told = [...logged]
          const detail = `${files} in folder ${folder} was removed or replaced while it was open`
          for (
            const write of [
              store.insertOne("things", { _id: 2 }),
              store.deleteMany("things", {}),
              store.createIndexes("things", [{ name: "n", key: { n: 1 } }]),
              store.transaction(store.updateOne("things", { _id: 1 }, { $set: { n: 1 } }))
            ]
          ) {
            const { _tag, message } = yield* Effect.flip(Effect.asVoid(write))
            assert.strictEqual(_tag, "StoreUnavailable")
            assert.match(message, new RegExp(detail, "u"))
          }
          assert.deepStrictEqual(yield* store.find("things", {}), [{ _id: 1 }])
          assert.lengthOf(told, 1)
          assert.match(told[0] ?? "", new RegExp(`^${detail}; writes are refused$`, "u"))
        })).pipe(Effect.provide(Logger.layer([logger])))
    }))

  it.live("rejects later and waiting writes of many fibers", () =>
    Effect.gen(function*() {
      const folder = path.join(yield* freshDirectory, "data")
      yield* inFolder(folder, (store) =>
        Effect.gen(function*() {
          const writer = (number: number) => {
            let next = 0
            return Effect.forever(Effect.suspend(() => store.insertOne("things", { _id: `${number}-${next += 1}` })))
          }
          const writers = yield* Effect.forkChild(
            Effect.forEach(Array.from({ length: 50 }, (_, i) => i), (i) => Effect.flip(writer(i)), { concurrency: 50 })
          )
          yield* Effect.sleep("100 millis")
          fs.rmSync(folder, { recursive: true })
          const refusals = yield* Effect.timeout(Fiber.join(writers), "1 minute")
          assert.isTrue(refusals.every(({ _tag }) => _tag === "StoreUnavailable"))
        }))
    }))

  it.live("works again when the folder is restored", () =>
    Effect.gen(function*() {
      const folder = path.join(yield* freshDirectory, "data")
      const written: Array<number> = []
      yield* inFolder(folder, (store) =>
        Effect.gen(function*() {
          let next = 0
          const write = Effect.suspend(() => {
            const _id = next += 1
            return Effect.tap(store.insertOne("things", { _id }), () => Effect.sync(() => written.push(_id)))
          })
          fs.renameSync(folder, `${folder}.moved`)
          const { _tag } = yield* Effect.flip(Effect.repeat(write, { schedule: Schedule.spaced("50 millis") }))
          assert.strictEqual(_tag, "StoreUnavailable")
          fs.renameSync(`${folder}.moved`, folder)
          yield* Effect.retry(write, { schedule: Schedule.spaced("50 millis") })
        }))
      const found = yield* inFolder(folder, (store) => store.find("things", {}))
      assert.deepStrictEqual(found.map(({ _id }) => _id), written)
    }))
})

// internal

const holderFile = path.join(import.meta.dirname, "../../../test/support/embeddedProgram.ts")

const inFolder = <A, E>(folder: string, use: (store: DocumentStore["Service"]) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(EmbeddedStore.make({ path: folder }), use))

/** A process that has the folder open. */
const holder = (folder: string, within?: ReadonlyArray<string>) =>
  Effect.tap(
    runProgram(holderFile, { TASK: "hold", FOLDER: folder }, within),
    (program) => printed(program, "open\n")
  )

/** Why a folder can't be opened, without the time that this takes. */
const refusalOf = (folder: string) =>
  Effect.raceFirst(
    Effect.map(Effect.flip(inFolder(folder, () => Effect.void)), ({ message }) => message),
    Effect.forever(Effect.andThen(TestClock.adjust("50 millis"), Effect.promise(() => setImmediate())))
  )

const outcomeOf = (program: Program) =>
  Effect.raceFirst(
    Effect.andThen(Effect.ignoreCause(printed(program, "open\n")), Effect.sync(() => said(program))),
    Effect.map(program.ended, () => said(program))
  )

const said = (program: Program): string =>
  /^open$|(?<=^failed .*)is in use by process/mu.exec(program.output())?.[0] ?? program.output()
