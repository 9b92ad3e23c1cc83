/**
 * The processes of the stores, seen from the run, and their folders; none of them is left behind.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import type { Memory } from "./memory.ts"
import type { MemoryRequest, Request } from "./worker.ts"

const folders = new Set<string>()
const children = new Set<ChildProcess>()

process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL")
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true })
})
for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
  process.on(signal, () => process.exit(code))
}

/** A folder that is there until it is disposed of, or the run ends. */
export interface Folder extends Disposable {
  readonly path: string
}

export const makeFolder = (parent = os.tmpdir()): Folder => {
  const folder = fs.mkdtempSync(path.join(parent, "appkernel-bench-"))
  folders.add(folder)
  return {
    path: folder,
    [Symbol.dispose]: () => {
      fs.rmSync(folder, { recursive: true, force: true })
      folders.delete(folder)
    }
  }
}

/** One store in a process of its own. */
export interface Worker extends AsyncDisposable {
  readonly ask: (request: Request) => Promise<number>
  readonly memory: () => Promise<Memory>
}

/** Starts a process for a contestant in a folder, with so much room for its heap, in MB; by default, as much as usual. */
export const startWorker = async (contestant: string, folder: string, heap?: number): Promise<Worker> => {
  const child = fork(new URL("worker.ts", import.meta.url), [contestant, folder], {
    execArgv: [...process.execArgv, ...heap === undefined ? [] : [`--max-old-space-size=${heap}`]],
    env: { ...process.env, NODE_ENV: "production" }
  })
  children.add(child)
  const closed = once(child, "close")
  const died = closed.then(([code, signal]) => {
    throw new Error(`${contestant} ended with ${signal ?? code}`)
  })
  // Somebody may be waiting, or nobody.
  died.catch(() => {})
  const answer = async (): Promise<unknown> => {
    const [answer]: ReadonlyArray<unknown> = await Promise.race([once(child, "message"), died])
    if (typeof answer === "string") throw new Error(`${contestant}: ${answer}`)
    return answer
  }
  const send = (request: Request | MemoryRequest): Promise<unknown> => {
    const answered = answer()
    child.send(request)
    return answered
  }
  await answer()
  return {
    ask: async (request) => Number(await send(request)),
    // It is what the request asks for.
    memory: async () => await send({ act: "memory" }) as Memory,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL")
      await closed
      children.delete(child)
    }
  }
}
