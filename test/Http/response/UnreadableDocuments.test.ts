/** Stored documents that do not fit their model. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Logger, References, Schema } from "effect"
import { DocumentStore, KernelConfig, KernelEngine, Model, Resource } from "../../../src/index.ts"
import { resolvedDocument } from "../../support/resolvedDocument.ts"
import { type Answer, send, serving } from "../../support/rest.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"

class Note extends Model.Class<Note>()("Note", { id: Model.id(), text: Schema.String }) {}

const seen: Array<string> = []

const Notes = Resource.make(Note, { methods: ["GET"] }).afterGet(({ text }) => Effect.sync(() => void seen.push(text)))

/** Each third one has no text. */
const documents = Array.from({ length: 10 }, (_, i) => ({ _id: `n${i}`, ...i % 3 === 0 ? {} : { text: `t${i}` } }))

/** What was a text before; some of its documents have none, and no way up. */
class Memo extends Model.Class<Memo>()("Memo", { id: Model.id(), words: Schema.Array(Schema.String) }, {
  versions: [
    Model.was.replaced(["words"], { text: Schema.String }, {
      up: ({ text }) => ({ words: text.split(" ") }),
      down: ({ words }) => ({ text: words.join(" ") })
    })
  ]
}) {}

const engine = KernelEngine.make("notes")
  .register(Notes)
  .register(Memo, { urlBase: "/v2", name: "memos" })
  .register(Memo, { urlBase: "/v1", name: "memosV1", form: 1 })
  .enableOpenApi({ title: "Notes", version: "1" })

const unreadableContract = <E>(name: string, store: Layer.Layer<DocumentStore.DocumentStore, E>) => {
  const logged: Array<unknown> = []
  const logger = Logger.make(({ fiber, message }) => {
    const { ids } = fiber.getRef(References.CurrentLogAnnotations)
    if (ids !== undefined) logged.push([message, ids])
  })
  const lines = () => logged.splice(0)
  const served = (skipUnreadable: boolean) =>
    serving(engine, store).pipe(
      Layer.provide(Layer.succeed(KernelConfig.Limits, { ...KernelConfig.Limits.defaultValue(), skipUnreadable })),
      Layer.provideMerge(Logger.layer([logger]))
    )
  const filled = Effect.gen(function*() {
    const store = yield* DocumentStore.DocumentStore
    yield* store.deleteMany("Note", {})
    yield* store.insertMany("Note", documents)
    seen.splice(0)
  })

  it.layer(served(false))(`Unreadable documents / ${name}`, (it) => {
    it.effect("are a 500 for themselves and their page, and the log names all of the page", () =>
      Effect.gen(function*() {
        yield* filled
        assert.strictEqual((yield* send("GET", "/notes?page_size=5")).status, 500)
        assert.deepStrictEqual(lines(), [[["Documents of Note can't be read"], ["n0", "n3"]]])
        assert.strictEqual((yield* send("GET", "/notes?page_size=2&cursor=")).status, 500)
        assert.deepStrictEqual(lines(), [[["Documents of Note can't be read"], ["n0"]]])
        assert.strictEqual((yield* send("GET", "/notes/n1")).status, 200)
        assert.strictEqual((yield* send("GET", "/notes/n3")).status, 500)
      }))
  })

  it.layer(served(true))(`Unreadable documents that pages skip / ${name}`, (it) => {
    it.effect("are counted in a header and named in the log, by page numbers and by cursors", () =>
      Effect.gen(function*() {
        yield* filled
        for (const start of ["page=1", "cursor="]) {
          const [texts, counts]: [Array<string>, Array<unknown>] = [[], []]
          let next: string | undefined = `/notes?page_size=4&sort_by=id&${start}`
          while (next !== undefined) {
            const { body, headers, status }: Answer = yield* send("GET", next)
            assert.strictEqual(status, 200)
            texts.push(...body._items.map(({ text }: Note) => text))
            counts.push([headers["x-unreadable-count"], headers["x-total-count"]])
            next = body._links.next?.href
          }
          assert.deepStrictEqual(texts, ["t1", "t2", "t4", "t5", "t7", "t8"])
          const total = start === "page=1" ? "10" : undefined
          assert.deepStrictEqual(counts, [["2", total], ["1", total], ["1", total]])
          const said = ["Documents of Note can't be read"]
          assert.deepStrictEqual(lines(), [[said, ["n0", "n3"]], [said, ["n6"]], [said, ["n9"]]])
          assert.deepStrictEqual(seen.splice(0), texts)
        }
        const readable = yield* send("GET", "/notes?id=n1")
        assert.isUndefined(readable.headers["x-unreadable-count"])
        assert.strictEqual((yield* send("GET", "/notes/n3")).status, 500)
        const described = yield* send("GET", "/openapi.json")
        const { responses } = resolvedDocument(described.body).paths["/notes"].get
        assert.property(responses[200].headers, "X-Unreadable-Count")
      }))

    it.effect("are left out of pages and counted, in every form", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        yield* store.deleteMany("Memo", {})
        yield* store.insertMany("Memo", documents)
        const said = ["Documents of Memo can't be read"]
        for (const [version, field] of [["v2", "words"], ["v1", "text"]] as const) {
          const pages = [
            yield* send("GET", `/${version}/memos?page_size=4&sort_by=id`),
            yield* send("GET", `/${version}/memos?page_size=4&sort_by=id&cursor=`)
          ]
          for (const { body, headers, status, text } of pages) {
            assert.strictEqual(status, 200, text)
            assert.deepStrictEqual(body._items.map((memo: Memo) => [memo.id, Reflect.has(memo, field)]), [
              ["n1", true],
              ["n2", true]
            ])
            assert.strictEqual(headers["x-unreadable-count"], "2")
          }
          assert.deepStrictEqual(lines(), [[said, ["n0", "n3"]], [said, ["n0", "n3"]]])
          assert.strictEqual((yield* send("GET", `/${version}/memos/n3`)).status, 500)
        }
        // A filter or an order of a changed field can't say where they would be, so they count as found, and come first.
        const filtered = yield* send("GET", "/v1/memos?text=t1")
        assert.deepStrictEqual(filtered.body._items.map(({ id }: Memo) => id), ["n1"])
        const sorted = yield* send("GET", "/v1/memos?sort_by=text&page_size=5")
        assert.deepStrictEqual(sorted.body._items.map(({ id }: Memo) => id), ["n1"])
        assert.deepStrictEqual([filtered, sorted].map(({ headers }) => headers["x-unreadable-count"]), ["4", "4"])
      }))
  })
}

storeMatrix(unreadableContract)
