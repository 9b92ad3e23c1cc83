/** What a caller gets of a model with versions: nothing that a rule hides, of no row that a rule keeps back, in any form. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema } from "effect"
import {
  DocumentStore,
  EmbeddedStore,
  KernelEngine,
  Model,
  Repository,
  Resource,
  Role,
  Service
} from "../../src/index.ts"
import { onMongo } from "../support/mongo.ts"
import { type Method, send } from "../support/rest.ts"
import { type Granted, type Grants, servingViewed } from "../support/viewed.ts"

/** Its `code` was no secret once. */
class DealV1 extends Model.Class<DealV1>()("Deal", {
  id: Model.id(),
  by: Schema.String,
  name: Schema.String,
  cost: Schema.String,
  code: Schema.String.pipe(Model.omitted)
}) {}

class Deal extends Model.Class<Deal>()("Deal", {
  id: Model.id(),
  owner: Schema.String,
  first: Schema.String,
  last: Schema.String,
  price: Schema.Int,
  pin: Schema.String.pipe(Model.omitted),
  score: Schema.Int.pipe(Model.withDefault(() => 1))
}, {
  versions: [
    Model.was.renamed("by", "owner"),
    Model.was.added("score"),
    Model.was.replaced(["first", "last"], { name: Schema.String }, {
      up: ({ name }) => ({ first: name.split(" ")[0] ?? "", last: name.split(" ")[1] ?? "" }),
      down: ({ first, last }: { readonly first: string; readonly last: string }) => ({ name: `${first} ${last}` })
    }),
    Model.was.replaced(["pin"], { code: Schema.String }, {
      up: ({ code }) => ({ pin: code }),
      down: ({ pin }: { readonly pin: string }) => ({ code: pin })
    }),
    Model.was.replaced(["price"], { cost: Schema.String }, {
      up: ({ cost }) => ({ price: Number(cost) }),
      down: ({ price }) => ({ cost: String(price) })
    })
  ]
}) {}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

const owners = ["ann", "ben", "cy"]

const lasts = ["Lovelace", "Turing"]

const documents = Array.from({ length: 12 }, (_, i) => ({
  id: `d${i}`,
  owner: owners[i % 3]!,
  last: lasts[i % 2]!,
  canary: 9_100_000 + i
}))

/** In the first form, in the second one, and in the newest one. */
const stored = documents.map(({ canary, id, last, owner }, i): DocumentStore.Document => {
  const old = { _id: id, name: `Ada ${last}`, cost: String(canary), code: `CANARY-${canary}` }
  return i % 3 === 0
    ? { ...old, by: owner }
    : i % 3 === 1
    ? { ...old, owner, _form: 2 }
    : { _id: id, owner, first: "Ada", last, price: canary, pin: `CANARY-${canary}`, score: 1, _form: 6 }
})

const everything: Granted = { fields: undefined, rows: undefined }

const grantsBy = (hidden: string, ownRows: Granted["rows"], named: Granted["rows"]): Grants => (caller) => {
  const granted: Granted = caller === "clerk"
    ? { fields: { hide: [hidden], readOnly: [] }, rows: undefined }
    : caller === "own"
    ? { fields: undefined, rows: ownRows }
    : caller === "named"
    ? { fields: { hide: [hidden], readOnly: [] }, rows: named }
    : everything
  return { read: [granted], write: [granted] }
}

const served = {
  newest: {
    resource: Resource.make(Deal, { methods }),
    grants: grantsBy("price", { owner: { $eq: "ann" } }, { last: { $eq: "Lovelace" } }),
    fields: ["id", "owner", "first", "last", "price", "pin", "score", "_form", "_ahead", "by", "name", "cost", "code"],
    body: { owner: "ann", first: "Bo", last: "Lovelace", score: 3 }
  },
  "first": {
    resource: Resource.make(Model.form(Deal, 1, DealV1), { methods }),
    grants: grantsBy("cost", { by: { $eq: "ann" } }, { name: { $regex: "Lovelace$" } }),
    fields: ["id", "by", "name", "cost", "code", "_form", "_ahead", "owner", "first", "last", "price", "pin", "score"],
    body: { by: "ann", name: "Bo Lovelace" }
  }
} as const

