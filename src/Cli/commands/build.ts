/** `appkernel build`: makes a folder that runs without `node_modules`. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import process from "node:process"
import { parseArgs } from "node:util"
import type { CodeSplittingGroup, OutputChunk, Plugin } from "rolldown"
import { oneByteTexts } from "./oneByteTexts.ts"
import { CommandFailed, reported } from "./output.ts"

export const buildCommand = Command.make(
  "build",
  {
    program: Argument.String("program").pipe(
      Argument.withDescription("The program that starts the service. Defaults to src/main.ts"),
      Argument.withDefault("src/main.ts")
    ),
    out: Flag.String("out").pipe(
      Flag.withDescription("The folder that is made. Defaults to build"),
      Flag.withDefault("build")
    )
  },
  Effect.fnUntraced(
    function*({ out, program }) {
      const files = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const target = path.resolve(out)
      if (!(yield* files.exists(program))) return yield* new CommandFailed({ detail: `There is no program ${program}` })
      yield* assertOurs(target)
      yield* files.makeDirectory(path.dirname(target), { recursive: true })
      const hidden = yield* files.makeTempDirectoryScoped({ directory: path.dirname(target), prefix: ".build-" })
      // The hidden one is its owner's alone; what is made is as the umask says.
      const draft = path.join(hidden, "made")
      yield* files.makeDirectory(draft)
      const outside = yield* bundle(path.resolve(program), draft)
      for (const name of outside) {
        yield* copyPackage(name, path.resolve("node_modules"), path.join(draft, "node_modules"))
      }
      yield* files.writeFileString(path.join(draft, mainFile), main)
      yield* files.writeFileString(path.join(draft, "package.json"), manifest)
      const assets = yield* path.fromFileUrl(new URL(import.meta.resolve("#redoc")))
      yield* files.copyFile(assets, path.join(draft, redocFile))
      yield* copyExplorer(path.join(draft, explorerFolder))
      for (const name of ["cfg.yml", "translations"]) {
        if (yield* files.exists(name)) yield* files.copy(name, path.join(draft, name))
      }
      yield* replace(target, draft)
      yield* Console.log([
        `Made ${path.relative(".", target)}: node ${path.join(path.relative(".", target), mainFile)} starts it.`,
        `Outside of the program: ${outside.length === 0 ? "nothing" : outside.join(", ")}`
      ].join("\n"))
    },
    Effect.scoped,
    reported
  )
).pipe(
  Command.withDescription("Make a folder that starts by `node main.mjs`, without an installation"),
  Command.withExamples([{ command: "appkernel build", description: "Make the folder build of src/main.ts" }])
)

// internal

const mainFile = "main.mjs"

const programFile = "program.mjs"

/** What Node has compiled of the program, from its second start on, where it may write to the folder. */
const compiled = ".compiled"

// A Node that is too old for the program lacks the function, and the program says so.
const main = `import { join } from "node:path"
import module from "node:module"
const { dirname } = import.meta
module.enableCompileCache?.(join(dirname, "${compiled}"))
process.argv[1] = join(dirname, "${programFile}")
await import("./${programFile}")
`

const redocFile = "redoc.standalone.js"

const explorerFolder = "explorer"

/**
 * How the built program finds the script of a documentation page and the page of the explorer, and how this command knows its own
 * folders again.
 */
const manifest = `${
  JSON.stringify(
    {
      private: true,
      type: "module",
      appkernel: "build",
      imports: { "#redoc": `./${redocFile}`, "#explorer": `./${explorerFolder}/manifest.json` }
    },
    undefined,
    2
  )
}\n`

