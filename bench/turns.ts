/**
 * Loaded by a server before its program: measures the turns of its event loop between two signals. The second one writes what was
 * measured to the file that BENCH_TURNS names.
 */
import * as fs from "node:fs"
import { constants, PerformanceObserver } from "node:perf_hooks"

/** What was measured of a process. */
export interface Turns {
  /** The longest turn, and all turns together, in milliseconds of the thread's processor time. */
  readonly longest: number
  readonly sum: number
  /** How many turns took more than 20 milliseconds. */
  readonly long: number
  /** The milliseconds that the thread stood still for the collections of young garbage. */
  readonly scavenged: number
}

const file = process.env["BENCH_TURNS"]

const threadTime = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (user + system) / 1000
}

const measure = (file: string): void => {
  let begun: { before: number; turns: { -readonly [K in keyof Turns]: number } } | undefined
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      // Node's types lack what an entry of the garbage collection has.
      const kind = Reflect.get(Object(Reflect.get(entry, "detail")), "kind")
      if (kind === constants.NODE_PERFORMANCE_GC_MINOR && begun !== undefined) begun.turns.scavenged += entry.duration
    }
  }).observe({ entryTypes: ["gc"] })
  const turn = (): void => {
    if (begun === undefined) return
    const now = threadTime()
    const took = now - begun.before
    const { turns } = begun
    begun.before = now
    turns.longest = Math.max(turns.longest, took)
    turns.sum += took
    if (took > 20) turns.long++
    setImmediate(turn)
  }
  process.on("SIGUSR2", () => {
    if (begun === undefined) {
      begun = { before: threadTime(), turns: { longest: 0, sum: 0, long: 0, scavenged: 0 } }
      turn()
    } else {
      // Whoever waits for the file finds it complete.
      fs.writeFileSync(`${file}.part`, JSON.stringify(begun.turns))
      fs.renameSync(`${file}.part`, file)
      begun = undefined
    }
  })
}

if (file !== undefined) measure(file)