const callers = ["admin", "clerk", "own", "named"] as const

const contract = <E>(name: string, store: Layer.Layer<DocumentStore.DocumentStore, E>) => {
  for (const [form, { body, fields, grants, resource }] of Object.entries(served)) {
    const filled = Effect.gen(function*() {
      const { deleteMany, insertMany } = yield* DocumentStore.DocumentStore
      yield* deleteMany("Deal", {})
      yield* insertMany("Deal", stored)
    })
    const as = (caller: string, method: Method, path: string, body?: unknown) =>
      send(method, `/deals${path}`, body, { "x-caller": caller, prefer: "return=representation" })
    const idsOf = (answer: { readonly body: { readonly _items: ReadonlyArray<{ readonly id: string }> } }) =>
      answer.body._items.map(({ id }) => id).toSorted()
    const expected = (keep: (document: (typeof documents)[number]) => boolean) =>
      documents.filter(keep).map(({ id }) => id).toSorted()

    it.layer(servingViewed(resource, store, grants))(`access to the ${form} form / ${name}`, (it) => {
      it.effect("rows are those of the rule, whatever form they are stored in", () =>
        Effect.gen(function*() {
          yield* filled
          for (
            const [caller, keep] of [
              ["own", ({ owner }) => owner === "ann"],
              ["named", ({ last }) => last === "Lovelace"]
            ] as ReadonlyArray<[string, (document: (typeof documents)[number]) => boolean]>
          ) {
            assert.deepStrictEqual(idsOf(yield* as(caller, "GET", "")), expected(keep))
            assert.deepStrictEqual(idsOf(yield* as(caller, "GET", "?cursor=&sort_by=id")), expected(keep))
            for (const one of documents) {
              const { status } = yield* as(caller, "GET", `/${one.id}`)
              assert.strictEqual(status, keep(one) ? 200 : 404, `${caller} ${one.id}`)
            }
            const other = documents.find((one) => !keep(one))!
            assert.strictEqual((yield* as(caller, "DELETE", `/${other.id}`)).status, 404)
            assert.strictEqual((yield* as(caller, "PATCH", `/${other.id}`, body)).status, 404)
          }
          // A write may not move a document out of the rows.
          const away = form === "newest" ? { owner: "ben" } : { by: "ben" }
          assert.strictEqual((yield* as("own", "PATCH", "/d0", away)).status, 403)
          assert.strictEqual((yield* as("own", "PATCH", "/d0", body)).status, 200)
        }))

      const requests = Schema.Struct({
        caller: Schema.Literals(callers),
        kind: Schema.Literals(["one", "filter", "sort", "select", "query", "pipe", "patch", "put", "post", "delete"]),
        field: Schema.Literals(fields),
        other: Schema.Literals(fields),
        document: Schema.Literals(["d0", "d1", "d2", "d3", "d4", "d5"])
      })

      it.effect.prop("no request shows what is hidden", [
        Schema.Array(requests).check(Schema.isMinLength(15), Schema.isMaxLength(30))
      ], ([all]) =>
        Effect.gen(function*() {
          yield* filled
          for (const { caller, document, field, kind, other } of all) {
            const canary = stored[Number(document.slice(1))]
            const value = canary?.[field] ?? "x"
            const sent = typeof value === "number" ? `${value}` : typeof value === "string" ? value : "x"
            const query = (parameters: { readonly [name: string]: string }) => `?${new URLSearchParams(parameters)}`
            const changes = { ...body, [field]: value }
            const answer = yield* {
              one: () => as(caller, "GET", `/${document}`),
              filter: () => as(caller, "GET", query({ [field]: sent, sort_by: other })),
              sort: () => as(caller, "GET", query({ sort_by: field, page_size: "3", cursor: "" })),
              select: () => as(caller, "GET", query({ fields: `${field},${other}` })),
              query: () => as(caller, "GET", query({ query: JSON.stringify({ [field]: { $ne: value } }) })),
              pipe: () => {
                const pipe = [{ $group: { _id: `$${field}`, other: { $max: `$${other}` }, all: { $push: "$$ROOT" } } }]
                return as(caller, "GET", `/aggregate${query({ pipe: JSON.stringify(pipe) })}`)
              },
              patch: () => as(caller, "PATCH", `/${document}`, changes),
              put: () => as(caller, "PUT", `/${document}`, changes),
              post: () => as(caller, "POST", "", { ...changes, id: document }),
              delete: () => as(caller, "DELETE", `/${document}`)
            }[kind]()
            assert.notStrictEqual(answer.status, 500, answer.text)
            // What a caller has sent may come back in the sentence of a refusal.
            const shown = answer.status < 400 ? answer.text : answer.text.replaceAll(sent, "")
            assert.notMatch(shown, /CANARY/u, `${caller} ${kind} ${field}`)
            if (answer.status < 400) {
              assert.notMatch(shown, /"(?:_form|_ahead|code|pin)"/u, `${caller} ${kind} ${field}`)
            }
            if (caller === "clerk" || caller === "named") {
              assert.notMatch(shown, /910\d{4}/u, `${caller} ${kind} ${field}`)
            }
            if (answer.status === 200 && caller === "own" && answer.body?._items !== undefined && kind !== "pipe") {
              for (const item of answer.body._items) assert.strictEqual(item.owner ?? item.by ?? "ann", "ann")
            }
          }
        }), { arbitrary: { runs: Number(process.env["DIFFERENTIAL_RUNS"] ?? 25) } })
    })
  }
}

