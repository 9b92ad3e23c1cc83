/**
 * Turns every `ts` fence of the docstrings in src, of the Markdown files at the root and of those in docs into a module
 * under .examples, and gives each document a test file that imports its modules one after the other.
 *
 * - `ts` is type-checked and run, `ts check` is type-checked only (it serves, or never ends), `ts ignore` is neither.
 * - `ts file=user.ts` is type-checked and run under that name, so that later fences of the same document can import
 *   `./user.ts`.
 * - A Markdown file with the line `<!-- continues models.md -->` has the named modules of that file, and of those which that
 *   one continues, wherever it does not have its own.
 * - `expression // => value` asserts; so does `// => value` on the lines after the expression. A declaration
 *   (`const name = expression // => value`) asserts what it declares. An assertion that is never reached fails too.
 */
import * as fs from "node:fs"
import * as path from "node:path"

interface Fence {
  /** The line of the opening fence, from 1. */
  readonly line: number
  readonly file: string
  readonly mode: "run" | "check"
  readonly code: ReadonlyArray<string>
}

const out = ".examples"

const fail = (document: string, line: number, problem: string): never => {
  console.error(`${document}:${line}: ${problem}`)
  process.exit(1)
}

const fencesOf = (document: string): ReadonlyArray<Fence> => {
  const inComments = document.endsWith(".ts")
  const fences: Array<Fence> = []
  let open:
    | { readonly line: number; readonly info: string; readonly indent: number; readonly code: Array<string> }
    | undefined
  for (const [index, raw] of fs.readFileSync(document, "utf8").split("\n").entries()) {
    const comment = /^\s*\* ?(?!\/)(.*)$/u.exec(raw)
    if (inComments && comment === null) {
      if (open !== undefined) fail(document, open.line, "the fence is not closed")
      continue
    }
    const text = inComments ? comment![1]!.replaceAll("*\\/", "*/") : raw
    const fence = /^(\s*)```(.*)$/u.exec(text)
    if (open === undefined) {
      if (fence !== null) open = { line: index + 1, info: fence[2]!.trim(), indent: fence[1]!.length, code: [] }
    } else if (fence === null) {
      open.code.push(text.slice(Math.min(open.indent, text.length - text.trimStart().length)))
    } else {
      const [language, ...words] = open.info.split(/\s+/u)
      if (language === "ts" && !words.includes("ignore")) {
        const file = words.find((word) => word.startsWith("file="))?.slice("file=".length)
        const unknown = words.find((word) => word !== "check" && !word.startsWith("file="))
        if (unknown !== undefined) fail(document, open.line, `unknown word "${unknown}" after \`\`\`ts`)
        fences.push({
          line: open.line,
          file: file ?? `${open.line}.ts`,
          mode: words.includes("check") ? "check" : "run",
          code: open.code
        })
      } else if (language === "typescript") fail(document, open.line, "write ```ts")
      open = undefined
    }
  }
  if (open !== undefined) fail(document, open.line, "the fence is not closed")
  return fences
}

/** The named modules of the documents that this one continues. */
const modulesBefore = (document: string): ReadonlyMap<string, Fence> => {
  const before = /^<!-- continues (\S+) -->$/mu.exec(fs.readFileSync(document, "utf8"))?.[1]
  if (before === undefined) return new Map()
  const previous = path.join(path.dirname(document), before)
  const named = fencesOf(previous).filter(({ file, line }) => file !== `${line}.ts`)
  return new Map([...modulesBefore(previous), ...named.map((fence) => [fence.file, fence] as const)])
}

const indentOf = (line: string): number => line.length - line.trimStart().length

/** The first line of the statement that ends at `end`: the layout tells, as the code is in the house style. */
const startOf = (lines: ReadonlyArray<string>, end: number): number => {
  let start = end
  while (start > 0 && /^\s*(?:[)\]}.?:]|&&|\|\|)/u.test(lines[start]!)) {
    const indent = indentOf(lines[start]!)
    start--
    while (start > 0 && (lines[start]!.trim() === "" || indentOf(lines[start]!) > indent)) start--
  }
  return start
}

/** The code with its assertions as calls, line for line, and the line numbers of the assertions in the document. */
const withAssertions = (code: ReadonlyArray<string>, offset: number) => {
  const lines = [...code]
  const asserted: Array<number> = []
  const assert = (end: number, value: string) => {
    const line = offset + end + 1
    asserted.push(line)
    const start = startOf(lines, end)
    const first = lines[start]!
    const declared = /^\s*(?:export )?(?:const|let) (\w+)\b/u.exec(first)
    if (declared !== null) lines[end] += `; __assertEqual(${line}, ${declared[1]!}, ${value})`
    else {
      lines[start] = `${first.slice(0, indentOf(first))}__assertEqual(${line}, ${first.trimStart()}`
      lines[end] += `, ${value})`
    }
  }
  for (let index = 0; index < lines.length; index++) {
    const found = /^(.*?)\s*\/\/ => (.+)$/u.exec(lines[index]!)
    if (found === null) continue
    lines[index] = found[1]!
    if (found[1]!.trim() !== "") {
      assert(index, found[2]!)
      continue
    }
    const value = [found[2]!]
    while (/^\s*\/\/(?! =>)/u.test(lines[index + value.length] ?? "")) {
      value.push(lines[index + value.length]!.trim().slice(2))
      lines[index + value.length - 1] = ""
    }
    let end = index - 1
    while (end > 0 && lines[end]!.trim() === "") end--
    assert(end, value.join(" "))
  }
  return { lines, asserted }
}

fs.rmSync(out, { recursive: true, force: true })
let count = 0
for (
  const document of fs.globSync(["{src,packages/*/src}/**/*.ts", "{*,packages/*/*,docs/**/*}.md"], {
    exclude: ["docs/api/**"]
  }).toSorted()
) {
  const fences = fencesOf(document)
  if (fences.length === 0) continue
  const folder = path.join(out, document)
  fs.mkdirSync(folder, { recursive: true })
  const support = path.relative(folder, "scripts/assertions.ts").replaceAll(path.sep, "/")
  const tests = [`import { it } from "vitest"`, `import { example } from "${support}"`, ""]
  for (const [file, { code }] of modulesBefore(document)) {
    fs.writeFileSync(path.join(folder, file), [...code, "export {}", ""].join("\n"))
  }
  for (const { code, file, line, mode } of fences) {
    const { asserted, lines } = withAssertions(code, line)
    // the empty lines in front make the compiler and the test runner name the lines of the document
    const module = [
      ...Array.from({ length: line }, () => ""),
      ...lines,
      ...(asserted.length > 0 ? [`import { assertEqual as __assertEqual } from "${support}"`] : []),
      "export {}",
      ""
    ]
    fs.writeFileSync(path.join(folder, file), module.join("\n"))
    if (mode === "run") {
      tests.push(`it("${document}:${line}", () => example(() => import("./${file}"), [${asserted.join(", ")}]))`)
    }
  }
  if (fences.some(({ mode }) => mode === "run")) {
    fs.writeFileSync(path.join(folder, "run.test.ts"), `${tests.join("\n")}\n`)
  }
  count += fences.length
}
console.log(`${count} examples`)
