/**
 * Makes build/shop of the example shop, if it is missing or older than its sources: in few files it starts in a third of
 * the time that the sources need, and in half of the memory. Makes the explorer's page, too, which the shop serves.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { builtExplorer } from "./explorer.ts"

const root = path.join(import.meta.dirname, "..")
const made = path.join(root, "build/shop/main.mjs")

const timeOf = (file: string): number =>
  fs.statSync(path.resolve(root, file), { throwIfNoEntry: false })?.mtimeMs ?? -Infinity

await builtExplorer()

const since = timeOf(made)
const isFresh = ["package-lock.json", ...fs.globSync("{src,packages/*/src,examples/shop}/**", { cwd: root })]
  .every((file) => timeOf(file) < since)

if (!isFresh) {
  const command = ["--conditions=source", path.join(root, "src/Cli/Main.ts"), "build", "main.ts"]
  const { status } = spawnSync(process.execPath, [...command, "--out", path.dirname(made)], {
    cwd: path.join(root, "examples/shop"),
    stdio: ["ignore", "ignore", "inherit"]
  })
  process.exit(status ?? 1)
}
