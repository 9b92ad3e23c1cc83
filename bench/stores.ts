/**
 * Measures stores of documents against one another and prints microseconds for each operation, operations per second,
 * and ratios; or how much memory a stream takes. See README.md.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { parseArgs } from "node:util"
import { chosen, cores, cpu, median, positive, print, printMachine, quantile } from "./report.ts"
import { type RowName, rows as allRows } from "./stores/contestant.ts"
import { makeFolder, startWorker, type Worker } from "./stores/workers.ts"

const titles: ReadonlyMap<string, string> = new Map([
  ["embedded", "ours"],
  ["lmdb", "bare lmdb"],
  ["sqlite", "node:sqlite"],
  ["nedb", "nedb"]
])
const warmUp = 1000
// A range needs documents to choose from.
const minSize = 100
// One sample is a whole stream, which may take seconds.
const streamRounds = 3
// In MB: a store that has all documents in memory needs room.
const heap = 8192

const { values: options } = parseArgs({
  options: {
    part: { type: "string" },
    sizes: { type: "string", default: "100,10000,1000000" },
    rounds: { type: "string", default: "7" },
    millis: { type: "string", default: "100" },
    rows: { type: "string", default: Object.keys(allRows).join(",") },
    contestants: { type: "string", default: [...titles.keys()].join(",") },
    folder: { type: "string" },
    memory: { type: "boolean", default: false },
    json: { type: "string" }
  }
})

/** A contestant in a row, among so many documents. */
interface Cell {
  readonly size: number
  readonly row: RowName
  readonly contestant: string
  /** Of one operation, in nanoseconds, by round. */
  readonly samples: Array<number>
}

const sizes = options.sizes.split(",").map((size) => positive("sizes", size))
if (sizes.some((size) => size < minSize)) throw new Error(`--sizes takes numbers from ${minSize}`)
const rounds = positive("rounds", options.rounds)
const millis = positive("millis", options.millis)
// `chosen` gives keys of what it was given.
const rows = chosen("rows", options.rows, new Map(Object.entries(allRows))).map(([row]) => row as RowName)
const contestants = chosen("contestants", options.contestants, titles)

/** How long the disk takes to say that a page is on it: the least that a durable write can take. */
const syncMicros = (): number => {
  using folder = makeFolder(options.folder)
  const descriptor = fs.openSync(path.join(folder.path, "page"), "w")
  const page = Buffer.alloc(4096)
  const samples = Array.from({ length: 50 }, () => {
    fs.writeSync(descriptor, page, 0, page.length, 0)
    const start = performance.now()
    fs.fdatasyncSync(descriptor)
    return (performance.now() - start) * 1000
  })
  fs.closeSync(descriptor)
  return median(samples)
}

const numbers = new Intl.NumberFormat("en")
const titleOf = (size: number): string => `${numbers.format(size)} documents`

const cells: Array<Cell> = []
const cellOf = (size: number, row: RowName, contestant: string): Cell | undefined =>
  cells.find((cell) => cell.size === size && cell.row === row && cell.contestant === contestant)
const medianOf = (size: number, row: RowName, contestant: string): number =>
  median(cellOf(size, row, contestant)?.samples ?? [])

const measureRow = async (size: number, row: RowName, workers: ReadonlyArray<Worker>): Promise<void> => {
  const taking = contestants.map(([contestant]): Cell => ({ size, row, contestant, samples: [] }))
  cells.push(...taking)
  for (const worker of workers) await worker.ask({ act: "warm", row, warmUp, millis })
  for (let round = 0; round < (row === "stream" ? Math.min(rounds, streamRounds) : rounds); round++) {
    for (let i = 0; i < taking.length; i++) {
      // Each follows the same one, but another begins.
      const at = (i + round) % taking.length
      taking[at]!.samples.push(await workers[at]!.ask({ act: "measure", row }))
    }
  }
  console.error(`${allRows[row].title}: ${taking.map(({ samples }) => (median(samples) / 1000).toFixed(1)).join(", ")}`)
}

