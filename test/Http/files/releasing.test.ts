/** The memory of the pieces of files: given back where nobody else has them, and never to be missed. */
import { NodeHttpServerRequest } from "@effect/platform-node"
import { assert, describe, it, vi } from "@effect/vitest"
import { EmbeddedStore, FileStore, KernelEngine, Model } from "appkernel"
import { Effect, Layer, Schema, Stream } from "effect"
import { HttpBody, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { randomBytes } from "node:crypto"
import { hasOwnPieces, release, withOwnPieces } from "../../../src/internal/ownPieces.ts"
import { freshDirectory } from "../../support/folders.ts"

class Film extends Model.Class<Film>()("Film", {
  id: Model.id({ prefix: "F" }),
  film: Model.file({ maxSize: "100 MB" }).pipe(Model.optional)
}) {}

const engine = KernelEngine.make("films").register(Film, { methods: ["GET", "POST", "PATCH"] })

const startedWith = Effect.fnUntraced(function*(served: typeof engine) {
  const folder = yield* freshDirectory
  const files = yield* FileStore.makeFolder(folder)
  const store = Layer.merge(EmbeddedStore.layerMemory, Layer.succeed(FileStore.FileStore, files))
  const { baseUrl } = yield* served.test({ store })
  const call = (path: string, options: RequestInit) =>
    Effect.promise(async () => {
      const response = await fetch(`${baseUrl}/films${path}`, options)
      const bytes = Buffer.from(await response.arrayBuffer())
      assert.isBelow(response.status, 300, bytes.subarray(0, 200).toString())
      return bytes
    })
  const create = Effect.map(
    call("", { method: "POST", body: "{}", headers: { "content-type": "application/json" } }),
    (bytes) => String(JSON.parse(bytes.toString()).result)
  )
  return { call, create, files }
})

/** How often memory is given back while an effect runs. */
const released = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<number, E, R> =>
  Effect.suspend(() => {
    const transfer = vi.spyOn(ArrayBuffer.prototype, "transfer")
    return effect.pipe(
      Effect.map(() => transfer.mock.calls.length),
      Effect.ensuring(Effect.sync(() => transfer.mockRestore()))
    )
  })

describe("The pieces of files", () => {
  it.effect("go back as they are written and sent, and many callers at once get what they sent", () =>
    Effect.gen(function*() {
      const { call, create } = yield* startedWith(engine)
      const moved = Effect.gen(function*() {
        const id = yield* create
        const film = randomBytes(3_000_000)
        const form = new FormData()
        form.set("film", new Blob([film]), "film.bin")
        const raw = { body: film, headers: { "content-type": "application/octet-stream" } }
        yield* call(`/${id}/film`, { method: "PUT", ...film[0]! % 2 === 0 ? raw : { body: form } })
        assert.isTrue(film.equals(yield* call(`/${id}/film`, {})))
        const [range, ranges] = yield* Effect.forEach(
          ["bytes=70000-2999990", "bytes=0-99999,2000000-2300000"],
          (range) => call(`/${id}/film`, { headers: { range } })
        )
        assert.isTrue(film.subarray(70_000, 2_999_991).equals(range!))
        assert.isAbove(ranges!.indexOf(film.subarray(2_000_000, 2_300_001)), 0)
      })
      const count = yield* released(Effect.all(Array.from({ length: 20 }, () => moved), { concurrency: "unbounded" }))
      // An upload has 45 pieces or more, and a download 11 before its last.
      assert.isAbove(count, 20 * (35 + 2 * 8))
    }).pipe(Effect.scoped))

  it.effect("stay with a middleware that keeps them", () =>
    Effect.gen(function*() {
      const kept: Array<Uint8Array> = []
      const keeping = HttpRouter.middleware((handler) =>
        Effect.map(handler, (response) =>
          response.body._tag !== "Stream" ? response : HttpServerResponse.setBody(
            response,
            HttpBody.stream(
              Stream.map(response.body.stream, (piece) => {
                kept.push(piece)
                return piece
              }),
              response.body.contentType,
              response.body.contentLength
            )
          )), { global: true })
      const sent: Array<Buffer> = []
      const listening = HttpRouter.middleware((handler) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
          NodeHttpServerRequest.toIncomingMessage(request).on("data", (piece: Buffer) =>
            sent.push(piece))
          return handler
        }), { global: true })
      const { call, create } = yield* startedWith(engine.use(keeping).use(listening))
      const id = yield* create
      const film = randomBytes(3_000_000)
      sent.length = 0
      yield* call(`/${id}/film`, { method: "PUT", body: film })
      assert.isTrue(film.equals(Buffer.concat(sent)))
      assert.isTrue(film.equals(yield* call(`/${id}/film`, {})))
      assert.isTrue(film.equals(Buffer.concat(kept)))
    }).pipe(Effect.scoped))

  it.effect.prop(
    "stay with who puts them into a folder, unless they say otherwise",
    [Sizes, Schema.Boolean],
    ([sizes, isOwn]) =>
      Effect.gen(function*() {
        const files = yield* Effect.flatMap(freshDirectory, FileStore.makeFolder)
        const pieces = sizes.map((size) => randomBytes(size))
        const all = Buffer.concat(pieces)
        const content = Stream.fromArray(pieces)
        const { id } = yield* files.put(isOwn ? withOwnPieces(content) : content)
        const read = files.read(id)
        assert.isTrue(hasOwnPieces(read))
        assert.isTrue(all.equals(Buffer.concat(yield* Stream.runCollect(read))))
        assert.isTrue(isOwn ? pieces.every(({ length }) => length === 0) : all.equals(Buffer.concat(pieces)))
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 20 } }
  )

  it("stay where they are a part of larger memory", () => {
    const whole = new Uint8Array(100_000).fill(7)
    const [head, tail, shared] = [whole.subarray(0, 5), whole.subarray(5), new Uint8Array(new SharedArrayBuffer(9))]
    for (const piece of [head, tail, shared, new Uint8Array(0)]) release(piece)
    assert.deepStrictEqual([head.length, tail.length, shared.length], [5, 99_995, 9])
    release(whole)
    release(whole)
    assert.deepStrictEqual([whole.length, head.length], [0, 0])
  })
})

const Sizes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 })))
