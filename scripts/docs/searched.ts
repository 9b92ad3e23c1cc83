/** What people look for, and the page that the search has to name among its first three. */
import MiniSearch from "minisearch"
import * as fs from "node:fs"
import * as path from "node:path"
import { pathToFileURL } from "node:url"
import { searchOptions } from "../../docs/.vitepress/search.ts"

/** The pages that answer a term, of which the search has to name one. */
const expected: { readonly [term: string]: ReadonlyArray<string> } = {
  "unique index": ["guides/fields", "guides/queries", "reference/repository"],
  "If-Match": ["guides/versions", "reference/http"],
  "rows": ["guides/access", "reference/access"],
  "hide": ["guides/access", "guides/fields"],
  "refresh token": ["guides/tokens"],
  "circuit breaker": ["guides/upstreams", "guides/clients"],
  "page_size": ["reference/query-language", "guides/queries", "reference/configuration"],
  "content hasher": ["guides/fields", "guides/access", "guides/tokens", "reference/access"],
  "CORS": ["guides/browsers"],
  "transaction": ["guides/transactions"],
  "rate limit": ["guides/limits"],
  "multipart": ["guides/files", "guides/raw", "guides/upstreams"],
  "webhook": ["guides/raw"],
  "upload": ["guides/files"],
  "history": ["guides/history"],
  "soft delete": ["guides/history"],
  "translations": ["guides/translations"],
  "MONGO_URL": ["guides/testing", "guides/stores"],
  "Docker": ["guides/deployment", "tutorial/production"],
  "systemd": ["guides/deployment"],
  "nginx": ["guides/deployment"],
  "testing": ["guides/testing"],
  "TestClock": ["guides/testing"],
  "OpenAPI": ["reference/openapi"],
  "merge patch": ["reference/http", "guides/fields"],
  "sort_by": ["reference/query-language", "guides/queries"],
  "Retry-After": ["guides/limits", "guides/errors", "reference/http", "guides/upstreams"],
  "default value": ["guides/fields"],
  "validator": ["guides/fields"],
  "sign-up": ["guides/access"]
}

/** The terms whose page is not among the first three results of the built index. */
export const searchProblems = async (
  dist: string
): Promise<{ readonly terms: number; readonly problems: ReadonlyArray<string> }> => {
  const chunk = path.resolve(dist, fs.globSync("assets/chunks/@localSearchIndexroot.*.js", { cwd: dist })[0]!)
  // The chunk's one export is the index as JSON.
  const { default: json } = await import(pathToFileURL(chunk).href) as { readonly default: string }
  const index = MiniSearch.loadJSON(json, { fields: ["title", "titles", "text"], searchOptions })
  const terms = Object.entries(expected)
  return {
    terms: terms.length,
    problems: terms.flatMap(([term, pages]) => {
      const found = index.search(term).slice(0, 3).map(({ id }) => String(id))
      return pages.some((page) => found.some((id) => id.startsWith(`/${page}.html`)))
        ? []
        : [`the search for "${term}" finds ${found.join(", ")} before ${pages.join(" and ")}`]
    })
  }
}
