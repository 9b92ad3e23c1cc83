/** Generators of clients, as their users call them: what each needs, and how it makes and compiles a client. */
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
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
  /** What the generator is told of a service, in a file in its folder. */
  readonly options?: { readonly file: string; readonly of: (service: string, own: Options) => string }
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

/** A service whose client is made, and the program that calls it with `args`. */
interface Called extends Options {
  readonly document: OpenApi.Document
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
const printed = ([program = "", ...args]: Command, cwd: string) =>
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

/** Makes the clients, compiles each with its program, and runs these: what they print, as JSON. */
export const printedByClients = Effect.fnUntraced(function*(
  generator: Generator,
  called: { readonly [service: string]: Called },
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
  const { files, options, steps } = generator
  for (const [name, text] of Object.entries(files?.(services) ?? {})) write(join(place, name), text)
  for (const [service, { document, program, ...own }] of Object.entries(called)) {
    write(join(place, service, "openapi.json"), JSON.stringify(document))
    write(join(place, service, generator.program(service)), program)
    if (options !== undefined) write(join(place, service, options.file), options.of(service, own))
  }
  for (const step of steps(services, ...folders)) yield* printed(step, place)
  const answers: { [service: string]: { readonly [call: string]: unknown } } = {}
  for (const [service, { args }] of Object.entries(called)) {
    answers[service] = JSON.parse(yield* printed([...generator.run(service, ...folders), ...args], place))
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

/** OpenAPI Generator, which makes the clients of all services in one go, each in the folder `client` of its service. */
const ofOpenapiGenerator = (
  language: string,
  more: (service: string) => object = () => ({})
): Pick<Generator, "options"> & {
  readonly generate: (services: ReadonlyArray<string>, folder: string) => Command
} => ({
  options: {
    file: "generator.json",
    of: (service, { names = {}, types = {} }) =>
      JSON.stringify({
        generatorName: language,
        inputSpec: `${service}/openapi.json`,
        outputDir: `${service}/client`,
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
  },
  generate: (services, folder) => [
    "java",
    ...shortRun,
    "-jar",
    join(folder, "openapi-generator-cli-7.25.0.jar"),
    "batch",
    "--fail-fast",
    ...services.map((service) => `${service}/generator.json`)
  ]
})

const uncapitalised = (name: string) => `${name.charAt(0).toLowerCase()}${name.slice(1)}`

const java = ["java", "-version"] as const
const maven = ["mvn", "-version"] as const

// As the documentation has it.
const oneTag = { openapiNormalizer: { KEEP_ONLY_FIRST_TAG_IN_OPERATION: "true" } }

const typescript = ofOpenapiGenerator("typescript-fetch", () => ({
  ...oneTag,
  additionalProperties: { prefixParameterInterfaces: true }
}))

export const typescriptOfOpenapiGenerator: Generator = {
  ...typescript,
  needs: [java, maven],
  tools: [openapiGenerator],
  program: () => "calls.ts",
  files: commonModules,
  steps: (services, folder) => [typescript.generate(services, folder), compiled(tscOfBundlers, services)],
  run: runOfNode
}

const python = ofOpenapiGenerator("python")

export const pythonOfOpenapiGenerator: Generator = {
  ...python,
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
  steps: (services, folder) => [python.generate(services, folder)],
  run: (service, _, packages) => [join(packages, "bin", "python"), `${service}/client/calls.py`]
}

const goOptions = (service: string) => ({ ...oneTag, gitHost: "example.com", gitUserId: service, gitRepoId: "client" })
const golang = ofOpenapiGenerator("go", goOptions)

export const goOfOpenapiGenerator: Generator = {
  ...golang,
  needs: [java, maven, ["go", "version"]],
  tools: [openapiGenerator, go("openapi-generator-7.25.0-go", "gopkg.in/validator.v2@v2.0.1")],
  program: (service) => `client/${service}/main.go`,
  steps: (services, folder, modules) => [
    golang.generate(services, folder),
    [...goIn(modules), "work", "init", ...services.map((service) => `./${service}/client`)],
    [...goIn(modules), "build", "-o", "programs/", ...services.map((service) => `./${service}/client/...`)]
  ],
  run: (service) => [`programs/${service}`]
}

const javaOptions = (service: string) => ({
  additionalProperties: { invokerPackage: service, apiPackage: `${service}.api`, modelPackage: `${service}.model` }
})
const javaLanguage = ofOpenapiGenerator("java", javaOptions)
const classes = (libraries: string) => ["-cp", `classes:${libraries}/*`]

export const javaOfOpenapiGenerator: Generator = {
  ...javaLanguage,
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
  steps: (services, folder, libraries) => [
    javaLanguage.generate(services, folder),
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
