/**
 * Measures the servers against one another and prints thousands of requests per second, and ratios. See README.md.
 */
import * as fs from "node:fs"
import { parseArgs } from "node:util"
import type { Answer, Row } from "./answers.ts"
import { check, rows as openRows } from "./answers.ts"
import { count } from "./data.ts"
import { connections, type Count, type Limit, load } from "./load.ts"
import { installPeers, startMongo } from "./peers.ts"
import { pinned, startServer, type Variables } from "./processes.ts"
import { chosen, cores, cpu, median, positive, print, printMachine, quantile, randomOf } from "./report.ts"

interface Part {
  readonly folder: string
  readonly titles: ReadonlyMap<string, string>
  readonly rows: ReadonlyMap<string, Row>
  readonly variables: Variables
}

const open: Part = {
  folder: "",
  titles: new Map([
    ["bare", "bare node:http"],
    ["fastify", "Fastify 5"],
    ["peers/hono", "Hono 4"],
    ["peers/nest", "NestJS 12, Fastify"],
    ["peers/feathers", "Feathers 5, Koa"],
    ["ours", "ours"],
    ["fastifyLog", "Fastify 5, its log"],
    ["oursLog", "ours, its log"],
    ["peers/express", "Express 5, mongoose"],
    ["oursMongo", "ours, MongoDB"]
  ]),
  rows: openRows,
  variables: {}
}
// The other part makes a key.
const { values: { part } } = parseArgs({ options: { part: { type: "string" } }, strict: false })
const { folder, rows: allRows, titles, variables: given }: Part = part === "secured"
  ? await import("./secured.ts")
  : open
const warmUp = 3
// On a busy machine three seconds are too few requests for the code to be compiled.
const warmRequests = 6_000
const maxWarmUps = 10
// A process that has just started has compiled nothing, and has nothing in a cache.
const coldRequests = 2_000

const { values: options } = parseArgs({
  options: {
    part: { type: "string" },
    documents: { type: "string" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "2" },
    rows: { type: "string", default: [...allRows.keys()].join(",") },
    servers: { type: "string", default: part === "secured" ? [...titles.keys()].join(",") : "bare,fastify,ours" },
    json: { type: "string" }
  }
})

/** Asks a server once, holds the answer to what is expected, and returns the size of its body. */
const ask = async (url: string, server: string, row: Row): Promise<number> => {
  const send = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, init)
    return {
      status: response.status,
      contentType: response.headers.get("content-type") ?? "",
      location: response.headers.get("location") ?? "",
      total: response.headers.get("x-total-count") ?? "",
      text: await response.text()
    }
  }
  const { body = null, headers, method, path } = row.request
  const answer = await send(path, {
    method,
    body,
    headers: { ...headers, ...(body === null ? {} : { "content-type": "application/json" }) }
  })
  await check(answer, row, (path, headers = {}) => send(path, { headers })).catch((cause: Error) => {
    // The message shows the difference; the error's other members would repeat both values in full.
    throw new Error(`${server}, ${row.title}: not the expected answer. ${cause.message}`)
  })
  return Buffer.byteLength(answer.text)
}

/** One measured round. */
interface Sample {
  readonly requestsPerSecond: number
  /** CPU time of the server per request; `NaN` where the system doesn't tell it. */
  readonly cpuMicros: number
  /** The same for the first requests of the process. */
  readonly coldMicros: number
  /** Milliseconds that 99 of 100 requests take at most. */
  readonly p99: number
  /** The part of its core that the server used; well below 1, something else was the limit. */
  readonly busy: number
}

const measure = async (server: string, row: Row, round: number): Promise<Sample> => {
  // A process for each round: no server carries the documents and the garbage of an earlier row.
  await using running = await startServer(`${folder}${server}`, variables)
  const random = randomOf(round)
  const { request, status, varied = () => request } = row
  const send = async (limit: Limit): Promise<Count & { readonly cpuMicros: number; readonly busy: number }> => {
    const before = running.cpuSeconds()
    const counted = await load(running.url, () => varied(random), status, limit)
    const cpu = running.cpuSeconds() - before
    if (counted.failures !== 0 || counted.requests === 0) {
      throw new Error(`${server}, ${row.title}: ${counted.failures} requests failed, ${counted.requests} did not`)
    }
    return { ...counted, cpuMicros: cpu * 1e6 / counted.requests, busy: cpu / counted.seconds }
  }
  const cold = await send({ requests: coldRequests })
  let warm = cold.requests
  for (let i = 0; i < maxWarmUps && warm < warmRequests; i++) warm += (await send({ seconds: warmUp })).requests
  const { busy, cpuMicros, latencies, requests, seconds: elapsed } = await send({ seconds })
  return {
    requestsPerSecond: requests / elapsed,
    cpuMicros,
    coldMicros: cold.cpuMicros,
    p99: quantile(latencies, 0.99),
    busy
  }
}

