/**
 * What each part of a service's operation costs in CPU time, and that it costs nothing while it is off. See README.md.
 */
import * as fs from "node:fs"
import { createServer } from "node:http"
import { parseArgs } from "node:util"
import { type LoadRequest, root, rows as allRows } from "./answers.ts"
import { load } from "./load.ts"
import { type Server, startServer, type Variables } from "./processes.ts"
import { chosen, median, positive, print, printMachine, quantile } from "./report.ts"
import { rows as securedRows, variables as keys } from "./secured.ts"

/** A server, and what its clients send. */
interface Side {
  readonly server: string
  readonly variables: Variables
  readonly headers?: { readonly [name: string]: string }
}

/** The spans and metrics go to this process, which runs on the core of the load. */
const sink = createServer((request, response) => {
  request.resume().on("end", () => response.end())
}).listen(0, "127.0.0.1")
const address = sink.address()
const collector = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`

const off: Side = { server: "ours", variables: {} }
const secured: Side = {
  server: "operated",
  variables: { ...keys, BENCH_OPERATED: "secured" },
  headers: securedRows.get("secured-read")?.request.headers ?? {}
}
const on = (variables: Variables, headers: { readonly [name: string]: string } = {}): readonly [Side, Side] => [
  { server: "ours", variables, headers },
  off
]
const operated = (kind: string): readonly [Side, Side] => [
  { server: "operated", variables: { BENCH_OPERATED: kind, APPKERNEL_SERVER_PORT: "0" } },
  off
]
const audit = (variables: Variables): readonly [Side, Side] => [
  { ...secured, variables: { ...secured.variables, ...variables } },
  secured
]
/** A single document is compressed, too. */
const compressing = (algorithm: string) =>
  on({ APPKERNEL_COMPRESSION_ENABLED: "true", APPKERNEL_COMPRESSION_MIN_SIZE: "100" }, { "accept-encoding": algorithm })
const telemetry = { APPKERNEL_TELEMETRY_ENDPOINT: collector }

const { values: options } = parseArgs({
  options: {
    part: { type: "string" },
    documents: { type: "string" },
    rounds: { type: "string", default: "10" },
    processes: { type: "string", default: "3" },
    requests: { type: "string", default: "2000" },
    rows: { type: "string", default: "read,page,create,missing" },
    what: { type: "string" },
    against: { type: "string" },
    json: { type: "string" }
  }
})

/** Both sides of each comparison. */
const comparisons: ReadonlyMap<string, readonly [Side, Side]> = new Map<string, readonly [Side, Side]>([
  ["off", [
    off,
    options.against === undefined ? off : { server: `${options.against}/bench/servers/ours`, variables: {} }
  ]],
  ["log", operated("log")],
  ["health", on({ APPKERNEL_HEALTH_ENABLED: "true" })],
  ["metrics", on({ APPKERNEL_METRICS_ENABLED: "true" })],
  ["traces", on({ ...telemetry, APPKERNEL_TELEMETRY_SIGNALS: "traces" })],
  [
    "traces-1-of-10",
    on({ ...telemetry, APPKERNEL_TELEMETRY_SIGNALS: "traces", APPKERNEL_TELEMETRY_SAMPLE_RATIO: "0.1" })
  ],
  ["max-requests", on({ APPKERNEL_OVERLOAD_MAX_REQUESTS: "500", APPKERNEL_OVERLOAD_MAX_REQUESTS_PER_ROUTE: "300" })],
  ["max-delay", on({ APPKERNEL_OVERLOAD_MAX_DELAY: "1 minute" })],
  ["zstd", compressing("zstd")],
  ["gzip", compressing("gzip")],
  ["br", compressing("br")],
  ["caching", operated("caching")],
  ["audited-model", operated("audited")],
  ["problems", on({ APPKERNEL_ERRORS_FORMAT: "problem" })],
  ["audit-log", audit({ APPKERNEL_AUDIT_TO: "log" })],
  ["audit-collection", audit({ APPKERNEL_AUDIT_TO: "collection" })],
  ["audit-reads", audit({ APPKERNEL_AUDIT_TO: "log", APPKERNEL_AUDIT_READS: "true" })]
])

interface Row {
  readonly title: string
  readonly request: LoadRequest
  readonly status: number
}

const [rounds, processes] = [positive("rounds", options.rounds), positive("processes", options.processes)]
const requests = positive("requests", options.requests)
const rows = chosen(
  "rows",
  options.rows,
  new Map<string, Row>([
    ...allRows,
    ["missing", { title: "missing", request: { method: "GET", path: `${root}/P0` }, status: 404 }]
  ])
)
const compared = chosen("what", options.what ?? [...comparisons.keys()].join(","), comparisons)
const warmUp = 4_000

/** The CPU time of a request in microseconds. */
const measure = async (server: Server, side: Side, { request, status }: Row, count: number): Promise<number> => {
  const before = server.cpuSeconds()
  const sent = { ...request, headers: { ...request.headers, ...side.headers } }
  const { failures, requests } = await load(server.url, () => sent, status, { requests: count })
  if (failures > 0) throw new Error(`${side.server}: ${failures} requests of ${request.path} failed`)
  return (server.cpuSeconds() - before) * 1e6 / requests
}

printMachine()
console.log(`CPU time of a request, to that of the service without it: median, in brackets the quartiles`)
console.log(`${processes} processes, ${rounds} rounds of ${requests} requests each\n`)
print("", rows.map(([, { title }]) => title))
const samples: Record<string, Record<string, ReadonlyArray<readonly [number, number]>>> = {}
for (const [title, [mine, base]] of compared) {
  const taken = new Map(rows.map(([key]): [string, Array<readonly [number, number]>] => [key, []]))
  for (let run = 0; run < processes; run++) {
    await using one = await startServer(mine.server, mine.variables)
    await using other = await startServer(base.server, base.variables)
    for (const [, row] of rows) {
      await measure(one, mine, row, warmUp)
      await measure(other, base, row, warmUp)
    }
    for (let round = 0; round < rounds; round++) {
      for (const [key, row] of rows) {
        // Each of them is the first one in half of the rounds.
        const first = round % 2 === 0 ? await measure(one, mine, row, requests) : undefined
        const second = await measure(other, base, row, requests)
        taken.get(key)?.push([first ?? await measure(one, mine, row, requests), second])
      }
    }
  }
  print(
    title,
    rows.map(([key]) => {
      const ratios = taken.get(key)?.map(([a, b]) => a / b) ?? []
      const [low, high] = [0.25, 0.75].map((part) => quantile(ratios, part).toFixed(2))
      return `${median(ratios).toFixed(2)} (${low}–${high})`
    })
  )
  samples[title] = Object.fromEntries(taken)
}
sink.closeAllConnections()
sink.close()
if (options.json !== undefined) {
  fs.writeFileSync(options.json, `${JSON.stringify({ node: process.version, rounds, processes, requests, samples })}\n`)
}
