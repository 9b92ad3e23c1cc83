/** Folders of the embedded store with files that were damaged. */
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import type { Document } from "../../packages/document-store/src/DocumentStore.ts"
import * as EmbeddedStore from "../../src/Repository/EmbeddedStore.ts"
import { runProgram } from "./processes.ts"

/** What a program found in a folder. */
export interface Outcome {
  readonly folder: string
  /** How many errors of each kind. */
  readonly tags: Record<string, number>
  /** The messages of the first ones. */
  readonly messages: Array<string>
  /** What got an answer that is not right. */
  readonly wrong: Array<string>
}

/** The documents of `things`, some of them large. */
export const storedDocuments: ReadonlyArray<Document> = Array.from({ length: 300 }, (_, i) => ({
  _id: `id ${i}`,
  n: i % 20,
  name: `name ${i * 7919 % 300}`,
  text: (i % 30 === 7 ? "large " : "text ").repeat(i % 30 === 7 ? 1500 : 20)
}))

/** A folder with the stored documents, three indexes, and pages that are free. */
export const fillFolder = (folder: string) =>
  Effect.scoped(Effect.gen(function*() {
    const store = yield* EmbeddedStore.make({ path: folder })
    yield* store.createIndexes("things", [
      { name: "n", key: { n: 1 } },
      { name: "name", key: { name: 1 }, unique: true }
    ])
    yield* store.insertMany("things", storedDocuments.map((document) => ({ ...document, n: 1000 })))
    for (const { _id, n } of storedDocuments) yield* store.updateOne("things", { _id }, { $set: { n } })
    yield* store.insertOne("others", { _id: 1, name: "other" })
  }))

/** What a process finds in folders: it must end by itself. */
export const outcomesOf = (folders: ReadonlyArray<string>) =>
  Effect.scoped(Effect.gen(function*() {
    const program = yield* runProgram(path.join(import.meta.dirname, "damageProgram.ts"), {
      FOLDERS: folders.join(":")
    })
    const ended = yield* program.ended
    const outcomes = program.output().split("\n").filter((line) => line.startsWith("{")).map((line) =>
      JSON.parse(line) as Outcome
    )
    return { ended, outcomes, output: program.output() }
  }))

/** Overwrites bytes of the data file of a folder. */
export const overwrite = (folder: string, at: number, bytes: Buffer): void => {
  const descriptor = fs.openSync(path.join(folder, "data.mdb"), "r+")
  fs.writeSync(descriptor, bytes, 0, bytes.length, at)
  fs.closeSync(descriptor)
}

/** Overwrites a text wherever the data file of a folder has it. */
export const change = (folder: string, text: string, other: string): void => {
  const bytes = fs.readFileSync(path.join(folder, "data.mdb"))
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) {
    overwrite(folder, at, Buffer.from(other))
  }
}
