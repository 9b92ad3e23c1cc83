/** An item of a list is what a read of the document gives, whatever was read and written before, by anybody. */
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Schema } from "effect"
import { Index, Model, Resource } from "../../../src/index.ts"
import { atOnce, type Method, send } from "../../support/rest.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"
import { type Granted, type Grants, servingViewed } from "../../support/viewed.ts"

class Entry extends Model.Class<Entry>()("Entry", {
  id: Model.id(),
  owner: Schema.String.pipe(Model.indexed(Index.plain)),
  text: Schema.String,
  cost: Schema.Int,
  at: Model.DateTime,
  words: Schema.Array(Schema.String).pipe(Model.withDefault(() => []))
}) {}

const resource = Resource.make(Entry, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })

const whole: Granted = { fields: undefined, rows: undefined }
const clerk: Granted = { fields: { hide: ["cost"], readOnly: [] }, rows: undefined }
const owning = (owner: string): Granted => ({ fields: { hide: ["words"], readOnly: [] }, rows: { owner } })

const grants: Grants = (caller) => {
  const held = caller === "admin"
    ? [whole]
    : caller === "clerk"
    ? [clerk]
    // The fields of a document depend on it.
    : caller === "both"
    ? [clerk, owning("a")]
    : [owning(caller)]
  return { read: held, write: caller === "admin" ? held : [] }
}

const callers = ["admin", "clerk", "both", "a", "b"]

const as = (caller: string) => (method: Method, path: string, body?: unknown) =>
  send(method, `/entries${path}`, body, { "x-caller": caller })

const admin = as("admin")

const list = "?page=1&page_size=50"

/** The page as it was sent, in the reads of its documents. */
const assertPage = (caller: string) =>
  Effect.gen(function*() {
    const page = yield* as(caller)("GET", list)
    assert.strictEqual(page.status, 200, page.text)
    const ids: ReadonlyArray<string> = page.body._items.map(({ id }: { readonly id: string }) => id)
    const reads = yield* Effect.forEach(ids, (id) => as(caller)("GET", `/${id}`))
    const items = `"_items":[${reads.map(({ text }) => text).join()}]`
    assert.include(page.text, items)
    return ids
  })

const entryOf = (owner: string, text: string, number: number) => ({
  owner,
  text,
  cost: number,
  at: `2026-01-0${1 + number}T00:00:00`,
  words: [text]
})

const Step = Schema.Struct({
  kind: Schema.Literals(["POST", "PUT", "PATCH", "DELETE", "none"]),
  place: Schema.Literals([0, 1, 2]),
  owner: Schema.Literals(["a", "b"]),
  text: Schema.Literals(["", "ü\"", "long 🙂 text"]),
  number: Schema.Literals([0, 1, 2, 3]),
  reader: Schema.Literals(["admin", "clerk", "both", "a", "b"])
})

storeMatrix((name, store) => {
  const runs = { memory: 20, embedded: 10, mongodb: 2 }[name]

  it.layer(servingViewed(resource, store, grants))(`items of lists / ${name}`, (it) => {
    const cleared = Effect.gen(function*() {
      const { body } = yield* admin("GET", list)
      const items: ReadonlyArray<{ readonly id: string }> = body._items
      yield* Effect.forEach(items, ({ id }) => admin("DELETE", `/${id}`))
    })

    it.effect.prop(
      "are what a read gives after any writes",
      { steps: Schema.Array(Step).check(Schema.isMaxLength(8)) },
      ({ steps }) =>
        Effect.gen(function*() {
          yield* cleared
          yield* atOnce(3, (i) => admin("POST", "", entryOf("a", "text", i)))
          for (const { kind, number, owner, place, reader, text } of steps) {
            const ids = yield* assertPage("admin")
            const path = kind === "POST" ? "" : `/${ids[place]}`
            const body = kind === "DELETE" ? undefined : kind === "PATCH" ? { text } : entryOf(owner, text, number)
            if (kind !== "none" && (kind === "POST" || ids[place] !== undefined)) yield* admin(kind, path, body)
            yield* assertPage(reader)
            yield* assertPage(reader)
          }
          for (const caller of callers) yield* assertPage(caller)
        }),
      { arbitrary: { runs } }
    )

    it.effect("show each writer its own write, among many", () =>
      Effect.gen(function*() {
        yield* cleared
        const exits = yield* atOnce(12, (i) =>
          Effect.exit(Effect.gen(function*() {
            const { body } = yield* admin("POST", "", entryOf("a", `start ${i}`, 0))
            for (let k = 0; k < 6; k++) {
              yield* admin("PATCH", `/${body.result}`, { text: `${i} ${k}`, words: [`${i} ${k}`] })
              const page = yield* admin("GET", list)
              const own = page.body._items.find(({ id }: { readonly id: string }) => id === body.result)
              assert.deepInclude(own, { text: `${i} ${k}`, words: [`${i} ${k}`] })
            }
          })))
        for (const exit of exits) assert.isTrue(Exit.isSuccess(exit), String(exit))
        for (const caller of callers) yield* assertPage(caller)
      }))
  })
})
