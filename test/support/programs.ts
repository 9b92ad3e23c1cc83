/**
 * The programs that tests start as processes, put together from their sources in few files: a process of many hundred files
 * starts in five times the time. They are put together once for a run of the tests, when the first of them is started.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { setTimeout } from "node:timers/promises"
import { pathToFileURL } from "node:url"
import { type Plugin, rolldown } from "rolldown"
import { inject } from "vitest"

declare module "vitest" {
  interface ProvidedContext {
    /** A folder for programs, which is removed after the run. */
    readonly programs: string
  }
}

const root = path.join(import.meta.dirname, "../..")

/** Those that a test starts, and the modules that the command is told to load. */
const files = [
  "test/support/*Program.ts",
  "test/support/cli/*.ts",
  "src/Cli/Main.ts",
  "examples/*.ts",
  "examples/*/*.ts"
]

/** The packages that are put together with the sources; others are few files, or not made for it. */
const external = /^(?!effect(?:\/|$)|@effect\/|@?appkernel(?:\/|$)|yaml$|jose$|#)[\w@]/u

/** The file to start in place of a source; the source itself if it is none of these programs. */
export const builtFrom = async (source: string): Promise<string> => {
  const name = path.relative(root, path.resolve(source))
  const folder = path.join(inject("programs"), "built")
  const file = path.join(folder, outOf(name))
  if (!files.some((pattern) => path.matchesGlob(name, pattern))) return source
  while (!fs.existsSync(folder)) await buildOnce(folder)
  return file
}

/** Where the compiled code of the programs is kept. */
export const compileCache = (): string => path.join(inject("programs"), "compiled")

const outOf = (source: string): string => source.replace(/\.ts$/u, ".mjs")

/** Builds them, or waits a little while another worker does. */
const buildOnce = async (folder: string): Promise<void> => {
  const lock = `${folder}.lock`
  try {
    fs.mkdirSync(lock)
  } catch {
    return setTimeout(50)
  }
  try {
    if (!fs.existsSync(folder)) await build(folder)
  } finally {
    fs.rmdirSync(lock)
  }
}

const build = async (folder: string): Promise<void> => {
  const initial = new Set([path.join(root, "src/index.ts")])
  const sources = fs.globSync(files, { cwd: root })
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(sources.map((source) => [source.slice(0, -".ts".length), source])),
    platform: "node",
    resolve: { conditionNames: ["source", "node", "import"] },
    external,
    // What is in the one file need not be loaded later.
    checks: { ineffectiveDynamicImport: false },
    treeshake: { moduleSideEffects: true },
    plugins: [inPlace(folder), {
      name: "initial modules",
      buildEnd() {
        for (const id of initial) {
          for (const imported of this.getModuleInfo(id)?.importedIds ?? []) initial.add(imported)
        }
      }
    }]
  })
  // The folder has its name when all is in it.
  const draft = fs.mkdtempSync(`${folder}-`)
  await bundle.write({
    dir: draft,
    format: "esm",
    keepNames: true,
    entryFileNames: "[name].mjs",
    chunkFileNames: "chunks/[name].mjs",
    // One file has what the package loads at once: most of these programs load all of it.
    codeSplitting: {
      groups: [{ debugName: "initial modules", name: (id) => initial.has(id) ? "package" : null }]
    }
  })
  await bundle.close()
  fs.symlinkSync(path.join(root, "node_modules"), path.join(draft, "node_modules"))
  // Examples have their configuration beside them.
  for (const name of fs.globSync("examples/*/cfg.yml", { cwd: root })) {
    fs.copyFileSync(path.join(root, name), path.join(draft, name))
  }
  fs.renameSync(draft, folder)
}

/** Modules find the files beside their source. */
const inPlace = (folder: string): Plugin => ({
  name: "in place",
  transform: {
    filter: { id: /\/(?:src|examples)\/[^]*\.ts$/u, code: "import.meta." },
    handler: (code, id) => {
      const name = path.relative(root, id)
      return code
        .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
        .replaceAll("import.meta.dirname", JSON.stringify(path.dirname(id)))
        .replaceAll(
          /(?<!")import\.meta\.main/gu,
          `(process.argv[1] === ${JSON.stringify(path.join(folder, outOf(name)))})`
        )
        .replaceAll("import.meta.resolve(\"#redoc\")", JSON.stringify(redoc))
        .replaceAll("import.meta.resolve(\"#explorer\")", JSON.stringify(explorer))
    }
  }
})

const explorer = pathToFileURL(path.join(root, "packages/explorer/dist/manifest.json")).href

const redoc = pathToFileURL(path.join(root, "node_modules/redoc/bundles/redoc.standalone.js")).href
