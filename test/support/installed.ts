/** Tools that the project can't depend on, each installed once, apart from it. */
import { execFile } from "node:child_process"
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { promisify } from "node:util"

const execute = promisify(execFile)

/** Where the tool is, or why it is nowhere. */
export type Installed = { readonly folder: string } | { readonly reason: string }

/**
 * The folder of a tool below `node_modules/.cache`, into which `commands` install it when it is not there yet. Where `CI`
 * is set it must be had.
 */
export const installed = async (
  name: string,
  commands: (folder: string) => ReadonlyArray<readonly [program: string, args: ReadonlyArray<string>]>
): Promise<Installed> => {
  const folder = join(import.meta.dirname, "..", "..", "node_modules", ".cache", name)
  if (existsSync(folder)) return { folder }
  // Two runs may install at the same time: each does it apart, and only what is complete gets the name.
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
