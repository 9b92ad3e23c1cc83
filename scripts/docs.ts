/**
 * The site of the documentation, in docs/.vitepress/dist: writes the pages of the API, builds the site, adds `llms.txt` and
 * the sources of the pages for programs that read them, and checks what is built: `npm run docs`.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { build } from "vitepress"
import { fileOf, modules, pageOf, root, written } from "../docs/.vitepress/pages.ts"
import { writeApiPages } from "./docs/api.ts"
import { linkProblems, sourceLinkProblems } from "./docs/links.ts"
import { searchProblems } from "./docs/searched.ts"

const dist = path.join(root, ".vitepress/dist")

/** The list of pages for language models (<https://llmstxt.org>), and the pages as Markdown beside the HTML. */
const writeTexts = (): void => {
  const groups = [
    ...written(),
    ...modules().map(({ folder, modules }) => ({
      title: `API: ${folder}`,
      pages: modules.map(({ page }) => pageOf(page))
    }))
  ]
  const lines = [
    "# AppKernel",
    "",
    "> A framework for REST services from data models, on Effect: declare a model, register it, run it.",
    ...groups.flatMap(({ pages, title }) => [
      "",
      `## ${title}`,
      "",
      ...pages.map(({ path: page, summary, title }) => `- [${title}](${page}.md): ${summary}`)
    ]),
    ""
  ]
  fs.writeFileSync(path.join(dist, "llms.txt"), lines.join("\n"))
  for (const { path: page } of groups.flatMap(({ pages }) => pages)) {
    fs.copyFileSync(fileOf(page), path.join(dist, `${page}.md`))
  }
}

/** Pages that the sidebar does not have, and so nobody finds. Those beside the folders are for contributors. */
const unlisted = (): ReadonlyArray<string> => {
  const listed = new Set(written().flatMap(({ pages }) => pages.map((page) => `${page.path}.md`)))
  return fs.globSync("{start,tutorial,guides,reference}/**/*.md", { cwd: root })
    .filter((file) => !listed.has(file))
    .map((file) => `docs/${file}: is no page of docs/.vitepress/pages.ts`)
}

const from = performance.now()
writeApiPages()
await build(root)
writeTexts()

const { links, pages, problems } = linkProblems(dist)
const search = await searchProblems(dist)
const all = [...unlisted(), ...sourceLinkProblems(), ...problems, ...search.problems]
for (const problem of all) console.error(problem)
const seconds = Math.round((performance.now() - from) / 1000)
console.log(
  `${path.relative(".", dist)}: ${pages} pages, ${links} links, ${search.terms} terms found, ${all.length} problems, ` +
    `in ${seconds} s`
)
process.exitCode = all.length > 0 ? 1 : 0
