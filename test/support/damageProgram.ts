/**
 * Reads all that `storedDocuments` says of each folder of `FOLDERS`, in every way, then writes; prints a line of JSON for
 * each: the errors by their tags, and the answers that are wrong.
 */
import { Cause, Effect, Exit, Logger, Stream } from "effect"
import * as console from "node:console"
import * as process from "node:process"
import type { Document, DocumentStore } from "../../packages/document-store/src/DocumentStore.ts"
import * as EmbeddedStore from "../../src/Repository/EmbeddedStore.ts"
import { type Outcome, storedDocuments } from "./damage.ts"

const outcomeOf = (folder: string): Effect.Effect<Outcome> =>
  Effect.gen(function*() {
    const outcome: Outcome = { folder, tags: {}, messages: [], wrong: [] }
    const note = (exit: Exit.Exit<unknown, { readonly _tag: string; readonly message: string }>, what: string) => {
      if (Exit.isSuccess(exit)) return
      const error = Cause.squash(exit.cause)
      const { _tag, message } = Cause.hasDies(exit.cause)
        ? { _tag: "defect", message: `${what}: ${String(error)}` }
        : error as { readonly _tag: string; readonly message: string }
      outcome.tags[_tag] = (outcome.tags[_tag] ?? 0) + 1
      if (outcome.messages.length < 3) outcome.messages.push(message)
    }
    const opened = yield* Effect.exit(Effect.scoped(Effect.flatMap(EmbeddedStore.make({ path: folder }), (store) =>
      Effect.forEach(questions(store), ([what, ask, right]) =>
        Effect.map(Effect.exit(ask), (exit) => {
          note(exit, what)
          if (Exit.isSuccess(exit) && JSON.stringify(exit.value) !== JSON.stringify(right)) {
            outcome.wrong.push(what)
          }
        })))))
    note(opened, "open")
    return outcome
  })

type Ask = readonly [
  what: string,
  ask: Effect.Effect<unknown, { readonly _tag: string; readonly message: string }>,
  right: unknown
]

const byId = (documents: ReadonlyArray<Document>) =>
  documents.toSorted((a, b) => String(a["_id"]) < String(b["_id"]) ? -1 : 1)

const questions = (store: DocumentStore["Service"]): ReadonlyArray<Ask> => {
  const where = (test: (document: Document) => boolean) => byId(storedDocuments.filter(test))
  const find = (filter: Document) => Effect.map(store.find("things", { filter }), byId)
  const idsOf = (documents: ReadonlyArray<Document>) => documents.map(({ _id }) => _id)
  const ns = Array.from({ length: 20 }, (_, n) => n)
  const first = storedDocuments[0]!
  return [
    ...storedDocuments.map((
      document
    ): Ask => ["one by its id", store.find("things", { filter: { _id: document["_id"] } }), [document]]),
    ...storedDocuments.map((
      document
    ): Ask => ["one by its name", store.find("things", { filter: { name: document["name"] } }), [document]]),
    ...ns.map((n): Ask => ["by a value", find({ n }), where((document) => document["n"] === n)]),
    ...ns.map((
      n
    ): Ask => ["a count by a value", store.count("things", { n }), where((document) => document["n"] === n).length]),
    ["by a range", find({ n: { $gt: 3, $lte: 9 } }), where(({ n }) => Number(n) > 3 && Number(n) <= 9)],
    ["all", find({}), where(() => true)],
    ["a count of all", store.count("things", {}), storedDocuments.length],
    [
      "a sorted list",
      Effect.map(store.find("things", { sort: { n: 1, _id: 1 } }), idsOf),
      idsOf(
        byId(storedDocuments).toSorted((a, b) => Number(a["n"]) - Number(b["n"]))
      )
    ],
    ["sums", Stream.runCollect(store.aggregate("things", [{ $group: { _id: null, sum: { $sum: "$n" } } }])), [
      { _id: null, sum: storedDocuments.reduce((sum, { n }) => sum + Number(n), 0) }
    ]],
    ["another collection", store.find("others", {}), [{ _id: 1, name: "other" }]],
    [
      "an insert of what is there",
      Effect.catchTag(
        Effect.as(store.insertOne("things", first), "a duplicate"),
        "DuplicateKey",
        () => Effect.succeed("a rejection")
      ),
      "a rejection"
    ],
    ["a change", Effect.map(store.updateMany("others", {}, { $set: { n: 1 } }), () => 1), 1],
    ["an insert", Effect.map(store.insertOne("things", { _id: "new", n: 100, name: "new" }), () => 1), 1],
    ["changes", Effect.map(store.updateMany("things", { n: 1 }, { $set: { n: 101 } }), () => 1), 1],
    ["what removals leave", Effect.andThen(store.deleteMany("things", {}), store.find("things", {})), []]
  ]
}

await Effect.runPromise(
  Effect.forEach(
    (process.env["FOLDERS"] ?? "").split(":"),
    (folder) => Effect.map(outcomeOf(folder), (outcome) => console.log(JSON.stringify(outcome)))
  )
    .pipe(Effect.provide(Logger.layer([])))
)
