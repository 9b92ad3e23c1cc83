// The pages of the site, in the order of its sidebar. Their titles and summaries are those of the files.
import * as fs from "node:fs"
import * as path from "node:path"

export const root = path.join(import.meta.dirname, "..")

/** The pages by group, as paths within docs and without `.md`. A page without a file is left out. */
const groups: { readonly [title: string]: ReadonlyArray<string> } = {
  "Start": ["start/install", "start/first-service", "start/effect", "compare"],
  "Tutorial": [
    "tutorial/models",
    "tutorial/resources",
    "tutorial/actions",
    "tutorial/access",
    "tutorial/browser",
    "tutorial/production"
  ],
  "Guides: data": [
    "guides/fields",
    "guides/relations",
    "guides/expansion",
    "guides/queries",
    "guides/tables",
    "guides/many-at-once",
    "guides/transactions",
    "guides/history",
    "guides/deleted-documents",
    "guides/changes",
    "guides/files",
    "guides/stores",
    "guides/changing-models",
    "guides/migrations",
    "guides/backups",
    "guides/moving-to-mongodb",
    "guides/clusters"
  ],
  "Guides: the interface": [
    "guides/actions",
    "guides/raw",
    "guides/errors",
    "guides/versions",
    "guides/translations",
    "guides/browsers",
    "guides/live",
    "guides/repeated-requests",
    "guides/limits",
    "guides/requests"
  ],
  "Guides: who may do what": ["guides/access", "guides/tokens"],
  "Guides: other services": [
    "guides/clients",
    "guides/upstreams",
    "guides/jobs",
    "guides/mail",
    "guides/webhooks",
    "guides/assistants",
    "guides/explorer",
    "guides/back-office"
  ],
  "Guides: operation": [
    "guides/testing",
    "guides/configuration",
    "guides/deployment",
    "guides/health",
    "guides/metrics",
    "guides/tracing",
    "guides/overload",
    "guides/audit-log",
    "guides/workers",
    "guides/compression",
    "guides/caching",
    "guides/performance",
    "guides/sizing"
  ],
  "Guides: coming from": ["guides/from-python", "guides/from-express", "guides/from-nestjs"],
  "Reference": [
    "reference/configuration",
    "reference/http",
    "reference/errors",
    "reference/messages",
    "reference/query-language",
    "reference/operators",
    "reference/schemas",
    "reference/openapi",
    "reference/metrics",
    "reference/logging",
    "reference/embedded-store",
    "reference/cli",
    "reference/repository",
    "reference/access",
    "reference/upstreams",
    "reference/terms"
  ]
}

export interface Page {
  /** The path within docs, without `.md`. */
  readonly path: string
  readonly title: string
  /** The first sentence. */
  readonly summary: string
}

export const fileOf = (page: string): string => path.join(root, `${page}.md`)

/** Text without the marks of Markdown. */
const plain = (text: string): string =>
  text.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/gu, "$1").replaceAll(/[*`]/gu, "").replaceAll(/\s+/gu, " ").trim()

/** The first sentence of a text in Markdown. */
export const firstSentence = (text: string): string => /^.*?[.?!](?=\s|$)/su.exec(plain(text))?.[0] ?? plain(text)

export const pageOf = (page: string): Page => {
  const text = fs.readFileSync(fileOf(page), "utf8")
  const [, title = page, body = ""] = /^# ([^\n]*?)(?: \{#[^}]*\})?\n(.*)$/msu.exec(text) ?? []
  const paragraph = body.split(/\n{2,}/u).map((part) => part.trim()).find((part) => /^[^`#!<|]|^`[^`]/u.test(part))
  return { path: page, title: plain(title), summary: firstSentence(paragraph ?? "") }
}

/** The written pages by group. */
export const written = (): ReadonlyArray<{ readonly title: string; readonly pages: ReadonlyArray<Page> }> =>
  Object.entries(groups).map(([title, pages]) => ({
    title,
    pages: pages.filter((page) => fs.existsSync(fileOf(page))).map((page) => pageOf(page))
  })).filter(({ pages }) => pages.length > 0)

export interface Module {
  readonly name: string
  /** The path of its page. `Index` has that of its file, as the index of a folder is a page of another kind. */
  readonly page: string
  /** The file within src. */
  readonly source: string
}

/** The modules of the package by their folders: its entry points, which have a page each in docs/api. */
export const modules = (): ReadonlyArray<{ readonly folder: string; readonly modules: ReadonlyArray<Module> }> => {
  // The manifest is a file of this repository.
  const { exports } = JSON.parse(fs.readFileSync(path.join(root, "../package.json"), "utf8")) as {
    readonly exports: { readonly [entry: string]: { readonly source?: string } }
  }
  const all = Object.entries(exports).flatMap(([entry, { source }]) =>
    entry === "." || source === undefined
      ? []
      : [{ name: entry.slice(2), page: `api/${path.basename(source, ".ts")}`, source: source.slice("./src/".length) }]
  )
  return ["Model", "Repository", "Http", "Access", "Security", "Client"].map((folder) => ({
    folder,
    modules: all.filter(({ source }) => source.startsWith(`${folder}/`))
  }))
}
