/** Stored documents that do not fit their model. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Logger, References, Schema } from "effect"
import { DocumentStore, EmbeddedStore, KernelConfig, KernelEngine, Model, Resource } from "../../../src/index.ts"
import { freshFolder } from "../../support/folders.ts"
import { onMongo } from "../../support/mongo.ts"
import { type Answer, send, serving } from "../../support/rest.ts"

class Note extends Model.Class<Note>()("Note", { id: Model.id(), text: Schema.String }) {}

const seen: Array<string> = []

const Notes = Resource.make(Note, { methods: ["GET"] }).afterGet(({ text }) => Effect.sync(() => void seen.push(text)))

const engine = KernelEngine.make("notes").register(Notes).enableOpenApi({ title: "Notes", version: "1" })

/** Each third one has no text. */
const documents = Array.from({ length: 10 }, (_, i) => ({ _id: `n${i}`, ...i % 3 === 0 ? {} : { text: `t${i}` } }))

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
        assert.property(described.body.paths["/notes"].get.responses[200].headers, "X-Unreadable-Count")
      }))
  })
}

unreadableContract("memory", EmbeddedStore.layerMemory)
unreadableContract("embedded", freshFolder(EmbeddedStore.layerWith))
onMongo("on a server", (layer) => unreadableContract("mongodb", layer))
