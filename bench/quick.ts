/**
 * Two minutes for a change in progress: this framework against Fastify, and against another checkout of its own, by CPU time in
 * rounds that alternate, with a verdict of how much the run can tell. See README.md.
 */
import { parseArgs } from "node:util"
import { type Row, rows as allRows } from "./answers.ts"
import { load } from "./load.ts"
import { type Server, startServer } from "./processes.ts"
import { chosen, median, positive, print, printMachine, quantile, randomOf } from "./report.ts"

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean" },
    part: { type: "string" },
    documents: { type: "string" },
    rows: { type: "string", default: [...allRows.keys()].join(",") },
    seconds: { type: "string", default: "110" },
    against: { type: "string" }
  }
})

/** A round is short, so that what else happens on the machine meets all servers. */
const requests = 300
// A server is warm when several runs in a row are no faster than the best before them. Fewer don't tell: V8 may compile nothing for
// thousands of requests, and then more.
const stable = 0.03
const unchanged = 8
const minRounds = 5

const rows = chosen("rows", options.rows, allRows)
const seconds = positive("seconds", options.seconds)
const names = ["ours", "fastify", ...options.against === undefined ? [] : [`${options.against}/bench/servers/ours`]]

/** The CPU time of a request in microseconds. */
const measure = async (server: Server, row: Row, random: () => number, count: number): Promise<number> => {
  const { request, status, title, varied = () => request } = row
  const before = server.cpuSeconds()
  const counted = await load(server.url, () => varied(random), status, { requests: count })
  if (counted.failures > 0) throw new Error(`${title}: ${counted.failures} requests failed`)
  return (server.cpuSeconds() - before) * 1e6 / counted.requests
}

/** Sends requests until they get no faster, or the time is over. Returns whether they were stable then. */
const warm = async (server: Server, row: Row, random: () => number, until: number): Promise<boolean> => {
  let [best, since] = [Infinity, 0]
  while (since < unchanged) {
    const micros = await measure(server, row, random, 3 * requests)
    if (micros > best * (1 - stable)) since += 1
    else [best, since] = [micros, 0]
    if (elapsed() >= until) return since >= unchanged
  }
  return true
}

const begun = performance.now()
const elapsed = (): number => (performance.now() - begun) / 1_000

printMachine()
const servers = await Promise.all(names.map((name) => startServer(name)))
const ended = async () => {
  for (const server of servers) await server[Symbol.asyncDispose]()
}
const titles = ["Fastify ÷ ours", ...options.against === undefined ? [] : ["other ÷ ours"]]
print("CPU of a request", ["ours", "Fastify", ...titles.flatMap((title) => [title, "tells from"])])
let isNoisy = false
try {
  for (const [i, [, row]] of rows.entries()) {
    const until = elapsed() + (seconds - elapsed()) / (rows.length - i)
    const randoms = servers.map(() => randomOf(i))
    // Half of the row's time at most, so that there are rounds on a busy machine, too.
    const share = (until - elapsed()) / (2 * servers.length)
    const warmed: Array<boolean> = []
    for (const [j, server] of servers.entries()) warmed.push(await warm(server, row, randoms[j]!, elapsed() + share))
    const taken: Array<ReadonlyArray<number>> = []
    while (taken.length < minRounds || elapsed() < until) {
      const round: Array<number> = []
      // Each of them is the first one in turn.
      for (let j = 0; j < servers.length; j++) {
        const next = (j + taken.length) % servers.length
        round[next] = await measure(servers[next]!, row, randoms[next]!, requests)
      }
      taken.push(round)
    }
    const ratios = servers.slice(1).map((_, j) => taken.map((round) => round[j + 1]! / round[0]!))
    const cells = ratios.flatMap((ratio) => {
      const spread = (quantile(ratio, 0.75) - quantile(ratio, 0.25)) / median(ratio)
      // About two standard errors of a median.
      const least = 1.86 * spread / Math.sqrt(ratio.length)
      if (least > 0.05) isNoisy = true
      return [median(ratio).toFixed(2), `${(100 * least).toFixed(0)} %`]
    })
    print(row.title, [
      ...[0, 1].map((j) => median(taken.map((round) => round[j]!)).toFixed(0)),
      ...cells,
      warmed.includes(false) ? "not warm yet" : ""
    ])
  }
} finally {
  await ended()
}
console.log(
  isNoisy
    ? "\nThis run is noisy: a row tells a difference only from the part that stands behind its ratio. Repeat it, or give it more --seconds."
    : "\nThis run is quiet: every row tells a difference of 5 %."
)
