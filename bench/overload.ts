/**
 * What a service does with three times the requests that it can answer, beside idle and slow connections. See README.md.
 */
import * as fs from "node:fs"
import { connect, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { Worker } from "node:worker_threads"
import { root } from "./answers.ts"
import { type Server, startServer } from "./processes.ts"
import { positive, print, printMachine, quantile } from "./report.ts"

const { values: options } = parseArgs({
  options: {
    part: { type: "string" },
    seconds: { type: "string", default: "60" },
    times: { type: "string", default: "3" },
    connections: { type: "string", default: "1000" },
    idle: { type: "string", default: "10000" },
    slow: { type: "string", default: "500" },
    delay: { type: "string", default: "20 millis" },
    json: { type: "string" }
  }
})
const seconds = positive("seconds", options.seconds)
const times = positive("times", options.times)
const connections = positive("connections", options.connections)
const [idle, slow] = [Number(options.idle), Number(options.slow)]

/** A connection that sends one request at a time. It opens again if it is closed. */
class Connection {
  #socket: Socket
  #sent = 0
  #rest = ""
  isFree = false
  readonly #port: number
  readonly #done: (status: number, millis: number) => void

  constructor(port: number, done: (status: number, millis: number) => void) {
    this.#port = port
    this.#done = done
    this.#socket = this.#open()
  }

  #open(): Socket {
    const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true })
    socket.setEncoding("latin1")
    socket.on("connect", () => {
      this.isFree = true
    })
    socket.on("data", (text: string) => this.#read(text))
    socket.on("error", () => {})
    socket.on("close", () => {
      if (this.isClosed) return
      if (!this.isFree && this.#sent !== 0) this.#done(0, performance.now() - this.#sent)
      this.isFree = false
      this.#rest = ""
      this.#sent = 0
      this.#socket = this.#open()
    })
    return socket
  }

  isClosed = false

  send(request: string): void {
    this.isFree = false
    this.#sent = performance.now()
    this.#socket.write(request)
  }

  #read(text: string): void {
    this.#rest += text
    const head = this.#rest.indexOf("\r\n\r\n")
    if (head === -1) return
    const length = Number(/content-length: (\d+)/iu.exec(this.#rest.slice(0, head))?.[1] ?? 0)
    if (this.#rest.length < head + 4 + length) return
    const status = Number(this.#rest.slice(9, 12))
    this.#rest = ""
    this.isFree = true
    this.#done(status, performance.now() - this.#sent)
  }

  close(): void {
    this.isClosed = true
    this.#socket.destroy()
  }
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: bench\r\n\r\n`

interface Counts {
  readonly answered: number
  readonly refused: number
  readonly other: { readonly [status: string]: number }
  /** Requests for which no connection was free. */
  readonly unsent: number
  /** In milliseconds, of the answered ones. */
  readonly p50: number
  readonly p99: number
}

/** Sends so many requests in a second; without a rate, each connection sends its next one at once. */
const load = async (port: number, count: number, rate: number | undefined, time: number): Promise<Counts> => {
  const request = get(`${root}?page_size=20`)
  const statuses = new Map<number, number>()
  const durations: Array<number> = []
  let isRunning = false
  const free: Array<Connection> = []
  const all: Array<Connection> = []
  for (let i = 0; i < count; i++) {
    const connection: Connection = new Connection(port, (status, millis) => {
      if (!isRunning) return
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status === 200) durations.push(millis)
      if (rate === undefined && connection.isFree) connection.send(request)
      else free.push(connection)
    })
    all.push(connection)
    if (i % 20 === 19) await sleep(10)
  }
  while (!all.every(({ isFree }) => isFree)) await sleep(50)
  isRunning = true
  const begin = performance.now()
  let unsent = 0
  if (rate === undefined) {
    for (const connection of all) connection.send(request)
    await sleep(1_000 * time)
  } else {
    free.push(...all)
    let due = 0
    while (performance.now() < begin + 1_000 * time) {
      for (const until = (performance.now() - begin) / 1_000 * rate; due < until; due++) {
        const connection = free.pop()
        if (connection?.isFree === true) connection.send(request)
        else unsent++
      }
      await sleep(2)
    }
  }
  isRunning = false
  for (const connection of all) connection.close()
  const { 200: answered = 0, 503: refused = 0, ...other } = Object.fromEntries(statuses)
  return { answered, refused, other, unsent, p50: quantile(durations, 0.5), p99: quantile(durations, 0.99) }
}

/** Connections that send nothing, and some whose heads never end. */
const hold = async (port: number): Promise<ReadonlyArray<Socket>> => {
  const sockets: Array<Socket> = []
  for (let i = 0; i < idle + slow; i++) {
    const socket = connect({ port, host: "127.0.0.1" })
    // The server closes those that take too long.
    socket.on("error", () => {})
    sockets.push(socket)
    if (i % 100 === 99) await sleep(20)
    if (i < idle) socket.write(get("/health/live"))
    else {
      socket.write("POST / HTTP/1.1\r\nHost: bench\r\n")
      const timer = setInterval(() => socket.writable ? socket.write("x-slow: 1\r\n") : clearInterval(timer), 2_000)
      timer.unref()
    }
  }
  return sockets
}

const portOf = ({ url }: Server): number => Number(new URL(url).port)

printMachine()
const health = { APPKERNEL_HEALTH_ENABLED: "true" }
let best = 0
{
  await using server = await startServer("ours", health)
  await load(portOf(server), 32, undefined, 5)
  const { answered } = await load(portOf(server), 32, undefined, 10)
  best = answered / 10
}
console.log(`best: ${best.toFixed(0)} requests a second`)

const results: Array<unknown> = []
for (
  const [title, variables] of [["off", health], [options.delay, {
    ...health,
    APPKERNEL_OVERLOAD_MAX_DELAY: options.delay
  }]] as const
) {
  await using server = await startServer("ours", variables)
  const port = portOf(server)
  await load(port, 32, undefined, 5)
  const held = await hold(port)
  const before = server.residentBytes()
  const probes: Array<number> = []
  let most = 0
  const prober = new Worker(new URL("probe.ts", import.meta.url), { workerData: port })
  prober.on("message", (millis: number) => {
    probes.push(millis)
    most = Math.max(most, server.residentBytes())
  })
  const cpu = server.cpuSeconds()
  const counts = await load(port, connections, times * best, seconds)
  const used = server.cpuSeconds() - cpu
  await prober.terminate()
  const open = held.filter((socket) => !socket.destroyed && socket.readable).length
  for (const socket of held) socket.destroy()
  const goodput = counts.answered / seconds
  console.log("")
  print(`overload.max_delay: ${title}`, [])
  print("answered a second", [goodput.toFixed(0), `${(100 * goodput / best).toFixed(0)} % of the best`])
  print("refused a second", [(counts.refused / seconds).toFixed(0)])
  print("other", [JSON.stringify(counts.other)])
  print("not sent a second", [(counts.unsent / seconds).toFixed(0)])
  print("answered: p50, p99 ms", [counts.p50.toFixed(1), counts.p99.toFixed(1)])
  print("probes: p50, p99, most ms", [0.5, 0.99, 1].map((part) => quantile(probes, part).toFixed(1)))
  print("MB before, at most", [before, most].map((bytes) => (bytes / 2 ** 20).toFixed(0)))
  print("CPU of the server", [`${(100 * used / seconds).toFixed(0)} %`])
  print("held connections", [`${held.length}`, `${open} open at the end`])
  results.push({ title, best, ...counts, probes, before, most, used })
}
if (options.json !== undefined) {
  fs.writeFileSync(options.json, JSON.stringify({ node: process.version, seconds, results }))
}
