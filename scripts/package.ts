/**
 * Checks the package as its users get it: packs it (which builds it), looks for mistakes in its manifest and its types,
 * and lets a program import each entry from the packed files, by the compiler and by Node, without the sources.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"

const consumer = path.resolve("node_modules/.cache/package")
const installed = path.join(consumer, "node_modules")

const run = (command: string, args: ReadonlyArray<string>, cwd = ".") => {
  console.log(`$ ${path.basename(command)} ${args.join(" ")}`)
  const { status } = spawnSync(command, args, { cwd, stdio: "inherit" })
  if (status !== 0) process.exit(1)
}
const tool = (name: string) => path.resolve("node_modules/.bin", name)

fs.rmSync(consumer, { recursive: true, force: true })
fs.mkdirSync(installed, { recursive: true })
run("npm", ["pack", "--silent", "--pack-destination", consumer])
const tarball = path.join(consumer, fs.readdirSync(consumer).find((file) => file.endsWith(".tgz"))!)
run(tool("publint"), [tarball, "--strict"])
run(tool("attw"), [tarball, "--profile", "esm-only", "--no-emoji"])

run("tar", ["-xzf", tarball, "-C", installed])
fs.renameSync(path.join(installed, "package"), path.join(installed, "appkernel"))
const { exports } = JSON.parse(fs.readFileSync("package.json", "utf8")) as { readonly exports: Record<string, unknown> }
const entries = Object.keys(exports)
  .filter((entry) => entry !== "./package.json")
  .map((entry) => entry.replace(/^\./u, "appkernel"))
const imports = entries.map((entry, index) => `import * as entry${index} from "${entry}"`)
// What the package brings beside its code is found: the documentation pages answer.
const pages = [
  `import { Effect } from "effect"`,
  `import { KernelEngine } from "appkernel"`,
  `const { test } = KernelEngine.make("x").enableOpenApi({ title: "X", version: "1" })`,
  `await Effect.runPromise(Effect.scoped(Effect.gen(function*() {`,
  `  const { baseUrl } = yield* test()`,
  `  for (const page of ["/openapi.json", "/docs", "/redoc"]) {`,
  `    const { status } = yield* Effect.promise(() => fetch(baseUrl + page))`,
  `    if (status !== 200) throw new Error(page + " is not served")`,
  `  }`,
  `})))`
]
const program = [
  ...imports,
  ...pages,
  ...entries.map((entry, index) => `if (Object.keys(entry${index}).length === 0) throw new Error("${entry} is empty")`),
  `const hidden = "appkernel/dist/index.js"`,
  `await import(hidden).then(() => { throw new Error(hidden + " is reachable") }, (error: { code?: string }) => {`,
  `  if (error.code !== "ERR_PACKAGE_PATH_NOT_EXPORTED") throw error`,
  `})`,
  ""
]
fs.writeFileSync(path.join(consumer, "program.ts"), program.join("\n"))
fs.writeFileSync(path.join(consumer, "package.json"), JSON.stringify({ type: "module" }))
fs.writeFileSync(
  path.join(consumer, "tsconfig.json"),
  JSON.stringify({
    extends: path.relative(consumer, "tsconfig.json").replaceAll(path.sep, "/"),
    compilerOptions: { customConditions: [], noEmit: false, skipLibCheck: false },
    include: ["program.ts"]
  })
)
// Other packages' declarations may have errors of their own; ours must have none.
const compiled = spawnSync(tool("tsc"), ["-p", ".", "--pretty", "false"], { cwd: consumer, encoding: "utf8" })
const errors = compiled.stdout.split("\n").filter((line) =>
  /^(?:program\.ts|node_modules\/appkernel\/|error)\b/u.test(line)
)
if (errors.length > 0) {
  console.error(errors.join("\n"))
  process.exit(1)
}
run(process.execPath, ["program.js"], consumer)
console.log(`${entries.length} entries can be imported: ${entries.join(", ")}`)
