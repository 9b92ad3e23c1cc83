/**
 * A service to call: it answers every request with the same document.
 */
import * as Http from "node:http"
import { called } from "../data.ts"

const body = called
const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) }

const server = Http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume()
  request.once("end", () => response.writeHead(200, headers).end(body))
})

server.listen(Number(process.argv[2]), "127.0.0.1", () => {
  const address = server.address()
  console.log(`listening ${typeof address === "object" ? address?.port : ""}`)
})
