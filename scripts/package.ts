/**
 * Checks the packages as their users get them: packs them (which builds them), looks for mistakes in their manifests and
 * types, installs them into an empty folder, and lets the programs of `scripts/package` use them there, without the sources.
 */
import { spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { bundled } from "./package/bundle.ts"
import { imageOf } from "./package/image.ts"
import { tarballs } from "./tarballs.ts"

interface Manifest {
  readonly name: string
  readonly dependencies: { readonly [name: string]: string }
  readonly peerDependencies: { readonly [name: string]: string }
  readonly exports: { readonly [entry: string]: unknown }
}

const consumer = fs.mkdtempSync(path.join(os.tmpdir(), "appkernel-package-"))
process.on("exit", () => fs.rmSync(consumer, { recursive: true, force: true }))
const installed = path.join(consumer, "node_modules")
const programs = path.join(import.meta.dirname, "package")
const { version: effectVersion } = JSON.parse(fs.readFileSync("node_modules/effect/package.json", "utf8")) as {
  readonly version: string
}

const fail = (message: string): never => {
  console.error(message)
  process.exit(1)
}
const run = (command: string, args: ReadonlyArray<string>, cwd = ".") => {
  console.log(`$ ${path.basename(command)} ${args.join(" ")}`)
  const { status } = spawnSync(command, args, { cwd, stdio: "inherit" })
  if (status !== 0) process.exit(1)
}
const tool = (name: string) => path.resolve("node_modules/.bin", name)

// -----------------------------------------------------------------------------
// The manifest
// -----------------------------------------------------------------------------

const packed = tarballs(path.join(consumer, "packed"))
const manifests = packed.map((tarball): Manifest => {
  run(tool("publint"), [tarball, "--strict"])
  run(tool("attw"), [tarball, "--profile", "esm-only", "--no-emoji"])
  run("tar", ["-xzf", tarball, "-C", consumer])
  const manifest = JSON.parse(fs.readFileSync(path.join(consumer, "package/package.json"), "utf8")) as Manifest
  fs.mkdirSync(path.dirname(path.join(installed, manifest.name)), { recursive: true })
  fs.renameSync(path.join(consumer, "package"), path.join(installed, manifest.name))
  return manifest
})

// The packages that a user's package manager puts beside them, at the versions of the lock file.
const needed = manifests.flatMap((manifest) => Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }))
for (const name of new Set(["@types/node", ...needed])) {
  if (fs.existsSync(path.join(installed, name))) continue
  fs.mkdirSync(path.dirname(path.join(installed, name)), { recursive: true })
  fs.symlinkSync(path.resolve("node_modules", name), path.join(installed, name))
}
fs.writeFileSync(path.join(consumer, "package.json"), JSON.stringify({ type: "module" }))

/** Compiles programs of the folder, with the options of a strict project and those of their own. */
const compile = (files: ReadonlyArray<string>, options: object = {}): void => {
  fs.writeFileSync(
    path.join(consumer, "tsconfig.json"),
    JSON.stringify({
      extends: path.resolve("tsconfig.json"),
      compilerOptions: { customConditions: [], noEmit: false, skipLibCheck: false, ...options },
      include: files
    })
  )
  const { signal, status, stdout } = spawnSync(tool("tsc"), ["-p", ".", "--pretty", "false", "--checkers", "1"], {
    cwd: consumer,
    encoding: "utf8"
  })
  if (status === null) fail(`the compiler of ${files.join(", ")} was ended by ${signal}`)
  // Other packages' declarations may have errors of their own; ours must have none.
  const errors = stdout.split("\n").filter((line) => /^(?:[\w-]+\.ts|node_modules\/@?appkernel\/|error)\b/u.test(line))
  if (errors.length > 0) fail(`${files.join(", ")} must compile:\n${errors.join("\n")}`)
}
const users = ["pages.ts", "models.ts", "loaded.ts", "client.ts", "plainClient.ts"]
for (const file of ["library.ts", ...users]) fs.copyFileSync(path.join(programs, file), path.join(consumer, file))

// -----------------------------------------------------------------------------
// The entries
// -----------------------------------------------------------------------------

const entries = manifests.flatMap((manifest) =>
  Object.keys(manifest.exports)
    .filter((entry) => entry !== "./package.json")
    .map((entry) => manifest.name + entry.slice(1))
)
const program = [
  ...entries.map((entry) => `import "${entry}"`),
  `const hidden = "appkernel/dist/index.js"`,
  `await import(hidden).then(() => { throw new Error(hidden + " is reachable") }, (error: { code?: string }) => {`,
  `  if (error.code !== "ERR_PACKAGE_PATH_NOT_EXPORTED") throw error`,
  `})`,
  ""
]
fs.writeFileSync(path.join(consumer, "program.ts"), program.join("\n"))
compile(["program.ts", ...users])
run(process.execPath, ["program.js"], consumer)
console.log(`${entries.length} entries can be imported`)

