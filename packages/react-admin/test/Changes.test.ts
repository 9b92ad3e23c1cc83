/** What the providers do with the changes of several collections, of which the service refuses one. */
import { type Change, connect, KernelError } from "@appkernel/react-admin"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { EmbeddedStore, KernelEngine, Model, Resource } from "../../../src/index.ts"

class Cat extends Model.Class<Cat>()("Cat", { id: Model.id(), name: Schema.String }, { logged: true }) {}
class Dog extends Model.Class<Dog>()("Dog", { id: Model.id(), name: Schema.String }, { logged: true }) {}
class Fox extends Model.Class<Fox>()("Fox", { id: Model.id(), name: Schema.String }, { logged: true }) {}

const methods = ["GET", "POST"] as const

// No stream goes around a hook of reads.
const engine = KernelEngine.make("animals")
  .register(Resource.make(Cat, { methods }))
  .register(Resource.make(Dog, { methods }).afterGet(() => Effect.void))
  .register(Resource.make(Fox, { methods }))
  .enableOpenApi({ title: "Animals", version: "1.0.0" })

describe("Changes of several collections", () => {
  it.live("are followed although the service refuses those of one", () =>
    Effect.gen(function*() {
      const { baseUrl, client } = yield* engine.test({ store: Layer.fresh(EmbeddedStore.layerMemory) })
      const asked: Array<string | null> = []
      const { dataProvider } = connect({
        url: baseUrl,
        fetch: (...request) => {
          const { pathname, searchParams } = new URL(new Request(...request).url)
          if (pathname === "/changes" && searchParams.has("live")) asked.push(searchParams.get("watch"))
          return fetch(...request)
        }
      })
      const told: Array<Change["resource"]> = []
      const refusals: Array<unknown> = []
      const stopped = new AbortController()
      yield* Effect.promise(() =>
        new Promise<void>((resolve) => {
          const stop = dataProvider.watchMany(["cats", "dogs", "foxes"], ({ resource }) => {
            told.push(resource)
            if (told.length === 2) stopped.abort()
          }, {
            onConnection: (isConnected) => isConnected && resolve(),
            onEnd: (error) => refusals.push(error)
          })
          stopped.signal.addEventListener("abort", stop)
        })
      )
      yield* client.cats.create({ payload: { name: "Tom" } })
      yield* client.dogs.create({ payload: { name: "Rex" } })
      yield* client.foxes.create({ payload: { name: "Rey" } })
      yield* Effect.promise(() =>
        new Promise<void>((resolve) => {
          if (stopped.signal.aborted) resolve()
          else stopped.signal.addEventListener("abort", () => resolve())
        })
      )
      assert.deepStrictEqual(told, ["cats", "foxes"])
      assert.deepStrictEqual(asked, ["cats,dogs,foxes", "cats,foxes"])
      assert.deepStrictEqual(
        refusals.map((error) => error instanceof KernelError ? error.status : error),
        [501]
      )
    }))
})