describe("access to the forms of a model", () => {
  contract("memory", EmbeddedStore.layerMemory)
})
onMongo("on a server", (layer) => contract("mongodb", layer))

class NoteV1 extends Model.Class<NoteV1>()("Note", { id: Model.id(), by: Schema.String }) {}

class Note extends Model.Class<Note>()("Note", { id: Model.id(), owner: Schema.String }, {
  versions: [Model.was.renamed("by", "owner")]
}) {}

const FirstNote = Model.form(Note, 1, NoteV1)

const Counting = Service.make("counting").operation(
  "notes",
  { success: Schema.Int, require: Role("writer") },
  () => Effect.flatMap(Repository.for(Note), (notes) => notes.count())
)

const Removing = Service.make("removing").operation(
  "notes",
  { method: "POST", success: Schema.Int, require: Role("writer") },
  () => Effect.flatMap(Repository.for(Note), (notes) => notes.deleteMany(($) => $.owner.notEquals("none")))
)

const engine = KernelEngine.make("notes").register(Counting).enableSecurity()

const threeNotes = Effect.gen(function*() {
  const notes = yield* Repository.make(Note)
  yield* notes.bulkInsert(["ann", "ben", "ben"].map((owner, i) => new Note({ id: `N${i}`, owner })))
})

const storeOf = () => Layer.tap(EmbeddedStore.layerMemory, (context) => Effect.provideContext(threeNotes, context))

const ann = { subject: "ann", roles: ["writer"] }

