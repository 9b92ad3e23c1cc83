/** A patch that replaces whole fields without reading the document does what one does that reads it. */
import { assert, it } from "@effect/vitest"
import { Arbitrary, Effect, Exit, Layer, Result, Schema } from "effect"
import { inspect } from "node:util"
import { DocumentStore, Index, Model, Repository } from "../../../src/index.ts"
import { documentOperationsOf } from "../../../src/Repository/internal.ts"
import { type Kind, kinds } from "../../support/everyKind.ts"
import { recordedStore } from "../../support/recordedStore.ts"
import { embeddedStores } from "../../support/storeMatrix.ts"

const runs = Number(process.env["KIND_RUNS"] ?? 2)

const upperCase = (text: string) => Effect.succeed(text.toUpperCase())

const modelOf = (name: string, { schema }: Kind) =>
  class extends Model.Class<{ readonly id: string; readonly value: unknown }>()(`Patched${name}`, {
    id: Model.id(),
    value: schema,
    code: Schema.String.check(Schema.isMaxLength(3)).pipe(Model.converted(upperCase), Model.optional),
    note: Schema.String.pipe(Model.optional)
  }) {}

const models = Object.entries(kinds).map(([name, kind]) => ({ name, schema: kind.schema, model: modelOf(name, kind) }))

class Meter extends Model.Class<Meter>()("Meter", {
  id: Model.id(),
  a: Schema.Int,
  b: Schema.Int,
  code: Schema.String.pipe(Model.optional)
}, { indexes: [Index.compound({ code: 1 }, { unique: true, sparse: true })] }) {}

/** The result of a write, and what is stored then, for any identifier. */
const outcome = (id: string, written: Effect.Effect<DocumentStore.Document, unknown>, collection: string) =>
  Effect.gen(function*() {
    const store = yield* DocumentStore.DocumentStore
    const exit = yield* Effect.exit(written)
    const [stored] = yield* store.find(collection, { filter: { _id: id } })
    return inspect(Exit.isSuccess(exit) ? { document: exit.value, stored } : { failure: exit.cause, stored }, {
      depth: 9,
      sorted: true
    }).replace(/\n\s+at .*/gu, "").replaceAll(id, "ID")
  })

class Kept extends Model.Class<Kept>()("Kept", { id: Model.id(), a: Schema.Int, b: Schema.Int, ...Model.audited }) {}

embeddedStores((store, layer) => {
  it.effect(`a replacement of what another has changed ends, also of a document from before its audit fields / ${store}`, () =>
    Effect.gen(function*() {
      const all = yield* Repository.make(Kept)
      const documents = documentOperationsOf(all)
      yield* (yield* DocumentStore.DocumentStore).insertOne("Kept", { _id: "K1", a: 1, b: 1 })
      const document = (yield* documents.findById("K1"))!
      yield* all.patch("K1", { b: 2 })
      const next = new Kept({ id: "K1", a: 5, b: 1 })
      const error = yield* Effect.flip(documents.replace(next, { document, fields: ["b"], filters: undefined }))
      assert.strictEqual(error._tag, "VersionConflict")
    }).pipe(Effect.provide(layer)))

  it.layer(
    Layer.mergeAll(Layer.empty, ...models.map(({ model }) => Repository.layer(model))).pipe(Layer.provideMerge(layer)),
    { excludeTestServices: true }
  )(`patches of any field / ${store}`, (it) => {
    for (const { model, name, schema } of models) {
      // Fields are plain codecs.
      const values = Arbitrary.schema(Schema.toType(schema as unknown as Schema.Codec<unknown>))
      const wrong = Arbitrary.schema(Schema.Union([Schema.Json, Schema.Undefined]))
      const sent = Arbitrary.schema(Schema.Struct({
        code: Schema.optionalKey(Schema.NullOr(Schema.Literals(["a", "abc", "abcd"]))),
        note: Schema.optionalKey(Schema.Union([Schema.NullOr(Schema.String), Schema.Int]))
      }))
      it.effect.prop(
        `${name}: without reading the document as with it`,
        [values, values, wrong, sent],
        ([before, after, none, others]) =>
          Effect.gen(function*() {
            const repository = yield* Repository.for(model)
            const { patch } = documentOperationsOf(repository)
            const { modelName } = model
            for (const value of [after, none]) {
              for (const changes of [{ value }, { value, ...others }, others]) {
                const results = []
                for (const [id, check] of [["the-1st", undefined], ["the-2nd", () => Effect.void]] as const) {
                  const given = yield* Effect.result(Model.finalise(model, { id, value: before, note: "is" }))
                  if (Result.isFailure(given)) return
                  // Some values can't be stored.
                  if (Exit.isFailure(yield* Effect.exit(repository.save(given.success)))) return
                  results.push(yield* outcome(id, patch(id, changes, check), modelName))
                }
                assert.strictEqual(results[0], results[1])
              }
            }
            const missing = yield* Effect.flip(patch("none", { value: after }))
            assert.strictEqual(missing._tag, "DocumentNotFound")
          }),
        { arbitrary: { runs } }
      )
    }
  })

  it.effect(`a patch of whole fields is one operation of the store, beside many writers / ${store}`, () =>
    Effect.gen(function*() {
      const { calls, store } = recordedStore(yield* DocumentStore.DocumentStore)
      const run = Effect.gen(function*() {
        const meters = yield* Repository.for(Meter)
        yield* meters.insert(new Meter({ id: "m", a: 0, b: 0, code: "first" }))
        yield* meters.insert(new Meter({ id: "n", a: 0, b: 0, code: "second" }))
        calls.splice(0)
        assert.deepInclude(yield* meters.patch("m", { a: 1 }), { a: 1, b: 0 })
        assert.deepStrictEqual(calls.splice(0).map(({ name }) => name), ["findOneAndUpdate"])
        // 500 writers of two fields: none of them meets another, and none is lost.
        yield* Effect.forEach(
          Array.from({ length: 500 }, (_, i) => i),
          (i) => meters.patch("m", i % 2 === 0 ? { a: i } : { b: i }),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(calls.splice(0), 500)
        assert.deepInclude(yield* meters.findById("m"), { a: 498, b: 499, code: "first" })
        const taken = yield* Effect.flip(meters.patch("n", { code: "first" }))
        assert.strictEqual(taken._tag, "DuplicateKey")
      })
      yield* run.pipe(
        Effect.provide(Layer.provide(Repository.layer(Meter), Layer.succeed(DocumentStore.DocumentStore, store)))
      )
    }).pipe(Effect.provide(layer)))
})
