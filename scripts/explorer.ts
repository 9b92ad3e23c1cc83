/**
 * Bundles the explorer's page into `packages/explorer/dist`, if it is missing or older than its sources: a file that the
 * page begins with, others for what it needs later, and `manifest.json`, which names them. As a program, it says their sizes.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { brotliCompressSync, gzipSync } from "node:zlib"
import { rolldown } from "rolldown"

const root = path.join(import.meta.dirname, "..")
const target = path.join(root, "packages/explorer/dist")

const connection =
  /packages\/(?:react-admin\/src\/|explorer\/src\/(?:data\/(?:documents|retry|text)|messages\/(?:english|locales)|palette|signIn\/signIn(?:Form|s))\.ts$)/u

const react = /node_modules\/(?:react|react-dom|scheduler)\/|packages\/explorer\/src\/react\.ts$/u

const theme =
  /node_modules\/(?:@emotion|@mui\/(?:material\/(?:styles|colors|utils)|system|utils|styled-engine|private-theming)|stylis)\/|packages\/explorer\/src\/theme\.ts$/u

/**
 * What the server reads: `first` is what `entry` needs to begin with, `preload` what it loads next for those who are signed in, and
 * all paths are relative to the manifest.
 */
interface Manifest {
  readonly entry: string
  readonly first: ReadonlyArray<string>
  readonly preload: ReadonlyArray<string>
  readonly files: ReadonlyArray<string>
}

const timeOf = (file: string): number =>
  fs.statSync(path.resolve(root, file), { throwIfNoEntry: false })?.mtimeMs ?? -Infinity

const sources =
  "{packages/explorer/src/**,packages/react-admin/src/**,packages/explorer/package.json,package-lock.json,scripts/explorer.ts}"

const isFresh = (): boolean => {
  const since = timeOf(path.join(target, "manifest.json"))
  return fs.globSync(sources, { cwd: root }).every((file) => timeOf(file) < since)
}

/** The folder with the bundled page. Several processes can ask for it at the same time. */
export const builtExplorer = async (): Promise<string> => {
  if (!isFresh()) await build()
  return target
}

const build = async (): Promise<void> => {
  const started = new Date()
  const bundle = await rolldown({
    cwd: path.join(root, "packages/explorer"),
    input: { main: "src/main.ts" },
    platform: "browser",
    resolve: { alias: sourcesOfPackages() },
    transform: { define: { "process.env.NODE_ENV": "\"production\"" } },
    // That a module is for a client of React's server components says nothing here.
    onLog: (level, log, handle) => log.code === "MODULE_LEVEL_DIRECTIVE" ? undefined : handle(level, log)
  })
  fs.mkdirSync(target, { recursive: true })
  const draft = fs.mkdtempSync(path.join(target, "draft-"))
  const { output } = await bundle.write({
    dir: draft,
    format: "esm",
    minify: true,
    comments: false,
    codeSplitting: {
      groups: [
        // It asks the service, while the browser still loads the page, which has all that its own modules need.
        { name: "connection", test: connection, priority: 2 },
        // What the page stands on is evaluated before it, in parts between which the browser answers.
        { name: "react", test: react, priority: 2 },
        { name: "theme", test: theme, priority: 2 },
        { name: "page", test: /packages\/explorer\/src\/page\.tsx$/u, priority: 1 }
      ]
    },
    entryFileNames: "assets/[name]-[hash].js",
    chunkFileNames: "assets/[name]-[hash].js"
  })
  await bundle.close()
  const chunks = output.filter((file) => file.type === "chunk")
  const scripts = chunks.map(({ fileName }) => fileName).toSorted()
  // It takes a second, which nobody should wait for who loads the page.
  const files = scripts.flatMap((file) => {
    const small = `${file}.br`
    fs.writeFileSync(path.join(draft, small), brotliCompressSync(fs.readFileSync(path.join(draft, file))))
    return [file, small]
  })
  const entry = chunks.find(({ isEntry }) => isEntry)!
  const page = chunks.find(({ name }) => name === "page")!
  const neededBy = (names: ReadonlyArray<string>) =>
    staticImportsOf(names, chunks).filter((file) => file !== entry.fileName)
  const manifest: Manifest = {
    entry: entry.fileName,
    first: neededBy([entry.fileName]),
    preload: neededBy([entry.fileName, page.fileName]),
    files
  }
  fs.writeFileSync(path.join(draft, "licenses.txt"), licensesOf(chunks.flatMap(({ moduleIds }) => moduleIds)))
  // The names have the contents' hashes, so what another process put there meanwhile is the same.
  fs.mkdirSync(path.join(target, "assets"), { recursive: true })
  for (const file of [...files, "licenses.txt"]) fs.renameSync(path.join(draft, file), path.join(target, file))
  fs.rmSync(draft, { recursive: true })
  const made = path.join(target, `manifest-${process.pid}.json`)
  fs.writeFileSync(made, `${JSON.stringify(manifest, undefined, 2)}\n`)
  // What was changed while it was built may not be in it.
  fs.utimesSync(made, started, started)
  fs.renameSync(made, path.join(target, "manifest.json"))
  for (const file of fs.readdirSync(path.join(target, "assets"))) {
    const name = `assets/${file}`
    // What an earlier build left; a page that is still open may ask for what is younger.
    if (!files.includes(name) && timeOf(path.join(target, name)) < Date.now() - 3_600_000) {
      fs.rmSync(path.join(target, name), { force: true })
    }
  }
}

