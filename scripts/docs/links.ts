/** The links of the documentation: those of the built site, and those that are followed in the repository. */
import * as fs from "node:fs"
import * as path from "node:path"
import { slugOf } from "../../docs/.vitepress/slug.ts"

const attributes = (html: string, name: string): ReadonlyArray<string> =>
  Array.from(html.matchAll(new RegExp(` ${name}="([^"]*)"`, "gu")), ([, value = ""]) => value.replaceAll("&amp;", "&"))

const isForeign = (url: string): boolean => /^(?:[a-z][a-z\d+.-]*:|\/\/)/iu.test(url)

/** Links and sources of the built pages that lead nowhere, and whatever a page would load from elsewhere. */
export const linkProblems = (
  dist: string
): { readonly pages: number; readonly links: number; readonly problems: ReadonlyArray<string> } => {
  const files = fs.globSync("**/*.html", { cwd: dist })
  const pages = new Map(files.map((file) => [file, fs.readFileSync(path.join(dist, file), "utf8")]))
  const ids = new Map(Array.from(pages, ([file, html]) => [file, new Set(attributes(html, "id"))]))
  const problems: Array<string> = []
  let links = 0

  for (const [file, html] of pages) {
    const loads = [
      ...attributes(html, "src"),
      ...attributes(html, "srcset"),
      ...Array.from(html.matchAll(/<link [^>]*>/gu)).flatMap(([tag]) => attributes(tag, "href"))
    ]
    for (const url of loads) if (isForeign(url) && !url.startsWith("data:")) problems.push(`${file}: loads ${url}`)
    for (const url of new Set([...attributes(html, "href"), ...loads])) {
      if (isForeign(url)) continue
      links++
      const [target = "", anchor = ""] = url.split("#")
      const found = target === "" ? file : path.posix.join(target.startsWith("/") ? "" : path.dirname(file), target)
        .replace(/^\//u, "").replace(/(^|\/)$/u, "$1index.html")
      if (!fs.existsSync(path.join(dist, found))) problems.push(`${file}: no page for ${url}`)
      else if (anchor !== "" && !ids.get(found)?.has(decodeURIComponent(anchor))) {
        problems.push(`${file}: no heading for ${url}`)
      }
    }
  }
  for (const file of fs.globSync("**/*.css", { cwd: dist })) {
    const css = fs.readFileSync(path.join(dist, file), "utf8")
    for (const [, url = ""] of css.matchAll(/(?:url\(|@import )["']?([^"')]+)/gu)) {
      if (isForeign(url) && !url.startsWith("data:")) problems.push(`${file}: loads ${url}`)
    }
  }
  return { pages: pages.size, links, problems }
}

/** Links of the Markdown files that are not on the site, as a code host follows them: to files, and to their headings. */
export const sourceLinkProblems = (): ReadonlyArray<string> =>
  fs.globSync(["*.md", "docs/*.md"]).flatMap((file) => {
    const text = fs.readFileSync(file, "utf8").replaceAll(/^([ \t]*)```[^]*?^\1```/gmu, "").replaceAll(
      /`[^`\n]*`/gu,
      ""
    )
    return Array.from(text.matchAll(/\]\(([^)\s]+)\)/gu), ([, url = ""]) => url).flatMap((url) => {
      if (isForeign(url)) return []
      const [target = "", anchor = ""] = url.split("#")
      const found = target === ""
        ? file
        : target.startsWith("/")
        ? path.join("docs/public", target)
        : path.join(path.dirname(file), target)
      // The pages of the API are not in the repository.
      if (found.startsWith("docs/api/")) return file.startsWith("docs/") ? [] : [`${file}: ${url} is on the site only`]
      if (!fs.existsSync(found)) return [`${file}: no file for ${url}`]
      return anchor === "" || headingsOf(found).has(anchor) ? [] : [`${file}: no heading for ${url}`]
    })
  })

const headings = new Map<string, ReadonlySet<string>>()

const headingsOf = (file: string): ReadonlySet<string> => {
  const known = headings.get(file)
  if (known !== undefined) return known
  const found = new Set(
    Array.from(
      fs.readFileSync(file, "utf8").replaceAll(/^([ \t]*)```[^]*?^\1```/gmu, "").matchAll(/^#+ (.*)$/gmu),
      ([, heading = ""]) => slugOf(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/gu, "$1"))
    )
  )
  headings.set(file, found)
  return found
}
