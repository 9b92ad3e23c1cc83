/**
 * Finds a server that speaks MongoDB's protocol before the tests begin, and stops it when they have ended.
 */
import { MongoClient } from "mongodb"
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { setTimeout } from "node:timers/promises"
import type { TestProject } from "vitest/node"
import { installed, pythonPackages } from "./installed.ts"

/** The server's data for tests, by `inject("mongo")`. */
export type MongoServer =
  | { readonly found: false; readonly reason: string }
  | { readonly found: true; readonly url: string; readonly name: string; readonly failPoints: boolean }

declare module "vitest" {
  interface ProvidedContext {
    readonly mongo: MongoServer
  }
}

const secantusVersion = "0.7.0b3"
const startTimeout = 120_000

export default async function setup(project: TestProject) {
  const started = await findServer()
  try {
    const server = "reason" in started ? { found: false as const, reason: started.reason } : await inspect(started.url)
    if (!server.found) {
      if (process.env["CI"]) throw new Error(`The MongoDB suites must run where CI is set: ${server.reason}`)
      console.warn(`The MongoDB suites are skipped: ${server.reason}`)
    }
    project.provide("mongo", server)
  } catch (error) {
    await started.stop()
    throw error
  }
  return started.stop
}

type Started = ({ readonly url: string } | { readonly reason: string }) & { readonly stop: () => Promise<void> }

/** Finds or starts a server. */
export const findServer = async (): Promise<Started> => {
  const url = process.env["MONGO_URL"]
  if (url) return { url, stop: async () => {} }
  const mongod = onPath("mongod")
  if (mongod !== undefined) return startMongod(mongod)
  const secantus = await installSecantus()
  return "reason" in secantus ? { ...secantus, stop: async () => {} } : startSecantus(secantus.python)
}

const onPath = (program: string): string | undefined =>
  (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, program)).find((file) => existsSync(file))

const startMongod = (binary: string): Promise<Started> =>
  onFreePort((port) => {
    const args = ["--port", `${port}`, "--bind_ip", "127.0.0.1", "--dbpath", ".", "--replSet", "test"]
    return run(binary, [...args, "--setParameter", "enableTestCommands=1"])
  })

const startSecantus = (python: string): Promise<Started> =>
  onFreePort((port) => {
    const program = join(import.meta.dirname, "mongoServer.py")
    const args = [program, "--port", `${port}`, "--storage-path", ":memory:"]
    return run(python, [...args, "--enable-test-commands", "--log-level", "ERROR"])
  })

/** Starts a server on a port that was free; on another one where a program has taken it meanwhile. */
const onFreePort = async (start: (port: number) => Server, tries = 5): Promise<Started> => {
  const port = await freePort()
  const server = start(port)
  const started = await begin(server, port)
  return "reason" in started && server.hasNoPort() && tries > 1 ? onFreePort(start, tries - 1) : started
}

const installSecantus = async (): Promise<{ readonly python: string } | { readonly reason: string }> => {
  if (onPath("python3") === undefined) {
    return { reason: "there is no MONGO_URL, no mongod, and no python3 to run SecantusDB with" }
  }
  const tool = await installed(
    `secantusdb-${secantusVersion}`,
    (folder) => pythonPackages(folder, `SecantusDB==${secantusVersion}`)
  )
  return "reason" in tool
    ? { reason: `there is no MONGO_URL and no mongod, and ${tool.reason}` }
    : { python: join(tool.folder, "bin", "python") }
}

interface Server {
  readonly pid: number | undefined
  readonly hasEnded: () => boolean
  /** Whether it has ended since another program had its port. */
  readonly hasNoPort: () => boolean
  readonly output: () => string
  readonly stop: () => Promise<void>
}

/** Starts a server with its data in a temporary folder. */
const run = (binary: string, args: ReadonlyArray<string>): Server => {
  const folder = mkdtempSync(join(tmpdir(), "appkernel-test-"))
  const env = { ...process.env, TMPDIR: folder }
  const child = spawn(binary, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] })
  let output = ""
  let hasNoPort = false
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text
      hasNoPort ||= /address already in use/iu.test(output)
      output = output.slice(-2_000)
    })
  }
  const ended = new Promise<void>((resolve) => {
    // After the last output.
    child.once("close", (code, signal) => {
      output += `\n(it ended with ${code ?? signal})`
      resolve()
    }).once("error", (error) => {
      output += error.message
      resolve()
    })
  })
  // Killed, since its data is temporary, and a signal can end the test runner without a teardown.
  const kill = () => {
    child.kill("SIGKILL")
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
  process.once("exit", kill)
  return {
    hasEnded: () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null,
    hasNoPort: () => hasNoPort,
    pid: child.pid,
    output: () => output.trim().replaceAll(/\s*\n\s*/g, " "),
    stop: async () => {
      process.off("exit", kill)
      child.kill("SIGKILL")
      await ended
      kill()
    }
  }
}

/** Waits until the server takes writes, as a replica set of one. */
const begin = async (server: Server, port: number): Promise<Started> => {
  const host = `127.0.0.1:${port}`
  const url = `mongodb://${host}/?directConnection=true`
  const deadline = Date.now() + startTimeout
  let lastError = ""
  while (!server.hasEnded() && Date.now() < deadline) {
    const client = new MongoClient(url, { serverSelectionTimeoutMS: 500 })
    try {
      const admin = client.db("admin")
      const { pid } = await admin.command({ serverStatus: 1 })
      if (Number(pid) !== server.pid) throw new Error("another server has answered, so this one will end")
      const { isWritablePrimary } = await admin.command({ hello: 1 })
      if (isWritablePrimary === true) return { url, stop: server.stop }
      await admin.command({ replSetInitiate: { _id: "test", members: [{ _id: 0, host }] } })
    } catch (error) {
      lastError = messageOf(error)
    } finally {
      await client.close()
    }
    await setTimeout(50)
  }
  await server.stop()
  return { reason: `the server did not start: ${server.output() || lastError}`, stop: async () => {} }
}

const messageOf = (error: unknown): string => error instanceof Error ? error.message : String(error)

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject).listen(0, "127.0.0.1", () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

const inspect = async (url: string): Promise<MongoServer> => {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: startTimeout })
  try {
    const admin = client.db("admin")
    const info = await admin.command({ buildInfo: 1 }).catch((error: unknown) => {
      throw new Error(`The MongoDB server does not answer: ${messageOf(error)}`)
    })
    const failPoints = await admin.command({ configureFailPoint: "failCommand", mode: "off" }).then(
      () => true,
      () => false
    )
    const name = info["secantusVersion"] === undefined
      ? `MongoDB ${info["version"]}`
      : `SecantusDB ${info["secantusVersion"]}`
    return { found: true, url, name, failPoints }
  } finally {
    await client.close()
  }
}
