/**
 * Measures the memory and the time of a service that takes and sends many files at once. See README.md.
 */
import { once } from "node:events"
import * as http from "node:http"
import * as net from "node:net"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { parseArgs } from "node:util"
import { installPeers } from "./peers.ts"
import { startServer } from "./processes.ts"
import { positive, print, printMachine } from "./report.ts"
import { makeFolder } from "./stores/workers.ts"

const { values: options } = parseArgs({
  options: {
    part: { type: "string" },
    size: { type: "string", default: "100" },
    files: { type: "string", default: "64" },
    servers: { type: "string", default: "peers/fastifyFiles,files" },
    folder: { type: "string" }
  }
})

const size = positive("size", options.size) * 1_000_000
const count = positive("files", options.files)

const piece = Buffer.alloc(50_000, "0123456789abcdef")

function* content(): Generator<Buffer> {
  for (let left = size; left > 0; left -= piece.length) yield piece
}

const agent = new http.Agent({ maxSockets: count, keepAlive: true })

/** A form with a file of the size. */
const [formHead, formEnd] = [
  Buffer.from(
    "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\nContent-Type: application/octet-stream\r\n\r\n"
  ),
  Buffer.from("\r\n--x--\r\n")
]

function* form(): Generator<Buffer> {
  yield formHead
  yield* content()
  yield formEnd
}

const formType = {
  "content-type": "multipart/form-data; boundary=x",
  "content-length": formHead.length + size + formEnd.length
}

/**
 * The bytes of a body, by a connection that reads into one and the same buffer: a client of `node:http` needs more of a processor
 * for a download than its server does, and the rate would be the client's.
 */
const received = async ({ hostname, pathname, port }: URL): Promise<number> => {
  let bytes = 0
  let head = ""
  const socket = net.connect({
    host: hostname,
    port: Number(port),
    onread: {
      buffer,
      callback: (count, piece) => {
        bytes += count
        if (!head.includes("\r\n\r\n")) head += Buffer.from(piece.buffer, piece.byteOffset, count).toString("latin1")
        return true
      }
    }
  })
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`)
  await once(socket, "close")
  if (!head.startsWith("HTTP/1.1 200 ")) throw new Error(head)
  return bytes - head.indexOf("\r\n\r\n") - 4
}

const buffer = Buffer.alloc(262_144)

const measureServer = async (name: string): Promise<void> => {
  using folder = makeFolder(options.folder)
  const title = name.replace("peers/", "")
  await using server = await startServer(name, { BENCH_FOLDER: folder.path })

  /** Sends a request, and returns the answer with the number of its bytes. */
  const send = async (method: string, path: string, headers: http.OutgoingHttpHeaders = {}, body?: Readable) => {
    const request = http.request(server.url + path, { method, agent, headers })
    const answered: Promise<ReadonlyArray<http.IncomingMessage>> = once(request, "response")
    const sent = body === undefined ? request.end() : pipeline(body, request)
    const [response] = await answered
    await sent
    if (response === undefined) throw new Error(`${method} ${path} has no answer`)
    let text = ""
    let bytes = 0
    response.on("data", (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes < 10_000) text += String(chunk)
    })
    await once(response, "end")
    if (response.statusCode === undefined || response.statusCode >= 300) throw new Error(`${method} ${path}: ${text}`)
    return { text, bytes }
  }

  const measure = async (title: string, move: (id: string) => Promise<unknown>, ids: ReadonlyArray<string>) => {
    const before = server.residentBytes()
    let highest = before
    const watch = setInterval(() => {
      highest = Math.max(highest, server.residentBytes())
    }, 20)
    const start = performance.now()
    const cpu = server.cpuSeconds()
    await Promise.all(ids.map(move))
    const seconds = (performance.now() - start) / 1000
    clearInterval(watch)
    const cells = [
      seconds,
      server.cpuSeconds() - cpu,
      count * size / 1e6 / seconds,
      before / 1e6,
      (highest - before) / 1e6
    ]
    print(title, cells.map((number) => number.toFixed(1)))
  }

  const create = async () => {
    const { text } = await send("POST", "/films", { "content-type": "application/json" }, Readable.from(["{}"]))
    return String(JSON.parse(text).result)
  }

  const upload = (id: string) => send("PUT", `/films/${id}/film`, formType, Readable.from(form()))

  const download = async (id: string) => {
    const bytes = await received(new URL(`/films/${id}/film`, server.url))
    if (bytes !== size) throw new Error(`${bytes} bytes instead of ${size}`)
  }

  // Everything is loaded before.
  const first = await create()
  await upload(first)
  await download(first)
  const ids = await Promise.all(Array.from({ length: count }, create))
  await measure(`${title} upload`, upload, ids)
  await measure(`${title} download`, download, ids)
}

const servers = options.servers.split(",")
installPeers(servers)
printMachine()
print("", ["seconds", "CPU seconds", "MB/s", "MB before", "more MB"])
for (const server of servers) await measureServer(server)
agent.destroy()
