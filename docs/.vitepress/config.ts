import * as fs from "node:fs"
import { type DefaultTheme, defineConfig } from "vitepress"
import { fileOf, modules, root, written } from "./pages.ts"
import { searchOptions, sectionsOf } from "./search.ts"
import { slugOf } from "./slug.ts"

const groups = written()
const pages = new Set(groups.flatMap((group) => group.pages.map(({ path }) => `${path}.md`)))

const sidebar = groups.map(({ pages, title }, index): DefaultTheme.SidebarItem => ({
  text: title,
  collapsed: index > 1,
  items: pages.map(({ path, title }) => ({ text: title, link: `/${path}` }))
}))
const api = [
  { text: "Modules", link: "/api/" },
  ...modules().map(({ folder, modules }): DefaultTheme.SidebarItem => ({
    text: folder,
    items: modules.filter(({ page }) => fs.existsSync(fileOf(page))).map(({ name, page }) => ({
      text: name,
      link: `/${page}`
    }))
  }))
]
const link = (text: string, path: string): ReadonlyArray<DefaultTheme.NavItemWithLink> =>
  pages.has(`${path}.md`) ? [{ text, link: `/${path}`, activeMatch: `^/${path.split("/")[0]}/` }] : []

export default defineConfig({
  title: "AppKernel",
  description: "REST services from data models, on Effect: declare a model, register it, run it",
  lang: "en",
  // What is not in the sidebar is for those who work on the package.
  srcExclude: fs.globSync("**/*.md", { cwd: root }).filter((file) =>
    file !== "index.md" && !file.startsWith("api/") && !pages.has(file)
  ),
  // scripts/docs.ts checks them, and anchors too.
  ignoreDeadLinks: true,
  head: [
    ["link", { rel: "icon", href: "/pictures/icon.svg", type: "image/svg+xml" }],
    // No page loads anything from elsewhere, and the browser holds it to that. The theme has inline scripts and styles.
    ["meta", {
      "http-equiv": "Content-Security-Policy",
      content: "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; " +
        "img-src 'self' data:"
    }]
  ],
  vite: { logLevel: "warn" },
  transformPageData: ({ frontmatter, relativePath }) => {
    if (relativePath !== "index.md") return
    frontmatter["hero"].actions = [
      ...link("Your first service", "start/first-service"),
      ...link("Tutorial", "tutorial/models"),
      ...link("How it compares", "compare")
    ].map(({ link, text }, index) => ({ text, link, theme: index === 0 ? "brand" : "alt" }))
  },
  markdown: {
    // As code hosts do, so that a link to a heading works there too.
    anchor: { slugify: slugOf },
    config: (md) => {
      // Pages are rendered once more for the search, and most of the time is for colours.
      const { highlight } = md.options
      const done = new Map<string, string>()
      md.options.highlight = (code, language, attributes) => {
        const key = [language, attributes, code].join("\n")
        const coloured = done.get(key) ?? highlight?.(code, language, attributes) ?? ""
        done.set(key, coloured)
        return coloured
      }
      // Fences of a page import one another by these names.
      const { fence } = md.renderer.rules
      md.renderer.rules.fence = (tokens, index, ...context) => {
        const [, file] = / file=(\S+)/u.exec(tokens[index]?.info ?? "") ?? []
        const named = file === undefined ? "" : `<div class="file-name">${file}</div>`
        return named + (fence?.(tokens, index, ...context) ?? "")
      }
    },
    theme: { light: "github-light-high-contrast", dark: "github-dark" }
  },
  themeConfig: {
    nav: [
      ...link("Start", "start/install"),
      ...link("Tutorial", "tutorial/models"),
      ...link("Guides", "guides/fields"),
      ...link("Reference", "reference/configuration"),
      { text: "API", link: "/api/", activeMatch: "^/api/" }
    ],
    sidebar: { "/api/": api, "/": sidebar },
    outline: { level: [2, 3], label: "On this page" },
    externalLinkIcon: true,
    search: {
      provider: "local",
      options: { miniSearch: { searchOptions, _splitIntoSections: sectionsOf } }
    }
  }
})
