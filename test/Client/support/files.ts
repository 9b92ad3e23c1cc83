/** What the tests of uploads and downloads share. */
import { HttpClientFactory, Model } from "appkernel"
import { Effect, Logger, Schema } from "effect"
import type * as http from "node:http"
import { gzipSync } from "node:zlib"

export class Stored extends Model.Class<Stored>()("Stored", {
  id: Model.id({ prefix: "F" }),
  size: Schema.Int
}) {}

/** The breaker's log lines are tested elsewhere. */
export const withClient = Effect.provide([HttpClientFactory.layerWith({ models: [Stored] }), Logger.layer([])])
export const breaker = { circuitBreaker: { failureThreshold: 1 } }

export const bytes = (text: string) => new TextEncoder().encode(text)
export const textOf = (chunks: ReadonlyArray<Uint8Array>) => Buffer.concat(chunks).toString()

/** How a call fails. */
export const reasonOf = <A, E extends { readonly _tag: string }, R>(call: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(call), (error) => {
    if ("reason" in error) return (error.reason as { readonly _tag: string })._tag
    return error._tag
  })

/** The form that arrived, as the Fetch API reads it. */
export const formOf = (request: { readonly headers: http.IncomingHttpHeaders; readonly body: string }) =>
  Effect.promise(async () => {
    const type = request.headers["content-type"] ?? ""
    const form = await new Response(request.body, { headers: { "content-type": type } }).formData()
    return Promise.all(
      [...form].map(async ([key, file]) =>
        file instanceof File ? [key, file.name, file.type, await file.text()] : [key, file]
      )
    )
  })

/** Answers with parts, each after a wait in milliseconds. */
export const inParts = (response: http.ServerResponse, parts: ReadonlyArray<string>, wait: number) => {
  const [first, ...others] = parts
  if (first === undefined) response.end()
  else {
    response.write(first)
    setTimeout(() => inParts(response, others, wait), wait)
  }
}

/** Answers that end before they are complete, or are malformed, and why they fail. */
export const halves: { readonly [name: string]: readonly [answer: string | Buffer, reason: string] } = {
  "a length that is too long": ["HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf", "Reset"],
  "chunks without an end": ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n", "Reset"],
  "a chunk without a size": [
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nx\r\n",
    "InvalidAnswer"
  ],
  "half a gzip": [
    Buffer.concat([
      Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 15\r\ncontent-encoding: gzip\r\n\r\n"),
      gzipSync("half of a text").subarray(0, 15)
    ]),
    "InvalidAnswer"
  ],
  "a broken gzip": [
    "HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-encoding: gzip\r\n\r\nhalf",
    "InvalidAnswer"
  ]
}
