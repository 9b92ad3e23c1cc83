/** Tools that can't be dependencies of the project. Each is installed once, in a folder of its own. */
import { execFile } from "node:child_process"
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { promisify } from "node:util"

const execute = promisify(execFile)

/** The path of the tool, or the reason for its absence. */
export type Installed = { readonly folder: string } | { readonly reason: string }

/**
 * The folder of a tool below `node_modules/.cache`, into which `commands` install it when it is missing. Where `CI` is
 * set, a failed installation fails the tests.
 */
export const installed = async (
  name: string,
  commands: (folder: string) => ReadonlyArray<readonly [program: string, args: ReadonlyArray<string>]>
): Promise<Installed> => {
  const folder = join(import.meta.dirname, "..", "..", "node_modules", ".cache", name)
  if (existsSync(folder)) return { folder }
  // Two runs can install at the same time: each uses a temporary folder, and renames it when it is complete.
  const draft = `${folder}-${process.pid}`
  try {
    mkdirSync(dirname(folder), { recursive: true })
    mkdirSync(draft)
    for (const [program, args] of commands(draft)) await execute(program, args, { cwd: draft, timeout: 240_000 })
    if (!existsSync(folder)) renameSync(draft, folder)
    return { folder }
  } catch (error) {
    const reason = `${name} could not be installed: ${String(error).trim().split("\n").at(-1)}`
    if (process.env["CI"]) throw new Error(reason, { cause: error })
    console.warn(`Its tests are skipped: ${reason}`)
    return { reason }
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}
