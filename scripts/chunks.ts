/**
 * Puts the modules of the package in this folder together for Node, which loads a few large files faster than hundreds of
 * small ones: one file for each folder of the sources, or for each entry of a package without such folders, and others for
 * what is loaded when it is needed. Bundlers for browsers get the modules one by one.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { rolldown } from "rolldown"

interface Manifest {
  readonly exports: { readonly [entry: string]: string | { readonly source: string } }
}

const source = path.resolve("src")
const target = "dist/node"
/** The folders, each after those that it imports. */
const folders = ["Model", "Repository", "Client", "Security", "Access", "Http"].filter((folder) =>
  fs.existsSync(path.join(source, folder))
)

const manifest = JSON.parse(fs.readFileSync("package.json", "utf8")) as Manifest
const entries = Object.values(manifest.exports).flatMap((entry) => typeof entry === "string" ? [] : [entry.source])

const program = "./src/Cli/Main.ts"
const inputs = [...entries, ...(fs.existsSync(program) ? [program] : [])]

/** The first folder or entry that needs a module, for each of those that are loaded at once. */
const fileOf = new Map<string, string>()

const bundle = await rolldown({
  input: Object.fromEntries(
    inputs.map((file) => [path.relative("src", file).slice(0, -".ts".length), file])
  ),
  platform: "node",
  external: /^[^./]/u,
  preserveEntrySignatures: "allow-extension",
  // Otherwise the command's program has what others need, too, and runs with them.
  experimental: { chunkOptimization: false },
  plugins: [{
    name: "folders",
    buildEnd() {
      const importedBy = (id: string) => this.getModuleInfo(id)?.importedIds.filter((id) => id.startsWith(source)) ?? []
      const reachedFrom = (...ids: ReadonlyArray<string>): ReadonlySet<string> => {
        const reached = new Set(ids)
        for (const id of reached) for (const imported of importedBy(id)) reached.add(imported)
        return reached
      }
      const initial = [...reachedFrom(path.join(source, "index.ts"))]
      const within = (folder: string) => initial.filter((id) => id.startsWith(path.join(source, folder) + path.sep))
      const parts = folders.length > 0
        ? folders.map((folder): [string, ReadonlyArray<string>] => [folder, within(folder)])
        : entries.map((entry): [string, ReadonlyArray<string>] => [path.basename(entry, ".ts"), [path.resolve(entry)]])
      for (const [part, ids] of parts) {
        for (const id of reachedFrom(...ids)) if (!fileOf.has(id)) fileOf.set(id, part)
      }
    }
  }]
})

const { output } = await bundle.write({
  dir: target,
  format: "esm",
  sourcemap: true,
  sourcemapExcludeSources: true,
  keepNames: true,
  comments: { annotation: true, jsdoc: false, legal: true },
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/[name].js",
  codeSplitting: {
    includeDependenciesRecursively: false,
    groups: [{ debugName: "folders", name: (id) => fileOf.get(id) ?? null }]
  }
})
await bundle.close()

// Files that import one another would run in another order than their modules.
const imports = new Map(output.flatMap((file) => file.type === "chunk" ? [[file.fileName, file.imports] as const] : []))
const done = new Set<string>()
const visit = (file: string, above: ReadonlyArray<string>): void => {
  if (above.includes(file)) throw new Error(`The files import one another: ${[...above, file].join(", ")}`)
  if (done.has(file)) return
  for (const imported of imports.get(file) ?? []) visit(imported, [...above, file])
  done.add(file)
}
for (const file of imports.keys()) visit(file, [])
console.log(`${imports.size} files for Node in ${target}`)
