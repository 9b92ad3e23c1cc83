/** What a replacement keeps of a document without a version is what is stored when it is written. */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, type Layer, Schema } from "effect"
import { DocumentStore, Model, Resource } from "../../../src/index.ts"
import { type Method, send } from "../../support/rest.ts"
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

export const viewsRacesContract = <E>(name: string, store: Layer.Layer<DocumentStore.DocumentStore, E>) => {
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
}
