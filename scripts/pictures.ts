// Puts the pictures of the rooms and the lists of stages into the pages of `docs`: `npm run pictures`.
import * as fs from "node:fs"
import * as path from "node:path"
import { routeStages, serviceStages } from "../src/Http/startup/stages.ts"
import type { StageRow } from "../src/internal/stages.ts"
import { operationStages } from "../src/Repository/OperationStages.ts"
import { pictures } from "./rooms.ts"

/** What requests and operations meet, by the names of the marks in the pages. */
const lists: ReadonlyMap<string, ReadonlyArray<StageRow>> = new Map<string, ReadonlyArray<StageRow>>([
  ["a service", serviceStages],
  ["a route", routeStages],
  ["an operation", operationStages]
])

/** The stages with the reasons of their order. */
const ordered = (stages: ReadonlyArray<StageRow>): string =>
  stages.map(({ before = {}, does, name, when }, i) =>
    [
      `${i + 1}. **${name}** (${when}): ${does}`,
      ...Object.entries(before).map(([other, reason]) => `    - before **${other}**: ${reason}`)
    ].join("\n")
  ).join("\n")

const table = (stages: ReadonlyArray<StageRow>): string =>
  [
    "| Stage | What it does | On with |",
    "|---|---|---|",
    ...stages.map(({ does, name, when }) => `| ${name} | ${does} | ${when} |`)
  ].join("\n")

/** The text of a page with each picture in the fence behind its mark, and each list up to the end that its mark has. */
export const withPictures = (text: string): string => {
  let drawn = text
  for (const [name, picture] of pictures()) {
    const fence = new RegExp(`(<!-- rooms of ${name} -->\n\n\`\`\`mermaid\n)[^]*?(\`\`\`\n)`, "u")
    drawn = drawn.replace(fence, (_, before: string, after: string) => `${before}${picture}\n${after}`)
  }
  for (const [name, stages] of lists) {
    for (const [kind, made] of [["ordered", ordered], ["table", table]] as const) {
      const list = new RegExp(`(<!-- ${kind} stages of ${name} -->\n)[^]*?(<!-- end of stages -->)`, "u")
      drawn = drawn.replace(list, (_, before: string, after: string) => `${before}\n${made(stages)}\n\n${after}`)
    }
  }
  return drawn
}

/** The pages with pictures or lists. */
export const pages = ["architecture.md", "guides/requests.md"].map((page) =>
  path.join(import.meta.dirname, "../docs", page)
)

/** The marks that the pages should have. */
export const marks: ReadonlyArray<string> = [
  ...[...pictures().keys()].map((name) => `<!-- rooms of ${name} -->`),
  ...[...lists.keys()].map((name) => `<!-- ordered stages of ${name} -->`)
]

if (import.meta.main) {
  for (const page of pages) fs.writeFileSync(page, withPictures(fs.readFileSync(page, "utf8")))
}
