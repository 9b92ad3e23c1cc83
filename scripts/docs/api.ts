/**
 * The pages of docs/api: one for each module of the package, from the docstrings and the declarations that the compiler
 * writes, and an index of the modules.
 */
import { createFromBuffer } from "@dprint/formatter"
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { createRequire } from "node:module"
import * as os from "node:os"
import * as path from "node:path"
import { parseSync } from "rolldown/utils"
import { firstSentence, modules, root } from "../../docs/.vitepress/pages.ts"

interface Export {
  readonly name: string
  readonly doc: string
  /** The declarations: more than one if a type and a value share a name. */
  readonly code: ReadonlyArray<string>
}

/** The order of a page; other categories stand between these. */
const first = ["constructors", "layers", "services", "combinators", "running", "testing", "schemas", "configuration"]
const last = ["models", "references", "errors"]

const plugin = createRequire(import.meta.url).resolve("@dprint/typescript/plugin.wasm")
const formatter = createFromBuffer(fs.readFileSync(plugin))
formatter.setConfig({ indentWidth: 2, lineWidth: 90, newLineKind: "lf" }, {
  semiColons: "asi",
  trailingCommas: "never"
})

// -----------------------------------------------------------------------------
// What a module exports
// -----------------------------------------------------------------------------

/** The text of a comment without its frame. */
const textOf = (comment: string): string =>
  comment.replace(/^\/\*\*\s*(?:\* )?/u, "").replace(/\s*\*\/$/u, "").replaceAll(/\n[ \t]*\* ?/gu, "\n").trim()

type Program = ReturnType<typeof parseSync>["program"]
type Statement = Program["body"][number]

const nameOf = (node: object): string => {
  // A name is an identifier or, after `as`, a string.
  const { name, value } = node as { readonly name?: string; readonly value?: string }
  return name ?? value ?? ""
}

/** The names that a statement declares, exported or not. */
const declared = (statement: Statement): ReadonlyArray<string> => {
  const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement
  if (declaration === null) return []
  if (declaration.type === "VariableDeclaration") return declaration.declarations.map(({ id }) => nameOf(id))
  return "id" in declaration && declaration.id !== null ? [nameOf(declaration.id)] : []
}

/** Where the compiler writes the declarations. */
const declarations = fs.mkdtempSync(path.join(os.tmpdir(), "appkernel-declarations-"))

const read = new Map<string, ReadonlyMap<string, Export>>()

/** The exports of a declaration file, by name. Those of other files are followed to where they are declared. */
const exportsOf = (file: string): ReadonlyMap<string, Export> => {
  const known = read.get(file)
  if (known !== undefined) return known
  const source = fs.readFileSync(file, "utf8")
  const { comments, program } = parseSync(file, source, { lang: "dts" })
  const found = new Map<string, Export>()
  read.set(file, found)

  const docBefore = (position: number): string => {
    const comment = comments.findLast(({ end }) => end <= position)
    return comment === undefined || source.slice(comment.end, position).trim() !== ""
      ? ""
      : textOf(source.slice(comment.start, comment.end))
  }
  const add = (name: string, doc: string, code: ReadonlyArray<string>): void => {
    const before = found.get(name)
    // A namespace of types belongs to the type or the value of its name, whose documentation is the page's.
    found.set(name, { name, doc: before?.doc || doc, code: [...(before?.code ?? []), ...code] })
  }
  /** The declaration of a name in this file or, if it is imported, in another one. */
  const local = (name: string): Export | undefined => {
    for (const statement of program.body) {
      if (declared(statement).includes(name)) {
        return { name, doc: docBefore(statement.start), code: [codeOf(statement)] }
      }
      if (statement.type !== "ImportDeclaration") continue
      const specifier = statement.specifiers.find((one) => one.local.name === name)
      if (specifier?.type === "ImportSpecifier") {
        return target(statement.source.value, nameOf(specifier.imported))
      }
    }
    return undefined
  }
  /** The declarations that an import names, if they are ours. */
  const fileOf = (from: string): string | undefined => {
    const [, name, entry = "index"] = /^@appkernel\/([^/]+)(?:\/(.+))?$/u.exec(from) ?? []
    return name !== undefined
      ? path.join(declarations, `packages/${name}/src/${entry}.d.ts`)
      : from.startsWith(".")
      ? path.join(path.dirname(file), from.replace(/\.ts$/u, ".d.ts"))
      : undefined
  }
  const target = (from: string, name: string): Export | undefined => {
    const found = fileOf(from)
    return found === undefined ? undefined : exportsOf(found).get(name)
  }
  const codeOf = (statement: Statement): string =>
    source.slice(statement.start, statement.end).replace(/^export /u, "").replace(/^declare /u, "")
      // A class over a schema extends a constant; what it is says more.
      .replace(/ extends (\w+_base)\b/u, (text, base: string) => {
        const [, type] = local(base)?.code[0]?.split(/^const \w+: /u) ?? []
        return type === undefined ? text : ` extends ${type.replace(/;$/u, "")}`
      })

  for (const statement of program.body) {
    if (statement.type === "ExportAllDeclaration" && statement.exported === null) {
      const from = fileOf(statement.source.value)
      for (const [name, { code, doc }] of from === undefined ? [] : exportsOf(from)) add(name, doc, code)
    } else if (statement.type === "ExportNamedDeclaration") {
      for (const name of declared(statement)) add(name, docBefore(statement.start), [codeOf(statement)])
      for (const specifier of statement.specifiers) {
        const name = nameOf(specifier.exported)
        const from = statement.source === null
          ? local(nameOf(specifier.local))
          : target(statement.source.value, nameOf(specifier.local))
        add(name, docBefore(specifier.start) || (from?.doc ?? ""), from?.code ?? [])
      }
    }
  }
  return found
}

