/** Identifiers of any kind: a document is found, changed, linked, listed and removed under the text of its own. */
import { assert, it } from "@effect/vitest"
import { Arbitrary, Effect, Equal, type Layer, Schema } from "effect"
import { type DocumentStore, Generator, KernelEngine, Model, Repository, Resource } from "../../../src/index.ts"
import { refused, send, serving } from "../../support/rest.ts"

const kinds: { readonly [name: string]: { readonly schema: Schema.Top; readonly none: ReadonlyArray<string> } } = {
  ints: { schema: Schema.Int, none: ["x", "1.5", "007", "1e3", "99999999999999999999"] },
  numbers: { schema: Schema.Finite, none: ["x", "01", "1e0", "1e5", "-0"] },
  object_ids: { schema: Model.ObjectId, none: ["x", "1", "zzzzzzzzzzzzzzzzzzzzzzzz"] },
  uuids: { schema: Schema.String.check(Schema.isUUID()), none: ["x"] },
  branded: { schema: Schema.String.check(Schema.isPattern(/^[A-Z]{2,9}$/u)).pipe(Schema.brand("Code")), none: ["x"] },
  bigints: { schema: Schema.BigInt, none: ["x", "1.5", "007"] },
  moments: { schema: Schema.DateTimeUtc, none: ["x", "yesterday"] },
  words: { schema: Schema.Literals(["a", "b", "c"]), none: ["d"] }
}

const resources = Object.entries(kinds).map(([name, kind]) => ({
  name,
  ...kind,
  model: class extends Model.Class<{ readonly id: unknown; readonly note: string }>()(`Id${name}`, {
    id: kind.schema,
    note: Schema.String,
    ...Model.historied
  }) {}
}))

class Parcel extends Model.Class<Parcel>()("Parcel", {
  id: Model.ObjectId.pipe(Model.generated(Generator.objectId)),
  note: Schema.String
}) {}

const registered = ({ model }: (typeof resources)[number]) =>
  Resource.make(model, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })
    .action("shout", { success: Schema.String }, ({ note }) => Effect.succeed(note.toUpperCase()))

const [first, ...others] = resources

const engine = others.reduce(
  (engine, resource) => engine.register(registered(resource), { name: resource.name, segment: resource.name }),
  KernelEngine.make("identifiers")
    .register(registered(first!), { name: first!.name, segment: first!.name })
).register(Parcel, { methods: ["GET", "POST"] })

export const identifiersContract = <E>(name: string, store: Layer.Layer<DocumentStore.DocumentStore, E>) =>
  it.layer(serving(engine, store), { excludeTestServices: true })(`identifiers / ${name}`, (it) => {
    for (const { model, name, none, schema } of resources) {
      // Fields are plain codecs.
      const codec = Schema.toCodecJson(schema as unknown as Schema.Codec<unknown>)
      const values = Arbitrary.schema(Schema.toType(model.store.fields.id))
      it.effect.prop(`${name} address their documents`, [values], ([given]) =>
        Effect.gen(function*() {
          const json: unknown = JSON.parse(
            JSON.stringify(yield* Schema.encodeUnknownEffect(codec)(given)).replace(
              /(?:[+-]\d{6}|0000)(-\d\d-)/u,
              "2000$1"
            )
          )
          const id = yield* Schema.decodeUnknownEffect(codec)(json)
          const path = `/${name}/${encodeURIComponent(String(json))}`
          const created = yield* send("POST", `/${name}`, { id: json, note: "a" })
          assert.deepStrictEqual([created.status, created.headers["location"]], [201, path], created.text)
          assert.deepStrictEqual(created.body.result, json)
          const again = yield* send("POST", `/${name}`, { id: json, note: "b" })
          assert.strictEqual(again.status, 200, "the one that is there is updated")

          const shown = yield* send("GET", path)
          assert.strictEqual(shown.status, 200, shown.text)
          assert.deepInclude(shown.body, { id: json, note: "b" })
          assert.strictEqual(shown.body._links.self.href, path)
          assert.strictEqual(
            (yield* send("POST", `${path}/shout`)).status + (yield* send("GET", `${path}/shout`)).status,
            605
          )
          assert.strictEqual((yield* send("PATCH", path, { note: "c" })).status, 200)
          assert.strictEqual((yield* send("PUT", path, { id: json, note: "d" })).status, 200)
          assert.strictEqual((yield* send("PUT", path, { note: "e" })).status, 200)

          const repository = yield* Repository.for(model)
          assert.strictEqual((yield* repository.findById(id)).note, "e")
          const states = yield* repository.history(id)
          assert.isAtLeast(states.length, 4)
          for (const state of states) assert.isTrue(Equal.equals(state.id, id), "a state has the same identifier")

          const list = (query: string) =>
            Effect.map(send("GET", `/${name}?${query}`), ({ body }) => body._items ?? body)
          assert.lengthOf(yield* list(`id=${encodeURIComponent(JSON.stringify(String(json)))}`), 1)
          const query = encodeURIComponent(JSON.stringify({ _id: json }))
          assert.lengthOf(yield* list(`query=${query}`), 1)
          assert.lengthOf(yield* list("cursor=&page_size=1"), 1)

          assert.strictEqual((yield* send("DELETE", path)).status, 200)
          refused(404, yield* send("GET", path))
          refused(404, yield* send("DELETE", path))
          const all = yield* send("POST", `/${name}`, [{ id: json, note: "f" }])
          assert.deepStrictEqual(all.body.result, [json])
          assert.strictEqual((yield* send("DELETE", path)).status, 200)
        }), { arbitrary: { runs: 5 } })

      it.effect(`an invalid one of ${name} is not found`, () =>
        Effect.gen(function*() {
          for (const text of none) {
            const path = `/${name}/${text}`
            refused(404, yield* send("GET", path))
            refused(404, yield* send("PUT", path, { note: "a" }))
            refused(404, yield* send("PATCH", path, { note: "a" }))
            refused(404, yield* send("DELETE", path))
            refused(404, yield* send("GET", `${path}/shout`))
          }
        }))
    }

    it.effect("an ObjectId is generated, and comes after those before", () =>
      Effect.gen(function*() {
        const { body, headers } = yield* send("POST", "/parcels", { note: "a" })
        assert.match(body.result, /^[\da-f]{24}$/u)
        const upper = String(headers["location"]).toUpperCase().replace("/PARCELS", "/parcels")
        assert.strictEqual((yield* send("GET", upper)).status, 200, "capital letters are as good")
      }))
  })
