/**
 * The memory of this process, and its high-water mark.
 */
import * as fs from "node:fs"

/** Where the memory of a process is, in bytes. */
export interface Memory {
  /** What is its own; where the system doesn't tell it apart, all that is in memory. */
  readonly own: number
  /** Pages of files, which the system takes back when it needs them; `NaN` where it doesn't tell. */
  readonly mapped: number
  /** What of its own is JavaScript's. */
  readonly heap: number
}

const now = (): Memory => {
  const { heapTotal: heap, rss } = process.memoryUsage()
  const file = "/proc/self/status"
  const status = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : ""
  const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) * 1024
  const own = kilobytes("RssAnon")
  return Number.isNaN(own) ? { own: rss, mapped: NaN, heap } : { own, mapped: kilobytes("RssFile"), heap }
}

const everyMillis = 5

/** How far each of them goes up while something is done, from where it was before. */
export const extraMemory = async (run: () => Promise<unknown>): Promise<Memory> => {
  const before = now()
  let most = before
  const look = () => {
    const { heap, mapped, own } = now()
    most = { own: Math.max(most.own, own), mapped: Math.max(most.mapped, mapped), heap: Math.max(most.heap, heap) }
  }
  const timer = setInterval(look, everyMillis)
  await run().finally(() => clearInterval(timer))
  look()
  return { own: most.own - before.own, mapped: most.mapped - before.mapped, heap: most.heap - before.heap }
}
