/** Generators of clients, as their users call them: what each needs, and how it makes and compiles a client. */
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import type { OpenApi } from "../../src/index.ts"
import {
  type Command,
  commonModules,
  compiled,
  go,
  goIn,
  importAll,
  jar,
  jars,
  npm,
  pip,
  runOfNode,
  shortGoRun,
  shortRun,
  tscOfBundlers,
  tscOfNode
} from "./clientTools.ts"
import type { Installed } from "./installed.ts"

export interface Generator {
  /** Programs that the machine has to have: without one of them nothing is installed, and the test is skipped. */
  readonly needs: ReadonlyArray<readonly [program: string, ...args: ReadonlyArray<string>]>
  /** What is installed for it. */
  readonly tools: ReadonlyArray<() => Promise<Installed>>
  /** The file of the program that calls the client of a service. */
  readonly program: (service: string) => string
  /** Files that the generator or the compiler reads. */
  readonly files?: (services: ReadonlyArray<string>) => { readonly [name: string]: string }
  /** What OpenAPI Generator is told of a service in a folder: it makes the clients of all languages before the steps of each. */
  readonly batch?: (folder: string, service: string, own: Options) => string
  /** The commands that make and compile the clients, each beside the `openapi.json` in the folder of its service. */
  readonly steps: (services: ReadonlyArray<string>, ...folders: ReadonlyArray<string>) => ReadonlyArray<Command>
  /** The command that runs the program of a service. */
  readonly run: (service: string, ...folders: ReadonlyArray<string>) => Command
}

/** What generators are told of a service. */
export interface Options {
  /** Names of fields and parameters in the place of those that a language can't have, or has twice. */
  readonly names?: { readonly [name: string]: string }
  /** Types in the place of others. */
  readonly types?: { readonly [type: string]: string }
}

/** A service whose client is made. */
interface Described extends Options {
  readonly document: OpenApi.Document
}

/** The program that calls it with `args`. */
interface Called extends Described {
  readonly program: string
  readonly args: ReadonlyArray<string>
}

const execute = promisify(execFile)

const looks = new Map<string, Promise<boolean>>()

/** Whether a program starts, which is tried once. */
const isOnPath = ([program, ...args]: Generator["needs"][number]): Promise<boolean> => {
  const look = looks.get(program) ?? execute(program, args).then(() => true, () => false)
  looks.set(program, look)
  return look
}

