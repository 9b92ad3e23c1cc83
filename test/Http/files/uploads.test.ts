/** Pictures among the files of documents: their sizes, and what they are kept without. */
import { assert, describe, it } from "@effect/vitest"
import {
  EmbeddedStore,
  FileStore,
  KernelClient,
  KernelEngine,
  Model,
  OpenApi,
  Repository,
  Resource,
  Validator
} from "appkernel"
import { DateTime, Effect, Layer, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import * as path from "node:path"
import { crc32 } from "node:zlib"
import sharp from "sharp"
import { runProgram } from "../../support/processes.ts"

const image = { thumbnail: { width: 20 }, square: { width: 10, height: 10, format: "png" } } as const

class Photo extends Model.Class<Photo>()("Photo", {
  id: Model.id({ prefix: "P" }),
  picture: Model.file({ image, maxSize: "1 MB" }).pipe(Model.optional),
  pages: Model.files({ image }),
  clean: Model.file({ stripMetadata: true, maxPixels: 1_000_000, maxSize: "100 MB" }).pipe(Model.optional),
  drawing: Model.file({ maxSize: "100 MB", image: { large: { width: 200, format: "png" } } }).pipe(Model.optional)
}) {}

const photos = Resource.make(Photo, { methods: ["GET", "POST", "PATCH", "DELETE"] })

const open = KernelEngine.make("photos").register(photos)

const started = Effect.gen(function*() {
  const files = yield* FileStore.makeMemory
  const store = Layer.merge(EmbeddedStore.layerMemory, Layer.succeed(FileStore.FileStore, files))
  const service = yield* open.test({ store })
  const call = callerOf(service.baseUrl)
  const { json } = yield* call("POST", "", JSON.stringify({}), "application/json")
  const count = Effect.map(Stream.runCollect(files.entries), ({ length }) => length)
  return { ...service, call, files, count, id: String(json.result) }
})

const callerOf = (baseUrl: string, headers: Record<string, string> = {}, resource = "/photos") =>
(
  method: string,
  at: string,
  body?: NonNullable<RequestInit["body"]>,
  type?: string,
  more: Record<string, string> = {}
) =>
  Effect.promise(async () => {
    const response = await fetch(at.startsWith(resource) ? baseUrl + at : `${baseUrl}${resource}${at}`, {
      method,
      ...body === undefined ? {} : { body },
      headers: { ...headers, ...more, ...type === undefined ? {} : { "content-type": type } }
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    const json = response.headers.get("content-type")?.includes("json") ? JSON.parse(bytes.toString()) : undefined
    return { status: response.status, headers: response.headers, bytes, json }
  })

const drawn = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: { r: 200, g: 30, b: 30 } } })

/** A picture as a camera writes it: lying on its side, with the place. */
const photographed = Effect.promise(() =>
  drawn(60, 40).jpeg().withExif({ IFD0: { Make: "Camera" }, IFD3: { GPSLatitude: "46/1 34/1 0/1" } })
    .withMetadata({ orientation: 6 })
    .toBuffer()
)

const animated = Effect.promise(async () => {
  const frames = await Promise.all(
    ["red", "blue"].map((background) =>
      sharp({ create: { width: 60, height: 40, channels: 3, background } }).png().toBuffer()
    )
  )
  return sharp(frames, { join: { animated: true } }).gif().toBuffer()
})

/** A PNG of few bytes that says that it has very many pixels. */
const bomb = (side: number): Buffer<ArrayBuffer> => {
  const chunk = (name: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(name), data])
    const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    crc.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, crc])
  }
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 6, 0, 0, 0])
  header.writeUInt32BE(side, 0)
  header.writeUInt32BE(side, 4)
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", header),
    chunk("IDAT", Buffer.from("789c030000000001", "hex")),
    chunk("IEND", Buffer.alloc(0))
  ])
}

