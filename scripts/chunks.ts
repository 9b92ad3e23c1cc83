/**
 * Puts the modules together for Node, which loads a few large files faster than hundreds of small ones: one file for each
 * folder of the sources, and others for what is loaded when it is needed. Bundlers for browsers get the modules one by one.
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
const folders = ["Model", "Repository", "Client", "Security", "Access", "Http"]

const manifest = JSON.parse(fs.readFileSync("package.json", "utf8")) as Manifest
const entries = Object.values(manifest.exports).flatMap((entry) => typeof entry === "string" ? [] : [entry.source])

/** The first folder that needs a module, for each of those that the index loads at once. */
const folderOf = new Map<string, string>()

const bundle = await rolldown({
  input: Object.fromEntries(
    [...entries, "./src/Cli/Main.ts"].map((file) => [path.relative("src", file).slice(0, -".ts".length), file])
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
      const initial = new Set([path.join(source, "index.ts")])
      for (const id of initial) for (const imported of importedBy(id)) initial.add(imported)
      for (const folder of folders) {
        const needed = new Set([...initial].filter((id) => id.startsWith(path.join(source, folder) + path.sep)))
        for (const id of needed) {
          if (!folderOf.has(id)) folderOf.set(id, folder)
          for (const imported of importedBy(id)) needed.add(imported)
        }
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
    groups: [{ debugName: "folders", name: (id) => folderOf.get(id) ?? null }]
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