// -----------------------------------------------------------------------------
// The pages
// -----------------------------------------------------------------------------

type Names = ReadonlyMap<string, ReadonlyMap<string, Export>>

const folders = modules()
const all = folders.flatMap((folder) => folder.modules)
const pages = new Map(all.map(({ name, page }) => [name, `${path.basename(page)}.md`]))

/** A docstring as Markdown: names that have a place are links to it. */
const markdown = (doc: string, module: string, names: Names): string => {
  const linked = (text: string, inModule: boolean): string => {
    const [one = "", other] = text.split(".")
    if (other !== undefined && names.get(one)?.has(other)) return `[\`${text}\`](${pages.get(one)!}#${other})`
    if (other === undefined && inModule && names.get(module)?.has(one)) return `[\`${text}\`](#${one})`
    return other === undefined && one !== module && names.has(one) ? `[\`${text}\`](${pages.get(one)!})` : `\`${text}\``
  }
  const text = (part: string): string =>
    part
      .split(/(`[^`]*`)/u)
      .map((piece) =>
        piece.startsWith("`")
          ? linked(piece.slice(1, -1), false)
          : piece
            .replaceAll(/\{@link ([^}]*)\}/gu, (_, name: string) => linked(name.trim(), true))
            .replaceAll(/<(?!https?:)/gu, "&lt;")
            .replaceAll("{{", "&#123;&#123;")
      )
      .join("")
  return doc
    .replaceAll(/^@(?:category|since) .*$/gmu, "")
    .trim()
    .split(/(^```[^]*?^```$)/mu)
    .map((part) => part.startsWith("```") ? part.replaceAll("*\\/", "*/") : text(part))
    .join("")
}

const categoryOf = ({ doc }: Export): string => /^@category (.*)$/mu.exec(doc)?.[1] ?? "models"

const rank = (category: string): number => {
  const [early, late] = [first.indexOf(category), last.indexOf(category)]
  return early >= 0 ? early : late >= 0 ? 100 + late : 50
}

const signature = (code: ReadonlyArray<string>): string => {
  const fileText = code.join("\n")
    .replaceAll(/import\("[^"]*"\)\.(?:default\.)?/gu, "")
    .replaceAll(/\{@link ([^}]*)\}/gu, "`$1`")
  return `\`\`\`ts\n${formatter.formatText({ filePath: "signature.d.ts", fileText }).trim()}\n\`\`\``
}

/** Writes the pages. */
export const writeApiPages = (): void => {
  const out = path.join(root, "api")
  // The packages are compiled with the root, from their sources, which `npm run check` has checked.
  const project = path.resolve("node_modules/.cache/declarations.json")
  const options = {
    extends: path.resolve("tsconfig.build.json"),
    include: ["src", "packages/*/src"].map((at) => path.resolve(at))
  }
  const compilerOptions = { customConditions: ["source"], rootDir: path.resolve(".") }
  fs.writeFileSync(project, JSON.stringify({ ...options, compilerOptions }))
  try {
    const { status, stdout } = spawnSync(
      path.resolve("node_modules/.bin/tsc"),
      ["-p", project, "--noCheck", "--emitDeclarationOnly", "--declarationMap", "false", "--outDir", declarations],
      { encoding: "utf8" }
    )
    if (status !== 0) throw new Error(stdout)
    const file = (source: string) => path.join(declarations, "src", source.replace(/\.ts$/u, ".d.ts"))
    const names: Names = new Map(all.map(({ name, source }) => [name, exportsOf(file(source))]))
    const ofPackage = fs.readFileSync("src/index.ts", "utf8") +
      folders.map(({ folder }) => fs.readFileSync(`src/${folder}/index.ts`, "utf8")).join("")
    const header = ({ name, source }: { readonly name: string; readonly source: string }): string =>
      markdown(textOf(/^\/\*\*[^]*?\*\//u.exec(fs.readFileSync(`src/${source}`, "utf8"))?.[0] ?? ""), name, names)

    fs.rmSync(out, { recursive: true, force: true })
    fs.mkdirSync(out, { recursive: true })
    for (const module of all) {
      const { name } = module
      const importing = ofPackage.includes(`* as ${name} from`)
        ? `import { ${name} } from "appkernel"`
        : `import * as ${name} from "appkernel/${name}"`
      const lines = [`# ${name} {#the-module}`, `\`\`\`ts\n${importing}\n\`\`\``, header(module)]
      const exported = [...names.get(name)!.values()]
      for (const category of [...new Set(exported.map(categoryOf))].toSorted((one, other) => rank(one) - rank(other))) {
        lines.push(`## ${category[0]!.toUpperCase()}${category.slice(1)} {#category-${category}}`)
        for (const one of exported.filter((candidate) => categoryOf(candidate) === category)) {
          lines.push(`### ${one.name} {#${one.name}}`, markdown(one.doc, name, names))
          if (one.code.length > 0) lines.push(signature(one.code))
        }
      }
      fs.writeFileSync(path.join(root, `${module.page}.md`), `${lines.filter((line) => line !== "").join("\n\n")}\n`)
    }
    const index = folders.flatMap(({ folder, modules }) => [
      `## ${folder}`,
      `| Module | |\n|---|---|\n${
        modules.map((module) => `| [${module.name}](${pages.get(module.name)!}) | ${firstSentence(header(module))} |`)
          .join("\n")
      }`
    ])
    const about =
      "The modules of the package, and every name that they export. `import { Model } from \"appkernel\"` " +
      "has them all, and each is an entry point of its own: `appkernel/Model`."
    fs.writeFileSync(path.join(out, "index.md"), `${["# API", about, ...index].join("\n\n")}\n`)
  } finally {
    fs.rmSync(declarations, { recursive: true, force: true })
  }
}
