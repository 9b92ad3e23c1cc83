/** The compiler over the whole project, with what `@effect/tsgo` adds to it: Effect's diagnostics. */
import { execFileSync, spawnSync } from "node:child_process"

const compiler = execFileSync("effect-tsgo", ["get-exe-path"], { encoding: "utf8", shell: true }).trim()
process.exit(spawnSync(compiler, ["--project", "."], { stdio: "inherit" }).status ?? 1)