// -----------------------------------------------------------------------------
// The packages without the framework, in empty folders: the programs of their READMEs
// -----------------------------------------------------------------------------

const fenceOf = (name: string): string =>
  /^```ts(?: check)?\n([^]*?)^```$/mu.exec(fs.readFileSync(`packages/${name}/README.md`, "utf8"))?.[1]
    ?? fail(`packages/${name}/README.md has no program`)
const withoutLmdb = `
const failure = await Effect.runPromise(Effect.flip(Effect.scoped(EmbeddedStore.make({ path: "data" }))))
if (!failure.message.includes("npm install lmdb")) throw new Error(failure.message)
`
const withoutServer = `
const options = { host: "127.0.0.1:1", connectTimeout: "1 second" } as const
const { operation } = await Effect.runPromise(Effect.flip(Effect.scoped(MongoStore.make(options))))
if (operation !== "connect") throw new Error(operation)
`
/** A package of ours and those that it depends on. */
const withParts = (name: string): ReadonlyArray<string> => {
  const at = manifests.findIndex((manifest) => manifest.name === name)
  const parts = Object.keys(manifests[at]?.dependencies ?? {}).filter((part) => part.startsWith("@appkernel/"))
  return [...new Set([packed[at] ?? fail(`${name} is not packed`), ...parts.flatMap(withParts)])]
}
// Nothing above it is installed.
const alone = fs.mkdtempSync(path.join(os.tmpdir(), "appkernel-alone-"))
process.on("exit", () => fs.rmSync(alone, { recursive: true, force: true }))
for (const [name, more] of [["mql", ""], ["embedded-store", withoutLmdb], ["mongo-store", withoutServer]] as const) {
  const folder = path.join(alone, name)
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify({ type: "module" }))
  fs.writeFileSync(path.join(folder, "readme.mts"), fenceOf(name) + more)
  const parts = withParts(`@appkernel/${name}`)
  run("npm", ["install", "--silent", "--no-audit", "--no-fund", ...parts, `effect@${effectVersion}`], folder)
  if (fs.existsSync(path.join(folder, "node_modules/lmdb"))) fail(`${name} installs lmdb`)
  run(process.execPath, ["readme.mts"], folder)
}
console.log("The language and the stores can be installed and imported without the framework and LMDB")

// -----------------------------------------------------------------------------
// The declarations of a user's library
// -----------------------------------------------------------------------------

for (const [moduleResolution, module] of [["nodenext", "nodenext"], ["bundler", "esnext"]]) {
  compile(["library.ts"], { declaration: true, skipLibCheck: true, moduleResolution, module, outDir: "declared" })
}
console.log("The declarations of a library can be written, under NodeNext and Bundler")

// -----------------------------------------------------------------------------
// What runs: the documentation's files are found, and a program loads what it uses
// -----------------------------------------------------------------------------

run(process.execPath, ["pages.js"], consumer)

const { stdout } = spawnSync(process.execPath, ["--import", "./loaded.js", "models.js"], {
  cwd: consumer,
  encoding: "utf8"
})
const loaded = JSON.parse(stdout) as { readonly [name: string]: number }
// `content-disposition` is one file without dependencies.
// Of our packages it loads the faces, which load the language, LMDB and MongoDB's driver by need.
const ours = ["document-store", "mql", "embedded-store", "mongo-store"].map((name) => `@appkernel/${name}`)
const expected = new Set(["appkernel", ...ours, "effect", "bson", "content-disposition"])
const surplus = Object.keys(loaded).filter((name) => !expected.has(name))
if (surplus.length > 0) fail(`A program that uses models only loads ${surplus.join(", ")}`)
console.log(`A program that uses models only loads these files, by package: ${JSON.stringify(loaded)}`)

// -----------------------------------------------------------------------------
// The client in a browser
// -----------------------------------------------------------------------------

const client = await bundled(path.join(consumer, "client.js"))
const plain = await bundled(path.join(consumer, "plainClient.js"))
const ratio = (client.bytes / plain.bytes).toFixed(2)
const sizes = `The client takes ${client.bytes} bytes, Effect's own ${plain.bytes}: ${ratio} times as many`
if (client.builtins.length > 0) fail(`The client reaches ${client.builtins.join("; ")}`)
if (client.bytes > 1.5 * plain.bytes) fail(sizes)
console.log(sizes)
// Pages whose policy forbids to generate code can use models, too.
const models = await bundled(path.join(consumer, "models.js"))
if (models.builtins.length > 0) fail(`Models reach ${models.builtins.join("; ")}`)
if (models.code.includes("Function(")) fail("Models generate code in a browser")

