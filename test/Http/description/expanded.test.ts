import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import { Anonymous, KernelClient, KernelEngine, Model, Resource } from "../../../src/index.ts"

class Maker extends Model.Class<Maker>()("Maker", {
  id: Model.id({ brand: "MakerId" }),
  name: Schema.String,
  since: Model.DateTime
}) {}

class Part extends Model.Class<Part>()("Part", {
  id: Model.id(),
  maker: Model.reference(() => Maker).pipe(Model.optional),
  secret: Schema.String.pipe(Model.withDefault(() => "s")),
  uses: Model.referencedBy((): Model.Referable => Machine, "parts.part")
}) {}

class Machine extends Model.Class<Machine>()("Machine", {
  id: Model.id(),
  maker: Model.reference(() => Maker),
  inspector: Schema.NullOr(Model.reference(() => Maker)),
  parts: Schema.Array(Schema.Struct({ part: Model.reference(() => Part), count: Schema.Int })),
  follows: Model.reference((): Model.Referable => Machine).pipe(Model.optional)
}) {}

const methods = ["GET", "POST", "PUT", "PATCH"] as const

const options = { urlBase: "/", methods }

const machines = KernelEngine.make("machines")
  .register(Maker, options)
  .register(Part, options)
  .register(Machine, options)

describe("a typed client that expands", () => {
  it.effect("has what the literal of expand names, decoded by the models of the references", () =>
    Effect.gen(function*() {
      const { baseUrl, client } = yield* machines.test()
      const since = DateTime.makeUnsafe("2001-02-03T04:05:06Z")
      const { result: maker } = yield* client.makers.create({ payload: { name: "Ann", since } })
      const { result: part } = yield* client.parts.create({ payload: { maker, secret: "s" } })
      const create = client.machines.create
      const { result: first } = yield* create({ payload: { maker, inspector: null, parts: [{ part, count: 1 }] } })
      const { result: id } = yield* create({ payload: { maker, inspector: maker, parts: [], follows: first } })

      const one = yield* client.machines.get({
        params: { id },
        query: { expand: "maker,inspector,follows,parts.part" }
      })
      const names: ReadonlyArray<string | undefined> = [one._embedded?.maker?.name, one._embedded?.inspector?.name]
      assert.deepStrictEqual(names, ["Ann", "Ann"])
      assert.deepStrictEqual<DateTime.Utc | undefined>(one._embedded?.maker?.since, since)
      assert.deepStrictEqual(one._embedded?.["parts.part"], [])
      // A reference of the general type tells no model.
      const follows: unknown = one._embedded?.follows
      assert.strictEqual(Reflect.get(Object(follows), "id"), first)

      const { _items: [machine] } = yield* client.machines.list({ query: { id: first, expand: "parts.part.maker" } })
      const parts: ReadonlyArray<{ readonly id: string; readonly secret?: string }> | undefined = machine
        ?._embedded?.["parts.part"]
      assert.deepStrictEqual(parts?.map((part) => [part.id, part.secret]), [[part, "s"]])
      const [inner] = machine?._embedded?.["parts.part"] ?? []
      assert.strictEqual<string | undefined>(inner?._embedded?.maker?.name, "Ann")

      const { _embedded: some } = yield* client.machines.get({
        params: { id: first },
        query: { expand: "maker", fields: "id,_embedded.maker.name" }
      })
      assert.deepStrictEqual([some?.maker?.name, some?.maker?.since], ["Ann", undefined])

      const { _embedded: uses } = yield* client.parts.get({ params: { id: part }, query: { expand: "uses" } })
      const total: unknown = Reflect.get(Object(uses?.uses), "total")
      assert.strictEqual(total, 1)

      const path: string = ["maker"].join()
      const { _embedded: any } = yield* client.machines.get({ params: { id }, query: { expand: path } })
      const unknown: unknown = any?.["maker"]
      assert.instanceOf(Reflect.get(Object(unknown), "since"), Object)

      // Without it there is nothing of the kind.
      const plain = yield* client.machines.get({ params: { id } })
      // @ts-expect-error a document has no such member unless it is asked for
      assert.isUndefined(plain._embedded)
      // @ts-expect-error nothing else is named
      assert.isUndefined(one._embedded?.parts)

      const other = yield* KernelClient.make(machines, { baseUrl }).pipe(Effect.provide(FetchHttpClient.layer))
      const again = yield* other.machines.list({ query: { expand: "maker" } })
      assert.deepStrictEqual(again._items.map(({ _embedded }) => _embedded?.maker?.name), ["Ann", "Ann"])
    }))

  it.effect("has what a write of a document embeds in its answer", () =>
    Effect.gen(function*() {
      const { client } = yield* machines.test()
      const { makers, machines: resource } = client
      const since = DateTime.makeUnsafe("2001-02-03T04:05:06Z")
      const { result: maker } = yield* makers.create({ payload: { name: "Ann", since } })
      const payload = { maker, inspector: null, parts: [] }
      const headers = { prefer: "return=representation" } as const
      const created = yield* resource.create({ payload, headers, query: { expand: "maker" } })
      const params = { id: created.id }
      const replaced = yield* resource.replace({ params, payload, headers, query: { expand: "maker,parts.part" } })
      const patched = yield* resource.patch({
        params,
        payload: { inspector: maker },
        headers,
        query: { expand: "inspector" }
      })
      const names: ReadonlyArray<string | undefined> = [
        created._embedded?.maker?.name,
        replaced._embedded?.maker?.name,
        patched._embedded?.inspector?.name
      ]
      assert.deepStrictEqual(names, ["Ann", "Ann", "Ann"])
      assert.deepStrictEqual<DateTime.Utc | undefined>(created._embedded?.maker?.since, since)
      assert.deepStrictEqual(replaced._embedded?.["parts.part"], [])
      // @ts-expect-error nothing else is named
      assert.isUndefined(patched._embedded?.maker)
      const plain = yield* resource.patch({ params, payload: {}, headers })
      // @ts-expect-error a document has no such member unless it is asked for
      assert.isUndefined(plain._embedded)
      // A result is no document.
      // @ts-expect-error
      yield* resource.patch({ params, payload: {}, query: { expand: "maker" } })
    }))

  it.effect("takes embedded documents without the fields that the caller may not see", () =>
    Effect.gen(function*() {
      const guarded = KernelEngine.make("guarded")
        .register(Resource.make(Maker, { methods }).require(Anonymous), { urlBase: "/" })
        .register(Resource.make(Part, { methods }).grant(Anonymous, { methods, hide: ["secret"] }), { urlBase: "/" })
        .register(Resource.make(Machine, { methods }).require(Anonymous), { urlBase: "/" })
        .enableSecurity()
      const { client } = yield* guarded.test()
      const { result: part } = yield* client.parts.create({ payload: {} })
      const { result: maker } = yield* client.makers.create({ payload: { name: "Ann", since: DateTime.nowUnsafe() } })
      const payload = { maker, inspector: null, parts: [{ part, count: 1 }] }
      const { result: id } = yield* client.machines.create({ payload })
      const { _embedded } = yield* client.machines.get({ params: { id }, query: { expand: "parts.part" } })
      assert.deepStrictEqual(_embedded?.["parts.part"]?.map(({ id, secret }) => [id, secret]), [[part, undefined]])
    }))
})
