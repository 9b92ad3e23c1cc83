import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, type Scope } from "effect"
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { withLease } from "../../../packages/document-store/src/shared.ts"
import { DocumentStore, EmbeddedStore, MongoStore } from "../../../src/index.ts"
import { runCommand } from "../../support/command.ts"
import { freshDirectory } from "../../support/folders.ts"
import { type FoundServer, freshDatabase, onMongo } from "../../support/mongo.ts"
import { freePort, printed, type Program, runProgram } from "../../support/processes.ts"
import { builtFrom } from "../../support/programs.ts"

const root = path.join(import.meta.dirname, "../../..")
const engine = path.join(root, "test/support/cli/engine.ts")
const builtEngine = await builtFrom(engine)

interface Copied {
  readonly name: string
  readonly documents: number
  readonly indexes: ReadonlyArray<string>
}

type Env = { readonly [name: string]: string }

/** Runs of each command that are killed, at random. */
const kills = Number(process.env["KILLS"] ?? 2)

/** The server may be busy with other tests. */
const connectTimeout = "60 seconds"

const start = (env: Env, ...args: ReadonlyArray<string>): Effect.Effect<Program, never, Scope.Scope> =>
  runProgram(path.join(root, "src/Cli/Main.ts"), env, [], args)

const runProcess = (env: Env, ...args: ReadonlyArray<string>) =>
  Effect.scoped(Effect.gen(function*() {
    const program = yield* start(env, ...args)
    return { code: yield* program.ended, output: program.output() }
  }))

/** Runs a command that ends with a code: what it prints. */
const ending = (run: typeof runProcess, expected: number) =>
  Effect.fnUntraced(function*(env: Env, ...args: ReadonlyArray<string>) {
    const { code, output } = yield* run(env, ...args)
    assert.strictEqual(code, expected, output)
    return output
  })

const [done, failed] = [ending(runCommand, 0), ending(runCommand, 1)]

/** In a process of its own. */
const [doneApart, failedApart] = [ending(runProcess, 0), ending(runProcess, 1)]

/** The JSON of the output, without the lines of progress around it. */
const jsonIn = (output: string) => JSON.parse(output.slice(output.indexOf("\n{") + 1, output.lastIndexOf("\n}") + 2))

const inStore = <A, E>(env: Env, use: (store: DocumentStore.DocumentStore["Service"]) => Effect.Effect<A, E>) => {
  const { APPKERNEL_EMBEDDED_PATH: folder, APPKERNEL_MONGO_DB: db, APPKERNEL_MONGO_HOST: host = "" } = env
  const layer = folder === undefined
    ? MongoStore.layerWith({ host, db, connectTimeout })
    : EmbeddedStore.layerWith({ path: folder })
  return Effect.flatMap(DocumentStore.DocumentStore, use).pipe(Effect.provide(Layer.fresh(layer)))
}

const folderEnv = Effect.map(freshDirectory, (folder): Env => ({
  APPKERNEL_EMBEDDED_PATH: `${folder}/data`,
  FOLDER: folder
}))

const mongoEnv = (server: FoundServer) =>
  Effect.map(freshDatabase(server), (db): Env => ({
    APPKERNEL_MONGO_HOST: server.url,
    APPKERNEL_MONGO_DB: db,
    APPKERNEL_MONGO_CONNECT_TIMEOUT: connectTimeout
  }))

/** What the migrations of the project leave behind, whatever has happened between. */
const assertMigrated = (env: Env, size: number) =>
  inStore(env, (store) =>
    Effect.gen(function*() {
      const runs = yield* store.find("runs", { sort: { id: 1 } })
      assert.deepStrictEqual(runs.map(({ id }) => id), ["0001_fill", "0003_add"])
      const numbers = yield* store.find("numbers", { sort: { _id: 1 } })
      assert.deepStrictEqual(
        numbers,
        Array.from({ length: size }, (_, n) => ({ _id: n, name: `Person ${n}`, total: 1, double: 2 * n }))
      )
      assert.isUndefined(yield* store.findById("appkernel.migrations", "appkernel.lock"))
    }))

