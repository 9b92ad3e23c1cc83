/** Takes uploads, and serves files of as many bytes as the URL says, compressed or as they are. It keeps none of them. */
import * as http from "node:http"
import { pipeline, Readable } from "node:stream"
import { createGzip } from "node:zlib"

const part = Buffer.alloc(65_536, "0123456789abcdef")

function* content(size: number): Generator<Buffer> {
  for (let left = size; left > 0; left -= part.length) yield left < part.length ? part.subarray(0, left) : part
}

const server = http.createServer((request, response) => {
  const size = Number(request.url?.split("/").at(-1))
  if (request.method === "POST") {
    let received = 0
    request.on("data", (chunk: Buffer) => {
      received += chunk.length
    })
    request.on("end", () => response.end(JSON.stringify({ received })))
  } else if (request.url?.includes("gzip") === true) {
    response.setHeader("content-encoding", "gzip")
    pipeline(Readable.from(content(size)), createGzip({ level: 1 }), response, () => {})
  } else {
    response.setHeader("content-length", size)
    pipeline(Readable.from(content(size)), response, () => {})
  }
})
server.listen(Number(process.argv[2]), "127.0.0.1", () => {
  const address = server.address()
  console.log(`listening ${typeof address === "object" ? address?.port : address}`)
})
