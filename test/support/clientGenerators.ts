/** Generators of clients, as their users call them: what each needs, and how it makes and compiles a client. */
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import type { OpenApi } from "../../src/index.ts"
import { type Installed, installed } from "./installed.ts"

export interface Generator {
  /** Programs that the machine has to have: without one of them nothing is installed, and the test is skipped. */
  readonly needs: ReadonlyArray<readonly [program: string, ...args: ReadonlyArray<string>]>
  /** What is installed for it. */
  readonly tools: ReadonlyArray<() => Promise<Installed>>
  /** The file of the program that calls the client, and others that the generator or the compiler reads. */
  readonly program: string
  readonly files?: { readonly [name: string]: string }
  /** The commands that make and compile the client beside `openapi.json`; the last one runs the program. */
  readonly steps: (...folders: ReadonlyArray<string>) => ReadonlyArray<ReadonlyArray<string>>
}

const execute = promisify(execFile)

/** What a program prints; when it fails, what it complains of. */
const run = ([program = "", ...args]: ReadonlyArray<string>, cwd?: string) =>
  Effect.promise(() =>
    execute(program, args, { cwd, timeout: 540_000, maxBuffer: 2 ** 26 }).then(
      ({ stdout }) => stdout,
      (error: Error & { readonly stdout?: string; readonly stderr?: string }) => {
        const said = `${error.stdout ?? ""}${error.stderr ?? ""}`
        throw new Error(`${program} ${args.join(" ")}: ${said === "" ? error.message : said}`)
      }
    )
  )

/** A folder in which modules of npm are found: not below a `node_modules`, whose sources no compiler translates. */
const workplace = (folder: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const place = mkdtempSync(join(tmpdir(), "client-"))
      symlinkSync(join(folder, "node_modules"), join(place, "node_modules"))
      return place
    }),
    (place) => Effect.sync(() => rmSync(place, { recursive: true, force: true }))
  )

/**
 * Makes a client of the document, compiles it together with the program, and runs this with `args`: what it prints, as JSON.
 */
export const printedByClient = Effect.fnUntraced(function*(
  generator: Generator,
  document: OpenApi.Document,
  program: string,
  args: ReadonlyArray<string>,
  skip: (reason: string) => never
) {
  for (const needed of generator.needs) {
    const isThere = yield* Effect.promise(() => execute(needed[0], needed.slice(1)).then(() => true, () => false))
    if (!isThere) skip(`${needed[0]} is not on the path`)
  }
  const folders: Array<string> = []
  for (const tool of generator.tools) {
    const found = yield* Effect.promise(tool)
    folders.push("reason" in found ? skip(found.reason) : found.folder)
  }
  const place = yield* workplace(folders[0]!)
  const files = { ...generator.files, "openapi.json": JSON.stringify(document), [generator.program]: program }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place, name)), { recursive: true })
    writeFileSync(join(place, name), text)
  }
  const steps = generator.steps(...folders)
  for (const step of steps.slice(0, -1)) yield* run(step, place)
  return JSON.parse(yield* run([...steps.at(-1) ?? [], ...args], place)) as { readonly [call: string]: unknown }
})

// the ecosystems

const npm = (name: string, ...packages: ReadonlyArray<string>) => () =>
  installed(name, (folder) => [
    ["npm", ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", ...packages]]
  ])

const pip = (name: string, ...packages: ReadonlyArray<string>) => () =>
  installed(name, (folder) => [
    ["python3", ["-m", "venv", folder]],
    [join(folder, "bin", "python"), ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...packages]]
  ])

/** Modules of Go in a folder of their own; the results of the compiler are in the user's cache. */
const goIn = (
  folder: string
) => ["env", `GOMODCACHE=${folder}/modules`, "GOFLAGS=-modcacherw", "GOTOOLCHAIN=local", "go"]

const go = (name: string, ...modules: ReadonlyArray<string>) => () =>
  installed(name, (folder) => {
    const [env = "", ...withModules] = goIn(folder)
    return [[env, [...withModules, "mod", "init", "modules"]], [env, [...withModules, "get", ...modules]]]
  })

const jar = (name: string, artifact: string) => () =>
  installed(name, (folder) => [
    ["mvn", ["-q", "dependency:copy", `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`]]
  ])

