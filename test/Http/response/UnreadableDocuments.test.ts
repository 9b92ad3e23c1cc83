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

class Board extends Model.Class<Board>()("Board", {
  id: Model.id(),
  cards: Model.referencedBy((): Model.Referable => Card, "board")
}) {}

/** A model whose documents may have no way up for another reason than the changed reference. */
class Card extends Model.Class<Card>()("Card", {
  id: Model.id(),
  board: Model.reference(() => Board),
  rank: Schema.Int.pipe(Model.optional),
  color: Schema.String,
  words: Schema.Array(Schema.String)
}, {
  versions: [
    Model.was.retyped("words", Schema.String, {
      up: (text) => text.split(" "),
      down: (words: ReadonlyArray<string>) => words.join(" ")
    }),
    Model.was.renamed("table", "board"),
    Model.was.renamed("number", "rank")
  ]
}) {}

const engine = KernelEngine.make("notes")
  .register(Board, { methods: ["GET"] })
  .register(Card, { methods: ["GET", "DELETE"], many: ["DELETE"] })
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

    it.effect("are no matches of a filter: such a list, an expansion and a deletion of many are about the others", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        yield* store.deleteMany("Card", {})
        yield* store.deleteMany("Board", {})
        yield* store.insertMany("Board", [{ _id: "B1" }, { _id: "B2" }])
        yield* store.insertMany("Card", [
          { _id: "c1", table: "B1", color: "red", words: "a" },
          { _id: "c2", table: "B2", color: "red", words: "b" },
          { _id: "c3", table: "B1", color: "red" }
        ])
        const idsOf = ({ body }: Answer) => body._items.map(({ id }: Card) => id)
        assert.deepStrictEqual(idsOf(yield* send("GET", "/cards?board=B2")), ["c2"])
        const { body } = yield* send("GET", "/boards/B1?expand=cards")
        assert.deepStrictEqual(body._embedded.cards._items.map(({ id }: Card) => id), ["c1"])
        assert.deepStrictEqual((yield* send("DELETE", "/cards?board=B9&dry_run=true")).body.ids, [])
        assert.deepStrictEqual((yield* send("DELETE", "/cards?board=B9")).body.ids, [])
        assert.deepStrictEqual((yield* send("DELETE", "/cards?board=B1")).body.ids, ["c1"])
        assert.lengthOf(yield* store.find("Card", {}), 2)
        assert.strictEqual((yield* send("GET", "/cards?color=red")).status, 500)
        assert.deepStrictEqual((yield* send("DELETE", "/cards?color=red")).body.ids.toSorted(), ["c2", "c3"])
        lines()
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
        // A filter of a changed field does not match them. In an order of a changed field, they come first.
        const filtered = yield* send("GET", "/v1/memos?text=t1")
        assert.deepStrictEqual(filtered.body._items.map(({ id }: Memo) => id), ["n1"])
        const sorted = yield* send("GET", "/v1/memos?sort_by=text&page_size=5")
        assert.deepStrictEqual(sorted.body._items.map(({ id }: Memo) => id), ["n1"])
        const counts = [filtered, sorted].map(({ headers }) => headers["x-unreadable-count"])
        assert.deepStrictEqual(counts, [undefined, "4"])
      }))

    it.effect("are passed by cursors in each order, and by pages that have nothing else", () =>
      Effect.gen(function*() {
        const store = yield* DocumentStore.DocumentStore
        yield* store.deleteMany("Card", {})
        const cards = [[1, "red"], [2, "blue"], [0, "red"], [3, "blue"], [1, "green"]] as const
        yield* store.insertMany("Card", [
          ...["a", "b", "d", "q", "x"].map((_id) => ({ _id, table: "B", color: "blue", number: 1 })),
          ...cards.map(([number, color], i) => ({ _id: `c${i}`, table: `B${number}`, color, words: "w", number })),
          { _id: "a0", table: "B", color: "red", words: "w" },
          { _id: "y0", table: "B", color: "red", words: "w" }
        ])
        const readable = ["a0", "c0", "c1", "c2", "c3", "c4", "y0"]
        const orders = ["id", "rank", "board", "color"].flatMap((key) => [key, `-${key}`])
        for (const order of [...orders, "color,rank", "-rank,color"]) {
          for (const size of [1, 2, 3]) {
            const found: Array<string> = []
            let next: string | undefined = `/cards?page_size=${size}&sort_by=${order}&cursor=`
            for (let pages = 0; next !== undefined && pages < 15; pages++) {
              const { body, status, text }: Answer = yield* send("GET", next)
              assert.strictEqual(status, 200, text)
              found.push(...body._items.map(({ id }: Card) => id))
              next = body._links.next?.href
            }
            assert.isUndefined(next, `${order} by ${size} ends`)
            assert.deepStrictEqual(found.toSorted(), readable, `${order} by ${size}`)
          }
        }
        lines()
      }))
  })
}

storeMatrix(unreadableContract)
