/** Bodies that are not as long as their responses say: what the client reads next must not be taken for their rest. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, References, Schema, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { readdirSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Anonymous, EmbeddedStore, FileStore, KernelEngine, Model, Raw, Service } from "../../../src/index.ts"
import { freshDirectory } from "../../support/folders.ts"
import { send, sendBytes, serving } from "../../support/rest.ts"

class Picture extends Model.Class<Picture>()("Picture", {
  id: Model.id({ prefix: "P" }),
  file: Model.file({ types: ["text/plain"] }).pipe(Model.optional)
}) {}

const forged = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil"

const stream = (contentLength: number, ...pieces: ReadonlyArray<string>) =>
  HttpServerResponse.stream(Stream.encodeText(Stream.rechunk(Stream.fromIterable(pieces), 1)), {
    contentType: "text/plain",
    contentLength
  })

const raw = (body: unknown) => HttpServerResponse.raw(body, { contentType: "text/plain", contentLength: 3 })

const answers = {
  "a stream that ends early": stream(10, "abc"),
  "a stream without a byte": stream(10),
  "a stream that goes on": stream(3, "abc", forged),
  "bytes that are too many": raw(Buffer.from(`abc${forged}`)),
  "bytes that are too few": raw(Buffer.from("a")),
  "a text that is too long": raw(`abc${forged}`),
  "a text that is too short": raw("a"),
  "a response of the web": HttpServerResponse.fromWeb(
    new Response("é".repeat(10), { headers: { "content-type": "text/plain", "content-length": "3" } })
  )
}

const responses: ReadonlyMap<string, HttpServerResponse.HttpServerResponse> = new Map(Object.entries(answers))

const Answers = Service.make("answers").operation(
  "one",
  { query: { title: Schema.String }, success: Raw.response({ contentType: "text/plain" }), require: Anonymous },
  ({ query }) => Effect.succeed(responses.get(query.title) ?? HttpServerResponse.empty())
)

const logged: Array<string> = []

const collector = Logger.layer([Logger.make(({ cause, message }) => {
  logged.push(`${String(message)} ${String(cause)}`)
})])

let folder = ""

const layer = Layer.unwrap(Effect.map(freshDirectory, (path) => {
  folder = path
  return serving(
    KernelEngine.make("lengths").register(Answers).register(Picture, { methods: ["GET", "POST", "PATCH"] }),
    Layer.merge(EmbeddedStore.layerMemory, FileStore.layerFolder(path))
  )
})).pipe(Layer.provideMerge(collector), Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "Error")))

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

/** The paths of the files in the folder. */
const storedFiles = (): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true }).map(String).filter((name) => /[0-9a-f]{32}$/u.test(name))
    .map((name) => join(folder, name))

/** Bytes of which only those of the response to the first request are the client's, and the connection is closed. */
const cut = Effect.fnUntraced(function*(path: string) {
  logged.length = 0
  const text = yield* sendBytes(get(path) + get("/pictures"))
  assert.isAtMost(text.match(/HTTP\/1\.1/gu)?.length ?? 0, 1)
  assert.notInclude(text, "evil")
  assert.lengthOf(logged, 1)
  assert.match(logged[0] ?? "", /Cut the response to GET/u)
})

describe("the engine's server / lengths", () => {
  it.layer(layer, { excludeTestServices: true })((it) => {
    for (const title of responses.keys()) {
      it.effect(`closes the connection of ${title}, and says so in the log`, () =>
        cut(`/answers/one?title=${encodeURIComponent(title)}`))
    }

    // A short file is sent as a whole, and others in pieces.
    for (const length of [100, 100_000]) {
      it.effect(`sends no file of ${length} bytes with others than its own length`, () =>
        Effect.gen(function*() {
          const others = storedFiles()
          const { body } = yield* send("POST", "/pictures", {})
          const path = `/pictures/${body.result}/file`
          const put = yield* send("PUT", path, Buffer.from("a".repeat(length)), { "content-type": "text/plain" })
          assert.strictEqual(put.status, 200)
          const file = storedFiles().find((name) => !others.includes(name)) ?? ""
          const refused = length === 100
            ? Effect.map(send("GET", path), ({ status }) => assert.strictEqual(status, 500))
            : cut(path)
          truncateSync(file, length / 2)
          yield* refused
          writeFileSync(file, "")
          yield* refused
          if (length > 100) {
            const { body: { href } } = yield* send("POST", `${path}/address`)
            yield* cut(href)
            // Whoever has a signed address may read the file.
            assert.match(logged[0] ?? "", /Cut the response to GET \/[\w/-]+\/file\/signed\/:/u)
          }
          writeFileSync(file, "a".repeat(length) + forged)
          assert.strictEqual((yield* send("GET", path)).text, "a".repeat(length))
          writeFileSync(file, "b".repeat(length))
          assert.strictEqual((yield* send("GET", path)).text, "b".repeat(length))
          assert.strictEqual((yield* send("HEAD", path)).headers["content-length"], String(length))
        }))
    }
  })
})