/**
 * Takes the lock of the migrations and gives it back. A run that was killed behind its last migration has left it there, which the
 * next one, with nothing to do, does not look at.
 */
const assertFree = (env: Env) =>
  inStore(env, (store) =>
    withLease({
      store,
      collection: "appkernel.migrations",
      id: "appkernel.lock",
      duration: Duration.seconds(3),
      onWait: () => Effect.void
    }, () => Effect.void))

/**
 * Runs a command to see how long it takes, and kills it at random moments of that time. What a run leaves behind is for the
 * next one; when one ends, what it was for is checked and undone.
 */
const killed = Effect.fnUntraced(function*(
  env: Env,
  args: ReadonlyArray<string>,
  { check, undo }: { readonly check: Effect.Effect<unknown, Error>; readonly undo: Effect.Effect<unknown, Error> }
) {
  let begun = Date.now()
  yield* ended(env, args)
  let time = Date.now() - begun
  yield* check
  yield* undo
  let [deaths, ends] = [0, 0]
  while (deaths < kills) {
    const program = yield* Effect.scoped(Effect.gen(function*() {
      begun = Date.now()
      const program = yield* start(env, ...args)
      // The first part of the time loads the program.
      const killing = setTimeout(() => program.process.kill("SIGKILL"), time * (0.3 + 0.8 * Math.random()))
      yield* program.ended
      clearTimeout(killing)
      return program
    }))
    if (program.process.signalCode === "SIGKILL") {
      deaths += 1
      continue
    }
    if (hasLostLock(program)) continue
    assertDone(program)
    ends += 1
    // Later runs may be faster than the first one.
    time = Date.now() - begun
    yield* check
    yield* undo
  }
  yield* Effect.log(`${args[0]} was killed ${deaths} times, and has come to its end ${ends} times between`)
  yield* ended(env, args)
  yield* check
})

/** A machine with much to do lets a process stand still, which then gives up its lock. */
const hasLostLock = (program: Program): boolean => program.output().includes("the lock was lost")

/** Runs a command until it has not lost its lock, and is done. */
const ended = (env: Env, args: ReadonlyArray<string>) =>
  Effect.scoped(Effect.tap(start(env, ...args), (program) => program.ended)).pipe(
    Effect.repeat({ while: hasLostLock }),
    Effect.map(assertDone)
  )

/** It is done, or the run before was killed when it had made what it was for. */
const assertDone = (program: Program): void => {
  if (!/ is there already/u.test(program.output())) assert.strictEqual(program.process.exitCode, 0, program.output())
}

const folderOf = (env: Env): string => env["APPKERNEL_EMBEDDED_PATH"] ?? ""

/** Copies some thousand documents, kills the copy, and lets it end. */
const assertCopied = Effect.fnUntraced(function*(from: Env, to: Env, env: Env, target: string, thousands: number) {
  yield* inStore(from, (store) =>
    Effect.gen(function*() {
      for (let i = 0; i < thousands; i++) {
        const documents = Array.from({ length: 1000 }, (_, n) => ({ _id: i * 1000 + n, name: `Person ${n}`, n: i }))
        yield* store.insertMany("numbers", documents)
      }
      yield* store.createIndexes("numbers", [{ name: "n_1", key: { n: 1 } }])
      yield* store.insertOne("Person.history", { _id: "ann@1", document: { name: "Ann" } })
    }))
  const there = ["copy", "--json", folderOf(from), target]
  const names = ["numbers", "Person.history", "appkernel.copies"]
  yield* killed(env, there, {
    check: Effect.map(
      inStore(to, (store) => store.count("numbers", {})),
      (count) => assert.strictEqual(count, thousands * 1000)
    ),
    undo: inStore(to, (store) => Effect.forEach(names, (name) => store.deleteMany(name, {}), { discard: true }))
  })
  const copied = jsonIn(yield* done(env, ...there))
  assert.deepStrictEqual(copied.collections.map(({ documents, indexes, name }: Copied) => [name, documents, indexes]), [
    ["Person.history", 1, []],
    ["numbers", thousands * 1000, ["n_1"]]
  ])
  return copied
})

