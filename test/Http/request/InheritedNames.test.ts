/** Fields whose names every object inherits, such as `toString`, are fields like others: one that is not sent is missing. */
import { assert, describe, it } from "@effect/vitest"
import { History, KernelEngine, Model, Resource } from "appkernel"
import { Effect, Schema } from "effect"
import { sendTo } from "../../support/rest.ts"
import { embeddedStores } from "../../support/storeMatrix.ts"

class Inner extends Model.Class<Inner>()("Inner", { valueOf: Schema.Int.pipe(Model.optional), n: Schema.Int }) {}

// Classes have these names for something else, so the fields have no types of their own.
const fields = {
  id: Model.id(),
  n: Schema.Int,
  toString: Schema.String.pipe(Model.optional),
  constructor: Schema.String,
  hasOwnProperty: Schema.Int.pipe(Model.withDefault(() => 7)),
  inner: Inner.pipe(Model.optional)
}

class Odd extends Model.Class<Odd>()("Odd", fields as Pick<typeof fields, "id" | "n">) {}

const removable: Pick<typeof fields, "id" | "n"> & typeof Model.softDeleted = { ...fields, ...Model.softDeleted }

class Gone extends Model.Class<Gone>()("Gone", removable) {}

const methods = ["GET", "POST", "PUT", "PATCH"] as const

const engines = {
  plain: KernelEngine.make("odd").register(Odd, { methods, tables: true }),
  // With a hook a document is read, changed and written.
  hooked: KernelEngine.make("odd").register(
    Resource.make(Odd, { methods }).beforePatch((odd) => Effect.succeed(odd)),
    { tables: true }
  )
}

embeddedStores((name, store) => {
  describe(`fields of inherited names / ${name}`, () => {
    it.effect.each(["plain", "hooked"] as const)(
      "are sent, changed and read, or missing (%s)",
      (kind) =>
        Effect.gen(function*() {
          const { baseUrl } = yield* engines[kind].test({ store })
          const ask = (method: string, path: string, body?: unknown, headers = {}) =>
            sendTo(baseUrl, method, path, body, headers)
          const shown = Effect.map(ask("GET", "/odds/A"), ({ body: { _links, ...body } }) => body)
          const changed = Effect.fnUntraced(function*(body: object, headers = {}) {
            const answer = yield* ask("PATCH", "/odds/A", body, headers)
            assert.strictEqual(answer.status, 200, `${answer.text} ${JSON.stringify(body)}`)
            return yield* shown
          })
          assert.strictEqual((yield* ask("POST", "/odds", { id: "A", n: 1, constructor: "c" })).status, 201)
          const first = { _type: "Odd", id: "A", n: 1, constructor: "c", hasOwnProperty: 7 }
          assert.deepStrictEqual(yield* shown, first)
          assert.deepStrictEqual(yield* changed({ n: 2 }), { ...first, n: 2 })
          const inner = { _type: "Inner", n: 1 }
          assert.deepStrictEqual(yield* changed({ toString: "s", inner: { n: 1 } }), {
            ...first,
            n: 2,
            toString: "s",
            inner
          })
          assert.deepStrictEqual(yield* changed({ inner: { valueOf: 3 }, toString: null }), {
            ...first,
            n: 2,
            inner: { ...inner, valueOf: 3 }
          })
          const patch = [{ op: "add", path: "/toString", value: "t" }, { op: "remove", path: "/inner/valueOf" }]
          const patched = yield* changed(patch, { "content-type": "application/json-patch+json" })
          assert.deepStrictEqual(patched, { ...first, n: 2, toString: "t", inner })
          assert.strictEqual((yield* ask("GET", "/odds?toString=t&fields=constructor")).body._items[0].constructor, "c")
          const table = yield* ask("GET", "/odds?fields=n,toString,inner", undefined, { accept: "text/csv" })
          assert.strictEqual(table.text, "id,n,toString,inner.valueOf,inner.n\r\nA,2,t,,1\r\n")
          assert.strictEqual((yield* ask("PUT", "/odds/A", { n: 5, constructor: "d" })).status, 200)
          assert.deepStrictEqual(yield* shown, { ...first, n: 5, constructor: "d" })
        })
    )

    it.effect("are removed by the hook of a restore", () =>
      Effect.gen(function*() {
        const { baseUrl } = yield* KernelEngine.make("odd").register(
          Resource.make(Gone, { methods: ["GET", "POST", "PATCH", "DELETE"] })
            .action(History.deleted(Gone))
            .action(History.restoreDeleted(Gone))
            .beforePatch((odd) => {
              const kept = Object.entries(odd).filter(([name]) => name !== "toString")
              // The constructor would take the inherited function for a value.
              return Effect.succeed<Gone>(Object.assign(Object.create(Gone.prototype), Object.fromEntries(kept)))
            })
        ).test({ store })
        const ask = (method: string, path: string, body?: unknown) => sendTo(baseUrl, method, path, body)
        const sent = { id: "A", n: 1, constructor: "c", toString: "s" }
        assert.strictEqual((yield* ask("POST", "/gones", sent)).status, 201)
        assert.strictEqual((yield* ask("DELETE", "/gones/A")).status, 200)
        const restored = yield* ask("POST", "/gones/A/restore")
        assert.strictEqual(restored.status, 200, restored.text)
        const { body: { _links, ...body } } = yield* ask("GET", "/gones/A")
        assert.deepStrictEqual(body, { _type: "Gone", id: "A", n: 1, constructor: "c", hasOwnProperty: 7 })
      }))

    it.effect("are the only ones that a problem is told of", () =>
      Effect.gen(function*() {
        const { baseUrl } = yield* engines.plain.test({ store })
        const problems = Effect.fnUntraced(function*(body: object) {
          const answer = yield* sendTo(baseUrl, "POST", "/odds", body)
          assert.strictEqual(answer.status, 400, answer.text)
          return answer.body.errors.map(({ field, validator }: { field: string; validator: string }) =>
            `${field} ${validator}`
          )
        })
        assert.deepStrictEqual(yield* problems({ n: "x", constructor: "c" }), ["n Type"])
        assert.deepStrictEqual(yield* problems({ n: 1 }), ["constructor Required"])
        assert.deepStrictEqual(
          yield* problems({ n: 1, constructor: "c", toString: 3, inner: { valueOf: "x", n: 1 } }),
          [
            "toString Type",
            "inner.valueOf Type"
          ]
        )
      }))
  })
})
