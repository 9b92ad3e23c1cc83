import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { marks, pages, withPictures } from "../scripts/pictures.ts"
import { folders, roomsBelow } from "../scripts/rooms.ts"

const root = path.join(import.meta.dirname, "..")

/** One file of each room, by the name of the room: `Model/shape`. */
const files = new Map<string, string>()
for (const [folder, { at = `src/${folder}`, rooms }] of Object.entries(folders)) {
  for (const [room, { modules }] of Object.entries(rooms)) {
    files.set(`${folder}/${room}`, `${at}/${modules === undefined ? `${room}/aModule` : modules[0]}.ts`)
  }
}

/** What the linter says of a tree with these files, each as `file:line: message`. */
const lint = (tree: ReadonlyMap<string, string>): ReadonlyArray<string> => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "rooms-"))
  try {
    for (const [file, text] of tree) {
      fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
      fs.writeFileSync(path.join(folder, file), text)
    }
    fs.writeFileSync(
      path.join(folder, "oxlint.config.ts"),
      `export { default } from ${JSON.stringify(path.join(root, "oxlint.config.ts"))}\n`
    )
    const bin = path.join(root, "node_modules/oxlint/bin/oxlint")
    const { stdout } = spawnSync(process.execPath, [bin, "-f", "unix", "."], {
      cwd: folder,
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024
    })
    return stdout.split("\n").filter((line) => /no-restricted-imports|no-cycle/u.test(line))
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

const importOf = (from: string, to: string, i = 0): string => {
  const way = path.relative(path.dirname(from), to)
  return `import type { A as A${i} } from "${way.startsWith(".") ? way : `./${way}`}"\n`
}

describe("The rooms of src", () => {
  it("depend on rooms above them in the table only, so that directions have no cycle", () => {
    const wrong = Object.entries(folders).flatMap(([folder, { on, rooms }]) => {
      const names = Object.keys(rooms)
      const floors = Object.keys(folders)
      return [
        ...on.filter((other) => floors.indexOf(other) >= floors.indexOf(folder) || !floors.includes(other)),
        ...names.flatMap((name, i) => rooms[name]!.on.filter((below) => !names.slice(0, i).includes(below)))
      ]
    })
    assert.deepStrictEqual(wrong, [])
  })

  it("may be imported as the table says and in no other direction, types included", () => {
    const rooms = [...files.keys()]
    const tree = new Map([...files].map(([from, file]) => [
      file,
      rooms.filter((to) => to !== from).map((to, i) => importOf(file, files.get(to)!, i)).join("")
    ]))
    const refused = new Set(
      lint(tree).filter((line) => line.includes("no-restricted-imports")).map((line) => line.split(":", 2).join(":"))
    )
    const wrong = rooms.flatMap((from) =>
      rooms.filter((to) => to !== from).flatMap((to, i) => {
        const isRefused = refused.has(`${files.get(from)!}:${i + 1}`)
        return isRefused === mayImport(from, to) ? [`${from} -> ${to}: ${isRefused ? "refused" : "allowed"}`] : []
      })
    )
    assert.deepStrictEqual(wrong, [])
  })

  it("import the entries of packages that the table names, and no others", () => {
    const entries = fs.globSync("packages/*/package.json", { cwd: root }).flatMap((file) => {
      const { exports, name } = JSON.parse(fs.readFileSync(path.join(root, file), "utf8")) as {
        readonly name: string
        readonly exports: object
      }
      return Object.keys(exports).filter((entry) => entry !== "./package.json").map((entry) => name + entry.slice(1))
    })
    assert.isAbove(entries.length, 10)
    const tree = new Map(
      Object.entries(folders).map(([folder, { rooms }]) => [
        files.get(`${folder}/${Object.keys(rooms).find((room) => rooms[room]!.isPortable !== true)!}`)!,
        entries.map((entry, i) => `import type { A as A${i} } from "${entry}"\n`).join("")
      ])
    )
    const refused = new Set(lint(tree).map((line) => line.split(":", 2).join(":")))
    const wrong = Object.values(folders).flatMap((folder, n) =>
      entries.flatMap((entry, i) => {
        const isAllowed = folder.entries.some((one) => new RegExp(`^@appkernel/${one}$`, "u").test(entry))
        return refused.has(`${[...tree.keys()][n]!}:${i + 1}`) === isAllowed
          ? [`${entry} by ${Object.keys(folders)[n]!}`]
          : []
      })
    )
    assert.deepStrictEqual(wrong, [])
  })

  it("that clients load import no store and nothing of Node", () => {
    const rooms = folders["Http"]!.rooms
    const portable = Object.entries(rooms).filter(([, { isPortable }]) => isPortable === true).map(([room]) => room)
    assert.deepStrictEqual(portable, [
      "errors",
      "base",
      "description",
      "calls",
      "resource",
      "descriptions",
      "registration",
      "subscription",
      "typedClient",
      "contract"
    ])
    const wrong = portable.flatMap((room) => rooms[room]!.on.filter((below) => rooms[below]!.isPortable !== true))
    assert.deepStrictEqual(wrong, [])
    const tree = new Map(portable.map((room) => {
      const file = files.get(`Http/${room}`)!
      const store = path.relative(path.dirname(file), "src/Repository/DocumentStore.ts")
      return [
        file,
        [
          `import { DocumentStore } from "${store}"`,
          `import { createServer } from "node:http"`,
          `import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"`,
          `import type * as Types from "${store}"`,
          `import * as Model from "${path.relative(path.dirname(file), "src/Model/Model.ts")}"`
        ].join("\n")
      ]
    }))
    const rejected = lint(tree).map((line) => line.split(":", 2).join(":"))
    const expected = portable.flatMap((room) => [1, 2, 3].map((line) => `${files.get(`Http/${room}`)!}:${line}`))
    assert.deepStrictEqual(rejected.toSorted(), expected.toSorted())
  })

  it("have no cycle of imports, not even of types", () => {
    const [one, other] = ["src/Model/shape/aModule.ts", "src/Model/shape/another.ts"]
    const found = lint(
      new Map([
        [one, importOf(one, other)],
        [other, importOf(other, one)]
      ])
    )
    assert.deepStrictEqual(new Set(found.map((line) => line.split(":", 1)[0])), new Set([one, other]))
  })
})

describe("The folders that are read most", () => {
  it("have at most 24 modules each", () => {
    const counts = ["Http", "Http/routes", "Repository/repository"].map((folder) => [
      folder,
      fs.readdirSync(path.join(root, "src", folder)).filter((file) => file.endsWith(".ts") && file !== "index.ts")
        .length
    ])
    assert.deepStrictEqual(counts.filter(([, count]) => Number(count) > 24), [])
  })
})

/** Nobody imports the explorer's page, and its modules are as short as those of its components. */
const ownSources = fs.globSync("{src,packages/*/src}/**/*.ts", { cwd: root, exclude: ["packages/explorer/**"] })

describe("The files of src and the packages", () => {
  it("begin with what they have", () => {
    const sources = ownSources.toSorted()
    assert.isAbove(sources.length, 500)
    // A comment right above a declaration belongs to the declaration.
    const header = /^(?:#!.*\n)?\/\*\*(?:(?!\*\/)[^])+\*\/\n(?:\n|import |export (?:\*|\{|type \{))/u
    const without = sources.filter((file) => !header.test(fs.readFileSync(path.join(root, file), "utf8")))
    assert.deepStrictEqual(without, [])
  })

  it("export functions whose names stand once, but those that are always written with their module", () => {
    const sources = ownSources.toSorted()
    const texts = new Map(sources.map((file) => [file, fs.readFileSync(path.join(root, file), "utf8")]))
    const namespaces = new Set(
      [...texts].flatMap(([file, text]) =>
        Array.from(
          text.matchAll(/(?:import|import type|export) \* as \w+ from "(\.[^"]+)"/gu),
          ([, from = ""]) => path.join(path.dirname(file), from)
        )
      )
    )
    const places = new Map<string, Array<string>>()
    for (const [file, text] of texts) {
      // A module that users import is written with its name.
      if (namespaces.has(file) || /^[A-Z]/u.test(path.basename(file))) continue
      for (const [, name = ""] of text.matchAll(/^export (?:const|(?:async )?function\*?) (\w+)/gmu)) {
        places.set(name, [...places.get(name) ?? [], file])
      }
    }
    const twice = [...places].filter(([, files]) => files.length > 1)
    assert.deepStrictEqual(twice, [
      // A build for browsers takes the one for the other.
      ["compileParsers", ["src/Model/codec/compiledParsers.ts", "src/Model/codec/interpretedParsers.ts"]]
    ])
  })
})

/** The modules that are loaded with some of `src`, without those that are loaded by need: paths within `src`. */
const loadedWith = (...entries: ReadonlyArray<string>): ReadonlyArray<string> => {
  const loaded = new Set(entries.map((entry) => path.join(root, "src", entry)))
  for (const module of loaded) {
    const text = fs.readFileSync(module, "utf8")
    for (
      const [, names = "", from = ""] of text.matchAll(
        /^(?:import|export) (?!type)([^;"]*?) ?from "((?:\.|@appkernel\/)[^"]+)"/gmu
      )
    ) {
      const isTypes = /^\{(\s*type [^,}]*,?)*\s*\}$/u.test(names.trim())
      if (isTypes) continue
      const [, name, entry = "index"] = /^@appkernel\/([^/]+)(?:\/(.+))?$/u.exec(from) ?? []
      loaded.add(
        name === undefined
          ? path.resolve(path.dirname(module), from)
          : path.join(root, `packages/${name}/src/${entry}.ts`)
      )
    }
  }
  return Array.from(loaded, (module) => path.relative(path.join(root, "src"), module))
}

describe("What programs load", () => {
  // What the engine loads when it serves a resource of any store.
  const served = [
    "index.ts",
    "Http/startup/serve.ts",
    "Http/routes/resourceRoutes.ts",
    "../packages/mongo-store/src/store/store.ts"
  ] as const
  const language =
    /^..\/packages\/(?:mql\/src\/(?!bson|values)|embedded-store\/src\/(?!index|EmbeddedStore|store\/loaded))/u

  it("has no query language, geometry or LMDB for those who serve MongoDB", () => {
    const loaded = loadedWith(...served)
    assert.includeMembers([...loaded], ["Repository/Repository.ts", "../packages/mongo-store/src/store/operations.ts"])
    assert.deepStrictEqual(loaded.filter((module) => language.test(module)), [])
  })

  it("has nothing of access control for those without rules, but what the root exports", () => {
    const checks = /^Access\/|^Http\/routes\/(auditLog|authentication|authorization)|^Http\/startup\/access/u
    const [root, ...engine] = served
    const bySubpath = [
      "Http/KernelEngine.ts",
      "Http/KernelServer.ts",
      "Http/Resource.ts",
      "Http/Service.ts",
      "Http/OpenApi.ts"
    ]
    assert.deepStrictEqual(loadedWith(...bySubpath, ...engine).filter((module) => checks.test(module)), [])
    const words = ["Access/Grant.ts", "Access/Permission.ts", "Access/index.ts"]
    assert.deepStrictEqual(loadedWith(root).filter((module) => checks.test(module)).toSorted(), words)
  })

  it("has nothing of jobs for those without, but what the root exports", () => {
    const [root, ...engine] = served
    const jobs = /^Jobs\//
    assert.deepStrictEqual(loadedWith("Http/KernelEngine.ts", ...engine).filter((module) => jobs.test(module)), [])
    assert.deepStrictEqual(loadedWith(root).filter((module) => jobs.test(module)).toSorted(), [
      "Jobs/Job.ts",
      "Jobs/Mailer.ts",
      "Jobs/Webhooks.ts",
      "Jobs/Workflows.ts",
      "Jobs/index.ts",
      "Jobs/mail/mail.ts"
    ])
  })

  it("has them by need", () => {
    assert.isTrue(loadedWith("Repository/collection/rowFilteredCollection.ts").some((module) => language.test(module)))
    const access = loadedWith("Http/startup/access.ts")
    assert.includeMembers([...access], [
      "Access/decision/documentDecision.ts",
      "Access/fields/modelView.ts",
      "Http/routes/authorization.ts"
    ])
  })
})

describe("docs/architecture.md", () => {
  const [text = "", ...others] = pages.map((page) => fs.readFileSync(page, "utf8"))

  it("has the pictures of the rooms and the lists of stages, as other pages have: `npm run pictures` writes them", () => {
    for (const mark of marks) assert.include(text, mark)
    for (const page of [text, ...others]) assert.strictEqual(withPictures(page), page)
  })

  it("names existing files and functions", () => {
    const wrong = text.split("\n").flatMap((line) => {
      const named = Array.from(line.matchAll(/`((?:src|packages|test|scripts)\/[^`*]+)`/gu), ([, file = ""]) => file)
      const missing = named.filter((file) => !fs.existsSync(path.join(root, file)))
      if (missing.length > 0) return missing
      const texts = named.filter((file) => file.endsWith(".ts")).map((file) =>
        fs.readFileSync(path.join(root, file), "utf8")
      )
      return Array.from(line.matchAll(/`(\w+)\(\)`/gu), ([, name = ""]) => name).filter((name) =>
        !texts.some((source) => new RegExp(`export const ${name}\\b`, "u").test(source))
      )
    })
    assert.deepStrictEqual(wrong, [])
  })
})

const mayImport = (from: string, to: string): boolean => {
  const [folder, room] = partsOf(from)
  const [other, otherRoom] = partsOf(to)
  // Modules at the root are public; rooms are private.
  return folder === other
    ? roomsBelow(folders[folder]!, room).has(otherRoom)
    : folders[folder]!.on.includes(other) && folders[other]!.at === undefined
      && folders[other]!.rooms[otherRoom]!.modules !== undefined
}

const partsOf = (name: string): readonly [folder: string, room: string] => {
  const at = name.indexOf("/")
  return [name.slice(0, at), name.slice(at + 1)]
}

describe("The tests", () => {
  const files = fs.globSync("{,packages/*/}test/*/**/*.{test,contract}.ts", { cwd: root }).filter((file) =>
    !file.startsWith("test/examples/")
  )
  const sources = new Set(fs.globSync("{,packages/*/}src/**/*.ts", { cwd: root }))
  const mirrored = (file: string): string => file.replace(/(^|\/)test\//u, "$1src/").replace(/\.test\.ts$/u, ".ts")

  it("of a module are at its path, and others in the folder of the modules that they test", () => {
    const tests = files.filter((file) => file.endsWith(".test.ts"))
    assert.isAbove(tests.length, 200)
    const misplaced = tests.filter((file) => {
      const module = mirrored(file)
      const [folder = ""] = /^.*?src\/(?:[A-Z]\w+\/)?/u.exec(module) ?? []
      const isAnother = Array.from(sources).some((source) =>
        source.startsWith(folder) && path.basename(source) === path.basename(module)
      )
      return !sources.has(module) && (isAnother || !fs.existsSync(path.join(root, path.dirname(module))))
    })
    assert.deepStrictEqual(misplaced, [])
  })

  it("have their contracts beside them, but those of the port, which the tests of each store run", () => {
    const contracts = files.filter((file) => file.endsWith(".contract.ts"))
    const apart = contracts.filter((file) =>
      !files.some((test) =>
        path.dirname(test) === path.dirname(file)
        && fs.readFileSync(path.join(root, test), "utf8").includes(`from "./${path.basename(file)}"`)
      )
    )
    assert.deepStrictEqual(apart.filter((file) => !file.startsWith("packages/document-store/")), [])
  })
})
