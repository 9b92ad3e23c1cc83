/** Writes of many documents by one request: all or none, or each by itself. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Ref, Schema } from "effect"
import {
  DocumentStore,
  Index,
  KernelConfig,
  KernelEngine,
  Model,
  Repository,
  Resource,
  ServiceError,
  Validator
} from "../../../src/index.ts"
import { problemsIn, refused, send, serving } from "../../support/rest.ts"

class Order extends Model.Class<Order>()("Order", {
  id: Schema.String,
  state: Schema.Literals(["open", "paid", "sent"]),
  total: Schema.Int.pipe(Validator.min(0)),
  code: Schema.String.pipe(Model.optional),
  ...Model.versioned,
  ...Model.historied
}, { indexes: [Index.compound({ code: 1 }, { unique: true, sparse: true })] }) {}

class Node extends Model.Class<Node>()("Node", {
  id: Schema.String,
  tree: Schema.String,
  parent: Model.reference((): Model.Referable => Node, { onDelete: "cascade" }).pipe(Model.optional)
}) {}

class Guarded extends Model.Class<Guarded>()("Guarded", { id: Schema.String, n: Schema.Int }) {}

class Locked extends ServiceError<Locked>()("Locked", { status: 423, message: "It is locked" }) {}

class Plain extends Model.Class<Plain>()("Plain", { id: Schema.String, n: Schema.Int }) {}

class Large extends Model.Class<Large>()("Large", { id: Schema.String, text: Schema.String, ...Model.versioned }) {}

const ran: Array<string> = []

const engine = KernelEngine.make("many")
  .register(Order, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"], many: ["PUT", "PATCH", "DELETE"] })
  .register(Node, { methods: ["GET", "DELETE"], many: ["DELETE"] })
  .register(Large, { methods: ["GET", "PATCH", "DELETE"], many: ["PATCH", "DELETE"] })
  .register(Plain, { methods: ["GET", "PUT", "PATCH", "DELETE"] })
  .register(
    Resource.make(Guarded, { methods: ["GET", "PATCH", "DELETE"] })
      .beforePatch((guarded) =>
        guarded.n === 13 ? Effect.fail(new Locked()) : Effect.sync(() => {
          ran.push(`before ${guarded.id}`)
        }), { error: Locked })
      .afterPatch((guarded) =>
        guarded.n === 7 ? Effect.fail(new Locked()) : Effect.sync(() => {
          ran.push(`after ${guarded.id}`)
        }), { error: Locked }),
    { many: ["PATCH", "DELETE"] }
  )

const order = (id: string, more: object = {}) => ({ id, state: "open", total: 1, ...more })

/** Empties the collection, and creates the documents. */
const given = Effect.fnUntraced(function*(path: string, documents: ReadonlyArray<object>, model = "Order") {
  const store = yield* DocumentStore.DocumentStore
  yield* store.deleteMany(model, {})
  if (path !== "") assert.strictEqual((yield* send("POST", path, documents)).status, 201)
})

const statesOf = Effect.map(
  send("GET", "/orders?sort_by=id"),
  ({ body }) => body._items.map(({ id, state, version }: Order) => `${id} ${state} ${version}`)
)

