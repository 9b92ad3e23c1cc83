/**
 * How long the slowest answers take at seven tenths of each server's own capacity, while documents are written, and how long the
 * turns of its event loop. See README.md.
 */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { rows as allRows } from "./answers.ts"
import { load } from "./load.ts"
import { startServer } from "./processes.ts"
import { chosen, median, positive, print, printMachine, quantile, randomOf } from "./report.ts"
import type { Turns } from "./turns.ts"

const { values: options } = parseArgs({
  options: {
    part: { type: "string" },
    documents: { type: "string" },
    seconds: { type: "string", default: "5" },
    rounds: { type: "string", default: "3" },
    writes: { type: "string", default: "1000" },
    rows: { type: "string", default: "read-any,page-any" },
    servers: { type: "string", default: "fastify,ours" },
    json: { type: "string" }
  }
})
const [seconds, rounds] = [positive("seconds", options.seconds), positive("rounds", options.rounds)]
const rate = positive("writes", options.writes)
const rows = chosen("rows", options.rows, allRows)
const servers = chosen("servers", options.servers, new Map([["fastify", "Fastify 5"], ["ours", "ours"]]))
const create = allRows.get("create-any")

interface Sample {
  readonly capacity: number
  readonly rate: number
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly written: number
  /** The longest turn in milliseconds of processor time, and how many took more than 20. */
  readonly longest: number
  readonly long: number
  /** The part of the turns that the collections of young garbage are. */
  readonly scavenged: number
}

const measure = async (server: string, row: string, round: number): Promise<Sample> => {
  const file = path.join(os.tmpdir(), `turns-${process.pid}.json`)
  const flags = [...process.execArgv, "--import", path.join(import.meta.dirname, "turns.ts")]
  await using running = await startServer(server, { BENCH_TURNS: file }, flags)
  const { request, status, varied = () => request } = allRows.get(row)!
  const [reading, writing] = [randomOf(round), randomOf(-round)]
  const { request: first, varied: other = () => first } = create!
  /** Reads, at a steady rate or as many as are answered, beside writes at a steady rate. */
  const both = async (reads: number | undefined, seconds: number) => {
    const all = await Promise.all([
      load(running.url, () => varied(reading), status, { seconds }, reads === undefined ? {} : { rate: reads }),
      load(running.url, () => other(writing), 201, { seconds }, { connections: 16, rate })
    ])
    if (all.some(({ failures }) => failures > 0)) throw new Error(`${server}, ${row}: requests failed`)
    return all
  }
  await both(undefined, 5)
  const [most] = await both(undefined, seconds)
  const capacity = most.requests / most.seconds
  const [paced, written] = await both(0.7 * capacity, seconds)
  // Apart, since the measurement keeps the loop from waiting.
  running.signal("SIGUSR2")
  await both(0.7 * capacity, seconds)
  running.signal("SIGUSR2")
  for (const end = performance.now() + 30_000; !fs.existsSync(file); await sleep(10)) {
    if (performance.now() > end) throw new Error(`${server} did not write its turns`)
  }
  const turns: Turns = JSON.parse(fs.readFileSync(file, "utf8"))
  fs.rmSync(file)
  const [p50 = NaN, p99 = NaN, p999 = NaN] = [0.5, 0.99, 0.999].map((part) => quantile(paced.latencies, part))
  return {
    capacity,
    rate: paced.requests / paced.seconds,
    p50,
    p99,
    p999,
    written: written.requests / written.seconds,
    longest: turns.longest,
    long: turns.long,
    scavenged: turns.scavenged / turns.sum
  }
}

const columns: ReadonlyArray<readonly [keyof Sample, string]> = [
  ["capacity", "most reads/s"],
  ["rate", "reads/s"],
  ["written", "writes/s"],
  ["p50", "p50 ms"],
  ["p99", "p99 ms"],
  ["p999", "p99.9 ms"],
  ["longest", "longest turn, ms"],
  ["long", "turns over 20 ms"],
  ["scavenged", "scavenger"]
]

const digits: { readonly [K in keyof Sample]?: number } = { p50: 1, p99: 1, p999: 1, longest: 1, scavenged: 2 }

printMachine()
console.log(`64 connections that read, at 70 % of what each server answers beside ${rate} creates a second\n`)
const samples: Record<string, Record<string, Array<Sample>>> = {}
print("", columns.map(([, title]) => title))
for (const [key, { title }] of rows) {
  const taken = samples[key] = Object.fromEntries(servers.map(([server]): [string, Array<Sample>] => [server, []]))
  for (let round = 1; round <= rounds; round++) {
    for (const [server] of servers) taken[server]?.push(await measure(server, key, round))
  }
  for (const [server, name] of servers) {
    const of = (column: keyof Sample) => median((taken[server] ?? []).map((sample) => sample[column]))
    print(`${title}, ${name}`, columns.map(([column]) => of(column).toFixed(digits[column] ?? 0)))
  }
}
if (options.json !== undefined) {
  fs.writeFileSync(options.json, `${JSON.stringify({ node: process.version, seconds, rounds, rate, samples })}\n`)
}