describe("a handler", () => {
  it.effect("reaches the rows of the newest form", () =>
    Effect.gen(function*() {
      const resource = Resource.make(Note).grant(Role("writer"), {
        rows: ({ subject }) => ($) => $.owner.equals(subject)
      })
      const { as } = yield* engine.register(resource).test({ store: storeOf() })
      assert.strictEqual(yield* Effect.map((yield* as(ann)).countings.notes(), ({ result }) => result), 1)
    }))

  it.effect("reaches no document if only a form with rows of its own is registered", () =>
    Effect.gen(function*() {
      const resource = Resource.make(FirstNote).grant(Role("writer"), {
        rows: ({ subject }) => ($) => $.by.equals(subject)
      })
      const { as } = yield* engine.register(resource).test({ store: storeOf() })
      assert.strictEqual(yield* Effect.map((yield* as(ann)).countings.notes(), ({ result }) => result), 0)
    }))

  it.effect("reads and answers documents in the form that it names, within the rows of that form", () =>
    Effect.gen(function*() {
      const Listing = Service.make("listing")
        .operation(
          "all",
          { success: Schema.Array(FirstNote), require: Role("writer") },
          () => Effect.flatMap(Repository.for(FirstNote), (notes) => notes.find(undefined, { sort: "id" }))
        )
        .operation(
          "one",
          { success: FirstNote, require: Role("writer") },
          () => Effect.flatMap(Repository.for(FirstNote), (notes) => notes.findById("N0"))
        )
        .operation(
          "newest",
          { success: Schema.Array(Note), require: Role("writer") },
          () => Effect.flatMap(Repository.for(Note), (notes) => notes.find(undefined, { sort: "id" }))
        )
      const mine = Resource.make(FirstNote).grant(Role("writer"), {
        rows: ({ subject }) => ($) => $.by.equals(subject)
      })
      const others = Resource.make(Note).grant(Role("writer"), {
        rows: ({ subject }) => ($) => $.owner.notEquals(subject)
      })
      const { as, repositories } = yield* engine.register(mine, { name: "first_notes", segment: "first_notes" })
        .register(others).register(Listing).test({ store: storeOf() })
      const { listings } = yield* as(ann)
      const shown = Effect.map(listings.all(), ({ _items }) => _items.map(({ by, id }) => [id, by]))
      assert.deepStrictEqual(yield* shown, [["N0", "ann"]])
      assert.strictEqual((yield* listings.one()).by, "ann")
      const newest = Effect.map(listings.newest(), ({ _items }) => _items.map(({ id, owner }) => [id, owner]))
      assert.deepStrictEqual(yield* newest, [["N1", "ben"], ["N2", "ben"]])
      assert.strictEqual((yield* repositories.first_notes.findById("N1")).by, "ben")
      assert.strictEqual((yield* repositories.notes.findById("N1")).owner, "ben")
    }))

  it.effect("writes nothing by a grant of a form to read, beside one of its own rows to write", () =>
    Effect.gen(function*() {
      const resource = Resource.make(FirstNote, { methods: ["GET", "DELETE"] })
        .grant(Role("writer"), { methods: "GET" })
        .grant(Role("writer"), { methods: "DELETE", rows: ({ subject }) => ($) => $.by.equals(subject) })
      const { as, store } = yield* engine.register(resource).register(Removing).test({ store: storeOf() })
      assert.strictEqual(yield* Effect.map((yield* as(ann)).removings.notes(), ({ result }) => result), 0)
      assert.strictEqual(yield* store.count("Note", {}), 3)
    }))

  it.effect("reaches all documents that a form opens", () =>
    Effect.gen(function*() {
      const resource = Resource.make(FirstNote).grant(Role("writer"), {})
      const { as } = yield* engine.register(resource).test({ store: storeOf() })
      assert.strictEqual(yield* Effect.map((yield* as(ann)).countings.notes(), ({ result }) => result), 3)
    }))
})

class BillV1 extends Model.Class<BillV1>()("Bill", {
  id: Model.id(),
  by: Schema.String,
  cost: Schema.String,
  n: Schema.Int
}) {}

class BillV2 extends Model.Class<BillV2>()("Bill", {
  id: Model.id(),
  owner: Schema.String,
  cost: Schema.String,
  n: Schema.Int
}) {}

/** A cost that is no JSON has no way up, and a negative price none down. */
class Bill extends Model.Class<Bill>()("Bill", {
  id: Model.id(),
  owner: Schema.String,
  price: Schema.Int,
  n: Schema.Int
}, {
  versions: [
    Model.was.renamed("by", "owner"),
    Model.was.replaced(["price"], { cost: Schema.String }, {
      up: ({ cost }) => ({ price: JSON.parse(cost) }),
      down: ({ price }: { readonly price: number }) => ({ cost: price < 0 ? Number.NaN as never : String(price) })
    })
  ]
}) {}