/** Copies the page of the explorer: what its manifest names. In a checkout of the sources it may not be built. */
const copyExplorer = Effect.fnUntraced(function*(target: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const source = path.dirname(yield* path.fromFileUrl(new URL(import.meta.resolve("#explorer"))))
  if (!(yield* files.exists(path.join(source, "manifest.json")))) return
  yield* files.makeDirectory(path.join(target, "assets"), { recursive: true })
  const text = yield* files.readFileString(path.join(source, "manifest.json"))
  const { files: names } = yield* Effect.orDie(decodeManifest(text))
  for (const name of ["manifest.json", "licenses.txt", ...names]) {
    yield* files.copyFile(path.join(source, name), path.join(target, name))
  }
})

const decodeManifest = Schema.decodeEffect(
  Schema.fromJsonString(Schema.Struct({ files: Schema.Array(Schema.String) }))
)

/** Of any version of this command. */
const decodeOwn = Schema.decodeEffect(
  Schema.fromJsonString(Schema.Struct({ appkernel: Schema.Literal("build") }))
)

/** Packages with native parts, which can't be in a bundle. */
const native = ["lmdb", "sharp"]

const assertOurs = Effect.fnUntraced(function*(target: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (!(yield* files.exists(target)) || (yield* files.readDirectory(target)).length === 0) return
  const found = yield* Effect.option(
    Effect.flatMap(files.readFileString(path.join(target, "package.json")), decodeOwn)
  )
  if (Option.isNone(found)) {
    return yield* new CommandFailed({ detail: `${target} is there already, and was not made by this command` })
  }
})

/** Puts what was made in the place of an earlier run's. Documents and keys of a service that ran there stay. */
const replace = Effect.fnUntraced(function*(target: string, draft: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (!(yield* files.exists(target)) || (yield* files.readDirectory(target)).length === 0) {
    yield* files.remove(target, { recursive: true, force: true })
    return yield* files.rename(draft, target)
  }
  const made = yield* files.readDirectory(draft)
  yield* files.remove(path.join(target, compiled), { recursive: true, force: true })
  const old = (yield* files.readDirectory(target)).filter((name) => name.endsWith(".mjs") && !made.includes(name))
  // The program comes after the parts that it loads, and they go after the one that loaded them.
  const last = [programFile, mainFile]
  for (const name of [...made.filter((name) => !last.includes(name)), ...last]) {
    const place = path.join(target, name)
    if ((yield* files.stat(path.join(draft, name))).type === "Directory") {
      yield* files.remove(place, { recursive: true, force: true })
    }
    yield* files.rename(path.join(draft, name), place)
  }
  for (const name of old) yield* files.remove(path.join(target, name))
})

const attempt = <A>(evaluate: () => Promise<A>) =>
  Effect.tryPromise({
    try: evaluate,
    catch: (cause) => new CommandFailed({ detail: `The program can't be built: ${String(cause)}` })
  })

/** The conditions of packages that this process has been given: the program is made with the same. */
const conditions = (): ReadonlyArray<string> => {
  const options = { conditions: { type: "string", short: "C", multiple: true } } as const
  const { values: { conditions = [] } } = parseArgs({ args: process.execArgv, options, strict: false })
  // Node has refused a flag without a value, which would be `true`.
  return conditions.filter((condition) => typeof condition === "string")
}

/** The program is what the user starts, though another file loads it; the modules that it loads are not. */
const started: Plugin = {
  name: "started",
  transform: {
    filter: { code: "import.meta.main" },
    handler(code, id) {
      return code.replaceAll("import.meta.main", String(this.getModuleInfo(id)?.isEntry === true))
    }
  }
}

/**
 * The modules of packages and of the framework that each start loads are one file beside the program's own, since Node takes as long for
 * a module as for a thousand lines of one. Otherwise they are divided by which of the parts that are loaded later import them. The user's
 * modules are not in that file: a module may await such a part while it is loaded, and the part would wait for the file.
 */
const initial = (framework: string): CodeSplittingGroup => ({
  debugName: "initial",
  name: (id) =>
    id.startsWith(framework) || /[/\\]node_modules[/\\]/u.test(id) || id.startsWith("\0") ? "initial" : null,
  tags: ["$initial"]
})

