/** Identifiers of any kind: a document is found, changed, linked, listed and removed under the text of its own. */
import { assert, it } from "@effect/vitest"
import { Arbitrary, Effect, Equal, Schema } from "effect"
import { DocumentStore, Generator, KernelEngine, Model, Repository, Resource } from "../../../src/index.ts"
import { type Answer, refused, send, serving } from "../../support/rest.ts"
import { routeStores } from "../../support/storeMatrix.ts"

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

const registered = ({ model }: Pick<(typeof resources)[number], "model">) =>
  Resource.make(model, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })
    .action("shout", { success: Schema.String }, ({ note }) => Effect.succeed(note.toUpperCase()))

/** Texts of any kind: one that is just named as an identifier, and one that is declared so. */
const textual = ([["plains", Schema.String], ["mades", Model.id() as unknown as Schema.Top]] as const).map(
  ([name, id]) => ({
    name,
    path: `/a/longer/base/${name}`,
    // The type of a field is of no interest here.
    model: class extends Model.Class<{ readonly id: unknown; readonly note: string }>()(`Id${name}`, {
      id,
      note: Schema.String,
      ...Model.historied
    }) {}
  })
)

const unaddressable: { readonly [name: string]: string } = {
  "an empty one": "",
  "a dot": ".",
  "two dots": "..",
  "a zero": "a\0",
  "half a character": "a\ud83d",
  "17,000 letters": "a".repeat(17_000),
  "3,000 umlauts": "ä".repeat(3_000),
  "1,001 characters": "🔑".repeat(1_001)
}

const texts = Arbitrary.map(
  Arbitrary.all([
    Arbitrary.array(
      Arbitrary.schema(Schema.Literals(["a", "ä", "漢", "🔑", "/", "%", "?", " ", ".", ";", "+", "\""])),
      {
        minLength: 1,
        maxLength: 10
      }
    ),
    Arbitrary.schema(Schema.Literals([1, 10, 100]))
  ]),
  ([pieces, times]) => pieces.join("").repeat(times)
)

const [first, ...others] = resources

const engine = [...others, ...textual].reduce(
  (engine, resource) =>
    engine.register(registered(resource), {
      name: resource.name,
      segment: resource.name,
      ...("path" in resource ? { urlBase: "/a/longer/base" } : {})
    }),
  KernelEngine.make("identifiers")
    .register(registered(first!), { name: first!.name, segment: first!.name })
).register(Parcel, { methods: ["GET", "POST"] })

routeStores((name, store) =>
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

    for (const { model, path } of textual) {
      it.effect.prop(`a text of ${path} addresses its document everywhere`, [texts], ([id]) =>
        Effect.gen(function*() {
          if (id === "." || id === "..") return
          const own = `${path}/${encodeURIComponent(id)}`
          const created = yield* send("POST", path, { id, note: "a" })
          assert.deepStrictEqual([created.status, created.headers["location"]], [201, own], created.text)
          const { body: { _links: links } } = yield* send("GET", own)
          assert.deepStrictEqual([links.self.href, links.shout.href], [own, `${own}/shout`])
          const statuses = [
            yield* send("GET", own),
            yield* send("POST", `${own}/shout`),
            yield* send("GET", `${own}/shout`),
            yield* send("PUT", own, { id, note: "b" }),
            yield* send("PATCH", own, { note: "c" }),
            yield* send("DELETE", own)
          ].map(({ status }) => status)
          assert.deepStrictEqual(statuses, [200, 405, 200, 200, 200, 200])
        }), { arbitrary: { runs: 8 } })

      it.effect.each(Object.entries(unaddressable))(
        `no document of ${path} gets what no URL addresses: %s`,
        ([, id]) =>
          Effect.gen(function*() {
            const refusedId = (answer: Answer) => {
              const fields = (refused(400, answer).body.errors ?? []).map(({ field }: { readonly field: string }) =>
                field
              )
              // A body with half a character is no text, and a patch names the place of the identifier.
              assert.include(id.isWellFormed() ? ["id", "1.id", "0.path"] : ["", "id"], fields.join(), answer.text)
            }
            const known = { id: "known", note: "a" }
            yield* send("POST", path, known)
            refusedId(yield* send("POST", path, { id, note: "a" }))
            refusedId(yield* send("POST", path, [{ note: "a", id: "new" }, { id, note: "a" }]))
            refusedId(yield* send("PUT", `${path}/known`, { id, note: "a" }))
            refusedId(yield* send("PATCH", `${path}/known`, { id }))
            refusedId(
              yield* send("PATCH", `${path}/known`, [{ op: "replace", path: "/id", value: id }], {
                "content-type": "application/json-patch+json"
              })
            )
            const form = `--x\r\nContent-Disposition: form-data; name="id"\r\n\r\n${id}\r\n--x\r\n` +
              `Content-Disposition: form-data; name="note"\r\n\r\na\r\n--x--\r\n`
            // A form has no halves of characters, and an empty value is none.
            if (id.isWellFormed() && id !== "") {
              refusedId(yield* send("POST", path, form, { "content-type": "multipart/form-data; boundary=x" }))
            }
            const repository = yield* Repository.for(model)
            const instance = Object.assign(Object.create(model.prototype), { id, note: "a", revision: 1 })
            for (
              const write of [
                repository.insert(instance),
                repository.save(instance),
                Effect.asVoid(repository.bulkInsert([instance])),
                Effect.asVoid(Model.finalise(model, { id, note: "a" })),
                Effect.asVoid(Effect.flatMap(repository.findById("known"), () =>
                  repository.modify(
                    "known",
                    (known) => Effect.succeed(Object.assign(Object.create(model.prototype), known, { id }))
                  )))
              ] as ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>>
            ) {
              const error = yield* Effect.flip(write)
              assert.include(
                ["ValidationException", "PropertyRequiredException", "BulkInsertFailed"],
                error._tag
              )
            }
            const { body } = yield* send("GET", path)
            assert.deepStrictEqual(body._items.map(({ id }: { readonly id: string }) => id), ["known"])
          })
      )

      it.effect(`a document of ${path} that has such an identifier already is shown`, () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore.DocumentStore
          const ids = ["", "b".repeat(1_500)]
          yield* Effect.forEach(ids, (_id) => store.insertOne(model.modelName, { _id, note: "old", revision: 1 }))
          const { body } = yield* send("GET", `${path}?note=old&sort_by=id`)
          assert.deepStrictEqual(body._items.map(({ id }: { readonly id: string }) => id), ids)
          assert.strictEqual((yield* send("PATCH", `${path}/${ids[1]}`, { note: "new" })).status, 200)
          assert.strictEqual((yield* send("DELETE", `${path}/${ids[1]}`)).status, 200)
        }))
    }
  })
)
