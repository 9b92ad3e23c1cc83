/** What a replacement keeps of a document without a version is what is stored when it is written. */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { DocumentStore, Model, Resource } from "../../../src/index.ts"
import { type Method, send } from "../../support/rest.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"
import { type Grants, servingViewed } from "../../support/viewed.ts"

class Part extends Model.Class<Part>()("Part", {
  name: Schema.String,
  checked: Schema.Int.pipe(Model.readOnly, Model.withDefault(() => 0))
}) {}

class Item extends Model.Class<Item>()("Item", {
  id: Model.id(),
  name: Schema.String,
  cost: Schema.Int,
  score: Schema.Int.pipe(Model.readOnly, Model.withDefault(() => 0)),
  part: Part.pipe(Model.optional)
}) {}

class Offer extends Model.Class<Offer>()("Offer", {
  id: Model.id(),
  state: Schema.Literals(["draft", "sold"]),
  price: Schema.Int
}) {}

const offers = Resource.make(Offer, { methods: ["GET", "POST", "PUT", "PATCH"] })

/** A seller writes every field of drafts and, as a clerk, every field but the price of all offers. */
const offerGrants: Grants = (caller) => {
  const all = { fields: undefined, rows: undefined }
  const seller = [
    { fields: undefined, rows: { state: "draft" } },
    { fields: { hide: [], readOnly: ["price"] }, rows: undefined }
  ]
  return { read: [all], write: caller === "admin" ? [all] : seller }
}

const plain = Resource.make(Item, { methods: ["GET", "POST", "PUT", "PATCH"] })

const resources = {
  "": plain,
  " with hooks": plain.beforePut((item) => Effect.succeed(item))
}

const grants: Grants = (caller) => {
  const fields = caller === "clerk" ? { hide: ["cost"], readOnly: [] } : undefined
  const held = [{ id: 0, fields, rows: undefined }]
  return { read: held, write: held }
}

const as = (caller: string) => (method: Method, path: string, body?: unknown) =>
  send(method, `/items${path}`, body, { "x-caller": caller })

const [admin, clerk] = [as("admin"), as("clerk")]

storeMatrix((name, store) => {
  for (const [kind, resource] of Object.entries(resources)) {
    it.layer(servingViewed(resource, store, grants))(`views under races${kind} / ${name}`, (it) => {
      for (
        const { what, write } of [
          {
            what: "field that its caller can't see",
            write: (id: string, value: number) => Effect.asVoid(admin("PATCH", `/${id}`, { cost: value }))
          },
          {
            what: "field that the service sets",
            write: (id: string, value: number) =>
              Effect.flatMap(
                DocumentStore.DocumentStore,
                (store) => store.updateOne("Item", { _id: id }, { $set: { score: value, "part.checked": value } })
              )
          }
        ]
      ) {
        it.effect(`a PUT undoes no write of a ${what}`, () =>
          Effect.gen(function*() {
            const { body } = yield* admin("POST", "", { name: "a", cost: 0, part: { name: "b" } })
            const id: string = body.result
            const putting = yield* Effect.forEach(
              Array.from({ length: 8 }, (_, i) => i),
              (i) => Effect.forever(clerk("PUT", `/${id}`, { name: `name ${i}`, part: { name: "b" } })),
              { concurrency: "unbounded" }
            ).pipe(Effect.forkChild)
            for (let value = 1; value <= 8; value++) {
              yield* write(id, value)
              yield* clerk("PUT", `/${id}`, { name: "own", part: { name: "b" } })
              const { body } = yield* admin("GET", `/${id}`)
              assert.include([body.cost, body.score], value, JSON.stringify(body))
              if (body.score > 0) assert.strictEqual(body.part.checked, value)
            }
            yield* Fiber.interrupt(putting)
          }))
      }
    })
  }
  for (const [kind, resource] of Object.entries({ "": offers, " with hooks": offers.beforePut(Effect.succeed) })) {
    it.layer(servingViewed(resource, store, offerGrants))(`rules of documents under races${kind} / ${name}`, (it) => {
      it.effect("a PUT writes no field that its caller may not write any more", () =>
        Effect.gen(function*() {
          const as = (caller: string, method: Method, path: string, body?: unknown) =>
            send(method, `/offers${path}`, body, { "x-caller": caller })
          // No price is sent twice, so that each is a change.
          let price = 0
          const put = (path: string) =>
            Effect.suspend(() => as("seller", "PUT", path, { state: "draft", price: ++price }))
          for (let round = 0; round < 6; round++) {
            const created = yield* as("admin", "POST", "", { state: "draft", price: ++price })
            const path = `/${created.body.result}`
            const putting = yield* Effect.forEach(
              Array.from({ length: 8 }),
              () => Effect.forever(put(path)),
              { concurrency: "unbounded" }
            ).pipe(Effect.forkChild)
            yield* put(path)
            yield* Effect.repeat(as("admin", "PATCH", path, { state: "sold" }), {
              until: ({ status }) => status === 200
            })
            for (let i = 0; i < 4; i++) assert.strictEqual((yield* put(path)).status, 403)
            assert.strictEqual((yield* as("admin", "GET", path)).body.state, "sold")
            yield* Fiber.interrupt(putting)
          }
        }))
    })
  }
})