/** Copies a folder that the test writes to, kills the copy at random, and completes it afterwards. */
const assertFollowed = Effect.fnUntraced(function*(from: Env, to: Env, env: Env, target: string) {
  const follow = ["copy", "--follow", folderOf(from), target]
  const count = 500
  const write = (store: DocumentStore.DocumentStore["Service"]) =>
    Effect.forEach(Array.from({ length: 20 }), () =>
      Effect.gen(function*() {
        const [_id, n] = [Math.floor(count * Math.random()), Math.floor(1e9 * Math.random())]
        yield* n % 3 === 0
          ? store.deleteOne("numbers", { _id })
          : store.updateOne("numbers", { _id }, { $set: { n }, $inc: { times: 1 } }, { upsert: true })
      }), { concurrency: 5, discard: true })
  const source = yield* inStore(from, (store) =>
    Effect.scoped(Effect.gen(function*() {
      yield* store.changes.record("numbers", {})
      yield* store.createIndexes("numbers", [{ name: "n_1", key: { n: 1 }, unique: true, sparse: true }])
      yield* store.insertMany("numbers", Array.from({ length: count }, (_, _id) => ({ _id, n: -_id })))
      yield* store.insertOne("Person.history", { _id: "ann@1", document: { name: "Ann" } })
      const writer = yield* Effect.forkChild(Effect.forever(Effect.delay(write(store), "2 millis")))
      const killed = Effect.scoped(Effect.gen(function*() {
        const program = yield* start(env, ...follow)
        const killing = setTimeout(() => program.process.kill("SIGKILL"), 3000 * Math.random())
        yield* program.ended
        clearTimeout(killing)
        assert.strictEqual(program.process.signalCode, "SIGKILL", program.output())
      }))
      yield* Effect.repeat(killed, { times: kills - 1 })
      yield* Fiber.interrupt(writer)
      yield* store.insertOne("Person.history", { _id: "ann@2", document: { name: "Anna" } })
      const program = yield* start(env, ...follow)
      yield* printed(program, " applied, up to date")
      program.process.kill("SIGTERM")
      assert.strictEqual(yield* program.ended, 130)
      assert.include(
        program.output(),
        "Following numbers\nNot logged, and so as they were when they were copied: Person.history."
      )
      assert.include(program.output(), "without --follow, once nobody writes to the source, to complete the copy")
      return yield* store.find("numbers", { sort: { _id: 1 } })
    })))
  const names = yield* inStore(to, (store) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* store.find("numbers", { sort: { _id: 1 } }), source)
      return (yield* store.listIndexes("numbers")).map(({ name }) => name)
    }))
  assert.deepStrictEqual(names, [])
  const { collections } = jsonIn(yield* done(env, "copy", "--json", folderOf(from), target))
  assert.deepStrictEqual(collections.map(({ documents, indexes, name }: Copied) => [name, documents, indexes]), [
    ["Person.history", 2, []],
    ["numbers", source.length, ["n_1"]]
  ])
  assert.include(yield* failed(env, ...follow), "has a complete copy already")
  // No snapshot is left.
  assert.deepStrictEqual(fs.readdirSync(from["FOLDER"] ?? ""), ["data"])
})

