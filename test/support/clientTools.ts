/** What generators of clients need of each language: tools that are installed once, and commands that compile. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { installed, pythonPackages } from "./installed.ts"

export type Command = ReadonlyArray<string>

export const npm = (name: string, ...packages: ReadonlyArray<string>) => () =>
  installed(name, (folder) => [
    ["npm", [
      "install",
      "--prefix",
      folder,
      "--ignore-scripts",
      "--prefer-offline",
      "--no-audit",
      "--no-fund",
      ...packages
    ]]
  ])

export const pip = (name: string, ...packages: ReadonlyArray<string>) => () =>
  installed(name, (folder) => pythonPackages(folder, ...packages))

/**
 * Modules of Go in a folder of their own; the results of the compiler are in the user's cache. The compiler collects garbage less often,
 * and no C is compiled.
 */
export const goIn = (folder: string) => [
  "env",
  `GOMODCACHE=${folder}/modules`,
  "GOFLAGS=-modcacherw",
  "GOTOOLCHAIN=local",
  "CGO_ENABLED=0",
  "GOGC=400",
  "go"
]

/** Programs of short runs, and the standard library that they need, are compiled without what makes them fast or debuggable. */
export const shortGoRun = ["-gcflags=all=-N -l -dwarf=false -c=1", "-ldflags=-s -w"]

export const go = (name: string, ...modules: ReadonlyArray<string>) => () =>
  installed(name, (folder) => {
    const [env = "", ...withModules] = goIn(folder)
    return [[env, [...withModules, "mod", "init", "modules"]], [env, [...withModules, "get", ...modules]]]
  })

// Short runs are over before the better compiler of a virtual machine pays.
export const shortRun = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]

const maven = ["env", [`MAVEN_OPTS=${shortRun.join(" ")}`, "mvn", "-q"]] as const

export const jar = (name: string, artifact: string) => () =>
  installed(name, (folder) => [
    [maven[0], [...maven[1], "dependency:copy", `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`]]
  ])

export const jars = (name: string, ...artifacts: ReadonlyArray<string>) => () =>
  installed(name, (folder) => {
    const dependencies = artifacts.map((artifact) => artifact.split(":")).map(([group, id, version]) =>
      `<dependency><groupId>${group}</groupId><artifactId>${id}</artifactId><version>${version}</version></dependency>`
    )
    writeFileSync(
      join(folder, "pom.xml"),
      `<project><modelVersion>4.0.0</modelVersion><groupId>shop</groupId><artifactId>jars</artifactId><version>1</version>` +
        `<dependencies>${dependencies.join("")}</dependencies></project>`
    )
    return [[maven[0], [...maven[1], "dependency:copy-dependencies", `-DoutputDirectory=${folder}`]]]
  })

const modules = join(import.meta.dirname, "..", "..", "node_modules")
const tsc = [
  process.execPath,
  join(modules, "typescript", "bin", "tsc"),
  "--ignoreConfig",
  "--noEmitOnError",
  "--strict",
  "--checkers",
  "1",
  "--target",
  "es2024",
  "--types",
  "node",
  "--typeRoots",
  join(modules, "@types")
]

// The code of generators has imports as Node reads them, or as programs read them that put files together.
export const tscOfNode = [...tsc, "--module", "nodenext"]
// No generator whose code is read so writes declarations, so those that are left unchecked are of Node and TypeScript alone.
export const tscOfBundlers = [...tsc, "--module", "commonjs", "--moduleResolution", "bundler", "--skipLibCheck"]

/** Compiles the programs of the services, and runs one. */
export const compiled = (compiler: ReadonlyArray<string>, services: ReadonlyArray<string>): Command => [
  ...compiler,
  ...services.map((service) => `${service}/calls.ts`)
]
export const runOfNode = (service: string): Command => [process.execPath, `${service}/calls.js`]

export const commonModules = () => ({ "package.json": `{ "type": "commonjs" }` })

/** Imports all modules below the packages. */
export const importAll = (names: ReadonlyArray<string>) =>
  [
    "import pkgutil, importlib",
    ...names.map((name) =>
      `import ${name}
for module in pkgutil.walk_packages(${name}.__path__, "${name}."): importlib.import_module(module.name)`
    )
  ].join("\n")
