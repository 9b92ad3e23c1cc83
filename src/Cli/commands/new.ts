/** `appkernel new`: makes a project. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Prompt from "effect/cli/Prompt"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Keys from "../../Security/Keys.ts"
import { CommandFailed, reported } from "./output.ts"

const stores = ["embedded", "mongo"] as const

export const newProject = Command.make(
  "new",
  {
    folder: Argument.String("name").pipe(
      Argument.withDescription("The folder to make. Its last part is the name of the project")
    ),
    store: Flag.Literals("store", stores).pipe(
      Flag.withDescription("Where documents are kept: in a folder of the machine, or in MongoDB. Defaults to embedded"),
      Flag.optional
    ),
    access: Flag.Boolean("access").pipe(
      Flag.withDescription("Users who sign up and sign in, and reach what is theirs. Default; --no-access is without"),
      Flag.optional
    ),
    packed: Flag.File("package", { mustExist: true }).pipe(
      Flag.withDescription(
        "A packed appkernel, or a package that it needs, which the project uses in the place of the registry's. Copied into vendor"
      ),
      Flag.filter(
        (file) => /\.(?:tgz|tar\.gz)$/u.test(file),
        (file) => `${file} is no packed package, which ends in .tgz`
      ),
      Flag.atLeast(0)
    ),
    yes: Flag.Boolean("yes").pipe(
      Flag.withAlias("y"),
      Flag.withDescription("Asks nothing and takes the defaults"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function*({ access, folder, packed, store, yes }) {
    const path = yield* Path.Path
    const target = path.resolve(folder)
    const name = path.basename(target)
    yield* assertUsable(target, name)
    const asks = !yes && (yield* TerminalCapabilities.TerminalCapabilities).canPrompt
    const chosen = yield* chosenOr(store, asks, "embedded", askForStore)
    const hasAccess = yield* chosenOr(access, asks, true, askForAccess)
    const layers = ["base", ...(hasAccess ? ["access"] : []), chosen]
    yield* write({ target, name, layers, hasKeys: hasAccess, packed, hasFolder: chosen === "embedded" })
    yield* Console.log(next(path.relative(".", target), chosen))
  }, reported)
).pipe(
  Command.withDescription("Make a project that starts, is tested, checked and built"),
  Command.withExamples([
    { command: "appkernel new shop", description: "Ask what is needed, and make the folder shop" },
    { command: "appkernel new shop --store mongo --no-access --yes", description: "Make it without asking" }
  ])
)

// internal

const chosenOr = <A, E, R>(
  given: Option.Option<A>,
  asks: boolean,
  otherwise: A,
  ask: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => Option.isSome(given) ? Effect.succeed(given.value) : asks ? ask : Effect.succeed(otherwise)

const askForStore = Prompt.run(Prompt.Select({
  message: "Where are documents kept?",
  choices: [
    { title: "In a folder of the machine", value: "embedded" as const, description: "needs no server" },
    { title: "In MongoDB", value: "mongo" as const, description: "docker compose starts one" }
  ]
}))

const askForAccess = Prompt.run(
  Prompt.Confirm({ message: "Do users sign in, and reach what is theirs?", initial: true })
)

const assertUsable = Effect.fnUntraced(function*(target: string, name: string) {
  const files = yield* FileSystem.FileSystem
  if (!/^[a-z0-9][a-z0-9._-]{0,99}$/u.test(name)) {
    return yield* new CommandFailed({
      detail: `"${name}" can't be the name of a package: use small letters, digits, dashes, dots and underscores`
    })
  }
  if ((yield* files.exists(target)) && (yield* files.readDirectory(target)).length > 0) {
    return yield* new CommandFailed({ detail: `${target} is there already, and is not empty` })
  }
})

interface Project {
  readonly target: string
  readonly name: string
  /** The folders of templates, of which a later one replaces files of those before. */
  readonly layers: ReadonlyArray<string>
  readonly hasKeys: boolean
  readonly packed: ReadonlyArray<string>
  /** Whether the project has a store in a folder. */
  readonly hasFolder: boolean
}

/** Writes all files beside the target first, so that a failure leaves nothing half-made. */
const write = Effect.fnUntraced(function*({ hasFolder, hasKeys, layers, name, packed, target }: Project) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const templates = yield* path.fromFileUrl(new URL("../../../templates/service", import.meta.url))
  yield* files.makeDirectory(path.dirname(target), { recursive: true })
  const hidden = yield* files.makeTempDirectoryScoped({ directory: path.dirname(target), prefix: `.${name}-` })
  // The hidden one is its owner's alone; the project is as the umask says.
  const draft = path.join(hidden, name)
  yield* files.makeDirectory(draft)
  for (const layer of layers) {
    const from = path.join(templates, layer)
    for (const entry of yield* files.readDirectory(from, { recursive: true })) {
      const source = path.join(from, entry)
      if ((yield* files.stat(source)).type !== "File") continue
      // npm leaves files of the name .gitignore out of packages.
      const written = path.join(draft, entry === "gitignore" ? ".gitignore" : entry)
      yield* files.makeDirectory(path.dirname(written), { recursive: true })
      const text = yield* files.readFileString(source)
      yield* files.writeFileString(written, text.replaceAll("my-service", name))
    }
  }
  if (!hasFolder) yield* edit(draft, "package.json", /,\s*"lmdb": "[^"]*"/u, "")
  if (packed.length > 0) yield* vendor(draft, packed)
  if (hasKeys) yield* Keys.makePair(path.join(draft, "keys"), "ES256")
  yield* files.rename(draft, target)
}, Effect.scoped)

const edit = Effect.fnUntraced(function*(project: string, name: string, pattern: RegExp, replacement: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const text = yield* files.readFileString(path.join(project, name))
  yield* files.writeFileString(path.join(project, name), text.replace(pattern, replacement))
})

/** Has a project install packages from files of its own, in an image as well. */
const vendor = Effect.fnUntraced(function*(project: string, packed: ReadonlyArray<string>) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* files.makeDirectory(path.join(project, "vendor"))
  const lines: Array<string> = []
  for (const file of packed.map((file) => path.basename(file)).toSorted()) {
    // npm packs @appkernel/mql as appkernel-mql-0.1.0.tgz.
    const [, part] = /^appkernel-([a-z-]+)-\d/u.exec(file) ?? []
    lines.push(`"${part === undefined ? "appkernel" : `@appkernel/${part}`}": "file:vendor/${file}"`)
  }
  for (const file of packed) yield* files.copyFile(file, path.join(project, "vendor", path.basename(file)))
  yield* edit(project, "package.json", /"appkernel": "[^"]+"/u, lines.join(",\n    "))
  yield* edit(project, "Dockerfile", /^COPY package\*\.json \.\/$/mu, "$&\nCOPY vendor ./vendor")
  yield* edit(project, "README.md", /$(?![^])/u, `\n${vendored}\n`)
})

const vendored =
  `AppKernel is installed from the folder \`vendor\`. Once it is in npm's registry, \`npm install appkernel\` takes it from
there: then remove that folder, the packages \`@appkernel/…\` from \`package.json\`, and the line of the Dockerfile that copies it.`

const next = (folder: string, store: string): string =>
  [
    `Made ${folder}. Now:`,
    `  cd ${folder}`,
    "  npm install",
    ...(store === "mongo" ? ["  docker compose up --detach --wait mongo"] : []),
    "  npm run dev",
    "Its API is shown at http://127.0.0.1:5000/docs"
  ].join("\n")