/** Writes the program and answers with the packages that it needs beside it. */
const bundle = Effect.fnUntraced(function*(input: string, dir: string) {
  const path = yield* Path.Path
  const [{ rolldown }, utils] = yield* Effect.tryPromise({
    try: () => Promise.all([import("rolldown"), import("rolldown/utils")]),
    catch: () => new CommandFailed({ detail: "The command build needs rolldown: npm install --save-dev rolldown" })
  })
  // That of the sources, or that of what is built of them.
  const framework = yield* path.fromFileUrl(new URL("../../", import.meta.url))
  const built = yield* Effect.acquireRelease(
    attempt(() => {
      const resolve = { conditionNames: [...conditions(), "node", "import"] }
      return rolldown({
        input,
        platform: "node",
        external: native,
        resolve,
        plugins: [started, oneByteTexts(utils)],
        logLevel: "silent"
      })
    }),
    (bundle) => Effect.promise(() => bundle.close())
  )
  const { output } = yield* attempt(() =>
    built.write({
      dir,
      format: "esm",
      entryFileNames: programFile,
      chunkFileNames: "[name]-[hash].mjs",
      codeSplitting: { groups: [initial(framework)] },
      minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
      keepNames: true
    })
  )
  const imported = new Set(
    output.filter((file): file is OutputChunk => file.type === "chunk")
      .flatMap(({ dynamicImports, imports }) => [...imports, ...dynamicImports])
  )
  // One that the project does not have is optional.
  return yield* Effect.filter(
    native.filter((name) => imported.has(name)),
    (name) => Effect.map(findPackage(name, path.resolve("node_modules")), (found) => found !== undefined)
  )
})

const Manifest = Schema.fromJsonString(Schema.Struct({
  version: Schema.String,
  dependencies: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  optionalDependencies: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
}))

/** Copies a package and those that it needs, each beside the other or, in another version, within. */
const copyPackage: (
  name: string,
  from: string,
  to: string
) => Effect.Effect<void, CommandFailed, FileSystem.FileSystem | Path.Path> = Effect.fnUntraced(
  function*(name: string, from: string, to: string) {
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const source = yield* findPackage(name, from)
    if (source === undefined) return
    const { dependencies = {}, optionalDependencies = {}, version } = yield* manifestOf(source)
    const target = path.join(to, name)
    if (yield* files.exists(target)) {
      if ((yield* manifestOf(target)).version === version) return
      return yield* new CommandFailed({ detail: `Two versions of ${name} can't be copied` })
    }
    yield* files.makeDirectory(path.dirname(target), { recursive: true })
    yield* files.copy(source, target)
    yield* files.remove(path.join(target, "node_modules"), { recursive: true, force: true })
    for (const needed of Object.keys({ ...dependencies, ...optionalDependencies })) {
      yield* copyPackage(needed, path.join(source, "node_modules"), to)
    }
  },
  Effect.catchTag("PlatformError", ({ message }) => Effect.fail(new CommandFailed({ detail: message })))
)

const manifestOf = Effect.fnUntraced(function*(folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return yield* Effect.flatMap(
    files.readFileString(path.join(folder, "package.json")),
    Schema.decodeUnknownEffect(Manifest)
  )
}, Effect.catchTag("SchemaError", ({ message }) => Effect.fail(new CommandFailed({ detail: message }))))

/** The folder of a package as Node finds it from a folder `node_modules`; an optional one may be missing. */
const findPackage = Effect.fnUntraced(function*(name: string, from: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (let folder = from;; folder = path.dirname(folder)) {
    const beside = path.basename(folder) === "node_modules" ? folder : path.join(folder, "node_modules")
    const candidate = path.join(beside, name)
    if (yield* files.exists(path.join(candidate, "package.json"))) return yield* files.realPath(candidate)
    if (folder === path.dirname(folder)) return undefined
  }
})