/** What a program prints; when it fails, what it complains of. */
const printed = ([program = "", ...args]: Command, cwd: string): Promise<string> =>
  execute(program, args, { cwd, timeout: 540_000, maxBuffer: 2 ** 26 }).then(
    ({ stdout }) => stdout,
    (error: Error & { readonly stdout?: string; readonly stderr?: string }) => {
      const said = `${error.stdout ?? ""}${error.stderr ?? ""}`
      throw new Error(`${program} ${args.join(" ")}: ${said === "" ? error.message : said}`)
    }
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

/** Makes the clients, compiles each with its program, and runs these: what they print, as JSON. */
export const printedByClients = Effect.fnUntraced(function*(
  generator: Generator,
  called: { readonly [service: string]: Called },
  /** The folder with what OpenAPI Generator has made for it. */
  made: () => Promise<string>,
  skip: (reason: string) => never
) {
  for (const needed of generator.needs) {
    if (!(yield* Effect.promise(() => isOnPath(needed)))) skip(`${needed[0]} is not on the path`)
  }
  const folders: Array<string> = []
  for (const tool of generator.tools) {
    const found = yield* Effect.promise(tool)
    folders.push("reason" in found ? skip(found.reason) : found.folder)
  }
  const place = yield* workplace(folders[0]!)
  const services = Object.keys(called)
  const { batch, files, steps } = generator
  for (const [name, text] of Object.entries(files?.(services) ?? {})) write(join(place, name), text)
  for (const [service, { document, program }] of Object.entries(called)) {
    write(join(place, service, "openapi.json"), JSON.stringify(document))
    write(join(place, service, generator.program(service)), program)
  }
  if (batch !== undefined) cpSync(yield* Effect.promise(made), place, { recursive: true })
  for (const step of steps(services, ...folders)) yield* Effect.promise(() => printed(step, place))
  const answers: { [service: string]: { readonly [call: string]: unknown } } = {}
  for (const [service, { args }] of Object.entries(called)) {
    const command = [...generator.run(service, ...folders), ...args]
    answers[service] = JSON.parse(yield* Effect.promise(() => printed(command, place)))
  }
  return answers
})

const write = (file: string, text: string) => {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

// the generators

/** Those that npm has, in one folder, since they share most of what they depend on. */
const ofNpm = npm(
  "openapi-typescript-7.13.0-hey-api-0.99.0-orval-8.38.0",
  "openapi-typescript@7.13.0",
  "openapi-fetch@0.17.0",
  "@hey-api/openapi-ts@0.99.0",
  "orval@8.38.0",
  "typescript@5.9.3"
)

export const openapiTypescript: Generator = {
  needs: [],
  tools: [ofNpm],
  program: () => "calls.ts",
  files: () => ({ "package.json": `{ "type": "module" }` }),
  steps: (services, folder) => [
    ...services.map((service) => [
      process.execPath,
      join(folder, "node_modules/openapi-typescript/bin/cli.js"),
      `${service}/openapi.json`,
      "-o",
      `${service}/schema.d.ts`
    ]),
    compiled(tscOfNode, services)
  ],
  run: runOfNode
}

export const heyApi: Generator = {
  needs: [],
  tools: [ofNpm],
  program: () => "calls.ts",
  files: commonModules,
  steps: (services, folder) => [
    ...services.map((service) => [
      process.execPath,
      join(folder, "node_modules/@hey-api/openapi-ts/bin/run.js"),
      "-i",
      `./${service}/openapi.json`,
      "-o",
      `${service}/client`,
      "--silent"
    ]),
    compiled(tscOfBundlers, services)
  ],
  run: runOfNode
}

export const orval: Generator = {
  needs: [],
  tools: [ofNpm],
  program: () => "calls.ts",
  files: (services) => ({
    ...commonModules(),
    "orval.config.json": JSON.stringify(
      Object.fromEntries(services.map((service) => [service, {
        input: `./${service}/openapi.json`,
        output: {
          target: `./${service}/client.ts`,
          client: "fetch",
          override: { mutator: { path: "./request.ts", name: "request" } }
        }
      }]))
    ),
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
  }),
  steps: (services, folder) => [
    [process.execPath, join(folder, "node_modules/orval/dist/bin/orval.mjs"), "--config", "orval.config.json"],
    compiled(tscOfBundlers, services)
  ],
  run: runOfNode
}

export const openapiPythonClient: Generator = {
  needs: [],
  tools: [pip("openapi-python-client-0.29.1", "openapi-python-client==0.29.1")],
  program: () => "calls.py",
  files: () => ({
    // As the documentation has it.
    "config.yml": `
post_hooks: []
content_type_overrides:
  application/json-patch+json: text/plain
  multipart/form-data: text/plain
  application/x-www-form-urlencoded: text/plain
`
  }),
  steps: (services, folder) => [
    ...services.map((service) => [
      join(folder, "bin", "python"),
      "-m",
      "openapi_python_client",
      "generate",
      "--path",
      `${service}/openapi.json`,
      "--config",
      "config.yml",
      "--meta",
      "none",
      "--output-path",
      `${service}/client`
    ]),
    [join(folder, "bin", "python"), "-c", importAll(services.map((service) => `${service}.client`))]
  ],
  run: (service, folder) => [join(folder, "bin", "python"), `${service}/calls.py`]
}

const openapiGenerator = jar("openapi-generator-7.25.0", "org.openapitools:openapi-generator-cli:7.25.0")

/**
 * Has OpenAPI Generator make the clients of services in several languages: the folder of a language has one for each service,
 * with its `client`. It makes all of them in one process, since most of a process's time goes into its start.
 */
export const madeByOpenapiGenerator = async (
  place: string,
  languages: {
    readonly [language: string]: {
      readonly generator: Generator
      readonly services: { readonly [service: string]: Described }
    }
  }
): Promise<void> => {
  const tool = await openapiGenerator()
  if ("reason" in tool) throw new Error(tool.reason)
  const configurations = Object.entries(languages).flatMap(([language, { generator: { batch }, services }]) =>
    batch === undefined ? [] : Object.entries(services).map(([service, { document, ...own }]) => {
      const folder = `${language}/${service}`
      write(join(place, folder, "openapi.json"), JSON.stringify(document))
      write(join(place, folder, "generator.json"), batch(folder, service, own))
      return `${folder}/generator.json`
    })
  )
  const program = join(tool.folder, "openapi-generator-cli-7.25.0.jar")
  await printed(["java", ...shortRun, "-jar", program, "batch", "--fail-fast", ...configurations], place)
}

/** What OpenAPI Generator is told of a service in a folder. */
const ofOpenapiGenerator = (
  language: string,
  more: (service: string) => object = () => ({})
): NonNullable<Generator["batch"]> =>
(folder, service, { names = {}, types = {} }) =>
  JSON.stringify({
    generatorName: language,
    inputSpec: `${folder}/openapi.json`,
    outputDir: `${folder}/client`,
    globalProperties: {
      apiDocs: "false",
      modelDocs: "false",
      apiTests: "false",
      modelTests: "false",
      // As the documentation has it.
      skipFormModel: "false"
    },
    nameMappings: names,
    typeMappings: types,
    // Setters of a client for Go have the names of fields, and begin them with a capital letter.
    parameterNameMappings: Object.fromEntries(
      Object.entries(names).map(([name, own]) => [name, uncapitalised(own)])
    ),
    ...more(service)
  })

const uncapitalised = (name: string) => `${name.charAt(0).toLowerCase()}${name.slice(1)}`

const java = ["java", "-version"] as const
const maven = ["mvn", "-version"] as const

// As the documentation has it.
const oneTag = { openapiNormalizer: { KEEP_ONLY_FIRST_TAG_IN_OPERATION: "true" } }

export const typescriptOfOpenapiGenerator: Generator = {
  batch: ofOpenapiGenerator("typescript-fetch", () => ({
    ...oneTag,
    additionalProperties: { prefixParameterInterfaces: true }
  })),
  needs: [java, maven],
  tools: [openapiGenerator],
  program: () => "calls.ts",
  files: commonModules,
  steps: (services) => [compiled(tscOfBundlers, services)],
  run: runOfNode
}

export const pythonOfOpenapiGenerator: Generator = {
  batch: ofOpenapiGenerator("python"),
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
  // The package of the client imports all of its modules.
  program: () => "client/calls.py",
  steps: () => [],
  run: (service, _, packages) => [join(packages, "bin", "python"), `${service}/client/calls.py`]
}

const goOptions = (service: string) => ({ ...oneTag, gitHost: "example.com", gitUserId: service, gitRepoId: "client" })

export const goOfOpenapiGenerator: Generator = {
  batch: ofOpenapiGenerator("go", goOptions),
  needs: [java, maven, ["go", "version"]],
  tools: [openapiGenerator, go("openapi-generator-7.25.0-go", "gopkg.in/validator.v2@v2.0.1")],
  program: (service) => `client/${service}/main.go`,
  steps: (services, _, modules) => [
    [...goIn(modules), "work", "init", ...services.map((service) => `./${service}/client`)],
    [
      ...goIn(modules),
      "build",
      ...shortGoRun,
      "-o",
      "programs/",
      ...services.map((service) => `./${service}/client/...`)
    ]
  ],
  run: (service) => [`programs/${service}`]
}

const javaOptions = (service: string) => ({
  additionalProperties: { invokerPackage: service, apiPackage: `${service}.api`, modelPackage: `${service}.model` }
})
const classes = (libraries: string) => ["-cp", `classes:${libraries}/*`]

export const javaOfOpenapiGenerator: Generator = {
  batch: ofOpenapiGenerator("java", javaOptions),
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
  program: (service) => `client/src/main/java/${service}/Calls.java`,
  steps: (_, __, libraries) => [
    ["sh", "-c", "find */client/src/main/java -name '*.java' > sources"],
    [
      "javac",
      ...shortRun.map((option) => `-J${option}`),
      "-g:none",
      "-nowarn",
      "-proc:none",
      "-d",
      "classes",
      ...classes(libraries),
      "@sources"
    ]
  ],
  run: (service, _, libraries) => [
    "java",
    ...shortRun,
    ...classes(libraries),
    `${service}.Calls`
  ]
}

const generators = [
  openapiTypescript,
  heyApi,
  orval,
  openapiPythonClient,
  typescriptOfOpenapiGenerator,
  pythonOfOpenapiGenerator,
  goOfOpenapiGenerator,
  javaOfOpenapiGenerator
]

/** Installs the generators for which the machine has what they need. */
export const installGenerators = async (): Promise<void> => {
  for (const { needs, tools } of generators) {
    if (!(await Promise.all(needs.map(isOnPath))).every((isThere) => isThere)) continue
    for (const tool of tools) await tool()
  }
}
