// The linter's rules for imports, made of the table of rooms.
import * as fs from "node:fs"
import * as path from "node:path"
import type { OxlintOverride } from "oxlint"
import { type Folder, folders, roomsBelow } from "./rooms.ts"

const root = path.join(import.meta.dirname, "..")

const packages = [
  { name: "effect", message: "Import the module: effect/Effect." },
  { name: "@effect/platform-node", message: "Import the module: @effect/platform-node/NodeHttpServer." },
  { name: "appkernel", message: "Import the file." }
]

/** What stands before the names of the one folder's files in imports of the other one's, as a regular expression. */
const wayTo = (from: string, to: string): string => {
  const way = path.posix.relative(from, to)
  return `${way === "" ? "." : way.startsWith("..") ? way : `./${way}`}/`.replaceAll(".", "\\.")
}

const modulesAt = (at: string): ReadonlyArray<string> =>
  fs.readdirSync(path.join(root, at)).filter((file) => /\.tsx?$/u.test(file)).map((file) => path.parse(file).name)

/** What browsers don't load of a folder: its rooms, and its root modules but those of portable rooms. */
const unportableIn = (folder: string): string => {
  const rooms = Object.values(folders[folder]!.rooms)
  const portable = new Set(rooms.flatMap(({ isPortable, modules }) => isPortable === true ? modules ?? [] : []))
  const others = modulesAt(`src/${folder}`).filter((module) => !portable.has(module))
  return String.raw`${folder}/(?:[a-z]|${anyOf(others)})`
}

const anyOf = (names: ReadonlyArray<string>): string => `(?:${names.join("|")})\\.tsx?$`

/** What a room that browsers load does not import. */
const portable = [
  { group: ["node:*", "@effect/platform-node/**"], message: "Clients load this room, browsers included." },
  {
    group: ["@appkernel/*/**", "!@appkernel/document-store/internal", "!@appkernel/document-store/StoreError"],
    message: "Clients load this room, browsers included."
  },
  {
    regex: String.raw`^(?:\.\./)+(?:${
      ["Files", "Repository", "Client", "Security", "Jobs"].map(unportableIn).join("|")
    })`,
    allowTypeImports: true,
    message: "Clients load this room: it may import types of other folders only, and models."
  }
]

/** The names by which other packages import the modules of ours. */
const allEntries = fs.globSync("packages/*/package.json", { cwd: root }).flatMap((file) => {
  const { exports, name } = JSON.parse(fs.readFileSync(path.join(root, file), "utf8")) as {
    readonly name: string
    readonly exports: object
  }
  return Object.keys(exports).map((entry) => name + entry.slice(1))
})

const atOf = (name: string): string => folders[name]?.at ?? `src/${name}`

/** The modules at the root of a folder that stand on all of its rooms. */
const topModules = (name: string, { rooms }: Folder): ReadonlyArray<string> => {
  const below = new Set(Object.values(rooms).flatMap(({ modules = [] }) => modules))
  return modulesAt(atOf(name)).filter((module) => !below.has(module))
}

/** The rules for the files of one room, or of a folder's top modules, which may import all rooms. */
const rulesFor = (name: string, folder: Folder, room: string | undefined): OxlintOverride => {
  const { entries, on, rooms, without } = folder
  const own = room === undefined ? undefined : rooms[room]
  const floor = atOf(name)
  const at = room === undefined || own?.modules !== undefined ? floor : `${floor}/${room}`
  const below = room === undefined ? new Set(Object.keys(rooms)) : roomsBelow(folder, room)
  const closed = Object.entries(rooms).filter(([other]) => other !== room && !below.has(other)).map(
    ([other, { modules }]) =>
      modules === undefined ? `${wayTo(at, `${floor}/${other}`)}[^/]+$` : wayTo(at, floor) + anyOf(modules)
  )
  const top = topModules(name, folder)
  const above = room === undefined || top.length === 0 ? [] : [wayTo(at, floor) + anyOf(top)]
  const others = Object.keys(folders).filter((other) => other !== name).map((other) =>
    wayTo(at, atOf(other)) + (on.includes(other) && folders[other]!.at === undefined ? "[^/]+/" : "")
  )
  const allowed = [...below].join(", ")
  return {
    files: own?.modules === undefined
      ? [`${at}/*.{ts,tsx}`]
      : own.modules.map((module) => `${at}/${module}.{ts,tsx}`),
    rules: {
      "no-restricted-imports": ["error", {
        paths: packages,
        patterns: [
          {
            regex: `^(?:${[...closed, ...above].join("|")})`,
            message: `${name}/${room} may import ${allowed || "no other room"} (scripts/rooms.ts).`
          },
          {
            regex: `^(?:${others.join("|")})`,
            message: `${name} may import the root modules of ${on.join(", ") || "no other folder"} (scripts/rooms.ts).`
          },
          { group: ["**/index.ts"], message: "Import the file, not the folder." },
          {
            group: allEntries.filter((entry) =>
              !entries.some((one) => new RegExp(`^@appkernel/${one}$`, "u").test(entry))
            ),
            message: `${name} may import ${entries.join(", ") || "no entry"} of our packages (scripts/rooms.ts).`
          },
          { group: [...without.packages], message: without.because },
          ...(own?.isPortable === true ? portable : [])
        ].filter(({ regex }) => regex !== "^(?:)")
      }]
    }
  }
}

const foldersIn = (at: string): ReadonlyArray<string> =>
  fs.readdirSync(path.join(root, at), { withFileTypes: true, recursive: true }).filter((entry) => entry.isDirectory())
    .map((entry) => path.posix.relative(at, path.posix.join(path.relative(root, entry.parentPath), entry.name)))

/** The folders with modules that the table does not have, and the rooms of it that are no folder. */
const unlisted = (): ReadonlyArray<string> => {
  const listed = new Set(
    Object.entries(folders).flatMap(([name, { rooms }]) => [
      atOf(name),
      ...Object.entries(rooms).flatMap(([room, { modules }]) => modules === undefined ? [`${atOf(name)}/${room}`] : [])
    ])
  )
  const all = ["src", ...Object.values(folders).flatMap(({ at }) => at === undefined ? [] : [at])].flatMap((at) => [
    ...(at === "src" ? [] : [at]),
    ...foldersIn(at).map((folder) => `${at}/${folder}`)
  ])
  const there = new Set(all.filter((folder) => !folder.startsWith("src/internal") && modulesAt(folder).length > 0))
  return [...listed, ...there].filter((folder) => !listed.has(folder) || !there.has(folder))
}

/** One entry for each room, behind that for the modules on top of its folder. */
export const importRules = (): Array<OxlintOverride> => {
  const wrong = unlisted()
  if (wrong.length > 0) throw new Error(`scripts/rooms.ts and the sources differ in ${wrong.join(", ")}`)
  return [
    {
      files: ["src/internal/**/*.ts"],
      rules: {
        "no-restricted-imports": ["error", {
          paths: packages,
          patterns: [{ regex: String.raw`^\.\./`, message: "src/internal imports no folder." }]
        }]
      }
    },
    ...Object.entries(folders).flatMap(([name, folder]) => [
      rulesFor(name, folder, undefined),
      ...Object.keys(folder.rooms).map((room) => rulesFor(name, folder, room))
    ])
  ]
}