describe("Files of documents", () => {
  it.effect("are removed by the null of a patch, where they are optional", () =>
    Effect.gen(function*() {
      const { call, id } = yield* started
      const patch = (body: object) => call("PATCH", `/${id}`, JSON.stringify(body), "application/json")
      yield* call("PUT", `/${id}/clean`, "kept", "text/plain")
      yield* call("POST", `/${id}/pages`, "kept", "text/plain")
      assert.strictEqual((yield* patch({ clean: { name: "other" }, pages: null })).status, 200)
      assert.strictEqual((yield* patch({ picture: null, pages: [] })).status, 200)
      const { json: kept } = yield* call("GET", `/${id}`)
      assert.deepStrictEqual([kept.clean.name, kept.pages.length], ["file", 1])
      assert.strictEqual((yield* patch({ clean: null })).status, 200)
      assert.strictEqual((yield* call("GET", `/${id}/clean`)).status, 404)
    }))

  it.effect("are as many in a list as its validator says, and leave nothing of one more", () =>
    Effect.gen(function*() {
      class Album extends Model.Class<Album>()("Album", {
        id: Model.id(),
        pages: Model.files().pipe(Validator.max(2))
      }) {}
      const files = yield* FileStore.makeMemory
      const { baseUrl } = yield* KernelEngine.make("albums").register(
        Resource.make(Album, { methods: ["GET", "POST", "PATCH"] })
      ).test({ store: Layer.merge(EmbeddedStore.layerMemory, Layer.succeed(FileStore.FileStore, files)) })
      const call = callerOf(baseUrl, {}, "/albums")
      const formOf = (count: number) => {
        const form = new FormData()
        for (let i = 0; i < count; i++) form.append("pages", new Blob(["a"]), `${i}.txt`)
        return form
      }
      assert.strictEqual((yield* call("POST", "", formOf(3))).status, 400)
      const { json: { result: id } } = yield* call("POST", "", formOf(2))
      const more = yield* call("POST", `/${id}/pages`, "b", "text/plain")
      assert.strictEqual(more.status, 400)
      assert.include(JSON.stringify(more.json), "must have at most 2 elements")
      assert.strictEqual((yield* Stream.runCollect(files.entries)).length, 2)
    }))
})

