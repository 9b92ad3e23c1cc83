/**
 * Compiles the packages and the root, each after those that it imports: modules and declarations in `dist`, and files for
 * Node in `dist/node`.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"

/** The folders of the packages, each after those that it imports. */
export const packages = [
  "packages/document-store",
  "packages/mql",
  "packages/embedded-store",
  "packages/mongo-store",
  "packages/react-admin"
]

/** Those that import others are checked by the declarations of these. `npm run check` has checked the sources together. */
const optionsOf = (folder: string): ReadonlyArray<string> =>
  [".", "packages/embedded-store", "packages/mongo-store"].includes(folder) ? ["--checkers", "1"] : ["--noCheck"]

const run = (program: string, args: ReadonlyArray<string>, cwd: string): void => {
  const { status } = spawnSync(program, args, { cwd, stdio: "inherit" })
  if (status !== 0) process.exit(1)
}
const script = (name: string) => path.join(import.meta.dirname, name)

if (import.meta.main) {
  for (const folder of [...packages, "."]) {
    fs.rmSync(path.join(folder, "dist"), { recursive: true, force: true })
    run(path.resolve("node_modules/.bin/tsc"), ["-p", "tsconfig.build.json", ...optionsOf(folder)], folder)
    run(process.execPath, [script("declarations.ts")], folder)
    if (folder === ".") run(process.execPath, [script("assets.ts")], folder)
    run(process.execPath, [script("chunks.ts")], folder)
  }
}
