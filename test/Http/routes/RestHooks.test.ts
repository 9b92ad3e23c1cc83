/** What runs before and after each method: order, errors, changes, transactions. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { type DocumentStore, EmbeddedStore, Model, Repository } from "../../../src/index.ts"
import { apart, engine as hooked, journal, lines, Refusal, Sale, Stock, Task, Ticket } from "../../support/hooked.ts"
import { type Answer, atOnce, fieldsIn, refused, send, serving, statusesOf } from "../../support/rest.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"

const tasks = "/api/v1/tasks"

const okay = (answer: Answer, status = 200): Answer => {
  assert.strictEqual(answer.status, status, answer.text)
  return answer
}

const refusedBy = (why: string, answer: Answer) =>
  assert.deepStrictEqual(refused(422, answer).body, {
    _type: "ErrorMessage",
    code: 422,
    error: "Refusal",
    message: "The hook refuses",
    why
  })

const hooksContract = (name: string, store: Layer.Layer<DocumentStore.DocumentStore>, engine = hooked, callers = 200) =>
  it.layer(serving(engine, store).pipe(Layer.provideMerge(journal)), { excludeTestServices: true })(
    `hooks / ${name}`,
    (it) => {
      /** A task that is there, without anything noted. */
      const there = (title: string, more: object = {}) =>
        Effect.gen(function*() {
          const tasks = yield* Repository.for(Task)
          const { id } = yield* tasks.insert(yield* Model.finalise(Task, { title, ...more }))
          yield* lines
          return id
        })
      const stored = (id: string) => Effect.flatMap(Repository.for(Task), (tasks) => tasks.findById(id))

      it.effect("run in order, each with the previous result", () =>
        Effect.gen(function*() {
          yield* lines
          const { result } = okay(yield* send("POST", tasks, { title: "a:" }), 201).body
          assert.deepStrictEqual(yield* lines, [
            "beforePost a:12 (none, no id)",
            "afterPost a:12 (none, no id)",
            "then a:12"
          ])
          assert.strictEqual((yield* stored(result)).title, "a:12")
          const shown = yield* send("POST", tasks, { title: "a:" }, { prefer: "return=representation" })
          assert.strictEqual(okay(shown, 201).body.title, "a:12")
        }))

      it.effect("receive the stored document before it is replaced, changed or removed", () =>
        Effect.gen(function*() {
          const id = yield* there("old")
          const path = `${tasks}/${id}`
          okay(yield* send("POST", tasks, { id, title: "posted" }))
          okay(yield* send("PUT", path, { title: "put" }))
          okay(yield* send("PATCH", path, { title: "patched" }))
          okay(
            yield* send("PATCH", path, [{ op: "replace", path: "/title", value: "json" }], {
              "content-type": "application/json-patch+json"
            })
          )
          assert.deepStrictEqual(okay(yield* send("DELETE", path)).body.result, 1)
          assert.deepStrictEqual(yield* lines, [
            "beforePost posted (old, no id)",
            "afterPost posted (old, no id)",
            "then posted",
            "beforePut put (posted, by id)",
            "afterPut put (posted, by id)",
            "beforePatch patched (put, by id)",
            "afterPatch patched (put, by id)",
            "beforePatch json (patched, by id)",
            "afterPatch json (patched, by id)",
            "beforeDelete json (json, by id)",
            "afterDelete json (json, by id)"
          ])
          refused(404, yield* send("GET", path))
          okay(yield* send("POST", tasks, { id: "T-new", title: "posted with an identifier" }), 201)
          assert.include((yield* lines)[1], "(none, no id)")
          for (const method of ["PUT", "PATCH", "DELETE"] as const) {
            refused(404, yield* send(method, `${tasks}/none`, method === "DELETE" ? undefined : { title: "x" }))
          }
          assert.deepStrictEqual(yield* lines, [])
        }))

      it.effect("may fail before anything is written, with an error of their own", () =>
        Effect.gen(function*() {
          const id = yield* there("keep")
          refusedBy("beforePost", yield* send("POST", tasks, { id, title: "refuse" }))
          refusedBy("beforePost", yield* send("POST", tasks, { id: "T-never", title: "refuse" }))
          refusedBy("beforePut", yield* send("PUT", `${tasks}/${id}`, { title: "refuse" }))
          refusedBy("beforePatch", yield* send("PATCH", `${tasks}/${id}`, { title: "refuse" }))
          refusedBy("beforeDelete", yield* send("DELETE", `${tasks}/${id}`))
          assert.deepInclude(yield* stored(id), { title: "keep" })
          assert.strictEqual((yield* Effect.flip(stored("T-never")))._tag, "DocumentNotFound")
        }))

      it.effect("fail as the effects that they use, once, and never restart the write", () =>
        Effect.gen(function*() {
          const tickets = yield* Repository.for(Ticket)
          const stocks = yield* Repository.for(Stock)
          yield* tickets.save(yield* Model.finalise(Ticket, { id: "K-there", title: "ticket" }))
          yield* stocks.insert(new Stock({ id: "S-there", left: 1 }))
          const id = yield* there("first")
          const titles = [["lost", 404], ["conflict", 409], ["duplicate", 409]] as const
          for (const [title, status] of titles) {
            const requests = [
              send("POST", tasks, { title }),
              send("POST", tasks, { id: "T-fresh", title }),
              send("POST", tasks, { id, title }),
              send("POST", tasks, { id: "T-fresh", title }, { "if-none-match": "*" }),
              send("PUT", `${tasks}/${id}`, { title }),
              send("PUT", `${tasks}/${id}`, { title }, { "if-match": "*" }),
              send("PATCH", `${tasks}/${id}`, { title }),
              send("POST", tasks, [{ title }])
            ]
            for (const request of requests) {
              refused(status, yield* request)
              assert.strictEqual((yield* lines).length, 1, title)
            }
          }
          assert.strictEqual((yield* stored(id)).title, "first")
          const answer = refused(500, yield* send("POST", tasks, { title: "die" }))
          assert.notInclude(answer.text, "inside")
        }))

      it.effect("may change the model, which is validated again, but neither its identifier nor its version", () =>
        Effect.gen(function*() {
          const id = yield* there("first")
          for (
            const answer of [
              yield* send("POST", tasks, { title: "invalid" }),
              yield* send("POST", tasks, { id, title: "invalid" }),
              yield* send("PUT", `${tasks}/${id}`, { title: "invalid" }),
              yield* send("PATCH", `${tasks}/${id}`, { title: "invalid" })
            ]
          ) assert.deepStrictEqual(fieldsIn(answer), ["title", "total"])
          okay(yield* send("PUT", `${tasks}/${id}`, { title: "move" }))
          assert.strictEqual((yield* stored(id)).title, "moved")
          okay(yield* send("PATCH", `${tasks}/${id}`, { title: "move" }))
          assert.strictEqual((yield* Effect.flip(stored("T-elsewhere")))._tag, "DocumentNotFound")
          const made = okay(yield* send("POST", tasks, { title: "move" }), 201)
          assert.strictEqual(made.body.result, "T-elsewhere")
          assert.strictEqual(made.headers["location"], `${tasks}/T-elsewhere`)
          okay(yield* send("DELETE", `${tasks}/T-elsewhere`))
          const ticket = okay(yield* send("POST", "/tickets", { title: "t" }), 201).body.result
          okay(yield* send("PATCH", `/tickets/${ticket}`, { title: "u" }))
          assert.deepInclude((yield* send("GET", `/tickets/${ticket}`)).body, { title: "u!", version: 2 })
        }))

      it.effect("that run after a write and fail do not undo it", () =>
        Effect.gen(function*() {
          const id = yield* there("first")
          refusedBy("afterPost", yield* send("POST", tasks, { id: "T-after", title: "fail after" }))
          assert.strictEqual((yield* stored("T-after")).title, "fail after")
          refusedBy("afterPut", yield* send("PUT", `${tasks}/${id}`, { title: "fail after" }))
          assert.strictEqual((yield* stored(id)).title, "fail after")
          okay(yield* send("PUT", `${tasks}/${id}`, { title: "fine" }))
          refusedBy("afterPatch", yield* send("PATCH", `${tasks}/${id}`, { title: "fail after" }))
          assert.strictEqual((yield* stored(id)).title, "fail after")
          refusedBy("afterDelete", yield* send("DELETE", `${tasks}/${id}`))
          refused(404, yield* send("GET", `${tasks}/${id}`))
          yield* send("DELETE", `${tasks}/T-after`)
        }))

      it.effect("of a list run for each item, and none is inserted when a before-hook fails", () =>
        Effect.gen(function*() {
          yield* lines
          const { body } = okay(yield* send("POST", tasks, [{ title: "a:x" }, { title: "two", code: "bulk" }]), 201)
          assert.strictEqual(body.result.length, 2)
          assert.strictEqual((yield* stored(body.result[0])).title, "a:x12")
          assert.deepStrictEqual(yield* lines, [
            "beforePost a:x12 (none, no id)",
            "beforePost two (none, no id)",
            "afterPost a:x12 (none, no id)",
            "then a:x12",
            "afterPost two (none, no id)",
            "then two"
          ])
          const count = Effect.flatMap(Repository.for(Task), (tasks) => tasks.count())
          const before = yield* count
          refusedBy("beforePost", yield* send("POST", tasks, [{ title: "one" }, { title: "refuse" }]))
          assert.deepStrictEqual(fieldsIn(yield* send("POST", tasks, [{ title: "one" }, { title: "invalid" }])), [
            "1.title",
            "1.total"
          ])
          assert.include(
            refused(409, yield* send("POST", tasks, [{ title: "one" }, { title: "two", code: "bulk" }])).body.message,
            "Item 2"
          )
          assert.strictEqual(yield* count, before)
          yield* lines
          refusedBy("afterPost", yield* send("POST", tasks, [{ title: "fail after" }, { title: "next" }]))
          assert.strictEqual(yield* count, before + 2)
          assert.include(yield* lines, "then next")
        }))

      it.effect("run before a read, and after it for each returned model", () =>
        Effect.gen(function*() {
          const id = yield* there("seen", { total: 3 })
          okay(yield* send("GET", `${tasks}/${id}`))
          okay(yield* send("HEAD", `${tasks}/${id}`))
          okay(yield* send("GET", `${tasks}?title=seen`))
          okay(yield* send("GET", `${tasks}?title=seen&fields=title`))
          okay(yield* send("GET", `${tasks}/aggregate?pipe=[]`))
          assert.deepStrictEqual(yield* lines, [
            `beforeGet ${id}`,
            "afterGet seen 3 by id",
            `beforeGet ${id}`,
            "afterGet seen 3 by id",
            "beforeGet all",
            "afterGet seen 3 of a page",
            "beforeGet all",
            "afterGet seen 3 of a page",
            "beforeGet all"
          ])
          refused(400, yield* send("GET", `${tasks}?nope=1`))
          assert.deepStrictEqual(refused(403, yield* send("GET", `${tasks}/vetoed`)).body.error, "Vetoed")
          yield* there("hidden")
          refused(403, yield* send("GET", `${tasks}?title=hidden`))
          const { body } = yield* send("GET", `${tasks}?title=seen&fields=title`)
          assert.sameMembers(Object.keys(body._items[0]), ["_type", "_links", "id", "title"])
          yield* lines
          okay(yield* send("GET", `${tasks}/schema`))
          okay(yield* send("GET", `${tasks}/meta`))
          assert.deepStrictEqual(yield* lines, [])
        }))

      it.effect("of concurrent changes each write the document that the hook has received", () =>
        Effect.gen(function*() {
          const id = yield* there("sum", { total: 0 })
          const answers = yield* atOnce(8, () => send("PATCH", `${tasks}/${id}`, { total: 1 }))
          assert.deepStrictEqual(statusesOf(answers), { 200: 8 })
          assert.strictEqual((yield* stored(id)).total, 8)
        }))

      it.effect("of many concurrent replacements and changes all succeed", () =>
        Effect.gen(function*() {
          const id = okay(yield* send("POST", "/tickets", { title: "crowd" }), 201).body.result
          const answers = yield* atOnce(
            callers,
            (i) => send(i % 2 === 0 ? "PUT" : "PATCH", `/tickets/${id}`, { title: `p${i}` })
          )
          assert.deepStrictEqual(statusesOf(answers), { 200: callers })
          assert.strictEqual((yield* send("GET", `/tickets/${id}`)).body.version, callers + 1)
          yield* lines
        }))

      it.effect("don't run for a version that is not stored", () =>
        Effect.gen(function*() {
          const id = okay(yield* send("POST", "/tickets", { title: "t" }), 201).body.result
          const path = `/tickets/${id}`
          const tag = String((yield* send("GET", path)).headers["etag"])
          yield* lines
          refused(409, yield* send("PUT", path, { title: "x", version: 9 }))
          refused(409, yield* send("PATCH", path, { title: "x", version: 9 }))
          for (
            const headers of [{ "if-match": "\"9\"" }, { "if-match": "\"8\", \"9\"" }, { "if-none-match": tag }]
          ) {
            refused(412, yield* send("PUT", path, { title: "x" }, headers))
            refused(412, yield* send("PATCH", path, { title: "x" }, headers))
            refused(412, yield* send("DELETE", path, undefined, headers))
          }
          assert.deepStrictEqual(yield* lines, [])
          const patched = yield* atOnce(6, (i) => send("PATCH", path, { title: `p${i}` }))
          assert.deepStrictEqual(statusesOf(patched), { 200: 6 })
          assert.strictEqual((yield* send("GET", path)).body.version, 7)
          assert.deepStrictEqual(
            (yield* lines).filter((line) => line.startsWith("patched")).map((line) => line.split(" ")[2]).toSorted((
              a = "",
              b = ""
            ) => a.localeCompare(b)),
            ["2", "3", "4", "5", "6", "7"]
          )
          const last = String((yield* send("GET", path)).headers["etag"])
          const removed = yield* atOnce(4, () => send("DELETE", path, undefined, { "if-match": last }))
          assert.strictEqual(statusesOf(removed)[200], 1)
        }))

      it.effect("in one transaction with the write change nothing when either fails", () =>
        Effect.gen(function*() {
          const stocks = yield* Repository.for(Stock)
          const sales = yield* Repository.for(Sale)
          const left = Effect.map(stocks.findById("tea"), ({ left }) => left)
          yield* stocks.insert(new Stock({ id: "tea", left: 10 }))
          const id = okay(yield* send("POST", "/sales", { product: "tea", quantity: 1, code: "c" }), 201).body.result
          refusedBy("9 left", yield* send("POST", "/sales", { product: "tea", quantity: 20 }))
          refused(409, yield* send("POST", "/sales", { product: "tea", quantity: 2, code: "c" }))
          refused(404, yield* send("POST", "/sales", { product: "none", quantity: 2 }))
          refusedBy("one", yield* send("PATCH", `/sales/${id}`, { product: "tea" }))
          assert.deepStrictEqual([yield* left, yield* sales.count()], [9, 1])
          refusedBy(
            "7 left",
            yield* send("POST", "/sales", [{ product: "tea", quantity: 2 }, {
              product: "tea",
              quantity: 8
            }])
          )
          assert.include(
            refused(
              409,
              yield* send("POST", "/sales", [{ product: "tea", quantity: 1 }, {
                product: "tea",
                quantity: 1,
                code: "c"
              }])
            ).body.message,
            "Item 2"
          )
          assert.deepStrictEqual([yield* left, yield* sales.count()], [9, 1])
          refusedBy("three", yield* send("POST", "/sales", { product: "tea", quantity: 3 }))
          assert.deepStrictEqual([yield* left, yield* sales.count()], [6, 2])
          okay(yield* send("POST", "/sales", [{ product: "tea", quantity: 2 }, { product: "tea", quantity: 2 }]), 201)
          assert.deepStrictEqual([yield* left, yield* sales.count()], [2, 4])
        }))

      it.effect("of a list in one transaction see the items before, and none is inserted when one refuses", () =>
        Effect.gen(function*() {
          const stocks = yield* Repository.for(Stock)
          const sales = yield* Repository.for(Sale)
          yield* stocks.insert(new Stock({ id: "single", left: 9 }))
          const one = { product: "single", quantity: 1 }
          refusedBy("sold already", yield* send("POST", "/sales", [one, one]))
          const sold = sales.count(($) => $.product.equals("single"))
          assert.deepStrictEqual([(yield* stocks.findById("single")).left, yield* sold], [9, 0])
          const answers = yield* atOnce(8, () => send("POST", "/sales", [one, one]))
          assert.deepStrictEqual(statusesOf(answers), { 422: 8 })
          const singles = yield* atOnce(8, () => send("POST", "/sales", [one]))
          assert.deepStrictEqual(statusesOf(singles), { 201: 1, 422: 7 })
          assert.deepStrictEqual([(yield* stocks.findById("single")).left, yield* sold], [8, 1])
        }))

      it.effect("in concurrent transactions never sell more than the stock", () =>
        Effect.gen(function*() {
          const stocks = yield* Repository.for(Stock)
          const sales = yield* Repository.for(Sale)
          yield* stocks.insert(new Stock({ id: "milk", left: 4 }))
          const answers = yield* atOnce(8, () => send("POST", "/sales", { product: "milk", quantity: 1 }))
          assert.deepStrictEqual(statusesOf(answers), { 201: 4, 422: 4 })
          assert.strictEqual((yield* stocks.findById("milk")).left, 0)
          assert.strictEqual(yield* sales.count(($) => $.product.equals("milk")), 4)
        }))
    }
  )

storeMatrix((name, store) => hooksContract(name, store, undefined, name === "mongodb" ? 60 : 200))
hooksContract("described apart", EmbeddedStore.layerMemory, apart)

it.effect("a typed client gets a hook's failure as an instance of its class, and as its endpoint's error", () =>
  Effect.gen(function*() {
    const { client: { tasks } } = yield* hooked.test()
    const refused = yield* Effect.flip(tasks.create({ payload: { title: "refuse" } }))
    assert.deepStrictEqual(refused, new Refusal({ why: "beforePost" }))
    const { result } = yield* tasks.create({ payload: { title: "fine" } })
    const params = { id: result }
    const why = yield* Effect.catchTag(
      tasks.patch({ params, payload: { title: "refuse" } }),
      "Refusal",
      ({ why }) => Effect.succeed(why)
    )
    assert.strictEqual(why, "beforePatch")
    const vetoed = yield* Effect.flip(tasks.get({ params: { id: "vetoed" } }))
    assert.strictEqual(vetoed._tag, "Vetoed")
  }).pipe(Effect.scoped, Effect.provide(journal)))
