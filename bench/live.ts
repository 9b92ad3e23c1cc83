/**
 * What open streams of changes cost: their memory, and the time from a write to its events. See README.md.
 */
import * as fs from "node:fs"
import { connect, type Socket } from "node:net"
import { parseArgs } from "node:util"
import { startServer } from "./processes.ts"
import { chosen, median, positive, print, printMachine, quantile } from "./report.ts"

const { values: options } = parseArgs({
  options: {
    part: { type: "string" },
    streams: { type: "string", default: "10000" },
    lists: { type: "string", default: "100" },
    writes: { type: "string", default: "100" },
    seconds: { type: "string", default: "10" },
    rounds: { type: "string", default: "3" },
    servers: { type: "string", default: "fastify,ours" },
    json: { type: "string" }
  }
})
const [streams, lists] = [positive("streams", options.streams), positive("lists", options.lists)]
const [rate, seconds, rounds] = [
  positive("writes", options.writes),
  positive("seconds", options.seconds),
  positive("rounds", options.rounds)
]
const servers = chosen("servers", options.servers, new Map([["fastify", "Fastify 5"], ["ours", "ours"]]))

interface Sample {
  readonly memory: number
  readonly opening: number
  readonly events: number
  readonly p50: number
  readonly p99: number
  readonly cpu: number
}

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** Opens a stream and waits for its first event. `receive` gets what comes after it. */
const open = (port: number, group: number, receive: (text: string) => void): Promise<Socket> =>
  new Promise((resolve, reject) => {
    let isOpen = false
    const socket = connect(port, "127.0.0.1", () => {
      const path = `/api/v1/items/changes?live=sse&offset=now&group=g${group}`
      socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\n\r\n`)
    })
    socket.setEncoding("latin1")
    socket.on("data", (text: string) => {
      if (isOpen) return receive(text)
      if (!text.startsWith("HTTP/1.1 200")) return reject(new Error(text))
      isOpen = true
      resolve(socket)
    })
    socket.on("error", reject)
    socket.on("close", () => reject(new Error("a stream has ended")))
  })

const measure = async (server: string): Promise<Sample> => {
  await using running = await startServer(`${server}Live`)
  const port = Number(new URL(running.url).port)
  const sent: Array<number> = []
  const delays: Array<number> = []
  const receive = (text: string) => {
    const now = performance.now()
    for (const [, number] of text.matchAll(/"text":"w(\d+)"/gu)) delays.push(now - sent[Number(number)]!)
  }
  const write = async (number: number) => {
    sent[number] = performance.now()
    const response = await fetch(`${running.url}/api/v1/items`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ group: `g${number % lists}`, text: `w${number}` })
    })
    if (response.status !== 201) throw new Error(`${server} answers ${response.status}: ${await response.text()}`)
    await response.text()
  }
  for (let i = 0; i < 500; i++) await write(i)
  await pause(1_000)
  const before = running.residentBytes()
  const start = performance.now()
  const sockets: Array<Socket> = []
  while (sockets.length < streams) {
    const some = Array.from({ length: Math.min(100, streams - sockets.length) }, (_, i) => sockets.length + i)
    sockets.push(...await Promise.all(some.map((i) => open(port, i % lists, receive))))
  }
  const opening = streams / ((performance.now() - start) / 1_000)
  await pause(2_000)
  const memory = (running.residentBytes() - before) / streams
  const cpu = running.cpuSeconds()
  const writes: Array<Promise<void>> = []
  const begin = performance.now()
  for (let i = 0; i < rate * seconds; i++) {
    await pause(Math.max(0, begin + i * 1_000 / rate - performance.now()))
    writes.push(write(500 + i))
  }
  await Promise.all(writes)
  await pause(1_000)
  const used = running.cpuSeconds() - cpu
  const expected = rate * seconds * streams / lists
  if (delays.length !== expected) throw new Error(`${server}: ${delays.length} of ${expected} events have arrived`)
  for (const socket of sockets) socket.destroy()
  return {
    memory: memory / 1_024,
    opening,
    events: delays.length / seconds,
    p50: quantile(delays, 0.5),
    p99: quantile(delays, 0.99),
    cpu: 1e6 * used / delays.length
  }
}

const columns: ReadonlyArray<readonly [keyof Sample, string, number]> = [
  ["memory", "KiB/stream", 1],
  ["opening", "opened/s", 0],
  ["events", "events/s", 0],
  ["p50", "p50 ms", 2],
  ["p99", "p99 ms", 2],
  ["cpu", "CPU µs/event", 1]
]

printMachine()
console.log(`${streams} streams of ${lists} lists, ${rate} writes a second for ${seconds} s, each into one list\n`)
print("", columns.map(([, title]) => title))
const samples = new Map<string, Array<Sample>>()
for (let round = 0; round < rounds; round++) {
  for (const [server] of servers) {
    const sample = await measure(server)
    samples.set(server, [...samples.get(server) ?? [], sample])
  }
}
for (const [server, title] of servers) {
  const own = samples.get(server)!
  print(title, columns.map(([column, , digits]) => median(own.map((one) => one[column])).toFixed(digits)))
  print(
    "",
    columns.map(([column, , digits]) => {
      const all = own.map((one) => one[column])
      return `${Math.min(...all).toFixed(digits)}–${Math.max(...all).toFixed(digits)}`
    })
  )
}
if (options.json !== undefined) {
  fs.writeFileSync(options.json, JSON.stringify(Object.fromEntries(samples), undefined, 2))
}