export const manyWritesContract = <E>(
  name: "memory" | "embedded" | "mongodb",
  store: Layer.Layer<DocumentStore.DocumentStore, E>
) => {
  const limits = Layer.succeed(KernelConfig.Limits, {
    ...KernelConfig.Limits.defaultValue(),
    maxMany: 5,
    maxPageBytes: 1_000_000,
    maxBodySize: 2_000_000
  })
  const service = Layer.provide(serving(engine, store), limits)
  it.layer(service, { excludeTestServices: true })(`writes of many documents / ${name}`, (it) => {
    it.effect("change and delete the documents of a filter", () =>
      Effect.gen(function*() {
        yield* given("/orders", [order("A"), order("B", { state: "paid" }), order("C")])
        const patched = yield* send("PATCH", "/orders?state=open", { state: "sent" })
        assert.strictEqual(patched.status, 200, patched.text)
        assert.deepStrictEqual(patched.body, {
          _type: "ManyResult",
          count: 2,
          ids: ["A", "C"],
          results: [{ id: "A", status: 200, version: 2 }, { id: "C", status: 200, version: 2 }]
        })
        assert.deepStrictEqual(yield* statesOf, ["A sent 2", "B paid 1", "C sent 2"])
        const patch = yield* send(
          "PATCH",
          "/orders?state=sent&total=1",
          [{ op: "replace", path: "/total", value: 5 }],
          {
            "content-type": "application/json-patch+json"
          }
        )
        assert.deepStrictEqual(patch.body.ids, ["A", "C"], patch.text)
        const like = yield* send("PATCH", "/orders?id=~a&total=<9", { total: 5 }, { prefer: "handling=lenient" })
        assert.deepStrictEqual([like.status, like.body.ids], [207, ["A"]], like.text)
        const minimal = yield* send("DELETE", "/orders?total=5", undefined, { prefer: "return=minimal" })
        assert.deepStrictEqual(
          [minimal.status, minimal.text, minimal.headers["preference-applied"]],
          [204, "", "return=minimal"]
        )
        assert.deepStrictEqual(yield* statesOf, ["B paid 1"])
        const all = yield* send("DELETE", "/orders?all=true")
        assert.deepStrictEqual(all.body, {
          _type: "ManyResult",
          count: 1,
          ids: ["B"],
          results: [{ id: "B", status: 200 }]
        })
        const none = yield* send("DELETE", "/orders?all=true")
        assert.deepStrictEqual(none.body, { _type: "ManyResult", count: 0, ids: [], results: [] })
      }))

    it.effect("need a filter, or all=true, and know no parameter of a page", () =>
      Effect.gen(function*() {
        yield* given("/orders", [order("A")])
        for (const method of ["PATCH", "DELETE"] as const) {
          const body = method === "PATCH" ? { state: "paid" } : undefined
          const problems = (query: string) => Effect.map(send(method, `/orders${query}`, body), problemsIn)
          assert.deepStrictEqual(yield* problems(""), ["all Parameter"])
          assert.deepStrictEqual(yield* problems("?query={}"), ["all Parameter"])
          assert.deepStrictEqual(yield* problems("?all=false"), ["all Parameter"])
          assert.deepStrictEqual(yield* problems("?all=maybe"), ["all Parameter"])
          assert.deepStrictEqual(yield* problems("?all=true&state=open"), ["all Parameter"])
          assert.deepStrictEqual(yield* problems("?stat=open"), ["stat Parameter"])
          assert.deepStrictEqual(yield* problems("?state=open&page=1&sort_by=id&fields=id&count=none"), [
            "page Parameter",
            "sort_by Parameter",
            "fields Parameter",
            "count Parameter"
          ])
          // What is wrong with a filter is said as the list says it.
          for (const query of ["state=closed", "total=x", "none=1", "logic=MAYBE", "query={", "total=>x&state=[open"]) {
            const { body: own, status } = yield* send(method, `/orders?${query}`, body)
            assert.deepStrictEqual([status, own], [400, (yield* send("GET", `/orders?${query}`)).body])
          }
          refused(403, yield* send(method, "/orders?query={\"$where\":\"1\"}", body))
        }
        assert.deepStrictEqual(
          problemsIn(yield* send("DELETE", "/orders?state=open", undefined, { "if-match": "*" })),
          [
            "if-match Parameter"
          ]
        )
        refused(415, yield* send("PATCH", "/orders?state=open", "state=paid", { "content-type": "text/plain" }))
        assert.deepStrictEqual(yield* statesOf, ["A open 1"])
      }))

    it.effect("tell which documents they would write", () =>
      Effect.gen(function*() {
        yield* given("/orders", Array.from({ length: 7 }, (_, i) => order(`O${i}`)))
        const some = yield* send("DELETE", "/orders?id=<O3&dry_run=true")
        assert.deepStrictEqual([some.status, some.body], [200, {
          _type: "ManyResult",
          count: 3,
          ids: ["O0", "O1", "O2"]
        }])
        // The number is exact, and the identifiers are those of the documents that one request may write.
        const many = yield* send("PATCH", "/orders?state=open&dry_run=true", { state: "paid" })
        assert.deepStrictEqual(many.body, {
          _type: "ManyResult",
          count: 7,
          ids: ["O0", "O1", "O2", "O3", "O4"]
        })
        assert.deepStrictEqual(
          problemsIn(yield* send("DELETE", `/orders?query=${encodeURIComponent("{\"id\":{\"$regex\":\"(\"}}")}`)),
          ["query Parameter"]
        )
        const refusal = refused(413, yield* send("PATCH", "/orders?state=open", { state: "paid" }))
        assert.strictEqual(refusal.body.message, "These are 7 documents; a request may write 5")
        refused(413, yield* send("DELETE", "/orders?all=true"))
        refused(413, yield* send("PUT", "/orders", Array.from({ length: 6 }, (_, i) => order(`O${i}`))))
        assert.strictEqual((yield* statesOf).filter((text: string) => text.endsWith("open 1")).length, 7)
      }))

    it.effect("write all or none, and say which document is the reason", () =>
      Effect.gen(function*() {
        yield* given("/orders", [order("A"), order("B"), order("C")])
        // The second one would have the same unique value.
        const taken = refused(409, yield* send("PATCH", "/orders?state=open", { code: "X" }))
        assert.strictEqual(taken.body.document, "B")
        assert.match(taken.body.message, /^B: /u)
        assert.deepStrictEqual(yield* statesOf, ["A open 1", "B open 1", "C open 1"])
        const invalid = refused(400, yield* send("PATCH", "/orders?state=open", { total: -1 }))
        assert.deepStrictEqual([invalid.body.document, invalid.body.errors.length], ["A", 1])
        const version = refused(
          409,
          yield* send("PATCH", "/orders", [
            { id: "A", state: "paid", version: 1 },
            { id: "B", state: "paid", version: 7 },
            { id: "C", state: "paid", version: 1 }
          ])
        )
        assert.strictEqual(version.body.document, "B")
        assert.deepStrictEqual(yield* statesOf, ["A open 1", "B open 1", "C open 1"])
        const problem = yield* send("PATCH", "/orders?state=open", { code: "X" }, {
          accept: "application/problem+json, application/json"
        })
        assert.deepInclude(JSON.parse(problem.text), { status: 409, document: "B" })
      }))

    it.effect("write each document by itself, where one prefers that", () =>
      Effect.gen(function*() {
        yield* given("/orders", [order("A"), order("B"), order("C", { total: 2 })])
        const answer = yield* send("PATCH", "/orders?state=open", { code: "X", state: "paid" }, {
          prefer: "handling=lenient"
        })
        assert.deepStrictEqual([answer.status, answer.headers["preference-applied"]], [207, "handling=lenient"])
        const [first, ...others] = answer.body.results
        assert.deepStrictEqual(first, { id: "A", status: 200, version: 2 })
        assert.deepStrictEqual(answer.body.ids, ["A"])
        for (const other of others) {
          assert.deepStrictEqual([other.status, other.error._type, other.error.code], [409, "ErrorMessage", 409])
        }
        assert.deepStrictEqual(yield* statesOf, ["A paid 2", "B open 1", "C open 1"])
        const items = yield* send("PATCH", "/orders", [
          { id: "A", version: 1, state: "sent" },
          { id: "none", state: "sent" },
          { id: "B", total: -1 },
          { id: "C", version: 1, state: "sent" }
        ], { prefer: "return=minimal, handling=lenient" })
        assert.deepStrictEqual(
          items.body.results.map(({ id, status }: { id: string; status: number }) => `${id} ${status}`),
          ["A 409", "none 404", "B 400", "C 200"]
        )
        assert.deepStrictEqual(yield* statesOf, ["A paid 2", "B open 1", "C sent 2"])
      }))

    it.effect("replace and change the documents of a list, each in its version", () =>
      Effect.gen(function*() {
        yield* given("/orders", [order("A"), order("B", { code: "b" }), order("C")])
        const replaced = yield* send("PUT", "/orders", [
          { id: "A", state: "paid", total: 4, version: 1 },
          { id: "B", state: "paid", total: 5, version: 1 }
        ])
        assert.deepStrictEqual(
          [replaced.status, replaced.body.results],
          [200, [{ id: "A", status: 200, version: 2 }, { id: "B", status: 200, version: 2 }]],
          replaced.text
        )
        assert.notProperty((yield* send("GET", "/orders/B")).body, "code")
        const gone = refused(404, yield* send("PUT", "/orders", [order("A"), order("D")]))
        assert.strictEqual(gone.body.document, "D")
        assert.deepStrictEqual(yield* statesOf, ["A paid 2", "B paid 2", "C open 1"])
        assert.deepStrictEqual(problemsIn(yield* send("PUT", "/orders", order("A"))), [" Type"])
        assert.deepStrictEqual(problemsIn(yield* send("PUT", "/orders", [])), [" NotEmpty"])
        assert.deepStrictEqual(problemsIn(yield* send("PATCH", "/orders", [{ id: "A" }, { total: 1 }, 3])), [
          "1.id NotEmpty",
          "2.id NotEmpty"
        ])
        assert.deepStrictEqual(problemsIn(yield* send("PATCH", "/orders?state=open", [{ id: "A" }])), [
          "state Parameter"
        ])
      }))

    it.effect("answer the documents as GET does, as many as a page may have bytes of", () =>
      Effect.gen(function*() {
        yield* given("/orders", [order("A"), order("B"), order("C")])
        const whole = { prefer: "return=representation" }
        const patched = yield* send("PATCH", "/orders?state=open", { state: "paid" }, whole)
        const documents = Effect.forEach(["A", "B", "C"], (id) =>
          Effect.map(send("GET", `/orders/${id}`), ({ body }) => body))
        assert.deepStrictEqual(
          patched.body.results.map(({ document }: { document: unknown }) =>
            document
          ),
          yield* documents
        )
        assert.strictEqual(patched.headers["preference-applied"], "return=representation")
        const list = [order("A", { version: 2 }), order("B", { version: 1 }), order("C", { version: 2 })]
        const replaced = yield* send("PUT", "/orders", list, { prefer: "handling=lenient, return=representation" })
        const [first, , last] = yield* documents
        assert.deepStrictEqual(
          replaced.body.results.map((
            { document, status }: { document: unknown; status: number }
          ) => [status, document]),
          [[200, first], [409, undefined], [200, last]]
        )
        assert.strictEqual(replaced.headers["preference-applied"], "handling=lenient, return=representation")
        // What does not fit is written as well, and the answer tells its version only.
        const large = Array.from({ length: 4 }, (_, i) => ({ id: `L${i}`, text: "ä".repeat(150_000) }))
        const store = yield* DocumentStore.DocumentStore
        yield* store.deleteMany("Large", {})
        yield* store.insertMany("Large", large.map(({ id }) => ({ _id: id, text: "", version: 1 })))
        const cut = yield* send("PATCH", "/larges", large, whole)
        assert.deepStrictEqual(
          cut.body.results.map(({ document, version }: { document?: { text: string }; version: number }) => [
            version,
            document?.text.length
          ]),
          [[2, 150_000], [2, 150_000], [2, 150_000], [2, undefined]]
        )
        assert.notProperty(cut.headers, "preference-applied")
        const deleted = yield* send("DELETE", "/larges?all=true", undefined, whole)
        assert.notProperty(deleted.body.results[0], "document")
      }))

    it.effect("have a history of each document", () =>
      Effect.gen(function*() {
        yield* given("/orders", [order("A"), order("B")])
        yield* send("PATCH", "/orders?state=open", { state: "paid" })
        yield* send("PATCH", "/orders?state=paid", { code: "X" })
        yield* send("DELETE", "/orders?id=A")
        const orders = yield* Repository.for(Order)
        const changesOf = (id: string) =>
          Effect.map(orders.history(id), (states) => states.slice(0, 2).map(({ change }) => change))
        assert.deepStrictEqual(yield* changesOf("A"), ["delete", "patch"])
        assert.deepStrictEqual(yield* changesOf("B"), ["patch", "insert"])
      }))

    it.effect("leave out what an earlier one has deleted", () =>
      Effect.gen(function*() {
        yield* given("", [], "Node")
        const documents = yield* DocumentStore.DocumentStore
        for (const prefer of ["", "handling=lenient"]) {
          yield* documents.insertMany("Node", [
            { _id: "1", tree: "a" },
            { _id: "2", tree: "a", parent: "1" },
            { _id: "3", tree: "a" },
            { _id: "4", tree: "b", parent: "3" }
          ])
          const deleted = yield* send("DELETE", "/nodes?tree=a", undefined, { prefer })
          assert.deepStrictEqual(deleted.body.ids, ["1", "3"], deleted.text)
          assert.deepStrictEqual((yield* send("GET", "/nodes")).body._items, [])
        }
      }))

    it.effect("run the hooks of each document, those after the writes once these are committed", () =>
      Effect.gen(function*() {
        const documents = yield* DocumentStore.DocumentStore
        const fill = Effect.fnUntraced(function*(...numbers: ReadonlyArray<number>) {
          yield* documents.deleteMany("Guarded", {})
          yield* documents.insertMany("Guarded", numbers.map((n, i) => ({ _id: `G${i}`, n })))
          ran.length = 0
        })
        const numbers = Effect.map(
          send("GET", "/guardeds?sort_by=id"),
          ({ body }) => body._items.map(({ n }: Guarded) => n)
        )
        yield* fill(1, 2)
        assert.strictEqual((yield* send("PATCH", "/guardeds?n=>0", { n: 3 })).status, 200)
        assert.deepStrictEqual(ran, ["before G0", "before G1", "after G0", "after G1"])
        assert.deepStrictEqual(yield* numbers, [3, 3])

        // What a hook refuses is rolled back with all others, whose hooks after the write never run.
        yield* fill(1, 2)
        const list = [{ id: "G0", n: 5 }, { id: "G1", n: 13 }]
        const locked = yield* send("PATCH", "/guardeds", list)
        assert.deepInclude(locked.body, { error: "Locked", document: "G1" })
        assert.strictEqual(locked.status, 423)
        assert.deepStrictEqual([ran, yield* numbers], [["before G0"], [1, 2]])
        const each = yield* send("PATCH", "/guardeds", list, { prefer: "handling=lenient" })
        assert.deepStrictEqual(each.body.results.map(({ status }: { status: number }) => status), [200, 423])
        assert.deepStrictEqual(yield* numbers, [5, 2])

        // A failed hook after the writes undoes none of them, and the others run.
        yield* fill(1, 2)
        const after = yield* send("PATCH", "/guardeds", [{ id: "G0", n: 7 }, { id: "G1", n: 8 }])
        assert.deepStrictEqual([after.status, after.body.document], [423, "G0"])
        assert.deepStrictEqual([ran, yield* numbers], [["before G0", "before G1", "after G1"], [7, 8]])
      }))

    it.effect("write what still fulfils the filter, beside other writers", () =>
      Effect.gen(function*() {
        yield* given("/orders", [1, 2, 3, 4, 5].map((i) => order(`O${i}`)))
        const taken = yield* Ref.make<ReadonlyArray<string>>([])
        const refusals = yield* Ref.make(0)
        // Each order goes to one of the callers only.
        const caller = (i: number) =>
          Effect.flatMap(
            send("PATCH", "/orders?state=open", { state: i % 2 === 0 ? "paid" : "sent" }, {
              prefer: i % 3 === 0 ? "handling=lenient" : ""
            }),
            ({ body, status }) =>
              status === 503
                ? Ref.update(refusals, (count) => count + 1)
                : Ref.update(taken, (all) => [...all, ...body.ids])
          )
        const callers = Array.from({ length: name === "mongodb" ? 10 : 50 }, (_, i) => i)
        yield* Effect.forEach(callers, caller, { concurrency: callers.length, discard: true })
        assert.deepStrictEqual([...(yield* Ref.get(taken))].toSorted(), ["O1", "O2", "O3", "O4", "O5"])
        assert.deepStrictEqual(
          (yield* statesOf).map((text: string) => text.replace(/paid|sent/u, "done")),
          [1, 2, 3, 4, 5].map((i) => `O${i} done 2`)
        )
        assert.isBelow(yield* Ref.get(refusals), callers.length)
      }))

    it.effect("are no routes of other resources", () =>
      Effect.gen(function*() {
        for (const method of ["PATCH", "DELETE", "PUT"] as const) {
          const answer = refused(405, yield* send(method, "/plains?n=1", method === "DELETE" ? undefined : { n: 2 }))
          assert.strictEqual(answer.headers["allow"], "GET, HEAD, QUERY, OPTIONS")
        }
        refused(405, yield* send("PATCH", "/nodes?tree=a", { tree: "b" }))
        const options = yield* send("OPTIONS", "/orders")
        assert.strictEqual(options.headers["allow"], "GET, POST, PUT, PATCH, DELETE, HEAD, QUERY, OPTIONS")
      }))
  })
}