const jars = (name: string, ...artifacts: ReadonlyArray<string>) => () =>
  installed(name, (folder) => {
    const dependencies = artifacts.map((artifact) => artifact.split(":")).map(([group, id, version]) =>
      `<dependency><groupId>${group}</groupId><artifactId>${id}</artifactId><version>${version}</version></dependency>`
    )
    writeFileSync(
      join(folder, "pom.xml"),
      `<project><modelVersion>4.0.0</modelVersion><groupId>shop</groupId><artifactId>jars</artifactId><version>1</version>` +
        `<dependencies>${dependencies.join("")}</dependencies></project>`
    )
    return [["mvn", ["-q", "dependency:copy-dependencies", `-DoutputDirectory=${folder}`]]]
  })

const modules = join(import.meta.dirname, "..", "..", "node_modules")
const tsc = [
  process.execPath,
  join(modules, "typescript", "bin", "tsc"),
  "--ignoreConfig",
  "--noEmitOnError",
  "--strict",
  "--target",
  "es2024",
  "--types",
  "node",
  "--typeRoots",
  join(modules, "@types")
]

// The code of generators has imports as Node reads them, or as programs read them that put files together.
const tscOfNode = [...tsc, "--module", "nodenext"]
const tscOfBundlers = [...tsc, "--module", "commonjs", "--moduleResolution", "bundler"]

/** Imports all modules below a package. */
const importAll = (name: string) =>
  `import ${name}, pkgutil, importlib
for module in pkgutil.walk_packages(${name}.__path__, "${name}."): importlib.import_module(module.name)`

// the generators

export const openapiTypescript: Generator = {
  needs: [],
  tools: [npm("openapi-typescript-7.13.0", "openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3")],
  program: "calls.ts",
  files: { "package.json": `{ "type": "module" }` },
  steps: (folder) => [
    [process.execPath, join(folder, "node_modules/openapi-typescript/bin/cli.js"), "openapi.json", "-o", "schema.d.ts"],
    [...tscOfNode, "calls.ts"],
    [process.execPath, "calls.js"]
  ]
}

export const heyApi: Generator = {
  needs: [],
  tools: [npm("hey-api-0.99.0", "@hey-api/openapi-ts@0.99.0", "typescript@5.9.3")],
  program: "calls.ts",
  files: { "package.json": `{ "type": "commonjs" }` },
  steps: (folder) => [
    [
      process.execPath,
      join(folder, "node_modules/@hey-api/openapi-ts/bin/run.js"),
      "-i",
      "openapi.json",
      "-o",
      "client",
      "--silent"
    ],
    [...tscOfBundlers, "calls.ts"],
    [process.execPath, "calls.js"]
  ]
}

export const orval: Generator = {
  needs: [],
  tools: [npm("orval-8.38.0", "orval@8.38.0", "typescript@5.9.3")],
  program: "calls.ts",
  files: {
    "package.json": `{ "type": "commonjs" }`,
    "orval.config.mjs": `export default {
      client: {
        input: "./openapi.json",
        output: {
          target: "./client.ts",
          client: "fetch",
          override: { mutator: { path: "./request.ts", name: "request" } }
        }
      }
    }`,
    // What users of a generated client have for its address and credentials.
    "request.ts": `
export const request = async <T>(url: string, options?: RequestInit): Promise<T> => {
  const headers = new Headers(options?.headers)
  headers.set("authorization", process.argv[3] ?? "")
  if (typeof options?.body === "string" && !headers.has("content-type")) headers.set("content-type", "application/json")
  const response = await fetch(\`\${process.argv[2]}\${url}\`, { ...options, headers })
  const text = await response.text()
  return { data: text === "" ? undefined : JSON.parse(text), status: response.status, headers: response.headers } as T
}
`
  },
  steps: (folder) => [
    [process.execPath, join(folder, "node_modules/orval/dist/bin/orval.mjs"), "--config", "orval.config.mjs"],
    [...tscOfBundlers, "calls.ts"],
    [process.execPath, "calls.js"]
  ]
}