// -----------------------------------------------------------------------------
// A new project, with a real installation of the package
// -----------------------------------------------------------------------------

const projects = path.join(consumer, "projects")
const cli = path.join(installed, "appkernel/dist/node/Cli/Main.js")
const make = (name: string, ...flags: ReadonlyArray<string>): string => {
  fs.mkdirSync(projects, { recursive: true })
  run(
    process.execPath,
    [cli, "new", name, "--yes", ...packed.flatMap((file) => ["--package", file]), ...flags],
    projects
  )
  return path.join(projects, name)
}
const project = make("tasks")
// npm runs where no package is above, with the Node of this program first on the path.
const npm = (folder: string, ...args: ReadonlyArray<string>) => run("npm", [...args, "--no-audit", "--no-fund"], folder)
npm(project, "install")
for (const script of ["check", "lint", "test", "routes"]) npm(project, "run", script)
for (const flags of [["--no-access"], ["--store", "mongo"], ["--store", "mongo", "--no-access"]]) {
  const other = make(flags.join("").replaceAll(/[^a-z]/gu, "x"), ...flags)
  fs.symlinkSync(path.join(project, "node_modules"), path.join(other, "node_modules"))
  for (const script of ["check", "lint", "test"]) npm(other, "run", script)
}

// What its Dockerfile makes is the built folder, which runs elsewhere, without what is installed.
const moved = imageOf(project, path.join(consumer, "image"))
fs.renameSync(path.join(project, "keys"), path.join(moved, "keys"))

/** Starts the built service with a Node, and uses it as somebody who signs up does. */
const tried = async (node: string): Promise<void> => {
  fs.rmSync(path.join(moved, "data"), { recursive: true, force: true })
  const service = spawn(node, ["main.mjs"], {
    cwd: moved,
    env: { ...process.env, APPKERNEL_SERVER_PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"]
  })
  let log = ""
  const address = await new Promise<string>((resolve, reject) => {
    service.stdout.on("data", (data: Buffer) => {
      log += data.toString()
      const listening = /Listening on (http:\S+?)[\s"]/u.exec(log)
      if (listening !== null) resolve(listening[1]!)
    })
    service.on("exit", () => reject(new Error(`The built service ended:\n${log}`)))
  })
  const json = async (pathname: string, body?: object, headers: Record<string, string> = {}) => {
    const response = await fetch(
      `${address}${pathname}`,
      body === undefined ? { headers } : {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body)
      }
    )
    if (!response.ok) fail(`${pathname} of the built service: ${response.status} ${await response.text()}`)
    return await response.json() as { readonly [key: string]: unknown }
  }
  const [email, password] = ["ann@example.com", "correct horse"]
  await json("/api/v1/users", { email, password })
  const { access_token } = await json("/api/v1/token", { grant_type: "password", username: email, password })
  const authorization = { authorization: `Bearer ${String(access_token)}` }
  await json("/api/v1/projects", { name: "Garden" }, authorization)
  const { _items } = await json("/api/v1/projects", undefined, authorization)
  if (!Array.isArray(_items) || _items.length !== 1) {
    fail(`The built service has the projects ${JSON.stringify(_items)}`)
  }
  for (const page of ["/docs", "/redoc", "/explorer", "/health/live", "/health/ready"]) {
    const { status } = await fetch(`${address}${page}`)
    if (status !== 200) fail(`${page} of the built service: ${status}`)
  }
  const ended = new Promise<number | null>((resolve) => service.removeAllListeners("exit").on("exit", resolve))
  service.kill("SIGTERM")
  if (await ended !== 0) fail(`The built service did not end well:\n${log}`)
}

// The oldest and the newest Node, besides this one. npm has Linux's as packages.
const nodes = [process.execPath]
for (const version of process.platform === "linux" ? ["22.19.0", "26.10.0"] : []) {
  const folder = path.join(consumer, `node-${version}`)
  fs.mkdirSync(folder)
  run("npm", ["pack", "--silent", `node-linux-${process.arch}@${version}`], folder)
  run("tar", ["-xzf", `node-linux-${process.arch}-${version}.tgz`, "package/bin/node"], folder)
  nodes.push(path.join(folder, "package/bin/node"))
}
for (const node of nodes) {
  run(node, ["program.js"], consumer)
  await tried(node)
}
console.log(
  "A new project is installed, checked, tested and built by its Dockerfile, and the service signs people in with each Node"
)