/** As bills, with a history. */
class Receipt extends Model.Class<Receipt>()("Receipt", {
  id: Model.id(),
  owner: Schema.String,
  price: Schema.Int,
  n: Schema.Int,
  ...Model.historied
}, {
  versions: [
    Model.was.renamed("by", "owner"),
    Model.was.replaced(["price"], { cost: Schema.String }, {
      up: ({ cost }) => ({ price: JSON.parse(cost) }),
      down: ({ price }) => ({ cost: String(price) })
    })
  ]
}) {}

/** Bills of ann and ben, of which some can't be read in some form. */
const bills = [
  { _id: "A1", by: "ann", cost: "1", n: 1 },
  { _id: "A2", by: "ann", cost: "bad", n: 2 },
  { _id: "B1", by: "ben", cost: "1", n: 3 },
  { _id: "B2", by: "ben", cost: "bad", n: 4 },
  { _id: "B3", owner: "ben", price: -1, n: 5, _form: 3 }
]

const billForms = {
  newest: { resource: Resource.make(Bill, { methods }), owner: "owner", body: { price: 2 } },
  first: { resource: Resource.make(Model.form(Bill, 1, BillV1), { methods }), owner: "by", body: { cost: "2" } },
  // What tells the rows is the same in this form and in the newest one, but not in the first.
  second: { resource: Resource.make(Model.form(Bill, 2, BillV2), { methods }), owner: "owner", body: { cost: "2" } }
} as const

const unreadableRows = <E>(name: string, store: Layer.Layer<DocumentStore.DocumentStore, E>) => {
  for (const [form, { body, owner, resource }] of Object.entries(billForms)) {
    const grants: Grants = (caller) => {
      const rows = caller === "own" ? { [owner]: { $eq: "ann" } } : caller === "few" ? { n: { $lt: 3 } } : undefined
      return { read: [{ fields: undefined, rows }], write: [{ fields: undefined, rows }] }
    }
    const as = (caller: string, method: Method, path: string, sent?: unknown) =>
      send(method, `/bills${path}`, sent, { "x-caller": caller })
    const filled = Effect.gen(function*() {
      const { deleteMany, insertMany } = yield* DocumentStore.DocumentStore
      yield* deleteMany("Bill", {})
      yield* insertMany("Bill", bills)
    })
    const pipe = (...stages: ReadonlyArray<unknown>) =>
      `/aggregate?${new URLSearchParams({ pipe: JSON.stringify([...stages, { $project: { _id: 1 } }]) })}`

    it.layer(servingViewed(resource, store, grants))(`unreadable rows of the ${form} form / ${name}`, (it) => {
      it.effect("are in no row of a caller whose rows depend on a changed field", () =>
        Effect.gen(function*() {
          yield* filled
          for (const id of ["B1", "B2", "B3", "none"]) {
            assert.strictEqual((yield* as("own", "GET", `/${id}`)).status, 404, id)
            assert.strictEqual((yield* as("own", "PATCH", `/${id}`, body)).status, 404, id)
            assert.strictEqual((yield* as("own", "PATCH", `/${id}`, { n: 9 })).status, 404, id)
            assert.strictEqual((yield* as("own", "DELETE", `/${id}`)).status, 404, id)
          }
          for (const query of ["?n=>2", "?n=4", "?n=5", "?n=>2&cursor=&sort_by=n", "?n=>9"]) {
            const listed = yield* as("own", "GET", query)
            assert.deepStrictEqual([listed.status, listed.body._items], [200, []], query)
          }
          for (
            const stages of [[{ $match: { n: { $gt: 2 } } }], [{ $sort: { n: 1 } }, { $match: { n: { $gt: 2 } } }]]
          ) {
            const found = yield* as("own", "GET", pipe(...stages))
            assert.deepStrictEqual([found.status, found.body._items], [200, []], found.text)
          }
          const { find } = yield* DocumentStore.DocumentStore
          assert.deepStrictEqual(yield* find("Bill", { filter: { n: { $gt: 2 } }, sort: { _id: 1 } }), bills.slice(2))
        }))

      it.effect("are those of the rule if it depends on no changed field, and are errors then", () =>
        Effect.gen(function*() {
          yield* filled
          for (const id of ["B1", "B2", "B3"]) {
            assert.strictEqual((yield* as("few", "GET", `/${id}`)).status, 404, id)
            assert.strictEqual((yield* as("few", "PATCH", `/${id}`, body)).status, 404, id)
            assert.strictEqual((yield* as("few", "DELETE", `/${id}`)).status, 404, id)
          }
          for (const caller of ["few", "admin"]) {
            assert.strictEqual((yield* as(caller, "GET", "/A2")).status, 500)
            assert.strictEqual((yield* as(caller, "GET", "?n=2")).status, 500)
            assert.notInclude([200, 204, 404], (yield* as(caller, "PATCH", "/A2", body)).status)
            const filtered = yield* as(caller, "GET", `?n=2&${owner}=zoe`)
            assert.deepStrictEqual([filtered.status, filtered.body._items], [200, []])
          }
          assert.strictEqual((yield* as("admin", "GET", "/B2")).status, 500)
          assert.strictEqual((yield* as("admin", "GET", "/B3")).status, form === "newest" ? 200 : 500)
        }))
    })
  }
}

