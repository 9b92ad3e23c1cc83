/** Pages and other lists that are larger than they may be, or than is sent in one piece. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Ref, Schema } from "effect"
import { HttpServer } from "effect/http"
import { connect } from "node:net"
import { DocumentStore, KernelConfig, KernelEngine, Model, Resource, Service } from "../../../src/index.ts"
import { type Answer, atOnce, problemsIn, send, serving } from "../../support/rest.ts"

class Text extends Model.Class<Text>()("Text", { id: Schema.String, n: Schema.Int, text: Schema.String }) {}

class Seen extends Model.Class<Seen>()("Seen", { id: Schema.String, text: Schema.String }) {}

const seen = Ref.makeUnsafe(0)

const total = 20
const length = 100_000

// Above what is answered as one text, and room for five documents.
const maxPageBytes = 600_000

const textOf = (n: number) => "äö\"€xyz012"[n % 10]!.repeat(length)

const lists = Service.make("ListService").operation(
  "many",
  { method: "GET", path: "./many", success: Schema.Array(Schema.String) },
  () => Effect.succeed(Array.from({ length: total }, (_, n) => textOf(n)))
)

const engine = KernelEngine.make("large")
  .register(Text, { methods: ["GET"] })
  .register(Resource.make(Seen).afterGet(() => Ref.update(seen, (count) => count + 1)))
  .register(lists)

const filled = Layer.effectDiscard(Effect.gen(function*() {
  const store = yield* DocumentStore.DocumentStore
  for (let n = 0; n < total; n++) {
    yield* store.replaceOne("Text", { _id: `T${n + 10}` }, { n, text: textOf(n) }, { upsert: true })
    yield* store.replaceOne("Seen", { _id: `S${n + 10}` }, { text: textOf(n) }, { upsert: true })
  }
}))

/** The length is that of what came, so that the connection can be used again. */
const isWhole = (answer: Answer): void => {
  assert.strictEqual(answer.status, 200, answer.text.slice(0, 500))
  assert.strictEqual(Number(answer.headers["content-length"]), Buffer.byteLength(answer.text))
}

/** Requests a page, reads its beginning, and goes away. */
const leave = Effect.flatMap(HttpServer.HttpServer, ({ address }) =>
  Effect.callback<void>((resume) => {
    const socket = connect("port" in address ? address.port : 0, "127.0.0.1", () => {
      socket.write("GET /texts?cursor= HTTP/1.1\r\nHost: here\r\n\r\n")
    })
    socket.once("data", () => socket.destroy())
    socket.on("error", () => {}).on("close", () => resume(Effect.void))
  }))

export const largeListsContract = <E>(name: string, store: Layer.Layer<DocumentStore.DocumentStore, E>) => {
  const limits = Layer.succeed(KernelConfig.Limits, { ...KernelConfig.Limits.defaultValue(), maxPageBytes })
  const service = Layer.provideMerge(filled, Layer.provide(serving(engine, store), limits))
  it.layer(service, { excludeTestServices: true })(
    `large lists / ${name}`,
    (it) => {
      it.effect("rejects a numbered page beyond the limit, and suggests a cursor", () =>
        Effect.gen(function*() {
          for (const path of ["/texts", "/texts?count=none", "/texts?page_size=6&page=2", "/texts?sort_by=-n"]) {
            const refused = yield* send("GET", path)
            assert.deepStrictEqual(problemsIn(refused), ["page_size Limit"], path)
            assert.include(refused.body.errors[0].message, "600000 bytes")
            assert.include(refused.body.errors[0].message, "by cursor")
          }
          const page = yield* send("GET", "/texts?page_size=5&page=2")
          isWhole(page)
          assert.deepStrictEqual(page.body._items.map(({ n }: Text) => n), [5, 6, 7, 8, 9])
          assert.deepStrictEqual(page.body._items.map(({ text }: Text) => text), [5, 6, 7, 8, 9].map(textOf))
          assert.include(page.body._links.last.href, "page=4")
          const fields = yield* send("GET", "/texts?fields=n")
          assert.strictEqual(fields.body._items.length, total)
        }))

      it.effect.each(["", "&sort_by=-n", "&page_size=4"])(
        "ends a page by cursor early, and loses nothing: %s",
        (by) =>
          Effect.gen(function*() {
            const numbers: Array<number> = []
            let path: string | undefined = `/texts?cursor=${by}`
            while (path !== undefined) {
              const page: Answer = yield* send("GET", path)
              isWhole(page)
              assert.isAtMost(page.text.length, maxPageBytes + 2_000)
              assert.isAbove(page.body._items.length, 0)
              for (const { n, text } of page.body._items) {
                numbers.push(n)
                assert.isTrue(text === textOf(n))
              }
              path = page.body._links.next?.href
            }
            const all = Array.from({ length: total }, (_, n) => n)
            assert.deepStrictEqual(numbers, by === "&sort_by=-n" ? all.toReversed() : all)
          })
      )

      it.effect("returns one document of any size", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          yield* store.replaceOne("Text", { _id: "A" }, { n: -1, text: "x".repeat(2 * maxPageBytes) }, { upsert: true })
          for (const path of ["/texts?page_size=1", "/texts?cursor=&page_size=1", "/texts?cursor="]) {
            const page = yield* send("GET", path)
            isWhole(page)
            assert.deepStrictEqual(page.body._items.map(({ n }: Text) => n), [-1])
            assert.isDefined(page.body._links.next)
          }
          yield* store.deleteOne("Text", { _id: "A" })
        }))

      it.effect("rejects an aggregation beyond the limit", () =>
        Effect.gen(function*() {
          assert.deepStrictEqual(problemsIn(yield* send("GET", "/texts/aggregate?pipe=[]")), ["pipe Limit"])
          const part = yield* send("GET", `/texts/aggregate?pipe=${encodeURIComponent("[{\"$limit\":2}]")}`)
          isWhole(part)
          assert.strictEqual(part.body._items.length, 2)
        }))

      it.effect("returns the complete list of an operation", () =>
        Effect.gen(function*() {
          const list = yield* send("GET", "/lists/many")
          isWhole(list)
          assert.deepStrictEqual(list.body._items, Array.from({ length: total }, (_, n) => textOf(n)))
        }))

      it.effect("passes each returned document to hooks, once", () =>
        Effect.gen(function*() {
          yield* Ref.set(seen, 0)
          const page = yield* send("GET", "/seens?cursor=")
          isWhole(page)
          assert.strictEqual(yield* Ref.get(seen), page.body._items.length)
        }))

      it.effect(
        "responds to many concurrent requests, although some disconnect or send HEAD",
        () =>
          Effect.gen(function*() {
            const answers = yield* atOnce(24, (i) =>
              i % 3 === 0
                ? Effect.as(leave, undefined)
                : send(i % 3 === 1 ? "GET" : "HEAD", "/texts?cursor="))
            for (const [i, answer] of answers.entries()) {
              if (answer === undefined) continue
              assert.strictEqual(answer.status, 200, `${i}`)
              assert.isAbove(Number(answer.headers["content-length"]), 256 * 1024)
            }
            isWhole(yield* send("GET", "/texts?cursor="))
          })
      )
    }
  )
}
