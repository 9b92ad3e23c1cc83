/**
 * Packs AppKernel and its packages, as npm's registry would have them, after building them. As a program, it puts the files
 * into the folder that its argument names: `npm run tarballs -- ../my-project/vendor`.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { packages } from "./build.ts"

const root = path.join(import.meta.dirname, "..")

/** The files, that of `appkernel` first. */
export const tarballs = (folder: string): ReadonlyArray<string> => {
  const target = path.resolve(folder)
  fs.mkdirSync(target, { recursive: true })
  // Packing the root builds all of them.
  return [".", ...packages].map((name) => {
    const { status, stderr, stdout } = spawnSync(
      "npm",
      ["pack", "--silent", "--pack-destination", target],
      { cwd: path.join(root, name), encoding: "utf8" }
    )
    if (status !== 0) throw new Error(`npm pack fails in ${name}:\n${stdout}${stderr}`)
    return path.join(target, stdout.trim().split("\n").at(-1)!)
  })
}

// A folder is meant from where the command is typed; npm starts this program at the root.
if (import.meta.main) {
  const [folder = "."] = process.argv.slice(2)
  for (const file of tarballs(path.resolve(process.env["INIT_CWD"] ?? ".", folder))) console.log(file)
}
