// Writes the rows of docs/reference/configuration.md and messages.md, from the tables of the code: `npm run reference`.
import * as fs from "node:fs"
import * as path from "node:path"
import { en } from "../src/internal/catalogues/en.ts"
import { rows, variableOf } from "../src/internal/configurationKeys.ts"

/** What one writes for a value, from what its messages expect. */
const typeOf = (expected: string): string =>
  [
    [/^a whole number from (.+)$/u, "$1"],
    [/^a number of bytes.*$/u, "size"],
    [/^a number of seconds.*$/u, "time"],
    [/^a number of requests.*$/u, "rate"],
    [/^(?:a list of|.*as a list or).*$/u, "list"],
    [/^one of (.+)$/u, "`$1`"],
    [/(?<=^`.*), /gu, "`, `"],
    [/^a text of at least.*$/u, "text"]
  ].reduce((text, [pattern, replacement]) => text.replace(pattern!, String(replacement)), expected)

const sectionOf = (key: string): string => key.slice(0, key.indexOf("."))

const lines = rows.map(([key, { byDefault, expected, meaning, otherwise }]) => {
  // A text is code; a time, a size or a sentence is not.
  const shown = byDefault === otherwise ? `\`${otherwise}\`` : otherwise
  return { key, line: `| \`${key}\` | ${typeOf(expected)} | ${shown} | ${meaning} | \`${variableOf(key)}\` |\n` }
})

/** The page with the rows of the sections that each of its tables has. */
export const withKeys = (page: string): string => {
  const written = new Set<string>()
  const text = page.replaceAll(/(?<=\| Variable \|\n\|[-|]+\n)(?:\| `.*\n)*/gu, (table) => {
    const sections = [...new Set([...table.matchAll(/^\| `(\w+)\./gmu)].map(([, section = ""]) => section))]
    return sections.flatMap((section) => lines.filter(({ key }) => sectionOf(key) === section)).map(({ key, line }) => {
      written.add(key)
      return line
    }).join("")
  })
  const missing = lines.filter(({ key }) => !written.has(key))
  if (missing.length > 0) throw new Error(`there is no table for ${missing.map(({ key }) => key).join(", ")}`)
  return text
}

/** The page with the rows of the English catalogue. */
export const withMessages = (page: string): string => {
  const messages = Object.entries(en).map(([key, message]) => `| \`${key}\` | \`${message}\` |\n`).join("")
  return page.replace(/(?<=\| In English \|\n\|[-|]+\n)(?:\| `.*\n)*/u, () => messages)
}

const written = { "configuration.md": withKeys, "messages.md": withMessages }

if (import.meta.main) {
  for (const [name, write] of Object.entries(written)) {
    const page = path.join(import.meta.dirname, "../docs/reference", name)
    fs.writeFileSync(page, write(fs.readFileSync(page, "utf8")))
  }
}
