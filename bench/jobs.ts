/**
 * Jobs that are stored and done: how many in a second, with which time of a processor, and how long one waits for its start; beside
 * BullMQ on Redis, with everything durable on disk, and Agenda on the same MongoDB. See README.md.
 */
import { type ChildProcess, fork, spawn } from "node:child_process"
import { once } from "node:events"
import * as path from "node:path"
import * as readline from "node:readline"
import { parseArgs } from "node:util"
import type { Order, Report } from "./jobs/contestant.ts"
import { installPeers, startMongo } from "./peers.ts"
import { chosen, positive, print, printMachine, quantile } from "./report.ts"
import { makeFolder } from "./stores/workers.ts"
import { cpuSecondsOf } from "./usage.ts"

interface Contestant {
  readonly title: string
  /** The program of a process. */
  readonly file: string
  readonly store: "folder" | "redis" | "mongo"
}

const contestants: ReadonlyMap<string, Contestant> = new Map([
  ["folder", { title: "ours, a folder", file: "jobs/ours.ts", store: "folder" }],
  ["bullmq", { title: "BullMQ, Redis", file: "peers/bullmq.js", store: "redis" }],
  ["mongo", { title: "ours, MongoDB", file: "jobs/ours.ts", store: "mongo" }],
  ["agenda", { title: "Agenda, MongoDB", file: "peers/agenda.js", store: "mongo" }]
])

const { values: options } = parseArgs({
  options: {
    part: { type: "string" },
    jobs: { type: "string", default: "100000" },
    callers: { type: "string", default: "64" },
    rate: { type: "string", default: "500" },
    processes: { type: "string", default: "4" },
    contestants: { type: "string", default: "folder,bullmq" },
    folder: { type: "string" }
  }
})
const [jobs, callers, rate, processes] = [
  positive("jobs", options.jobs),
  positive("callers", options.callers),
  positive("rate", options.rate),
  positive("processes", options.processes)
]

const children = new Set<ChildProcess>()
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL")
})
const known = <Child extends ChildProcess>(child: Child): Child => {
  children.add(child)
  child.once("close", () => children.delete(child))
  return child
}

/** Redis that answers a write once it is on the disk. Resolves when it listens. */
const startRedis = async (port: string, folder: string): Promise<ChildProcess> => {
  const args = ["--port", port, "--dir", folder, "--save", "", "--appendonly", "yes", "--appendfsync", "always"]
  const redis = known(spawn("redis-server", args, { stdio: ["ignore", "pipe", "inherit"] }))
  await once(redis, "spawn").catch(() => {
    throw new Error("BullMQ needs redis-server, as Debian's package of that name has it")
  })
  for await (const line of readline.createInterface(redis.stdout)) {
    if (line.includes("Ready to accept connections")) {
      redis.stdout.resume()
      return redis
    }
  }
  throw new Error("Redis did not start")
}

const measure = async ({ file, store, title }: Contestant, mongo: { readonly [name: string]: string }) => {
  using folder = makeFolder(options.folder)
  const redis = store === "redis" ? await startRedis("6391", folder.path) : undefined
  const variables = { BENCH_FOLDER: path.join(folder.path, "data"), BENCH_REDIS: "6391", ...store === "mongo" && mongo }
  const all = Array.from(
    { length: store === "mongo" ? processes : 1 },
    () =>
      known(fork(path.join(import.meta.dirname, file), {
        execArgv: process.execArgv,
        env: { ...process.env, ...variables, NODE_ENV: "production" }
      }))
  )
  const died = Promise.race(all.map(async (child) => {
    const [code, signal] = await once(child, "close")
    throw new Error(`${title} ended with ${signal ?? code}`)
  }))
  // Somebody may be waiting, or nobody.
  died.catch(() => {})
  await Promise.race([died, Promise.all(all.map((child) => once(child, "message")))])

  /** The delays of so many jobs. */
  const done = (count: number, order: (jobs: number) => Order) => {
    const delays: Array<number> = []
    const ended = new Promise<ReadonlyArray<number>>((resolve) => {
      for (const child of all) {
        child.removeAllListeners("message")
        child.on("message", (report: Report) => {
          delays.push(...report)
          if (delays.length >= count) resolve(delays)
        })
        child.send(order(count / all.length))
      }
    })
    return Promise.race([died, ended])
  }
  const cpuSeconds = () =>
    [...all, ...redis === undefined ? [] : [redis]].reduce((sum, { pid }) => sum + cpuSecondsOf(pid), 0)

  const fill = (jobs: number): Order => ({ act: "fill", jobs, callers: callers / all.length })
  // Code is compiled.
  await done(Math.min(4_000, jobs), fill)
  const [start, cpu] = [performance.now(), cpuSeconds()]
  await done(jobs, fill)
  const [seconds, cpuUsed] = [(performance.now() - start) / 1000, cpuSeconds() - cpu]
  const delays = await done(rate * 10, (jobs) => ({ act: "pace", jobs, perSecond: rate / all.length }))
  print(title, [
    (jobs / seconds).toFixed(0),
    (cpuUsed * 1e6 / jobs).toFixed(0),
    ...[0.5, 0.99].map((part) => quantile(delays, part).toFixed(1))
  ])
  for (const child of [...all, ...redis === undefined ? [] : [redis]]) {
    const closed = once(child, "close")
    child.kill("SIGKILL")
    await closed
  }
}

const selected = chosen("contestants", options.contestants, contestants).map(([, contestant]) => contestant)
installPeers(selected.map(({ file }) => file))
await using mongo = await startMongo(selected.some(({ store }) => store === "mongo"))
printMachine()
print("", ["jobs a second", "CPU µs a job", "delay p50 ms", "p99"])
for (const contestant of selected) await measure(contestant, mongo.variables)