/** Files, and all that they import from the start, directly or not. */
const staticImportsOf = (
  names: ReadonlyArray<string>,
  chunks: ReadonlyArray<{ readonly fileName: string; readonly imports: ReadonlyArray<string> }>
): ReadonlyArray<string> => {
  const found = new Set(names)
  // A set goes on with what is added to it meanwhile.
  for (const name of found) {
    for (const one of chunks.find(({ fileName }) => fileName === name)?.imports ?? []) found.add(one)
  }
  return [...found]
}

/** The sources of our packages, since what is built of them may not be there. */
const sourcesOfPackages = (): Record<string, string> =>
  Object.fromEntries(
    fs.globSync("packages/*/package.json", { cwd: root }).flatMap((file) => {
      const { exports, name } = JSON.parse(fs.readFileSync(path.join(root, file), "utf8")) as {
        readonly name: string
        readonly exports: { readonly [entry: string]: string | { readonly source?: string } }
      }
      return Object.entries(exports).flatMap(([entry, to]) =>
        typeof to === "string" || to.source === undefined
          ? []
          : [[`${name}${entry.slice(1)}$`, path.join(root, path.dirname(file), to.source)] as const]
      )
    })
  )

/** The licenses of the packages whose modules are in the bundle, which ask for it. */
const licensesOf = (modules: ReadonlyArray<string>): string => {
  const folders = new Set(
    modules.flatMap((id) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/@]+)\//u.exec(id)?.[1] ?? [])
  )
  return Array.from(folders).toSorted().map((folder) => {
    const { license, name, version } = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8")) as {
      readonly [key: string]: string
    }
    const file = fs.readdirSync(folder).find((entry) => /^licen[cs]e/iu.test(entry))
    const text = file === undefined ? `License: ${license}` : fs.readFileSync(path.join(folder, file), "utf8").trim()
    return `${name} ${version}\n\n${text}\n`
  }).join(`\n${"-".repeat(80)}\n\n`)
}

if (import.meta.main) {
  const folder = await builtExplorer()
  const { entry, files, preload } = JSON.parse(fs.readFileSync(path.join(folder, "manifest.json"), "utf8")) as Manifest
  for (const file of files.filter((name) => name.endsWith(".js"))) {
    const bytes = gzipSync(fs.readFileSync(path.join(folder, file)), { level: 9 }).length
    console.log(
      `${file}: ${Math.ceil(bytes / 1024)} KiB compressed${
        file === entry || preload.includes(file) ? ", with which the page begins" : ""
      }`
    )
  }
}
