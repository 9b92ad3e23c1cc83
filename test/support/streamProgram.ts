/**
 * A program that fills an embedded store (`FOLDER`), or streams all of it and prints the memory that it took. Its
 * environment has the task (`TASK`). Memory is in MB, as Linux reports it: private memory, and mapped pages of the file.
 */
import { Effect, type Scope, Stream } from "effect"
import * as fs from "node:fs"
import type { Document } from "../../packages/document-store/src/DocumentStore.ts"
import * as EmbeddedStore from "../../src/Repository/EmbeddedStore.ts"
import type { StoreError } from "../../src/Repository/RepositoryError.ts"

const { FOLDER: path = "", TASK: task = "", TOTAL: total = "0" } = process.env

const count = Number(total)

const say = (line: string) => Effect.sync(() => process.stdout.write(`${line}\n`))

const memory = () => {
  const status = fs.readFileSync("/proc/self/status", "utf8")
  const megabytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) / 1024
  return { own: megabytes("RssAnon"), mapped: megabytes("RssFile") }
}

const text = "a text that is to make a document of some length ".repeat(80)

const perInsert = 5_000

const fill = Effect.gen(function*() {
  const store = yield* EmbeddedStore.make({ path })
  for (let from = 0; from < count; from += perInsert) {
    const documents = Array.from({ length: perInsert }, (_, i) => ({ _id: from + i, text: `${from + i} ${text}` }))
    yield* store.insertMany("things", documents)
  }
})

/** Samples the memory in use while `keep` gets each document. */
const stream = (keep: (document: Document) => void) =>
  Effect.gen(function*() {
    const store = yield* EmbeddedStore.make({ path })
    const before = memory()
    const most = { ...before }
    let seen = 0
    yield* Stream.runForEachArray(store.stream("things", {}), (documents) =>
      Effect.sync(() => {
        for (const document of documents) keep(document)
        seen += documents.length
        const { mapped, own } = memory()
        most.own = Math.max(most.own, own)
        most.mapped = Math.max(most.mapped, mapped)
      }))
    yield* say(`seen ${seen}`)
    yield* say(`own ${Math.round(most.own - before.own)}`)
    yield* say(`mapped ${Math.round(most.mapped - before.mapped)}`)
  })

const kept: Array<Document> = []

const tasks: { readonly [name: string]: Effect.Effect<void, StoreError, Scope.Scope> } = {
  fill,
  stream: stream(() => {}),
  keep: stream((document) => kept.push(document))
}

await Effect.runPromise(Effect.scoped(tasks[task] ?? Effect.die(`no task ${task}`)))
await Effect.runPromise(say("done"))
