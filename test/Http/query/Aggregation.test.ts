/** `GET …/aggregate?pipe=`: what pipelines make of a collection, and what they may not ask for. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { DocumentStore, KernelEngine, Model } from "../../../src/index.ts"
import { fieldsIn, problemsIn, refused, send, serving } from "../../support/rest.ts"
import { routeStores } from "../../support/storeMatrix.ts"

class Sale extends Model.Class<Sale>()("Sale", {
  id: Model.id(),
  product: Schema.String,
  amount: Schema.Finite,
  at: Model.DateTime,
  margin: Schema.Finite.pipe(Model.omitted, Model.optional)
}) {}

const engine = KernelEngine.make("aggregation")
  .register(Sale, { urlBase: "/api/v1" })
  .register(Sale, { name: "closed", segment: "closed", methods: ["POST"] })

const sales = "/api/v1/sales"

const ask = (pipe: unknown, path = `${sales}/aggregate`) =>
  send("GET", `${path}?pipe=${encodeURIComponent(typeof pipe === "string" ? pipe : JSON.stringify(pipe))}`)

routeStores((name, store) =>
  it.layer(serving(engine, store), { excludeTestServices: true })(`aggregation / ${name}`, (it) => {
    it.effect("returns an envelope of the pipeline's documents, with or without a slash", () =>
      Effect.gen(function*() {
        const { insertMany } = yield* DocumentStore.DocumentStore
        yield* insertMany(
          "Sale",
          Array.from({ length: 12 }, (_, i) => ({
            _id: `S${i}`,
            product: i % 3 === 0 ? "tea" : "coffee",
            amount: i,
            at: new Date(Date.UTC(2026, i, 1)),
            margin: 777
          }))
        )
        const pipe = [
          { $match: { at: { $lt: { $date: "2026-12-01T00:00:00Z" } } } },
          { $group: { _id: "$product", total: { $sum: "$amount" }, last: { $max: "$at" } } },
          { $sort: { _id: 1 } }
        ]
        for (const path of [`${sales}/aggregate`, `${sales}/aggregate/`]) {
          const answer = yield* ask(pipe, path)
          assert.strictEqual(answer.status, 200, answer.text)
          assert.deepStrictEqual(answer.body, {
            _type: "list",
            _items: [
              { _id: "coffee", total: 37, last: "2026-11-01T00:00:00.000000" },
              { _id: "tea", total: 18, last: "2026-10-01T00:00:00.000000" }
            ],
            _links: { self: { href: `${sales}/aggregate?pipe=${encodeURIComponent(JSON.stringify(pipe))}` } }
          })
          const again = yield* send("GET", answer.body._links.self.href)
          assert.strictEqual(again.text, answer.text)
        }
        const empty = yield* ask([{ $match: { product: "none" } }])
        assert.deepStrictEqual([empty.status, empty.body._items], [200, []])
        const head = yield* send("HEAD", `${sales}/aggregate?pipe=[]`)
        assert.deepStrictEqual([head.status, head.text], [200, ""])
      }))

    it.effect("never accesses omitted fields", () =>
      Effect.gen(function*() {
        for (
          const pipe of [[], [{ $limit: 1 }], [{ $project: { all: "$$ROOT" } }], [{ $facet: { a: [{ $limit: 1 }] } }]]
        ) {
          const { text } = yield* ask(pipe)
          assert.notMatch(text, /margin|777/u)
        }
        for (
          const pipe of [
            [{ $match: { margin: 777 } }],
            [{ $group: { _id: "$margin" } }],
            [{ $sort: { margin: 1 } }],
            [{ $project: { margin: 1 } }],
            [{ $facet: { a: [{ $match: { $expr: { $eq: ["$margin", 777] } } }] } }]
          ]
        ) refused(400, yield* ask(pipe))
      }))

    it.effect("rejects stages that write, run code or read other collections, at any depth, with a 403 that names them", () =>
      Effect.gen(function*() {
        const refusals: ReadonlyArray<readonly [pipe: unknown, operator: string]> = [
          [[{ $out: "Sale" }], "$out"],
          [[{ $merge: { into: "Sale" } }], "$merge"],
          [[{ $lookup: { from: "User", as: "u", pipeline: [] } }], "$lookup"],
          [[{ $unionWith: "User" }], "$unionWith"],
          [[{ $graphLookup: {} }], "$graphLookup"],
          [[{ $facet: { a: [{ $lookup: { from: "User" } }] } }], "$lookup"],
          [[{ $facet: { a: [{ $limit: 1 }], b: [{ $facet: { c: [{ $out: "x" }] } }] } }], "$"],
          [[{ $match: { $where: "1" } }], "$where"],
          [[{ $project: { x: { $function: { body: "1", args: [], lang: "js" } } } }], "$function"],
          [[{ $group: { _id: 1, x: { $accumulator: {} } } }], "$accumulator"],
          [[{ $addFields: { x: { $cond: [true, { $map: { input: [1], in: { $function: {} } } }, 1] } } }], "$function"],
          [[{ $currentOp: {} }], "$currentOp"],
          [[{ $collStats: {} }], "$collStats"],
          [[{ $nope: {} }], "$nope"]
        ]
        for (const [pipe, operator] of refusals) {
          assert.include(refused(403, yield* ask(pipe)).body.message, operator, JSON.stringify(pipe))
        }
      }))

    it.effect("names all problems of the parameters", () =>
      Effect.gen(function*() {
        const path = `${sales}/aggregate`
        assert.deepStrictEqual(fieldsIn(yield* send("GET", path)), ["pipe"])
        assert.deepStrictEqual(fieldsIn(yield* send("GET", `${path}?pipe=[]&pipe=[]`)), ["pipe"])
        assert.deepStrictEqual(fieldsIn(yield* send("GET", `${path}?pipe=[]&page=1`)), ["page"])
        for (const pipe of ["", "{", "{}", "1", "[1]", "[{}]", "[{\"$match\":{},\"$limit\":1}]", "[{\"$limit\":-1}]"]) {
          refused(400, yield* ask(pipe))
        }
        refused(400, yield* ask(Array.from({ length: 101 }, () => ({ $limit: 1 }))))
      }))

    it.effect("names the parameter whose pipeline the store rejects", () =>
      Effect.gen(function*() {
        for (
          const pipe of [
            [{ $limit: 0 }],
            [{ $project: { x: { $divide: [1, 0] } } }],
            [{ $match: { $or: [] } }],
            [{ $group: {} }]
          ]
        ) assert.deepStrictEqual(problemsIn(refused(400, yield* ask(pipe))), ["pipe Parameter"], JSON.stringify(pipe))
      }))

    it.effect("exists for models that can be read, and for GET only", () =>
      Effect.gen(function*() {
        refused(405, yield* send("GET", "/closed/aggregate?pipe=[]"))
        const answer = refused(405, yield* send("POST", `${sales}/aggregate`, []))
        assert.strictEqual(answer.headers["allow"], "GET, HEAD, QUERY, OPTIONS")
      }))

    it.effect("returns at most 10,000 documents", () =>
      Effect.gen(function*() {
        const answer = yield* ask([
          { $limit: 12 },
          { $project: { n: { $range: [0, 1_000] } } },
          { $unwind: "$n" }
        ])
        assert.strictEqual(answer.status, 200, answer.text.slice(0, 500))
        assert.strictEqual(answer.body._items.length, 10_000)
      }))
  })
)
