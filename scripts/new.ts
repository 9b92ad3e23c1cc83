/**
 * Makes a project that has this checkout's package: packs it (which builds it), and gives it to `appkernel new` with the
 * arguments of this program.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"

const root = path.join(import.meta.dirname, "..")
const packed = fs.mkdtempSync(path.join(os.tmpdir(), "appkernel-packed-"))
process.on("exit", () => fs.rmSync(packed, { recursive: true, force: true }))

console.log("Packing appkernel…")
const packing = spawnSync("npm", ["pack", "--silent", "--pack-destination", packed], { cwd: root, encoding: "utf8" })
if (packing.status !== 0) {
  console.error(packing.stdout + packing.stderr)
  process.exit(1)
}
const file = fs.readdirSync(packed).find((name) => name.endsWith(".tgz"))!
// A folder is meant from where the command is typed; npm starts this program at the root.
const cli = path.join(root, "dist/node/Cli/Main.js")
const typed = process.env["INIT_CWD"] ?? process.cwd()
const making = spawnSync(
  process.execPath,
  [cli, "new", ...process.argv.slice(2), "--package", path.join(packed, file)],
  { cwd: typed, stdio: "inherit" }
)
process.exitCode = making.status ?? 1