const measureSize = async (size: number): Promise<void> => {
  await using stack = new AsyncDisposableStack()
  const workers: Array<Worker> = []
  for (const [contestant, title] of contestants) {
    const folder = stack.use(makeFolder(options.folder))
    const worker = stack.use(await startWorker(contestant, folder.path, heap))
    const seconds = await worker.ask({ act: "fill", size })
    await worker.ask({ act: "check" })
    console.error(`${titleOf(size)}, ${title}: filled in ${seconds.toFixed(1)} s, checked`)
    workers.push(worker)
  }
  for (const row of rows) await measureRow(size, row, workers)
}

const printSize = (size: number): void => {
  const table = (
    title: string,
    columns: ReadonlyArray<readonly [contestant: string, title: string]>,
    cell: (row: RowName, contestant: string) => string
  ) => {
    print(title, columns.map(([, title]) => title))
    for (const row of rows) print(allRows[row].title, columns.map(([contestant]) => cell(row, contestant)))
    console.log("")
  }
  console.log(`\n${titleOf(size)}\n`)
  table("µs per operation", contestants, (row, contestant) => (medianOf(size, row, contestant) / 1000).toFixed(2))
  table(
    "operations/s",
    contestants,
    (row, contestant) => numbers.format(Math.round(1e9 / medianOf(size, row, contestant)))
  )
  const others = contestants.filter(([contestant]) => contestant !== "embedded")
  if (others.length === contestants.length) return
  table("times as fast", others.map(([contestant, title]) => [contestant, `ours / ${title}`]), (row, contestant) => {
    const samples = cellOf(size, row, contestant)?.samples ?? []
    // Of the same round, so that what else the machine did meanwhile touched both.
    const ratios = cellOf(size, row, "embedded")?.samples.map((nanos, round) => (samples[round] ?? NaN) / nanos) ?? []
    return median(ratios).toFixed(2)
  })
}

const printGrowth = (): void => {
  const [first = 0, ...others] = sizes
  for (const size of others) {
    print(`${numbers.format(size)} / ${numbers.format(first)}`, contestants.map(([, title]) => title))
    for (const row of rows) {
      const times = contestants.map(([contestant]) =>
        medianOf(size, row, contestant) / medianOf(first, row, contestant)
      )
      print(allRows[row].title, times.map((times) => times.toFixed(2)))
    }
    console.log("")
  }
}

const measureMemory = async (size: number): Promise<void> => {
  using folder = makeFolder(options.folder)
  {
    await using filling = await startWorker("embedded", folder.path)
    await filling.ask({ act: "fill", size })
    await filling.ask({ act: "close" })
  }
  // Another process, which carries nothing of that.
  await using reading = await startWorker("embedded", folder.path)
  const { heap, mapped, own } = await reading.memory()
  print(titleOf(size), [own, heap, mapped].map((bytes) => (bytes / 1e6).toFixed(1)))
}

printMachine()
if (options.memory) {
  print("extra MB of a stream", ["process", "of it, heap", "mapped files"])
  for (const size of sizes) await measureMemory(size)
} else {
  console.log(`medians of ${rounds} rounds of ${millis} ms, after ${warmUp} ms of warm-up`)
  console.log(`a page is on the disk after ${syncMicros().toFixed(0)} µs`)
  for (const size of sizes) {
    await measureSize(size)
    printSize(size)
  }
  printGrowth()

  if (contestants.some(([contestant]) => contestant === "nedb")) {
    console.log("What nedb calls written is with the system, not on the disk, as it is with the others.")
  }
  const isScattered = ({ samples }: Cell) => quantile(samples, 0.75) - quantile(samples, 0.25) > 0.2 * median(samples)
  const scattered = rows.filter((row) => cells.some((cell) => cell.row === row && isScattered(cell)))
  if (scattered.length > 0) {
    const titles = scattered.map((row) => allRows[row].title)
    console.log(`Half of somebody's rounds more than 20 % apart (other work on the machine?): ${titles.join("; ")}`)
  }
  if (options.json !== undefined) {
    const settings = { node: process.version, cpu, cores, sizes, rounds, millis, warmUp }
    fs.writeFileSync(options.json, `${JSON.stringify({ settings, cells }, null, 2)}\n`)
  }
}
