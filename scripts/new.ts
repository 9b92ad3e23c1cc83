/**
 * Makes a project that has this checkout's packages: packs them (which builds them), and gives them to `appkernel new` with
 * the arguments of this program.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { tarballs } from "./tarballs.ts"

const packed = fs.mkdtempSync(path.join(os.tmpdir(), "appkernel-packed-"))
process.on("exit", () => fs.rmSync(packed, { recursive: true, force: true }))

console.log("Packing appkernel…")
const flags = tarballs(packed).flatMap((file) => ["--package", file])
// A folder is meant from where the command is typed; npm starts this program at the root.
const cli = path.join(import.meta.dirname, "../dist/node/Cli/Main.js")
const typed = process.env["INIT_CWD"] ?? process.cwd()
const making = spawnSync(process.execPath, [cli, "new", ...process.argv.slice(2), ...flags], {
  cwd: typed,
  stdio: "inherit"
})
process.exitCode = making.status ?? 1