const rounds = positive("rounds", options.rounds)
const seconds = positive("seconds", options.seconds)
const rows = chosen("rows", options.rows, allRows)
const servers = chosen("servers", options.servers, titles)
const settings = { node: process.version, cpu, cores, pinned, connections, documents: count, rounds, seconds, warmUp }
const mongoServers = new Set(["peers/express", "oursMongo"])

installPeers(servers.map(([server]) => server))
await using mongo = await startMongo(servers.some(([server]) => mongoServers.has(server)))
const variables: Variables = { ...given, ...mongo.variables }

const printHead = (title: string) => print(title, rows.map(([, row]) => row.title))

printMachine()
console.log(`${connections} connections; ${pinned ? "server on CPU 0, load on CPU 1" : "no CPU binding"}`)
console.log(`${rounds} rounds of ${seconds} s, each after ${warmUp} s of warm-up; ${count} documents\n`)

printHead("bytes per answer")
for (const [server, title] of servers) {
  await using running = await startServer(`${folder}${server}`, variables)
  const sizes: Array<number> = []
  for (const [, row] of rows) sizes.push(await ask(running.url, server, row))
  print(title, sizes.map(String))
}

const samples: Record<string, Record<string, Array<Sample>>> = {}
for (const [key, row] of rows) {
  const taken = samples[key] = Object.fromEntries(servers.map(([server]): [string, Array<Sample>] => [server, []]))
  for (let round = 1; round <= rounds; round++) {
    for (const [server] of servers) {
      const sample = await measure(server, row, round)
      taken[server]?.push(sample)
      console.error(`${row.title}, round ${round}, ${server}: ${(sample.requestsPerSecond / 1000).toFixed(1)}`)
    }
  }
}

const valuesOf = (server: string, row: string, key: keyof Sample): ReadonlyArray<number> =>
  samples[row]?.[server]?.map((sample) => sample[key]) ?? []
const medianOf = (server: string, row: string, key: keyof Sample): number => median(valuesOf(server, row, key))

/** What is printed of each server, and its ratio to each server before it. */
const printTable = (title: string, key: keyof Sample, unit: number, digits: number) => {
  console.log("")
  printHead(title)
  for (const [server, title] of servers) {
    print(title, rows.map(([row]) => (medianOf(server, row, key) / unit).toFixed(digits)))
  }
}
const printRatios = (key: keyof Sample, ratioOf: (mine: number, other: number) => number) => {
  for (const [index, [server]] of servers.entries()) {
    for (const [other] of servers.slice(0, index)) {
      print(
        `${server} / ${other}`,
        rows.map(([row]) => ratioOf(medianOf(server, row, key), medianOf(other, row, key)).toFixed(2))
      )
    }
  }
}

printTable("thousand requests/s", "requestsPerSecond", 1000, 1)
printRatios("requestsPerSecond", (mine, other) => mine / other)
printTable("server CPU µs/request", "cpuMicros", 1, 1)
printRatios("cpuMicros", (mine, other) => other / mine)
printTable("the first requests, µs", "coldMicros", 1, 0)
printTable("p99, ms", "p99", 1, 1)
console.log("")
printHead("CPU, least to most, %")
for (const [server, title] of servers) {
  print(
    title,
    rows.map(([row]) => {
      const values = valuesOf(server, row, "cpuMicros")
      return (100 * (Math.max(...values) - Math.min(...values)) / median(values)).toFixed(0)
    })
  )
}

const warn = (what: string, applies: (server: string, row: string) => boolean) => {
  const cells = rows.flatMap(([row, { title }]) =>
    servers.filter(([server]) => applies(server, row)).map(([server]) => `${server}, ${title}`)
  )
  if (cells.length > 0) console.log(`\n${what}: ${cells.join("; ")}`)
}
warn("Rounds more than 20 % apart (other work on the machine? more --rounds help)", (server, row) => {
  const rates = valuesOf(server, row, "requestsPerSecond")
  return Math.max(...rates) - Math.min(...rates) > 0.2 * median(rates)
})
warn(
  "Server idle for more than a tenth of the time, so its rate is too low (compare CPU times)",
  (server, row) => medianOf(server, row, "busy") < 0.9
)

if (options.json !== undefined) {
  const names = Object.fromEntries([...servers, ...rows.map(([key, { title }]) => [key, title] as const)])
  fs.writeFileSync(options.json, `${JSON.stringify({ settings, titles: names, samples }, null, 2)}\n`)
}
