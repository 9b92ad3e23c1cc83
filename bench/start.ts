/**
 * Starts each server several times, by turns, and prints what it takes until the first answer. See README.md.
 */
import * as fs from "node:fs"
import { parseArgs } from "node:util"
import { root } from "./answers.ts"
import { installPeers, startMongo } from "./peers.ts"
import { startServer } from "./processes.ts"
import { chosen, median, positive, print, printMachine } from "./report.ts"

interface Contestant {
  readonly title: string
  /** The flags of node. */
  readonly flags: ReadonlyArray<string>
  readonly file: string
  /** Whether it has its documents in a MongoDB. */
  readonly hasMongo?: boolean
}

const contestants: ReadonlyMap<string, Contestant> = new Map([
  ["bare", { title: "bare node:http", flags: [], file: "bare" }],
  ["fastify", { title: "Fastify 5", flags: [], file: "fastify" }],
  ["nest", { title: "NestJS 12, Fastify", flags: [], file: "peers/nest" }],
  ["express", { title: "Express 5, mongoose 9", flags: [], file: "peers/express", hasMongo: true }],
  ["ours", { title: "ours, built", flags: [], file: "ours" }],
  ["mongo", { title: "ours, built, MongoDB", flags: [], file: "oursMongo", hasMongo: true }],
  ["source", { title: "ours, from source", flags: ["--conditions=source"], file: "ours" }]
])

const { values: options } = parseArgs({
  options: {
    part: { type: "string" },
    rounds: { type: "string", default: "7" },
    servers: { type: "string", default: [...contestants.keys()].join(",") },
    json: { type: "string" }
  }
})
const rounds = positive("rounds", options.rounds)
const servers = chosen("servers", options.servers, contestants)

if (servers.some(([name]) => name === "ours" || name === "mongo") && !fs.existsSync("dist/node/index.js")) {
  throw new Error("npm run build first: the package is started as it is installed")
}
installPeers(servers.map(([, { file }]) => file))
await using mongo = await startMongo(servers.some(([, { hasMongo = false }]) => hasMongo))

interface Sample {
  readonly milliseconds: number
  readonly cpuMilliseconds: number
  readonly megabytes: number
}

const startOnce = async ({ file, flags }: Contestant): Promise<Sample> => {
  const before = performance.now()
  await using server = await startServer(file, mongo.variables, flags)
  const response = await fetch(`${server.url}${root}?page_size=1`)
  await response.text()
  if (response.status !== 200) throw new Error(`${file} answered ${response.status}`)
  return {
    milliseconds: performance.now() - before,
    cpuMilliseconds: 1000 * server.cpuSeconds(),
    megabytes: server.residentBytes() / 2 ** 20
  }
}

printMachine()
const samples = new Map<string, Array<Sample>>(servers.map(([name]) => [name, []]))
// The first round fills the caches of the system and is not counted.
for (let round = 0; round <= rounds; round++) {
  for (let i = 0; i < servers.length; i++) {
    const [name, contestant] = servers[(i + round) % servers.length]!
    const sample = await startOnce(contestant)
    if (round > 0) samples.get(name)?.push(sample)
  }
}

const [[first] = []] = servers
const columns = [
  ["milliseconds", "milliseconds"],
  ["cpuMilliseconds", "ms of CPU time"],
  ["megabytes", "resident MB"]
] as const
const valuesOf = (name: string, column: keyof Sample) => (samples.get(name) ?? []).map((sample) => sample[column])

for (const [column, title] of columns) {
  console.log("")
  print(title, ["median", "least", "most", "of the first"])
  for (const [name, contestant] of servers) {
    const values = valuesOf(name, column)
    const ratio = median(values) / median(valuesOf(first ?? name, column))
    const cells = [median(values), Math.min(...values), Math.max(...values)].map((value) => value.toFixed(0))
    print(contestant.title, [...cells, ratio.toFixed(2)])
  }
}

if (options.json !== undefined) {
  fs.writeFileSync(
    options.json,
    JSON.stringify({ node: process.version, rounds, samples: Object.fromEntries(samples) })
  )
}
