/**
 * Measures MongoDB's language in memory: filters, pipelines and updates of many documents, and prints milliseconds for
 * each, and ratios. See README.md.
 */
import * as assert from "node:assert/strict"
import * as fs from "node:fs"
import { isDeepStrictEqual, parseArgs } from "node:util"
import { type Contestant, type Run, tasks } from "./language/contestant.ts"
import { orders } from "./language/data.ts"
import { mingo } from "./language/mingo.ts"
import { ours } from "./language/ours.ts"
import { sift } from "./language/sift.ts"
import { chosen, cores, cpu, median, positive, print, printMachine, quantile } from "./report.ts"

const contestants = new Map<string, Contestant>([["mingo", mingo()], ["sift", sift()], ["ours", ours()]])

const { values: options } = parseArgs({
  options: {
    part: { type: "string" },
    rounds: { type: "string", default: "7" },
    documents: { type: "string", default: "100000" },
    rows: { type: "string", default: [...tasks.keys()].join(",") },
    contestants: { type: "string", default: [...contestants.keys()].join(",") },
    json: { type: "string" }
  }
})

interface Cell {
  readonly contestant: string
  readonly run: Run
  /** In milliseconds, by round. */
  readonly samples: Array<number>
}

const rounds = positive("rounds", options.rounds)
const count = positive("documents", options.documents)
const rows = chosen("rows", options.rows, tasks)
const taking = chosen("contestants", options.contestants, contestants)

const millisOf = (run: Run): number => {
  // Fresh ones, since some updates change what they are given.
  const documents = [...orders(count)]
  globalThis.gc?.()
  const start = performance.now()
  run(documents)
  return performance.now() - start
}

printMachine()
console.log(`medians of ${rounds} rounds over ${count} documents, after 2 rounds of warm-up\n`)
const peers = taking.filter(([name]) => name !== "ours")
print("ms", [...taking, ...peers].map(([, { title }], at) => at < taking.length ? title : `${title} / ours`))

const measured = rows.map(([row, task]) => {
  const cells = taking.flatMap(([contestant, { prepare }]): ReadonlyArray<Cell> => {
    const run = prepare(task)
    return run === undefined ? [] : [{ contestant, run, samples: [] }]
  })
  const [first, ...others] = cells.map(({ run }) => run([...orders(1000)]))
  for (const other of others) assert.ok(isDeepStrictEqual(other, first), `${row}: not the same results`)
  for (let round = -2; round < rounds; round++) {
    for (let i = 0; i < cells.length; i++) {
      // Each follows the same one, but another begins.
      const { run, samples } = cells[(i + round + 2) % cells.length]!
      const millis = millisOf(run)
      if (round >= 0) samples.push(millis)
    }
  }
  const samplesOf = (name: string) => cells.find(({ contestant }) => contestant === name)?.samples
  const ourSamples = samplesOf("ours")
  print(row, [
    ...taking.map(([name]) => samplesOf(name)).map((samples) =>
      samples === undefined ? "-" : median(samples).toFixed(1)
    ),
    // Of the same round, so that what else the machine did meanwhile touched both.
    ...peers.map(([name]) =>
      ourSamples === undefined || samplesOf(name) === undefined
        ? "-"
        : median(ourSamples.map((millis, round) => (samplesOf(name)?.[round] ?? NaN) / millis)).toFixed(2)
    )
  ])
  return { row, cells }
})

const scattered = measured.flatMap(({ cells, row }) =>
  cells.filter(({ samples }) => quantile(samples, 0.75) - quantile(samples, 0.25) > 0.2 * median(samples))
    .map(({ contestant }) => `${contestant}, ${row}`)
)
if (scattered.length > 0) {
  console.log(`\nHalf of the rounds more than 20 % apart (other work on the machine?): ${scattered.join("; ")}`)
}

if (options.json !== undefined) {
  const settings = { node: process.version, cpu, cores, rounds, count }
  const samples = measured.flatMap(({ cells, row }) =>
    cells.map(({ contestant, samples }) => ({ row, contestant, samples }))
  )
  fs.writeFileSync(options.json, `${JSON.stringify({ settings, samples }, null, 2)}\n`)
}