export const openapiPythonClient: Generator = {
  needs: [],
  tools: [pip("openapi-python-client-0.29.1", "openapi-python-client==0.29.1")],
  program: "calls.py",
  files: {
    // As the documentation has it.
    "config.yml": `
post_hooks: []
content_type_overrides:
  application/json-patch+json: text/plain
  multipart/form-data: text/plain
  application/x-www-form-urlencoded: text/plain
`
  },
  steps: (folder) => [
    [
      join(folder, "bin", "python"),
      "-m",
      "openapi_python_client",
      "generate",
      "--path",
      "openapi.json",
      "--config",
      "config.yml",
      "--meta",
      "none",
      "--output-path",
      "client"
    ],
    [join(folder, "bin", "python"), "-c", importAll("client")],
    [join(folder, "bin", "python"), "calls.py"]
  ]
}

const openapiGenerator = jar("openapi-generator-7.25.0", "org.openapitools:openapi-generator-cli:7.25.0")

/** The command that makes the client of a language in the folder `client`. */
const generate = (folder: string, language: string, ...options: ReadonlyArray<string>) => [
  "java",
  "-XX:TieredStopAtLevel=1",
  "-XX:+UseSerialGC",
  "-jar",
  join(folder, "openapi-generator-cli-7.25.0.jar"),
  "generate",
  "-i",
  "openapi.json",
  "-g",
  language,
  "-o",
  "client",
  "--global-property",
  "apiDocs=false,modelDocs=false,apiTests=false,modelTests=false",
  ...options
]

const java = ["java", "-version"] as const
const maven = ["mvn", "-version"] as const

export const typescriptOfOpenapiGenerator: Generator = {
  needs: [java, maven],
  tools: [openapiGenerator],
  program: "calls.ts",
  files: { "package.json": `{ "type": "commonjs" }` },
  steps: (folder) => [
    generate(folder, "typescript-fetch"),
    [...tscOfBundlers, "calls.ts"],
    [process.execPath, "calls.js"]
  ]
}

export const pythonOfOpenapiGenerator: Generator = {
  needs: [java, maven],
  tools: [
    openapiGenerator,
    pip(
      "openapi-generator-7.25.0-python",
      "urllib3==2.8.0",
      "python_dateutil==4.0.0",
      "pydantic==2.14.4",
      "typing-extensions==4.16.0"
    )
  ],
  program: "client/calls.py",
  steps: (folder, packages) => [
    generate(folder, "python"),
    ["env", "PYTHONPATH=client", join(packages, "bin", "python"), "-c", importAll("openapi_client")],
    [join(packages, "bin", "python"), "client/calls.py"]
  ]
}

export const goOfOpenapiGenerator: Generator = {
  needs: [java, maven, ["go", "version"]],
  tools: [openapiGenerator, go("openapi-generator-7.25.0-go", "gopkg.in/validator.v2@v2.0.1")],
  program: "client/calls/main.go",
  steps: (folder, modules) => [
    generate(folder, "go", "--git-host", "example.com", "--git-user-id", "shop", "--git-repo-id", "client"),
    [...goIn(modules), "-C", "client", "vet", "./..."],
    [...goIn(modules), "-C", "client", "run", "./calls"]
  ]
}

export const javaOfOpenapiGenerator: Generator = {
  needs: [java, maven, ["javac", "-version"]],
  tools: [
    openapiGenerator,
    jars(
      "openapi-generator-7.25.0-java",
      "com.google.code.findbugs:jsr305:3.0.2",
      "com.google.code.gson:gson:2.10.1",
      "com.squareup.okhttp3:logging-interceptor:4.12.0",
      "com.squareup.okhttp3:okhttp:4.12.0",
      "io.gsonfire:gson-fire:1.9.0",
      "jakarta.annotation:jakarta.annotation-api:1.3.5",
      "jakarta.ws.rs:jakarta.ws.rs-api:2.1.6",
      "org.apache.commons:commons-lang3:3.18.0",
      "org.openapitools:jackson-databind-nullable:0.2.11"
    )
  ],
  program: "client/src/main/java/Calls.java",
  steps: (folder, libraries) => {
    const path = ["-cp", `classes:${libraries}/*`]
    return [
      generate(folder, "java"),
      ["sh", "-c", "find client/src/main/java -name '*.java' > sources"],
      ["javac", "-nowarn", "-proc:none", "-d", "classes", ...path, "@sources"],
      ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", ...path, "Calls"]
    ]
  }
}
