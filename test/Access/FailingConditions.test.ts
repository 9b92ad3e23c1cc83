/** A condition that fails for some documents tells nothing of those that the caller does not see. */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { type DocumentStore, KernelEngine, Model, Resource, Role } from "../../src/index.ts"
import { onMongo } from "../support/mongo.ts"
import { hasExpression, observed, unordered } from "../support/observedStore.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

class Note extends Model.Class<Note>()("Note", {
  id: Model.id(),
  owner: Schema.String,
  text: Schema.String,
  n: Schema.Int,
  ...Model.softDeleted
}, { logged: true }) {}

const engine = KernelEngine.make("notes")
  .register(
    Resource.make(Note, { methods: ["GET", "PATCH"] })
      .grant(Role("own"), { rows: ({ subject }) => ($) => $.owner.equals(subject) })
      .grant(Role("named"), { rows: ({ subject }) => ($) => $.owner.in([subject, "zoe"]) })
      // What is large shows no text, and of those of the caller all is shown.
      .grant(Role("partly"), { hide: ["text"], rows: () => ($) => $.n.greaterThan(5) })
      .grant(Role("partly"), { rows: ({ subject }) => ($) => $.owner.equals(subject) })
      .grant(Role("all"), {}),
    { many: ["PATCH"], tables: true }
  )
  .enableSecurity()

const notes: ReadonlyArray<DocumentStore.Document> = [
  { _id: "N1", owner: "ann", text: "mine", n: 1 },
  { _id: "N2", owner: "ben", text: "secret", n: 9 },
  { _id: "N3", owner: "ann", text: "secret", n: 2, deleted: new Date(0) },
  { _id: "N4", owner: "ben", text: "other", n: 10 }
]

/** Fails for documents whose text begins so. */
const failingFor = (beginning: string) => ({
  $expr: { $cond: [{ $eq: [{ $indexOfCP: ["$text", beginning] }, 0] }, { $toInt: "none" }, true] }
})

const asked = (beginning: string) => {
  const filter = failingFor(beginning)
  const query = encodeURIComponent(JSON.stringify(filter))
  const both = encodeURIComponent(JSON.stringify({ n: { $gt: 0 }, $or: [filter, { $and: [filter] }] }))
  const pipe = encodeURIComponent(JSON.stringify([{ $match: filter }, { $count: "n" }]))
  return {
    list: { path: `/notes?query=${query}` },
    both: { path: `/notes?n=>0&query=${both}` },
    table: { path: `/notes?query=${query}`, headers: { accept: "text/csv" } },
    pipe: { path: `/notes/aggregate?pipe=${pipe}` },
    changes: { path: `/notes/changes?query=${query}` },
    many: {
      path: `/notes?dry_run=true&query=${query}`,
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: "{}"
    }
  }
}

storeMatrix((name, layer) => {
  it.live(`Conditions that fail / ${name}`, () =>
    Effect.gen(function*() {
      const { baseUrl, store, token } = yield* engine.test({ store: layer })
      yield* store.insertMany("Note", notes)
      for (const role of ["own", "named", "partly", "all"]) {
        const authorization = `Bearer ${Redacted.value(yield* token({ subject: "ann", roles: [role] }))}`
        const statuses = (beginning: string) =>
          Effect.forEach(Object.entries(asked(beginning)), ([way, { path, ...request }]) =>
            Effect.promise(async () => {
              const headers = { authorization, ..."headers" in request ? request.headers : {} }
              const response = await fetch(`${baseUrl}${path}`, { ...request, headers })
              await response.text()
              return `${way} ${response.status}`
            }))
        const expected = yield* statuses("none of them")
        assert.isTrue(expected.every((text) => text.endsWith("200")), `${role} ${expected.join()}`)
        if (role === "all") assert.notDeepEqual(yield* statuses("secret"), expected)
        else assert.deepStrictEqual(yield* statuses("secret"), expected, role)
        assert.notDeepEqual(yield* statuses("mine"), expected, role)
      }
    }))
})

// MongoDB orders the conditions of a filter as it likes.
onMongo("Conditions that fail / mongodb", (_, server) => {
  it.live("are sent apart from those on what the caller sees", () =>
    Effect.gen(function*() {
      const { commands, store: layer } = yield* observed(server)
      const { baseUrl, store, token } = yield* engine.test({ store: layer })
      yield* store.insertMany("Note", notes)
      for (const role of ["own", "named", "partly", "all"]) {
        const authorization = `Bearer ${Redacted.value(yield* token({ subject: "ann", roles: [role] }))}`
        const writing = { ...asked("none of them").many, body: `{"n":7}` }
        const ways = {
          ...asked("none of them"),
          writing: { ...writing, path: writing.path.replace("dry_run=true&", "") }
        }
        for (const [way, { path, ...request }] of Object.entries(ways)) {
          yield* commands
          const status = yield* Effect.promise(async () => {
            const headers = { authorization, ..."headers" in request ? request.headers : {} }
            const response = await fetch(`${baseUrl}${path}`, { ...request, headers })
            await response.text()
            return response.status
          })
          const sent = (yield* commands).filter(hasExpression)
          assert.deepStrictEqual([way, status, sent.flatMap(unordered)], [way, 200, []], role)
          if (way !== "changes") assert.isNotEmpty(sent, `${role} ${way}`)
        }
      }
    }))
})