describe("appkernel, on data", () => {
  it.live("checks documents, indexes and migrations, and says by its code whether all is well", () =>
    Effect.scoped(Effect.gen(function*() {
      const env = yield* folderEnv
      assert.include(
        yield* failed({ ...env, ANN_AGE: "canary" }, "seed", engine),
        "The configuration is wrong: ann.age (ANN_AGE) must be a whole number"
      )
      yield* done(env, "seed", engine)
      assert.include(yield* failed(env, "seed", engine), "Person has documents already")
      const first = yield* failed(env, "check", engine)
      assert.include(first, "Person: 2 documents, all fit")
      assert.include(first, "Person: index name_1 is missing")
      assert.include(first, "migration 0001_fill has not run")
      assert.include(
        yield* failed(env, "indexes", engine),
        "Person.history: index document_id_1_revision_-1 is missing"
      )
      yield* done(env, "indexes", "--apply", engine)

      const dry = jsonIn(yield* failed(env, "migrate", "--dry-run", "--json", engine))
      assert.deepStrictEqual(dry.pending, ["0001_fill", "0002_double", "0003_add"])
      const migrating = runProcess(env, "migrate", builtEngine)
      const both = yield* Effect.all([migrating, migrating], { concurrency: 2 })
      for (const { code, output } of both) {
        assert.include(output, code === 0 ? "3 migrations have run, none is missing" : "is in use by process")
      }
      yield* assertMigrated(env, 100)
      // As the first start of a service says in a new store.
      yield* inStore(env, (store) => store.insertOne("appkernel.forms", { _id: "Letter", understood: 2 }))
      // A migration is known by its text, which is another one where it is put together with others.
      const fine = yield* doneApart(env, "check", builtEngine)
      assert.include(fine, "Person: 2 documents, all fit")
      assert.include(fine, "no earlier form is stored; queries look for them until upgrade has run")

      yield* inStore(env, (store) =>
        Effect.gen(function*() {
          yield* store.insertMany("Person", [{ _id: "cy", age: "old" }, { _id: "di", name: "Di", age: "young" }])
          yield* store.createIndexes("Person", [{ name: "own", key: { age: 1 } }])
          yield* store.insertOne("appkernel.migrations", { _id: "0004_newer", state: "done" })
        }))
      const { code, output } = yield* runProcess(env, "check", "--json", "--ids", "1", builtEngine)
      assert.strictEqual(code, 1, output)
      const found = jsonIn(output)
      assert.deepStrictEqual(found.documents.slice(0, 1), [{
        collection: "Person",
        documents: 4,
        unfit: 2,
        fields: { name: 1, age: 2 },
        examples: [{ model: "Person", id: "cy", form: 1, problems: found.documents[0].examples[0].problems }]
      }])
      assert.deepStrictEqual(found.indexes[0].extra, ["own"])
      assert.deepStrictEqual(found.migrations.unknown, ["0004_newer"])
      assert.include(
        yield* failedApart(env, "migrate", builtEngine),
        "0004_newer: it has run, and this program does not know it"
      )
      yield* done(env, "indexes", engine)
      assert.notInclude(yield* done(env, "indexes", "--apply", "--drop", engine), "own")
      assert.deepStrictEqual((yield* runCommand(env, "indexes", "--drop", engine)).code, 2)
      assert.deepStrictEqual((yield* runCommand(env, "check", "--nothing", engine)).code, 2)
    })))

  it.live("writes the documents that reviews look at", () =>
    Effect.scoped(Effect.gen(function*() {
      const env = yield* folderEnv
      for (const [command, file] of [["openapi", "openapi.json"], ["policy", "policy.txt"]] as const) {
        const out = `${env["FOLDER"]}/${file}`
        assert.include(yield* failed(env, command, "--out", out, "--check", engine), "is missing")
        yield* done(env, command, "--out", out, engine)
        assert.include(yield* done(env, command, "--out", out, "--check", engine), "is as it was")
        assert.include(fs.readFileSync(out, "utf8"), "/api/v1/persons")
        fs.appendFileSync(out, "more")
        assert.include(yield* failed(env, command, "--out", out, "--check", engine), "is not up to date")
      }
      assert.strictEqual(
        JSON.parse(fs.readFileSync(`${env["FOLDER"]}/openapi.json`, "utf8").slice(0, -4)).openapi,
        "3.1.0"
      )
      assert.strictEqual((yield* runCommand(env, "policy", "--check", engine)).code, 2)
    })))

  it.live("writes the document that the service serves, whatever its callers prove themselves by", () =>
    Effect.scoped(Effect.gen(function*() {
      const secured = yield* Effect.promise(() => builtFrom(path.join(root, "test/support/cli/secured.ts")))
      const folder = yield* freshDirectory
      for (const SCHEMES of ["every", "keys"]) {
        const port = yield* freePort
        const env = {
          SCHEMES,
          NODE_ENV: "development",
          APPKERNEL_EMBEDDED_PATH: folder,
          APPKERNEL_SERVER_PORT: String(port),
          APPKERNEL_RATE_LIMITS_PER_ADDRESS: "1000 per minute",
          APPKERNEL_QUERY_MAX_PAGE_SIZE: "77"
        }
        const service = yield* runProgram(secured, env)
        yield* printed(service, "Listening on")
        const served = yield* Effect.promise(async () =>
          (await fetch(`http://127.0.0.1:${port}/openapi.json`)).json() as Promise<{ components: object }>
        )
        const written = JSON.parse(yield* doneApart(env, "openapi", secured))
        assert.deepStrictEqual(written, served)
        assert.deepStrictEqual(
          Object.keys(written.components.securitySchemes),
          SCHEMES === "keys" ? ["apiKey"] : ["signIn", "bearer", "basic", "apiKey", "gateway"]
        )
      }
      assert.match(
        yield* failedApart({ SCHEMES: "" }, "openapi", secured),
        /credentials\.\w+ exports credentials, by which/u
      )
    })))

  it.live("backs up a folder that another process has open, and restores it", () =>
    Effect.scoped(Effect.gen(function*() {
      const env = yield* folderEnv
      const [backup, other] = [`${env["FOLDER"]}/backups/one`, `${env["FOLDER"]}/other`]
      yield* done(env, "seed", engine)
      yield* inStore(env, (store) =>
        Effect.gen(function*() {
          yield* store.insertOne("Person", { _id: "last", name: "Last" })
          const made = jsonIn(yield* doneApart(env, "backup", "--json", backup))
          assert.deepStrictEqual(made.collections, [{ name: "Person", documents: 3 }])
          // Each waits for five seconds.
          const commands = [["check"], ["indexes"], ["migrate"], ["upgrade", "--finish"], ["indexes", "--apply"]]
          const [checked = "", listed = "", ...refused] = yield* Effect.all(
            commands.map((command) => failedApart(env, ...command, builtEngine)),
            { concurrency: commands.length }
          )
          assert.include(checked, "is in use: reading a copy of what it has now")
          assert.include(checked, "Person: 3 documents, all fit")
          assert.include(listed, "is in use: reading a copy of what it has now")
          const hints = [/migrations\.on_start is run/u, /Upgrade\.finish and/u, /installs missing indexes/u]
          for (const [i, { source }] of hints.entries()) {
            assert.match(refused[i] ?? "", new RegExp(`is in use by process .*${source}`, "u"))
          }
        }))
      assert.include(yield* done(env, "verify", backup), "Person: 3 documents")
      assert.include(yield* failed(env, "backup", backup), "is there already")
      assert.include(yield* failed(env, "restore", backup), "is there already")
      assert.include(yield* done(env, "restore", "--path", other, backup), "Person: 3 documents")
      assert.include(yield* done(env, "restore", "--replace", backup), "What was there is in")
      assert.strictEqual(yield* inStore(env, (store) => store.count("Person", {})), 3)
      fs.appendFileSync(`${backup}/data.mdb`, "x")
      assert.include(yield* failed(env, "verify", backup), "and the manifest says")
      assert.include(yield* failed(env, "restore", "--path", `${env["FOLDER"]}/third`, backup), "is damaged")
    })))

  it.live("refuses a backup with a damaged manifest, files that are none, and addresses of other servers", () =>
    Effect.scoped(Effect.gen(function*() {
      const env = yield* folderEnv
      const [backup, folder] = [`${env["FOLDER"]}/backup`, env["FOLDER"] ?? ""]
      yield* inStore(env, (store) => store.insertOne("Person", { _id: "one" }))
      yield* EmbeddedStore.backup({ path: folderOf(env), to: backup })
      const manifest = fs.readFileSync(`${backup}/manifest.json`, "utf8")
      const isRefused = Effect.fnUntraced(function*(damaged: string) {
        fs.writeFileSync(`${backup}/manifest.json`, damaged)
        const { problem } = yield* EmbeddedStore.verify({ path: backup })
        const restored = yield* Effect.flip(EmbeddedStore.restore({ from: backup, path: `${folder}/other` }))
        return problem !== undefined && restored.message.includes("is damaged")
      })
      const cuts = Array.from({ length: 20 }, (_, index) => manifest.slice(0, Math.floor(index * manifest.length / 20)))
      const others = [
        "[]",
        "null",
        "\0",
        manifest.replace(/"bytes": \d/u, "\"bytes\": 9"),
        manifest.replace("bytes", "byte")
      ]
      for (const damaged of [...cuts, ...others, manifest.replace("\"documents\": 1", "\"documents\": 2")]) {
        assert.isTrue(yield* isRefused(damaged), damaged)
      }
      assert.include(yield* failed(env, "verify", backup), "manifest.json is damaged")

      fs.writeFileSync(`${backup}/manifest.json`, manifest)
      for (const name of ["manifest.json", "data.mdb"]) {
        const file = `${backup}/${name}`
        fs.renameSync(file, `${file}.kept`)
        execFileSync("mkfifo", [file])
        for (const command of [["verify", backup], ["restore", "--path", `${folder}/other`, backup]]) {
          assert.include(yield* failed(env, ...command), `${name} is no file`)
        }
        fs.renameSync(`${file}.kept`, file)
      }
      for (const name of ["data.mdb", "lock.mdb", "owner.lock", "owner.txt"]) {
        fs.mkdirSync(`${folder}/${name}-`)
        execFileSync("mkfifo", [`${folder}/${name}-/${name}`])
        const opened = yield* Effect.flip(Effect.scoped(EmbeddedStore.make({ path: `${folder}/${name}-` })))
        assert.include(opened.message, `${name} is no file`)
        const copied = yield* Effect.flip(EmbeddedStore.backup({ path: `${folder}/${name}-`, to: `${folder}/other` }))
        assert.include(copied.message, `${name} is no file`)
      }
      // As the folder of somebody else, it can't be looked at.
      fs.symlinkSync("loop", `${folder}/loop`)
      const opened = yield* Effect.flip(Effect.scoped(EmbeddedStore.make({ path: `${folder}/loop` })))
      assert.include(opened.message, "ELOOP")
      const verified = yield* Effect.flip(EmbeddedStore.verify({ path: `${folder}/loop` }))
      const copied = yield* Effect.flip(EmbeddedStore.backup({ path: `${folder}/loop`, to: `${folder}/other` }))
      for (const { message } of [verified, copied]) assert.include(message, "ELOOP")

      const before = fs.readdirSync(folder)
      const secret = "http://ada:engine@localhost/shop"
      for (const command of [["copy", folderOf(env), secret], ["copy", secret, "new"], ["backup", secret]]) {
        const { code, output } = yield* runCommand({ ...env, ADDRESS: secret }, ...command)
        assert.strictEqual(code, 2, output)
        assert.notInclude(output, "engine")
      }
      for (const address of ["localhost:27017/shop", "mongo://localhost/shop", "env:ADDRESS"]) {
        const { code, output } = yield* runCommand({ ...env, ADDRESS: secret }, "copy", folderOf(env), address)
        assert.strictEqual(code, 2, output)
      }
      assert.deepStrictEqual(fs.readdirSync(folder), before)
    })))

  it.live("survives kills amid migrate, backup and restore", () =>
    Effect.scoped(Effect.gen(function*() {
      const env: Env = { ...yield* folderEnv, SIZE: "3000" }
      const data = folderOf(env)
      const clear = (folder: string) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
      const migrated = assertMigrated(env, 3000)
      yield* killed(env, ["migrate", "--lease", "3", builtEngine], {
        check: Effect.andThen(assertFree(env), migrated),
        undo: clear(data)
      })

      const backup = `${env["FOLDER"]}/backup`
      const sound = Effect.map(EmbeddedStore.verify({ path: backup }), ({ collections, problem }) => {
        assert.isUndefined(problem)
        assert.deepInclude(collections.find(({ name }) => name === "numbers"), { documents: 3000, missing: 0 })
      })
      yield* killed(env, ["backup", backup], { check: sound, undo: clear(backup) })
      yield* clear(data)
      yield* killed(env, ["restore", backup], { check: migrated, undo: clear(data) })
      // Nothing half-made is left.
      assert.deepStrictEqual(fs.readdirSync(env["FOLDER"] ?? "").toSorted(), ["backup", "data"])
    })))

  it.live("upgrades documents of earlier forms, though it is killed", () =>
    Effect.scoped(Effect.gen(function*() {
      const env = yield* folderEnv
      const letters = Array.from({ length: 2000 }, (_, n) => ({ _id: `L${n}`, body: `Letter ${n}`, n }))
      const fill = inStore(env, (store) =>
        Effect.gen(function*() {
          for (const name of ["Letter", "appkernel.forms"]) yield* store.deleteMany(name, {})
          yield* store.insertMany("Letter", letters)
        }))
      yield* fill
      assert.include(yield* done(env, "upgrade", engine), "form 1 is written, and not 2, until upgrade --finish")
      const upgrade = ["upgrade", "--finish", "--batch", "100", "--rate", "2000"]
      // Later runs need not wait for other processes to learn it.
      const undo = Effect.andThen(
        fill,
        inStore(env, (store) => store.insertOne("appkernel.forms", { _id: "Letter", understood: 2 }))
      )
      const upgraded = inStore(env, (store) =>
        Effect.map(store.find("Letter", { sort: { n: 1 } }), (found) =>
          assert.deepStrictEqual(found.map(({ _id, n, text }) => ({ _id, body: text, n })), letters)))
      yield* killed(env, [...upgrade, builtEngine], { check: upgraded, undo })
      assert.include(yield* done(env, ...upgrade, engine), "Letter: 2,000 documents of form 2\n")
      yield* inStore(env, (store) =>
        Effect.gen(function*() {
          yield* store.insertMany("Letter", [{ _id: "wrong", body: 5, n: "?" }])
          yield* store.updateOne("appkernel.forms", { _id: "Letter" }, { $set: { complete: 1 } })
        }))
      const wrong = yield* failed(env, "upgrade", engine)
      assert.include(wrong, "wrong, of form 1:")
      assert.include(wrong, "1 document has no way up")
      assert.include(yield* failed(env, "check", engine), "Letter: 2,001 documents, 1 do not fit")
    })))

  it.live("copies 20,000 documents, though it is killed", () =>
    Effect.scoped(Effect.gen(function*() {
      const [from, to] = [yield* folderEnv, yield* folderEnv]
      yield* assertCopied(from, to, {}, folderOf(to), 20)
      assert.include(yield* failed({}, "copy", `${folderOf(from)}/nowhere`, folderOf(to)), "There is no store in")
      const none = yield* failed({}, "copy", folderOf(from), "env:NOTHING")
      assert.include(none, "There is no variable NOTHING")
    })))

  it.live("copies a folder that a service writes to, and follows it, though it is killed", () =>
    Effect.scoped(Effect.gen(function*() {
      const [from, to] = [yield* folderEnv, yield* folderEnv]
      yield* assertFollowed(from, to, {}, folderOf(to))
    })))
})

