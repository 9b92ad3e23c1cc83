import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, FileSystem } from "effect"
import { execFile } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { promisify } from "node:util"
import { engine as shop } from "../../examples/shop/engine.ts"
import { Keys } from "../../src/index.ts"
import { runCommand } from "../support/command.ts"
import { freshDirectory } from "../support/folders.ts"
import { runProgram } from "../support/processes.ts"

const root = path.join(import.meta.dirname, "../..")
const engineOfShop = path.join(root, "examples/shop/engine.ts")

/** Runs the command as its users do, as a process. */
const run = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
  const program = yield* runProgram(path.join(root, "src/Cli/Main.ts"), {}, [], args)
  return { code: yield* program.ended, output: program.output() }
})

describe("appkernel", () => {
  it.live("keys: makes a pair that a service uses, and never replaces one", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const folder = yield* freshDirectory
      for (const algorithm of ["RS256", "ES256", "EdDSA"] as const) {
        const keys = `${folder}/${algorithm}/keys`
        const { code, output } = yield* run("keys", keys, ...(algorithm === "RS256" ? [] : ["--algorithm", algorithm]))
        assert.strictEqual(code, 0, output)
        const used = yield* Effect.provide(
          Keys.Keys,
          Keys.layerWith({ cfgDir: path.dirname(keys), development: false })
        )
        assert.strictEqual(used.algorithm, algorithm)
        assert.include(output, used.id)
        assert.strictEqual((yield* files.stat(`${keys}/private.pem`)).mode & 0o777, 0o600)
      }
      const keys = `${folder}/ES256/keys`
      const before = yield* files.readFileString(`${keys}/private.pem`)
      const again = yield* run("keys", keys)
      assert.deepStrictEqual(again, {
        code: 1,
        output: `The keys for tokens can't be used: ${keys}/private.pem: it is there already\n`
      })
      yield* files.remove(`${keys}/private.pem`)
      const half = yield* run("keys", keys)
      assert.include(half.output, `${keys}/public.pem: it is there already`)
      assert.isFalse(yield* files.exists(`${keys}/private.pem`))
      yield* files.writeFileString(`${keys}/private.pem`, before)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("new: makes projects, and overwrites nothing", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const folder = yield* freshDirectory
      const made = yield* runCommand({}, "new", `${folder}/garden`, "--yes")
      assert.strictEqual(made.code, 0, made.output)
      const text = (file: string) => files.readFileString(`${folder}/garden/${file}`)
      assert.include(yield* text("package.json"), `"name": "garden"`)
      assert.include(yield* text("src/engine.ts"), `KernelEngine.make("garden")`)
      assert.include(yield* text("src/store.ts"), "EmbeddedStore.layer")
      assert.include(yield* text(".gitignore"), "keys/")
      assert.strictEqual((yield* files.stat(`${folder}/garden/keys/private.pem`)).mode & 0o777, 0o600)
      // Nothing of another name, and nothing half-made, is left beside it.
      assert.deepStrictEqual(yield* files.readDirectory(folder), ["garden"])

      const again = yield* runCommand({}, "new", `${folder}/garden`, "--yes")
      assert.deepStrictEqual(again, { code: 1, output: `${folder}/garden is there already, and is not empty\n` })
      const misnamed = yield* runCommand({}, "new", `${folder}/My Garden`, "--yes")
      assert.strictEqual(misnamed.code, 1)
      assert.include(misnamed.output, `"My Garden" can't be the name of a package`)

      // Without a terminal nothing is asked.
      const plain = yield* runCommand({}, "new", `${folder}/plain`, "--store", "mongo", "--no-access")
      assert.strictEqual(plain.code, 0, plain.output)
      assert.include(yield* files.readFileString(`${folder}/plain/src/store.ts`), "MongoStore.layer")
      assert.isFalse(yield* files.exists(`${folder}/plain/keys`))
      // Only the store in a folder needs it.
      const plainManifest = JSON.parse(yield* files.readFileString(`${folder}/plain/package.json`))
      assert.notProperty(plainManifest.dependencies, "lmdb")
      assert.property(plainManifest.dependencies, "effect")
      assert.isFalse(yield* files.exists(`${folder}/plain/src/Users.ts`))
      const unknown = yield* runCommand({}, "new", `${folder}/other`, "--store", "paper")
      assert.strictEqual(unknown.code, 2)
      yield* files.writeFileString(`${folder}/cfg.yml`, "")
      const unpacked = yield* runCommand({}, "new", `${folder}/other`, "--yes", "--package", `${folder}/cfg.yml`)
      assert.strictEqual(unpacked.code, 2, unpacked.output)
      assert.include(unpacked.output, "cfg.yml is no packed package, which ends in .tgz")
      assert.isFalse(yield* files.exists(`${folder}/other`))
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("new: has a project install a packed package from a folder of its own, in its image as well", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const folder = yield* freshDirectory
      const packed = ["appkernel-0.1.0.tgz", "appkernel-embedded-store-0.1.0.tgz", "appkernel-mql-0.1.0.tgz"]
      for (const file of packed) yield* files.writeFileString(`${folder}/${file}`, `the package ${file}`)
      const flags = packed.flatMap((file) => ["--package", `${folder}/${file}`])
      const made = yield* runCommand({}, "new", `${folder}/garden`, "--yes", ...flags)
      assert.strictEqual(made.code, 0, made.output)
      const text = (file: string) => files.readFileString(`${folder}/garden/${file}`)
      for (const file of packed) assert.strictEqual(yield* text(`vendor/${file}`), `the package ${file}`)
      const { dependencies } = JSON.parse(yield* text("package.json"))
      assert.deepInclude(dependencies, {
        "@appkernel/embedded-store": "file:vendor/appkernel-embedded-store-0.1.0.tgz",
        "@appkernel/mql": "file:vendor/appkernel-mql-0.1.0.tgz",
        appkernel: "file:vendor/appkernel-0.1.0.tgz"
      })
      assert.include(yield* text("Dockerfile"), "COPY package*.json ./\nCOPY vendor ./vendor\nRUN npm install\n")
      assert.match(
        yield* text("README.md"),
        /Once it is in npm's registry, `npm install appkernel` takes it from\nthere/u
      )
      const missing = yield* runCommand({}, "new", `${folder}/other`, "--yes", "--package", `${folder}/none.tgz`)
      assert.notStrictEqual(missing.code, 0)
      assert.isFalse(yield* files.exists(`${folder}/other`))
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("explore: takes a port that there can be", () =>
    Effect.gen(function*() {
      const { code, output } = yield* runCommand({}, "explore", "http://127.0.0.1:1", "--port", "99999")
      assert.deepStrictEqual([code, output.includes("expected a port, up to 65535")], [2, true], output)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("copy: leaves nothing at the target if the source can't be opened", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const folder = yield* freshDirectory
      yield* files.makeDirectory(`${folder}/from`)
      yield* files.writeFileString(`${folder}/from/data.mdb`, "no store")
      const { code, output } = yield* runCommand({}, "copy", `${folder}/from`, `${folder}/to`)
      assert.strictEqual(code, 1, output)
      assert.isFalse(yield* files.exists(`${folder}/to`))
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("verify: says of a folder that it is none of a store", () =>
    Effect.gen(function*() {
      const { code, output } = yield* runCommand({}, "verify", "src")
      assert.strictEqual(code, 1, output)
      assert.include(output, "src is neither a backup nor the folder of a store: it has no data.mdb")
    }).pipe(Effect.provide(NodeServices.layer)))

  it("new: asks for the versions that the package is tested with", () => {
    const manifest = (file: string) => JSON.parse(fs.readFileSync(path.join(root, file), "utf8"))
    const own = manifest("package.json")
    const made = manifest("templates/service/base/package.json")
    const tested = { ...own.devDependencies, appkernel: own.version }
    for (const [name, range] of Object.entries({ ...made.dependencies, ...made.devDependencies })) {
      assert.strictEqual(range, `^${tested[name]}`, name)
    }
  })

  it.live("config: prints what is in force and where from, without secrets", () =>
    Effect.gen(function*() {
      const folder = yield* freshDirectory
      fs.writeFileSync(`${folder}/host`, "mongodb://shop:pw-1@db.example/shop")
      fs.writeFileSync(
        `${folder}/cfg.yml`,
        "appkernel: { server: { port: 8080 }, cors: { origins: [https://a.example, https://b.example] }, sever: {} }"
      )
      const env = {
        APPKERNEL_MONGO_HOST_FILE: `${folder}/host`,
        APPKERNEL_SECURITY_CURSOR_SECRET: "pw-2 is a text of 32 and more characters",
        APPKERNEL_LOGGING_LEVEL: "warn",
        APPKERNEL_PRIVATE_KEY_PATH: "/keys/p.pem"
      }
      const shown = yield* runCommand({}, "config", "--dir", folder)
      assert.strictEqual(shown.code, 0, shown.output)
      assert.match(shown.output, /^server\.port +8080 +cfg\.yml: \S+\/cfg\.yml$/mu)
      assert.match(shown.output, /^server\.backlog +511 +default$/mu)
      assert.include(shown.output, "sever")
      const { code, output } = yield* runCommand(env, "config", "--json", "--set", "--dir", folder)
      assert.strictEqual(code, 0, output)
      assert.notMatch(output, /pw-\d/u)
      const at = (key: string) =>
        JSON.parse(output.slice(output.indexOf("[\n"), output.lastIndexOf("]") + 1))
          .find((row: { readonly key: string }) => row.key === key)
      assert.deepStrictEqual(["mongo.host", "cors.origins", "logging.level", "server.backlog"].map(at), [
        {
          key: "mongo.host",
          value: "mongodb://(secret)@db.example/shop",
          source: "secret file",
          place: "APPKERNEL_MONGO_HOST_FILE"
        },
        {
          key: "cors.origins",
          value: "https://a.example,https://b.example",
          source: "cfg.yml",
          place: `${folder}/cfg.yml`
        },
        { key: "logging.level", value: "warn", source: "environment", place: "APPKERNEL_LOGGING_LEVEL" },
        undefined
      ])
      assert.strictEqual(at("security.cursor_secret").value, "(secret)")
      assert.strictEqual(at("security.private_key_path").place, "APPKERNEL_PRIVATE_KEY_PATH")
      const wrong = yield* runCommand({ APPKERNEL_SERVER_PORT: "pw-3" }, "config", "--dir", folder)
      assert.strictEqual(wrong.code, 1)
      assert.include(wrong.output, "APPKERNEL_SERVER_PORT (appkernel.server.port) is text, expected a whole number")
      assert.notInclude(wrong.output, "pw-3")
    }))

  it.live("routes: prints who may call what", () =>
    Effect.gen(function*() {
      const { code, output } = yield* runCommand({}, "routes", engineOfShop)
      assert.strictEqual(code, 0, output)
      assert.match(output, /^POST \/api\/v1\/orders \(creates or replaces\) +everybody signed in +/mu)
      const { output: json } = yield* runCommand(
        { APPKERNEL_SERVER_ON_KNOWN_ID: "error" },
        "routes",
        "--json",
        engineOfShop
      )
      const configured = shop.policy.entries.map(({ onKnownId, ...entry }) =>
        onKnownId === undefined ? entry : { ...entry, onKnownId: "error" }
      )
      assert.deepStrictEqual(JSON.parse(json).entries, configured)
      const none = yield* runCommand({}, "routes", path.join(root, "examples/shop/seed.ts"))
      assert.strictEqual(none.code, 1)
      assert.include(none.output, "exports no engine")
      const missing = yield* runCommand({}, "routes", "nowhere.ts")
      assert.strictEqual(missing.code, 1)
      assert.include(missing.output, "nowhere.ts can't be loaded")
    }))

  it.live("routes: prints what requests meet, by the stages that the service would run", () =>
    Effect.gen(function*() {
      const env = {
        APPKERNEL_CORS_ORIGINS: "https://page.example",
        APPKERNEL_OVERLOAD_MAX_REQUESTS_PER_ROUTE: "9",
        APPKERNEL_AUDIT_TO: "log"
      }
      const { code, output } = yield* runCommand(env, "routes", "--stages", engineOfShop)
      assert.strictEqual(code, 0, output)
      const [service = "", routes = ""] = output.split("\n\nThen ")
      assert.deepStrictEqual(
        Array.from(service.matchAll(/^ {2}(\S+(?: \S+)*) {2,}/gmu), ([, name]) => name),
        ["access log", "CORS", "routing", "layers of use"]
      )
      const checked = "> concurrency > audit > authentication > error responses > permission > accept"
      const groups = routes.trimEnd().split("\n\n")
      const stagesOf = (route: string) =>
        groups.flatMap((group) => group.split("\n").includes(route) ? [group.split("\n").at(-1)?.trim()] : [])
      assert.deepStrictEqual(stagesOf("POST /api/v1/users"), [`${checked} > transaction number > its handler`])
      assert.deepStrictEqual(stagesOf("GET, QUERY /api/v1/users"), [
        `${checked} > parameters of the body > its handler`
      ])
      assert.deepStrictEqual(stagesOf("GET, QUERY /api/v1/products"), [
        `${checked.replace("audit", "caching > audit")} > parameters of the body > its handler`
      ])
      const json = yield* runCommand(env, "routes", "--stages", "--json", engineOfShop)
      const inForce = yield* shop["~appkernel/Stages"].pipe(
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
      )
      assert.deepStrictEqual(JSON.parse(json.output), inForce)
    }))

  it.live("build: makes a folder that starts, and replaces only what it has made", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const folder = yield* freshDirectory
      const program = path.join(root, "examples/quickstart.ts")
      const made = yield* run("build", program, "--out", `${folder}/out`)
      assert.strictEqual(made.code, 0, made.output)
      const parts = (yield* files.readDirectory(`${folder}/out`)).toSorted()
      // One regular expression of the framework would keep its whole file in two bytes for each character.
      const initial = parts.filter((name) => name.startsWith("initial"))
      assert.strictEqual(initial.length, 1)
      const text = yield* files.readFileString(`${folder}/out/${initial[0]}`)
      assert.deepStrictEqual(text.match(/.{0,20}[\u{80}-\u{10ffff}].{0,20}/u), null)
      yield* files.makeDirectory(`${folder}/out/.compiled/of an earlier build`, { recursive: true })
      // A service has run there, and an earlier build was of a program with more parts.
      yield* files.makeDirectory(`${folder}/out/data`)
      yield* files.writeFileString(`${folder}/out/data/data.mdb`, "documents")
      yield* files.writeFileString(`${folder}/out/package.json`, JSON.stringify({ appkernel: "build" }))
      const smaller = `${yield* freshDirectory}/program.ts`
      yield* files.writeFileString(smaller, "console.log(1)")
      const again = yield* run("build", smaller, "--out", `${folder}/out`)
      assert.strictEqual(again.code, 0, again.output)
      const remaining = parts.filter((name) => !/-.*\.mjs$/u.test(name))
      assert.deepStrictEqual(
        (yield* files.readDirectory(`${folder}/out`)).toSorted(),
        [...remaining, "data"].toSorted()
      )
      assert.isBelow(remaining.length, parts.length)
      assert.match(yield* files.readFileString(`${folder}/out/program.mjs`), /^console\.log\(1\);/u)
      assert.strictEqual(yield* files.readFileString(`${folder}/out/data/data.mdb`), "documents")
      assert.deepStrictEqual(yield* files.readDirectory(folder), ["out"])
      yield* files.writeFileString(`${folder}/mine.txt`, "mine")
      const refused = yield* run("build", program, "--out", folder)
      assert.strictEqual(refused.code, 1)
      assert.include(refused.output, "was not made by this command")
      assert.isTrue(yield* files.exists(`${folder}/mine.txt`))
      const absent = yield* run("build", "nowhere.ts", "--out", `${folder}/none`)
      assert.deepStrictEqual(absent, { code: 1, output: "There is no program nowhere.ts\n" })
      assert.isFalse(yield* files.exists(`${folder}/none`))
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("build: the program is what Node has started, and is compiled once", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const folder = yield* freshDirectory
      yield* files.writeFileString(
        `${folder}/program.ts`,
        "import { pathToFileURL } from \"node:url\"\n" +
          "console.log(import.meta.main, import.meta.url === pathToFileURL(process.argv[1]!).href, ...process.argv.slice(2))\n" +
          "import \"first/index.js\"\n" +
          "import \"second/index.js\"\n" +
          "await import(\"./other.ts\")\n" +
          "await import(\"./another.ts\")"
      )
      // The modules of packages that a start loads are one file, whichever later parts import them.
      for (const name of ["first", "second"]) {
        yield* files.makeDirectory(`${folder}/node_modules/${name}`, { recursive: true })
        yield* files.writeFileString(
          `${folder}/node_modules/${name}/index.js`,
          `export const ${name} = process.argv.length`
        )
      }
      yield* files.writeFileString(
        `${folder}/other.ts`,
        "import { first } from \"first/index.js\"\nif (import.meta.main) console.log(\"started\", first)"
      )
      yield* files.writeFileString(
        `${folder}/another.ts`,
        "import { second } from \"second/index.js\"\nif (second === 0) console.log(second)"
      )
      assert.strictEqual((yield* run("build", `${folder}/program.ts`, "--out", `${folder}/out`)).code, 0)
      assert.deepStrictEqual(
        (yield* files.readDirectory(`${folder}/out`)).filter((name) => name.endsWith(".mjs"))
          .map((name) => name.replace(/-.*/u, "")).toSorted(),
        ["another", "initial", "main.mjs", "other", "program.mjs"]
      )
      const start = Effect.promise(() =>
        promisify(execFile)(process.execPath, [`${folder}/out/main.mjs`, "a", "b"], { env: {} })
      )
      assert.strictEqual((yield* start).stdout, "true true a b\n")
      assert.isNotEmpty(yield* files.readDirectory(`${folder}/out/.compiled`))
      assert.strictEqual((yield* start).stdout, "true true a b\n")
      yield* files.remove(`${folder}/out/.compiled`, { recursive: true })
      yield* files.writeFileString(`${folder}/out/.compiled`, "no folder")
      assert.deepStrictEqual(yield* start, { stdout: "true true a b\n", stderr: "" })
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("build: a module awaits another one, which is loaded later and imports what a start loads", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const folder = yield* freshDirectory
      yield* files.symlink(path.join(root, "node_modules"), `${folder}/node_modules`)
      yield* files.writeFileString(
        `${folder}/program.ts`,
        "import { Effect } from \"effect\"\n" +
          "import { common } from \"./common.ts\"\n" +
          "import { words } from \"./words.ts\"\n" +
          "console.log(Effect.runSync(words), common)"
      )
      yield* files.writeFileString(`${folder}/common.ts`, "export const common = process.argv.length")
      yield* files.writeFileString(`${folder}/words.ts`, "export const { words } = await import(\"./dialect.ts\")")
      yield* files.writeFileString(
        `${folder}/dialect.ts`,
        "import { Effect } from \"effect\"\n" +
          "import { common } from \"./common.ts\"\n" +
          "export const words = Effect.succeed(common + 1)"
      )
      assert.strictEqual((yield* run("build", `${folder}/program.ts`, "--out", `${folder}/out`)).code, 0)
      const program = yield* runProgram(`${folder}/out/main.mjs`, {})
      assert.deepStrictEqual([yield* program.ended, program.output()], [0, "3 2\n"])
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("build: its files are ASCII, and regular expressions and raw texts are as they were written", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const folder = yield* freshDirectory
      yield* files.writeFileString(
        `${folder}/program.ts`,
        "const { length } = process.argv\n" +
          "console.log(JSON.stringify([\"é日𝄞\", '\\é\\\\é', `a\\\\é${`ö${length}`}𝄞`, { \"ß\": 1, é: 2 }]))\n" +
          "export {}"
      )
      assert.strictEqual((yield* run("build", `${folder}/program.ts`, "--out", `${folder}/out`)).code, 0)
      const program = yield* runProgram(`${folder}/out/main.mjs`, {})
      assert.deepStrictEqual(
        [yield* program.ended, program.output()],
        [0, "[\"é日𝄞\",\"é\\\\é\",\"a\\\\éö2𝄞\",{\"ß\":1,\"é\":2}]\n"]
      )
      yield* files.writeFileString(
        `${folder}/sources.ts`,
        "console.log(/straße/u.source, String.raw`›${\"›\"}›`, `›`)"
      )
      assert.strictEqual((yield* run("build", `${folder}/sources.ts`, "--out", `${folder}/out`)).code, 0)
      const sources = yield* runProgram(`${folder}/out/main.mjs`, {})
      assert.deepStrictEqual([yield* sources.ended, sources.output()], [0, "straße ››› ›\n"])
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("has the version of the package, which names it", () =>
    Effect.gen(function*() {
      const { bin, version } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"))
      assert.include((yield* run("--version")).output, version)
      assert.deepStrictEqual(bin, { appkernel: "./dist/node/Cli/Main.js" })
      assert.isTrue(fs.readFileSync(path.join(root, "src/Cli/Main.ts"), "utf8").startsWith("#!/usr/bin/env node\n"))
    }))
})
