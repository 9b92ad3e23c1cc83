/** Tools that can't be dependencies of the project. Each is installed once, in a folder of its own. */
import { execFile } from "node:child_process"
import { existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs"
import { basename, join } from "node:path"
import { promisify } from "node:util"

const uvVersion = "0.13.9"

// For a busy machine with a slow disk and network.
const installTimeout = 600_000
const execute = promisify(execFile)

type Commands = ReadonlyArray<readonly [program: string, args: ReadonlyArray<string>]>

/** The path of the tool, or the reason for its absence. */
export type Installed = { readonly folder: string } | { readonly reason: string }

/**
 * The folder of a tool below `node_modules/.cache`, into which `commands` install it when it is missing. Where `CI` is
 * set, a failed installation fails the tests.
 */
export const installed = async (
  name: string,
  commands: (folder: string) => Commands | Promise<Commands>
): Promise<Installed> => {
  const folder = join(import.meta.dirname, "..", "..", "node_modules", ".cache", name)
  if (existsSync(folder)) return { folder }
  // Two runs can install at the same time: each uses a folder of its own, whose path is in the scripts that pip writes, and
  // links to it when it is complete.
  const draft = `${folder}-${process.pid}`
  try {
    console.log(`Installing ${name} to test with, once`)
    mkdirSync(draft, { recursive: true })
    for (const [program, args] of await commands(draft)) {
      await execute(program, args, { cwd: draft, timeout: installTimeout })
    }
    symlinkSync(basename(draft), folder)
    return { folder }
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (existsSync(folder)) return { folder }
    const reason = `${name} could not be installed: ${String(error).trim().split("\n").at(-1)}`
    if (process.env["CI"]) throw new Error(reason, { cause: error })
    console.warn(`Its tests are skipped: ${reason}`)
    return { reason }
  }
}

/**
 * The commands that put packages of Python into an environment of their own: by uv, which needs a tenth of pip's processor
 * time for it. The system's Python, if new enough, goes first: one that a version manager has compiled takes half as long again.
 */
export const pythonPackages = async (folder: string, ...packages: ReadonlyArray<string>): Promise<Commands> => {
  const uv = await installed(`uv-${uvVersion}`, (tool) => [
    ["python3", ["-m", "venv", tool]],
    [
      join(tool, "bin", "python"),
      ["-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", `uv==${uvVersion}`]
    ]
  ])
  if ("reason" in uv) throw new Error(uv.reason)
  const program = join(uv.folder, "bin", "uv")
  const interpreter = ["--python-preference", "only-system", "--python", ">=3.10"]
  const into = ["--quiet", "--python", join(folder, "bin", "python")]
  // It reads no settings of pip.
  const index = process.env["PIP_INDEX_URL"]
  const settings = index === undefined ? [] : [`UV_DEFAULT_INDEX=${index}`]
  return [
    ["env", [`PATH=/usr/bin:${process.env["PATH"]}`, program, "venv", "--quiet", ...interpreter, folder]],
    // By default it waits for 30 s only.
    ["env", ["UV_HTTP_TIMEOUT=600", ...settings, program, "pip", "install", ...into, ...packages]]
  ]
}
