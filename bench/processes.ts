/**
 * The processes of a run: servers on one core, the load on another, none of them left behind.
 */
import type { ChildProcess } from "node:child_process"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import * as path from "node:path"
import * as readline from "node:readline"
import { text } from "node:stream/consumers"
import { cpuSecondsOf, residentBytesOf } from "./usage.ts"

/** Whether processes are bound to cores: servers to CPU 0, this one and others that make load to CPU 1. */
export const pinned = spawnSync("taskset", ["-acp", "1", `${process.pid}`]).status === 0

/** Variables of the environment of a process. */
export interface Variables {
  readonly [name: string]: string
}

const children = new Set<ChildProcess>()

process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL")
})
for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
  process.on(signal, () => process.exit(code))
}

const start = (command: string, args: ReadonlyArray<string>, variables: Variables = {}) => {
  const env = { ...process.env, ...variables, NODE_ENV: "production" }
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], env })
  children.add(child)
  child.once("close", () => children.delete(child))
  return child
}

/** Runs a program on the core of the load and returns what it prints. */
export const run = async (command: string, args: ReadonlyArray<string>): Promise<string> => {
  const child = start(command, args)
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")])
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${errors}`)
  return output
}

/** A server that listens. */
export interface Server extends AsyncDisposable {
  /** Its address, without a slash at the end. */
  readonly url: string
  /** Seconds of CPU time that it has used so far; `NaN` where the system doesn't tell. */
  readonly cpuSeconds: () => number
  /** Its resident memory; `NaN` where the system doesn't tell. */
  readonly residentBytes: () => number
  /** Sends it a signal. */
  readonly signal: (signal: NodeJS.Signals) => void
}

/**
 * Starts `servers/<name>.ts`, or with a `peers/` before the name `peers/<name>.js`, on the core of the servers and waits, two minutes at most, until it listens. The server gets
 * the port as its argument, 0 for any free one, listens on 127.0.0.1 and prints the line `listening <port>`. `flags` are
 * those of node.
 */
export const startServer = async (
  name: string,
  variables?: Variables,
  flags: ReadonlyArray<string> = process.execArgv
): Promise<Server> => {
  const file = name.startsWith("peers/")
    ? path.join(import.meta.dirname, `${name}.js`)
    : path.resolve(import.meta.dirname, "servers", `${name}.ts`)
  return startProgram(process.execPath, [...flags, file, "0"], /^listening (\d+)$/u, variables)
}

/** Starts another program on the core of the servers, and waits until it prints its port. */
export const startProgram = async (
  command: string,
  args: ReadonlyArray<string>,
  listening: RegExp,
  variables?: Variables
): Promise<Server> => {
  const child = pinned
    ? start("taskset", ["-c", "0", command, ...args], variables)
    : start(command, args, variables)
  const errors = text(child.stderr)
  const closed = once(child, "close")
  const timer = setTimeout(() => child.kill("SIGKILL"), 120_000)
  let port: string | undefined
  for await (const line of readline.createInterface(child.stdout)) {
    port = listening.exec(line)?.[1]
    if (port !== undefined) break
  }
  clearTimeout(timer)
  if (port === undefined) throw new Error(`${args.at(-2)} did not start: ${await errors}`)
  // Whatever else it prints must not fill the pipe.
  child.stdout.resume()
  return {
    url: `http://127.0.0.1:${port}`,
    cpuSeconds: () => cpuSecondsOf(child.pid),
    residentBytes: () => residentBytesOf(child.pid),
    signal: (signal) => child.kill(signal),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL")
      await closed
    }
  }
}
