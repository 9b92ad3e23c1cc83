/**
 * Where the tests of a run keep their files: in memory, where there is room, so that no commit waits for a disk. What a
 * process has written there outlives its kill, as on a disk.
 */
import * as fs from "node:fs"
import * as path from "node:path"

const memory = "/dev/shm"
const prefix = "appkernel-tests-"
const room = 8 * 2 ** 30

/** Its files may be executed, too: tests load native modules from there. */
const hasRoom = (): boolean => {
  try {
    const { bavail, bsize } = fs.statfsSync(memory)
    fs.accessSync(memory, fs.constants.W_OK)
    return bavail * bsize >= room && !/ \/dev\/shm \S+ \S*\bnoexec\b/u.test(fs.readFileSync("/proc/mounts", "utf8"))
  } catch {
    return false
  }
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Has this process, and those that it starts, keep temporary files in memory, and removes them at its end. */
export const keepFilesInMemory = (): void => {
  if (process.env["TMPDIR"] !== undefined || !hasRoom()) return
  for (const name of fs.readdirSync(memory)) {
    if (name.startsWith(prefix) && !isRunning(Number(name.slice(prefix.length)))) remove(path.join(memory, name))
  }
  const folder = path.join(memory, `${prefix}${process.pid}`)
  fs.mkdirSync(folder, { recursive: true })
  process.env["TMPDIR"] = folder
  process.once("exit", () => remove(folder))
}

const remove = (folder: string): void => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
