/** What the providers do with the changes of several collections, of which the service refuses one. */
import { type Change, connect, KernelError } from "@appkernel/react-admin"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { EmbeddedStore, KernelEngine, Model, Resource } from "../../../src/index.ts"

class Cat extends Model.Class<Cat>()("Cat", { id: Model.id(), name: Schema.String }, { logged: true }) {}
class Dog extends Model.Class<Dog>()("Dog", { id: Model.id(), name: Schema.String }, { logged: true }) {}
class Fox extends Model.Class<Fox>()("Fox", { id: Model.id(), name: Schema.String }, { logged: true }) {}

const methods = ["GET", "POST"] as const

class Seat extends Model.Class<Seat>()("Seat", { id: Schema.Int, row: Schema.String }, { logged: true }) {}

const seats = KernelEngine.make("seats")
  .register(Resource.make(Seat, { methods: ["GET", "POST", "DELETE"] }))
  .enableOpenApi({ title: "Seats", version: "1.0.0" })

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

  it.live("tell identifiers as documents have them, also those of deleted documents", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* seats.test({ store: Layer.fresh(EmbeddedStore.layerMemory) })
      const { dataProvider } = connect({ url: baseUrl })
      const told: Array<unknown> = []
      const follow = (
        watch: (onChange: (change: Change) => void, onConnection: (is: boolean) => void) => () => void
      ) => {
        const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
        const stop = watch(({ id, operation }) => {
          told.push([operation, id])
          if (operation === "delete") ended.resolve()
        }, (is) => is && begun.resolve())
        return { begun: begun.promise, ended: ended.promise.finally(stop) }
      }
      yield* Effect.promise(async () => {
        const streams = [
          follow((onChange, onConnection) => dataProvider.watch("seats", onChange, { onConnection })),
          follow((onChange, onConnection) => dataProvider.watchMany(["seats"], onChange, { onConnection }))
        ]
        await Promise.all(streams.map(({ begun }) => begun))
        await dataProvider.create("seats", { data: { id: 12, row: "a" } })
        await dataProvider.delete("seats", { id: 12 })
        await Promise.all(streams.map(({ ended }) => ended))
      })
      assert.sameDeepMembers(told, [["insert", 12], ["insert", 12], ["delete", 12], ["delete", 12]])
    }))

  /** The ages, in minutes, of the times since which the latest changes are asked for, and how many are told. */
  const latestOf = Effect.fnUntraced(function*(answerOf: (minutes: number, answer: Response) => Response) {
    const { baseUrl, client } = yield* engine.test({ store: Layer.fresh(EmbeddedStore.layerMemory) })
    for (const name of ["Tom", "Kit", "Leo"]) yield* client.cats.create({ payload: { name } })
    const asked: Array<number> = []
    const { dataProvider } = connect({
      url: baseUrl,
      fetch: async (...request) => {
        const { searchParams } = new URL(new Request(...request).url)
        const answer = await fetch(...request)
        const time = Date.parse(searchParams.get("offset") ?? "")
        if (Number.isNaN(time)) return answer
        asked.push(Math.round((Date.now() - time) / 60_000))
        return answerOf(asked.at(-1)!, answer)
      }
    })
    let told = 0
    yield* Effect.promise(() =>
      new Promise<void>((resolve) => {
        const stop = dataProvider.watchMany(["cats"], () => void told++, {
          latest: 5,
          onConnection: (isConnected) => {
            if (!isConnected) return
            stop()
            resolve()
          }
        })
      })
    )
    return { asked, told }
  })

  it.live("begin with those of a shorter time where a longer one has more than an answer holds", () =>
    Effect.gen(function*() {
      const latest = yield* latestOf((minutes, answer) => {
        const headers = new Headers(answer.headers)
        if (minutes >= 60) headers.delete("stream-up-to-date")
        return new Response(answer.body, { headers })
      })
      assert.deepStrictEqual(latest, { asked: [1_440, 60, 1], told: 3 })
    }))

  it.live("begin with those of a shorter time where the service fails to read a longer one", () =>
    Effect.gen(function*() {
      const latest = yield* latestOf((minutes, answer) => minutes > 60 ? new Response("", { status: 504 }) : answer)
      assert.deepStrictEqual(latest, { asked: [1_440, 60], told: 3 })
    }))
})