describe("documents that can't be read", () => {
  unreadableRows("memory", EmbeddedStore.layerMemory)

  it.effect("of other rows are nothing to handlers, and to changes of many", () =>
    Effect.gen(function*() {
      const Billing = Service.make("billing")
        .operation(
          "purge",
          { success: Schema.Int, payload: { id: Schema.String }, require: Role("writer") },
          ({ payload }) => Effect.flatMap(Repository.for(Receipt), ({ history }) => history.purge(payload.id))
        )
        .operation(
          "count",
          { success: Schema.Int, require: Role("writer") },
          () => Effect.flatMap(Repository.for(Receipt), (all) => all.count(($) => $.n.greaterThan(2)))
        )
      const filled = Effect.gen(function*() {
        const { insertMany } = yield* DocumentStore.DocumentStore
        yield* insertMany("Receipt", bills.map((bill) => ({ ...bill, revision: 1 })))
        const entry = { revision: 1, change: "insert", time: new Date(0), document: {} }
        yield* insertMany("Receipt.history", ["A1", "B2"].map((id) => ({ _id: `${id}-1`, document_id: id, ...entry })))
      })
      const { as, baseUrl, store, token } = yield* KernelEngine.make("receipts").register(Billing)
        .register(
          Resource.make(Receipt, { methods }).grant(Role("writer"), {
            rows: ({ subject }) => ($) => $.owner.equals(subject)
          }),
          { many: ["DELETE"] }
        )
        .enableSecurity()
        .test({ store: Layer.tap(EmbeddedStore.layerMemory, (context) => Effect.provideContext(filled, context)) })
      const client = yield* as(ann)
      assert.strictEqual((yield* client.billings.count()).result, 0)
      assert.strictEqual((yield* client.billings.purge({ payload: { id: "B2" } })).result, 0)
      assert.strictEqual(yield* store.count("Receipt.history", {}), 2)
      const headers = { authorization: `Bearer ${Redacted.value(yield* token(ann))}` }
      const answer = yield* Effect.promise(() =>
        fetch(`${baseUrl}/receipts?n=>2&dry_run=true`, { method: "DELETE", headers })
      )
      const text = yield* Effect.promise(() => answer.text())
      assert.deepStrictEqual([answer.status, text], [200, `{"_type":"ManyResult","count":0,"ids":[]}`])
    }))
})
onMongo("on a server, documents that can't be read", (layer) => unreadableRows("mongodb", layer))
