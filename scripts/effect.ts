/**
 * The compiler over the whole project, or over that of the `tsconfig.json` which is named, with what `@effect/tsgo` adds to
 * it: Effect's diagnostics.
 */
import { execFileSync, spawnSync } from "node:child_process"

const compiler = execFileSync("effect-tsgo", ["get-exe-path"], { encoding: "utf8", shell: true }).trim()
const [project = "."] = process.argv.slice(2)
// Each checker would work out the types of Effect and of the sources anew: one takes half the processor time of four.
process.exit(spawnSync(compiler, ["--project", project, "--checkers", "1"], { stdio: "inherit" }).status ?? 1)
