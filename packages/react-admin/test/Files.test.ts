/** What the providers do with files that two people write. */
import { connect, KernelConflict } from "@appkernel/react-admin"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { EmbeddedStore, FileStore, KernelEngine, Model, Resource } from "../../../src/index.ts"

class Poster extends Model.Class<Poster>()("Poster", {
  id: Model.id({ prefix: "O" }),
  name: Schema.String,
  sheet: Model.file({ maxSize: "1 kB" }).pipe(Model.optional),
  ...Model.versioned
}) {}

const engine = KernelEngine.make("posters")
  .register(Resource.make(Poster, { methods: ["GET", "POST", "PATCH"] }))
  .enableOpenApi({ title: "Posters", version: "1.0.0" })

const file = (text: string) => new File([text], `${text}.txt`, { type: "text/plain" })

const failureOf = (promise: Promise<unknown>) =>
  promise.then(() => Promise.reject(new Error("It did not fail")), (error: unknown) => error)

describe("Files of the providers", () => {
  it.effect("take the place of no other one than that which was seen, of two editors", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* engine.test({ store: Layer.merge(EmbeddedStore.layerMemory, FileStore.layerMemory) })
      const [one, other] = [connect({ url: baseUrl }).dataProvider, connect({ url: baseUrl }).dataProvider]
      const contentOf = async (id: string | number) => (await fetch(`${baseUrl}/posters/${String(id)}/sheet`)).text()
      yield* Effect.promise(async () => {
        const { data: { id } } = await one.create("posters", { data: { name: "Spring" } })
        const { data: empty } = await one.getOne("posters", { id })
        const write = (provider: typeof one, previousData: { readonly [field: string]: unknown }, sheet: unknown) =>
          provider.update("posters", { id, data: { ...previousData, sheet }, previousData })

        const { data: first } = await write(other, empty, file("first"))
        const late = await failureOf(write(one, empty, file("late")))
        assert.instanceOf(late, KernelConflict)
        assert.deepStrictEqual(late.current?.["sheet"], first["sheet"])
        assert.strictEqual(await contentOf(id), "first")

        const { data: second } = await write(other, first, file("second"))
        for (const sheet of [file("late"), null]) {
          assert.instanceOf(await failureOf(write(one, first, sheet)), KernelConflict)
        }
        assert.strictEqual(await contentOf(id), "second")

        // Who has seen it takes its place.
        const { data: third } = await write(one, second, file("third"))
        assert.strictEqual(await contentOf(id), "third")
        const { data: last } = await write(other, third, null)
        assert.notProperty(last, "sheet")
      })
    }))
})