onMongo("appkernel, on data / mongodb", (_, server) => {
  it.live("upgrades while an earlier version still writes, and tells what it has written after the end", () =>
    Effect.scoped(Effect.gen(function*() {
      const env = yield* mongoEnv(server)
      // As a service writes that knows the first form only.
      let count = 0
      const write = inStore(
        env,
        (store) => Effect.suspend(() => store.insertOne("Letter", { _id: `L${++count}`, body: "text", n: count }))
      )
      yield* Effect.repeat(write, { times: 20 })
      const writer = yield* Effect.forkChild(Effect.forever(Effect.delay(write, "50 millis")))
      assert.include(yield* done(env, "upgrade", "--finish", engine), "every process is told to write form 2")
      yield* Fiber.interrupt(writer)
      yield* done(env, "upgrade", engine)
      yield* write
      const warned = yield* done(env, "upgrade", engine)
      assert.include(warned, "Letter: after the upgrade, an earlier version has written 1 document: stop it")
      const last = yield* done(env, "upgrade", engine)
      assert.notInclude(last, "an earlier version")
      assert.include(last, `Letter: ${count} documents of form 2\n`)
      yield* inStore(
        env,
        (store) =>
          Effect.map(
            store.count("Letter", { text: "text", body: { $exists: false } }),
            (found) => assert.strictEqual(found, count)
          )
      )
    })))

  it.live("runs each migration once, though two processes begin and one is killed", () =>
    Effect.scoped(Effect.gen(function*() {
      const env = { ...yield* mongoEnv(server), SIZE: "500" }
      const migrating = runProcess(env, "migrate", builtEngine)
      const both = yield* Effect.all([migrating, migrating], { concurrency: 2 })
      for (const { code, output } of both) assert.strictEqual(code, 0, output)
      yield* assertMigrated(env, 500)

      const other = { ...yield* mongoEnv(server), SIZE: "500" }
      const names = ["runs", "numbers", "appkernel.migrations"]
      yield* killed(other, ["migrate", "--lease", "3", builtEngine], {
        check: Effect.andThen(assertFree(other), assertMigrated(other, 500)),
        undo: inStore(other, (store) => Effect.forEach(names, (name) => store.deleteMany(name, {}), { discard: true }))
      })
    })))

  it.live("follows a folder that a service writes to, though it is killed", () =>
    Effect.scoped(Effect.gen(function*() {
      const [from, to] = [yield* folderEnv, yield* mongoEnv(server)]
      const url = new URL(server.url)
      url.pathname = `/${to["APPKERNEL_MONGO_DB"]}`
      yield* assertFollowed(from, to, { TARGET: url.href }, "env:TARGET")
    })))

  it.live("copies from a folder and back, though it is killed", () =>
    Effect.scoped(Effect.gen(function*() {
      const [from, to, back] = [yield* folderEnv, yield* mongoEnv(server), yield* folderEnv]
      const url = new URL(server.url)
      url.pathname = `/${to["APPKERNEL_MONGO_DB"]}`
      const copied = yield* assertCopied(from, to, { TARGET: url.href }, "env:TARGET", 5)
      const returned = jsonIn(yield* done({ TARGET: url.href }, "copy", "--json", "env:TARGET", folderOf(back)))
      assert.deepStrictEqual(returned.collections, copied.collections)
      assert.strictEqual(yield* inStore(back, (store) => store.count("numbers", {})), 5000)
      assert.strictEqual((yield* runCommand({ TARGET: url.href }, "copy", "env:TARGET", "env:TARGET")).code, 2)
    })))
})