describe("Pictures", () => {
  it.effect("have their sizes below the file's address, the right way up and without what a camera writes into them", () =>
    Effect.gen(function*() {
      const { call, id } = yield* started
      const written = yield* call("PUT", `/${id}/picture`, yield* photographed, "image/jpeg", {
        "content-disposition": "attachment; filename=eiger.jpg"
      })
      assert.strictEqual(written.status, 200)
      const { json: { _links, picture } } = yield* call("GET", `/${id}`)
      assert.deepStrictEqual(_links.picture.sizes, ["thumbnail", "square"])
      assert.notProperty(_links.clean, "sizes")
      assert.strictEqual(picture.type, "image/jpeg")

      const small = yield* call("GET", `/${id}/picture?size=thumbnail`)
      const { exif, format, height, width } = yield* Effect.promise(() => sharp(small.bytes).metadata())
      assert.deepStrictEqual({ status: small.status, exif, format, height, width }, {
        status: 200,
        exif: undefined,
        format: "webp",
        width: 20,
        height: 30
      })
      assert.strictEqual(small.headers.get("content-type"), "image/webp")
      assert.strictEqual(small.headers.get("content-disposition"), "inline; filename=eiger.webp")
      const etag = small.headers.get("etag") ?? ""
      assert.notStrictEqual(etag, written.headers.get("etag"))
      const again = yield* call("GET", `/${id}/picture?size=thumbnail`, undefined, undefined, { "if-none-match": etag })
      assert.strictEqual(again.status, 304)
      const part = yield* call("GET", `/${id}/picture?size=thumbnail`, undefined, undefined, { range: "bytes=0-3" })
      assert.deepStrictEqual([part.status, part.bytes], [206, small.bytes.subarray(0, 4)])
      const square = yield* call("GET", `/${id}/picture?size=square`)
      const facts = yield* Effect.promise(() => sharp(square.bytes).metadata())
      assert.deepStrictEqual([facts.format, facts.width, facts.height], ["png", 10, 10])
      const whole = yield* call("GET", `/${id}/picture`)
      assert.strictEqual((yield* Effect.promise(() => sharp(whole.bytes).metadata())).orientation, 6)

      for (const wrong of ["?size=large", "?size=", "?thumb=a", "?size=square&size=thumbnail"]) {
        assert.strictEqual((yield* call("GET", `/${id}/picture${wrong}`)).status, 400, wrong)
      }
      assert.strictEqual((yield* call("GET", `/${id}/clean?size=thumbnail`)).status, 400)
      assert.strictEqual((yield* call("PUT", `/${id}/picture?size=square`, "a")).status, 400)
    }))

  it.effect("of lists and of forms have them as well, and they go with their files", () =>
    Effect.gen(function*() {
      const { call, count, runtime } = yield* withRuntime
      const form = new FormData()
      form.append("pages", new Blob([yield* photographed]), "1.jpg")
      form.append("pages", new Blob(["no picture"]), "2.txt")
      const { json: { result: id } } = yield* call("POST", "", form)
      const { json: { pages } } = yield* call("GET", `/${id}`)
      const at = `/${id}/pages/${pages[0].key}`
      assert.strictEqual((yield* call("GET", `${at}?size=thumbnail`)).status, 200)
      assert.strictEqual((yield* call("GET", `${at}?size=square`)).status, 200)
      assert.strictEqual((yield* call("GET", `/${id}/pages/${pages[1].key}?size=square`)).status, 404)
      assert.strictEqual(yield* count, 4)
      // They are those of a file that is there.
      yield* runtime(Repository.sweepFiles({ grace: "-1 seconds" }))
      assert.strictEqual(yield* count, 4)
      assert.strictEqual((yield* call("DELETE", at)).status, 200)
      yield* runtime(Repository.sweepFiles({ grace: "-1 seconds" }))
      assert.strictEqual(yield* count, 1)
    }))

  it.effect("of a model that has nothing else are those of their document, which no sweep removes", () =>
    Effect.gen(function*() {
      const { call, runtime } = yield* withRuntime
      const form = new FormData()
      form.append("clean", new Blob(["kept"]), "1.txt")
      const { json: { result: id } } = yield* call("POST", "", form)
      yield* runtime(Repository.sweepFiles({ grace: "-1 seconds" }))
      const { bytes, status } = yield* call("GET", `/${id}/clean`)
      assert.deepStrictEqual([status, bytes.toString()], [200, "kept"])
    }))

  it.effect("are made once, whether a write or fifty readers ask for them first", () =>
    Effect.gen(function*() {
      const { call, count, files, id, runtime } = yield* withRuntime
      // What code writes is made when somebody asks for it.
      const stored = yield* files.put(Stream.make(yield* photographed))
      yield* runtime(Effect.gen(function*() {
        const repository = yield* Repository.for(Photo)
        const picture = { ...stored, key: "k", name: "a.jpg", type: "image/jpeg", at: DateTime.makeUnsafe(0) }
        yield* repository.save(new Photo({ id, picture }))
      }))
      assert.strictEqual(yield* count, 1)
      const all = yield* Effect.forEach(
        Array.from({ length: 50 }),
        () => call("GET", `/${id}/picture?size=thumbnail`),
        { concurrency: 50 }
      )
      assert.deepStrictEqual(new Set(all.map(({ headers, status }) => `${status} ${headers.get("etag")}`)).size, 1)
      assert.strictEqual(yield* count, 2)
      // A copy of the documents need not have the bytes: then they are made again.
      const others = (yield* Stream.runCollect(files.entries)).filter((entry) => entry.id !== stored.id)
      yield* files.remove(others.map((entry) => entry.id))
      const anew = yield* call("GET", `/${id}/picture?size=thumbnail`)
      assert.deepStrictEqual([anew.status, anew.bytes], [200, all[0]!.bytes])
      assert.strictEqual(yield* count, 2)
    }))

  it.effect("that can't be read, or have too many pixels, have a clear answer", () =>
    Effect.gen(function*() {
      const { call, id } = yield* started
      const jpeg = yield* photographed
      const cmyk = yield* Effect.promise(() => drawn(60, 40).toColourspace("cmyk").jpeg().toBuffer())
      const gray = yield* Effect.promise(() => drawn(60, 40).toColourspace("b-w").png({ palette: true }).toBuffer())
      const cases: ReadonlyArray<readonly [name: string, bytes: Buffer, picture: number, clean: number]> = [
        ["photograph", jpeg, 200, 200],
        ["CMYK", cmyk, 200, 200],
        ["gray", gray, 200, 200],
        ["animation", yield* animated, 200, 200],
        ["cut", jpeg.subarray(0, 200), 404, 422],
        ["bomb", bomb(60_000), 404, 413],
        ["nothing", Buffer.alloc(0), 404, 200],
        ["text", Buffer.from("no picture"), 404, 200],
        ["svg", Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"), 404, 415],
        ["head of a JPEG", Buffer.from("ffd8ffe000104a464946", "hex"), 404, 422]
      ]
      const found = yield* Effect.forEach(cases, ([name, bytes]) =>
        Effect.gen(function*() {
          assert.strictEqual((yield* call("PUT", `/${id}/picture`, Buffer.from(bytes))).status, 200, name)
          const { json, status } = yield* call("GET", `/${id}/picture?size=thumbnail`)
          if (status === 404) assert.match(json.message, /picture/u)
          // What is known is not tried again, and told alike.
          assert.strictEqual((yield* call("GET", `/${id}/picture?size=thumbnail`)).status, status)
          assert.strictEqual((yield* call("GET", `/${id}/picture`)).status, 200)
          return [name, status, (yield* call("PUT", `/${id}/clean`, Buffer.from(bytes))).status] as const
        }))
      assert.deepStrictEqual(found, cases.map(([name, , picture, clean]) => [name, picture, clean]))
    }))

  it.effect("are kept without metadata where the field says so, and show what they showed", () =>
    Effect.gen(function*() {
      const { call, id } = yield* started
      yield* call("PUT", `/${id}/clean`, yield* photographed)
      const { bytes, headers } = yield* call("GET", `/${id}/clean`)
      const { exif, format, height, orientation, width } = yield* Effect.promise(() => sharp(bytes).metadata())
      assert.deepStrictEqual({ exif, format, height, orientation, width }, {
        exif: undefined,
        format: "jpeg",
        width: 40,
        height: 60,
        orientation: undefined
      })
      assert.notInclude(bytes.toString("latin1"), "Camera")
      const { json: { clean } } = yield* call("GET", `/${id}`)
      assert.deepStrictEqual([clean.size, `"${clean.sha256}"`], [bytes.length, headers.get("etag")])
      yield* call("PUT", `/${id}/clean`, yield* animated)
      const moving = yield* call("GET", `/${id}/clean`)
      assert.strictEqual((yield* Effect.promise(() => sharp(moving.bytes).metadata())).pages, 2)
      const tiff = yield* Effect.promise(() => drawn(6, 4).tiff().toBuffer())
      assert.strictEqual((yield* call("PUT", `/${id}/clean`, tiff)).status, 415)
    }))

  it.effect("keep all of their colours where they had lost none", () =>
    Effect.gen(function*() {
      const { call, id } = yield* started
      const side = 64
      const pixels = Buffer.from(
        Array.from({ length: side * side }, (_, i) => [i % side * 4, Math.floor(i / side) * 4, i % 251]).flat()
      )
      const raw = () => sharp(pixels, { raw: { width: side, height: side, channels: 3 } })
      const coloursOf = (bytes: Buffer) =>
        Effect.promise(async () => {
          const decoded = await sharp(bytes).removeAlpha().raw().toBuffer()
          return new Set(Array.from({ length: decoded.length / 3 }, (_, i) => decoded.readUIntBE(i * 3, 3))).size
        })
      const png = yield* Effect.promise(() => raw().png().toBuffer())
      const webp = yield* Effect.promise(() => raw().webp({ lossless: true }).toBuffer())
      for (const bytes of [png, webp]) {
        yield* call("PUT", `/${id}/clean`, Buffer.from(bytes))
        assert.strictEqual(yield* coloursOf((yield* call("GET", `/${id}/clean`)).bytes), side * side)
      }
      yield* call("PUT", `/${id}/drawing`, Buffer.from(png))
      const large = yield* call("GET", `/${id}/drawing?size=large`)
      assert.strictEqual(yield* coloursOf(large.bytes), side * side)
    }))

  it.effect("keep the 16 bits of their colours", () =>
    Effect.gen(function*() {
      const { call, id } = yield* started
      const [side, colours] = [32, [1, 3] as const]
      for (const channels of colours) {
        const values = Uint16Array.from({ length: side * side * channels }, (_, i) => i * 61 % 65_536)
        const space = channels === 1 ? "grey16" : "rgb16"
        const png = yield* Effect.promise(() =>
          sharp(values, { raw: { width: side, height: side, channels } }).toColourspace(space).png().toBuffer()
        )
        const read = (bytes: Buffer) =>
          Effect.promise(async () => {
            const picture = sharp(bytes)
            const { depth } = await picture.metadata()
            return [depth, (await picture.toColourspace(space).raw({ depth: "ushort" }).toBuffer()).toString("hex")]
          })
        assert.strictEqual((yield* call("PUT", `/${id}/clean`, Buffer.from(png))).status, 200)
        const cleaned = yield* read((yield* call("GET", `/${id}/clean`)).bytes)
        assert.deepStrictEqual(cleaned, yield* read(png))
        assert.strictEqual(cleaned[0], "ushort")
      }
    }))

  it.effect("are not read where their files are too large", () =>
    Effect.gen(function*() {
      const { call, count, id } = yield* started
      const picture = yield* Effect.promise(() => drawn(6, 4).png().toBuffer())
      // What follows the end of a PNG is no part of it.
      const large = Buffer.concat([picture, Buffer.alloc(64 * 1024 * 1024)])
      const refused = yield* call("PUT", `/${id}/clean`, large)
      assert.deepStrictEqual([refused.status, yield* count], [413, 0])
      assert.strictEqual((yield* call("PUT", `/${id}/drawing`, large)).status, 200)
      assert.strictEqual((yield* call("GET", `/${id}/drawing?size=large`)).status, 404)
    }), 60_000)

  it.effect("don't wait for those who send theirs slowly", () =>
    Effect.gen(function*() {
      const { baseUrl, call, id } = yield* started
      const picture = yield* photographed
      const stop = new AbortController()
      const stalled = Effect.promise(() =>
        new Promise<{ readonly sent: Promise<unknown> }>((resolve) => {
          let pieces = 0
          const body = new ReadableStream<Uint8Array>({
            pull: (controller) => {
              if (pieces++ < 16) return controller.enqueue(pieces === 1 ? picture : new Uint8Array(1024 * 1024))
              // More than connections hold: the server reads it.
              resolve({ sent })
              return new Promise(() => {})
            }
          })
          const request: RequestInit & { readonly duplex: "half" } = {
            method: "PUT",
            body,
            duplex: "half",
            signal: stop.signal
          }
          const sent: Promise<unknown> = fetch(`${baseUrl}/photos/${id}/clean`, request).catch(() => {})
        })
      )
      const first = yield* stalled
      const second = yield* stalled
      assert.strictEqual((yield* call("PUT", `/${id}/picture`, Buffer.from(picture))).status, 200)
      assert.strictEqual((yield* call("GET", `/${id}/picture?size=thumbnail`)).status, 200)
      assert.strictEqual((yield* call("PUT", `/${id}/clean`, Buffer.from(picture))).status, 200)
      assert.strictEqual((yield* call("GET", `/${id}/picture?size=square`)).status, 200)
      stop.abort()
      yield* Effect.promise(() => Promise.all([first.sent, second.sent]))
    }), 60_000)

  it.effect("are seen by who sees the file, also at a signed address", () =>
    Effect.gen(function*() {
      const { call, id } = yield* started
      yield* call("PUT", `/${id}/picture`, yield* photographed)
      const { json: { href } } = yield* call("POST", `/${id}/picture/address`)
      assert.strictEqual((yield* call("GET", `${href}?size=square`)).headers.get("content-type"), "image/png")
      assert.strictEqual((yield* call("GET", `${href}?size=none`)).status, 400)
    }))

  it.effect("are described, and read by the typed client", () =>
    Effect.gen(function*() {
      const { baseUrl, call, id } = yield* started
      yield* call("PUT", `/${id}/picture`, yield* photographed)
      const files = yield* KernelClient.files(open, "photos", { baseUrl })
      const get = (size?: string) =>
        files.picture.get({ params: { id }, ...size === undefined ? {} : { query: { size } } })
      const small = Buffer.concat(yield* Stream.runCollect(yield* get("square")))
      assert.strictEqual((yield* Effect.promise(() => sharp(small).metadata())).width, 10)
      const whole = Buffer.concat(yield* Stream.runCollect(yield* get()))
      assert.deepStrictEqual(whole, yield* photographed)
      assert.strictEqual((yield* Effect.flip(get("huge")))._tag, "SchemaError")
      for (const id of ["", "..", "."]) {
        assert.strictEqual((yield* Effect.flip(files.picture.get({ params: { id } })))._tag, "HttpClientError")
      }
      const { components, paths } = OpenApi.make(open, { title: "Photos", version: "1" })
      const { parameters, responses } = Object(paths["/photos/{id}/picture"]?.["get"])
      assert.deepStrictEqual(parameters[1], { $ref: "#/components/parameters/size" })
      assert.deepInclude(Object(components)["parameters"].size, {
        name: "size",
        in: "query",
        schema: { type: "string", enum: ["thumbnail", "square"] }
      })
      assert.containsAllKeys(responses["200"].content, ["image/webp", "image/png"])
    }).pipe(Effect.provide(FetchHttpClient.layer)))

  it.effect("need a package, which is named at the start where it is missing", () =>
    Effect.gen(function*() {
      const program = yield* runProgram(path.join(import.meta.dirname, "../../support/noSharpProgram.ts"), {})
      assert.strictEqual(yield* program.ended, 0, program.output())
      assert.include(
        program.output(),
        "The registration \"photos\" can't be served: the pictures of Photo.picture need the package sharp: npm install sharp"
      )
    }), 60_000)
})

/** A service, and what runs with its stores. */
const withRuntime = Effect.gen(function*() {
  const files = yield* FileStore.makeMemory
  const stores = yield* Layer.build(
    Layer.merge(EmbeddedStore.layerMemory, Layer.succeed(FileStore.FileStore, files))
  )
  const { baseUrl } = yield* open.test({ store: Layer.succeedContext(stores) })
  const call = callerOf(baseUrl)
  const { json } = yield* call("POST", "", JSON.stringify({}), "application/json")
  const runtime = <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof layer>>) => Effect.provide(effect, layer)
  const layer = Repository.layer(Photo).pipe(Layer.provideMerge(Layer.succeedContext(stores)))
  const count = Effect.map(Stream.runCollect(files.entries), ({ length }) => length)
  return { call, count, files, id: String(json.result), runtime }
})
