import { NodeHttpServer } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientRequest, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { request as send } from "node:http"
import { readMultipart } from "../../../src/Http/request/multipart.ts"

const limits = { maxMultipartSize: 200_000, maxFieldSize: 100_000, maxParts: 10 }

/** Answers what it reads of a form. */
const server = Effect.gen(function*() {
  const request = yield* HttpServerRequest.HttpServerRequest
  const parts = yield* readMultipart(request, limits)
  return HttpServerResponse.jsonUnsafe(
    parts.map((part) =>
      part._tag === "Text"
        ? [part.name, Buffer.from(part.bytes).toString()]
        : [part.name, part._tag === "File" ? part.size : 0]
    )
  )
}).pipe(Effect.catch(({ _tag }) => Effect.succeed(HttpServerResponse.text(_tag, { status: 400 }))))

const layer = Layer.effectDiscard(HttpServer.serveEffect(server)).pipe(Layer.provideMerge(NodeHttpServer.layerTest))

const answerTo = (entries: ReadonlyArray<readonly [string, string | Blob]>) =>
  Effect.gen(function*() {
    const form = new FormData()
    for (const [name, value] of entries) form.append(name, value)
    const response = yield* HttpClient.execute(
      HttpClientRequest.post("/").pipe(HttpClientRequest.bodyFormData(form))
    )
    return yield* response.text
  })

/** Sends chunks of bytes, without saying how many there will be. */
const answerToChunks = (contentType: string, chunks: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const { address } = yield* HttpServer.HttpServer
    const port = "port" in address ? address.port : 0
    return yield* Effect.callback<string>((resume) => {
      const request = send({ port, method: "POST", headers: { "content-type": contentType } }, (response) => {
        let text = ""
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk
        })
        response.on("end", () => resume(Effect.succeed(text)))
      })
      for (const chunk of chunks) request.write(chunk)
      request.end()
      return Effect.sync(() => request.destroy())
    })
  })

it.layer(layer)("a form over a socket", (it) => {
  it.effect("is read as programs and browsers send it", () =>
    Effect.gen(function*() {
      const entries = [
        ["title", "Zürich\r\n--"],
        ["tags", "a"],
        ["tags", ""],
        ["json", new Blob([`{"a":1}`], { type: "application/json" })],
        ["photo", new Blob([new Uint8Array(150_000)], { type: "image/png" })],
        ["none", new Blob([])]
      ] as const
      assert.deepStrictEqual(JSON.parse(yield* answerTo(entries)), [
        ["title", "Zürich\r\n--"],
        ["tags", "a"],
        ["tags", ""],
        ["json", `{"a":1}`],
        ["photo", 150_000],
        ["none", 0]
      ])
    }))

  it.effect("is rejected if it exceeds the limits, with or without a Content-Length", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* answerTo([["photo", new Blob([new Uint8Array(200_000)])]]), "PayloadTooLarge")
      assert.strictEqual(yield* answerTo([["title", "x".repeat(100_001)]]), "PayloadTooLarge")
      const head = "--b\r\ncontent-disposition: form-data; name=photo; filename=x\r\n\r\n"
      assert.strictEqual(
        yield* answerToChunks("multipart/form-data; boundary=b", [
          head,
          ...Array.from({ length: 40 }, () => "x".repeat(8_192))
        ]),
        "PayloadTooLarge"
      )
    }))

  it.effect("is rejected if it is incomplete or of another type", () =>
    Effect.gen(function*() {
      const part = "--b\r\ncontent-disposition: form-data; name=title\r\n\r\nx"
      assert.strictEqual(yield* answerToChunks("multipart/form-data; boundary=b", [part]), "BadRequest")
      assert.strictEqual(
        yield* answerToChunks("multipart/form-data; boundary=b", [`${part}\r\n--b--`]),
        `[["title","x"]]`
      )
      assert.strictEqual(yield* answerToChunks("application/json", ["{}"]), "UnsupportedMediaType")
    }))
})
