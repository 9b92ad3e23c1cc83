/**
 * Measures the servers against one another and prints thousands of requests per second, and ratios. See README.md.
 */
import * as fs from "node:fs"
import { parseArgs } from "node:util"
import type { Answer, Row } from "./answers.ts"
import { check, rows as openRows } from "./answers.ts"
import { count } from "./data.ts"
import { connections, load, tool } from "./load.ts"
import { pinned, startServer, type Variables } from "./processes.ts"
import { chosen, cores, cpu, median, positive, print, printMachine } from "./report.ts"

interface Part {
  readonly folder: string
  readonly titles: ReadonlyMap<string, string>
  readonly rows: ReadonlyMap<string, Row>
  readonly variables: Variables
}

const open: Part = {
  folder: "",
  titles: new Map([["bare", "bare node:http"], ["fastify", "Fastify 5"], ["ours", "ours"]]),
  rows: openRows,
  variables: {}
}
// The other part makes a key.
const { values: { part } } = parseArgs({ options: { part: { type: "string" } }, strict: false })
const { folder, rows: allRows, titles, variables }: Part = part === "secured" ? await import("./secured.ts") : open
const warmUp = 3
// On a busy machine three seconds are too few requests for the code to be compiled.
const warmRequests = 6_000
const maxWarmUps = 10

const { values: options } = parseArgs({
  options: {
    part: { type: "string" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "2" },
    rows: { type: "string", default: [...allRows.keys()].join(",") },
    servers: { type: "string", default: [...titles.keys()].join(",") },
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
  /** The part of its core that the server used; well below 1, something else was the limit. */
  readonly busy: number
}

const measure = async (server: string, row: Row, seconds: number): Promise<Sample> => {
  // A process for each round: no server carries the documents and the garbage of an earlier row.
  await using running = await startServer(`${folder}${server}`, variables)
  let warm = 0
  for (let i = 0; i < maxWarmUps && warm < warmRequests; i++) warm += (await load(running.url, row, warmUp)).requests
  const before = running.cpuSeconds()
  const { failures, requests, seconds: elapsed } = await load(running.url, row, seconds)
  const cpu = running.cpuSeconds() - before
  if (failures !== 0 || requests === 0) {
    throw new Error(`${server}, ${row.title}: ${failures} of ${requests + failures} requests failed`)
  }
  return { requestsPerSecond: requests / elapsed, cpuMicros: cpu * 1e6 / requests, busy: cpu / elapsed }
}

const rounds = positive("rounds", options.rounds)
const seconds = positive("seconds", options.seconds)
const rows = chosen("rows", options.rows, allRows)
const servers = chosen("servers", options.servers, titles)
const settings = { node: process.version, cpu, cores, load: tool, pinned, connections, rounds, seconds, warmUp }

const printHead = (title: string) => print(title, rows.map(([, row]) => row.title))

printMachine()
console.log(
  `load by ${tool}, ${connections} connections; ${pinned ? "server on CPU 0, load on CPU 1" : "no CPU binding"}`
)
console.log(`${rounds} rounds of ${seconds} s, each after ${warmUp} s of warm-up; ${count} documents in memory\n`)

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
      const sample = await measure(server, row, seconds)
      taken[server]?.push(sample)
      console.error(`${row.title}, round ${round}, ${server}: ${(sample.requestsPerSecond / 1000).toFixed(1)}`)
    }
  }
}

const valuesOf = (server: string, row: string, key: keyof Sample): ReadonlyArray<number> =>
  samples[row]?.[server]?.map((sample) => sample[key]) ?? []
const medianOf = (server: string, row: string, key: keyof Sample): number => median(valuesOf(server, row, key))

console.log("")
printHead("thousand requests/s")
for (const [server, title] of servers) {
  print(title, rows.map(([row]) => (medianOf(server, row, "requestsPerSecond") / 1000).toFixed(1)))
}
for (const [index, [server]] of servers.entries()) {
  for (const [other] of servers.slice(0, index)) {
    const ratio = (row: string) =>
      medianOf(server, row, "requestsPerSecond") / medianOf(other, row, "requestsPerSecond")
    print(`${server} / ${other}`, rows.map(([row]) => ratio(row).toFixed(2)))
  }
}

console.log("")
printHead("server CPU µs/request")
for (const [server, title] of servers) print(title, rows.map(([row]) => medianOf(server, row, "cpuMicros").toFixed(1)))

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

if (options.json !== undefined) fs.writeFileSync(options.json, `${JSON.stringify({ settings, samples }, null, 2)}\n`)
