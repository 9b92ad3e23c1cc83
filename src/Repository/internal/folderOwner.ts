/**
 * Which process a folder belongs to.
 */
import * as Result from "effect/Result"
import * as fs from "node:fs"
import * as process from "node:process"
import type { Document } from "../DocumentStore.ts"

/**
 * A process: its number, and when it started, since numbers are given again.
 *
 * @internal
 */
export interface Owner {
  readonly pid: number
  readonly started: string
}

/** @internal */
export const currentProcess = (): Owner => ({ pid: process.pid, started: startOf(process.pid) ?? "" })

/** @internal */
export const ownerOf = (document: Document | undefined): Owner | undefined => {
  const { pid, started } = { ...document }
  return typeof pid === "number" && typeof started === "string" ? { pid, started } : undefined
}

/**
 * Whether the process is still there. Where the system doesn't tell when it started, any process of that number is it.
 *
 * @internal
 */
export const isRunning = ({ pid, started }: Owner): boolean => {
  const now = startOf(pid)
  if (now !== undefined && started !== "") return now === started
  return Result.match(Result.try({ try: () => process.kill(pid, 0), catch: codeOf }), {
    onSuccess: () => true,
    // It is somebody else's.
    onFailure: (code) => code === "EPERM"
  })
}

// The 22nd field of Linux's /proc/PID/stat; the 2nd is in parentheses and may contain anything.
const startOf = (pid: number): string | undefined =>
  Result.match(Result.try(() => fs.readFileSync(`/proc/${pid}/stat`, "utf8")), {
    onSuccess: (stat) => stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19],
    onFailure: () => undefined
  })

/** @internal */
export const codeOf = (cause: unknown): unknown =>
  typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined
